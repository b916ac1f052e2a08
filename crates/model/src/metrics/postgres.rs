//! Metrics of a PostgreSQL server (`--monitor postgres`); label server. Sessions are those on the observed
//! database, without the monitor's own.

use crate::metric::metrics;

/// Values of the label class of [`SESSIONS`]; the ones between the first and the last are PostgreSQL's own.
pub const CLASSES: &[&str] = &[
    "CPU", "Client", "IO", "IPC", "LWLock", "Lock", "Timeout", "other",
];

#[rustfmt::skip]
metrics! {
    UP = gauge("postgres.up", One, "1 when the server told its state, 0 when it did not");
    SESSIONS = gauge("postgres.sessions", One, "sessions by what they do or wait for, mean over about ten looks a second; label class: CPU (at work), Client, IO, Lock, LWLock, IPC, Timeout, other. Sessions idle for more than 5 s are left out");
    WAIT_SESSIONS = gauge("postgres.wait_sessions", One, "sessions in each wait event, mean over the looks of the interval; label event, such as IO/WALSync");
    CLIENT_READ_RATIO = gauge("postgres.client_read_ratio", Ratio, "share of the sessions that wait for the next statement of their client (ClientRead)");
    CPU_CORES = gauge("postgres.cpu_cores", One, "cores that the sessions used, 1 = one core; only where the server runs on the observing machine");
    CHECKPOINTING_RATIO = gauge("postgres.checkpointing_ratio", Ratio, "share of the looks at which a checkpoint was under way; absent where the user may not see the checkpointer");
    ROW_QUEUE_SESSIONS = gauge("postgres.row_queue.sessions", One, "sessions that wait for rows that others have changed, by the table that their statement names, mean over the looks; label relation");
    ROW_QUEUE_HOLDERS = gauge("postgres.row_queue.holders", One, "transactions that those sessions wait for, mean over the looks; label relation");
    LOCKS_WAITING = gauge("postgres.locks_waiting", One, "locks that are waited for, on the whole server");
    COMMITS_PER_SECOND = gauge("postgres.commits_per_second", PerSecond, "transactions committed on the database, the monitor's own not counted");
    ROLLBACKS_PER_SECOND = gauge("postgres.rollbacks_per_second", PerSecond, "transactions rolled back on the database");
    BLOCKS_HIT_PER_SECOND = gauge("postgres.blocks_hit_per_second", PerSecond, "blocks found in shared buffers");
    BLOCKS_READ_PER_SECOND = gauge("postgres.blocks_read_per_second", PerSecond, "blocks read into shared buffers, from the system's cache or the disk");
    HIT_RATIO = gauge("postgres.hit_ratio", Ratio, "share of the blocks that were found in shared buffers");
    TEMP_BYTES_PER_SECOND = gauge("postgres.temp_bytes_per_second", BytesPerSecond, "written to temporary files");
    DEADLOCKS = counter("postgres.deadlocks", One, "deadlocks on the database, since the run's start");
    CHECKPOINTS = counter("postgres.checkpoints", One, "checkpoints that were completed, since the run's start");
    CHECKPOINTS_REQUESTED = counter("postgres.checkpoints_requested", One, "checkpoints that were requested, as by WAL above max_wal_size, since the run's start");
    CHECKPOINT_BUFFERS_PER_SECOND = gauge("postgres.checkpoint_buffers_per_second", PerSecond, "buffers written by checkpoints");
    BACKEND_BUFFERS_PER_SECOND = gauge("postgres.backend_buffers_per_second", PerSecond, "buffers that sessions had to write themselves");
    WAL_BYTES_PER_SECOND = gauge("postgres.wal_bytes_per_second", BytesPerSecond, "written to the log, on the whole server; from version 14 on");
    WAL_FULL_PAGES_PER_SECOND = gauge("postgres.wal_full_pages_per_second", PerSecond, "full page images in the log, of pages changed for the first time since a checkpoint");
    WAL_SYNCS_PER_SECOND = gauge("postgres.wal_syncs_per_second", PerSecond, "times that the log was synchronized with its disk");
    WAL_SYNC_SECONDS_MEAN = gauge("postgres.wal_sync_seconds.mean", Seconds, "mean time of one of them in the interval; only with track_wal_io_timing");
    IO_READS_PER_SECOND = gauge("postgres.io_reads_per_second", PerSecond, "reads of data files by sessions; from version 16 on");
    IO_WRITES_PER_SECOND = gauge("postgres.io_writes_per_second", PerSecond, "writes of data files by all processes; from version 16 on");
    IO_FSYNCS_PER_SECOND = gauge("postgres.io_fsyncs_per_second", PerSecond, "synchronizations of data files by all processes; from version 16 on");
}
