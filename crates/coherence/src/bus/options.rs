//! Options of the vendor's message bus test.

use sokudo_model::{Refusal, Text};
use sokudo_workload::refusal::operator;

use super::protocol::{MAX_MESSAGE_BYTES, MESSAGE_BYTES};
use super::values::{BusAddress, addresses, rate, size, time};

/// The help text, in the vendor's manner.
pub const HELP: &str = "\
MessageBusTest parameters:
	-bind               list of one or more local EndPoints to create: tmb://host:port[..port]
	-peer               list of one or more remote EndPoints to send to
	-rxThreads          number of receive threads per bound EndPoint (0 or negative for reentrant)
	-txThreads          number of transmit threads per bound EndPoint
	-msgSize            range of message sizes to send, expressed as min[..max]
	-chunkSize          number of bytes to process as a single unit, i.e. 1 for byte, 8 for long, 0 to disable
	-cached             re-use message objects where possible (here they always are)
	-txRate             target outbound data rate; a bare number is megabytes per second
	-txMaxBacklog       the maximum backlog in bytes the test should produce per tx thread
	-rxRate             target inbound data rate; needs -rxThreads
	-flushFreq          number of messages to send before flushing, or 0 for auto; with -block the window
	-latencyFreq        number of messages to send before sampling latency, 0 for never
	-noReceipts         do without receipts
	-manager            buffer manager to utilize (net, direct, heap)
	-polite             do not start sending until connected to
	-reportInterval     the report interval (5s)
	-block              a transmit thread blocks while awaiting a response, optional value of spin duration
	-relay              relay any received messages to one of the peers
	-ignoreFlowControl  flow control events are ignored, use -txMaxBacklog to bound what waits
	-poll               receive threads ask for messages instead of being woken
	-prompt             prompt before each send
	-tabular            write the report in tabular format
	-warmup             time duration or message count which will be discarded for warmup
	-single             an outgoing connection emits just one message, then reconnects
	-verbose            more about latency, connections and threads
	-sokudoCount        messages that each transmit thread sends, then it is silent
	-sokudoPatience     how long a peer may take nothing and answer nothing (30s)
";

/// Most threads of one kind per bound address.
const MAX_THREADS: u64 = 256;

/// Kinds of buffers that the vendor knows.
const MANAGERS: [&str; 3] = ["net", "direct", "heap"];

/// Load that is left out before statistics begin.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Warmup {
    /// So many messages, in or out.
    Messages(u64),
    /// So many nanoseconds since the first connection.
    Time(u64),
}

/// Condition on which a transmitter goes on after it has sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mode {
    /// At once.
    Stream,
    /// All of its messages have been answered; it asks without sleeping for `spin_ns` first.
    Block {
        /// Nanoseconds.
        spin_ns: u64,
    },
}

/// The vendor's options.
#[derive(Debug, Clone, PartialEq)]
pub struct CoherenceBusOptions {
    /// `-bind`. Empty: a port that the system chooses, named by the address towards the first peer.
    pub bind: Vec<BusAddress>,
    /// `-peer`. Empty: only answers.
    pub peers: Vec<BusAddress>,
    /// `-rxThreads`: queued receive threads per bound address; 0: messages are dealt with by the
    /// thread that reads the connection.
    pub rx_threads: u32,
    /// `-txThreads` per bound address.
    pub tx_threads: u32,
    /// `-msgSize`, bytes with the header, both included. Drawn uniformly; the vendor's draw really
    /// gives min ± (max − min).
    pub sizes: (u32, u32),
    /// `-chunkSize`: bytes per access when payloads are touched; 0: they are not.
    pub chunk_bytes: u32,
    /// `-txRate`, bytes per second of the whole process.
    pub tx_bytes_per_s: Option<f64>,
    /// `-rxRate`, bytes per second of the whole process.
    pub rx_bytes_per_s: Option<f64>,
    /// `-txMaxBacklog`: bytes without receipt per transmitter.
    pub max_backlog_bytes: Option<u64>,
    /// `-flushFreq`: messages between two flushes, 0: as the program thinks best. With
    /// [`Mode::Block`] the messages that await responses together.
    pub flush_every: u32,
    /// `-latencyFreq`: one message in so many is timed; 0: none.
    pub latency_every: u32,
    /// False with `-noReceipts`.
    pub receipts: bool,
    /// `-polite`: called peers are waited for instead.
    pub polite: bool,
    /// `-reportInterval`, nanoseconds.
    pub report_ns: u64,
    /// `-block`.
    pub mode: Mode,
    /// `-relay`.
    pub relay: bool,
    /// `-ignoreFlowControl`.
    pub ignore_flow_control: bool,
    /// `-poll`.
    pub poll: bool,
    /// `-prompt`.
    pub prompt: bool,
    /// `-tabular`.
    pub tabular: bool,
    /// `-warmup`.
    pub warmup: Warmup,
    /// `-single`.
    pub single: bool,
    /// `-verbose`.
    pub verbose: bool,
    /// `-sokudoCount`: messages of each transmitter; `None`: without end.
    pub count: Option<u64>,
    /// `-sokudoPatience`, nanoseconds: a peer that takes nothing, or does not answer, for so long
    /// is given up.
    pub patience_ns: u64,
    /// Options that were taken otherwise than typed, as sentences.
    pub notes: Vec<String>,
}

