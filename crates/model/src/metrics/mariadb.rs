//! Metrics of a MariaDB or MySQL server (`--monitor mariadb`); label server. Sessions are those on the
//! observed database, without the monitor's own; all counters are the whole server's.

use crate::metric::metrics;

/// Values of the label class of [`SESSIONS`].
pub const CLASSES: &[&str] = &["CPU", "Client", "Commit", "Lock", "other"];

#[rustfmt::skip]
metrics! {
    UP = gauge("mariadb.up", One, "1 when the server told its state, 0 when it did not");
    SESSIONS = gauge("mariadb.sessions", One, "sessions by what they do or wait for, mean over about ten looks a second; label class: CPU (at work), Client, Commit, Lock, other. Sessions idle for more than 5 s are left out");
    STATE_SESSIONS = gauge("mariadb.state_sessions", One, "sessions in each state of the process list, mean over the looks of the interval; label state");
    STATEMENT_SESSIONS = gauge("mariadb.statement_sessions", One, "sessions that execute each statement, mean over the looks of the interval; label statement, without its values. Over the time of a load: the time that the server took for it");
    CLIENT_WAIT_RATIO = gauge("mariadb.client_wait_ratio", Ratio, "share of the sessions that wait for the next statement of their client (Sleep)");
    STATEMENTS_PER_SECOND = gauge("mariadb.statements_per_second", PerSecond, "statements of clients (Questions)");
    COMMITS_PER_SECOND = gauge("mariadb.commits_per_second", PerSecond, "COMMIT statements (Com_commit)");
    ROLLBACKS_PER_SECOND = gauge("mariadb.rollbacks_per_second", PerSecond, "ROLLBACK statements (Com_rollback)");
    THREADS_RUNNING = gauge("mariadb.threads_running", One, "threads that are not asleep");
    POOL_REQUESTS_PER_SECOND = gauge("mariadb.pool_requests_per_second", PerSecond, "pages asked of the buffer pool");
    POOL_READS_PER_SECOND = gauge("mariadb.pool_reads_per_second", PerSecond, "of those, pages that had to be read from the disk");
    HIT_RATIO = gauge("mariadb.hit_ratio", Ratio, "share of the pages that were found in the buffer pool");
    ROW_QUEUE_SESSIONS = gauge("mariadb.row_queue.sessions", One, "sessions that wait for rows of a table which others have locked, mean over the looks; label relation");
    ROW_QUEUE_HOLDERS = gauge("mariadb.row_queue.holders", One, "transactions that have those locks, mean over the looks; label relation");
    ROW_LOCKS_WAITING = gauge("mariadb.row_locks_waiting", One, "transactions that wait for a row at this moment");
    ROW_LOCK_WAITS_PER_SECOND = gauge("mariadb.row_lock_waits_per_second", PerSecond, "times that a transaction had to wait for a row");
    ROW_LOCK_WAIT_SECONDS_MEAN = gauge("mariadb.row_lock_wait_seconds.mean", Seconds, "mean wait for a row, over the waits that ended in the interval");
    DEADLOCKS = counter("mariadb.deadlocks", One, "deadlocks of InnoDB, since the run's start");
    LOG_BYTES_PER_SECOND = gauge("mariadb.log_bytes_per_second", BytesPerSecond, "written to the redo log");
    LOG_SYNCS_PER_SECOND = gauge("mariadb.log_syncs_per_second", PerSecond, "times that the redo log was synchronized with its disk");
    LOG_WAITS = counter("mariadb.log_waits", One, "waits because the log buffer was too small, since the run's start");
    CHECKPOINT_AGE_BYTES = gauge("mariadb.checkpoint_age_bytes", Bytes, "redo log written since the last checkpoint");
    DISK_TABLES_PER_SECOND = gauge("mariadb.disk_tables_per_second", PerSecond, "temporary tables made on disk");
    LOG_IO_RATIO = gauge("mariadb.log_io_ratio", Ratio, "time of all threads in reads, writes and synchronizations of the redo log over elapsed time, 1 = one thread all the time; only with performance_schema");
    DATA_IO_RATIO = gauge("mariadb.data_io_ratio", Ratio, "the same of InnoDB's data files; only with performance_schema");
}
