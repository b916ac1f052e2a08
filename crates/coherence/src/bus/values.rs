//! Addresses, sizes, rates and times as the vendor writes them.
//!
//! Sizes are binary (`4KB` is 4096 bytes), rates decimal. A bare rate is *megabytes* per second
//! although the manual says Mbps: so the vendor's program takes it, and so it is taken here.

use std::fmt;
use std::net::{Ipv6Addr, SocketAddr};

use sokudo_model::{Refusal, Text};
use sokudo_workload::place::resolve;
use sokudo_workload::refusal::operator;

/// Scheme of the addresses.
const SCHEME: &str = "tmb://";

/// Addresses that one list may name.
pub const MAX_ADDRESSES: usize = 1024;

/// Address of a bus.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct BusAddress {
    /// Name or address, without brackets.
    pub host: String,
    /// TCP port; 0 lets the system choose.
    pub port: u16,
    /// The service behind a shared port, where there is one: `tmb://host:port.sub`.
    pub sub_port: Option<u32>,
}

impl fmt::Display for BusAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { host, port, .. } = self;
        match host.contains(':') {
            true => write!(f, "{SCHEME}[{host}]:{port}")?,
            false => write!(f, "{SCHEME}{host}:{port}")?,
        }
        match self.sub_port {
            Some(sub_port) => write!(f, ".{sub_port}"),
            None => Ok(()),
        }
    }
}

impl BusAddress {
    /// The address of a socket.
    pub fn of(address: SocketAddr) -> Self {
        Self {
            host: address.ip().to_canonical().to_string(),
            port: address.port(),
            sub_port: None,
        }
    }

    /// The first address that the system finds for it.
    pub fn resolve(&self) -> Result<SocketAddr, Refusal> {
        resolve(&self.host, self.port)
    }
}

/// Reads a list such as `tmb://a:8000,tmb://b:8000..8003`, separated by commas or blanks.
pub fn addresses(option: &str, text: &str) -> Result<Vec<BusAddress>, Refusal> {
    let mut all = Vec::new();
    let items = text.split(|c: char| c == ',' || c.is_whitespace());
    for item in items.filter(|item| !item.is_empty()) {
        all.extend(range(option, item)?);
        if all.len() > MAX_ADDRESSES {
            return Err(operator(
                Text::new("error-coherence-addresses")
                    .with("option", option)
                    .with("most", MAX_ADDRESSES),
                Text::new("error-coherence-addresses-hint"),
            ));
        }
    }
    Ok(all)
}

/// `tmb://host:port`, `tmb://host:first..last` or `tmb://host:port.sub`.
fn range(option: &str, item: &str) -> Result<Vec<BusAddress>, Refusal> {
    let wrong = || {
        operator(
            Text::new("error-coherence-address")
                .with("option", option)
                .with("value", item),
            Text::new("error-coherence-address-hint-bus"),
        )
    };
    let rest = item.strip_prefix(SCHEME).ok_or_else(|| other_bus(item))?;
    let (host, ports) = split_host(rest).ok_or_else(wrong)?;
    let one = |text: &str| text.parse::<u16>().map_err(|_| wrong());
    let at = |port, sub_port| BusAddress {
        host: host.into(),
        port,
        sub_port,
    };
    if let Some((first, last)) = ports.split_once("..") {
        let (first, last) = (one(first)?, one(last)?);
        if first == 0 || first > last || usize::from(last - first) >= MAX_ADDRESSES {
            return Err(wrong());
        }
        return Ok((first..=last).map(|port| at(port, None)).collect());
    }
    let Some((port, sub_port)) = ports.split_once('.') else {
        return Ok(vec![at(one(ports)?, None)]);
    };
    let sub_port = sub_port.parse().map_err(|_| wrong())?;
    Ok(vec![at(one(port)?, Some(sub_port))])
}

fn split_host(text: &str) -> Option<(&str, &str)> {
    let (host, ports) = match text.strip_prefix('[') {
        Some(rest) => {
            let (host, ports) = rest.split_once("]:")?;
            host.parse::<Ipv6Addr>().ok()?;
            (host, ports)
        }
        None => text.split_once(':')?,
    };
    let plain = |c: char| c.is_ascii_graphic() && !"[]/\\@\"".contains(c);
    (!host.is_empty() && host.chars().all(plain)).then_some((host, ports))
}

/// Refusal of another kind of address.
fn other_bus(item: &str) -> Refusal {
    let scheme = item.split_once("://").map_or("", |(scheme, _)| scheme);
    match scheme {
        "tmbs" | "sdmbs" => operator(
            Text::new("error-coherence-tls").with("value", item),
            Text::new("error-coherence-tls-hint-bus"),
        ),
        "sdmb" | "imb" => operator(
            Text::new("error-coherence-infiniband").with("value", item),
            Text::new("error-coherence-infiniband-hint"),
        ),
        _ => operator(
            Text::new("error-coherence-bus-address").with("value", item),
            Text::new("error-coherence-bus-address-hint"),
        ),
    }
}

/// A number and the unit behind it.
fn split_number(text: &str) -> Option<(f64, &str)> {
    let end = text
        .find(|c: char| !c.is_ascii_digit() && c != '.')
        .unwrap_or(text.len());
    let (number, unit) = text.split_at(end);
    Some((number.parse().ok()?, unit))
}

/// Multiplier of a prefix letter, and what follows it.
fn scaled(unit: &str, step: f64) -> (f64, &str) {
    let power = |n: i32| (step.powi(n), &unit[1..]);
    match unit.bytes().next().map(|b| b.to_ascii_lowercase()) {
        Some(b'k') => power(1),
        Some(b'm') => power(2),
        Some(b'g') => power(3),
        Some(b't') => power(4),
        _ => (1.0, unit),
    }
}

