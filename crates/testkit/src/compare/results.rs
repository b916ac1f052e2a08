//! Results of a plan as text that can be compared: without times and counts of what is in the air.

use quick_xml::Reader;
use quick_xml::events::{BytesStart, Event};

/// Attributes that differ from run to run, or are compared elsewhere: times, numbers of threads, bytes that
/// hold the client's own name.
const UNTOLD: &[&str] = &["t", "it", "lt", "ct", "ts", "sby", "ng", "na", "hn", "tn"];

/// A result with everything below it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Row {
    /// Name of the thread.
    pub thread: String,
    /// Its attributes, then what is below it, each on a line of its own, indented.
    pub text: String,
}

/// The results of a file. Text that is not XML ends them.
pub(super) fn rows(file: &str) -> Vec<Row> {
    let mut reader = Reader::from_str(file);
    reader.config_mut().expand_empty_elements = true;
    let (mut rows, mut depth) = (Vec::new(), 0);
    let mut open: Option<Row> = None;
    loop {
        match reader.read_event() {
            Ok(Event::Start(tag)) => {
                depth += 1;
                if depth == 2 {
                    let thread = attribute(&tag, "tn").unwrap_or_default();
                    open = Some(Row {
                        thread,
                        text: String::new(),
                    });
                }
                if let Some(row) = &mut open {
                    begin(&tag, depth - 2, &mut row.text);
                }
            }
            Ok(Event::End(_)) => {
                depth -= 1;
                if depth == 1 {
                    rows.extend(open.take());
                }
            }
            Ok(Event::Text(text)) => {
                push(&text.xml10_content(), &mut open);
            }
            Ok(Event::GeneralRef(name)) => {
                let text = match name.resolve_char_ref() {
                    Ok(Some(character)) => character.to_string(),
                    _ => format!("&{};", &*name),
                };
                push(&text, &mut open);
            }
            Ok(Event::Eof) | Err(_) => return rows,
            Ok(_) => {}
        }
    }
}

fn push(text: &str, open: &mut Option<Row>) {
    if let Some(row) = open
        && !text.trim().is_empty()
    {
        row.text.push_str(text);
    }
}

/// A line with the name of an element and its attributes.
fn begin(tag: &BytesStart<'_>, depth: usize, out: &mut String) {
    if !out.is_empty() {
        out.push('\n');
    }
    out.push_str(&"  ".repeat(depth));
    out.push_str(tag.name().as_ref());
    // Nothing is an answer of which no more than the exception is known: its text is Java's.
    let is_lost = attribute(tag, "rc").is_some_and(|code| code.starts_with("Non HTTP"));
    // The number of a connection has so many digits as there were connections.
    let is_numbered = attribute(tag, "rm").is_some_and(|message| message.contains("(conn="));
    for found in tag.attributes().flatten() {
        let key = found.key.as_ref();
        let is_untold = is_lost && matches!(key, "by" | "rm") || is_numbered && key == "by";
        if UNTOLD.contains(&key) || is_untold {
            continue;
        }
        let value = attribute(tag, key).unwrap_or_default();
        out.push_str(&format!(" {key}={value:?}"));
    }
    out.push(' ');
}

fn attribute(tag: &BytesStart<'_>, name: &str) -> Option<String> {
    let found = tag
        .attributes()
        .flatten()
        .find(|found| found.key.as_ref() == name)?;
    let value = found.value.into_owned();
    Some(quick_xml::escape::unescape(&value).map_or(value.clone(), |text| text.into_owned()))
}
