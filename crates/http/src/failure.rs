//! Failure reasons of an exchange, each with the stage at which it ended.

use std::fmt;
use std::io;

/// Reason why an exchange failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Failure {
    /// The stage at which it ended.
    pub phase: Phase,
    /// The kind of failure.
    pub kind: FailureKind,
    /// The system's number for it; 0 = none.
    pub errno: i32,
}

impl Failure {
    /// A failure that the system has no number for.
    pub fn new(phase: Phase, kind: FailureKind) -> Self {
        Self {
            phase,
            kind,
            errno: 0,
        }
    }

    /// The error of a system call.
    pub fn of(phase: Phase, error: &io::Error) -> Self {
        Self {
            phase,
            kind: FailureKind::of(error),
            errno: error.raw_os_error().unwrap_or(0),
        }
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.phase.name(), self.kind.name())
    }
}

/// Stage of an exchange.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Phase {
    /// Looking up the host's addresses.
    Resolve,
    /// Opening the connection.
    Connect,
    /// The TLS handshake.
    Tls,
    /// Writing the request.
    Send,
    /// Waiting for the first byte of the response.
    Wait,
    /// Reading the rest.
    Read,
}

impl Phase {
    /// All stages in their order.
    pub const ALL: [Phase; 6] = [
        Phase::Resolve,
        Phase::Connect,
        Phase::Tls,
        Phase::Send,
        Phase::Wait,
        Phase::Read,
    ];

    /// Name in records: one word.
    pub fn name(self) -> &'static str {
        match self {
            Phase::Resolve => "resolve",
            Phase::Connect => "connect",
            Phase::Tls => "tls",
            Phase::Send => "send",
            Phase::Wait => "wait",
            Phase::Read => "read",
        }
    }
}

/// The kinds of failure.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum FailureKind {
    /// The host's name has no address.
    UnknownHost,
    /// No process listens there.
    Refused,
    /// The peer reset the connection.
    Reset,
    /// A bound of the exchange was reached.
    TimedOut,
    /// No way to the host.
    Unreachable,
    /// No way to its network.
    NetworkUnreachable,
    /// The peer closed the connection before the response was complete.
    ClosedEarly,
    /// The same in the middle of a chunk of the response.
    CutChunk {
        /// Bytes that the chunk was to have.
        size: u64,
        /// Bytes of it that came.
        came: u64,
    },
    /// The received bytes are not HTTP/1.
    Malformed(Malformed),
    /// The server does not speak HTTP/2, which was requested.
    NoHttp2,
    /// The received bytes are not HTTP/2.
    Http2(Breach),
    /// The peer reset this stream and kept the connection.
    StreamReset(Code),
    /// The server closed the connection and gave a reason.
    GoneAway(Code),
    /// The server reported that it has not processed this request: it may be sent again.
    Unprocessed,
    /// The certificate's time is over.
    CertificateExpired,
    /// The certificate's time has not come.
    CertificateNotYetValid,
    /// No authority that this host trusts has signed the certificate.
    CertificateUntrusted,
    /// The certificate is for another name.
    CertificateWrongName,
    /// The certificate is unusable for another reason.
    CertificateInvalid,
    /// The server on this port does not speak TLS.
    NotTls,
    /// The peer ended the handshake or the connection with this alert (RFC 8446, 6.2).
    TlsAlert(u8),
    /// The handshake failed otherwise, or records could not be read.
    Tls,
    /// This host has no free port to connect from.
    PortsExhausted,
    /// This process may not open another file.
    TooManyFiles,
    /// A proxy gives no tunnel.
    ProxyRefused,
    /// The run was ended meanwhile.
    Stopped,
    /// Anything else; see the error number.
    Other,
}

impl FailureKind {
    /// The kind of a system error.
    pub fn of(error: &io::Error) -> Self {
        // Told by number where the library knows no kind.
        const EMFILE: i32 = rustix::io::Errno::MFILE.raw_os_error();
        match error.kind() {
            _ if error.raw_os_error() == Some(EMFILE) => FailureKind::TooManyFiles,
            io::ErrorKind::ConnectionRefused => FailureKind::Refused,
            io::ErrorKind::ConnectionReset
            | io::ErrorKind::ConnectionAborted
            | io::ErrorKind::BrokenPipe => FailureKind::Reset,
            io::ErrorKind::TimedOut => FailureKind::TimedOut,
            io::ErrorKind::HostUnreachable => FailureKind::Unreachable,
            io::ErrorKind::NetworkUnreachable | io::ErrorKind::NetworkDown => {
                FailureKind::NetworkUnreachable
            }
            io::ErrorKind::AddrNotAvailable => FailureKind::PortsExhausted,
            io::ErrorKind::UnexpectedEof => FailureKind::ClosedEarly,
            _ => FailureKind::Other,
        }
    }

