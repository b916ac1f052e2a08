//! The outcome of a request.

use sokudo_model::Spent;

/// A response, with the times of its stages.
///
/// All times are nanoseconds of one monotonic clock. A stage that did not take place has the time
/// of the previous one.
#[derive(Debug, Clone, Copy, Default)]
pub struct Reply<'a> {
    /// Intended start of the request.
    pub intended_ns: i64,
    /// Its real start.
    pub start_ns: i64,
    /// Time at which the connection was established, TLS included.
    pub connected_ns: i64,
    /// Time at which the whole request was sent.
    pub sent_ns: i64,
    /// Time at which the first byte of the response was received.
    pub first_byte_ns: i64,
    /// Time at which the response ended or the request failed.
    pub end_ns: i64,
    /// Time by stages.
    pub spent: Spent,
    /// Address of the peer, if known.
    pub peer: Option<std::net::SocketAddr>,
    /// True if the connection had been used before.
    pub reused: bool,
    /// Bytes sent.
    pub sent_bytes: u64,
    /// Bytes of response heads.
    pub head_bytes: u64,
    /// Bytes of the body, without chunk framing.
    pub body_bytes: u64,
    /// Bytes of chunk framing, trailers included.
    pub framing_bytes: u64,
    /// Status; 0: no head was received.
    pub status: u16,
    /// Reason phrase.
    pub reason: &'a [u8],
    /// Header lines with their line ends, without the status line.
    pub headers: &'a [u8],
    /// The kept part of the body.
    pub body: &'a [u8],
    /// Reason why there is no complete response; `None`: there is one.
    pub lost: Option<Lost<'a>>,
}

impl Reply<'_> {
    /// The outcome of a request that could not be written.
    pub(super) fn never_sent<'a>(now_ns: i64, lost: Lost<'a>) -> Reply<'a> {
        Reply {
            intended_ns: now_ns,
            start_ns: now_ns,
            connected_ns: now_ns,
            sent_ns: now_ns,
            first_byte_ns: now_ns,
            end_ns: now_ns,
            lost: Some(lost),
            ..Reply::default()
        }
    }

    /// Bytes as JMeter counts them. It takes the head for as long as it would write it itself, what is left for
    /// the body, and where nothing is left the body once more.
    pub(super) fn counted_bytes(&self) -> u64 {
        let status_line = "HTTP/1.1 200 \r\n".len() + self.reason.trim_ascii().len();
        let head = (status_line + self.headers.len() + "\r\n".len()) as u64;
        let received = self.received_bytes();
        match self.status > 0 && received == head {
            true => received + self.body_bytes,
            false => received,
        }
    }

    /// Bytes of head, body and chunk framing.
    pub(super) fn received_bytes(&self) -> u64 {
        self.head_bytes + self.body_bytes + self.framing_bytes
    }
}

/// Reason why there is no complete response.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Lost<'a> {
    /// The failure as JMeter names it.
    pub class: NotHttp,
    /// Stage that failed: `resolve`, `connect`, `tls`, `send`, `wait`, `read`.
    pub phase: &'static str,
    /// Error number of the system, if there is one.
    pub errno: Option<i32>,
    /// The failure in a few words.
    pub says: &'a str,
}

