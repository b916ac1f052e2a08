//! Reads one line of the console.
//!
//! ```text
//! syncTime [ERROR]                  compare the clocks, print offset and error; go on if it is as small
//! all      COMMAND                  every host …
//! node N   COMMAND                  host N, or 1,3,5-8 …
//! stage N|all COMMAND · fire        `node N set COMMAND`, `all enter`
//! autopairs [N]                     the first hosts connect to as many others
//! waittime MS | sleep TIME          pause
//! monitor NAME:KEY=VALUE,…          observe with this monitor, too
//! waitallresults [N] [TIMEOUT]      until N hosts have their results; who is missing is named
//! hosts | help [WORD] | quit
//!
//! COMMAND: connect HOST · connectnode N · disconnect · sendreceive-n SIZE TIMES [OPTIONS]
//!          set COMMAND · enter · clr · a workload's own word with its options
//! ```

use sokudo_model::{Bytes, Count, Nanos, Text};

use crate::mistake::Mistake;
use crate::vocabulary::{self, CONSOLE, HOST};
use crate::words::{self, Word};

/// Largest node number that is read.
const NODE_MAX: u32 = 1_000_000;
/// Commands inside `set` at most: staging a command that stages makes no sense.
const DEPTH_MAX: u32 = 1;

/// A line that is not empty.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Line {
    /// Number, from 1.
    pub number: u32,
    /// The order.
    pub command: Command,
}

/// The order of a line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Command {
    /// Compare the clocks of all hosts with this one's.
    SyncTime {
        /// Every one of them must be known as well as this, nanoseconds.
        most_ns: Option<u64>,
    },
    /// Connect so many pairs of hosts; `None` = as many as there are.
    AutoPairs {
        /// Number of pairs.
        pairs: Option<u32>,
        /// Column of the word.
        column: u32,
    },
    /// A command for hosts.
    Order {
        /// Hosts that it is for.
        who: Who,
        /// Their order.
        order: Order,
    },
    /// Do nothing for so many nanoseconds.
    Pause(u64),
    /// Wait for results.
    Await {
        /// Of so many hosts; `None` = of all that have something to do.
        results: Option<u32>,
        /// At most so long, nanoseconds.
        timeout_ns: Option<u64>,
    },
    /// Observe with this monitor, too.
    Monitor(Word),
    /// List the hosts.
    Hosts,
    /// Explain the words, or one of them.
    Help(Option<String>),
    /// End.
    Quit,
}

/// Hosts that a command is for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Who {
    /// All of them.
    All,
    /// These, by number from 1; with the column where the number stands.
    Nodes(Vec<u32>, u32),
}

/// Order to a host.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Order {
    /// Connect to the host of this name or address, and take the time.
    Connect(Word),
    /// Connect to the host of this number.
    ConnectNode(u32, u32),
    /// Forget the connection.
    Disconnect,
    /// Send so many bytes and get them back, so often.
    SendReceive {
        /// Bytes each way.
        size_bytes: u64,
        /// Number of repetitions.
        times: u64,
        /// Further options, as `rr` has them.
        options: Vec<Word>,
        /// Column of the command.
        column: u32,
    },
    /// A workload's own word and what follows it.
    Load {
        /// The word.
        word: Word,
        /// Peers and options.
        arguments: Vec<Word>,
    },
    /// Put the command into the input field, to be entered later.
    Set(Box<Order>),
    /// Enter what stands in the input field.
    Enter(u32),
    /// Empty the input field.
    Clear,
}

/// Reads a whole script. Empty lines and remarks are left out.
///
/// Errors: every mistake of the text, in order, at most 100.
pub fn parse(text: &str) -> Result<Vec<Line>, Vec<Mistake>> {
    let (lines, mistakes) = parse_each(text);
    match mistakes.is_empty() {
        true => Ok(lines),
        false => Err(mistakes),
    }
}

/// Reads each line of a script: those that can be understood, and the mistakes of the others, at
/// most 100.
pub fn parse_each(text: &str) -> (Vec<Line>, Vec<Mistake>) {
    const MISTAKES_MAX: usize = 100;
    let mut lines = Vec::new();
    let mut mistakes = Vec::new();
    for (line, number) in text.lines().zip(1u32..) {
        match parse_line(line, number) {
            Ok(parsed) => lines.extend(parsed),
            Err(mistake) => mistakes.push(mistake),
        }
        if mistakes.len() == MISTAKES_MAX {
            break;
        }
    }
    (lines, mistakes)
}

