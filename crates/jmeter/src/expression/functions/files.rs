//! Functions that read and write files.

use super::FunctionCall;
use crate::digits::zero_padded;
use crate::expression::{FunctionFault, Lines};
use crate::files::WriteMode;

/// `__CSVRead(file, column)`: a column of this user's row; `__CSVRead(file, next)` ends the row.
///
/// A user gets its row with its first call for it; rows are distributed among the users.
pub(super) fn csv_read(frame: &mut FunctionCall<'_>) -> Result<(), FunctionFault> {
    let (file, column) = (frame.argument(0)?, frame.argument(1)?);
    if column.starts_with('*') {
        return Err(frame.fault("another name of a file is not supported"));
    }
    if matches!(&*column, "next" | "next()") {
        frame.world.end_row(&file);
        return Ok(());
    }
    let lines = lines(frame, &file)?;
    // The file ends at its first empty line.
    let rows = lines.iter().take_while(|line| !line.is_empty()).count() as u64;
    let row = match frame.world.row(&file) {
        Some(row) => row,
        None => frame.world.next_row(&file, rows),
    };
    let wrong = |frame: &FunctionCall<'_>| frame.fault(format!("`{column}` is not a column"));
    let index: usize = column.parse().map_err(|_| wrong(frame))?;
    let mut delimiter = String::new();
    if !frame
        .world
        .write_property("csvread.delimiter", &mut delimiter)
    {
        delimiter.push(',');
    }
    let line = lines.get(row as usize).map_or("", String::as_str);
    let mut values = line.split(|c: char| delimiter.contains(c));
    let value = values.nth(index).ok_or_else(|| wrong(frame))?;
    frame.out.push_str(value);
    Ok(())
}

/// Stands for a file that cannot be read.
const UNREADABLE: &str = "**ERR**";

/// `__StringFromFile(file, [variable], [start], [end])`: the next line with each call, of one file
/// or of numbered files.
pub(super) fn string_from_file(frame: &mut FunctionCall<'_>) -> Result<(), FunctionFault> {
    let pattern = frame.argument(0)?;
    let variable = match frame.len() {
        1 => "StringFromFile_".to_owned(),
        _ => frame.word(1)?,
    };
    let names = match frame.argument(2)?.parse::<i64>() {
        Err(_) => vec![pattern.to_string()],
        Ok(start) => numbered(frame, &pattern, start)?,
    };
    let mut all: Vec<Lines> = Vec::with_capacity(names.len());
    for name in &names {
        match frame.world.lines(name, "") {
            Ok(lines) => all.push(lines),
            Err(why) => frame.note(format!("`{name}` cannot be read: {why}")),
        }
    }
    let rows = all.iter().map(|lines| lines.len() as u64).sum();
    // Each call site reads the file by itself.
    let cursor = format!("{}#{}", names[0], frame.call.site);
    let mut row = frame.world.next_row(&cursor, rows) as usize;
    let mut line = UNREADABLE;
    for lines in &all {
        match lines.get(row) {
            Some(found) => {
                line = found;
                break;
            }
            None => row -= lines.len(),
        }
    }
    if !variable.is_empty() {
        frame.world.set_variable(&variable, line);
    }
    frame.out.push_str(line);
    Ok(())
}

/// `name#.txt` with the numbers from `start` to the fourth argument; `0` in its place is a digit
/// that is always written.
fn numbered(
    frame: &mut FunctionCall<'_>,
    pattern: &str,
    start: i64,
) -> Result<Vec<String>, FunctionFault> {
    /// Most files of one call.
    const MOST: i64 = 10_000;
    /// Longest name of a file, as systems take it.
    const MOST_BYTES: usize = 4096;
    let end: i64 = frame.strict(3)?;
    if start < 0 || end < start || end - start >= MOST {
        let why = format!("`{start}` to `{end}` is not a range of up to {MOST} files");
        return Err(frame.fault(why));
    }
    if pattern.len() > MOST_BYTES {
        return Err(frame.fault(format!("a name of a file has up to {MOST_BYTES} bytes")));
    }
    let is_digit = |c: char| matches!(c, '#' | '0');
    let first = pattern.find(is_digit).unwrap_or(pattern.len());
    let (head, rest) = pattern.split_at(first);
    let tail = rest.trim_start_matches(is_digit);
    let digits = rest[..rest.len() - tail.len()].matches('0').count();
    let plain = |part: &str| part.replace('\'', "");
    let (head, tail) = (plain(head), plain(tail));
    Ok((start..=end)
        .map(|number| format!("{head}{}{tail}", zero_padded(number, digits)))
        .collect())
}

/// `__FileToString(file, [encoding], [variable])`: all of it, with its last line end.
pub(super) fn file_to_string(frame: &mut FunctionCall<'_>) -> Result<(), FunctionFault> {
    let (file, encoding) = (frame.argument(0)?, frame.word(1)?);
    let text = frame.world.text(&file, &encoding).unwrap_or_else(|why| {
        frame.note(format!("`{file}` cannot be read: {why}"));
        UNREADABLE.into()
    });
    frame.give(2, &text)
}

/// `__StringToFile(file, text, [append], [encoding])`: `true` if the file was written. Unless the third
/// argument says otherwise, the text goes behind what is in the file; `\\n` in it is a line end.
pub(super) fn string_to_file(frame: &mut FunctionCall<'_>) -> Result<(), FunctionFault> {
    let (file, text) = (frame.word(0)?, frame.argument(1)?);
    let mode = match frame.word(2)?.to_lowercase().as_str() {
        "" | "true" => WriteMode::Append,
        _ => WriteMode::Replace,
    };
    let encoding = frame.argument(3)?;
    let text = text.replace("\\n", "\n");
    let written = match file.is_empty() {
        true => Err("the name of the file is empty".to_owned()),
        false => frame.world.write_text(&file, &text, (mode, &encoding)),
    };
    if let Err(why) = &written {
        frame.note(format!("`{file}` is not written: {why}"));
    }
    let says = if written.is_ok() { "true" } else { "false" };
    frame.out.push_str(says);
    Ok(())
}

fn lines(frame: &mut FunctionCall<'_>, path: &str) -> Result<Lines, FunctionFault> {
    let read = frame.world.lines(path, "");
    let lines = read.map_err(|why| frame.fault(format!("`{path}` cannot be read: {why}")))?;
    match lines.is_empty() {
        true => Err(frame.fault(format!("`{path}` is empty"))),
        false => Ok(lines),
    }
}
