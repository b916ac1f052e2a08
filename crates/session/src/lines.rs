//! Carries out console lines over the hosts of a [`Lab`].

use sokudo_model::Refusal;
use sokudo_scenario::console::{Next, Pace, Refused};
use sokudo_scenario::{Console, line};
use sokudo_workload::refusal::{failed, operator};

use crate::{Ended, Lab, Left};

/// Carries out lines one after the other. Errors: the line that was refused.
pub fn carry_out(lines: &[line::Line], lab: &mut Lab) -> Result<Ended, Refused> {
    let mut console = Console::new(Pace::Gather);
    for line in lines {
        if console.execute(line, lab)? == Next::End {
            return Ok(Ended::Well);
        }
    }
    let last = lines.last().map_or(1, |line| line.number);
    console.end(last, lab)?;
    Ok(Ended::Well)
}

/// Carries out one line; an empty one does nothing.
pub fn heard(
    console: &mut Console,
    text: &str,
    number: u32,
    lab: &mut Lab,
) -> Result<Next, Refused> {
    match line::parse_line(text, number)? {
        Some(line) => console.execute(&line, lab),
        None => Ok(Next::Line),
    }
}

/// Result of console lines, with their text for the record.
pub fn by_lines(lab: Lab, ended: Ended, text: String) -> Left {
    Left {
        lab: Some(lab),
        ended,
        files: vec![("plan/scenario.sks", text)],
    }
}

/// End of a script by a line that was not carried out.
pub fn ended_by(refused: Refused) -> Ended {
    if let Refused::Failed { failed, .. } = &refused
        && failed.interrupted
    {
        return Ended::Interrupted;
    }
    Ended::Early(refusal_of(&refused))
}

fn refusal_of(refused: &Refused) -> Refusal {
    match refused {
        Refused::Mistake(mistake) => operator(refused.text(), mistake.hint.clone()),
        Refused::Failed { .. } => failed(refused.text(), refused.hint().cloned()),
    }
}