impl Default for CoherenceBusOptions {
    fn default() -> Self {
        Self {
            bind: Vec::new(),
            peers: Vec::new(),
            rx_threads: 0,
            tx_threads: 1,
            sizes: (4096, 4096),
            chunk_bytes: 0,
            tx_bytes_per_s: None,
            rx_bytes_per_s: None,
            max_backlog_bytes: None,
            flush_every: 0,
            latency_every: 100,
            receipts: true,
            polite: false,
            report_ns: 5_000_000_000,
            mode: Mode::Stream,
            relay: false,
            ignore_flow_control: false,
            poll: false,
            prompt: false,
            tabular: false,
            warmup: Warmup::Time(0),
            single: false,
            verbose: false,
            count: None,
            patience_ns: 30_000_000_000,
            notes: Vec::new(),
        }
    }
}

/// Request of a command line.
#[derive(Debug, Clone, PartialEq)]
pub enum CommandLine {
    /// A test.
    Run(Box<CoherenceBusOptions>),
    /// An option that does not exist: the text [`HELP`] and exit code 1, as the vendor's program.
    Help {
        /// The option; `None` when help was asked for.
        unknown: Option<String>,
    },
}

impl CoherenceBusOptions {
    /// Reads the arguments behind the program's name.
    ///
    /// Errors: operator errors with a hint. Names are not resolved and nothing is opened here.
    pub fn parse<A: AsRef<str>>(arguments: &[A]) -> Result<CommandLine, Refusal> {
        let mut options = CoherenceBusOptions::default();
        let mut tx_threads = None;
        let mut rest = arguments.iter().map(AsRef::as_ref).peekable();
        while let Some(name) = rest.next() {
            if matches!(name, "-?" | "-help" | "--help") {
                return Ok(CommandLine::Help { unknown: None });
            }
            let mut values = Vec::new();
            // A negative number is a value, everything else with a dash is the next option.
            while let Some(value) = rest.next_if(|it| !it.starts_with('-') || is_number(it)) {
                values.push(value);
            }
            if options.set_flag(name, &values)? {
                continue;
            }
            if !WITH_VALUE.contains(&name) {
                let unknown = Some(name.to_owned());
                return Ok(CommandLine::Help { unknown });
            }
            match name {
                "-txThreads" => tx_threads = Some(number(name, &values, (0, MAX_THREADS))? as u32),
                _ => options.set(name, &values)?,
            }
        }
        options.tx_threads = tx_threads.unwrap_or(u32::from(!options.relay));
        options.check(tx_threads.is_some())?;
        Ok(CommandLine::Run(Box::new(options)))
    }

    /// Takes an option that stands for itself; false when it is none of them.
    fn set_flag(&mut self, name: &str, values: &[&str]) -> Result<bool, Refusal> {
        if name == "-block" {
            let spin_ns = match one_or_none(name, values)? {
                Some(spin) => time(name, spin)?,
                None => 0,
            };
            self.mode = Mode::Block { spin_ns };
            return Ok(true);
        }
        let mut reused = false;
        let flag = match name {
            "-cached" => &mut reused,
            "-noReceipts" => &mut self.receipts,
            "-polite" => &mut self.polite,
            "-relay" => &mut self.relay,
            "-ignoreFlowControl" => &mut self.ignore_flow_control,
            "-poll" => &mut self.poll,
            "-prompt" => &mut self.prompt,
            "-tabular" => &mut self.tabular,
            "-single" => &mut self.single,
            "-verbose" => &mut self.verbose,
            _ => return Ok(false),
        };
        let on = match one_or_none(name, values)? {
            None | Some("true") => true,
            Some("false") => false,
            Some(other) => {
                return Err(operator(
                    Text::new("error-coherence-value")
                        .with("option", name)
                        .with("value", other),
                    Text::new("error-coherence-flag-hint").with("option", name),
                ));
            }
        };
        *flag = on != (name == "-noReceipts");
        Ok(true)
    }

