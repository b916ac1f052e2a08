//! The verdict of requests and its numbers, as one object for programs.

use std::path::Path;

use serde_json::{Value, json};
use sokudo_i18n::{I18n, Lang};
use sokudo_model::document::{Document, field};
use sokudo_model::kinds::http;
use sokudo_model::{RunStatus, Stat};

use super::Dashboard;
use crate::demands;

/// The object that [`summary`] makes.
#[rustfmt::skip]
pub const ROWS: Document = Document {
    name: "jtl",
    command: "sokudo jtl report FILE --json",
    fields: &[
        field("schema", "string", ""),
        field("run", "string", ""),
        field("status", "string", ""),
        field("workload", "string", ""),
        field("summary", "map of number", ""),
        field("checks", "array of object", ""),
        field("checks[].name", "string", ""),
        field("checks[].passed", "boolean", ""),
        field("checks[].says", "string", ""),
        field("checks[].asked", "string or null", ""),
        field("checks[].measured", "number or null", ""),
        field("checks[].unit", "string or null", ""),
        field("checks[].on", "string or null", ""),
        field("remarks", "array of string", ""),
        field("verdict", "array of string", ""),
        field("report", "string or null", ""),
    ],
};

/// Verdict's numbers under names that any program of the project reads.
pub fn summary(dashboard: &Dashboard, page: Option<&Path>) -> Value {
    let total = &dashboard.requests.total;
    let at = |percent: f64| total.percentile_ms(percent) as f64 / 1e3;
    let i18n = I18n::new(Lang::En);
    let checks = dashboard.demands.iter();
    let checks: Vec<Value> = checks.map(|check| demands::json(check, &i18n)).collect();
    let broken = dashboard.remarks.iter().map(|remark| remark.key.as_str());
    json!({
        "schema": "sokudo.summary/1",
        "run": dashboard.name,
        "status": RunStatus::Ok.word(dashboard.demands.iter().all(|demand| demand.passed)),
        "workload": http::KIND.name,
        "summary": {
            http::REQUESTS.name: total.n,
            http::REQUESTS_PER_SECOND.name: total.per_second(),
            http::ERROR_RATIO.name: total.error_ratio(),
            (http::SERVICE_SECONDS.stat(Stat::Mean)): total.mean_ms() / 1e3,
            (http::SERVICE_SECONDS.stat(Stat::P50)): at(50.0),
            (format!("{}.p95", http::SERVICE_SECONDS)): at(95.0),
            (http::SERVICE_SECONDS.stat(Stat::P99)): at(99.0),
            (http::SERVICE_SECONDS.stat(Stat::Max)): total.max_ms() as f64 / 1e3,
            "http.received_bytes_per_second": total.bytes_per_second(),
            "http.sent_bytes_per_second": total.sent_bytes_per_second(),
        },
        "checks": checks,
        "remarks": broken.collect::<Vec<_>>(),
        "verdict": dashboard.says(Lang::En),
        "report": page.map(|page| page.display().to_string()),
    })
}

#[cfg(test)]
mod tests {
    use sokudo_model::Text;
    use sokudo_stats::requests::goals::Goals;
    use sokudo_stats::requests::{Request, Settings, Tally};

    use super::*;

    #[test]
    fn the_object_is_as_it_is_described() {
        let mut tally = Tally::new(Settings::default());
        tally.add(&Request {
            success: true,
            ..Request::default()
        });
        let requests = tally.finish();
        let goals: Goals = "p95<2s".parse().expect("goals");
        let dashboard = Dashboard {
            name: "rows.jtl",
            requests: &requests,
            started: "",
            earlier: None,
            demands: &super::super::judged(&goals, &requests),
            record: None,
            remarks: &[Text::new("jtl-remark-cut")],
        };
        let shown = [None, Some(Path::new("index.html"))].map(|page| summary(&dashboard, page));
        let differences = sokudo_testkit::document::differences(&ROWS, &shown);
        assert!(differences.is_empty(), "{differences:#?}");
    }
}
