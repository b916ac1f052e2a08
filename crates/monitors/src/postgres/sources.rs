//! Statistics that each version of PostgreSQL has, and their places.

/// Versions before this one have no `pg_stat_wal`.
const V14: i64 = 140_000;
/// The first with `pg_stat_io`.
const V16: i64 = 160_000;
/// The first that tells of checkpoints in `pg_stat_checkpointer` instead of `pg_stat_bgwriter`.
const V17: i64 = 170_000;
/// The first that tells of synchronizations of the log in `pg_stat_io` instead of `pg_stat_wal`.
const V18: i64 = 180_000;

/// Counters that one statement reads.
pub(super) struct Source {
    /// Versions that have it: from this one on, up to but without that one.
    versions: (i64, i64),
    from: &'static str,
    /// Name of each counter, and the expression for it.
    pub(super) columns: &'static [(&'static str, &'static str)],
}

impl Source {
    /// The statement; its columns are in the order of the counters.
    pub(super) fn sql(&self) -> String {
        let columns = self.columns.iter();
        let columns: Vec<String> = columns
            .map(|(_, expression)| format!("({expression})::float8"))
            .collect();
        format!("select {} from {}", columns.join(", "), self.from)
    }
}

/// Sources of a server of this version (`server_version_num`).
pub(super) fn sources_of(version: i64) -> impl Iterator<Item = &'static Source> {
    let has = move |source: &&Source| {
        let (first, end) = source.versions;
        (first..end).contains(&version)
    };
    SOURCES.iter().filter(has)
}

#[rustfmt::skip]
static SOURCES: &[Source] = &[
    Source {
        versions: (0, i64::MAX),
        from: "pg_stat_database where datname = current_database()",
        columns: &[
            ("commits", "xact_commit"), ("rollbacks", "xact_rollback"), ("blocks_hit", "blks_hit"),
            ("blocks_read", "blks_read"), ("blocks", "blks_hit + blks_read"), ("temp_bytes", "temp_bytes"),
            ("deadlocks", "deadlocks"),
        ],
    },
    Source {
        versions: (0, i64::MAX),
        from: "pg_locks where not granted",
        columns: &[("locks_waiting", "count(*)")],
    },
    Source {
        versions: (0, V17),
        from: "pg_stat_bgwriter",
        columns: &[
            ("checkpoints", "checkpoints_timed + checkpoints_req"), ("checkpoints_requested", "checkpoints_req"),
            ("checkpoint_buffers", "buffers_checkpoint"), ("backend_buffers", "buffers_backend"),
        ],
    },
    Source {
        versions: (V17, V18),
        from: "pg_stat_checkpointer",
        columns: &[
            ("checkpoints", "num_timed + num_requested"), ("checkpoints_requested", "num_requested"),
            ("checkpoint_buffers", "buffers_written"),
        ],
    },
    Source {
        versions: (V18, i64::MAX),
        from: "pg_stat_checkpointer",
        columns: &[
            ("checkpoints", "num_done"), ("checkpoints_requested", "num_requested"),
            ("checkpoint_buffers", "buffers_written"),
        ],
    },
    Source {
        versions: (V14, V18),
        from: "pg_stat_wal",
        columns: &[
            ("wal_bytes", "wal_bytes"), ("wal_full_pages", "wal_fpi"), ("wal_syncs", "wal_sync"),
            ("wal_sync_ms", "case current_setting('track_wal_io_timing') when 'on' then wal_sync_time end"),
        ],
    },
    Source {
        versions: (V18, i64::MAX),
        from: "pg_stat_wal",
        columns: &[("wal_bytes", "wal_bytes"), ("wal_full_pages", "wal_fpi")],
    },
    Source {
        versions: (V18, i64::MAX),
        from: "pg_stat_io where object = 'wal'",
        columns: &[
            ("wal_syncs", "sum(fsyncs)"),
            ("wal_sync_ms", "case current_setting('track_wal_io_timing') when 'on' then sum(fsync_time) end"),
        ],
    },
    Source {
        versions: (V16, i64::MAX),
        from: "pg_stat_io where object = 'relation'",
        columns: &[
            ("io_reads", "sum(reads) filter (where backend_type = 'client backend')"),
            ("io_writes", "sum(writes)"), ("io_fsyncs", "sum(fsyncs)"),
        ],
    },
    Source {
        versions: (V17, i64::MAX),
        from: "pg_stat_io where object = 'relation' and backend_type = 'client backend'",
        columns: &[("backend_buffers", "sum(writes)")],
    },
];

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    fn counters(version: i64) -> Vec<&'static str> {
        let columns = sources_of(version).flat_map(|source| source.columns);
        columns.map(|(name, _)| *name).collect()
    }

    #[test]
    fn each_counter_comes_from_one_place_in_every_version() {
        for version in [130_000, 150_018, 160_004, 170_002, 180_000] {
            let counters = counters(version);
            let unique: BTreeSet<_> = counters.iter().collect();
            assert_eq!(unique.len(), counters.len(), "{version}: {counters:?}");
            for always in [
                "commits",
                "checkpoints",
                "checkpoint_buffers",
                "backend_buffers",
            ] {
                assert!(unique.contains(&always), "{version}: {always}");
            }
            assert_eq!(unique.contains(&"wal_syncs"), version >= V14, "{version}");
            assert_eq!(unique.contains(&"io_reads"), version >= V16, "{version}");
        }
    }

    #[test]
    fn a_statement_has_its_counters_in_order() {
        let locks = sources_of(150_000).nth(1).expect("a source");
        assert_eq!(
            locks.sql(),
            "select (count(*))::float8 from pg_locks where not granted"
        );
    }
}
