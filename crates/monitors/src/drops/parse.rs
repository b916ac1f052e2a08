//! Lines of a trace of `skb:kfree_skb`.

/// Meaning of a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Seen<'a> {
    /// One packet was dropped.
    Drop {
        /// The kernel's name of the reason.
        reason: &'a str,
        /// Function that dropped it.
        function: &'a str,
    },
    /// So many events found no room in the buffer.
    Lost(u64),
}

/// Reads a line; `None` for any other.
pub(super) fn line(line: &str) -> Option<Seen<'_>> {
    // CPU:1 [LOST 123 EVENTS]
    if let Some((_, lost)) = line.split_once("[LOST ") {
        let count = lost.split(' ').next()?;
        return count.parse().ok().map(Seen::Lost);
    }
    let (_, event) = line.split_once(" kfree_skb: ")?;
    let (_, location) = event.split_once("location=")?;
    let (location, reason) = location.split_once(" reason: ")?;
    let function = location.split(['+', ' ']).next()?;
    let reason = reason.split_whitespace().next()?;
    (!function.is_empty()).then_some(Seen::Drop { reason, function })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_several_kernels_are_read() {
        for (text, expected) in [
            (
                "            bash-15140   [000] ..s1. 15918.575336: kfree_skb: skbaddr=00000000c16c09a9 \
                 rx_sk=0000000000000000 protocol=2048 location=__udp4_lib_rcv+0x4bc/0xd00 reason: NO_SOCKET",
                Some(("NO_SOCKET", "__udp4_lib_rcv")),
            ),
            (
                "  <idle>-0 [001] ..s. 1.2: kfree_skb: skbaddr=x protocol=34525 location=nf_hook_slow+0xb2/0xf0 \
                 [nf_x] reason: NETFILTER_DROP \n",
                Some(("NETFILTER_DROP", "nf_hook_slow")),
            ),
            // Before 5.17 there was no reason, and other events are not asked for.
            (
                "a-1 [0] . 1: kfree_skb: skbaddr=x protocol=8 location=ffffffff9a",
                None,
            ),
            ("a-1 [0] . 1: consume_skb: skbaddr=x", None),
            ("kfree_skb: location= reason: ", None),
            ("", None),
        ] {
            let seen = expected.map(|(reason, function)| Seen::Drop { reason, function });
            assert_eq!(line(text), seen, "{text}");
        }
        assert_eq!(line("CPU:1 [LOST 123 EVENTS]"), Some(Seen::Lost(123)));
        assert_eq!(line("CPU:1 [LOST many EVENTS]"), None);
    }
}
