//! Goes through the lines of a script without carrying anything out, and finds their mistakes.

use std::collections::BTreeSet;

use super::{Console, Next, Pace, Refused};
use crate::execute::Executor;
use crate::line::{Command, Line, Who};
use crate::mistake::Mistake;

/// All mistakes of these lines. `executor` answers as if every load had been carried out.
///
/// A mistake that only follows from an earlier one about the same host is left out; with `is_partial`,
/// when lines are missing because they could not be read, all such mistakes are.
pub fn rehearse(lines: &[Line], executor: &mut dyn Executor, is_partial: bool) -> Vec<Mistake> {
    let mut console = Console::new(Pace::Gather);
    let mut mistakes: Vec<Mistake> = Vec::new();
    let mut spoilt: BTreeSet<u32> = BTreeSet::new();
    let mut is_spoilt = is_partial;
    for line in lines {
        let mistake = match console.execute(line, executor) {
            Ok(Next::End) => break,
            Ok(Next::Line) => continue,
            Err(Refused::Mistake(mistake)) => mistake,
            Err(Refused::Failed { line, failed }) => Mistake::of(1, failed).on_line(line),
        };
        let follows = mistake
            .lacks
            .is_some_and(|host| is_spoilt || spoilt.contains(&host));
        match &line.command {
            Command::Order {
                who: Who::Nodes(hosts, _),
                ..
            } => spoilt.extend(hosts),
            _ => is_spoilt = true,
        }
        if !follows {
            mistakes.push(mistake);
        }
    }
    mistakes
}
