//! Script files of pgbench, as they are.
//!
//! Statements end with a semicolon, at a backslash command, or with the file. Commands stand on a line of their own:
//! `\set`, `\if` `\elif` `\else` `\endif`, `\sleep`; `\gset` and `\aset` end a statement in place of its semicolon. What
//! is not supported is refused: `\;`, and commands that start programs. The statements between
//! `\startpipeline` and `\endpipeline` travel together.
//!
//! Source: pgbench(1), section "Custom Scripts".

use super::expression::{Node, parse as parse_expression};
use super::program::{Capture, Form, Names, Piece, Statement, Step, is_name, transaction_step};
use super::scalar::Scalar;
use super::sql_text::{Cut, Scanned, scan};
use super::wrong::Wrong;

/// Most steps of a script.
const MOST_STEPS: usize = 10_000;

/// The steps of a script.
///
/// Errors: the first construct that is wrong or not supported.
pub fn parse(text: &str, names: &mut Names) -> Result<Vec<Step>, Wrong> {
    let mut script = Script {
        steps: Vec::new(),
        branches: Vec::new(),
        pipeline: None,
        can_capture: false,
        names,
    };
    let (mut rest, mut line) = (text, 1);
    loop {
        let scanned = scan(rest, true, script.names);
        let (cut, length) = (scanned.cut, scanned.length);
        let begins = line + lines(&rest[..scanned.lead]);
        if cut == Cut::Open {
            return Err(Wrong::at(
                begins,
                "error-sqlmix-open",
                &rest[scanned.lead..],
            ));
        }
        if !scanned.is_empty() {
            script.statement(scanned, begins);
        }
        line += lines(&rest[..length]);
        rest = &rest[length..];
        match cut {
            Cut::Semicolon => rest = &rest[1..],
            Cut::Backslash => {
                let (command, taken) = command(rest);
                script.command(&command, line)?;
                line += lines(&rest[..taken]);
                rest = &rest[taken..];
            }
            Cut::End | Cut::Open => break,
        }
        if script.steps.len() > MOST_STEPS {
            return Err(Wrong::new(line, "error-sqlmix-long"));
        }
    }
    script.finish()
}

fn lines(text: &str) -> u32 {
    text.bytes().filter(|byte| *byte == b'\n').count() as u32
}

/// A command without its backslash, on as many lines as end with one, and the bytes that it takes.
fn command(text: &str) -> (String, usize) {
    let mut out = String::new();
    let mut taken = 1;
    loop {
        let rest = &text[taken..];
        let end = rest.find('\n').unwrap_or(rest.len());
        taken += end;
        let line = rest[..end].trim_end();
        match line.strip_suffix('\\').filter(|_| taken < text.len()) {
            Some(more) => {
                out.push_str(more);
                out.push(' ');
                taken += 1;
            }
            None => {
                out.push_str(line);
                return (out, taken);
            }
        }
    }
}

/// A statement's text without what surrounds it.
pub(super) fn statement(scanned: Scanned, line: u32) -> Statement {
    let mut pieces = scanned.pieces;
    if let Some(Piece::Text(first)) = pieces.first_mut() {
        first.drain(..scanned.lead.min(first.len()));
    }
    if let Some(Piece::Text(last)) = pieces.last_mut() {
        last.truncate(last.trim_end().len());
    }
    Statement {
        line,
        pieces,
        capture: Capture::None,
        rows: None,
        form: Form::Written,
        writes: false,
        in_pipeline: false,
        block: None,
        number: 0,
    }
}

/// A branch that is not closed yet.
struct Branch {
    line: u32,
    /// Step that leaves the present arm when its condition does not hold; `None` after `\else`.
    unless: Option<usize>,
    /// Steps that jump to the end.
    ends: Vec<usize>,
}

