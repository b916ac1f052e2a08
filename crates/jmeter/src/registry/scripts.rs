//! Elements with a script.

use sokudo_model::Text;

use super::{ElementSpec, Family, Role, element};
use crate::compile::ElementReader;
use crate::expression::Template;
use crate::node::{ElementNode, PropertyValue, find};
use crate::plan::{AssertionKind, ListenerKind, PostKind, PreKind, SamplerKind, Script, TimerKind};
use crate::script;
use crate::xml;

/// Largest script file, bytes.
const MOST_BYTES: u64 = 1 << 20;

pub(super) const ELEMENTS: &[ElementSpec] = &[
    element(
        &["JSR223Sampler"],
        Family::Sampler,
        3,
        Role::Sampler(|reader| SamplerKind::Script(script_of(reader))),
    ),
    element(
        &["JSR223PreProcessor"],
        Family::PreProcessor,
        3,
        Role::Pre(|reader| PreKind::Script(script_of(reader))),
    ),
    element(
        &["JSR223PostProcessor"],
        Family::PostProcessor,
        3,
        Role::Post(|reader| PostKind::Script(script_of(reader))),
    ),
    element(
        &["JSR223Assertion"],
        Family::Assertion,
        3,
        Role::Assertion(|reader| AssertionKind::Script(script_of(reader))),
    ),
    element(
        &["JSR223Timer"],
        Family::Timer,
        3,
        Role::Timer(|reader| TimerKind::Script(script_of(reader))),
    ),
    element(
        &["JSR223Listener"],
        Family::Listener,
        3,
        Role::Listener(|reader| ListenerKind::Script(script_of(reader))),
    ),
];

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
    let language = match text("scriptLanguage") {
        // JMeter's default language.
        "" => "groovy",
        language => language,
    };
    (!is_empty && !script::is_known(language)).then(|| language.to_owned())
}

/// The script of an element. One that cannot be executed is reported and empty.
fn script_of(reader: &mut ElementReader<'_, '_>) -> Script {
    reader.ignore(&["cacheKey"]);
    reader.text("scriptLanguage");
    let parameters = reader.text("parameters");
    let file = reader.start_text("filename");
    let mut text = reader.text("script");
    let mut place = reader.place_of("script");
    if !file.trim().is_empty() {
        place = reader.place_of("filename");
        text = Template::text(of_file(reader, file.trim()));
    }
    if let Some(text) = text.constant() {
        examine(reader, text, &place);
        note_variables(reader, text);
    }
    Script { text, parameters }
}

/// The script in a file. One that cannot be read is reported and empty.
fn of_file(reader: &mut ElementReader<'_, '_>, path: &str) -> String {
    let read = reader.compiler.files.read(path, MOST_BYTES);
    let text = read.map_err(|error| error.kind().to_string());
    let text = text.and_then(|bytes| {
        xml::decode_named(&bytes, "").map_err(|_| "it is not valid UTF-8".to_owned())
    });
    text.unwrap_or_else(|why| {
        let says = Text::new("jmx-data-file-unreadable")
            .word("file", path)
            .word("why", why);
        let place = reader.place_of("filename");
        reader.compiler.problems.error(place, says);
        String::new()
    })
}

/// Reports errors that a script would have when it runs.
fn examine(reader: &mut ElementReader<'_, '_>, text: &str, place: &crate::problem::FilePosition) {
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