/// Reads one line; `None` for an empty one.
pub fn parse_line(text: &str, number: u32) -> Result<Option<Line>, Mistake> {
    let words = words::split(text).map_err(|mistake| mistake.on_line(number))?;
    let Some((first, rest)) = words.split_first() else {
        return Ok(None);
    };
    let command = command(first, rest).map_err(|mistake| mistake.on_line(number))?;
    Ok(Some(Line { number, command }))
}

fn command(first: &Word, rest: &[Word]) -> Result<Command, Mistake> {
    match vocabulary::name_of(&first.text, CONSOLE).unwrap_or_default() {
        "syncTime" => Ok(Command::SyncTime {
            most_ns: at_most_one(rest)?
                .map(|word| time_ns(word, Unit::Seconds))
                .transpose()?,
        }),
        "hosts" => nothing_more(rest).map(|()| Command::Hosts),
        "quit" => nothing_more(rest).map(|()| Command::Quit),
        "help" => Ok(Command::Help(rest.first().map(|word| word.text.clone()))),
        "autopairs" => Ok(Command::AutoPairs {
            pairs: at_most_one(rest)?.map(number).transpose()?,
            column: first.column,
        }),
        "waittime" => pause(first, rest, Unit::Milliseconds),
        "sleep" => pause(first, rest, Unit::Seconds),
        "monitor" => {
            let (monitor, rest) = split(first, rest, "error-scenario-needs-monitor")?;
            nothing_more(rest).map(|()| Command::Monitor(monitor.clone()))
        }
        "waitallresults" => awaiting(rest),
        "all" => Ok(Command::Order {
            who: Who::All,
            order: order(rest, end_of(first), 0)?,
        }),
        "node" => {
            let (numbers, rest) = split(first, rest, "error-scenario-needs-number")?;
            Ok(Command::Order {
                who: Who::Nodes(nodes(numbers)?, numbers.column),
                order: order(rest, end_of(numbers), 0)?,
            })
        }
        "stage" => {
            let (who, rest) = split(first, rest, "error-scenario-needs-number-or-all")?;
            let staged = order(rest, end_of(who), DEPTH_MAX)?;
            Ok(Command::Order {
                who: match who.text.eq_ignore_ascii_case("all") {
                    true => Who::All,
                    false => Who::Nodes(nodes(who)?, who.column),
                },
                order: Order::Set(Box::new(staged)),
            })
        }
        "fire" => nothing_more(rest).map(|()| Command::Order {
            who: Who::All,
            order: Order::Enter(first.column),
        }),
        _ => Err(Mistake::at(
            first.column,
            Text::new("error-scenario-nobody").word("word", &first.text),
            Text::new("error-scenario-nobody-hint").word("word", &first.text),
        )),
    }
}

/// Unit of a bare number.
#[derive(Clone, Copy)]
enum Unit {
    Milliseconds,
    Seconds,
}

fn pause(first: &Word, rest: &[Word], unit: Unit) -> Result<Command, Mistake> {
    let (time, rest) = split(first, rest, "error-scenario-needs-time")?;
    nothing_more(rest)?;
    time_ns(time, unit).map(Command::Pause)
}

fn awaiting(rest: &[Word]) -> Result<Command, Mistake> {
    nothing_more(rest.get(2..).unwrap_or_default())?;
    let results = rest.first().map(number).transpose()?;
    let timeout_ns = rest
        .get(1)
        .map(|word| time_ns(word, Unit::Seconds))
        .transpose()?;
    Ok(Command::Await {
        results,
        timeout_ns,
    })
}

fn order(words: &[Word], column: u32, depth: u32) -> Result<Order, Mistake> {
    let (first, rest) = words.split_first().ok_or_else(|| {
        Mistake::at(
            column,
            Text::new("error-scenario-no-command"),
            Text::new("error-scenario-no-command-hint"),
        )
    })?;
    let one = |needs: &str| {
        let (word, rest) = split(first, rest, needs)?;
        nothing_more(rest).map(|()| word)
    };
    let said_to_the_console = vocabulary::name_of(&first.text, CONSOLE);
    let word = vocabulary::name_of(&first.text, HOST).or(said_to_the_console);
    match word.unwrap_or_default() {
        "connect" => one("error-scenario-needs-host").map(|host| Order::Connect(host.clone())),
        "connectnode" => {
            let word = one("error-scenario-needs-host-number")?;
            Ok(Order::ConnectNode(node_number(word)?, word.column))
        }
        "disconnect" => nothing_more(rest).map(|()| Order::Disconnect),
        "clr" => nothing_more(rest).map(|()| Order::Clear),
        // `set enter` would enter itself without end.
        "enter" if depth == 0 => nothing_more(rest).map(|()| Order::Enter(first.column)),
        "sendreceive-n" => send_receive(first, rest),
        "set" if depth < DEPTH_MAX => {
            Ok(Order::Set(Box::new(order(rest, end_of(first), depth + 1)?)))
        }
        "" => Ok(Order::Load {
            word: first.clone(),
            arguments: rest.to_vec(),
        }),
        _ => Err(Mistake::at(
            first.column,
            Text::new("error-scenario-not-here").word("word", &first.text),
            Text::new("error-scenario-not-here-hint"),
        )),
    }
}

