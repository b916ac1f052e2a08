//! Functions that search in texts and documents.

use std::sync::Arc;

use fancy_regex::Captures;

use super::FunctionCall;
use crate::document::Document;
use crate::document::xpath::{Names, XPath};
use crate::expression::FunctionFault;

/// Most matches of one call.
const MOST_MATCHES: usize = 100_000;

/// `__regexFunction(pattern, template, [which], [between], [default], [variable], [input])`.
pub(super) fn regex(frame: &mut FunctionCall<'_>) -> Result<(), FunctionFault> {
    let template = frame.argument(1)?;
    let which = match frame.argument(2)? {
        empty if empty.is_empty() => "1".into(),
        which => which,
    };
    let between = frame.argument(3)?;
    let default = frame.argument(4)?;
    let (name, input) = (frame.argument(5)?, frame.argument(6)?);
    if !name.is_empty() {
        frame.world.set_variable(&name, &default);
    }
    let text = match input.is_empty() {
        true => frame.world.last_text(),
        false => frame.world.variable(&input),
    };
    let Some(text) = text.map(Arc::<str>::from).filter(|text| !text.is_empty()) else {
        frame.out.push_str(&default);
        return Ok(());
    };
    let pattern = frame.argument(0)?;
    let wrong = |_| frame.fault(format!("`{pattern}` is not a valid regular expression"));
    let compiled = crate::pattern::extracting(&pattern, false).map_err(wrong)?;
    let found = compiled.captures_iter(&*text).take(MOST_MATCHES);
    let found: Result<Vec<Captures<'_, str>>, _> = found.collect();
    let found = found.map_err(|why| frame.fault(why.to_string()))?;
    if !name.is_empty() {
        let count = found.len().to_string();
        frame.world.set_variable(&format!("{name}_matchNr"), &count);
    }
    let chosen = match chosen(frame, &which, found.len())? {
        _ if found.is_empty() => None,
        Some(range) => found.get(range),
        None => None,
    };
    let Some(chosen) = chosen else {
        frame.out.push_str(&default);
        return Ok(());
    };
    for (index, groups) in chosen.iter().enumerate() {
        if index > 0 {
            frame.out.push_str(&between);
        }
        let value = filled(&template, groups);
        if !name.is_empty() {
            for (group, text) in groups.iter().enumerate() {
                let text = text.map_or("", |text| text.as_str());
                frame.world.set_variable(&format!("{name}_g{group}"), text);
            }
            frame.world.set_variable(&name, &value);
        }
        frame.out.push_str(&value);
    }
    Ok(())
}

/// The matches that are asked for: `ALL`, `RAND`, a number from 1, or a share of all.
fn chosen(
    frame: &mut FunctionCall<'_>,
    which: &str,
    count: usize,
) -> Result<Option<std::ops::Range<usize>>, FunctionFault> {
    let one = |index: Option<usize>| index.map(|index| index..index + 1);
    Ok(match which {
        "ALL" => Some(0..count),
        "RAND" => one(Some(frame.random().below(count.max(1) as u64) as usize)),
        number => match (number.parse::<i32>(), number.parse::<f32>()) {
            (Ok(number), _) => one(usize::try_from(number - 1).ok()),
            (_, Ok(share)) => {
                let index = (count as f32 * share + 0.5) as i64 - 1;
                one(usize::try_from(index).ok())
            }
            _ => return frame.strict::<i32>(2).map(|_| None),
        },
    })
}

/// A template with its `$1$` replaced; a group that did not take part is `null`, as in JMeter.
fn filled(template: &str, groups: &Captures<'_, str>) -> String {
    let mut out = String::new();
    let mut rest = template;
    while let Some((before, after)) = rest.split_once('$') {
        let digits = after.bytes().take_while(u8::is_ascii_digit).count();
        let group = after[..digits].parse::<usize>().ok();
        match group.filter(|_| after[digits..].starts_with('$')) {
            Some(group) => {
                out.push_str(before);
                out.push_str(groups.get(group).map_or("null", |text| text.as_str()));
                rest = &after[digits + 1..];
            }
            None => {
                out.extend([before, "$"]);
                rest = after;
            }
        }
    }
    out + rest
}

/// `__XPath(file, path)`: the next match with each call.
pub(super) fn xpath(frame: &mut FunctionCall<'_>) -> Result<(), FunctionFault> {
    let (file, path) = (frame.argument(0)?, frame.argument(1)?);
    let read = frame.world.text(&file, "");
    let text = read.map_err(|why| frame.fault(format!("`{file}` cannot be read: {why}")))?;
    let found = XPath::parse(&path).and_then(|parsed| {
        let document = Document::xml(&text)?;
        let found = parsed.find(&document, Names::Unaware)?;
        found.texts(&document, false)
    });
    let found = found.map_err(|why| frame.fault(why))?;
    let cursor = format!("{file}{path}");
    let row = frame.world.next_row(&cursor, found.len() as u64);
    if let Some(text) = found.get(row as usize) {
        frame.out.push_str(text);
    }
    Ok(())
}
