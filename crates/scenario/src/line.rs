//! What does one line of the console say?
//!
//! ```text
//! syncTime                          compare the clocks, print offset and error
//! all      COMMAND                  every host …
//! node N   COMMAND                  host N, or 1,3,5-8 …
//! waittime MS | sleep TIME          pause
//! waitallresults [N] [TIMEOUT]      until N hosts have their results; who is missing is named
//! hosts | help [WORD] | quit
//!
//! COMMAND: connect HOST · connectnode N · disconnect · sendreceive-n SIZE TIMES [OPTIONS]
//!          set COMMAND · enter · clr · a workload's own word with its options
//! ```

use sokudo_model::{Bytes, Count, Nanos};

use crate::mistake::Mistake;
use crate::words::{self, Word};

/// Largest node number that is read.
const NODE_MAX: u32 = 1_000_000;
/// Commands inside `set` at most: staging what stages makes no sense beyond one.
const DEPTH_MAX: u32 = 1;

/// A line that says something.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Line {
    /// Number, from 1.
    pub number: u32,
    /// What it says.
    pub command: Command,
}

/// What a line says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Command {
    /// Compare the clocks of all hosts with this one's.
    SyncTime,
    /// A command for hosts.
    Order {
        /// Which hosts.
        who: Who,
        /// What they do.
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
    /// List the hosts.
    Hosts,
    /// Explain the words, or one of them.
    Help(Option<String>),
    /// End.
    Quit,
}

/// Which hosts a command is for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Who {
    /// All of them.
    All,
    /// These, by number from 1; with the column where the number stands.
    Nodes(Vec<u32>, u32),
}

/// What a host is to do.
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
        /// How often.
        times: u64,
        /// Further options, as `rr` has them.
        options: Vec<Word>,
        /// Where the command stands.
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
    match mistakes.is_empty() {
        true => Ok(lines),
        false => Err(mistakes),
    }
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
    match first.text.to_ascii_lowercase().as_str() {
        "synctime" => nothing_more(rest).map(|()| Command::SyncTime),
        "hosts" | "nodes" => nothing_more(rest).map(|()| Command::Hosts),
        "quit" | "exit" => nothing_more(rest).map(|()| Command::Quit),
        "help" | "?" => Ok(Command::Help(rest.first().map(|word| word.text.clone()))),
        "waittime" => pause(first, rest, Unit::Milliseconds),
        "sleep" => pause(first, rest, Unit::Seconds),
        "waitallresults" => awaiting(rest),
        "all" => Ok(Command::Order {
            who: Who::All,
            order: order(rest, end_of(first), 0)?,
        }),
        "node" => {
            let (numbers, rest) = rest
                .split_first()
                .ok_or_else(|| missing(first, "a number"))?;
            Ok(Command::Order {
                who: Who::Nodes(nodes(numbers)?, numbers.column),
                order: order(rest, end_of(numbers), 0)?,
            })
        }
        _ => Err(Mistake::at(
            first.column,
            format!(
                "`{}` is not said to anybody, and no word of the console",
                first.text
            ),
            format!(
                "write `all {0}` or `node 1 {0}`; `help` lists the words",
                first.text
            ),
        )),
    }
}

/// What a bare number counts.
#[derive(Clone, Copy)]
enum Unit {
    Milliseconds,
    Seconds,
}

fn pause(first: &Word, rest: &[Word], unit: Unit) -> Result<Command, Mistake> {
    let (time, rest) = rest.split_first().ok_or_else(|| missing(first, "a time"))?;
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
            "there is no command for the host",
            "write for example `all enter` or `node 1 connectnode 2`",
        )
    })?;
    let one = |what: &str| {
        let (word, rest) = rest.split_first().ok_or_else(|| missing(first, what))?;
        nothing_more(rest).map(|()| word)
    };
    match first.text.to_ascii_lowercase().as_str() {
        "connect" => one("a host").map(|host| Order::Connect(host.clone())),
        "connectnode" => {
            let word = one("the number of a host")?;
            Ok(Order::ConnectNode(node_number(word)?, word.column))
        }
        "disconnect" => nothing_more(rest).map(|()| Order::Disconnect),
        "clr" | "clear" => nothing_more(rest).map(|()| Order::Clear),
        "enter" => nothing_more(rest).map(|()| Order::Enter(first.column)),
        "sendreceive-n" => send_receive(first, rest),
        "set" if depth < DEPTH_MAX => {
            Ok(Order::Set(Box::new(order(rest, end_of(first), depth + 1)?)))
        }
        "set" | "all" | "node" => Err(Mistake::at(
            first.column,
            format!("`{}` cannot stand here", first.text),
            "a host's command is one of connect, connectnode, disconnect, sendreceive-n, or a workload",
        )),
        _ => Ok(Order::Load {
            word: first.clone(),
            arguments: rest.to_vec(),
        }),
    }
}

