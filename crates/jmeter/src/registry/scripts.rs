//! Elements with a script.

use sokudo_groovy::{Refusal, RefusalKind};
use sokudo_model::Text;

use super::{ElementSpec, Family, Role, element};
use crate::compile::ElementReader;
use crate::expression::Template;
use crate::node::{ElementNode, PropertyValue, find};
use crate::plan::{AssertionKind, ListenerKind, PostKind, PreKind, SamplerKind, Script, TimerKind};
use crate::problem::FilePosition;
use crate::script::{self, ScriptLanguage, ScriptOwner};
use crate::xml;

/// Largest script file, bytes.
const MOST_BYTES: u64 = 1 << 20;

pub(super) const ELEMENTS: &[ElementSpec] = &[
    element(
        &["JSR223Sampler"],
        Family::Sampler,
        3,
        Role::Sampler(|reader| SamplerKind::Script(script_of(reader, ScriptOwner::Sampler))),
    ),
    element(
        &["JSR223PreProcessor"],
        Family::PreProcessor,
        3,
        Role::Pre(|reader| PreKind::Script(script_of(reader, ScriptOwner::PreProcessor))),
    ),
    element(
        &["JSR223PostProcessor"],
        Family::PostProcessor,
        3,
        Role::Post(|reader| PostKind::Script(script_of(reader, ScriptOwner::PostProcessor))),
    ),
    element(
        &["JSR223Assertion"],
        Family::Assertion,
        3,
        Role::Assertion(|reader| AssertionKind::Script(script_of(reader, ScriptOwner::Assertion))),
    ),
    element(
        &["JSR223Timer"],
        Family::Timer,
        3,
        Role::Timer(|reader| TimerKind::Script(script_of(reader, ScriptOwner::Timer))),
    ),
    element(
        &["JSR223Listener"],
        Family::Listener,
        3,
        Role::Listener(|reader| ListenerKind::Script(script_of(reader, ScriptOwner::Listener))),
    ),
    element(
        &["BeanShellSampler"],
        Family::Sampler,
        3,
        Role::Sampler(|reader| {
            const NAMES: Names = [
                "BeanShellSampler.query",
                "BeanShellSampler.filename",
                "BeanShellSampler.parameters",
            ];
            reader.ignore(&["BeanShellSampler.resetInterpreter"]);
            SamplerKind::Script(beanshell(reader, ScriptOwner::Sampler, NAMES))
        }),
    ),
    element(
        &["BeanShellPreProcessor"],
        Family::PreProcessor,
        3,
        Role::Pre(|reader| PreKind::Script(beanshell(reader, ScriptOwner::PreProcessor, PLAIN))),
    ),
    element(
        &["BeanShellPostProcessor"],
        Family::PostProcessor,
        3,
        Role::Post(|reader| PostKind::Script(beanshell(reader, ScriptOwner::PostProcessor, PLAIN))),
    ),
    element(
        &["BeanShellAssertion"],
        Family::Assertion,
        3,
        Role::Assertion(|reader| {
            const NAMES: Names = [
                "BeanShellAssertion.query",
                "BeanShellAssertion.filename",
                "BeanShellAssertion.parameters",
            ];
            reader.ignore(&["BeanShellAssertion.resetInterpreter"]);
            AssertionKind::Script(beanshell(reader, ScriptOwner::Assertion, NAMES))
        }),
    ),
    element(
        &["BeanShellTimer"],
        Family::Timer,
        3,
        Role::Timer(|reader| TimerKind::Script(beanshell(reader, ScriptOwner::Timer, PLAIN))),
    ),
    element(
        &["BeanShellListener"],
        Family::Listener,
        3,
        Role::Listener(|reader| {
            ListenerKind::Script(beanshell(reader, ScriptOwner::Listener, PLAIN))
        }),
    ),
];

