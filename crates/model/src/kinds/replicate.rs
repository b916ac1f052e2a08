//! Trees of files from one host to another (`replicate`).

use crate::metric::metrics;

use super::{
    Carried, Charts, End, Ends, Expects, Family, FileCopy, Kind, Layer, LayerNumber, LayerPart,
    PairFigure, Reach, Track, TrackSource,
};

#[rustfmt::skip]
metrics! {
    // Columns of the table of flows, in this order.
    FILES = counter("replicate.files", One, "regular files that the source has").sum().column().named();
    FILES_WRITTEN = counter("replicate.files_written", One, "files whose content was sent and published; in a dry run, those that would be").sum().column().named();
    USER_BYTES_PER_SECOND = gauge("replicate.user_bytes_per_second", BytesPerSecond, "content of the files that were written, before compression, over the elapsed time; in series: published in the interval").sum().column().named();
    WIRE_BITS_PER_SECOND = gauge("replicate.wire_bits_per_second", BitsPerSecond, "bits of all frames on the connections over the elapsed time; in series: over the interval").sum().column().named();
    ELAPSED_SECONDS = gauge("replicate.elapsed_seconds", Seconds, "from the start to the receiver's counts: all content is published and as durable as was asked for").max().column().named();
    COMPRESSION_RATIO = gauge("replicate.compression_ratio", One, "bytes of content that travelled over bytes on the connections").column().named();
    CPU_SECONDS = counter("replicate.cpu_seconds", Seconds, "CPU time of all threads of both ends").sum().column().named();
    FAILED = counter("replicate.failed", One, "names that could not be replicated").sum().column().named();
    // The rest.
    ROUNDS = counter("replicate.rounds", One, "rounds that are complete: one for a full or incremental replication").sum();
    SOURCE_BYTES = counter("replicate.source_bytes", Bytes, "content of the files that the source has").sum();
    RECEIVED_BYTES = counter("replicate.received_bytes", Bytes, "content that travelled, before compression; in a dry run, what would").sum();
    KEPT_BYTES = counter("replicate.kept_bytes", Bytes, "content of written files that stood at the target already: equal blocks, holes, parts of an earlier run").sum();
    WIRE_BYTES = counter("replicate.wire_bytes", Bytes, "bytes of all frames on the connections").sum();
    FILES_EQUAL = counter("replicate.files_equal", One, "files that were equal at both ends").sum();
    METADATA_SET = counter("replicate.metadata_set", One, "equal files of which mode, owner, time or attributes were set").sum();
    DIRECTORIES_MADE = counter("replicate.directories_made", One, "directories that were made").sum();
    LINKS_MADE = counter("replicate.links_made", One, "symbolic and hard links that were made").sum();
    REMOVED = counter("replicate.removed", One, "names that were removed because the source does not have them").sum();
    EXTRA = counter("replicate.extra", One, "names that the source does not have and that were kept").sum();
    FILES_PER_SECOND = gauge("replicate.files_per_second", PerSecond, "written files over the elapsed time; in series: published in the interval").sum().named();
    DENSE_BYTES = counter("replicate.dense_bytes", Bytes, "content that was sent as it is because it looks compressed").sum();
    ASKED_BITS_PER_SECOND = gauge("replicate.asked_bits_per_second", BitsPerSecond, "limit on the bits of all frames; absent without one").sum();
    PREDICTED_SECONDS = gauge("replicate.predicted_seconds", Seconds, "elapsed time that was predicted before the start; absent without a prediction").max();
    ROUND_TRIP_SECONDS = gauge("replicate.round_trip_seconds", Seconds, "shortest round trip of a connection for content, by the sender's TCP; absent where the system does not say").max();
    SENDER_CORES = gauge("replicate.sender_cores", One, "of a trial: cores of the sending host that were free, found by keeping all of them busy for a moment").max();
    RECEIVER_CORES = gauge("replicate.receiver_cores", One, "of a trial: cores of the receiving host that were free").max();
    SENDER_ALL_CORES = gauge("replicate.sender_all_cores", One, "of a trial: cores that the sender's threads may run on").max();
    RECEIVER_ALL_CORES = gauge("replicate.receiver_all_cores", One, "of a trial: cores that the receiver's threads may run on").max();
    SENDER_CPU_SECONDS = counter("replicate.sender_cpu_seconds", Seconds, "CPU time of all threads of the sender").sum();
    RECEIVER_CPU_SECONDS = counter("replicate.receiver_cpu_seconds", Seconds, "CPU time of all threads of the receiver").sum();
    LAG_SECONDS = histogram("replicate.lag_seconds", Seconds, "of a mirror: from the first change of a round that was seen at the source to the receiver's counts of that round; in the summary with .min, .mean, .p50, .p90, .p99, .p999 and .max").named();
    LAST_LAG_SECONDS = gauge("replicate.last_lag_seconds", Seconds, "of a mirror: lag of the last round");
    MOVED_BYTES_PER_SECOND = gauge("replicate.moved_bytes_per_second", BytesPerSecond, "content that was handed to the connections in the interval, before compression");
    QUEUED_BYTES = gauge("replicate.queued_bytes", Bytes, "content that is known to differ and is not sent yet");
    QUEUED_FILES = gauge("replicate.queued_files", One, "files that are known to differ and are not published yet");
    LISTED = gauge("replicate.listed", One, "1 when the source has been looked at whole, so that what is queued is all there is; else 0");
    RESCANS = counter("replicate.rescans", One, "of a mirror: looks at the whole source because changes were not told, the first one left out").sum();
    SENDER_CPU_RATIO = gauge("replicate.sender_cpu_ratio", Ratio, "CPU time of the busiest sending thread over elapsed time, 1 = one core").max();
    RECEIVER_CPU_RATIO = gauge("replicate.receiver_cpu_ratio", Ratio, "CPU time of the busiest receiving thread over elapsed time, 1 = one core").max();
    SENDER_WIRE_RATIO = gauge("replicate.sender_wire_ratio", Ratio, "share of the time of sending threads that the connection took them: the way or the receiver is slower").max();
    SENDER_FILE_RATIO = gauge("replicate.sender_file_ratio", Ratio, "share of the time of sending threads that reading the source's files took").max();
    SENDER_PACK_RATIO = gauge("replicate.sender_pack_ratio", Ratio, "share of the time of sending threads that compression took").max();
    SENDER_IDLE_RATIO = gauge("replicate.sender_idle_ratio", Ratio, "share of the time of sending threads in which nothing was wanted").max();
    RECEIVER_WIRE_RATIO = gauge("replicate.receiver_wire_ratio", Ratio, "share of the time of receiving threads in which they waited for data").max();
    RECEIVER_FILE_RATIO = gauge("replicate.receiver_file_ratio", Ratio, "share of the time of receiving threads that writing, renaming and syncing took").max();
    RECEIVER_PACK_RATIO = gauge("replicate.receiver_pack_ratio", Ratio, "share of the time of receiving threads that unpacking and verifying took").max();
    RECEIVER_SYNC_RATIO = gauge("replicate.receiver_sync_ratio", Ratio, "share of the time of receiving threads that making content durable took").max();
}

