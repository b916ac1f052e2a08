//! The command line of the tool.

use sokudo_model::Text;
use std::time::Duration;

use crate::IperfError;
use crate::proto::{OMIT_MAX, Params, SECONDS_MAX, STREAMS_MAX, TCP_BLOCK_MAX, UDP_BLOCK_MAX};

/// Port of the tool.
const PORT: u16 = 5201;
/// Rate of datagrams where none is asked for, as the tool itself.
const UDP_BITS_PER_S: u64 = 1 << 20;
/// Most bytes that fit into a datagram of a usual line.
const UDP_BLOCK: u64 = 1460;
/// Block of a connection, as the tool itself.
const TCP_BLOCK: u64 = 128 << 10;

/// Text of `--help`.
pub const HELP: &str = "\
Usage: sokudo compat iperf3 -s [options]        wait for clients of iperf3 or sokudo
       sokudo compat iperf3 -c HOST [options]   load a server of iperf3 or sokudo

  -p, --port N          port of the server (5201)
  -i, --interval SECS   time between two lines (1; 0: only the sums)
  -J, --json            one JSON object in place of text
  -B, --bind ADDRESS    server: listen on this address only
  -1, --one-off         server: one test, then end
  -c, --client HOST     the server to load
  -u, --udp             datagrams in place of connections
  -b, --bitrate N[KMG]  bits per second of each stream; 0: no limit (datagrams 1 Mbit/s)
  -t, --time SECS       length of the test (10)
  -n, --bytes N[KMG]    end after so many bytes instead
  -k, --blockcount N[KMG]  end after so many blocks (or datagrams) instead
  -l, --length N[KMG]   bytes of a block (128 KB) or a datagram (1460)
  -P, --parallel N      streams (1)
  -R, --reverse         the server sends
      --bidir           both send
";

/// Task that a command line asks for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CommandLine {
    /// To load a server.
    Client(Options),
    /// To be one.
    Server(Options),
    /// To print the help.
    Help,
    /// To print the version.
    Version,
}

/// Options of both roles.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Options {
    /// The server to load; or the address that a server listens on, empty for all.
    pub host: String,
    /// Its port.
    pub port: u16,
    /// Time between two lines; zero for none.
    pub interval: Duration,
    /// JSON in place of text.
    pub json: bool,
    /// A server that ends after a test.
    pub one_off: bool,
    /// Parameters of a client's test.
    pub params: Params,
}

/// Options that take a value: letter, name.
const VALUED: &[(&str, &str)] = &[
    ("-c", "--client"),
    ("-p", "--port"),
    ("-i", "--interval"),
    ("-B", "--bind"),
    ("-b", "--bitrate"),
    ("-t", "--time"),
    ("-n", "--bytes"),
    ("-k", "--blockcount"),
    ("-O", "--omit"),
    ("-l", "--length"),
    ("-P", "--parallel"),
];
/// Options without a value.
const FLAGS: &[(&str, &str)] = &[
    ("-s", "--server"),
    ("-J", "--json"),
    ("-1", "--one-off"),
    ("-u", "--udp"),
    ("-R", "--reverse"),
    ("--bidir", "--bidir"),
    ("-h", "--help"),
    ("-v", "--version"),
];

