//! Requests of a plan over plain TCP: what is sent, and what becomes of the response.
//!
//! ```text
//! element ─ begin ─► TcpCall ─► the holder of the connections
//! user ◄─ result ─ finish ─ TcpAnswer ◄─┘
//! ```

use super::context::View;
use super::databases::Thrown;
use super::local_samplers::LocalSample;
use crate::plan::{TcpForm, TcpRequest, Value};
use crate::script::ScriptSample;

/// The end byte of the properties that stands for none.
const NO_BYTE: i64 = 1000;
/// The code of a request that failed.
const FAILED: &str = "500";
/// The code of a response in which no status is found.
const NO_STATUS: &str = "999";

/// A request of a user over a TCP connection.
#[derive(Debug, Clone, PartialEq)]
pub struct TcpCall {
    /// Number of the user among all of the test.
    pub user: u64,
    /// The server.
    pub place: TcpPlace,
    /// The bytes to send.
    pub bytes: Vec<u8>,
    /// Point at which the response ends.
    pub ends: TcpEnd,
    /// The response is text.
    pub is_text: bool,
    /// Goes on over the connection that there is.
    pub reuses: bool,
    /// Closes the connection after the response.
    pub closes: bool,
    /// Sends small segments at once.
    pub no_delay: bool,
    /// Longest time to connect, milliseconds; 0: unbounded.
    pub connect_timeout_ms: u64,
    /// Longest time without a byte of the response, milliseconds; 0: unbounded.
    pub response_timeout_ms: u64,
    /// Seconds that closing waits for unsent bytes.
    pub linger_s: Option<u16>,
}

/// A server, and by what a user tells its connections to it apart.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct TcpPlace {
    /// Its name or address.
    pub server: String,
    /// Its port.
    pub port: u16,
    /// User and password of the element.
    pub login: [String; 2],
}

/// Point at which a response ends, beside the end of its connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TcpEnd {
    /// Nowhere else.
    Closed,
    /// With what was read when its last byte is this one.
    Byte(u8),
    /// After so many bytes as the number before it says, which has so many bytes.
    Counted(usize),
}

/// The outcome of a request.
#[derive(Debug, Clone, PartialEq)]
pub struct TcpAnswer {
    /// Moment at which there was a connection, or at which it was known that there would be none: nanoseconds
    /// of the monotonic clock.
    pub connected_ns: i64,
    /// True if there was one.
    pub was_connected: bool,
    /// Moment of the first bytes of the response; `None`: none came.
    pub answered_ns: Option<i64>,
    /// End of the request.
    pub end_ns: i64,
    /// Bytes read of the response.
    pub bytes: Vec<u8>,
    /// Its outcome: success, or the exception that ended it.
    pub outcome: Result<(), Thrown>,
}

impl TcpAnswer {
    /// The answer where nobody holds connections any more.
    pub fn nobody(now_ns: i64) -> Self {
        let closed = thrown("java.net.SocketException", "Socket closed".into());
        Self {
            was_connected: false,
            ..failed(now_ns, closed)
        }
    }
}

/// A request that was begun.
#[derive(Debug, Clone)]
pub(super) struct BegunTcp {
    start_ns: i64,
    form: TcpForm,
    sampler_data: String,
    /// Sampler data where there is no connection.
    place: String,
}

fn thrown(class: &str, message: String) -> Thrown {
    Thrown {
        class: class.into(),
        sql: None,
        message,
    }
}

/// The answer to a request that fails on its connection at once.
fn failed(now_ns: i64, thrown: Thrown) -> TcpAnswer {
    TcpAnswer {
        connected_ns: now_ns,
        was_connected: true,
        answered_ns: None,
        end_ns: now_ns,
        bytes: Vec::new(),
        outcome: Err(thrown),
    }
}

fn property<'v>(view: &'v View<'_>, name: &str) -> Option<&'v str> {
    view.test().settings.properties.get(name)
}

