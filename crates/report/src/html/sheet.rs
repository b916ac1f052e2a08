//! The frame of a page, shared by the report of a run and the report of requests.

use sokudo_model::{Text, manifest, pairs, units};

use crate::block::{Block, Phrase};
use crate::date;
use crate::sections::REGISTRY;
use crate::view::{self, Role, View};

/// Events marked on the charts at most.
const MAX_EVENTS: usize = 200;
/// Problems that explain gaps, at most.
const MAX_PROBLEMS: usize = 50;

/// A page before it is written.
#[derive(Debug)]
pub struct Sheet {
    /// Title of the window.
    pub title: String,
    /// Subject of the page, in the line at its top: parts with dots between.
    pub what: Vec<Phrase>,
    /// Its sections from top to bottom.
    pub parts: Vec<Part>,
    /// Last line.
    pub footer: Phrase,
    /// End of the time axis, nanoseconds since its start.
    pub end_ns: i64,
    /// Time of day at the start of the axis, milliseconds since midnight; `None` when not known.
    pub start_ms: Option<u32>,
    /// Worst clock error between hosts, seconds; `None` with one clock.
    pub clock_error_s: Option<f64>,
    /// Stretches of time with a meaning of their own.
    pub spans: Vec<Span>,
    /// Events.
    pub events: Vec<Mark>,
    /// Problems.
    pub problems: Vec<Mark>,
}

/// One section of a page.
#[derive(Debug)]
pub struct Part {
    /// Name inside the page: letters and hyphens.
    pub name: &'static str,
    /// Its heading; the first screen needs none.
    pub title: Option<Phrase>,
    /// Its content.
    pub blocks: Vec<Block>,
}

/// A stretch of time.
#[derive(Debug)]
pub struct Span {
    /// Its name; foreign text.
    pub name: String,
    /// Begin and end, nanoseconds since the axis' start.
    pub at_ns: (i64, i64),
    /// True for one of many trials, which are not named on the charts.
    pub is_trial: bool,
}

/// A moment.
#[derive(Debug)]
pub struct Mark {
    /// Its time, nanoseconds since the axis' start.
    pub t_ns: i64,
    /// Its host, when it was on one host.
    pub host: Option<String>,
    /// Its text.
    pub says: Phrase,
}

/// The page of a record.
pub fn of_record(view: &View) -> Sheet {
    let manifest = &view.record.manifest;
    let parts = REGISTRY.iter().map(|section| Part {
        name: section.name,
        title: section
            .headed
            .then(|| Text::new(format!("report-{}", section.name)).into()),
        blocks: (section.blocks)(view),
    });
    let footer = Text::new("report-footer")
        .word("run", manifest.id.0.clone())
        .word("version", manifest.version.clone());
    Sheet {
        title: format!("sokudo · {} · {}", manifest.workload, manifest.id),
        what: what(view),
        parts: parts.filter(|part| !part.blocks.is_empty()).collect(),
        footer: footer.into(),
        end_ns: view.end_ns(),
        start_ms: date::clock_ms(&manifest.started),
        clock_error_s: view.clock_error_s(),
        spans: spans(view),
        events: events(view),
        problems: problems(view),
    }
}

/// `datagram · hosta → hostb · 20 Nov 2026 13:57 · 10 s`.
fn what(view: &View) -> Vec<Phrase> {
    let manifest = &view.record.manifest;
    let mut parts: Vec<Phrase> = vec![manifest.workload.clone().into()];
    parts.extend(who(view));
    parts.push(match date::both(&manifest.started) {
        Some(both) => Phrase::Both(both),
        None => manifest.started.clone().into(),
    });
    parts.push(units::duration(view.end_ns() as f64 / 1e9).into());
    parts
}

fn who(view: &View) -> Option<Phrase> {
    let flows = view.lone_subject().map(|p| &p.result.flows);
    if let Some([one]) = flows.map(Vec::as_slice) {
        return Some(view::flow_name(one).into());
    }
    let many = |count: usize| Text::new("report-header-hosts").word("n", count.to_string());
    let met = view.hosts_that_met();
    // A group has as many hosts as its check says, also those that met nobody.
    if let Some(hosts) = pairs::hosts(&view.record.manifest.phases).filter(|n| *n > met.len()) {
        return Some(many(hosts).into());
    }
    match met.as_slice() {
        [] => None,
        [one] => Some((*one).into()),
        [a, b] => Some(format!("{a}, {b}").into()),
        all => Some(many(all.len()).into()),
    }
}

fn spans(view: &View) -> Vec<Span> {
    let moments = manifest::moments(&view.record.manifest.phases);
    moments
        .filter_map(<[_]>::first)
        .map(|p| Span {
            name: p.moment().to_owned(),
            at_ns: (p.t0_ns, p.t1_ns),
            is_trial: matches!(view::role(p), Role::Probe | Role::Sweep | Role::Level),
        })
        .collect()
}

/// Events that phases do not show already.
fn events(view: &View) -> Vec<Mark> {
    let events = view.record.events.iter();
    events
        .filter(|e| !e.kind.starts_with("phase-"))
        .take(MAX_EVENTS)
        .map(|e| Mark {
            t_ns: e.t_ns,
            host: Some(e.host.clone()),
            says: e.says.clone().into(),
        })
        .collect()
}

fn problems(view: &View) -> Vec<Mark> {
    let problems = view.record.manifest.problems.iter();
    problems
        .take(MAX_PROBLEMS)
        .map(|p| Mark {
            t_ns: p.t_ns,
            host: None,
            says: p.says.clone().into(),
        })
        .collect()
}