impl CommandLine {
    /// Reads the words behind the program's name.
    ///
    /// Errors: an option that is not known, a value that is missing or out of bounds.
    pub fn parse(words: &[String]) -> Result<Self, IperfError> {
        let mut typed: Vec<(&str, String)> = Vec::new();
        let mut words = words.iter();
        while let Some(word) = words.next() {
            if let Some(name) = name_in(FLAGS, word) {
                typed.push((name, String::new()));
                continue;
            }
            let (name, joined) = valued(word)
                .ok_or_else(|| usage(Text::new("error-iperf-option").word("option", word)))?;
            let value = joined.or_else(|| words.next().cloned());
            let value =
                value.ok_or_else(|| usage(Text::new("error-iperf-value").with("option", name)))?;
            typed.push((name, value));
        }
        let has = |name: &str| typed.iter().any(|(typed, _)| *typed == name);
        let value = |name: &str| {
            let mut found = typed.iter().rev().filter(|(typed, _)| *typed == name);
            found.next().map(|(_, value)| value.as_str())
        };
        if has("--help") {
            return Ok(Self::Help);
        }
        if has("--version") {
            return Ok(Self::Version);
        }
        let udp = has("--udp");
        let number = |name: &str, usual: u64, most: u64| match value(name) {
            None => Ok(usual),
            Some(text) => amount(name, text, most, name == "--bytes" || name == "--length"),
        };
        let most = if udp { UDP_BLOCK_MAX } else { TCP_BLOCK_MAX };
        let block = number("--length", if udp { UDP_BLOCK } else { TCP_BLOCK }, most)?;
        // So many blocks are so many bytes.
        let blocks = number("--blockcount", 0, u64::MAX)?;
        let bytes = match blocks {
            0 => number("--bytes", 0, u64::MAX)?,
            blocks => blocks.saturating_mul(block),
        };
        let ends = ["--time", "--bytes", "--blockcount"];
        if ends.iter().filter(|end| has(end)).count() > 1 {
            return Err(usage(Text::new("error-iperf-end")));
        }
        let params = Params {
            udp,
            seconds: if bytes > 0 {
                0
            } else {
                number("--time", 10, SECONDS_MAX)?
            },
            omit: number("--omit", 0, OMIT_MAX)?,
            bytes,
            parallel: number("--parallel", 1, STREAMS_MAX)?,
            reverse: has("--reverse"),
            bidir: has("--bidir"),
            block,
            bits_per_s: number("--bitrate", if udp { UDP_BITS_PER_S } else { 0 }, u64::MAX)?,
            wide_numbers: false,
        };
        if params.reverse && params.bidir {
            return Err(usage(Text::new("error-iperf-ways")));
        }
        if params.parallel == 0 || params.block < 16 || params.seconds == 0 && params.bytes == 0 {
            return Err(usage(Text::new("error-iperf-least")));
        }
        let seconds = value("--interval").unwrap_or("1").parse::<f64>();
        let seconds = seconds
            .ok()
            .filter(|it| *it == 0.0 || (0.1..=60.0).contains(it));
        let seconds = seconds.ok_or_else(|| usage(Text::new("error-iperf-interval")))?;
        let options = |host: &str| {
            Ok::<_, IperfError>(Options {
                host: host.to_owned(),
                port: number("--port", PORT.into(), u16::MAX.into())? as u16,
                interval: Duration::from_secs_f64(seconds),
                json: has("--json"),
                one_off: has("--one-off"),
                params: params.clone(),
            })
        };
        match (value("--client"), has("--server")) {
            (Some(host), false) => options(host).map(Self::Client),
            (None, true) => options(value("--bind").unwrap_or_default()).map(Self::Server),
            (Some(_), true) => Err(usage(Text::new("error-iperf-ends"))),
            (None, false) => Err(usage(Text::new("error-iperf-no-end"))),
        }
    }
}

fn usage(says: Text) -> IperfError {
    IperfError::Usage(says)
}

