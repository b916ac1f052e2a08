//! A run of datagrams as a table: one row per moment, host and flow.

use std::collections::BTreeMap;

use sokudo_model::Record;
use sokudo_model::kinds::datagram as kind;

/// One line per flow and moment: the two ends' rates and the loss between.
pub fn datagram(record: &Record) -> String {
    const COLUMNS: [&str; 5] = [
        kind::SENT_PACKETS_PER_SECOND.name,
        kind::SENT_BITS_PER_SECOND.name,
        kind::DELIVERED_PACKETS_PER_SECOND.name,
        kind::DELIVERED_BITS_PER_SECOND.name,
        kind::LOSS_RATIO.name,
    ];
    let mut text = format!("time_seconds\thost\tflow\t{}\n", COLUMNS.join("\t"));
    let mut rows: BTreeMap<(i64, &str, &str), [Option<f64>; 5]> = Default::default();
    for (column, metric) in COLUMNS.iter().enumerate() {
        for series in record.series_of(metric) {
            let flow = series.key.labels.get("flow").map_or("", String::as_str);
            for (t_ns, value) in &series.points {
                rows.entry((*t_ns, &series.key.host, flow)).or_default()[column] = Some(*value);
            }
        }
    }
    for ((t_ns, host, flow), values) in rows {
        let cells: Vec<String> = values
            .iter()
            .map(|value| value.map(|v| v.to_string()).unwrap_or_default())
            .collect();
        text.push_str(&format!(
            "{}\t{host}\t{flow}\t{}\n",
            t_ns as f64 / 1e9,
            cells.join("\t")
        ));
    }
    text
}
