//! Messages of the control connection and headers of datagrams. Reads bytes that come from elsewhere;
//! opens nothing.

use serde_json::{Value, json};

/// Bytes of a cookie: 36 characters and a zero.
pub const COOKIE_BYTES: usize = 37;
/// Longest message in JSON, bytes: the results of 128 streams are shorter.
pub const JSON_BYTES_MAX: u32 = 256 << 10;
/// Streams one way at most, as the tool itself.
pub const STREAMS_MAX: u64 = 128;
/// Largest block of a stream, bytes, as the tool itself.
pub const TCP_BLOCK_MAX: u64 = 1 << 20;
/// Largest datagram, bytes.
pub const UDP_BLOCK_MAX: u64 = 65_507;
/// Longest begin of a test that is left out, seconds, as the tool itself.
pub const OMIT_MAX: u64 = 60;
/// Longest test, seconds, as the tool itself.
pub const SECONDS_MAX: u64 = 86_400;
/// First datagram of a stream, from the client.
pub const UDP_HELLO: [u8; 4] = 0x3637_3839u32.to_le_bytes();
/// The server's answer to it.
pub const UDP_WELCOME: [u8; 4] = 0x3938_3736u32.to_le_bytes();

/// States that either end tells the other, a byte each.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum State {
    /// Get ready.
    TestStart = 1,
    /// Load flows.
    TestRunning = 2,
    /// The client has sent or received all that it wants.
    TestEnd = 4,
    /// The client is to send its parameters.
    ParamExchange = 9,
    /// The client is to connect its streams.
    CreateStreams = 10,
    /// The server goes away.
    ServerTerminate = 11,
    /// The client goes away.
    ClientTerminate = 12,
    /// Both send their results.
    ExchangeResults = 13,
    /// The results have arrived.
    DisplayResults = 14,
    /// The client is content.
    Done = 16,
    /// Another test goes on.
    AccessDenied = -1,
    /// The server failed; two numbers that say how follow.
    ServerError = -2,
}

impl State {
    const ALL: [Self; 12] = [
        Self::TestStart,
        Self::TestRunning,
        Self::TestEnd,
        Self::ParamExchange,
        Self::CreateStreams,
        Self::ServerTerminate,
        Self::ClientTerminate,
        Self::ExchangeResults,
        Self::DisplayResults,
        Self::Done,
        Self::AccessDenied,
        Self::ServerError,
    ];

    /// The state of a byte; `None` for one that the protocol does not have.
    pub fn of(byte: u8) -> Option<Self> {
        Self::ALL.into_iter().find(|state| state.byte() == byte)
    }

    /// Its byte.
    pub fn byte(self) -> u8 {
        self as i8 as u8
    }
}

/// Parameters of a test.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Params {
    /// Datagrams instead of connections.
    pub udp: bool,
    /// Length of the test, seconds; 0 when an amount ends it.
    pub seconds: u64,
    /// Load before the test that is left out of all results, seconds.
    pub omit: u64,
    /// Bytes that end it; 0 when the time does.
    pub bytes: u64,
    /// Streams each way.
    pub parallel: u64,
    /// The server sends.
    pub reverse: bool,
    /// Both send.
    pub bidir: bool,
    /// Bytes of a block or a datagram.
    pub block: u64,
    /// Bits per second of each stream; 0 for no limit.
    pub bits_per_s: u64,
    /// Numbers of datagrams have 64 bits.
    pub wide_numbers: bool,
}

impl Params {
    /// The message that tells them.
    pub fn to_json(&self) -> Value {
        let mut all = json!({
            "omit": self.omit,
            "time": self.seconds,
            "num": self.bytes,
            "blockcount": 0,
            "parallel": self.parallel,
            "len": self.block,
            "pacing_timer": 1000,
            "client_version": "3.12",
        });
        all[if self.udp { "udp" } else { "tcp" }] = json!(true);
        if self.reverse {
            all["reverse"] = json!(true);
        }
        if self.bidir {
            all["bidirectional"] = json!(true);
        }
        if self.bits_per_s > 0 {
            all["bandwidth"] = json!(self.bits_per_s);
        }
        if self.udp && self.wide_numbers {
            all["udp_counters_64bit"] = json!(1);
        }
        all
    }

