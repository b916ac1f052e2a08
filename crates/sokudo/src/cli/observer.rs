//! Progress of a run on the terminal.
//!
//! Everything here goes to stderr; what is drawn again and again only where that is a terminal.

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use sokudo_controller::{Observer, Progress};
use sokudo_i18n::{I18n, Lang};
use sokudo_model::kinds::datagram;
use sokudo_model::metrics::selftest;
use sokudo_model::{Batch, Metric, PhasePlan, PhaseRecord, Text, Unit, harmless, units};
use sokudo_session::specs::copying::{Copying, Standing};
use sokudo_wire::Health;

use super::live::intervals::Intervals;
use super::live::screen::{Screen, SharedPhase, is_large_enough, lock};
use super::live::{LiveArgs, panes, status, wants_lines};
use super::screen::{bar_target, escapes, tell, tell_behind, width};

/// Tick marks for datagrams, as the datagram test draws them.
#[derive(Debug, Clone, Copy)]
pub struct Ticks {
    /// Datagrams per mark.
    pub every: u64,
}

/// Distance between two lines about the rates so far.
#[derive(Debug, Clone, Copy)]
pub enum ReportEvery {
    /// After so many nanoseconds.
    Time(u64),
    /// After so many datagrams delivered.
    Packets(u64),
}

/// Shows a bar per phase and a line when it is over.
pub struct Terminal {
    i18n: I18n,
    bar: Option<ProgressBar>,
    /// Bars are drawn where the terminal takes them.
    bars: bool,
    ticks: Option<Ticker>,
    every: Option<(ReportEvery, f64)>,
    counts: Counts,
    course: SharedPhase,
    /// Holds the whole terminal while a phase goes on.
    screen: Option<Screen>,
    is_full_screen: bool,
    lines: Option<Intervals>,
    /// Of trees of files.
    copying: Copying,
    /// Another observer.
    beside: Option<Box<dyn Observer>>,
}

/// Datagrams so far, from the rates of the batches.
#[derive(Default)]
struct Counts {
    sent: f64,
    delivered: f64,
    delivered_bits_per_s: f64,
    last_ns: std::collections::BTreeMap<(String, bool), i64>,
    now_ns: i64,
    interval_s: f64,
}

struct Ticker {
    every: f64,
    out_marks: u64,
    in_marks: u64,
    /// Marks stand in a line that has no end yet.
    in_line: bool,
}

impl Terminal {
    /// Shows progress in this language.
    pub fn new(lang: Lang, ticks: Option<Ticks>, every: Option<ReportEvery>) -> Self {
        Self {
            i18n: I18n::new(lang),
            bar: None,
            bars: ticks.is_none() && every.is_none(),
            ticks: ticks.map(|t| Ticker {
                every: t.every.max(1) as f64,
                out_marks: 0,
                in_marks: 0,
                in_line: false,
            }),
            every: every.map(|every| (every, 0.0)),
            counts: Counts::default(),
            course: SharedPhase::default(),
            screen: None,
            is_full_screen: false,
            lines: None,
            copying: Copying::default(),
            beside: None,
        }
    }

    /// The same, with another observer that gets everything, too.
    pub fn beside(mut self, other: Option<Box<dyn Observer>>) -> Self {
        self.beside = other;
        self
    }

    /// The same, told how far apart the samples of a flow are: how much the first of them counts, and how
    /// far apart lines are where the interval was typed.
    pub fn sampling_every(mut self, interval_ns: u64) -> Self {
        self.counts.interval_s = interval_ns as f64 / 1e9;
        let wanted = wants_lines(&super::typed()) && self.bars;
        self.lines = wanted.then(|| Intervals::every(interval_ns));
        self
    }

    /// The same, on the whole terminal where that is wanted and the terminal is able to.
    pub fn live(mut self, live: LiveArgs) -> Self {
        let size =
            terminal_size::terminal_size().map_or((0, 0), |(columns, lines)| (columns.0, lines.0));
        let is_able = escapes(&std::io::stderr());
        self.is_full_screen = live.live && is_able && is_large_enough(size);
        if live.live && !is_able {
            tell(&self.i18n.message("live-no-screen", &[]));
        } else if live.live && !self.is_full_screen {
            let (columns, lines) = (panes::SMALLEST.0.to_string(), panes::SMALLEST.1.to_string());
            let has = format!("{} × {}", size.0, size.1);
            let values = [
                ("columns", columns.as_str()),
                ("lines", &lines),
                ("has", &has),
            ];
            tell(&self.i18n.message("live-too-small", &values));
        }
        self
    }