/// Failures as JMeter names them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NotHttp {
    /// Connection refused.
    Refused,
    /// Connect timeout.
    ConnectTimeout,
    /// Response timeout.
    ReadTimeout,
    /// The host name has no address.
    UnknownHost,
    /// Connection reset.
    Reset,
    /// The connection was closed before a response.
    NoResponse,
    /// The body ended early.
    BodyCut,
    /// A chunk ended early.
    ChunkCut {
        /// Bytes that it should have.
        size: u64,
        /// Bytes that it has.
        came: u64,
    },
    /// A chunk does not begin with its size.
    BadChunk,
    /// A chunk is longer than its size.
    BadChunkEnd,
    /// No route to the host.
    Unreachable,
    /// No route to the network.
    NetworkUnreachable,
    /// TLS handshake failed.
    Tls,
    /// The server does not use TLS.
    NotTls,
    /// The connection was closed during the TLS handshake.
    TlsClosed,
    /// TLS handshake timeout.
    TlsTimeout,
    /// The server sent this TLS alert.
    TlsAlert(u8),
    /// The response is not HTTP.
    Malformed,
    /// No local port is available.
    NoLocalPort,
    /// The process has too many open files.
    TooManyFiles,
    /// The connection was closed while the request was being sent.
    BrokenPipe,
    /// The body is not valid in its content encoding.
    BadContent,
    /// The body ends within its content encoding.
    ContentCut,
    /// The body is not valid Brotli.
    BadBrotli,
    /// The proxy refused a tunnel.
    ProxyRefused,
    /// The test was stopped during the request.
    Stopped,
    /// Too many redirects.
    TooManyRedirects,
    /// The URL is not valid.
    BadAddress,
    /// The URL has no host.
    NoHost,
    /// The scheme is not supported.
    BadScheme,
    /// A value that counts as encoded has an invalid escape.
    BadEscape,
    /// The charset is unknown.
    BadCharset,
    /// A part has no content type.
    BadContentType,
    /// A file to send does not exist.
    NoFile,
    /// A redirect leads to an invalid URL.
    BadLocation,
    /// A redirect has no location.
    NoLocation,
    /// A function has thrown this exception.
    Thrown(&'static str),
}

