//! Reads where samples go, as people type it: `influx=http://hostb:8086/write?db=load`.

use std::fmt;
use std::net::SocketAddr;
use std::str::FromStr;

/// The format, and who begins the conversation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SinkFormat {
    /// The newest values are given to scrapers of this host.
    OpenMetrics,
    /// Prometheus remote write.
    Prometheus,
    /// InfluxDB line protocol.
    Influx,
    /// OpenTelemetry metrics over HTTP.
    Otlp,
}

impl SinkFormat {
    const ALL: [(&'static str, Self); 4] = [
        ("openmetrics", Self::OpenMetrics),
        ("prometheus", Self::Prometheus),
        ("influx", Self::Influx),
        ("otlp", Self::Otlp),
    ];
}

/// Destination.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Target {
    /// Serves on this address.
    Listen(SocketAddr),
    /// Posts to this address and path.
    Http {
        /// Name or address, and port.
        authority: String,
        /// Path and query.
        path: String,
    },
    /// Sends datagrams to this address.
    Udp(String),
}

/// One sink as it was typed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SinkAddress {
    text: String,
    pub(crate) kind: SinkFormat,
    pub(crate) target: Target,
}

/// A text that names no sink.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` names no place for samples")]
pub struct BadSinkAddress(
    /// The text.
    pub String,
);

impl fmt::Display for SinkAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl FromStr for SinkAddress {
    type Err = BadSinkAddress;

    fn from_str(text: &str) -> Result<Self, BadSinkAddress> {
        read(text).ok_or_else(|| BadSinkAddress(text.to_owned()))
    }
}

fn read(text: &str) -> Option<SinkAddress> {
    let (name, rest) = text.split_once('=')?;
    let (_, kind) = SinkFormat::ALL
        .into_iter()
        .find(|(known, _)| *known == name)?;
    let target = match kind {
        SinkFormat::OpenMetrics => Target::Listen(rest.parse().ok()?),
        SinkFormat::Influx if rest.starts_with("udp://") => {
            let place = rest.strip_prefix("udp://")?.trim_end_matches('/');
            Target::Udp(with_port(place, None)?)
        }
        SinkFormat::Prometheus | SinkFormat::Influx | SinkFormat::Otlp => http(rest, kind)?,
    };
    Some(SinkAddress {
        text: text.to_owned(),
        kind,
        target,
    })
}

/// The usual path of each system stands where none was typed.
fn http(url: &str, kind: SinkFormat) -> Option<Target> {
    let rest = url.strip_prefix("http://")?;
    let (authority, path) = match rest.find(['/', '?']) {
        Some(at) => rest.split_at(at),
        None => (rest, ""),
    };
    let is_printable = |b: u8| b.is_ascii_graphic();
    let usual = match kind {
        SinkFormat::Prometheus => "/api/v1/write",
        SinkFormat::Influx => "/write?db=sokudo",
        _ => "/v1/metrics",
    };
    let port = match kind {
        SinkFormat::Prometheus => 9090,
        SinkFormat::Influx => 8086,
        _ => 4318,
    };
    let path = if matches!(path, "" | "/") {
        usual
    } else {
        path
    };
    (path.starts_with('/') && path.bytes().all(is_printable)).then_some(())?;
    Some(Target::Http {
        authority: with_port(authority, Some(port))?,
        path: path.to_owned(),
    })
}

/// A name or address with its port.
fn with_port(place: &str, usual: Option<u16>) -> Option<String> {
    let is_known = |c: char| c.is_ascii_alphanumeric() || "-._:[]%".contains(c);
    if place.is_empty() || !place.chars().all(is_known) {
        return None;
    }
    let behind = place.rsplit(']').next().unwrap_or_default();
    match behind.rsplit_once(':') {
        Some((_, port)) => port.parse::<u16>().ok().map(|_| place.to_owned()),
        None => usual.map(|port| format!("{place}:{port}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn target(text: &str) -> Option<Target> {
        text.parse::<SinkAddress>().ok().map(|place| place.target)
    }

    fn http(authority: &str, path: &str) -> Option<Target> {
        Some(Target::Http {
            authority: authority.into(),
            path: path.into(),
        })
    }

    #[test]
    fn each_kind_has_its_usual_port_and_path() {
        assert_eq!(target("otlp=http://h"), http("h:4318", "/v1/metrics"));
        assert_eq!(
            target("prometheus=http://h/"),
            http("h:9090", "/api/v1/write")
        );
        assert_eq!(
            target("influx=http://[::1]:1/write?db=a"),
            http("[::1]:1", "/write?db=a")
        );
        assert_eq!(
            target("influx=udp://h:8089"),
            Some(Target::Udp("h:8089".into()))
        );
        let here = "127.0.0.1:9464".parse().expect("an address");
        assert_eq!(
            target("openmetrics=127.0.0.1:9464"),
            Some(Target::Listen(here))
        );
    }

    #[test]
    fn what_is_no_sink_is_refused() {
        for wrong in [
            "",
            "influx",
            "influx=",
            "influx=udp://h",
            "influx=https://h/",
            "otlp=ftp://h/",
            "prometheus=udp://h:1",
            "openmetrics=9464",
            "graphite=http://h/",
            "otlp=http://h:99999/",
            "otlp=http://h/a b",
            "otlp=http://h\r\nX: y/",
            "otlp=http://user:pass@h/",
        ] {
            assert_eq!(target(wrong), None, "{wrong}");
        }
    }
}
