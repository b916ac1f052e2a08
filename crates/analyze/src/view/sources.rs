//! Source of each metric, in the words of the system that offers it.

use sokudo_model::kinds::{End, Family, KINDS, datagram, http, sql, stream};
use sokudo_model::metric::Metric;
use sokudo_model::metrics::{group, host, mariadb, own, postgres, process, selftest, target, tcp};

/// Metrics that several workloads, or a monitor, read at one place.
const READ_AT: &[(&str, &[Metric])] = &[
    (
        "SO_MEMINFO, SO_RXQ_OVFL",
        &[datagram::LOST_AT_RECEIVER_SOCKET_PACKETS],
    ),
    (
        "/proc/net/snmp, /proc/net/softnet_stat",
        &[datagram::LOST_AT_RECEIVER_HOST_PACKETS],
    ),
    (
        "sendmsg",
        &[datagram::LOST_AT_SENDER_PACKETS, datagram::REFUSED_SENDS],
    ),
    (
        "errors on the sending socket",
        &[datagram::UNREACHABLE_ERRORS],
    ),
    ("IP_MTU", &[datagram::PATH_MTU_BYTES]),
    (
        "time stamps of the load",
        &[group::LOAD_SECONDS, group::LAST_THROUGH_SECONDS],
    ),
    (
        "getsockopt SO_RCVBUF",
        &[
            datagram::RECEIVE_BUFFER_ASKED_BYTES,
            datagram::RECEIVE_BUFFER_GRANTED_BYTES,
            stream::RECEIVE_BUFFER_ASKED_BYTES,
            stream::RECEIVE_BUFFER_GRANTED_BYTES,
        ],
    ),
    (
        "getsockopt SO_SNDBUF",
        &[
            datagram::SEND_BUFFER_ASKED_BYTES,
            datagram::SEND_BUFFER_GRANTED_BYTES,
            stream::SEND_BUFFER_ASKED_BYTES,
            stream::SEND_BUFFER_GRANTED_BYTES,
        ],
    ),
    ("/proc/stat", &[host::CPU_RATIO]),
    ("/proc/pressure", &[host::PRESSURE_RATIO]),
    (
        "/proc/net/dev",
        &[
            host::NIC_RECEIVE_DROPS,
            host::NIC_SEND_DROPS,
            host::NIC_ERRORS,
            host::NIC_RECEIVE_BYTES_PER_SECOND,
            host::NIC_RECEIVE_PACKETS_PER_SECOND,
            host::NIC_SEND_BYTES_PER_SECOND,
            host::NIC_SEND_PACKETS_PER_SECOND,
        ],
    ),
    (
        "/proc/net/snmp",
        &[
            host::UDP_RECEIVE_BUFFER_ERRORS,
            host::UDP_SEND_BUFFER_ERRORS,
            host::UDP_NO_PORT,
            host::UDP_CHECKSUM_ERRORS,
            host::UDP_IN_PER_SECOND,
            host::PROTOCOL_EVENTS,
            host::IP_REASSEMBLY_FAILURES,
            host::TCP_RETRANSMITS,
            host::TCP_TIME_WAIT_CONNECTIONS,
            host::TCP_LOCAL_PORTS,
        ],
    ),
    (
        "/proc/net/netstat",
        &[host::TCP_LISTEN_OVERFLOWS, host::TCP_SYN_RETRANSMITS],
    ),
    (
        "/proc/net/softnet_stat",
        &[host::SOFTNET_DROPS, host::SOFTNET_TIME_SQUEEZES],
    ),
    ("sock_diag", &[host::LISTEN_QUEUE_DEPTH]),
    (
        "/proc/net/stat/nf_conntrack",
        &[
            host::CONNTRACK_DROPS,
            host::CONNTRACK_ENTRIES,
            host::CONNTRACK_LIMIT,
        ],
    ),
    ("RTM_GETLINK", &[host::NIC_UP]),
    (
        "RTM_GETQDISC",
        &[
            host::QDISC_BACKLOG_BYTES,
            host::QDISC_BACKLOG_PACKETS,
            host::QDISC_DROPS,
            host::QDISC_OVERLIMITS,
            host::QDISC_REQUEUES,
        ],
    ),
    (
        "SOCK_DIAG",
        &[host::LISTEN_QUEUE_DEPTH, host::LISTEN_QUEUE_LIMIT],
    ),
    ("cpu.stat", &[own::THROTTLED_RATIO]),
    ("CPU time of the thread", &[own::CPU_RATIO]),
    ("schedstat", &[own::WAIT_RATIO]),
    ("TCP_INFO", tcp::METRICS),
    (
        "TCP_INFO",
        &[
            http::PATH_LOWEST_SECONDS,
            http::PATH_MEAN_SECONDS,
            http::PATH_RESENT_RATIO,
            http::PATH_OUT_OF_ORDER_RATIO,
        ],
    ),
    ("/proc/PID", process::METRICS),
    ("the target's own count", target::METRICS),
    (
        "pg_stat_activity",
        &[
            postgres::SESSIONS,
            postgres::WAIT_SESSIONS,
            postgres::CLIENT_READ_RATIO,
            postgres::CHECKPOINTING_RATIO,
        ],
    ),
    ("pg_locks", &[postgres::ROW_QUEUE_SESSIONS]),
    (
        "pg_stat_database",
        &[
            postgres::COMMITS_PER_SECOND,
            postgres::BLOCKS_READ_PER_SECOND,
            postgres::HIT_RATIO,
        ],
    ),
    ("pg_stat_bgwriter", &[postgres::CHECKPOINTS_REQUESTED]),
    (
        "pg_stat_wal",
        &[
            postgres::WAL_FULL_PAGES_PER_SECOND,
            postgres::WAL_SYNCS_PER_SECOND,
            postgres::WAL_SYNC_SECONDS_MEAN,
        ],
    ),
    (
        "information_schema",
        &[
            mariadb::SESSIONS,
            mariadb::STATE_SESSIONS,
            mariadb::CLIENT_WAIT_RATIO,
            mariadb::ROW_QUEUE_SESSIONS,
        ],
    ),
    (
        "performance_schema",
        &[mariadb::LOG_IO_RATIO, mariadb::DATA_IO_RATIO],
    ),
    ("answers to the monitor", &[postgres::UP, mariadb::UP]),
    ("/proc/PID/schedstat", &[postgres::CPU_CORES]),
    ("SHOW GLOBAL STATUS", mariadb::METRICS),
    ("self-test over loopback", selftest::METRICS),
    (
        "statements on the server",
        &[sql::PLAN, sql::PLANS_READ, sql::STATEMENT_SECONDS],
    ),
    (
        "looks at the pool",
        &[sql::POOL_USED, sql::POOL_MAX, sql::POOL_WAITING],
    ),
];