fn whole(value: f64) -> Option<u64> {
    (value.is_finite() && (0.0..=9e18).contains(&value)).then_some(value as u64)
}

/// A size: `4096`, `4KB`, `1m`. Bytes.
pub fn size(option: &str, text: &str) -> Result<u64, Refusal> {
    let read = || {
        let (number, unit) = split_number(text)?;
        let (factor, rest) = scaled(unit, 1024.0);
        match rest {
            "" | "B" | "b" => whole(number * factor),
            _ => None,
        }
    };
    read().ok_or_else(|| {
        operator(
            Text::new("error-coherence-size")
                .with("option", option)
                .with("value", text),
            Text::new("error-coherence-size-hint"),
        )
    })
}

/// A rate: `10` (megabytes per second), `100mb` (megabits), `1gb`, `5MB`. Bytes per second.
pub fn rate(option: &str, text: &str) -> Result<f64, Refusal> {
    const MOST_BYTES_PER_S: f64 = 1e12;
    let read = || {
        let (number, unit) = split_number(text)?;
        let unit = unit.strip_suffix("/s").or(unit.strip_suffix("ps"));
        let unit = unit.unwrap_or_else(|| split_number(text).map_or("", |(_, unit)| unit));
        let (factor, rest) = scaled(unit, 1000.0);
        let bytes_per_s = match rest {
            "" if unit.is_empty() => number * 1e6,
            "" | "B" => number * factor,
            "b" => number * factor / 8.0,
            _ => return None,
        };
        (1.0..=MOST_BYTES_PER_S)
            .contains(&bytes_per_s)
            .then_some(bytes_per_s)
    };
    read().ok_or_else(|| {
        operator(
            Text::new("error-coherence-rate")
                .with("option", option)
                .with("value", text),
            Text::new("error-coherence-rate-hint"),
        )
    })
}

/// A time: `5s`, `500ms`, `50us`, `2m`; a bare number is seconds. Nanoseconds.
pub fn time(option: &str, text: &str) -> Result<u64, Refusal> {
    /// A day: longer than any useful time between reports.
    const MOST_NS: f64 = 86_400e9;
    let read = || {
        let (number, unit) = split_number(text)?;
        let factor = match unit.to_ascii_lowercase().as_str() {
            "ns" => 1.0,
            "us" => 1e3,
            "ms" => 1e6,
            "" | "s" => 1e9,
            "m" => 60e9,
            "h" => 3600e9,
            _ => return None,
        };
        whole((number * factor).min(MOST_NS))
    };
    read().ok_or_else(|| {
        operator(
            Text::new("error-coherence-time")
                .with("option", option)
                .with("value", text),
            Text::new("error-coherence-time-hint"),
        )
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use sokudo_i18n::english;

    fn at(host: &str, port: u16) -> BusAddress {
        BusAddress {
            host: host.into(),
            port,
            sub_port: None,
        }
    }

    #[test]
    fn addresses_are_read_as_the_vendor_writes_them() {
        let read = addresses("-peer", "tmb://a:8000,tmb://[::1]:5 tmb://b:1..2").unwrap();
        assert_eq!(read, [at("a", 8000), at("::1", 5), at("b", 1), at("b", 2)]);
        assert_eq!(read[1].to_string(), "tmb://[::1]:5");
        let shared = addresses("-peer", "tmb://vm:33077.55303").unwrap();
        assert_eq!(shared[0].sub_port, Some(55303));
        assert_eq!(shared[0].to_string(), "tmb://vm:33077.55303");
        for bad in [
            "h:1",
            "tmb://h",
            "tmb://:1",
            "tmb://h:2..1",
            "tmb://h:x",
            "tmb://[h]:1",
        ] {
            let refusal = addresses("-peer", bad).unwrap_err();
            assert!(
                refusal.operator_error && english(&refusal.says).contains(bad),
                "{bad}"
            );
        }
        let tls = addresses("-peer", "tmbs://h:1").unwrap_err();
        assert!(english(&tls.says).contains("TLS"), "{}", english(&tls.says));
    }

    #[test]
    fn amounts_are_read_as_the_vendor_reads_them() {
        assert_eq!(size("-msgSize", "4KB"), Ok(4096));
        assert_eq!(size("-msgSize", "100"), Ok(100));
        assert_eq!(rate("-txRate", "10"), Ok(10e6));
        assert_eq!(rate("-txRate", "80mb/s"), Ok(10e6));
        assert_eq!(rate("-txRate", "1GB"), Ok(1e9));
        assert_eq!(time("-reportInterval", "5"), Ok(5_000_000_000));
        assert_eq!(time("-block", "50us"), Ok(50_000));
        for bad in ["", "x", "1x", "-1", "1.2.3", "µ"] {
            assert!(size("-msgSize", bad).is_err(), "{bad}");
            assert!(rate("-txRate", bad).is_err(), "{bad}");
            assert!(time("-warmup", bad).is_err(), "{bad}");
        }
    }

    proptest! {
        #[test]
        fn any_text_is_answered(text in "\\PC{0,30}|(tmb://)?[0-9a-z.:\\[\\],]{0,30}") {
            let _ = addresses("-peer", &text);
            let _ = size("-msgSize", &text);
            let _ = rate("-txRate", &text);
            let _ = time("-warmup", &text);
        }

        #[test]
        fn an_address_is_read_as_it_is_written(host in "[a-z][a-z0-9.-]{0,20}", port: u16) {
            let typed = at(&host, port);
            prop_assert_eq!(addresses("-peer", &typed.to_string()), Ok(vec![typed]));
        }
    }
}
