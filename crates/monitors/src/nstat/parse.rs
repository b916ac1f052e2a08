//! Reader of all counters in `net/snmp`, `net/netstat` and `net/snmp6`.

/// Settings and levels that stand among the counters (RFC 4293, RFC 4022).
const NOT_COUNTERS: [&str; 7] = [
    "Forwarding",
    "DefaultTTL",
    "RtoAlgorithm",
    "RtoMin",
    "RtoMax",
    "MaxConn",
    "CurrEstab",
];

/// The counters of `net/snmp` or `net/netstat`, as table, name and value:
/// `Udp: InDatagrams NoPorts …` above `Udp: 47 0 …`. Stops at the first pair of lines that do not belong
/// together.
pub(super) fn tables(text: &str) -> impl Iterator<Item = (&str, &str, u64)> {
    let mut lines = text.lines();
    let pairs = std::iter::from_fn(move || {
        let (table, names) = lines.next()?.split_once(':')?;
        let (same_table, values) = lines.next()?.split_once(':')?;
        (table == same_table).then_some((table, names, values))
    });
    pairs.flat_map(|(table, names, values)| {
        let names = names.split_ascii_whitespace();
        let fields = names.zip(values.split_ascii_whitespace());
        let counters = fields.filter(|(name, _)| !NOT_COUNTERS.contains(name));
        counters.filter_map(move |(name, value)| Some((table, name, value.parse().ok()?)))
    })
}

/// The counters of `net/snmp6`, one `name value` a line; the names begin with their table.
pub(super) fn lines(text: &str) -> impl Iterator<Item = (&str, &str, u64)> {
    text.lines().filter_map(|line| {
        let (name, value) = line.split_once(|c: char| c.is_ascii_whitespace())?;
        Some(("", name, value.trim().parse().ok()?))
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn every_counter_is_read_and_no_setting() {
        let text = "Tcp: RtoMin MaxConn CurrEstab InCsumErrors\nTcp: 200 -1 5 7\n\
                    TcpExt: TCPTimeouts New\nTcpExt: 3 4\n";
        let read: Vec<_> = tables(text).collect();
        let wanted = [
            ("Tcp", "InCsumErrors", 7),
            ("TcpExt", "TCPTimeouts", 3),
            ("TcpExt", "New", 4),
        ];
        assert_eq!(read, wanted);
        let text = "Ip6InReceives                   \t12\nIp6Bad x\n";
        assert_eq!(lines(text).collect::<Vec<_>>(), [("", "Ip6InReceives", 12)]);
    }

    #[test]
    fn lines_that_do_not_belong_together_end_the_reading() {
        assert_eq!(tables("Udp: NoPorts\nTcp: 1\n").count(), 0);
        assert_eq!(tables("Udp: NoPorts\n").count(), 0);
    }

    proptest! {
        #[test]
        fn garbage_never_panics(text in "\\PC{0,80}(\n\\PC{0,80}){0,5}") {
            let _ = (tables(&text).count(), lines(&text).count());
        }
    }
}