/// Names of the properties for the script, its file and its parameters.
type Names = [&'static str; 3];

/// The names in elements of the editor's newer kind.
const PLAIN: Names = ["script", "filename", "parameters"];

/// The language of an unsupported script; `None`: the element has no such script.
pub(crate) fn foreign(node: &ElementNode) -> Option<String> {
    if !node.class.starts_with("JSR223") {
        return None;
    }
    let text = |name: &str| match find(&node.properties, name).map(|property| &property.value) {
        Some(PropertyValue::Scalar { text, .. }) => text.trim(),
        _ => "",
    };
    let is_empty = text("script").is_empty() && text("filename").is_empty();
    let language = text("scriptLanguage");
    (!is_empty && ScriptLanguage::named(language).is_none()).then(|| language.to_owned())
}

/// The script of an element with a language.
fn script_of(reader: &mut ElementReader<'_, '_>, owner: ScriptOwner) -> Script {
    reader.ignore(&["cacheKey"]);
    let language = reader.text("scriptLanguage");
    let language = ScriptLanguage::named(language.constant().unwrap_or_default());
    read_script(reader, (language.unwrap_or_default(), owner), PLAIN)
}

/// The script of an element for BeanShell.
fn beanshell(reader: &mut ElementReader<'_, '_>, owner: ScriptOwner, names: Names) -> Script {
    // A script that needs what the one before has left is refused either way.
    reader.ignore(&["resetInterpreter"]);
    read_script(reader, (ScriptLanguage::BeanShell, owner), names)
}

/// The script of an element. One that cannot be executed is reported and empty.
fn read_script(
    reader: &mut ElementReader<'_, '_>,
    (language, owner): (ScriptLanguage, ScriptOwner),
    [script, filename, parameters]: Names,
) -> Script {
    let parameters = reader.text(parameters);
    let file = reader.start_text(filename);
    let mut text = reader.text(script);
    let mut place = reader.place_of(script);
    if !file.trim().is_empty() {
        place = reader.place_of(filename);
        text = Template::text(of_file(reader, file.trim(), filename));
    }
    let shown = text.sample();
    if language != ScriptLanguage::JavaScript {
        examine_translated(reader, &shown, (language, owner), &place);
        note_variables(reader, &shown);
    } else if let Some(text) = text.constant() {
        examine(reader, text, &place);
        note_variables(reader, text);
    }
    Script {
        language,
        text,
        parameters,
    }
}

/// Reports what of a translated script cannot be executed.
fn examine_translated(
    reader: &mut ElementReader<'_, '_>,
    text: &str,
    (language, owner): (ScriptLanguage, ScriptOwner),
    place: &FilePosition,
) {
    for refusal in owner.refusals(language, text) {
        let hint = Text::new("jmx-script-subset-hint");
        reader
            .compiler
            .unsupported(place, refusal_text(&refusal), Some(hint));
    }
    if owner == ScriptOwner::Function {
        return;
    }
    for doubt in owner.doubts(language, text) {
        let says = Text::new("jmx-script-fails")
            .word("line", doubt.line.to_string())
            .word("what", doubt.what);
        reader.compiler.problems.warning(place.clone(), says);
    }
}

/// The message about a construct of a script.
pub(crate) fn refusal_text(refusal: &Refusal) -> Text {
    let says = match refusal.kind {
        RefusalKind::Syntax => Text::new("jmx-script-syntax"),
        RefusalKind::Incomplete => Text::new("jmx-script-incomplete"),
        RefusalKind::Construct => Text::new("jmx-script-construct"),
        RefusalKind::Class => Text::new("jmx-script-class"),
        RefusalKind::Method => Text::new("jmx-script-method"),
        RefusalKind::Property => Text::new("jmx-script-property"),
        RefusalKind::Name => Text::new("jmx-script-name"),
        RefusalKind::Depth => Text::new("jmx-script-depth"),
    };
    let says = says.word("line", refusal.line.to_string());
    match refusal.kind {
        RefusalKind::Incomplete => says,
        _ => says.word("what", refusal.what.as_str()),
    }
}

/// The script in a file. One that cannot be read is reported and empty.
fn of_file(reader: &mut ElementReader<'_, '_>, path: &str, property: &str) -> String {
    let read = reader.compiler.files.read(path, MOST_BYTES);
    let text = read.map_err(|error| error.kind().to_string());
    let text = text.and_then(|bytes| {
        xml::decode_named(&bytes, "").map_err(|_| "it is not valid UTF-8".to_owned())
    });
    text.unwrap_or_else(|why| {
        let says = Text::new("jmx-data-file-unreadable")
            .word("file", path)
            .word("why", why);
        let place = reader.place_of(property);
        reader.compiler.problems.error(place, says);
        String::new()
    })
}

/// Reports errors that a script would have when it runs.
fn examine(reader: &mut ElementReader<'_, '_>, text: &str, place: &FilePosition) {
    if let Some((word, line)) = script::java_in(text) {
        let says = Text::new("jmx-script-java")
            .word("word", word)
            .word("line", line.to_string());
        let hint = Text::new("jmx-script-java-hint");
        reader.compiler.unsupported(place, says, Some(hint));
    } else if let Some(fault) = script::flaw(text) {
        let says = Text::new("jmx-script-flaw").word("why", fault.to_string());
        reader.compiler.problems.error(place.clone(), says);
    }
}

/// Records the variables that a script sets; any, if it builds their names.
fn note_variables(reader: &mut ElementReader<'_, '_>, text: &str) {
    for call in ["vars.put(", "vars.putObject("] {
        for (at, _) in text.match_indices(call) {
            let argument = text[at + call.len()..].trim_start();
            let quote = argument.chars().next().filter(|c| matches!(c, '"' | '\''));
            let literal = quote.and_then(|quote| argument[1..].split_once(quote));
            let name = match literal {
                Some((name, rest)) if rest.trim_start().starts_with(',') => name,
                _ => "*",
            };
            reader.compiler.sets(&Template::text(name));
        }
    }
}