fn name_in(known: &[(&str, &'static str)], word: &str) -> Option<&'static str> {
    let mut known = known.iter();
    known
        .find(|(letter, name)| *letter == word || *name == word)
        .map(|(_, name)| *name)
}

/// The option that takes a value, and the value when it stands in the same word: `-P4`, `--time=3`.
fn valued(word: &str) -> Option<(&'static str, Option<String>)> {
    if let Some(name) = name_in(VALUED, word) {
        return Some((name, None));
    }
    if let Some((name, value)) = word
        .split_once('=')
        .filter(|(name, _)| name.starts_with("--"))
    {
        return Some((name_in(VALUED, name)?, Some(value.to_owned())));
    }
    let (letter, value) = word.split_at_checked(2)?;
    let is_letter = letter.starts_with('-') && !letter.starts_with("--");
    let name = name_in(VALUED, letter).filter(|_| is_letter)?;
    Some((name, Some(value.to_owned())))
}

/// `10`, `1.5G`: letters stand for powers of 1000 in rates, and of 1024 in bytes.
fn amount(name: &str, text: &str, most: u64, is_bytes: bool) -> Result<u64, IperfError> {
    let wrong = || {
        usage(
            Text::new("error-iperf-number")
                .word("option", name)
                .word("value", text)
                .with("most", most),
        )
    };
    let base: f64 = if is_bytes { 1024.0 } else { 1000.0 };
    let (number, factor) = match text.chars().last().map(|last| last.to_ascii_uppercase()) {
        Some('K') => (&text[..text.len() - 1], base),
        Some('M') => (&text[..text.len() - 1], base.powi(2)),
        Some('G') => (&text[..text.len() - 1], base.powi(3)),
        Some('T') => (&text[..text.len() - 1], base.powi(4)),
        _ => (text, 1.0),
    };
    let number: f64 = number.parse().map_err(|_| wrong())?;
    let whole = number * factor;
    match whole.is_finite() && whole >= 0.0 && whole <= most as f64 {
        true => Ok(whole as u64),
        false => Err(wrong()),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn parse(text: &str) -> Result<CommandLine, String> {
        let words: Vec<String> = text.split_whitespace().map(str::to_owned).collect();
        CommandLine::parse(&words).map_err(|error| error.to_string())
    }

    fn client(text: &str) -> Options {
        match parse(text) {
            Ok(CommandLine::Client(options)) => options,
            other => panic!("{text}: {other:?}"),
        }
    }

    #[test]
    fn a_usual_line_is_understood() {
        let options = client("-c hostb -t 5 -i 0.5 -P4 -R -l 64K -J -p 5202");
        assert_eq!((options.host.as_str(), options.port), ("hostb", 5202));
        assert_eq!(options.interval, Duration::from_millis(500));
        let params = options.params;
        assert_eq!(
            (params.seconds, params.parallel, params.block),
            (5, 4, 65_536)
        );
        assert!(params.reverse && options.json);
        assert_eq!(client("--client=h -u").params.bits_per_s, 1 << 20);
        assert_eq!(
            client("-c h -u -b 1.5G --bidir").params.bits_per_s,
            1_500_000_000
        );
        assert_eq!(client("-c h -n 10M").params.bytes, 10 << 20);
        assert_eq!(client("-c h -O 2").params.omit, 2);
        assert_eq!(client("-c h -n 10M").params.seconds, 0);
        let blocks = client("-c h -k 100 -l 64K").params;
        assert_eq!((blocks.bytes, blocks.seconds), (100 * 65_536, 0));
        assert!(matches!(parse("-s -1 -p 0"), Ok(CommandLine::Server(it)) if it.one_off));
        assert_eq!(parse("-c h --help"), Ok(CommandLine::Help));
    }

    #[test]
    fn mistakes_are_told() {
        for wrong in [
            "",
            "-c",
            "-c h -s",
            "-c h -t 5 -n 1M",
            "-c h -k 5 -n 1M",
            "-c h -P 129",
            "-c h -t x",
            "-c h -i 0.01",
            "-c h -R --bidir",
            "-c h -l 99M",
            "-c h -P 0",
            "-c h -Z",
            "-c h -b -1",
            "-c h -p 70000",
            "hostb",
        ] {
            assert!(parse(wrong).is_err(), "{wrong}");
        }
    }

    proptest! {
        #[test]
        fn no_words_are_too_much(words in prop::collection::vec("\\PC{0,8}", 0..8)) {
            let _ = CommandLine::parse(&words);
        }
    }
}
