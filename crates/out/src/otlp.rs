//! OTLP metrics as JSON, as `POST /v1/metrics` takes them.
//!
//! Source: opentelemetry-proto, `ExportMetricsServiceRequest`, JSON mapping: times are decimal strings.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use crate::Point;

/// The request.
pub fn request(points: &[Point]) -> Value {
    let mut metrics: BTreeMap<&str, Vec<Value>> = BTreeMap::new();
    for point in points {
        let labels = point.labels.iter();
        let attributes = labels.map(|(name, value)| attribute(name, value));
        metrics.entry(&point.metric).or_default().push(json!({
            "attributes": attributes.collect::<Vec<_>>(),
            "timeUnixNano": point.unix_ns.to_string(),
            "asDouble": point.value,
        }));
    }
    let metrics = metrics.into_iter().map(|(name, points)| {
        json!({ "name": format!("sokudo.{name}"), "gauge": { "dataPoints": points } })
    });
    json!({
        "resourceMetrics": [{
            "resource": { "attributes": [attribute("service.name", "sokudo")] },
            "scopeMetrics": [{
                "scope": { "name": "sokudo", "version": env!("CARGO_PKG_VERSION") },
                "metrics": metrics.collect::<Vec<_>>(),
            }],
        }],
    })
}

fn attribute(key: &str, value: &str) -> Value {
    json!({ "key": key, "value": { "stringValue": value } })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::point;

    #[test]
    fn points_of_a_metric_stand_under_it() {
        let request = request(&[
            point("a.b", 5, 1.5),
            point("a.b", 6, 2.0),
            point("c", 7, 3.0),
        ]);
        let metrics = &request["resourceMetrics"][0]["scopeMetrics"][0]["metrics"];
        assert_eq!(metrics.as_array().map(Vec::len), Some(2));
        assert_eq!(metrics[0]["name"], "sokudo.a.b");
        let points = &metrics[0]["gauge"]["dataPoints"];
        assert_eq!(points[1]["timeUnixNano"], "6");
        assert_eq!(points[1]["asDouble"], 2.0);
        assert_eq!(points[0]["attributes"][0]["value"]["stringValue"], "host a");
    }
}
