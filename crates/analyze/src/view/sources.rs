//! Where each metric comes from, in the words of the system that offers it.

/// Where sokudo reads a metric, in the words of the systems that offer it.
pub fn source_of(metric: &str) -> &'static str {
    const SOURCES: &[(&str, &str)] = &[
        (
            "datagram.lost_at_receiver_socket",
            "SO_MEMINFO, SO_RXQ_OVFL",
        ),
        (
            "datagram.lost_at_receiver_host",
            "/proc/net/snmp, /proc/net/softnet_stat",
        ),
        ("datagram.lost_at_sender", "sendmsg"),
        ("datagram.refused", "sendmsg"),
        ("datagram.unreachable", "errors on the sending socket"),
        ("datagram.path_mtu", "IP_MTU"),
        ("datagram.", "sequence numbers and time stamps"),
        ("host.cpu", "/proc/stat"),
        ("host.pressure", "/proc/pressure"),
        ("host.nic", "/proc/net/dev"),
        ("host.udp", "/proc/net/snmp"),
        ("host.ip", "/proc/net/snmp"),
        ("host.tcp_listen", "/proc/net/netstat"),
        ("host.tcp_syn", "/proc/net/netstat"),
        ("host.tcp", "/proc/net/snmp"),
        ("host.softnet", "/proc/net/softnet_stat"),
        ("self.cpu", "CPU time of the thread"),
        ("self.wait", "schedstat"),
        ("selftest.", "self-test over loopback"),
        ("tcp.", "TCP_INFO"),
    ];
    /// What the workloads have in common, by the words after their name.
    const OF_WORKLOADS: &[(&str, &str)] = &[
        ("receive_buffer", "getsockopt SO_RCVBUF"),
        ("send_buffer", "getsockopt SO_SNDBUF"),
        ("sender_cpu", "CPU time of the thread"),
        ("receiver_cpu", "CPU time of the thread"),
        ("client_cpu", "CPU time of the thread"),
        ("server_cpu", "CPU time of the thread"),
        ("sender_wait", "schedstat"),
        ("receiver_wait", "schedstat"),
        ("client_wait", "schedstat"),
        ("server_wait", "schedstat"),
    ];
    let (source, what) = metric.split_once('.').unwrap_or_default();
    let begins = |known: &&(&str, &str)| what.starts_with(known.0);
    let shared = OF_WORKLOADS.iter().find(begins);
    let own = SOURCES
        .iter()
        .find(|(prefix, _)| metric.starts_with(prefix));
    match (shared.or(own), source) {
        (Some((_, source)), _) => source,
        (None, "http") => "time stamps and counts of the generator",
        (None, "stream" | "bus" | "rr" | "crr" | "probe") => "time stamps and counts of both ends",
        (None, _) => "",
    }
}