    /// Name in records: words joined by `-`.
    pub fn name(self) -> &'static str {
        match self {
            FailureKind::UnknownHost => "unknown-host",
            FailureKind::Refused => "refused",
            FailureKind::Reset => "reset",
            FailureKind::TimedOut => "timed-out",
            FailureKind::Unreachable => "unreachable",
            FailureKind::NetworkUnreachable => "network-unreachable",
            FailureKind::ClosedEarly => "closed-early",
            FailureKind::CutChunk { .. } => "cut-chunk",
            FailureKind::Malformed(what) => what.name(),
            FailureKind::NoHttp2 => "no-http2",
            FailureKind::Http2(breach) => breach.name(),
            FailureKind::StreamReset(code) => code.reset_name(),
            FailureKind::GoneAway(code) => code.goaway_name(),
            FailureKind::Unprocessed => "unprocessed",
            FailureKind::CertificateExpired => "certificate-expired",
            FailureKind::CertificateNotYetValid => "certificate-not-yet-valid",
            FailureKind::CertificateUntrusted => "certificate-untrusted",
            FailureKind::CertificateWrongName => "certificate-wrong-name",
            FailureKind::CertificateInvalid => "certificate-invalid",
            FailureKind::NotTls => "not-tls",
            FailureKind::TlsAlert(_) => "tls-alert",
            FailureKind::Tls => "tls-error",
            FailureKind::PortsExhausted => "ports-exhausted",
            FailureKind::TooManyFiles => "too-many-files",
            FailureKind::ProxyRefused => "proxy-refused",
            FailureKind::Stopped => "stopped",
            FailureKind::Other => "other",
        }
    }
}

/// Violation of the rules of HTTP/1 (RFC 9112), or of our bounds, by a response.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, thiserror::Error)]
pub enum Malformed {
    /// The first line is none of HTTP/1.
    #[error("the response does not begin with a status line of HTTP/1")]
    StatusLine,
    /// A header line without a name.
    #[error("a header line has no name")]
    Header,
    /// The content length is not a number, or there are two that differ.
    #[error("the content length is not a valid number, or there are two")]
    Length,
    /// A chunk that does not begin with its size.
    #[error("a chunk does not begin with its size")]
    Chunk,
    /// A chunk that is longer than its size.
    #[error("a chunk does not end where its size says")]
    ChunkEnd,
    /// The head is longer than the bound.
    #[error("the head of the response is longer than the bound")]
    HeadTooLong,
    /// The trailer after the last chunk is longer than the bound.
    #[error("the trailer of the response is longer than the bound")]
    TrailerTooLong,
    /// More informational responses than the bound.
    #[error("too many informational responses")]
    Informational,
    /// The status 101, without a request for another protocol (RFC 9110 §7.8).
    #[error("the server changes to another protocol, which was not asked for")]
    UnaskedSwitch,
}

impl Malformed {
    /// Name in records.
    pub fn name(self) -> &'static str {
        match self {
            Malformed::StatusLine => "bad-status-line",
            Malformed::Header => "bad-header",
            Malformed::Length => "bad-length",
            Malformed::Chunk => "bad-chunk",
            Malformed::ChunkEnd => "bad-chunk-end",
            Malformed::HeadTooLong => "head-too-long",
            Malformed::TrailerTooLong => "trailer-too-long",
            Malformed::Informational => "too-many-informational",
            Malformed::UnaskedSwitch => "unasked-switch",
        }
    }
}

/// Error codes with which the peer of an HTTP/2 connection gives up (RFC 9113 §7).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Code(pub u32);