fn send_receive(first: &Word, rest: &[Word]) -> Result<Order, Mistake> {
    let [size, times, options @ ..] = rest else {
        return Err(missing(first, "error-scenario-needs-size"));
    };
    let size_bytes = size.text.parse::<Bytes>().map_err(|error| {
        Mistake::at(
            size.column,
            error.text(),
            Text::new("error-scenario-size-hint"),
        )
    })?;
    let count = times.text.parse::<Count>().map_err(|error| {
        Mistake::at(
            times.column,
            error.text(),
            Text::new("error-scenario-count-hint"),
        )
    })?;
    Ok(Order::SendReceive {
        size_bytes: size_bytes.0,
        times: count.0,
        options: options.to_vec(),
        column: first.column,
    })
}

/// `3`, `1,4`, `2-5` and any mixture of them.
fn nodes(word: &Word) -> Result<Vec<u32>, Mistake> {
    const NODES_MAX: usize = 10_000;
    let wrong = || {
        Mistake::at(
            word.column,
            Text::new("error-scenario-no-hosts").word("word", &word.text),
            Text::new("error-scenario-no-hosts-hint"),
        )
    };
    let mut out = Vec::new();
    for part in word.text.split(',') {
        let (low, high) = part.split_once('-').unwrap_or((part, part));
        let read = |text: &str| {
            let number = text.parse::<u32>().ok();
            number.filter(|number| (1..=NODE_MAX).contains(number))
        };
        let (low, high) = read(low).zip(read(high)).ok_or_else(wrong)?;
        if low > high || (high - low) as usize + out.len() >= NODES_MAX {
            return Err(wrong());
        }
        out.extend(low..=high);
    }
    Ok(out)
}

fn node_number(word: &Word) -> Result<u32, Mistake> {
    match nodes(word)?.as_slice() {
        [one] => Ok(*one),
        _ => Err(Mistake::at(
            word.column,
            Text::new("error-scenario-several-hosts").word("word", &word.text),
            Text::new("error-scenario-several-hosts-hint"),
        )),
    }
}

fn number(word: &Word) -> Result<u32, Mistake> {
    word.text.parse().map_err(|_| {
        Mistake::at(
            word.column,
            Text::new("error-scenario-number").word("word", &word.text),
            Text::new("error-scenario-number-hint"),
        )
    })
}

/// A time with its unit, or a bare number.
fn time_ns(word: &Word, bare: Unit) -> Result<u64, Mistake> {
    let text = match bare {
        Unit::Milliseconds if word.text.parse::<f64>().is_ok() => format!("{}ms", word.text),
        _ => word.text.clone(),
    };
    text.parse::<Nanos>().map(|time| time.0).map_err(|error| {
        Mistake::at(
            word.column,
            error.text(),
            Text::new("error-scenario-time-hint"),
        )
    })
}

/// The next word and what follows it.
fn split<'a>(
    before: &Word,
    rest: &'a [Word],
    needs: &str,
) -> Result<(&'a Word, &'a [Word]), Mistake> {
    rest.split_first().ok_or_else(|| missing(before, needs))
}

fn at_most_one(rest: &[Word]) -> Result<Option<&Word>, Mistake> {
    nothing_more(rest.get(1..).unwrap_or_default())?;
    Ok(rest.first())
}

fn nothing_more(rest: &[Word]) -> Result<(), Mistake> {
    match rest.first() {
        None => Ok(()),
        Some(word) => Err(Mistake::at(
            word.column,
            Text::new("error-scenario-too-much").word("word", &word.text),
            Text::new("error-scenario-too-much-hint"),
        )),
    }
}

/// `needs` is the key of the message that says what must follow the word.
fn missing(word: &Word, needs: &str) -> Mistake {
    Mistake::at(
        end_of(word),
        Text::new(needs).word("word", &word.text),
        Text::new("error-scenario-needs-hint"),
    )
}

/// The column after a word.
fn end_of(word: &Word) -> u32 {
    word.column + word.text.chars().count() as u32
}

/// For the fuzz target: any bytes as a script.
pub fn any_bytes(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    if let Err(mistakes) = parse(&text) {
        assert!(!mistakes.is_empty());
    }
}

#[cfg(test)]
mod tests;
