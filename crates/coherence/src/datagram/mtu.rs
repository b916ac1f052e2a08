//! The default packet size, from the MTU.
//!
//! The vendor takes the MTU of the interface that owns the local address. Linux tells it in files;
//! elsewhere, and when no interface owns the address, nothing is known.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// MTU of the interface that owns `address`, bytes; `None` when the system does not say.
pub fn of_interface(address: IpAddr) -> Option<u32> {
    let read = |path: &str| std::fs::read_to_string(path).ok();
    let name = match address {
        ip if ip.is_loopback() => "lo".to_owned(),
        IpAddr::V4(ip) => interface_v4(&read("/proc/net/route")?, ip)?,
        IpAddr::V6(ip) => interface_v6(&read("/proc/net/if_inet6")?, ip)?,
    };
    // A name with a separator would lead elsewhere.
    if name.contains('/') {
        return None;
    }
    read(&format!("/sys/class/net/{name}/mtu"))?
        .trim()
        .parse()
        .ok()
}

/// The interface whose directly connected network holds the address: destination, gateway and mask
/// are hexadecimal words in the byte order of the host.
fn interface_v4(routes: &str, address: Ipv4Addr) -> Option<String> {
    let bits = u32::from_ne_bytes(address.octets());
    let connected = |line: &str| {
        let fields: Vec<&str> = line.split_ascii_whitespace().collect();
        let word = |index: usize| u32::from_str_radix(fields.get(index)?, 16).ok();
        let (to, gateway, mask) = (word(1)?, word(2)?, word(7)?);
        (gateway == 0 && mask != 0 && bits & mask == to)
            .then(|| (mask.count_ones(), fields[0].to_owned()))
    };
    let found = routes.lines().skip(1).filter_map(connected).max();
    found.map(|(_, name)| name)
}

/// The interface that has the address: 32 hexadecimal digits first, the name last.
fn interface_v6(addresses: &str, address: Ipv6Addr) -> Option<String> {
    let wanted = format!("{:032x}", u128::from(address));
    let line = addresses.lines().find(|line| line.starts_with(&wanted))?;
    Some(line.split_ascii_whitespace().last()?.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[cfg(target_endian = "little")]
    fn the_interface_of_a_connected_network_is_found() {
        let routes = "\
Iface\tDestination\tGateway \tFlags\tRefCnt\tUse\tMetric\tMask\t\tMTU\tWindow\tIRTT
eth0\t00000000\t0102000A\t0003\t0\t0\t0\t00000000\t0\t0\t0
eth0\t0002000A\t00000000\t0001\t0\t0\t0\t00FFFFFF\t0\t0\t0
wide\t0000000A\t00000000\t0001\t0\t0\t0\t000000FF\t0\t0\t0
broken line
";
        let of = |a, b, c, d| interface_v4(routes, Ipv4Addr::new(a, b, c, d));
        assert_eq!(of(10, 0, 2, 15).as_deref(), Some("eth0"));
        assert_eq!(of(10, 9, 2, 15).as_deref(), Some("wide"));
        assert_eq!(of(192, 0, 2, 1), None);
    }

    #[test]
    fn the_interface_of_an_ipv6_address_is_found() {
        let addresses = "\
00000000000000000000000000000001 01 80 10 80       lo
fd000000000000000000000000000002 02 40 00 80     eth1
";
        let of = |text: &str| interface_v6(addresses, text.parse().unwrap());
        assert_eq!(of("fd00::2").as_deref(), Some("eth1"));
        assert_eq!(of("fd00::3"), None);
    }
}