    fn set(&mut self, name: &str, values: &[&str]) -> Result<(), Refusal> {
        match name {
            "-bind" => self.bind.extend(addresses(name, &values.join(","))?),
            "-peer" => self.peers.extend(addresses(name, &values.join(","))?),
            "-rxThreads" => {
                // Zero and below mean the same: the thread that reads also deals with messages.
                let value = one(name, values)?;
                let threads = match value.strip_prefix('-') {
                    Some(digits) if digits.parse::<u32>().is_ok() => 0,
                    _ => number(name, values, (0, MAX_THREADS))?,
                };
                self.rx_threads = threads as u32;
            }
            "-msgSize" => self.sizes = self.take_sizes(name, one(name, values)?)?,
            "-chunkSize" => {
                let bytes = size(name, one(name, values)?)?;
                self.chunk_bytes = bytes.min(u64::from(MAX_MESSAGE_BYTES)) as u32;
            }
            "-txRate" => self.tx_bytes_per_s = rate_or_none(name, one(name, values)?)?,
            "-rxRate" => self.rx_bytes_per_s = rate_or_none(name, one(name, values)?)?,
            "-txMaxBacklog" => self.max_backlog_bytes = Some(size(name, one(name, values)?)?),
            "-flushFreq" => self.flush_every = number(name, values, (0, 1 << 20))? as u32,
            "-latencyFreq" => self.latency_every = number(name, values, (0, 1 << 30))? as u32,
            "-manager" => self.take_manager(one(name, values)?)?,
            "-reportInterval" => self.report_ns = time(name, one(name, values)?)?.max(10_000_000),
            "-warmup" => {
                let value = one(name, values)?;
                self.warmup = match value.parse() {
                    Ok(messages) => Warmup::Messages(messages),
                    Err(_) => Warmup::Time(time(name, value)?),
                };
            }
            "-sokudoCount" => self.count = Some(number(name, values, (1, 1 << 60))?),
            "-sokudoPatience" => self.patience_ns = time(name, one(name, values)?)?.max(1_000_000),
            _ => {
                let class = one(name, values)?;
                return Err(operator(
                    Text::new("error-coherence-class")
                        .with("option", name)
                        .with("value", class),
                    Text::new("error-coherence-class-hint"),
                ));
            }
        }
        Ok(())
    }

    fn take_sizes(&mut self, name: &str, value: &str) -> Result<(u32, u32), Refusal> {
        let (min, max) = value.split_once("..").unwrap_or((value, value));
        let (min, max) = (size(name, min)?, size(name, max)?);
        if min > max || max > u64::from(MAX_MESSAGE_BYTES) {
            return Err(operator(
                Text::new("error-coherence-value")
                    .with("option", name)
                    .with("value", value),
                Text::new("error-coherence-sizes-hint").with("most", MAX_MESSAGE_BYTES),
            ));
        }
        if min < MESSAGE_BYTES as u64 {
            self.notes.push(format!(
                "`{name} {value}`: messages have at least {MESSAGE_BYTES} B, which is their header"
            ));
        }
        let bytes = |n: u64| n.max(MESSAGE_BYTES as u64) as u32;
        Ok((bytes(min), bytes(max)))
    }

    fn take_manager(&mut self, manager: &str) -> Result<(), Refusal> {
        if !MANAGERS.contains(&manager) {
            return Err(operator(
                Text::new("error-coherence-manager").with("manager", manager),
                Text::new("error-coherence-manager-hint").with("known", MANAGERS.join(", ")),
            ));
        }
        self.notes.push(format!(
            "`-manager {manager}`: payloads are sent from one block of memory, whatever it is"
        ));
        Ok(())
    }