/// Source of a metric's readings; empty for one that is in no evidence.
pub fn source_of(metric: Metric) -> &'static str {
    let read = READ_AT.iter().find(|(_, known)| known.contains(&metric));
    let read = read.map(|(source, _)| *source);
    read.or_else(|| of_thread(metric))
        .or_else(|| of_workload(metric))
        .unwrap_or_default()
}

/// The kernel's source of a metric about the threads of a workload.
fn of_thread(metric: Metric) -> Option<&'static str> {
    let ends = KINDS.iter().map(|kind| kind.ends);
    let mut ends = ends.flat_map(|ends| [Some(ends.near), ends.far]).flatten();
    ends.find_map(|end: End| match () {
        () if end.cpu == metric => Some("CPU time of the thread"),
        () if end.wait == Some(metric) => Some("schedstat"),
        () => None,
    })
}

/// The source of a metric that a workload counts itself.
fn of_workload(metric: Metric) -> Option<&'static str> {
    let mut kinds = KINDS.iter();
    let kind = kinds.find(|kind| kind.metrics.contains(&metric))?;
    Some(match kind.family {
        Family::Datagram => "sequence numbers and time stamps",
        Family::Exchange(numbers) if numbers.between.is_none() => {
            "time stamps and counts of the generator"
        }
        Family::Exchange(_)
        | Family::Bytes(_)
        | Family::Messages(_)
        | Family::Probe
        | Family::Files(_) => "time stamps and counts of both ends",
    })
}
