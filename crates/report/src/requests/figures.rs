//! The figures that programs read, with the keys of JMeter's `statistics.json`.

use serde_json::{Map, Value, json};
use sokudo_model::document::{Document, field};
use sokudo_stats::requests::{LabelGroup, Requests};

/// Percentiles that the file has room for.
const N_PERCENTILES: usize = 3;
/// Name under which all requests together stand.
const TOTAL: &str = "Total";

/// An object of the file that [`statistics_json`] makes; the file has one per label.
#[rustfmt::skip]
pub const STATISTICS: Document = Document {
    name: "statistics",
    command: "sokudo jtl report --output DIR",
    fields: &[
        field("transaction", "string", ""),
        field("sampleCount", "integer", ""),
        field("errorCount", "integer", ""),
        field("errorPct", "number", "percent"),
        field("meanResTime", "number", "milliseconds"),
        field("medianResTime", "number", "milliseconds"),
        field("minResTime", "number", "milliseconds"),
        field("maxResTime", "number", "milliseconds"),
        field("pct1ResTime", "number", "milliseconds"),
        field("pct2ResTime", "number", "milliseconds"),
        field("pct3ResTime", "number", "milliseconds"),
        field("throughput", "number", "1/second"),
        field("receivedKBytesPerSec", "number", "KiB/second"),
        field("sentKBytesPerSec", "number", "KiB/second"),
    ],
};

/// The content of `statistics.json`, with the keys of JMeter 5.6's report: an object per label and
/// one named `Total`. Times in milliseconds, shares in percent, KB of 1024 bytes.
///
/// `pct1ResTime` to `pct3ResTime` are the first three percentiles that were asked for; where fewer
/// were, the last one is repeated.
pub fn statistics_json(requests: &Requests) -> String {
    let mut out = Map::new();
    for group in &requests.labels {
        out.insert(group.label.clone(), of(group, &group.label, requests));
    }
    out.insert(TOTAL.into(), of(&requests.total, TOTAL, requests));
    let mut text = format!("{:#}", Value::Object(out));
    text.push('\n');
    text
}

fn of(group: &LabelGroup, name: &str, requests: &Requests) -> Value {
    let shown = &requests.settings.percentiles;
    let percentile = |place: usize| {
        let percent = shown.get(place).or(shown.last()).copied().unwrap_or(50.0);
        group.percentile_ms(percent) as f64
    };
    let mut out = json!({
        "transaction": name,
        "sampleCount": group.n,
        "errorCount": group.errors,
        "errorPct": group.error_ratio() * 100.0,
        "meanResTime": group.mean_ms(),
        "medianResTime": group.percentile_ms(50.0) as f64,
        "minResTime": group.min_ms() as f64,
        "maxResTime": group.max_ms() as f64,
        "throughput": group.per_second(),
        "receivedKBytesPerSec": group.bytes_per_second() / 1024.0,
        "sentKBytesPerSec": group.sent_bytes_per_second() / 1024.0,
    });
    for place in 0..N_PERCENTILES {
        out[format!("pct{}ResTime", place + 1)] = percentile(place).into();
    }
    out
}
