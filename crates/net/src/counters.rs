//! Reads how many packets this host dropped outside the test's own sockets.
//!
//! Counters of the calling thread's network namespace (`/proc/thread-self/net`); `None` on systems
//! other than Linux.

/// Counts of the whole host, since boot.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct HostCounters {
    /// Packets dropped because a core's backlog queue was full: column 2 of `softnet_stat`.
    pub softnet_drops: Option<u64>,
    /// Datagrams dropped at a full socket buffer: `RcvbufErrors` of `Udp` and `Udp6`.
    pub udp_receive_buffer_errors: Option<u64>,
}

impl HostCounters {
    /// Reads the counters now.
    pub fn read() -> Self {
        let net = |name: &str| own_text(&format!("net/{name}"));
        let v4 = net("snmp").and_then(|text| snmp_value(&text, "Udp", "RcvbufErrors"));
        let v6 = net("snmp6").and_then(|text| snmp6_value(&text, "Udp6RcvbufErrors"));
        Self {
            softnet_drops: net("softnet_stat").and_then(|text| softnet_drops(&text)),
            udp_receive_buffer_errors: v4.map(|v4| v4 + v6.unwrap_or(0)),
        }
    }

    /// The increase since `earlier`.
    pub fn since(self, earlier: Self) -> Self {
        let more = |now: Option<u64>, then: Option<u64>| Some(now?.saturating_sub(then?));
        Self {
            softnet_drops: more(self.softnet_drops, earlier.softnet_drops),
            udp_receive_buffer_errors: more(
                self.udp_receive_buffer_errors,
                earlier.udp_receive_buffer_errors,
            ),
        }
    }
}

/// Reads a file of the calling thread's network namespace.
#[cfg(target_os = "linux")]
pub(crate) fn own_text(file: &str) -> Option<String> {
    std::fs::read_to_string(format!("/proc/thread-self/{file}")).ok()
}

/// Nothing: a file of that name on another system would not be the kernel's.
#[cfg(not(target_os = "linux"))]
pub(crate) fn own_text(_file: &str) -> Option<String> {
    None
}

/// Sum of the second column over all cores; hexadecimal.
fn softnet_drops(text: &str) -> Option<u64> {
    text.lines()
        .map(|line| u64::from_str_radix(line.split_ascii_whitespace().nth(1)?, 16).ok())
        .sum()
}

/// A value of `/proc/net/snmp`: a line of names, then a line of numbers with the same prefix.
fn snmp_value(text: &str, protocol: &str, name: &str) -> Option<u64> {
    let mut lines = text.lines().filter_map(|line| line.split_once(": "));
    let (_, names) = lines.find(|(prefix, _)| *prefix == protocol)?;
    let (_, values) = lines.find(|(prefix, _)| *prefix == protocol)?;
    let at = names
        .split_ascii_whitespace()
        .position(|word| word == name)?;
    values.split_ascii_whitespace().nth(at)?.parse().ok()
}

/// A value of `/proc/net/snmp6`: one name and number per line.
fn snmp6_value(text: &str, name: &str) -> Option<u64> {
    text.lines()
        .find_map(|line| line.strip_prefix(name))
        .and_then(|rest| rest.trim().parse().ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_found_by_name() {
        let text = "Icmp: A B\nIcmp: 1 2\nUdp: InDatagrams RcvbufErrors\nUdp: 7 42\n";
        assert_eq!(snmp_value(text, "Udp", "RcvbufErrors"), Some(42));
        assert_eq!(snmp_value(text, "Udp", "Nope"), None);
        assert_eq!(snmp_value("Udp: x", "Udp", "x"), None);
        assert_eq!(
            snmp6_value("Udp6RcvbufErrors   \t9\n", "Udp6RcvbufErrors"),
            Some(9)
        );
    }

    #[test]
    fn cores_are_summed() {
        assert_eq!(
            softnet_drops("0001 00000002 0\n0001 0000000a 0\n"),
            Some(12)
        );
        assert_eq!(softnet_drops("garbage"), None);
    }
}