    fn clear(&mut self) {
        self.screen = None;
        if let Some(bar) = self.bar.take() {
            bar.finish_and_clear();
        }
        if let Some(ticker) = &mut self.ticks {
            ticker.end_line();
        }
    }

    fn begin(&mut self, plan: &PhasePlan) {
        self.clear();
        self.counts.last_ns.clear();
        self.copying = Copying::default();
        lock(&self.course).begin(&plan.name, plan.duration_ns);
        if let Some(lines) = &mut self.lines {
            lines.begin();
            return;
        }
        if self.is_full_screen {
            let title = format!("sokudo {}", harmless(&plan.workload));
            self.screen = Screen::open(&self.course, self.i18n.lang(), title).ok();
            if self.screen.is_some() {
                return;
            }
        }
        let bar = ProgressBar::with_draw_target(None, self.target());
        if let Ok(style) = ProgressStyle::with_template("{msg}") {
            bar.set_style(style);
        }
        self.bar = Some(bar);
    }

    fn target(&self) -> ProgressDrawTarget {
        match self.bars {
            true => bar_target(),
            false => ProgressDrawTarget::hidden(),
        }
    }

    fn end(&mut self, record: &PhaseRecord) {
        self.clear();
        let line = self.phase_line(record);
        if !line.is_empty() {
            tell_behind(&format!("  {:<11} ", harmless(&record.name)), &line);
        }
    }

    /// One line about what a phase came to.
    fn phase_line(&self, record: &PhaseRecord) -> String {
        let summary = &record.result.summary;
        let get = |name: &str| summary.get(name).copied();
        if let Some(rate) = get(datagram::DELIVERED_PACKETS_PER_SECOND.name) {
            let bits = get(datagram::DELIVERED_BITS_PER_SECOND.name).unwrap_or(0.0);
            let loss = get(datagram::LOSS_RATIO.name).unwrap_or(0.0);
            return self.i18n.message(
                "cli-phase-datagram",
                &[
                    ("rate", &units::human(rate, Unit::PacketsPerSecond)),
                    ("bits", &units::human(bits, Unit::BitsPerSecond)),
                    ("loss", &units::percent(loss)),
                ],
            );
        }
        if let Some(line) = sokudo_report::phase_line(record, self.i18n.lang()) {
            return line;
        }
        let modes = record.result.flows.iter().filter_map(|flow| {
            let rate = flow
                .metrics
                .get(selftest::DELIVERED_PACKETS_PER_SECOND.name)?;
            let mode = flow.labels.get("mode")?;
            Some(format!(
                "{mode} {}",
                units::human(*rate, Unit::PacketsPerSecond)
            ))
        });
        modes.collect::<Vec<_>>().join(" · ")
    }

    fn note_batch(&mut self, batch: &Batch) {
        self.counts.add(batch);
        lock(&self.course).take(batch);
        if let Some(lines) = &mut self.lines {
            lines.take(batch);
        }
        self.copying.add(batch);
        if let Some(ticker) = &mut self.ticks {
            ticker.draw(self.counts.sent, self.counts.delivered);
        }
        self.interim();
    }

    /// The line of an interval that ended with the load.
    fn last_line(&mut self) {
        let mut course = lock(&self.course);
        if let Some(lines) = &mut self.lines {
            let left = lines.end(&mut course, &self.i18n);
            left.iter().for_each(|line| eprintln!("{line}"));
        }
    }

    /// Shows how far the load has come.
    fn elapsed(&mut self, elapsed_ns: u64, begin_ns: i64) {
        let mut course = lock(&self.course);
        let is_due = course.elapsed(elapsed_ns);
        if let Some(bar) = self.bar.as_ref().filter(|_| is_due && self.lines.is_none()) {
            let mut lines = status::lines(&course, &self.i18n, width());
            if self.copying.is_known() {
                let says = self.i18n.text(&left(&self.copying.standing()));
                lines.push(format!("  {says}"));
            }
            bar.set_message(lines.join("\n"));
        }
        if let Some(lines) = &mut self.lines {
            let over = lines.over(&mut course, (begin_ns, elapsed_ns), &self.i18n);
            over.iter().for_each(|line| eprintln!("{line}"));
        }
    }

