//! How does a user carry out a script of the plan?

use super::answer::Answer;
use super::shared::StopKind;
use super::test::Test;
use super::user::{Body, Phase};
use crate::expression::{Template, World as _};
use crate::plan::Script;
use crate::script::{self, Bindings, Judgement, Level, Seen, Wish};

/// What came of a script.
#[derive(Debug, Default)]
pub(super) struct Scripted {
    /// Its value; `None` when there was none. Errors: why it did not come to its end.
    pub value: Option<String>,
    pub fault: Option<String>,
    /// The sample as it left it.
    pub seen: Option<Seen>,
    /// What an assertion said.
    pub judgement: Judgement,
}

/// Whose script it is: the class that has it, as logs name it.
#[derive(Debug, Clone, Copy)]
pub(super) enum Has {
    Sampler,
    PreProcessor,
    PostProcessor,
    Assertion,
    Timer,
    Listener,
}

impl Has {
    fn class(self) -> &'static str {
        match self {
            Self::Sampler => "org.apache.jmeter.protocol.java.sampler.JSR223Sampler",
            Self::PreProcessor => "org.apache.jmeter.modifiers.JSR223PreProcessor",
            Self::PostProcessor => "org.apache.jmeter.extractor.JSR223PostProcessor",
            Self::Assertion => "org.apache.jmeter.assertions.JSR223Assertion",
            Self::Timer => "org.apache.jmeter.timers.JSR223Timer",
            Self::Listener => "org.apache.jmeter.visualizers.JSR223Listener",
        }
    }
}

impl Body {
    /// Carries out a script; what it says and wants to end is heeded.
    pub(super) fn run_script(
        &mut self,
        test: &Test,
        now_ns: i64,
        (has, script): (Has, &Script),
        name: &Template,
        seen: Option<Seen>,
    ) -> Scripted {
        if script.text.is_empty() {
            return Scripted {
                seen,
                ..Scripted::default()
            };
        }
        let mut view = self.person.view(test, now_ns);
        let text = view.text(&script.text);
        let (label, parameters) = (view.text(name), view.text(&script.parameters));
        let bindings = Bindings {
            lent: view.lend(),
            label,
            parameters,
            seen,
            ..Bindings::default()
        };
        let (value, after) = script::evaluate(&text, bindings);
        let mut view = self.person.view(test, now_ns);
        view.take_back(after.lent);
        let logger = format!("{}.{}", has.class(), after.label);
        for line in &after.logged {
            view.log(line.level, &logger, &line.text);
            let grave = match line.level {
                Level::Info => continue,
                Level::Warn => "warning",
                Level::Error => "error",
            };
            let (label, text) = (&after.label, &line.text);
            test.sink
                .trouble(&format!("script `{label}`: {grave}: {text}"));
        }
        let fault = value.as_ref().err().map(ToString::to_string);
        if let Some(fault) = &fault {
            test.sink
                .trouble(&format!("script `{}`: {fault}", after.label));
            // What Java's stack trace would begin with stands below, and the logger is the class alone.
            let between = if matches!(has, Has::Assertion) {
                ": "
            } else {
                ", "
            };
            let said = format!(
                "Problem in JSR223 script{between}{}\njavax.script.ScriptException: {fault}",
                after.label
            );
            let mut view = self.person.view(test, now_ns);
            view.log(Level::Error, has.class(), &said);
        }
        match after.wish {
            Wish::GoOn => {}
            Wish::StopUser => self.end_soon(),
            Wish::StopTest => test.stop(StopKind::Soon),
            Wish::StopTestNow => test.stop(StopKind::Now),
        }
        Scripted {
            value: value.ok().flatten(),
            fault,
            seen: after.seen,
            judgement: after.judgement,
        }
    }

    /// A result as scripts see it.
    pub(super) fn seen(&self, answer: &Answer<'_>) -> Seen {
        let (head, body) = answer
            .sent
            .split_at_checked(answer.sent_head)
            .unwrap_or((b"", b""));
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        Seen {
            label: self.person.sampler.clone(),
            code: answer.code.into(),
            message: answer.message.into(),
            text: answer.text.into(),
            headers: answer.headers.into(),
            request_headers: text(head),
            request_body: text(body),
            url: answer.url.into(),
            elapsed_ms: answer.elapsed_ms,
            latency_ms: answer.latency_ms,
            connect_ms: answer.connect_ms,
            bytes: answer.bytes,
            success: answer.success,
        }
    }

    /// A sampler that is a script: its value is the body of its result, which is told with the next
    /// step, so that the time that it took is its own.
    pub(super) fn sample_script(&mut self, test: &Test, now_ns: i64, script: &Script) {
        let name = &test.plan.samplers[self.flight.sampler as usize].name;
        let begins = Seen {
            label: self.person.sampler.clone(),
            code: "200".into(),
            message: "OK".into(),
            success: true,
            ..Seen::default()
        };
        let done = self.run_script(test, now_ns, (Has::Sampler, script), name, Some(begins));
        let mut seen = done.seen.unwrap_or_default();
        if let Some(fault) = done.fault {
            (seen.success, seen.code, seen.message) = (false, "500".into(), fault);
        }
        if let (true, Some(value)) = (seen.text.is_empty(), done.value) {
            seen.text = value;
        }
        self.scripted = Some((now_ns, Box::new(seen)));
        self.phase = Phase::Scripted;
    }

    /// Tells the result of a script that was a sampler.
    pub(super) fn tell_scripted(&mut self, test: &Test, now_ns: i64) {
        let Some((start_ns, seen)) = self.scripted.take() else {
            return;
        };
        self.person.sampler.clone_from(&seen.label);
        self.tell_script(test, (start_ns, now_ns), &seen);
    }
}

impl<'a> Answer<'a> {
    /// The result as a script left it.
    pub(super) fn revised(&self, seen: Option<&'a Seen>) -> Self {
        let Some(seen) = seen else {
            return *self;
        };
        Self {
            body: if seen.text == self.text {
                self.body
            } else {
                seen.text.as_bytes()
            },
            text: &seen.text,
            code: &seen.code,
            message: &seen.message,
            success: seen.success,
            ..*self
        }
    }
}
