//! What do those who look at a result see of it?

use std::borrow::Cow;

use super::land::header_values;
use super::outcome::{Lost, NotHttp, Reply};
use super::test::Test;
use super::user::Body;
use crate::digits::digits;

/// A result while it is looked at: everything as text.
#[derive(Clone, Copy)]
pub(super) struct Answer<'a> {
    /// Header lines, the status line first.
    pub headers: &'a str,
    /// The body as received.
    pub body: &'a [u8],
    /// Its text.
    pub text: &'a str,
    /// Response code.
    pub code: &'a str,
    /// Response message.
    pub message: &'a str,
    /// Address.
    pub url: &'a str,
    /// The request, where something looks at it.
    pub sent: &'a [u8],
    /// Length of the request's head.
    pub sent_head: usize,
    /// From start to end, milliseconds.
    pub elapsed_ms: u64,
    /// From start to the first byte, milliseconds.
    pub latency_ms: u64,
    /// From start to the connection, milliseconds.
    pub connect_ms: u64,
    /// Bytes of heads, and of everything.
    pub head_bytes: u64,
    pub bytes: u64,
    /// It succeeded so far.
    pub success: bool,
}

impl Body {
    /// Code and message of an answer, or of a failure as JMeter names it.
    pub(super) fn write_answer(
        &self,
        test: &Test,
        reply: &Reply<'_>,
        lost: Option<Lost<'_>>,
        code: &mut String,
        message: &mut String,
    ) {
        let Some(lost) = lost else {
            digits(reply.status.into(), code);
            message.push_str(&String::from_utf8_lossy(reply.reason));
            return;
        };
        code.push_str("Non HTTP response code: ");
        code.push_str(lost.class.class());
        message.push_str("Non HTTP response message: ");
        let says = self.said(test, reply, lost);
        let to = (self.flight.address.host.as_str(), self.flight.address.port);
        lost.class.write_message(to, &says, message);
    }

    /// What JMeter's sentence about a failure holds of the moment.
    fn said<'a>(&self, test: &Test, reply: &Reply<'_>, lost: Lost<'a>) -> Cow<'a, str> {
        let flight = &self.flight;
        match lost.class {
            NotHttp::TooManyRedirects => test.most_redirects.to_string().into(),
            NotHttp::BadLocation => match header_values(reply.headers, "Location").next() {
                Some(location) => format!("Invalid address: {location}").into(),
                None => "Invalid address".into(),
            },
            NotHttp::NoLocation => format!("{} {} HTTP/1.1", flight.method, flight.url).into(),
            NotHttp::Refused | NotHttp::ConnectTimeout | NotHttp::TlsTimeout => {
                let host = flight.address.host.as_str();
                let name = match host.parse::<std::net::IpAddr>() {
                    Ok(_) => "",
                    Err(_) => host,
                };
                match reply.peer {
                    Some(peer) => format!("{name}/{}", peer.ip()).into(),
                    None => format!("{name}/{host}").into(),
                }
            }
            NotHttp::BodyCut => match header_values(reply.headers, "Content-Length").next() {
                Some(length) => format!(
                    "Content-Length delimited message body (expected: {length}; received: {})",
                    reply.body_bytes
                )
                .into(),
                None => "chunk coded message body: closing chunk expected".into(),
            },
            _ => lost.says.into(),
        }
    }
}

pub(super) fn plain_answer<'a>(
    text: &'a str,
    code: &'a str,
    message: &'a str,
    url: &'a str,
    elapsed_ms: u64,
    success: bool,
) -> Answer<'a> {
    Answer {
        headers: "",
        body: text.as_bytes(),
        text,
        code,
        message,
        url,
        sent: b"",
        sent_head: 0,
        elapsed_ms,
        latency_ms: 0,
        connect_ms: 0,
        head_bytes: 0,
        bytes: text.len() as u64,
        success,
    }
}

/// Status line and headers as text.
pub(super) fn header_text(code: &str, message: &str, reply: &Reply<'_>) -> String {
    let headers = String::from_utf8_lossy(reply.headers).replace("\r\n", "\n");
    format!("HTTP/1.1 {code} {message}\n{headers}")
}

pub(super) fn charset(content_type: &str) -> &str {
    let parameter = content_type.split(';').skip(1).find_map(|part| {
        let (key, value) = part.split_once('=')?;
        key.trim()
            .eq_ignore_ascii_case("charset")
            .then(|| value.trim().trim_matches('"'))
    });
    parameter.unwrap_or("")
}

pub(super) fn body_text(body: &[u8], content_type: Option<&str>) -> String {
    let label = content_type.map_or("", charset);
    match encoding_rs::Encoding::for_label(label.as_bytes()) {
        Some(encoding) => encoding.decode(body).0.into_owned(),
        None => String::from_utf8_lossy(body).into_owned(),
    }
}

pub(super) fn data_type(lost: bool, content_type: Option<&str>) -> &'static str {
    const BINARY: &[&str] = &[
        "image/",
        "audio/",
        "video/",
        "application/octet-stream",
        "application/pdf",
        "application/zip",
        "application/x-tar",
        "application/x-gzip",
        "application/java-archive",
        "application/java-vm",
    ];
    match content_type {
        _ if lost => "text",
        None => "",
        Some(kind) if BINARY.iter().any(|prefix| kind.starts_with(prefix)) => "bin",
        Some(_) => "text",
    }
}