/// The request of an element, and what to remember of it. Errors: what JMeter throws before it sends.
pub(super) fn begin(
    view: &mut View<'_>,
    request: &TcpRequest,
) -> (BegunTcp, Result<TcpCall, Box<TcpAnswer>>) {
    let text = view.text(&request.text);
    let begun = BegunTcp {
        start_ns: view.now_ns(),
        form: request.form,
        sampler_data: text.clone(),
        place: shown(view, request),
    };
    let place = TcpPlace {
        server: view.text(&request.server),
        port: u16::try_from(view.integer(&request.port)).unwrap_or(0),
        login: [view.text(&request.login[0]), view.text(&request.login[1])],
    };
    let given = request.end_byte.as_ref().map(|byte| view.integer(byte));
    let ends = ends(view, request.form, given);
    let milliseconds = |value: i64| u64::try_from(value).unwrap_or(0);
    let linger = request.linger_s.as_ref().map(|s| view.integer(s));
    let call = TcpCall {
        user: view.thread.serial(),
        place,
        bytes: Vec::new(),
        ends,
        is_text: request.form == TcpForm::Text,
        reuses: view.flag(&request.reuses),
        closes: view.flag(&request.closes),
        no_delay: view.flag(&request.no_delay),
        connect_timeout_ms: milliseconds(view.integer(&request.connect_timeout_ms)),
        response_timeout_ms: milliseconds(view.integer(&request.response_timeout_ms)),
        linger_s: linger.map(|s| u16::try_from(s.max(0)).unwrap_or(u16::MAX)),
    };
    match to_send(&text, request.form, ends) {
        Ok(bytes) => (begun, Ok(TcpCall { bytes, ..call })),
        Err(message) => {
            let thrown = thrown("java.lang.IllegalArgumentException", message);
            (begun, Err(Box::new(failed(view.now_ns(), thrown))))
        }
    }
}

/// The server and the options of a request, as JMeter shows them.
fn shown(view: &mut View<'_>, request: &TcpRequest) -> String {
    let (server, port) = (view.text(&request.server), view.integer(&request.port));
    let (reuses, closes) = (view.flag(&request.reuses), view.flag(&request.closes));
    let number = |view: &mut View<'_>, value: &Option<Value<i64>>| {
        value.as_ref().map_or(0, |value| view.integer(value))
    };
    let linger = number(view, &request.linger_s);
    let end = number(view, &request.end_byte);
    let no_delay = view.flag(&request.no_delay);
    format!(
        "Host: {server} Port: {port}\nReuse: {reuses} Close: {closes}\n[SOLINGER: {linger} EOL: {end} noDelay: {no_delay}]"
    )
}

/// Point at which the response to a request ends, by the element's end byte or that of the properties.
fn ends(view: &View<'_>, form: TcpForm, given: Option<i64>) -> TcpEnd {
    let number = |name: &str| property(view, name).and_then(|text| text.trim().parse().ok());
    if form == TcpForm::LengthPrefixed {
        let bytes = number("tcp.binarylength.prefix.length").unwrap_or(2);
        return TcpEnd::Counted(usize::try_from(bytes).unwrap_or(0));
    }
    let name = match form {
        TcpForm::Text => "tcp.eolByte",
        _ => "tcp.BinaryTCPClient.eomByte",
    };
    let byte = given.or_else(|| number(name)).unwrap_or(NO_BYTE);
    i8::try_from(byte).map_or(TcpEnd::Closed, |byte| TcpEnd::Byte(byte.cast_unsigned()))
}

/// The bytes that a text stands for. Errors: the message of JMeter's exception.
fn to_send(text: &str, form: TcpForm, ends: TcpEnd) -> Result<Vec<u8>, String> {
    if form == TcpForm::Text {
        return Ok(text.as_bytes().to_owned());
    }
    let body = bytes_of(text)?;
    let TcpEnd::Counted(prefix) = ends else {
        return Ok(body);
    };
    if ![1, 2, 4].contains(&prefix) {
        return Err("Length must be 1, 2 or 4".into());
    }
    let length = (body.len() as u32).to_be_bytes();
    Ok([&length[4 - prefix..], &body].concat())
}

