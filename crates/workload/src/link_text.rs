//! Messages to the operator about a connection that was not made.
//!
//! [`sokudo_net`] stands below messages and says its errors in English; here each of its variants
//! that an operator can meet becomes a message of its own. Words of the system stay as they are.

use sokudo_model::Text;
use sokudo_net::stream::StreamError;
use sokudo_net::tcp::TcpError;
use sokudo_net::tls::TlsError;

use crate::link::CallError;

impl CallError {
    /// The error as a message.
    pub fn text(&self) -> Text {
        match self {
            CallError::Stream(StreamError::Tcp(error)) => tcp_text(error),
            CallError::Stream(StreamError::Secure { kind, peer, why }) => {
                Text::new("error-call-secure")
                    .word("kind", kind.name())
                    .word("peer", peer)
                    .text("why", why.text())
            }
            CallError::Stream(StreamError::Unavailable { kind, why }) => {
                Text::new("error-call-unavailable")
                    .word("kind", kind.name())
                    .word("why", why)
            }
            CallError::Stream(StreamError::WrongEndpoint { kind, endpoint }) => {
                Text::new("error-call-endpoint")
                    .word("kind", kind.name())
                    .word("endpoint", endpoint)
            }
            CallError::Stream(StreamError::NoIdentity { kind }) => {
                Text::new("error-call-identity").word("kind", kind.name())
            }
            CallError::Stream(StreamError::Local { what, why }) => {
                Text::words(format!("{what}: {why}"))
            }
            CallError::Udp(endpoint, why) => Text::new("error-call-udp")
                .with("endpoint", endpoint)
                .with("why", why),
        }
    }

    /// Remedy for the operator, as a message.
    pub fn hint(&self) -> Option<Text> {
        let known = match self {
            CallError::Stream(StreamError::Tcp(error)) => tcp_hint(error),
            CallError::Stream(StreamError::Secure { why, .. }) => tls_hint(why),
            CallError::Stream(StreamError::WrongEndpoint { kind, .. }) => {
                Some(match kind.same_host() {
                    true => "error-call-endpoint-path-hint",
                    false => "error-call-endpoint-hint",
                })
            }
            CallError::Stream(_) | CallError::Udp(..) => None,
        };
        let below = || match self {
            CallError::Stream(error) => error.hint().map(Text::from),
            CallError::Udp(..) => None,
        };
        known.map(Text::new).or_else(below)
    }
}

fn tcp_text(error: &TcpError) -> Text {
    match error {
        TcpError::Refused { peer } => Text::new("error-call-refused").with("peer", peer),
        TcpError::TimedOut { peer, bound } => Text::new("error-call-timeout")
            .with("peer", peer)
            .with("bound", format_args!("{} ms", bound.as_millis())),
        TcpError::Unreachable { peer, why } => Text::new("error-call-unreachable")
            .with("peer", peer)
            .with("why", why),
        TcpError::PortsExhausted { peer } => Text::new("error-call-ports").with("peer", peer),
        TcpError::AddressInUse { local } => Text::new("error-call-in-use").with("local", local),
        TcpError::NotLocal { local } => Text::new("error-call-not-local").with("local", local),
        TcpError::TooManyOpen { why } => Text::new("error-call-open-files").with("why", why),
        TcpError::NoMultipath { why } => Text::new("error-call-mptcp").with("why", why),
        TcpError::Option { option, value, why } => Text::new("error-call-option")
            .word("option", *option)
            .word("value", value)
            .with("why", why),
        TcpError::Io { what, why } => Text::words(format!("{what}: {why}")),
    }
}

fn tcp_hint(error: &TcpError) -> Option<&'static str> {
    Some(match error {
        TcpError::Refused { .. } => "error-call-refused-hint",
        TcpError::TimedOut { .. } => "error-call-timeout-hint",
        TcpError::Unreachable { .. } => "error-call-unreachable-hint",
        TcpError::PortsExhausted { .. } => "error-call-ports-hint",
        TcpError::AddressInUse { .. } => "error-call-in-use-hint",
        TcpError::NotLocal { .. } => "error-call-not-local-hint",
        TcpError::TooManyOpen { .. } => "error-call-open-files-hint",
        TcpError::NoMultipath { .. } => "error-call-mptcp-hint",
        TcpError::Option { .. } | TcpError::Io { .. } => return None,
    })
}

fn tls_hint(error: &TlsError) -> Option<&'static str> {
    match error {
        TlsError::NotPinned { .. } => Some("error-tls-not-pinned-hint"),
        TlsError::NotTls | TlsError::NotSokudo => Some("error-tls-foreign-hint"),
        TlsError::TimedOut => Some("error-tls-timeout-hint"),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use std::io;
    use std::time::Duration;

    use sokudo_i18n::{I18n, Lang, english};
    use sokudo_net::stream::StreamKind;

    use super::*;

    fn every_error() -> Vec<StreamError> {
        let at = "192.0.2.1:5000".parse().expect("an address");
        let why = || io::Error::other("EWHY");
        let tcp = [
            TcpError::Refused { peer: at },
            TcpError::TimedOut {
                peer: at,
                bound: Duration::from_secs(5),
            },
            TcpError::Unreachable {
                peer: at,
                why: why(),
            },
            TcpError::PortsExhausted { peer: at },
            TcpError::AddressInUse { local: at },
            TcpError::NotLocal { local: at },
            TcpError::TooManyOpen { why: why() },
            TcpError::NoMultipath { why: why() },
            TcpError::Option {
                option: "TCP_MAXSEG",
                value: "9".into(),
                why: why(),
            },
        ]
        .map(StreamError::Tcp);
        let tls = [
            TlsError::Closed,
            TlsError::TimedOut,
            TlsError::NotTls,
            TlsError::NotSokudo,
            TlsError::NotPinned { name: None },
            TlsError::Alert("EWHY".into()),
            TlsError::Protocol("EWHY".into()),
            TlsError::Identity("EWHY".into()),
        ]
        .map(|why| StreamError::Secure {
            kind: StreamKind::Quic,
            peer: "192.0.2.1:5000".into(),
            why,
        });
        let others = [
            StreamError::Unavailable {
                kind: StreamKind::Shm,
                why: "EWHY".into(),
            },
            StreamError::WrongEndpoint {
                kind: StreamKind::Tcp,
                endpoint: "/run/x".into(),
            },
            StreamError::NoIdentity {
                kind: StreamKind::Tls,
            },
        ];
        tcp.into_iter().chain(tls).chain(others).collect()
    }

    #[test]
    fn errors_are_said_in_both_languages_and_in_english_as_below() {
        let japanese = I18n::new(Lang::Ja);
        for error in every_error() {
            let (below, below_hint) = (error.to_string(), error.hint());
            let error = CallError::Stream(error);
            let said = japanese.text(&error.text());
            assert_eq!(english(&error.text()), below);
            assert!(!said.is_ascii(), "{below}: {said}");
            assert_eq!(
                error.hint().as_ref().map(english).as_deref(),
                below_hint,
                "{below}"
            );
            let hint = error.hint().map(|hint| japanese.text(&hint));
            assert!(hint.is_none_or(|hint| !hint.is_ascii()), "{below}");
        }
    }
}
