//! Transactions on a database server whose state was observed.

use super::*;

/// Name of the server.
const SERVER: &str = "postgres://db:5432/bench";

/// A record of eight clients in a closed loop from 10 s to 20 s.
pub(crate) struct Transactions {
    pub(crate) record: Record,
    /// The server's monitor, and the metric and the label of what its sessions wait for.
    monitor: &'static str,
    events: (&'static str, &'static str),
}

/// One on PostgreSQL whose sessions are in these classes on average.
pub(crate) fn on_postgres(classes: &[(&str, f64)]) -> Transactions {
    on("postgres", ("wait_sessions", "event"), classes)
}

/// One on MariaDB.
pub(crate) fn on_mariadb(classes: &[(&str, f64)]) -> Transactions {
    on("mariadb", ("state_sessions", "state"), classes)
}

fn on(
    monitor: &'static str,
    events: (&'static str, &'static str),
    classes: &[(&str, f64)],
) -> Transactions {
    let metrics = [
        ("transactions", 10_000.0),
        ("transactions_per_second", 1_000.0),
        ("open_connections", 8.0),
        ("client_cpu_ratio", 0.2),
        ("client_wait_ratio", 0.01),
    ];
    let metrics = metrics.map(|(name, value)| (format!("sql.{name}"), value));
    let flow = FlowResult {
        from: "hosta".into(),
        to: SERVER.into(),
        metrics: metrics.clone().into(),
        complete: true,
        ..FlowResult::default()
    };
    let mut record = empty();
    let mut one = phase("measure", vec![flow]);
    one.workload = "tpcb".into();
    one.result.summary = metrics.into();
    record.manifest.workload = "tpcb".into();
    record.manifest.phases.push(one);
    let mut made = Transactions {
        record,
        monitor,
        events,
    };
    if !classes.iter().any(|(class, _)| *class == "CPU") {
        made = made.labelled("sessions", ("class", "CPU"), 0.0);
    }
    for (class, sessions) in classes {
        made = made.labelled("sessions", ("class", class), *sessions);
    }
    made
}

impl Transactions {
    /// A number of the server with a label.
    pub(crate) fn labelled(mut self, metric: &str, label: (&str, &str), value: f64) -> Self {
        let labels = [("server", SERVER), label];
        let metric = format!("{}.{metric}", self.monitor);
        add_series(&mut self.record, "hosta", &metric, &labels, 0.0, value);
        self
    }

    /// So many sessions in a wait event.
    pub(crate) fn event(self, event: &str, sessions: f64) -> Self {
        let (metric, label) = self.events;
        self.labelled(metric, (label, event), sessions)
    }

    /// So many sessions wait for rows of a table, behind so many transactions.
    pub(crate) fn queue(self, relation: &str, sessions: f64, holders: f64) -> Self {
        self.labelled("row_queue.sessions", ("relation", relation), sessions)
            .labelled("row_queue.holders", ("relation", relation), holders)
    }

    /// A number of the server.
    pub(crate) fn gauge(mut self, metric: &str, value: f64) -> Self {
        let metric = format!("{}.{metric}", self.monitor);
        let labels = [("server", SERVER)];
        add_series(&mut self.record, "hosta", &metric, &labels, 0.0, value);
        self
    }

    /// The generator's thread runs, and is ready without running, for such shares of the time.
    pub(crate) fn generator(mut self, cpu: f64, wait: f64) -> Self {
        let metrics = &mut self.record.manifest.phases[0].result.flows[0].metrics;
        metrics.insert("sql.client_cpu_ratio".into(), cpu);
        metrics.insert("sql.client_wait_ratio".into(), wait);
        self
    }

    /// A series by the second.
    pub(crate) fn over_time(mut self, metric: &str, value: impl Fn(i64) -> f64) -> Self {
        let points = (5..=25).map(|second| (second * SECOND, value(second)));
        self.record.series.push(Series {
            key: SeriesKey {
                host: "hosta".into(),
                source: "postgres".into(),
                metric: metric.into(),
                labels: Labels::from([("server".to_owned(), SERVER.to_owned())]),
            },
            points: points.collect(),
        });
        self
    }
}

/// The rule concludes this from at least two kinds of observation.
#[track_caller]
pub(crate) fn told(record: &Record, rule: &str, key: &str) {
    let finding = one(record, rule);
    assert_eq!(finding.says.key, key);
    let sources: BTreeSet<&str> = finding.evidence.iter().map(|e| e.source.as_str()).collect();
    let sources = sources.iter().filter(|source| !source.is_empty());
    assert!(sources.count() >= 2, "{finding:#?}");
    assert!(finding.next.is_some());
}