/// The bytes of pairs of hexadecimal digits.
fn bytes_of(digits: &str) -> Result<Vec<u8>, String> {
    let digits: Vec<char> = digits.chars().collect();
    if !digits.len().is_multiple_of(2) {
        return Err("Hex-encoded binary string contains an uneven no. of digits".into());
    }
    let pairs = digits.chunks_exact(2);
    let bytes = pairs.map(|pair| {
        let value = |digit: char| digit.to_digit(16);
        match (value(pair[0]), value(pair[1])) {
            (Some(high), Some(low)) => Ok((high * 16 + low) as u8),
            _ => Err(format!(
                "Hex-encoded binary string contains an invalid hex digit in '{}{}'",
                pair[0], pair[1]
            )),
        }
    });
    bytes.collect()
}

/// The result of a request that was answered, or could not be begun.
pub(super) fn result(view: &mut View<'_>, begun: &BegunTcp, answer: &TcpAnswer) -> LocalSample {
    let test = view.test();
    let text = match begun.form {
        TcpForm::Text => String::from_utf8_lossy(&answer.bytes).into_owned(),
        TcpForm::Binary | TcpForm::LengthPrefixed => answer
            .bytes
            .iter()
            .map(|byte| format!("{byte:02x}"))
            .collect(),
    };
    let latency = answer.answered_ns;
    let mut sample = ScriptSample {
        label: view.thread.label().to_owned(),
        code: "200".into(),
        message: "OK".into(),
        data_type: Some("text"),
        sampler_data: begun.sampler_data.clone(),
        latency_ms: latency.map_or(0, |at_ns| test.between_ms(begun.start_ns, at_ns)),
        connect_ms: test.between_ms(begun.start_ns, answer.connected_ns),
        success: true,
        text,
        ..ScriptSample::default()
    };
    if let Err(thrown) = &answer.outcome {
        sample.code = FAILED.into();
        sample.message = thrown.text();
        sample.success = false;
    }
    if answer.was_connected {
        take_status(view, &mut sample);
    } else {
        sample.data_type = Some("");
        sample.sampler_data.clone_from(&begun.place);
    }
    LocalSample {
        start_ns: begun.start_ns,
        end_ns: answer.end_ns,
        elapsed_ms: None,
        url: "null".into(),
        connected_ns: answer.connected_ns,
        answered_ns: answer.answered_ns,
        phase: if answer.was_connected { "" } else { "connect" },
        sample,
    }
}

/// Takes the code from between two texts of the response, where the properties name them.
fn take_status(view: &View<'_>, sample: &mut ScriptSample) {
    let Some(prefix) = property(view, "tcp.status.prefix").filter(|prefix| !prefix.is_empty())
    else {
        return;
    };
    let suffix = property(view, "tcp.status.suffix").unwrap_or_default();
    let rest = sample.text.split_once(prefix).map(|(_, rest)| rest);
    match rest.and_then(|rest| rest.split_once(suffix)) {
        Some((code, _)) => {
            let is_error = ("400"..="499").contains(&code) || ("500"..="599").contains(&code);
            sample.success &= !is_error;
            sample.code = code.to_owned();
            sample.message = "No status property file".into();
        }
        None => {
            sample.success = false;
            sample.code = NO_STATUS.into();
            sample.message = "Status value not found".into();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hexadecimal_digits_become_bytes_with_their_length_before_them() {
        let binary = |text| to_send(text, TcpForm::Binary, TcpEnd::Closed);
        assert_eq!(binary("00fFa1"), Ok(vec![0, 0xff, 0xa1]));
        assert!(binary("0").is_err_and(|says| says.contains("uneven")));
        assert!(binary("0g").is_err_and(|says| says.contains("'0g'")));
        let prefixed = |prefix| to_send("0102", TcpForm::LengthPrefixed, TcpEnd::Counted(prefix));
        assert_eq!(prefixed(2), Ok(vec![0, 2, 1, 2]));
        assert_eq!(prefixed(4), Ok(vec![0, 0, 0, 2, 1, 2]));
        assert!(prefixed(3).is_err());
        let text = to_send("ü\n", TcpForm::Text, TcpEnd::Byte(b'\n'));
        assert_eq!(text, Ok("ü\n".as_bytes().to_owned()));
    }
}