    /// A line about the rates so far, when it is time.
    fn interim(&mut self) {
        let Some((every, done)) = &mut self.every else {
            return;
        };
        let (progress, step) = match every {
            ReportEvery::Time(ns) => (self.counts.now_ns as f64, *ns as f64),
            ReportEvery::Packets(packets) => (self.counts.delivered, *packets as f64),
        };
        if progress - *done < step {
            return;
        }
        *done = progress;
        if let Some(ticker) = &mut self.ticks {
            ticker.end_line();
        }
        eprintln!(
            "  {:>8}  {}",
            units::duration(self.counts.now_ns as f64 / 1e9),
            self.i18n.message(
                "cli-interim",
                &[
                    ("delivered", &units::grouped(self.counts.delivered as u64)),
                    (
                        "bits",
                        &units::human(self.counts.delivered_bits_per_s, Unit::BitsPerSecond)
                    ),
                ],
            )
        );
    }
}

/// Sentence about how far replications are.
fn left(standing: &Standing) -> Text {
    let key = match (standing.left, standing.is_listed) {
        (Some(_), true) => "cli-copies-left",
        (Some(_), false) => "cli-copies-left-least",
        (None, _) => "cli-copies",
    };
    let seconds = standing.left.map_or(0.0, |left| left.seconds);
    Text::new(key)
        .number("rate", standing.bytes_per_s, Unit::BytesPerSecond)
        .number("files", standing.queued_files, Unit::One)
        .number("bytes", standing.queued_bytes, Unit::Bytes)
        .number("time", seconds, Unit::Seconds)
}

impl Counts {
    fn add(&mut self, batch: &Batch) {
        for series in &batch.series {
            let is = |metric: Metric| series.key.metric == metric.name;
            if is(datagram::DELIVERED_BITS_PER_SECOND) {
                if let Some((_, bits)) = series.points.last() {
                    self.delivered_bits_per_s = *bits;
                }
                continue;
            }
            let sent = is(datagram::SENT_PACKETS_PER_SECOND);
            if !sent && !is(datagram::DELIVERED_PACKETS_PER_SECOND) {
                continue;
            }
            let flow = series.key.labels.get("flow").cloned().unwrap_or_default();
            for (t_ns, rate) in &series.points {
                let last = self.last_ns.insert((flow.clone(), sent), *t_ns);
                let seconds = last.map_or(self.interval_s, |last| (t_ns - last) as f64 / 1e9);
                let total = if sent {
                    &mut self.sent
                } else {
                    &mut self.delivered
                };
                *total += rate * seconds.clamp(0.0, 60.0);
                self.now_ns = self.now_ns.max(*t_ns);
            }
        }
    }
}

impl Ticker {
    fn draw(&mut self, sent: f64, delivered: f64) {
        let mut text = String::new();
        for (marks, count, small, large) in [
            (&mut self.out_marks, sent, 'o', 'O'),
            (&mut self.in_marks, delivered, 'i', 'I'),
        ] {
            let due = (count / self.every) as u64;
            // A line full is enough for one interval; the marks that are left out are counted.
            for _ in 0..due.saturating_sub(*marks).min(80) {
                *marks += 1;
                text.push(if marks.is_multiple_of(10) {
                    large
                } else {
                    small
                });
            }
            *marks = due;
        }
        if !text.is_empty() {
            eprint!("{text}");
            self.in_line = true;
        }
    }

    /// Whatever is written next stands in a line of its own.
    fn end_line(&mut self) {
        if std::mem::take(&mut self.in_line) {
            eprintln!();
        }
    }
}

impl Observer for Terminal {
    fn note(&mut self, progress: &Progress<'_>) {
        if let Some(other) = &mut self.beside {
            other.note(progress);
        }
        match progress {
            Progress::Doing(what) => {
                self.clear();
                let bar = ProgressBar::with_draw_target(None, self.target());
                if !bar.is_hidden() {
                    bar.set_style(ProgressStyle::default_spinner());
                    bar.set_message(self.i18n.text(what));
                    bar.enable_steady_tick(std::time::Duration::from_millis(120));
                    self.bar = Some(bar);
                }
            }
            Progress::Ready => self.clear(),
            Progress::Says(what) => {
                self.clear();
                tell(&self.i18n.text(what));
            }
            Progress::PhaseBegins(plan) => self.begin(plan),
            Progress::Elapsed {
                elapsed_ns,
                begin_ns,
            } => self.elapsed(*elapsed_ns, *begin_ns),
            Progress::Batch(batch) => self.note_batch(batch),
            Progress::PhaseEnds(moment) => {
                self.last_line();
                moment.iter().for_each(|phase| self.end(phase));
            }
            Progress::Problem(problem) => {
                self.clear();
                tell_behind("  ! ", &self.i18n.text(&problem.says));
            }
            // That it is lost is said as a problem.
            Progress::Health {
                health: Health::Lost,
                ..
            } => {}
            Progress::Health { says, .. } => {
                self.clear();
                tell(&self.i18n.text(says));
            }
        }
    }
}