    /// Reads the message of a client.
    ///
    /// Errors: a value is missing or out of bounds, or asks for what is not supported.
    pub fn read(message: &Value) -> Result<Self, String> {
        let flag = |name: &str| match message.get(name) {
            None => false,
            Some(value) => value.as_bool().unwrap_or(value.as_f64() != Some(0.0)),
        };
        let number = |name: &str, usual: u64, most: u64| match message.get(name) {
            None => Ok(usual),
            Some(value) => {
                let number = value
                    .as_u64()
                    .or(value.as_f64().filter(|it| *it >= 0.0).map(|it| it as u64));
                number.filter(|it| *it <= most).ok_or_else(|| {
                    format!("parameter `{name}` is {value}, and {most} at most is taken")
                })
            }
        };
        if !message.is_object() {
            return Err("the parameters are not a JSON object".into());
        }
        if flag("sctp") {
            return Err("SCTP is not supported".into());
        }
        let udp = flag("udp");
        let most = if udp { UDP_BLOCK_MAX } else { TCP_BLOCK_MAX };
        let block = number("len", if udp { 1460 } else { 128 << 10 }, most)?;
        // So many blocks are so many bytes.
        let blocks = number("blockcount", 0, u64::MAX)?;
        let params = Self {
            udp,
            seconds: number("time", 10, SECONDS_MAX)?,
            omit: number("omit", 0, OMIT_MAX)?,
            bytes: match blocks {
                0 => number("num", 0, u64::MAX)?,
                blocks => blocks.saturating_mul(block),
            },
            parallel: number("parallel", 1, STREAMS_MAX)?.max(1),
            reverse: flag("reverse"),
            bidir: flag("bidirectional"),
            block,
            bits_per_s: number("bandwidth", 0, u64::MAX)?,
            wide_numbers: flag("udp_counters_64bit"),
        };
        let least = if udp { Header::BYTES_WIDE as u64 } else { 1 };
        if params.block < least {
            return Err(format!(
                "parameter `len` is {}, and {least} at least is taken",
                params.block
            ));
        }
        Ok(params)
    }

    /// Numbers of the streams as both ends count them: 1, 3, 4, 5, …
    pub fn ids(&self) -> Vec<u64> {
        let ways = if self.bidir { 2 } else { 1 };
        let ids = std::iter::once(1).chain(3..);
        ids.take((self.parallel * ways) as usize).collect()
    }
}

/// State of a stream at one end.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct StreamResult {
    /// Number of the stream.
    pub id: u64,
    /// Bytes sent or received.
    pub bytes: u64,
    /// Datagrams sent, or the highest number received.
    pub packets: u64,
    /// Datagrams that did not arrive.
    pub lost: u64,
    /// Jitter, seconds (RFC 3550).
    pub jitter_s: f64,
    /// Length of the test, seconds.
    pub seconds: f64,
}

/// The message that tells the results of one end.
pub fn results_to_json(streams: &[StreamResult]) -> Value {
    let one = |it: &StreamResult| {
        json!({
            "id": it.id,
            "bytes": it.bytes,
            "retransmits": -1,
            "jitter": it.jitter_s,
            "errors": it.lost,
            "omitted_errors": 0,
            "packets": it.packets,
            "omitted_packets": 0,
            "start_time": 0,
            "end_time": it.seconds,
        })
    };
    json!({
        "cpu_util_total": 0.0,
        "cpu_util_user": 0.0,
        "cpu_util_system": 0.0,
        "sender_has_retransmits": 0,
        "streams": streams.iter().map(one).collect::<Vec<_>>(),
    })
}

/// Reads the results of the far end; streams beyond the bound are left out.
pub fn read_results(message: &Value) -> Vec<StreamResult> {
    let streams = message.get("streams").and_then(Value::as_array);
    let whole = |it: &Value, name: &str| it.get(name).and_then(Value::as_u64).unwrap_or(0);
    let number = |it: &Value, name: &str| {
        let number = it.get(name).and_then(Value::as_f64).unwrap_or(0.0);
        if number.is_finite() {
            number.max(0.0)
        } else {
            0.0
        }
    };
    let read = |it: &Value| StreamResult {
        id: whole(it, "id"),
        bytes: whole(it, "bytes"),
        packets: whole(it, "packets"),
        lost: whole(it, "errors"),
        jitter_s: number(it, "jitter"),
        seconds: number(it, "end_time"),
    };
    let streams = streams.into_iter().flatten();
    streams.take(2 * STREAMS_MAX as usize).map(read).collect()
}

/// Header of a datagram: when it was sent, and its number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Header {
    /// Since some moment of the sender, nanoseconds; told in microseconds.
    pub sent_ns: u64,
    /// From 1.
    pub number: u64,
}

impl Header {
    /// Bytes with a number of 64 bits.
    pub const BYTES_WIDE: usize = 16;
    /// Writes it to the begin of a datagram.
    pub fn write(self, wide: bool, out: &mut [u8]) {
        out[..4].copy_from_slice(&((self.sent_ns / 1_000_000_000) as u32).to_be_bytes());
        out[4..8].copy_from_slice(&((self.sent_ns / 1_000 % 1_000_000) as u32).to_be_bytes());
        match wide {
            true => out[8..16].copy_from_slice(&self.number.to_be_bytes()),
            false => out[8..12].copy_from_slice(&(self.number as u32).to_be_bytes()),
        }
    }

    /// Reads it; `None` for a datagram that is too short.
    pub fn read(wide: bool, datagram: &[u8]) -> Option<Self> {
        let word = |at: usize| {
            Some(u32::from_be_bytes(
                datagram.get(at..at + 4)?.try_into().ok()?,
            ))
        };
        let number = match wide {
            true => u64::from_be_bytes(datagram.get(8..16)?.try_into().ok()?),
            false => word(8)?.into(),
        };
        let sent_ns = u64::from(word(0)?) * 1_000_000_000 + u64::from(word(4)?) * 1_000;
        Some(Self { sent_ns, number })
    }
}