struct Script<'a> {
    steps: Vec<Step>,
    branches: Vec<Branch>,
    /// Line on which a pipeline begins that has not ended, and the branches that were open there.
    pipeline: Option<(u32, usize)>,
    /// Whether the last step is a statement that `\gset` may follow.
    can_capture: bool,
    names: &'a mut Names,
}

impl Script<'_> {
    fn statement(&mut self, scanned: Scanned, line: u32) {
        let mut statement = statement(scanned, line);
        statement.in_pipeline = self.pipeline.is_some();
        let plain = match statement.pieces.as_slice() {
            [Piece::Text(text)] if !statement.in_pipeline => transaction_step(text),
            _ => None,
        };
        self.can_capture = plain.is_none();
        self.steps.push(plain.unwrap_or(Step::Statement(statement)));
    }

    fn command(&mut self, command: &str, line: u32) -> Result<(), Wrong> {
        let (word, rest) = command
            .split_once(char::is_whitespace)
            .unwrap_or((command, ""));
        let rest = rest.trim();
        let can_capture = std::mem::take(&mut self.can_capture);
        match word {
            "set" => self.set(rest, line),
            "sleep" => self.sleep(rest, line),
            "if" => {
                let unless = self.unless(rest, line)?;
                self.branches.push(Branch {
                    line,
                    unless: Some(unless),
                    ends: Vec::new(),
                });
                Ok(())
            }
            "elif" => {
                self.next_arm(word, line)?;
                let unless = self.unless(rest, line)?;
                if let Some(branch) = self.branches.last_mut() {
                    branch.unless = Some(unless);
                }
                Ok(())
            }
            "else" => self.next_arm(word, line),
            "endif" => self.end_branch(line),
            "startpipeline" => self.start_pipeline(line),
            "endpipeline" => self.end_pipeline(line),
            "gset" | "aset" if self.pipeline.is_some() => {
                let what = format!("\\{word}");
                Err(Wrong::at(line, "error-sqlmix-pipeline-within", what))
            }
            "gset" | "aset" if can_capture => self.capture(word, rest, line),
            "gset" | "aset" => Err(Wrong::at(line, "error-sqlmix-capture", format!("\\{word}"))),
            _ => Err(Wrong::at(line, "error-sqlmix-command", format!("\\{word}"))),
        }
    }

    fn start_pipeline(&mut self, line: u32) -> Result<(), Wrong> {
        if self.pipeline.is_some() {
            let what = "\\startpipeline";
            return Err(Wrong::at(line, "error-sqlmix-pipeline-within", what));
        }
        self.pipeline = Some((line, self.branches.len()));
        self.steps.push(Step::StartPipeline);
        Ok(())
    }

    /// Errors: none has begun, or not in the same branch.
    fn end_pipeline(&mut self, line: u32) -> Result<(), Wrong> {
        let branches = self.branches.len();
        let begun = self.pipeline.take().filter(|(_, open)| *open == branches);
        if begun.is_none() {
            let what = "\\endpipeline";
            return Err(Wrong::at(line, "error-sqlmix-pipeline-end", what));
        }
        self.steps.push(Step::EndPipeline(line));
        Ok(())
    }

    fn set(&mut self, rest: &str, line: u32) -> Result<(), Wrong> {
        let (name, expression) = rest.split_once(char::is_whitespace).unwrap_or((rest, ""));
        if !is_name(name) {
            return Err(Wrong::at(line, "error-sqlmix-name", name));
        }
        let node = parse_expression(expression, line, self.names)?;
        let variable = self.names.set(name);
        self.steps.push(Step::Set(variable, node));
        Ok(())
    }

    /// `\sleep 10 ms`, `\sleep 10ms`, `\sleep :pause`; seconds where no unit is given.
    fn sleep(&mut self, rest: &str, line: u32) -> Result<(), Wrong> {
        let wrong = || Wrong::at(line, "error-sqlmix-sleep", rest);
        let mut words = rest.split_whitespace();
        let amount = words.next().ok_or_else(wrong)?;
        let (amount, glued) = match amount.strip_prefix(':') {
            Some(_) => (amount, ""),
            None => amount.split_at(
                amount
                    .find(|c: char| !c.is_ascii_digit())
                    .unwrap_or(amount.len()),
            ),
        };
        let unit = match glued {
            "" => words.next().unwrap_or("s"),
            glued => glued,
        };
        let unit_us = match unit.to_ascii_lowercase().as_str() {
            "us" => 1,
            "ms" => 1_000,
            "s" => 1_000_000,
            _ => return Err(wrong()),
        };
        let amount = match amount.strip_prefix(':') {
            Some(name) if is_name(name) => Node::Variable(self.names.used(name, line)),
            Some(_) => return Err(wrong()),
            None => Node::Constant(Scalar::Int(amount.parse().map_err(|_| wrong())?)),
        };
        if words.next().is_some() {
            return Err(wrong());
        }
        self.steps.push(Step::Sleep(amount, unit_us));
        Ok(())
    }

    fn unless(&mut self, condition: &str, line: u32) -> Result<usize, Wrong> {
        let node = parse_expression(condition, line, self.names)?;
        self.steps.push(Step::Unless(node, usize::MAX));
        Ok(self.steps.len() - 1)
    }

    /// Ends the present arm of a branch; the next one begins here.
    fn next_arm(&mut self, word: &str, line: u32) -> Result<(), Wrong> {
        self.close_arm()?;
        let branch = self.branches.last_mut();
        let Some((branch, unless)) = branch.and_then(|it| it.unless.take().map(|at| (it, at)))
        else {
            return Err(Wrong::at(line, "error-sqlmix-branch", format!("\\{word}")));
        };
        branch.ends.push(self.steps.len());
        self.steps.push(Step::Jump(usize::MAX));
        self.leads_here(unless);
        Ok(())
    }

    /// Errors: a pipeline that begins in the present arm of a branch does not end in it.
    fn close_arm(&self) -> Result<(), Wrong> {
        match self.pipeline {
            Some((line, open)) if open > 0 && open == self.branches.len() => {
                Err(Wrong::new(line, "error-sqlmix-pipeline-open"))
            }
            _ => Ok(()),
        }
    }

    fn end_branch(&mut self, line: u32) -> Result<(), Wrong> {
        self.close_arm()?;
        let Some(branch) = self.branches.pop() else {
            return Err(Wrong::at(line, "error-sqlmix-branch", "\\endif"));
        };
        branch
            .ends
            .into_iter()
            .chain(branch.unless)
            .for_each(|at| self.leads_here(at));
        Ok(())
    }

    /// A jump whose aim is the next step.
    fn leads_here(&mut self, at: usize) {
        let here = self.steps.len();
        if let Some(Step::Jump(aim) | Step::Unless(_, aim)) = self.steps.get_mut(at) {
            *aim = here;
        }
    }

    fn capture(&mut self, word: &str, prefix: &str, line: u32) -> Result<(), Wrong> {
        if !(prefix.is_empty() || is_name(prefix)) {
            return Err(Wrong::at(line, "error-sqlmix-name", prefix));
        }
        self.names.may_set(prefix);
        if let Some(Step::Statement(statement)) = self.steps.last_mut() {
            let prefix = prefix.to_owned();
            statement.capture = match word {
                "gset" => Capture::One(prefix),
                _ => Capture::Last(prefix),
            };
        }
        Ok(())
    }

    fn finish(self) -> Result<Vec<Step>, Wrong> {
        if let Some(branch) = self.branches.last() {
            return Err(Wrong::new(branch.line, "error-sqlmix-branch-open"));
        }
        if let Some((line, _)) = self.pipeline {
            return Err(Wrong::new(line, "error-sqlmix-pipeline-open"));
        }
        match self.steps.is_empty() {
            true => Err(Wrong::new(1, "error-sqlmix-empty")),
            false => Ok(self.steps),
        }
    }
}
