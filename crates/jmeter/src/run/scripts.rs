//! Execution of the JSR223 scripts of a plan.

use super::changed_requests::planned;
use super::context::View;
use super::program::asks_for_sampler;
use crate::expression::{Template, World as _};
use crate::plan::Script;
use crate::script::{
    self, Bindings, Code, Judgement, LentCookies, LogLevel, ScriptFault, ScriptLanguage,
    ScriptSample,
};

pub(super) use crate::script::ScriptOwner;

/// The outcome of a script.
#[derive(Debug, Default)]
pub(super) struct Scripted {
    /// Its value; `None`: it has none.
    pub value: Option<String>,
    /// Reason of its failure; `None`: it did not fail.
    pub fault: Option<ScriptFault>,
    /// The sample as the script changed it.
    pub seen: Option<ScriptSample>,
    /// The judgement of an assertion.
    pub judgement: Judgement,
    /// The pause that it made, nanoseconds.
    pub slept_ns: i64,
}

/// JMeter's class of an element, as its log names it.
fn class(owner: ScriptOwner, language: ScriptLanguage) -> String {
    let (package, name) = match owner {
        ScriptOwner::Function => ("functions", "Groovy"),
        ScriptOwner::Sampler => ("protocol.java.sampler", "Sampler"),
        ScriptOwner::PreProcessor => ("modifiers", "PreProcessor"),
        ScriptOwner::PostProcessor => ("extractor", "PostProcessor"),
        ScriptOwner::Assertion => ("assertions", "Assertion"),
        ScriptOwner::Timer => ("timers", "Timer"),
        ScriptOwner::Listener => ("visualizers", "Listener"),
    };
    let kind = match language {
        ScriptLanguage::BeanShell => "BeanShell",
        _ => "JSR223",
    };
    format!("org.apache.jmeter.{package}.{kind}{name}")
}

/// The cookies of the manager of the current sampler, if the text of a script names a manager.
fn lent_cookies(view: &View<'_>, text: &str) -> Option<LentCookies> {
    if !text.contains("ookieManager") && !text.contains("cookie_manager") {
        return None;
    }
    let test = view.test();
    let manager = planned(test, view.thread.sampler())?.cookies?;
    Some(LentCookies {
        manager,
        items: view.thread.cookies.of(manager)?.all().to_vec(),
        is_changed: false,
    })
}

/// Executes the script of a named element, writes its log lines and fulfils its wish to stop.
pub(super) fn run_script(
    view: &mut View<'_>,
    (owner, name): (ScriptOwner, &Template),
    script: &Script,
    seen: Option<ScriptSample>,
) -> Scripted {
    let test = view.test();
    let text = view.text(&script.text);
    if text.is_empty() {
        return without_text(view, (owner, name), script.language, seen);
    }
    let (label, parameters) = (view.text(name), view.text(&script.parameters));
    let class = class(owner, script.language);
    let sampler = view.thread.sampler();
    let mut lent = view.lend();
    if asks_for_sampler(&text) {
        lent.request = view.thread.requests.lend(test, sampler).map(Box::new);
    }
    lent.cookies = lent_cookies(view, &text);
    let bindings = Bindings {
        lent,
        owner,
        label,
        parameters,
        seen,
        ..Bindings::default()
    };
    let (value, mut after) = script::evaluate(
        Code {
            language: script.language,
            text: &text,
        },
        bindings,
    );
    if let Some(request) = after.lent.request.take() {
        view.thread.requests.take_back(test, sampler, *request);
    }
    if let Some(cookies) = after.lent.cookies.take().filter(|lent| lent.is_changed)
        && let Some(jar) = view.thread.cookies.of_mut(cookies.manager)
    {
        jar.replace(cookies.items);
    }
    view.take_back(after.lent);
    if let (Some(name), ScriptOwner::PreProcessor | ScriptOwner::Timer) = (&after.renamed, owner) {
        view.thread.set_label(name);
    }
    let logger = format!("{class}.{}", after.label);
    for line in &after.logged {
        view.log(line.level, &logger, &line.text);
        let grave = match line.level {
            LogLevel::Info => continue,
            LogLevel::Warn => "warning",
            LogLevel::Error => "error",
        };
        let (label, text) = (&after.label, &line.text);
        test.sink
            .trouble(&format!("script `{label}`: {grave}: {text}"));
    }
    let fault = value.as_ref().err().cloned();
    if let Some(fault) = &fault {
        tell(view, (owner, script.language), &after.label, fault);
    }
    // An `Error` goes through all of JMeter and ends the thread; of an assertion it is a failure.
    let ends = fault.as_ref().is_some_and(|fault| fault.is_error);
    if ends && !matches!(owner, ScriptOwner::Assertion | ScriptOwner::Function) {
        view.thread.die();
        if let Some(seen) = &mut after.seen {
            seen.is_ignored = true;
        }
    }
    let slept_ns = after.slept_ms.saturating_mul(1_000_000);
    if owner.is_behind() {
        view.thread.sleep(slept_ns);
    }
    view.fulfil(after.wishes);
    Scripted {
        value: value.ok().flatten(),
        fault,
        seen: after.seen,
        judgement: after.judgement,
        slept_ns,
    }
}

/// A script without text: an error of JSR223 elements, nothing to BeanShell's.
fn without_text(
    view: &mut View<'_>,
    (owner, name): (ScriptOwner, &Template),
    language: ScriptLanguage,
    seen: Option<ScriptSample>,
) -> Scripted {
    let name = view.text(name);
    let fault = (language != ScriptLanguage::BeanShell).then(|| ScriptFault {
        says: "it has no text".into(),
        exception: Some(format!(
            "Both script file and script text are empty for element:{name}"
        )),
        ..ScriptFault::default()
    });
    if let Some(fault) = &fault {
        tell(view, (owner, language), &name, fault);
    }
    Scripted {
        seen,
        fault,
        ..Scripted::default()
    }
}

/// Tells why a script failed, and writes it into the log as JMeter does.
fn tell(
    view: &mut View<'_>,
    (owner, language): (ScriptOwner, ScriptLanguage),
    label: &str,
    fault: &ScriptFault,
) {
    let test = view.test();
    test.sink.trouble(&format!("script `{label}`: {fault}"));
    // The logger is the class alone and the stack trace begins on the next line.
    let between = if matches!(owner, ScriptOwner::Assertion) {
        ": "
    } else {
        ", "
    };
    let said = format!(
        "Problem in JSR223 script{between}{label}\n{}",
        fault.in_jmeter()
    );
    view.log(LogLevel::Error, &class(owner, language), &said);
}

/// Executes the script of the current sampler; its value is the body of the result. Gives its pause,
/// too, in nanoseconds.
pub(super) fn sample_script(view: &mut View<'_>, script: &Script) -> (ScriptSample, i64) {
    let test = view.test();
    let sampler = view.thread.sampler() as usize;
    let name = &test.plan.samplers[sampler].name;
    let begins = ScriptSample {
        label: view.thread.label().into(),
        code: "200".into(),
        message: "OK".into(),
        success: true,
        sampler_data: view.text(&script.text),
        ..ScriptSample::default()
    };
    let done = run_script(view, (ScriptOwner::Sampler, name), script, Some(begins));
    let mut seen = done.seen.unwrap_or_default();
    if let Some(fault) = done.fault {
        (seen.success, seen.code, seen.message) = (false, "500".into(), fault.in_jmeter());
    }
    if let (true, Some(value)) = (seen.text.is_empty(), done.value) {
        seen.text = value;
    }
    (seen, done.slept_ns)
}