    /// Checks how the options fit together.
    fn check(&self, tx_threads_typed: bool) -> Result<(), Refusal> {
        if self.max_backlog_bytes.is_some() && !self.receipts {
            return Err(operator(
                Text::new("error-coherence-backlog"),
                Text::new("error-coherence-backlog-hint"),
            ));
        }
        if self.rx_bytes_per_s.is_some() && self.rx_threads == 0 {
            return Err(operator(
                Text::new("error-coherence-rx-rate"),
                Text::new("error-coherence-rx-rate-hint"),
            ));
        }
        if self.relay && tx_threads_typed && self.tx_threads > 0 {
            return Err(operator(
                Text::new("error-coherence-relay-threads"),
                Text::new("error-coherence-relay-threads-hint"),
            ));
        }
        if self.relay && self.peers.is_empty() {
            return Err(operator(
                Text::new("error-coherence-relay-peer"),
                Text::new("error-coherence-relay-peer-hint"),
            ));
        }
        if self.polite && self.peers.is_empty() {
            return Err(operator(
                Text::new("error-coherence-polite"),
                Text::new("error-coherence-polite-hint-bus"),
            ));
        }
        Ok(())
    }

    /// Mean bytes of a message.
    pub fn mean_bytes(&self) -> f64 {
        f64::from(self.sizes.0) / 2.0 + f64::from(self.sizes.1) / 2.0
    }

    /// Messages of one transmitter that may await responses together; `None` when it does not wait.
    pub fn window(&self) -> Option<u32> {
        match self.mode {
            Mode::Stream => None,
            // Messages of a window are numbered with 16 bits.
            Mode::Block { .. } => Some(self.flush_every.clamp(1, u32::from(u16::MAX))),
        }
    }
}

const WITH_VALUE: &[&str] = &[
    "-bind",
    "-peer",
    "-rxThreads",
    "-txThreads",
    "-msgSize",
    "-chunkSize",
    "-txRate",
    "-rxRate",
    "-txMaxBacklog",
    "-flushFreq",
    "-latencyFreq",
    "-manager",
    "-depotFactory",
    "-reportInterval",
    "-warmup",
    "-sokudoCount",
    "-sokudoPatience",
];

fn is_number(text: &str) -> bool {
    text.parse::<f64>().is_ok()
}

fn one_or_none<'a>(name: &str, values: &[&'a str]) -> Result<Option<&'a str>, Refusal> {
    match values {
        [] => Ok(None),
        [value] => Ok(Some(value)),
        [_, second, ..] => Err(operator(
            Text::new("error-coherence-second")
                .with("option", name)
                .with("value", second),
            Text::new("error-coherence-second-hint"),
        )),
    }
}

fn one<'a>(name: &str, values: &[&'a str]) -> Result<&'a str, Refusal> {
    one_or_none(name, values)?.ok_or_else(|| {
        operator(
            Text::new("error-coherence-no-value").with("option", name),
            Text::new("error-coherence-no-value-hint").with("option", name),
        )
    })
}

fn number(name: &str, values: &[&str], (least, most): (u64, u64)) -> Result<u64, Refusal> {
    let value = one(name, values)?;
    let parsed = value.parse().ok().filter(|n| (least..=most).contains(n));
    parsed.ok_or_else(|| {
        operator(
            Text::new("error-coherence-value")
                .with("option", name)
                .with("value", value),
            Text::new("error-coherence-number-hint")
                .with("least", least)
                .with("most", most),
        )
    })
}