impl NotHttp {
    /// The Java class after `Non HTTP response code: `.
    pub fn class(self) -> &'static str {
        match self {
            Self::Refused => "org.apache.http.conn.HttpHostConnectException",
            Self::ConnectTimeout | Self::TlsTimeout => {
                "org.apache.http.conn.ConnectTimeoutException"
            }
            Self::ReadTimeout => "java.net.SocketTimeoutException",
            Self::UnknownHost => "java.net.UnknownHostException",
            Self::Reset
            | Self::BrokenPipe
            | Self::Stopped
            | Self::NetworkUnreachable
            | Self::TooManyFiles => "java.net.SocketException",
            Self::NoResponse => "org.apache.http.NoHttpResponseException",
            Self::BodyCut => "org.apache.http.ConnectionClosedException",
            Self::ChunkCut { .. } => "org.apache.http.TruncatedChunkException",
            Self::BadChunk | Self::BadChunkEnd => "org.apache.http.MalformedChunkCodingException",
            Self::Unreachable => "java.net.NoRouteToHostException",
            Self::NotTls => "javax.net.ssl.SSLException",
            Self::Tls | Self::TlsClosed | Self::TlsAlert(_) => {
                "javax.net.ssl.SSLHandshakeException"
            }
            Self::BadScheme => "org.apache.http.conn.UnsupportedSchemeException",
            Self::Malformed | Self::NoHost => "org.apache.http.client.ClientProtocolException",
            Self::NoLocalPort => "java.net.BindException",
            Self::BadContent => "java.util.zip.ZipException",
            Self::ContentCut => "java.io.EOFException",
            Self::BadLocation => "java.net.MalformedURLException",
            Self::ProxyRefused => "org.apache.http.impl.execchain.TunnelRefusedException",
            Self::TooManyRedirects | Self::BadBrotli => "java.io.IOException",
            Self::BadAddress => "java.net.URISyntaxException",
            Self::BadEscape | Self::NoLocation => "java.lang.IllegalArgumentException",
            Self::BadCharset => "java.nio.charset.UnsupportedCharsetException",
            Self::BadContentType => "org.apache.http.ParseException",
            Self::NoFile => "java.io.FileNotFoundException",
            Self::Thrown(class) => class,
        }
    }

    /// Appends the text after `Non HTTP response message: `. `host` and `port` are those of the
    /// target, `says` is the variable part of the message.
    pub fn write_message(self, (host, port): (&str, u16), says: &str, out: &mut String) {
        use std::fmt::Write as _;
        let written = match self {
            Self::Refused => write!(
                out,
                "Connect to {host}:{port} [{says}] failed: Connection refused"
            ),
            Self::ConnectTimeout => write!(
                out,
                "Connect to {host}:{port} [{says}] failed: Connect timed out"
            ),
            Self::TlsTimeout => write!(
                out,
                "Connect to {host}:{port} [{says}] failed: Read timed out"
            ),
            Self::ReadTimeout => write!(out, "Read timed out"),
            Self::UnknownHost => write!(out, "{host}: Name or service not known"),
            Self::Reset => write!(out, "Connection reset"),
            Self::NoResponse => write!(out, "{host}:{port} failed to respond"),
            Self::BodyCut => write!(out, "Premature end of {says}"),
            Self::ChunkCut { size, came } => write!(
                out,
                "Truncated chunk (expected size: {size}; actual size: {came})"
            ),
            Self::BadChunk => write!(out, "Bad chunk header"),
            Self::BadChunkEnd => write!(out, "Unexpected content at the end of chunk"),
            Self::NotTls => write!(out, "Unsupported or unrecognized SSL message"),
            Self::TlsClosed => write!(out, "Remote host terminated the handshake"),
            Self::TlsAlert(alert) => write!(out, "Received fatal alert: {}", alert_name(alert)),
            Self::NetworkUnreachable => write!(out, "Network is unreachable"),
            Self::Malformed => write!(out, "null"),
            Self::NoHost => write!(out, "URI does not specify a valid host name: {says}"),
            Self::BadScheme => write!(out, "{says} protocol is not supported"),
            Self::Unreachable => write!(out, "No route to host"),
            Self::NoLocalPort => write!(out, "Cannot assign requested address"),
            Self::TooManyFiles => write!(out, "Too many open files"),
            Self::BrokenPipe => write!(out, "Broken pipe"),
            Self::Stopped => write!(out, "Socket closed"),
            Self::TooManyRedirects => write!(out, "Exceeded maximum number of redirects: {says}"),
            Self::NoLocation => write!(out, "Missing location header in redirect for {says}"),
            Self::ProxyRefused => write!(out, "CONNECT refused by proxy"),
            Self::Tls
            | Self::BadContent
            | Self::ContentCut
            | Self::BadBrotli
            | Self::BadLocation
            | Self::BadAddress
            | Self::BadEscape
            | Self::BadCharset
            | Self::BadContentType
            | Self::Thrown(_)
            | Self::NoFile => write!(out, "{says}"),
        };
        // Writing into a String cannot fail.
        let _ = written;
    }
}

/// Names of TLS alerts as Java writes them (RFC 8446, 6; RFC 5246, 7.2).
fn alert_name(alert: u8) -> &'static str {
    match alert {
        0 => "close_notify",
        10 => "unexpected_message",
        20 => "bad_record_mac",
        22 => "record_overflow",
        40 => "handshake_failure",
        42 => "bad_certificate",
        43 => "unsupported_certificate",
        44 => "certificate_revoked",
        45 => "certificate_expired",
        46 => "certificate_unknown",
        47 => "illegal_parameter",
        48 => "unknown_ca",
        49 => "access_denied",
        50 => "decode_error",
        51 => "decrypt_error",
        70 => "protocol_version",
        71 => "insufficient_security",
        80 => "internal_error",
        86 => "inappropriate_fallback",
        90 => "user_canceled",
        100 => "no_renegotiation",
        109 => "missing_extension",
        110 => "unsupported_extension",
        112 => "unrecognized_name",
        113 => "bad_certificate_status_response",
        116 => "certificate_required",
        120 => "no_application_protocol",
        _ => "unknown_alert",
    }
}
