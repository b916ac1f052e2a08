//! Reads a JavaScript scenario for the hosts that it is for, before anything starts.
//!
//! The script runs against an executor that carries nothing out. A mistake does not end it: it is kept with
//! its line, and the script goes on with the next one. Results of phases are made up: everything came
//! through, and every number is 1. What a script decides by such numbers may be decided otherwise later.

use std::sync::Arc;

use rquickjs::{CatchResultExt, Context, Module};
use sokudo_i18n::english;
use sokudo_model::Text;
use sokudo_script::{Bounds, Language, Thrown, engine};

use super::calls::Calls;
use super::{Limits, Meter, OWN_LINES, Outside, STACK_BYTES, in_engine, no_unasked};
use crate::Mistake;
use crate::execute::Executor;

/// Mistakes that are told at most.
const MISTAKES_MAX: usize = 100;
/// Statements that are taken out at most because they cannot be read.
const UNREADABLE_MAX: usize = 20;
/// Lines of a statement that is taken out, at most.
const STATEMENT_LINES_MAX: usize = 50;
/// Bounds on a rehearsal.
const LIMITS: Limits = Limits {
    memory_bytes: 256 << 20,
    compute_ns: 3_000_000_000,
    journal_bytes: 0,
};

/// Part that could not be rehearsed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Open {
    /// From this line on the script reads results, which were made up.
    Results(u32),
    /// The rehearsal took too long, or too much memory, and was given up; what stands behind that is
    /// unknown.
    Long,
}

/// Result of a rehearsal.
#[derive(Debug, Clone, PartialEq)]
pub struct Rehearsed {
    /// All mistakes that were found, by line.
    pub mistakes: Vec<Mistake>,
    /// Part that could not be rehearsed; `None` when the whole script was.
    pub open: Option<Open>,
}

/// Rehearses a script: `executor` must carry nothing out.
pub fn rehearse<E: Executor>(source: &str, executor: E, outside: Outside) -> Rehearsed {
    let (readable, mut mistakes) = readable(source);
    let is_partial = !mistakes.is_empty();
    let mut open = None;
    if let Some(source) = readable {
        let mut calls = Calls::new(executor, outside.seed, outside.parameters, 0).rehearsing();
        let meter = Arc::new(Meter::new(outside.now_ns, outside.stop, LIMITS));
        let outcome = in_engine(&source, &mut calls, &meter, LIMITS);
        let found = calls.take_found();
        // Names whose declaration was taken out are not mistakes.
        let own = found.mistakes.into_iter();
        let own = own.filter(|(_, is_name)| !(is_partial && *is_name));
        mistakes.extend(own.map(|(mistake, _)| mistake));
        open = found.consulted.map(Open::Results);
        let is_cut_off = outcome.as_ref().is_err_and(|error| error.is_cut_off);
        let ended = outcome.and_then(|()| no_unasked(&calls));
        match ended {
            _ if is_cut_off => open = Some(Open::Long),
            // It may follow from numbers that were made up, or from what was taken out.
            Err(_) if is_partial || open.is_some() => {}
            Err(error) => {
                let hint = error.hint.unwrap_or_else(|| Text::words(""));
                let mistake = Mistake::at(error.column.max(1), error.says, hint);
                mistakes.push(mistake.on_line(error.line.max(1)));
            }
            Ok(()) => {}
        }
    }
    mistakes.sort_by_cached_key(|mistake| (mistake.line, mistake.column, english(&mistake.says)));
    mistakes.dedup_by(|a, b| (a.line, &a.says) == (b.line, &b.says));
    mistakes.truncate(MISTAKES_MAX);
    Rehearsed { mistakes, open }
}

/// Mistakes for which statements of a script cannot be read: as many as can be separated.
pub fn syntax(source: &str) -> Vec<Mistake> {
    readable(source).1
}

/// The script without the statements that cannot be read, and the mistakes in those; `None` for the
/// script when too little of it is left to make sense.
fn readable(source: &str) -> (Option<String>, Vec<Mistake>) {
    let mut lines: Vec<String> = source.split('\n').map(str::to_owned).collect();
    let mut mistakes: Vec<Mistake> = Vec::new();
    while let Some(mistake) = unreadable(&lines.join("\n")) {
        let at = (mistake.line as usize).saturating_sub(1);
        // Behind a mistake that is still there, none can be told from its consequences.
        let is_new = mistakes.last().is_none_or(|last| last.line < mistake.line);
        if !is_new {
            return (None, mistakes);
        }
        mistakes.push(mistake);
        let Some(count) = statement(&lines[at.min(lines.len())..]) else {
            return (None, mistakes);
        };
        lines[at..at + count].iter_mut().for_each(String::clear);
        if mistakes.len() == UNREADABLE_MAX {
            return (None, mistakes);
        }
    }
    (Some(lines.join("\n")), mistakes)
}

/// The first place that cannot be read.
fn unreadable(source: &str) -> Option<Mistake> {
    let bounds = Bounds {
        memory_bytes: LIMITS.memory_bytes,
        stack_bytes: STACK_BYTES,
    };
    let runtime = engine(bounds, || false).ok()?;
    let context = Context::custom::<Language>(&runtime).ok()?;
    context.with(|ctx| {
        let name = OWN_LINES.trim_end_matches(':');
        let declared = Module::declare(ctx.clone(), name, source).catch(&ctx);
        let thrown = Thrown::of(&declared.err()?, OWN_LINES);
        let hint = Text::new("error-scenario-types-hint");
        let mistake = Mistake::at(thrown.column.max(1), thrown.message, hint);
        (thrown.line > 0).then(|| mistake.on_line(thrown.line))
    })
}

/// Number of lines from the first one until all brackets are closed; `None` when they are not.
fn statement(lines: &[String]) -> Option<usize> {
    let mut depth = 0;
    for (line, count) in lines.iter().zip(1..=STATEMENT_LINES_MAX) {
        depth += brackets(line);
        if depth <= 0 {
            return (depth == 0).then_some(count);
        }
    }
    None
}

/// Brackets that a line opens, less those that it closes; not those in texts and comments.
fn brackets(line: &str) -> i32 {
    let mut depth = 0;
    let mut quote = None;
    let mut letters = line.chars().peekable();
    while let Some(letter) = letters.next() {
        match (quote, letter) {
            (Some(_), '\\') => drop(letters.next()),
            (Some(open), _) if open == letter => quote = None,
            (Some(_), _) => {}
            (None, '"' | '\'' | '`') => quote = Some(letter),
            (None, '/') if letters.peek() == Some(&'/') => break,
            (None, '(' | '[' | '{') => depth += 1,
            (None, ')' | ']' | '}') => depth -= 1,
            (None, _) => {}
        }
    }
    depth
}
