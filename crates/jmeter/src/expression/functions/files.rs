//! Functions that read files.

use super::FunctionCall;
use crate::expression::{FunctionFault, Lines};

/// `__CSVRead(file, column)`: a column of this user's row; `__CSVRead(file, next)` moves to the
/// next row.
///
/// A user gets its first row with its first call; rows are distributed among the users.
pub(super) fn csv_read(frame: &mut FunctionCall<'_>) -> Result<(), FunctionFault> {
    let file = frame.word(0)?;
    let column = frame.word(1)?;
    let lines = lines(frame, &file, "")?;
    let rows = lines.len() as u64;
    if column.eq_ignore_ascii_case("next") {
        frame.world.next_row(&file, rows);
        return Ok(());
    }
    let row = match frame.world.row(&file) {
        Some(row) => row,
        None => frame.world.next_row(&file, rows),
    };
    let wrong =
        |frame: &FunctionCall<'_>| frame.fault(format!("`{column}` is not a column from 0 on"));
    let index: usize = column.parse().map_err(|_| wrong(frame))?;
    let line = lines.get(row as usize).map_or("", String::as_str);
    let value = line.split(',').nth(index).ok_or_else(|| wrong(frame))?;
    frame.out.push_str(value);
    Ok(())
}

/// `__StringFromFile(file, [variable], [start], [end])`: the next line with each call, of one file
/// or of numbered files.
pub(super) fn string_from_file(frame: &mut FunctionCall<'_>) -> Result<(), FunctionFault> {
    let pattern = frame.word(0)?;
    let names = match frame.word(2)?.is_empty() {
        true => vec![pattern],
        false => numbered(frame, &pattern)?,
    };
    let mut all: Vec<Lines> = Vec::with_capacity(names.len());
    for name in &names {
        all.push(lines(frame, name, "")?);
    }
    let rows = all.iter().map(|lines| lines.len() as u64).sum();
    // Each call site reads the file by itself.
    let cursor = format!("{}#{}", names[0], frame.call.site);
    let mut row = frame.world.next_row(&cursor, rows) as usize;
    let mut line = "";
    for lines in &all {
        match lines.get(row) {
            Some(found) => {
                line = found;
                break;
            }
            None => row -= lines.len(),
        }
    }
    frame.give(1, line)
}

/// `name#.txt` with the numbers from `start` to `end`; each `#` is a digit.
fn numbered(frame: &mut FunctionCall<'_>, pattern: &str) -> Result<Vec<String>, FunctionFault> {
    /// Most files of one call.
    const MOST: i64 = 10_000;
    let (start, end) = (frame.integer(2)?, frame.integer(3)?);
    if start < 0 || end < start || end - start >= MOST {
        let why = format!("`{start}` to `{end}` is not a range of up to {MOST} files");
        return Err(frame.fault(why));
    }
    let digits = pattern.matches('#').count();
    let (head, tail) = match (pattern.find('#'), pattern.rfind('#')) {
        (Some(first), Some(last)) => (&pattern[..first], &pattern[last + 1..]),
        _ => (pattern, ""),
    };
    Ok((start..=end)
        .map(|number| format!("{head}{number:0digits$}{tail}"))
        .collect())
}

/// `__FileToString(file, [encoding], [variable])`.
pub(super) fn file_to_string(frame: &mut FunctionCall<'_>) -> Result<(), FunctionFault> {
    let (file, encoding) = (frame.word(0)?, frame.word(1)?);
    let text = lines(frame, &file, &encoding)?.join("\n");
    frame.give(2, &text)
}

fn lines(frame: &mut FunctionCall<'_>, path: &str, encoding: &str) -> Result<Lines, FunctionFault> {
    let read = frame.world.lines(path, encoding);
    let lines = read.map_err(|why| frame.fault(format!("`{path}` cannot be read: {why}")))?;
    if lines.is_empty() {
        return Err(frame.fault(format!("`{path}` is empty")));
    }
    Ok(lines)
}
