//! Groups the conclusions that say the same about a cause.
//!
//! A family is what a reader would act on: two rules belong to one when they send him to the same place.

/// Conclusions that may be named where a cause of this family is at work.
#[derive(Debug)]
pub struct Family {
    /// Its name on the page.
    pub name: &'static str,
    /// Rules that name it: `rule`, or `rule/part` where a part of the sentence's key tells it from others.
    pub rules: &'static [&'static str],
}

/// Families whose cause the program may name by refusing to begin, and words of that refusal.
const REFUSALS_TO_BEGIN: &[(&str, &str)] = &[
    ("the generator", "open files"),
    ("sessions of the database", "too many c"),
];

macro_rules! families {
    ($($(#[$doc:meta])* $id:ident = $name:literal: $rules:expr;)*) => {
        $($(#[$doc])* pub static $id: Family = Family { name: $name, rules: &$rules };)*
        /// Every family.
        #[cfg(test)]
        pub static ALL: &[&Family] = &[$(&$id),*];
    };
}

families! {
    /// Nothing is wrong: what was asked for was carried.
    AS_ASKED = "as asked": [
        "application_limited/asked", "application_limited/paced", "application_limited/pauses"
    ];
    /// One of the programs takes its time.
    PROGRAM = "a program's own choice": [
        "application_limited/reader", "application_limited/consumer", "application_limited/writer"
    ];
    /// The queue or shaper of a host's own device.
    OWN_DEVICE = "own device": ["device_queue", "sender_refusal"];
    /// A link on the way carries no more.
    NARROW_PATH = "narrow path": [
        "path_limited",
        "path_loss",
        "request_stage/way",
        "answer_wait/way",
    ];
    /// Packets are lost on the way, whatever the rate.
    LOSSY_PATH = "lossy path": [
        "loss_limited",
        "path_loss",
        "lost_queries",
        "request_path",
    ];
    /// A policer drops what exceeds a rate: loss without a queue.
    POLICED = "policed path": ["path_limited", "loss_limited", "path_loss", "request_path"];
    /// A firewall, or the table behind it, throws away what reached a host.
    FIREWALL = "dropped at the receiving host": ["receiver_host_drops", "filter_drops", "conntrack_full"];
    /// The same under a connection, which sees loss alone.
    FIREWALL_OF_SEGMENTS = "segments dropped at the receiving host": [
        "receiver_host_drops", "filter_drops", "conntrack_full", "loss_limited", "request_path"
    ];
    /// A guard drops new connections.
    FLOOD_GUARD = "new connections dropped": ["dropped_calls", "filter_drops", "request_failures"];
    /// The sender's own host refuses to send.
    REFUSED_TO_SEND = "refused by the sender's host": ["sender_refusal", "filter_drops"];
    /// Damaged packets, which a checksum throws away.
    CHECKSUMS = "damaged packets": ["corruption", "checksum_errors"];
    /// Packets overtake each other.
    REORDERING = "reordering": ["reordering"];
    /// Packets come twice.
    REPETITION = "duplicates": ["duplicates"];
    /// A window or a buffer is too small for the round trip.
    RECEIVE_WINDOW = "receive window": ["receive_window_limited"];
    /// The send buffer is too small for the round trip.
    SEND_BUFFER = "send buffer": ["send_buffer_limited", "request_stage/buffer"];
    /// As many requests or messages are under way as are allowed.
    WINDOW = "requests under way": ["window_full", "answer_wait/distance"];
    /// Answers are far away, and few are under way.
    DISTANCE = "a long way": ["answer_wait/distance", "request_stage/distance"];
    /// A long way, or a long time at the far end: without a connection these look the same.
    FAR_OR_SLOW = "a long way or a slow server": ["answer_wait/wait"];
    /// Times on the way that vary.
    JITTER = "a way that jitters": [
        "request_stage/way", "request_stage/either", "request_stage/distance"
    ];
    /// A link that carries no more rows: from the asking end alone, its queue may look like acknowledgements that wait.
    NARROW_FOR_ROWS = "narrow path under rows": ["answer_wait/way", "answer_wait/wait", "path_limited"];
    /// A proxy holds requests back to a rate, by timers of a millisecond.
    PROXY_PACES = "a rate of a proxy": [
        "request_stage/paced", "request_stage/serial", "request_stage/queue"
    ];
    /// Connections over a long way, of which each request opens one.
    FAR_CONNECTIONS = "new connections over a long way": [
        "connection_churn", "request_stage/distance"
    ];
    /// Answers begin anew at the rate of a new connection.
    BEGINNING = "beginning of connections": ["request_stage/read-start", "slow_start", "connection_churn"];
    /// The server takes what is sent to it slowly.
    SLOW_UPLOAD = "slow uploads": [
        "request_stage/send", "request_stage/taken", "application_limited/reader"
    ];
    /// The receiving socket overflows.
    RECEIVE_BUFFER = "receive buffer": ["receiver_buffer_overflow"];
    /// The connection, path or far end was not there for a while.
    INTERRUPTION = "interruption": [
        "far_end_lost",
        "stalled_flow",
        "interrupted",
        "error_burst",
        "unreachable",
        "server_stalls",
    ];
    /// A link that is down for less than queries over it wait.
    SHORT_INTERRUPTION = "interruption of queries": [
        "interrupted", "error_burst", "unreachable", "server_stalls", "lost_queries"
    ];
    /// The server is gone: what comes after is refused.
    GONE = "server gone": [
        "far_end_lost", "request_failures", "error_burst", "stalled_flow", "interrupted", "unreachable",
        "server_stalls", "database_lost"
    ];
    /// Large packets vanish.
    LOST_LARGE = "large packets vanish": ["black_hole", "low_mtu"];
    /// The same of answers, which the asking end never sees.
    LOST_ANSWERS = "answers that vanish": ["black_hole", "unserved_connections/all"];
    /// One host of many is slow.
    ONE_HOST = "one host of many": ["hot_link"];
    /// A transfer is over before TCP has found its rate.
    SHORT = "a short transfer": ["slow_start"];
    /// The asking program itself was stopped for a while.
    ASKER_STOPPED = "the asking program stopped": [
        "generator_limited/silent", "generator_limited/stood", "interrupted"
    ];
    /// The name of a server is found slowly.
    SLOW_NAMES = "slow names": ["request_stage/resolve"];
    /// A processor that the server shares with others.
    SERVER_NEIGHBOUR = "neighbours of the server": [
        "neighbour_interference", "host_busy", "server_cpu_limited", "request_stage/serial",
        "request_stage/pool", "request_stage/part"
    ];
    /// Connections wait to be accepted.
    ACCEPT_QUEUE = "accept queue": [
        "dropped_calls",
        "unserved_connections",
        "request_stage/connect",
    ];
    /// The server refuses, resets or closes connections, or answers with errors.
    REFUSALS = "failing requests": [
        "request_failures",
        "error_burst",
        "turned_away",
        "unserved_connections",
    ];
    /// Every request opens a connection.
    CHURN = "a connection for each request": ["connection_churn"];
    /// The asking program is the limit: CPU, files, ports, threads.
    GENERATOR = "the generator": ["generator_limited", "sender_cpu_limited", "cpu_quota", "client_bound", "session_pool"];
    /// Results are taken more slowly than they are made.
    RESULTS = "writing of results": ["generator_limited"];
    /// The sending or asking thread computes all the time.
    SENDER_CPU = "sender's CPU": ["sender_cpu_limited", "generator_limited"];
    /// Other programs, or a bound on CPU time, keep a thread from running.
    NEIGHBOUR = "neighbours": ["neighbour_interference", "host_busy"];
    /// A bound on CPU time keeps the program from running.
    QUOTA = "CPU quota": [
        "cpu_quota",
        "server_cpu_limited/quota",
        "request_stage/part",
        "server_stalls/quota",
    ];
    /// Other activity of this machine: true of it, whatever the world is.
    THIS_MACHINE = "this machine": [
        "neighbour_interference", "host_busy", "generator_limited/late", "generator_limited/stood",
        "generator_limited/silent"
    ];
    /// Small segments wait for acknowledgements that are held back.
    NAGLE = "delayed acknowledgements": ["delayed_ack"];
    /// One end or the other computes all the time: which, is the machine's.
    EITHER_CPU = "CPU of an end": ["sender_cpu_limited", "receiver_cpu_limited", "generator_limited"];
    /// Handshakes: their CPU time, or that there are so many.
    HANDSHAKES = "handshakes": [
        "connection_churn",
        "generator_limited",
        "request_stage/tls",
        "server_cpu_limited",
    ];
    /// Some requests take much longer than others.
    SLOW_SHARE = "some requests are slow": [
        "uneven_service",
        "slow_label",
    ];
    /// The server computes as fast as it can.
    SERVER_CPU = "server's CPU": [
        "server_cpu_limited",
        "receiver_cpu_limited",
        "request_stage/serial",
        "request_stage/pool",
        "request_stage/part",
    ];
    /// The server computes for several at a time, which share its core.
    SHARED_CPU = "server's CPU, shared": [
        "server_cpu_limited", "request_stage/serial", "request_stage/pool", "request_stage/part",
        "request_stage/wait", "request_stage/queue"
    ];
    /// The server waits: for a lock, a pool, a disk, by design.
    SERVER_WAITS = "server waits": [
        "request_stage/wait",
        "request_stage/serial",
        "request_stage/pool",
        "answer_wait",
        "window_full",
        "cache_miss",
        "fsync_bound",
        "lock_chain",
        "plan_change",
        "repeated_transactions",
    ];
    /// The server holds requests back to a rate: from outside, a lock that is held for a fixed time looks the same.
    SERVER_PACES = "a rate of the server": ["request_stage/paced", "request_stage/serial"];
    /// Each request takes its own time at the server, and waits for no other.
    SERVER_TIMES = "times of requests": ["request_stage/wait"];
    /// The server answers with errors.
    ERRORS = "answers with errors": ["error_answers"];
    /// A proxy turns requests away with an answer.
    REFUSED_BY_PROXY = "requests turned away by a proxy": [
        "request_failures", "error_burst", "turned_away", "error_answers"
    ];
    /// The server behind a proxy is gone or stands still, which the proxy answers for.
    LATE_PROXY = "the server behind a proxy": [
        "error_answers", "request_failures", "error_burst", "far_end_lost", "server_stalls",
        "interrupted", "hidden_stall", "stalled_flow"
    ];
    /// Transactions fail for good.
    FAILURES = "failing transactions": ["transaction_failures"];
    /// The server stands still now and then.
    SERVER_PAUSES = "server pauses": [
        "checkpoint_dip",
        "server_stalls",
        "hidden_stall",
        "stalled_flow",
        "interrupted",
        "error_burst",
    ];
    /// The server sends its answers slowly.
    SLOW_BODY = "slow bodies": [
        "request_stage/read",
    ];
    /// The rest of an answer waits for the acknowledgement of its beginning.
    DELAYED_BODY = "delayed bodies": ["request_stage/read-delayed", "delayed_ack"];
    /// The buffers of a replication's connections.
    COPY_WINDOW = "buffers of a replication": ["receive_window_limited", "send_buffer_limited"];
    /// A replication's compressor.
    COMPRESSOR = "compressor": ["replication_stage/pack", "sender_cpu_limited"];
    /// Files are created and renamed.
    CREATING = "creation of files": ["replication_stage/create"];
    /// Each file is waited for until it is on the device.
    SYNCING = "files on the device": ["replication_stage/sync", "fsync_bound"];
    /// The sessions that the clients of a database share.
    CLIENT_POOL = "pool of the clients": ["session_pool"];
    /// The database runs in the threads of the load.
    EMBEDDED = "database inside the load": ["embedded_database"];
    /// Transactions wait for rows that others hold.
    LOCKS = "locked rows": ["lock_chain"];
    /// The same for a while.
    HELD_LOCK = "a lock that is held": ["lock_chain", "server_stalls", "interrupted", "hidden_stall"];
    /// Commits wait for the disk.
    LOG = "the database's log": ["fsync_bound"];
    /// The database computes as fast as it can.
    DATABASE_CPU = "database's CPU": [
        "database_cpu", "answer_wait/serial", "answer_wait/pool"
    ];
    /// The thread that drives a database has no time left: it uses its core, or waits for the cores that it shares
    /// with the database.
    DRIVER = "the load's own thread": [
        "client_bound", "generator_limited", "sender_cpu_limited", "host_busy"
    ];
    /// The database grants no more sessions: a refusal to begin.
    SESSIONS = "sessions of the database": ["error_burst"];
    /// The name server.
    NAMES = "name server": ["lost_queries", "name_server_errors"];
    /// A way there that carries acknowledgements alone: the asking end sees that answers come slowly, and segments of
    /// its own that are lost.
    SQUEEZED_PAGES = "acknowledgements under pages": [
        "path_limited", "request_path", "request_stage/way", "request_stage/read-way", "request_stage/read-says"
    ];
    /// Large datagrams whose pieces are lost, each of which loses the whole.
    FRAGMENTS = "lost fragments": ["path_loss", "low_mtu/fragments"];
    /// Large rows that vanish on the way to the asking end, which sees their absence alone.
    LOST_ROWS = "rows that vanish": [
        "black_hole", "unserved_connections/all", "request_failures", "interrupted", "stalled_flow",
        // It leaves open whether the server or the way keeps the answers.
        "transaction_failures/unanswered"
    ];
    /// One of several far ends is slow, or the way to it.
    ONE_PEER = "one far end of several": ["hot_link", "path_limited"];
    /// One of several far ends was not there for a while.
    ONE_INTERRUPTED = "one far end interrupted": [
        "hot_link", "far_end_lost", "stalled_flow", "interrupted", "error_burst", "unreachable", "server_stalls"
    ];
    /// The firewall of one of several far ends.
    ONE_FIREWALL = "firewall of one far end": [
        "hot_link", "receiver_host_drops", "filter_drops", "conntrack_full"
    ];
    /// Neighbours of one of several far ends.
    ONE_NEIGHBOUR = "neighbours of one far end": ["hot_link", "neighbour_interference", "host_busy"];
    /// A firewall refuses queries in the name of their host.
    REJECTED_QUERIES = "refused queries": [
        "filter_drops", "unreachable", "lost_queries/nobody", "receiver_host_drops"
    ];
    /// A connection of HTTP/2 carries few requests at a time.
    STREAMS_GRANTED = "requests on a connection": ["request_stage/streams"];
    /// A proxy has no room for more connections, those to its server among them.
    PLACES_OF_PROXY = "room of a proxy": [
        "request_failures", "error_burst", "turned_away", "unserved_connections", "error_answers"
    ];
    /// New connections are taken at a rate; the system of the server completes them before.
    PACED_CALLS = "a rate of new connections": [
        "request_stage/paced", "request_stage/serial", "request_stage/queue", "request_stage/part",
        "request_stage/connect", "dropped_calls", "unserved_connections"
    ];
    /// Answers that send the caller elsewhere.
    REDIRECTS = "redirects": ["redirected"];
    /// A full queue of connections, which refuses what it cannot hold.
    RESETTING_QUEUE = "accept queue that resets": [
        "dropped_calls", "unserved_connections", "request_stage/connect", "request_failures", "error_burst",
        "turned_away"
    ];
    /// Requests wait for a log that is taken slowly, in lumps.
    BLOCKED_LOG = "a log that is taken slowly": [
        "request_stage/paced", "request_stage/serial", "request_stage/queue", "request_stage/part",
        "request_stage/pool", "server_stalls", "hidden_stall"
    ];
    /// Commits wait for a replica that does not answer.
    STANDBY = "commits that wait for a standby": ["server_stalls", "interrupted", "hidden_stall"];
    /// Transactions wait for locked rows and give up.
    LOCK_TIMEOUTS = "locks that are given up": [
        "lock_chain", "transaction_failures", "repeated_transactions"
    ];
    /// Transactions that the database ends because others changed the same rows.
    CONFLICTS = "conflicting transactions": [
        "repeated_transactions", "transaction_failures/vain", "lock_chain"
    ];
    /// A database reads what its memory does not hold.
    DATA_READS = "reads of a database": [
        "cache_miss", "answer_wait/serial", "answer_wait/pool", "answer_wait/wait"
    ];
    /// Other programs on the core of a database.
    DATABASE_NEIGHBOUR = "neighbours of a database": [
        "neighbour_interference", "host_busy", "server_cpu_limited", "database_cpu", "answer_wait/serial",
        "answer_wait/pool"
    ];
    /// A file of a database that somebody else locks.
    HELD_FILE = "a file that is locked": [
        "embedded_database/waits", "lock_chain", "server_stalls", "hidden_stall", "interrupted"
    ];
    /// A file of a database on a slow disk.
    EMBEDDED_LOG = "disk of an embedded database": ["embedded_database/waits", "fsync_bound"];
    /// The disk that files are copied to.
    WRITING = "disk of a replica": [
        "replication_stage/sync", "replication_stage/write", "fsync_bound"
    ];
    /// The disk that files are read from.
    READING = "disk of a source": ["replication_stage/read"];
    /// The two ends of a load have one core together.
    BOTH_ENDS = "a core of both ends": [
        "host_busy", "sender_cpu_limited", "receiver_cpu_limited", "generator_limited"
    ];
    /// A receiver without CPU time, whose socket overflows.
    STARVED_RECEIVER = "a receiver without CPU time": ["cpu_quota", "receiver_buffer_overflow"];
    /// A bound on the CPU time of a server that is seen from outside alone.
    STARVED_NAMES = "a name server without CPU time": [
        "cpu_quota", "server_cpu_limited", "server_stalls", "answer_wait/serial", "answer_wait/pool",
        "answer_wait/wait"
    ];
    /// The program that sends files was stopped for a while.
    COPIER_STOPPED = "the copying program stopped": [
        "generator_limited/silent", "generator_limited/stood", "interrupted", "stalled_flow"
    ];
}

impl Family {
    /// True when a program that did not begin named the cause.
    pub fn is_refusal(&self, said: &str) -> bool {
        let said = said.to_lowercase();
        let named = |(name, words): &(&str, &str)| self.name == *name && said.contains(words);
        REFUSALS_TO_BEGIN.iter().any(named)
    }

    /// True when a conclusion, by its rule and the key of its sentence, belongs to the family.
    pub fn holds(&self, rule: &str, key: &str) -> bool {
        self.rules
            .iter()
            .any(|pattern| match pattern.split_once('/') {
                Some((wanted, part)) => rule == wanted && key.contains(part),
                None => rule == *pattern,
            })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn families_name_rules_that_exist() {
        let known: Vec<&str> = sokudo_analyze::REGISTRY
            .iter()
            .map(|rule| rule.name)
            .collect();
        for family in ALL {
            for pattern in family.rules {
                let rule = pattern.split('/').next().expect("a word");
                assert!(known.contains(&rule), "{}: no rule `{rule}`", family.name);
            }
        }
    }

    #[test]
    fn a_part_of_the_key_tells_choices_apart() {
        let key = "rule-application-asked-says";
        assert!(AS_ASKED.holds("application_limited", key));
        assert!(!PROGRAM.holds("application_limited", key));
        assert!(!AS_ASKED.holds("path_limited", key));
    }
}