/// The numbers that a replication has.
pub const COPY: FileCopy = FileCopy {
    files: FILES,
    written: FILES_WRITTEN,
    rate: USER_BYTES_PER_SECOND,
    bytes: RECEIVED_BYTES,
    wire_bytes: WIRE_BYTES,
    elapsed: ELAPSED_SECONDS,
    write_blocked: SENDER_WIRE_RATIO,
    read_idle: RECEIVER_WIRE_RATIO,
    rounds: ROUNDS,
    lag: LAG_SECONDS,
    asked: ASKED_BITS_PER_SECOND,
    failed: FAILED,
};

/// The kind.
pub const KIND: Kind = Kind {
    name: "replicate",
    question: "how long does a tree of files take to another host, and what holds it back?",
    family: Family::Files(&COPY),
    reach: &[Reach::Files],
    source: "replicate",
    metrics: METRICS,
    ends: Ends {
        near: End {
            name: "sender",
            cpu: SENDER_CPU_RATIO,
            wait: None,
            buffer: None,
        },
        far: Some(End {
            name: "receiver",
            cpu: RECEIVER_CPU_RATIO,
            wait: None,
            buffer: None,
        }),
    },
    done: ROUNDS,
    curve: None,
    carried: |metrics| {
        let bytes = RECEIVED_BYTES.of(metrics)?;
        Some(Carried::at(bytes, USER_BYTES_PER_SECOND.of(metrics)?))
    },
    charts: Charts {
        arrived: Some(WIRE_BITS_PER_SECOND),
        sent: None,
        per_second: Some(FILES_PER_SECOND),
        latency: None,
    },
    tracks: &[TrackSource {
        track: Track::Throughput,
        metric: WIRE_BITS_PER_SECOND,
        suffix: "",
    }],
    expects: Expects {
        line_rate: None,
        latency: false,
        loss: false,
        errors: false,
    },
    pair_figures: &[PairFigure {
        metric: USER_BYTES_PER_SECOND,
        stat: None,
        more_is_better: true,
    }],
    layer: Some(Layer {
        key: "layer-replicate",
        part: LayerPart::Services,
        numbers: &[
            LayerNumber {
                name: "bytes",
                metric: USER_BYTES_PER_SECOND,
                stat: None,
            },
            LayerNumber {
                name: "files",
                metric: FILES_PER_SECOND,
                stat: None,
            },
        ],
    }),
    by_label: false,
    is_plan: false,
    takes_turns: false,
    options: &[
        "batch",
        "cc",
        "checksum",
        "connections",
        "durability",
        "find",
        "level",
        "limit",
        "max-skew",
        "transport",
    ],
};