/// Receiver's account of one stream of datagrams.
#[derive(Debug, Clone, Copy, Default)]
pub struct Account {
    /// Highest number so far.
    pub highest: u64,
    /// Numbers that were left out and have not come since.
    pub lost: u64,
    /// Datagrams that came after a higher number.
    pub out_of_order: u64,
    /// Jitter, seconds (RFC 3550).
    pub jitter_s: f64,
    transit_s: Option<f64>,
}

impl Account {
    /// A datagram came at this time of the receiver's own clock.
    pub fn take(&mut self, header: Header, now_ns: u64) {
        if header.number > self.highest {
            self.lost += header.number - self.highest - 1;
            self.highest = header.number;
        } else {
            self.out_of_order += 1;
            self.lost = self.lost.saturating_sub(1);
        }
        let transit_s = now_ns as f64 / 1e9 - header.sent_ns as f64 / 1e9;
        if let Some(before_s) = self.transit_s.replace(transit_s) {
            self.jitter_s += ((transit_s - before_s).abs() - self.jitter_s) / 16.0;
        }
    }
}

/// For fuzzing: no bytes make a reader of this module panic.
pub fn any_bytes(bytes: &[u8]) {
    if let Some(first) = bytes.first() {
        State::of(*first);
    }
    let mut account = Account::default();
    for wide in [false, true] {
        if let Some(header) = Header::read(wide, bytes) {
            account.take(header, 0);
        }
    }
    if let Ok(message) = serde_json::from_slice::<Value>(bytes) {
        read_results(&message);
        if let Ok(params) = Params::read(&message) {
            params.ids();
            assert_eq!(
                Params::read(&params.to_json()),
                Ok(params),
                "what is told can be read"
            );
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn parameters_of_a_client_are_read_and_bounded() {
        let read = |text: &str| Params::read(&serde_json::from_str(text).expect("JSON"));
        let usual = r#"{"tcp":true,"omit":0,"time":3,"num":0,"blockcount":0,"parallel":2,"reverse":true,"len":131072,"pacing_timer":1000,"client_version":"3.12"}"#;
        let params = read(usual).expect("parameters");
        assert_eq!(
            (params.seconds, params.parallel, params.block),
            (3, 2, 131_072)
        );
        assert!(params.reverse && !params.udp && !params.bidir);
        let blocks = read(r#"{"time":0,"blockcount":5,"len":1000}"#).expect("parameters");
        assert_eq!((blocks.bytes, blocks.seconds), (5_000, 0));
        for wrong in [
            r#"{"parallel":129}"#,
            r#"{"time":-1}"#,
            r#"{"time":1e9}"#,
            r#"{"len":0}"#,
            r#"{"len":99999999}"#,
            r#"{"udp":true,"len":8}"#,
            r#"{"sctp":true}"#,
            r#"{"num":"many"}"#,
            "[]",
        ] {
            assert!(read(wrong).is_err(), "{wrong}");
        }
        assert_eq!(
            Params {
                bidir: true,
                ..params
            }
            .ids(),
            [1, 3, 4, 5]
        );
    }

    #[test]
    fn an_account_finds_losses_and_reordering() {
        let mut account = Account::default();
        for (number, sent_ms, now_ms) in [(1, 0, 5), (2, 10, 15), (5, 20, 27), (4, 30, 35)] {
            let header = Header {
                sent_ns: sent_ms * 1_000_000,
                number,
            };
            account.take(header, now_ms * 1_000_000);
        }
        assert_eq!(
            (account.highest, account.lost, account.out_of_order),
            (5, 1, 1)
        );
        // 0, then 2 ms of 16 parts, then 2 ms again.
        let expected = 0.002 / 16.0 + (0.002 - 0.002 / 16.0) / 16.0;
        assert!((account.jitter_s - expected).abs() < 1e-9, "{account:?}");
    }

    #[test]
    fn results_are_read_as_they_were_told() {
        let one = StreamResult {
            id: 3,
            bytes: 1 << 40,
            packets: 7,
            lost: 2,
            jitter_s: 0.5,
            seconds: 10.0,
        };
        assert_eq!(read_results(&results_to_json(&[one])), [one]);
    }

    proptest! {
        #[test]
        fn no_bytes_are_too_much(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
            any_bytes(&bytes);
        }

        #[test]
        fn headers_survive(sent_us in 0u64..4_000_000_000_000_000, number in any::<u64>(), wide in any::<bool>()) {
            let number = if wide { number } else { number & 0xffff_ffff };
            let header = Header { sent_ns: sent_us * 1000, number };
            let mut bytes = [0; 16];
            header.write(wide, &mut bytes);
            prop_assert_eq!(Header::read(wide, &bytes), Some(header));
        }
    }
}
