//! Metrics of a whole host, from its monitors.

use crate::metric::metrics;

#[rustfmt::skip]
metrics! {
    CPU_RATIO = gauge("host.cpu_ratio", Ratio, "share of each core's time by state; labels core (all, 0, 1, …) and state (user, nice, system, irq, softirq, steal, iowait, idle)");
    CPU_FREQUENCY_HERTZ = gauge("host.cpu_frequency_hertz", Hertz, "current clock of each core; label core");
    CONTEXT_SWITCHES_PER_SECOND = gauge("host.context_switches_per_second", PerSecond, "context switches on the whole host");
    INTERRUPTS_PER_SECOND = gauge("host.interrupts_per_second", PerSecond, "interrupts on the whole host");
    RUNNABLE_THREADS = gauge("host.runnable_threads", One, "threads running or waiting for a CPU");
    LOAD_1MIN = gauge("host.load_1min", One, "load average over one minute");
    MEMORY_AVAILABLE_BYTES = gauge("host.memory_available_bytes", Bytes, "memory that can be used without swapping (MemAvailable)");
    MEMORY_TOTAL_BYTES = gauge("host.memory_total_bytes", Bytes, "memory of the host");
    SWAP_USED_BYTES = gauge("host.swap_used_bytes", Bytes, "swap in use");
    PRESSURE_RATIO = gauge("host.pressure_ratio", Ratio, "share of time that some or all tasks stalled; labels resource (cpu, memory, io) and kind (some, full)");
    NIC_RECEIVE_BYTES_PER_SECOND = gauge("host.nic_receive_bytes_per_second", BytesPerSecond, "bytes received; label device");
    NIC_SEND_BYTES_PER_SECOND = gauge("host.nic_send_bytes_per_second", BytesPerSecond, "bytes sent; label device");
    NIC_RECEIVE_PACKETS_PER_SECOND = gauge("host.nic_receive_packets_per_second", PacketsPerSecond, "packets received; label device");
    NIC_SEND_PACKETS_PER_SECOND = gauge("host.nic_send_packets_per_second", PacketsPerSecond, "packets sent; label device");
    NIC_RECEIVE_DROPS = counter("host.nic_receive_drops", One, "packets dropped on receive since the run's start; label device");
    NIC_SEND_DROPS = counter("host.nic_send_drops", One, "packets dropped on send since the run's start; label device");
    NIC_ERRORS = counter("host.nic_errors", One, "receive and send errors since the run's start; label device");
    NIC_UP = gauge("host.nic_up", One, "1 while an interface is switched on and its link is there, else 0; label device");
    UDP_RECEIVE_BUFFER_ERRORS = counter("host.udp_receive_buffer_errors", One, "UDP RcvbufErrors since the run's start: datagrams that found a full socket");
    UDP_SEND_BUFFER_ERRORS = counter("host.udp_send_buffer_errors", One, "UDP SndbufErrors since the run's start");
    UDP_NO_PORT = counter("host.udp_no_port", One, "UDP NoPorts since the run's start: datagrams for a port on which no socket is open");
    UDP_CHECKSUM_ERRORS = counter("host.udp_checksum_errors", One, "UDP InCsumErrors since the run's start");
    UDP_IN_PER_SECOND = gauge("host.udp_in_per_second", PacketsPerSecond, "datagrams delivered to sockets");
    UDP_OUT_PER_SECOND = gauge("host.udp_out_per_second", PacketsPerSecond, "datagrams sent by sockets");
    IP_REASSEMBLY_FAILURES = counter("host.ip_reassembly_failures", One, "IP fragments that could not be put together since the run's start");
    TCP_SEGMENTS_IN_PER_SECOND = gauge("host.tcp_segments_in_per_second", PerSecond, "TCP segments received");
    TCP_SEGMENTS_OUT_PER_SECOND = gauge("host.tcp_segments_out_per_second", PerSecond, "TCP segments sent");
    TCP_RETRANSMITS = counter("host.tcp_retransmits", One, "TCP segments retransmitted since the run's start");
    TCP_LISTEN_OVERFLOWS = counter("host.tcp_listen_overflows", One, "connections dropped because an accept queue was full, since the run's start");
    TCP_LISTEN_DROPS = counter("host.tcp_listen_drops", One, "connections dropped before they were accepted, for any reason, since the run's start");
    LISTEN_QUEUE_DEPTH = gauge("host.listen_queue_depth", One, "connections that wait to be accepted from a listening TCP socket; labels address and port");
    LISTEN_QUEUE_LIMIT = gauge("host.listen_queue_limit", One, "connections that may wait to be accepted from a listening TCP socket; labels address and port");
    TCP_SYN_RETRANSMITS = counter("host.tcp_syn_retransmits", One, "TCP SYN segments retransmitted because no answer came, since the run's start");
    PROTOCOL_EVENTS = counter("host.protocol_events", One, "events that the kernel's IP, ICMP, UDP and TCP counted since the run's start, of each counter that grew; label counter (UdpInErrors, TcpExtTCPTimeouts, …), as nstat names it");
    CONNTRACK_ENTRIES = gauge("host.conntrack_entries", One, "connections that the kernel's connection tracking knows");
    CONNTRACK_LIMIT = gauge("host.conntrack_limit", One, "connections that it may know (net.netfilter.nf_conntrack_max)");
    CONNTRACK_DROPS = counter("host.conntrack_drops", One, "packets dropped, and connections forgotten before their time, by the kernel's connection tracking since the run's start; label reason (insert_failed, drop, early_drop)");
    TCP_CONNECTIONS = gauge("host.tcp_connections", One, "TCP sockets with a local port, listening ones included");
    TCP_TIME_WAIT_CONNECTIONS = gauge("host.tcp_time_wait_connections", One, "TCP connections that are over and keep their local port for a minute");
    TCP_LOCAL_PORTS = gauge("host.tcp_local_ports", One, "local ports that the system may give to outgoing connections (net.ipv4.ip_local_port_range)");
    DROPPED_PACKETS = counter("host.dropped_packets", Packets, "packets that the kernel dropped since the run's start, as its trace point kfree_skb tells them; labels reason (NETFILTER_DROP, SOCKET_RCVBUFF, …, unread: without reason) and function, of all namespaces");
    SOFTNET_DROPS = counter("host.softnet_drops", One, "packets dropped because a core's backlog queue was full, since the run's start; label core");
    SOFTNET_TIME_SQUEEZES = counter("host.softnet_time_squeezes", One, "times that a core's receive loop ran out of budget, since the run's start; label core");
    QDISC_BACKLOG_BYTES = gauge("host.qdisc_backlog_bytes", Bytes, "bytes that wait in the queueing discipline of a device; labels device and kind");
    QDISC_BACKLOG_PACKETS = gauge("host.qdisc_backlog_packets", Packets, "packets that wait in the queueing discipline of a device; labels device and kind");
    QDISC_DROPS = counter("host.qdisc_drops", One, "packets that the queueing discipline of a device dropped since the run's start; labels device and kind");
    QDISC_OVERLIMITS = counter("host.qdisc_overlimits", One, "times that the queueing discipline of a device held a packet back or dropped it because its rate was used up, since the run's start; labels device and kind");
    QDISC_REQUEUES = counter("host.qdisc_requeues", One, "packets that the queueing discipline of a device took back because the device had no room, since the run's start; labels device and kind");
    DISK_READ_BYTES_PER_SECOND = gauge("host.disk_read_bytes_per_second", BytesPerSecond, "bytes read; label device");
    DISK_WRITE_BYTES_PER_SECOND = gauge("host.disk_write_bytes_per_second", BytesPerSecond, "bytes written; label device");
    DISK_QUEUE_DEPTH = gauge("host.disk_queue_depth", One, "mean requests in flight over the interval; label device");
}