fn rate_or_none(name: &str, value: &str) -> Result<Option<f64>, Refusal> {
    match value {
        "0" => Ok(None),
        value => rate(name, value).map(Some),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use sokudo_i18n::english;

    fn parsed(line: &str) -> CoherenceBusOptions {
        let words: Vec<&str> = line.split_whitespace().collect();
        match CoherenceBusOptions::parse(&words) {
            Ok(CommandLine::Run(options)) => *options,
            other => panic!("{line:?} gave {other:?}"),
        }
    }

    fn refused(line: &str) -> String {
        let words: Vec<&str> = line.split_whitespace().collect();
        let refusal = CoherenceBusOptions::parse(&words).expect_err("an operator error");
        assert!(refusal.operator_error && refusal.hint.is_some(), "{line:?}");
        english(&refusal.says)
    }

    #[test]
    fn the_manuals_examples_are_understood() {
        let line = "-bind tmb://servera:8000 -peer tmb://serverb:8000 tmb://serverc:8000 -polite";
        let options = parsed(line);
        assert!(options.polite);
        assert_eq!((options.bind.len(), options.peers.len()), (1, 2));
        assert_eq!(parsed(""), CoherenceBusOptions::default());
        let spinning = parsed("-block 50us -flushFreq 3");
        assert_eq!(spinning.mode, Mode::Block { spin_ns: 50_000 });
        assert_eq!(spinning.window(), Some(3));
        assert_eq!(parsed("-block -verbose").mode, Mode::Block { spin_ns: 0 });
    }

    #[test]
    fn every_option_lands_in_its_field() {
        let options = parsed(
            "-bind tmb://h:1..2 -peer tmb://p:3 -rxThreads 2 -txThreads 3 -msgSize 100..2KB \
             -chunkSize 8 -cached -txRate 10 -rxRate 80mb -txMaxBacklog 1MB -flushFreq 7 \
             -latencyFreq 1 -manager heap -polite -reportInterval 2s -ignoreFlowControl -poll \
             -prompt -tabular -warmup 500 -single -verbose -sokudoPatience 3s -sokudoCount 9",
        );
        let expected = CoherenceBusOptions {
            bind: addresses("", "tmb://h:1..2").unwrap(),
            peers: addresses("", "tmb://p:3").unwrap(),
            rx_threads: 2,
            tx_threads: 3,
            sizes: (100, 2048),
            chunk_bytes: 8,
            tx_bytes_per_s: Some(10e6),
            rx_bytes_per_s: Some(10e6),
            max_backlog_bytes: Some(1 << 20),
            flush_every: 7,
            latency_every: 1,
            receipts: true,
            polite: true,
            report_ns: 2_000_000_000,
            mode: Mode::Stream,
            relay: false,
            ignore_flow_control: true,
            poll: true,
            prompt: true,
            tabular: true,
            warmup: Warmup::Messages(500),
            single: true,
            verbose: true,
            count: Some(9),
            patience_ns: 3_000_000_000,
            notes: options.notes.clone(),
        };
        assert_eq!(options, expected);
        assert_eq!(options.notes.len(), 1, "the manager");
        assert!(!parsed("-noReceipts").receipts);
        assert_eq!(parsed("-rxThreads -3").rx_threads, 0);
        assert_eq!(parsed("-relay -peer tmb://h:1").tx_threads, 0);
        assert_eq!(parsed("-warmup 3s").warmup, Warmup::Time(3_000_000_000));
        assert_eq!(parsed("-msgSize 4").sizes, (21, 21));
    }

    #[test]
    fn what_cannot_be_is_refused_in_a_sentence() {
        assert!(refused("-txRate").contains("no value"));
        assert!(refused("-txRate x").contains("`-txRate x`"));
        assert!(refused("-msgSize 9..8").contains("9..8"));
        assert!(refused("-msgSize 1GB").contains("1GB"));
        assert!(refused("-manager shared").contains("shared"));
        assert!(refused("-noReceipts -txMaxBacklog 5").contains("receipt"));
        assert!(refused("-rxRate 5").contains("-rxRate"));
        assert!(refused("-relay -txThreads 2 -peer tmb://h:1").contains("-relay"));
        assert!(refused("-relay").contains("-relay"));
        assert!(refused("-polite").contains("-polite"));
        assert!(refused("-depotFactory a.b.C").contains("a.b.C"));
        assert!(refused("-txThreads 1 2").contains("`2`"));
        assert!(refused("-peer tmbs://h:1").contains("TLS"));
    }

    #[test]
    fn an_unknown_option_asks_for_help() {
        let unknown = Some("-bogus".to_owned());
        let help = CoherenceBusOptions::parse(&["-bogus", "3"]);
        assert_eq!(help, Ok(CommandLine::Help { unknown }));
        let help = CoherenceBusOptions::parse(&["-?"]);
        assert_eq!(help, Ok(CommandLine::Help { unknown: None }));
    }

    #[test]
    fn the_help_names_every_option() {
        for option in WITH_VALUE {
            let told = HELP.contains(&format!("\t{option} "));
            assert!(told || *option == "-depotFactory", "{option}");
        }
    }

    proptest! {
        #[test]
        fn any_command_line_is_answered(line in prop::collection::vec("-[a-zA-Z?]{0,14}|[ -~]{0,20}|-(msgSize|bind|block|warmup)", 0..8)) {
            let _ = CoherenceBusOptions::parse(&line);
        }
    }
}