fn send_receive(first: &Word, rest: &[Word]) -> Result<Order, Mistake> {
    let [size, times, options @ ..] = rest else {
        return Err(missing(first, "a size and how often"));
    };
    let size_bytes = size.text.parse::<Bytes>().map_err(|error| {
        Mistake::at(
            size.column,
            error.to_string(),
            "write for example `500000` or `1MB`",
        )
    })?;
    let count = times.text.parse::<Count>().map_err(|error| {
        Mistake::at(
            times.column,
            error.to_string(),
            "write for example `1000` or `1k`",
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
            format!("`{}` names no hosts", word.text),
            "write a number from 1, or several: `3`, `1,4`, `2-5`",
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
            format!("`{}` names several hosts", word.text),
            "a host is connected to one other: write one number",
        )),
    }
}

fn number(word: &Word) -> Result<u32, Mistake> {
    word.text.parse().map_err(|_| {
        Mistake::at(
            word.column,
            format!("`{}` is no number of hosts", word.text),
            "write for example `waitallresults 4 60s`",
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
            error.to_string(),
            "write for example `500ms` or `2s`",
        )
    })
}

fn nothing_more(rest: &[Word]) -> Result<(), Mistake> {
    match rest.first() {
        None => Ok(()),
        Some(word) => Err(Mistake::at(
            word.column,
            format!("`{}` is too much here", word.text),
            "leave it out; `help` shows what each word takes",
        )),
    }
}

fn missing(word: &Word, what: &str) -> Mistake {
    Mistake::at(
        end_of(word),
        format!("`{}` needs {what}", word.text),
        "`help` shows what each word takes",
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
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn one(text: &str) -> Command {
        parse_line(text, 1).expect(text).expect(text).command
    }

    #[test]
    fn the_words_of_the_group_tester_are_read() {
        assert_eq!(one("syncTime"), Command::SyncTime);
        assert_eq!(one("waittime 250"), Command::Pause(250_000_000));
        assert_eq!(one("sleep 2"), Command::Pause(2_000_000_000));
        let wait = Command::Await {
            results: Some(4),
            timeout_ns: Some(60_000_000_000),
        };
        assert_eq!(one("waitallresults 4 60s"), wait);
        let Command::Order { who, order } = one("node 1,3-4 set connectnode 2") else {
            panic!("an order");
        };
        assert_eq!(who, Who::Nodes(vec![1, 3, 4], 6));
        assert_eq!(order, Order::Set(Box::new(Order::ConnectNode(2, 28))));
        let Command::Order { order, .. } = one("all sendreceive-n 500000 10 --duplex") else {
            panic!("an order");
        };
        assert!(matches!(
            order,
            Order::SendReceive { size_bytes: 500_000, times: 10, ref options, .. }
                if options[0].text == "--duplex"
        ));
    }

    #[test]
    fn mistakes_say_where_and_how_to_mend_them() {
        for (text, column, says) in [
            ("node x enter", 6, "names no hosts"),
            ("node 5-2 enter", 6, "names no hosts"),
            ("node 0 enter", 6, "names no hosts"),
            ("all", 4, "no command"),
            ("all set set enter", 9, "cannot stand here"),
            ("all sendreceive-n 1XB 3", 19, "1XB"),
            ("all sendreceive-n 1MB", 18, "needs a size"),
            ("waittime", 9, "needs a time"),
            ("waitallresults many", 16, "no number of hosts"),
            ("enter", 1, "not said to anybody"),
            ("all connectnode 1-2", 17, "several hosts"),
            ("syncTime now", 10, "too much"),
        ] {
            let mistake = parse_line(text, 7).unwrap_err();
            assert_eq!((mistake.line, mistake.column), (7, column), "{text}");
            assert!(mistake.says.contains(says), "{text}: {}", mistake.says);
            assert!(!mistake.hint.is_empty());
        }
    }

    #[test]
    fn a_script_tells_all_its_mistakes_at_once() {
        let mistakes = parse("# fine\nall enter\nnode\n\nwaittime x\n").unwrap_err();
        let lines: Vec<u32> = mistakes.iter().map(|m| m.line).collect();
        assert_eq!(lines, [3, 5]);
    }

    proptest! {
        #[test]
        fn any_bytes_are_lines_or_mistakes(bytes in prop::collection::vec(any::<u8>(), 0..400)) {
            any_bytes(&bytes);
        }

        #[test]
        fn words_in_any_order_are_lines_or_mistakes(
            words in prop::collection::vec(
                prop::sample::select(vec![
                    "all", "node", "1", "2-4", "set", "enter", "connectnode", "sendreceive-n",
                    "1MB", "waitallresults", "rr", "--size", "'", "#", "syncTime", "99999999999",
                ]),
                0..12,
            )
        ) {
            any_bytes(words.join(" ").as_bytes());
        }
    }
}
