//! Reads a JavaScript scenario for the hosts that it is for, before anything starts.
//!
//! The script runs against an executor that carries nothing out. A mistake does not end it: it is kept with
//! its line, and the script goes on with the next one. Results of phases are made up: everything came
//! through, and every number is 1. What a script decides by such numbers may be decided otherwise later.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use rquickjs::{CatchResultExt, Context, Module};
use sokudo_i18n::english;
use sokudo_model::Text;
use sokudo_script::apart::{self, Watch};
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
/// Time after which the reading of a program is given up, seconds.
const READING_S: u32 = 3;
/// Looks in a second whether a program must end.
const LOOKS_PER_S: u32 = 10;
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
    loop {
        let mistake = match unreadable(lines.join("\n")) {
            Ok(None) => return (Some(lines.join("\n")), mistakes),
            Ok(Some(mistake)) => mistake,
            Err(given_up) => {
                mistakes.push(given_up);
                return (None, mistakes);
            }
        };
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
}

/// Ends the reading of a program after [`READING_S`]: the engine reads without asking whether it must end, and a
/// program of many names takes it the square of their number.
struct Looks(AtomicU32);

impl Watch for Looks {
    fn pause(&self) {}

    fn resume(&self) {}

    fn ends(&self) -> bool {
        self.0.fetch_add(1, Ordering::Relaxed) >= READING_S * LOOKS_PER_S
    }
}

/// The first place that cannot be read.
///
/// Errors: the reading takes too long.
fn unreadable(source: String) -> Result<Option<Mistake>, Mistake> {
    let looks = Looks(AtomicU32::new(0));
    let read = apart::execute(
        &looks,
        STACK_BYTES,
        move |_| first_unreadable(&source),
        |_, _| String::new(),
    );
    read.map_err(|_| {
        let says = Text::new("error-scenario-read-long").with("seconds", READING_S);
        Mistake::at(1, says, Text::new("error-scenario-read-long-hint")).on_line(1)
    })
}

fn first_unreadable(source: &str) -> Option<Mistake> {
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