/// Names of the codes from 0 on, behind a word.
macro_rules! code_names {
    ($before:literal) => {
        [
            concat!($before, "no-error"),
            concat!($before, "protocol-error"),
            concat!($before, "internal-error"),
            concat!($before, "flow-control-error"),
            concat!($before, "settings-timeout"),
            concat!($before, "stream-closed"),
            concat!($before, "frame-size-error"),
            concat!($before, "refused-stream"),
            concat!($before, "cancel"),
            concat!($before, "compression-error"),
            concat!($before, "connect-error"),
            concat!($before, "enhance-your-calm"),
            concat!($before, "inadequate-security"),
            concat!($before, "http-1-1-required"),
            concat!($before, "unknown-code"),
        ]
    };
}

impl Code {
    /// Nothing went wrong.
    pub const NO_ERROR: Code = Code(0);
    /// The other end broke the protocol.
    pub const PROTOCOL_ERROR: Code = Code(1);
    /// A window was overrun.
    pub const FLOW_CONTROL_ERROR: Code = Code(3);
    /// A frame has a size that it cannot have.
    pub const FRAME_SIZE_ERROR: Code = Code(6);
    /// The request was not begun.
    pub const REFUSED_STREAM: Code = Code(7);
    /// The request is no longer wanted.
    pub const CANCEL: Code = Code(8);
    /// A header block cannot be read.
    pub const COMPRESSION_ERROR: Code = Code(9);
    /// The other end causes too much work.
    pub const ENHANCE_YOUR_CALM: Code = Code(11);

    fn reset_name(self) -> &'static str {
        const NAMES: [&str; 15] = code_names!("stream-reset-");
        NAMES[(self.0 as usize).min(NAMES.len() - 1)]
    }

    fn goaway_name(self) -> &'static str {
        const NAMES: [&str; 15] = code_names!("goaway-");
        NAMES[(self.0 as usize).min(NAMES.len() - 1)]
    }
}

/// Ways in which the peer breaks the rules of HTTP/2 (RFC 9113), or our bounds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, thiserror::Error)]
pub enum Breach {
    /// It does not begin with its settings.
    #[error("the connection does not begin with settings")]
    Greeting,
    /// A frame is too long or too short for what it is.
    #[error("a frame has a size that it cannot have")]
    FrameSize,
    /// A frame of this kind, on this stream, cannot come now.
    #[error("a frame cannot stand where it stands")]
    FrameOrder,
    /// There is more padding than payload.
    #[error("a frame has more padding than payload")]
    Padding,
    /// A setting has a value that it cannot have.
    #[error("a setting has a value that it cannot have")]
    Setting,
    /// A window was overrun, or grew beyond its largest size.
    #[error("a window was overrun or grew too large")]
    Window,
    /// A header block cannot be read.
    #[error("a header block cannot be read")]
    Compression,
    /// The head has no status, or fields that cannot stand in it.
    #[error("the head of a response is malformed")]
    Head,
    /// The length of the body differs from the one in the head.
    #[error("the body is not as long as the head says")]
    Length,
    /// The head is longer than the bound.
    #[error("the head of the response is longer than the bound")]
    HeadTooLong,
    /// More informational responses than the bound.
    #[error("too many informational responses")]
    Informational,
    /// More frames without any progress than a working server sends.
    #[error("too many frames that carry nothing")]
    Flood,
}

impl Breach {
    /// Name in records.
    pub fn name(self) -> &'static str {
        match self {
            Breach::Greeting => "http2-bad-greeting",
            Breach::FrameSize => "http2-bad-frame-size",
            Breach::FrameOrder => "http2-bad-frame-order",
            Breach::Padding => "http2-bad-padding",
            Breach::Setting => "http2-bad-setting",
            Breach::Window => "http2-window-overrun",
            Breach::Compression => "http2-bad-compression",
            Breach::Head => "http2-bad-head",
            Breach::Length => "http2-bad-length",
            Breach::HeadTooLong => "http2-head-too-long",
            Breach::Informational => "http2-too-many-informational",
            Breach::Flood => "http2-flood",
        }
    }

    /// The error code sent to the server.
    pub fn code(self) -> Code {
        match self {
            Breach::FrameSize => Code::FRAME_SIZE_ERROR,
            Breach::Window => Code::FLOW_CONTROL_ERROR,
            Breach::Compression => Code::COMPRESSION_ERROR,
            Breach::HeadTooLong | Breach::Informational | Breach::Flood => Code::ENHANCE_YOUR_CALM,
            _ => Code::PROTOCOL_ERROR,
        }
    }
}
