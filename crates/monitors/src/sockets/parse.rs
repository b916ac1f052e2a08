//! Parsers of `net/sockstat`, `net/sockstat6` and `ip_local_port_range`.

/// The line about TCP over IPv4 of `net/sockstat`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Tcp {
    /// Sockets with a port, listening ones included.
    pub(super) in_use: u64,
    /// Connections over both address families that wait out their end.
    pub(super) time_wait: Option<u64>,
}

/// Reads `TCP: inuse 3 orphan 0 tw 0 alloc 4 mem 105`; `None` without the number of sockets.
pub(super) fn tcp(text: &str) -> Option<Tcp> {
    Some(Tcp {
        in_use: field(text, "TCP:", "inuse")?,
        time_wait: field(text, "TCP:", "tw"),
    })
}

/// Reads `TCP6: inuse 2`.
pub(super) fn tcp6(text: &str) -> Option<u64> {
    field(text, "TCP6:", "inuse")
}

/// Size of the range `32768 60999` (a tab between), both ends included; `None` if it is not a range.
pub(super) fn ports(text: &str) -> Option<u32> {
    let mut ends = text.split_ascii_whitespace().map(str::parse::<u16>);
    let (first, last) = (ends.next()?.ok()?, ends.next()?.ok()?);
    let between = u32::from(last.checked_sub(first)?);
    Some(between + 1)
}

/// The number behind a name on the line of one protocol.
fn field(text: &str, protocol: &str, name: &str) -> Option<u64> {
    let line = text.lines().find_map(|line| line.strip_prefix(protocol))?;
    let mut words = line.split_ascii_whitespace();
    words.find(|word| *word == name)?;
    words.next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const SOCKSTAT: &str = "sockets: used 28\nTCP: inuse 3 orphan 0 tw 17 alloc 4 mem 105\n\
                            UDP: inuse 0 mem 26\nUDPLITE: inuse 0\nFRAG: inuse 0 memory 0\n";

    #[test]
    fn connections_of_linux_6_18() {
        let read = tcp(SOCKSTAT);
        let expected = Tcp {
            in_use: 3,
            time_wait: Some(17),
        };
        assert_eq!(read, Some(expected));
        assert_eq!(tcp6("TCP6: inuse 2\nUDP6: inuse 0\n"), Some(2));
        assert_eq!(tcp("UDP: inuse 1\n"), None);
    }

    #[test]
    fn both_ends_of_the_range_are_ports() {
        assert_eq!(ports("32768\t60999\n"), Some(28_232));
        assert_eq!(ports("40000 40000"), Some(1));
        for wrong in ["", "5", "9 3", "a b", "0 70000"] {
            assert_eq!(ports(wrong), None, "{wrong}");
        }
    }

    proptest! {
        #[test]
        fn garbage_never_panics(text in "((TCP6?|sockets|[a-z]{0,4}):? {0,2}(inuse|tw)? {0,2}[0-9]{0,22}\n?){0,20}") {
            let _ = (tcp(&text), tcp6(&text), ports(&text));
        }
    }
}
