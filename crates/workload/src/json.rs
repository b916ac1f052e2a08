//! Reads JSON that another host wrote, and says where in it an error lies.

use serde::de::DeserializeOwned;

/// Reads a value. Errors: the place of the error, as `flows[2].rate: invalid type: …`.
///
/// The place is found in the text once reading has failed. Tracking it while reading would compile every
/// type's reader a second time.
pub fn read<T: DeserializeOwned>(text: &str) -> Result<T, String> {
    serde_json::from_str(text).map_err(|error| with_place(text, &error))
}

fn with_place(text: &str, error: &serde_json::Error) -> String {
    let lines = text.split_inclusive('\n').take(error.line().max(1) - 1);
    let read = lines.map(str::len).sum::<usize>() + error.column();
    let why = error.to_string();
    // A value that its own type refuses is noticed when what encloses it has been read, too. What lacks
    // something is the whole.
    let is_whole = why.starts_with("missing field") || why.starts_with("invalid length");
    let read = text.as_bytes().get(..read).unwrap_or(text.as_bytes());
    let place = place_after(read, is_whole);
    match place.is_empty() {
        true => why,
        false => format!("{place}: {why}"),
    }
}

/// Object or array around a place of a document.
enum Level<'a> {
    /// An object, and the key whose value comes next, or has come.
    Object(Option<&'a [u8]>),
    /// An array, and the index of the element.
    Array(usize),
}

/// The path of the value at which this beginning of a document ends: `flows[2].rate`. Behind a bracket that
/// closes, it is what the bracket encloses, or the last value in it.
fn place_after(read: &[u8], is_whole: bool) -> String {
    let mut levels = Vec::new();
    let mut closed = None;
    let mut rest = read.trim_ascii_end();
    while let Some((first, after)) = rest.split_first() {
        rest = after;
        match (first, levels.last_mut()) {
            (b'{', _) => levels.push(Level::Object(None)),
            (b'[', _) => levels.push(Level::Array(0)),
            (b'}' | b']', _) => closed = levels.pop().filter(|_| rest.is_empty() && !is_whole),
            (b',', Some(Level::Object(key))) => *key = None,
            (b',', Some(Level::Array(index))) => *index += 1,
            (b'"', level) => {
                let (text, after) = string_of(after);
                rest = after;
                if let Some(Level::Object(key @ None)) = level {
                    *key = Some(text);
                }
            }
            _ => {}
        }
    }
    levels.extend(closed);
    written(&levels)
}

/// The raw text of a string behind its opening quote, and what follows its closing one.
fn string_of(rest: &[u8]) -> (&[u8], &[u8]) {
    let mut is_escaped = false;
    let end = rest.iter().position(|byte| {
        let ends = *byte == b'"' && !is_escaped;
        is_escaped = *byte == b'\\' && !is_escaped;
        ends
    });
    match end {
        Some(end) => (&rest[..end], &rest[end + 1..]),
        None => (rest, &[]),
    }
}

fn written(levels: &[Level<'_>]) -> String {
    let mut path = String::new();
    for level in levels {
        match level {
            Level::Object(Some(key)) => {
                if !path.is_empty() {
                    path.push('.');
                }
                path.push_str(&String::from_utf8_lossy(key));
            }
            Level::Object(None) => {}
            Level::Array(index) => path.push_str(&format!("[{index}]")),
        }
    }
    path
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;
    use serde::Deserialize;

    use super::*;

    fn even<'de, D: serde::Deserializer<'de>>(reader: D) -> Result<u32, D::Error> {
        let number = u32::deserialize(reader)?;
        let even = Some(number).filter(|number| number % 2 == 0);
        even.ok_or_else(|| serde::de::Error::custom("it is odd"))
    }

    #[derive(Debug, Deserialize)]
    #[expect(dead_code, reason = "only whether it can be read is of interest")]
    struct Flow {
        rate: u32,
        #[serde(default)]
        labels: BTreeMap<String, Vec<u8>>,
        #[serde(default, deserialize_with = "even")]
        pairs: u32,
    }

    fn place(text: &str) -> String {
        let error = read::<BTreeMap<String, Vec<Flow>>>(text).expect_err(text);
        error.split_once(": ").expect("a place").0.to_owned()
    }

    #[test]
    fn errors_name_the_value_that_cannot_be_read() {
        assert_eq!(
            place(r#"{"flows":[{"rate":1},{"rate":"x"}]}"#),
            "flows[1].rate"
        );
        assert_eq!(
            place("{\"flows\":\n [{\"rate\":1},\n{\"rate\":-1}]}"),
            "flows[1].rate"
        );
        let labels = r#"{"flows":[{"rate":1,"labels":{"a\"b":[1,2,300]}}]}"#;
        assert_eq!(place(labels), r#"flows[0].labels.a\"b[2]"#);
        // A missing field belongs to the object that lacks it.
        assert_eq!(place(r#"{"flows":[{"rate":1},{"labels":{}}]}"#), "flows[1]");
        // The type of the value refuses it.
        for rest in ["", r#","labels":{}"#] {
            let odd = format!(r#"{{"flows":[{{"rate":1,"pairs":3{rest}}}]}}"#);
            assert_eq!(place(&odd), "flows[0].pairs");
        }
        assert_eq!(place(r#"{"é,{":[{"rate":1}],"b":7}"#), "b");
    }

    #[test]
    fn errors_of_the_whole_document_have_no_place() {
        let error = read::<Flow>("[]").expect_err("an array");
        assert!(!error.starts_with(['[', ':']), "{error}");
        assert!(read::<u8>("").expect_err("nothing").starts_with("EOF"));
    }

    proptest! {
        #[test]
        fn any_text_is_read_or_refused(text in r#"[\[\]{}",:\\a-c0-9\n é]{0,60}"#) {
            let _ = read::<BTreeMap<String, Vec<Flow>>>(&text);
        }
    }
}
