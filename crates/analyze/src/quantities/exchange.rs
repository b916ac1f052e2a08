//! Requests and their answers in one phase: rate, latency, errors, and what to say of them.

use sokudo_model::kinds::{Exchange as Numbers, Family, Kind, sql};
use sokudo_model::metric::{Metric, Stat};
use sokudo_model::{Evidence, FlowResult, Text, Unit};

use crate::quantities::silence;
use crate::view::PhaseView;

/// Use of the room for unanswered requests from which it counts as full.
const NEARLY_FULL: f64 = 0.8;
/// Part of the longest wait that one answer must have taken to be the reason for it.
const ABOUT_AS_LONG: f64 = 0.5;
/// Part of a wait for which the asking end may have stood still to be the reason for it: the time between two
/// samples.
const MOST_OF_IT: f64 = 0.8;
/// Part for which it must have: that time without the one that usually passes between them.
const SOME_OF_IT: f64 = 0.4;

/// One phase of requests and their answers.
#[derive(Debug, Clone, Copy)]
pub struct Exchange<'a> {
    view: PhaseView<'a>,
    /// Meaning of its numbers.
    pub kind: &'static Kind,
    /// Its metrics.
    pub numbers: &'static Numbers,
}

/// An asking end on which nothing went on for about as long as the longest answer took.
#[derive(Debug, Clone, Copy)]
pub struct StoodStill<'a> {
    /// The flow whose requests waited most often.
    pub flow: &'a FlowResult,
    /// Silence of its asking host, seconds.
    pub silent: f64,
    /// The same for the answering host; `None` where nothing observes it.
    pub far: Option<f64>,
}

impl StoodStill<'_> {
    /// Silence of each end.
    pub fn evidence(&self) -> impl Iterator<Item = Evidence> {
        let far = self.far.map(|far| silence::evidence(&self.flow.to, far));
        [silence::evidence(&self.flow.from, self.silent)]
            .into_iter()
            .chain(far)
    }
}

/// Share of an asked rate from which it was kept.
const CARRIED: f64 = 0.98;

/// Wait that counts however few had it, seconds: longer than the turn that a scheduler gives to another thread.
const NOTICEABLE_S: f64 = 0.02;

impl<'a> Exchange<'a> {
    /// The phase as requests and answers; `None` for any other.
    pub fn of(view: PhaseView<'a>) -> Option<Self> {
        let kind = view.kind()?;
        let Family::Exchange(numbers) = kind.family else {
            return None;
        };
        let exchange = Self {
            view,
            kind,
            numbers,
        };
        exchange.rate().map(|_| exchange)
    }

    /// Whether the answering end is a foreign server, and only the asking end is sokudo's.
    pub fn is_generator_only(&self) -> bool {
        self.numbers.between.is_none()
    }

    /// A total of the phase.
    pub fn total(&self, metric: Metric) -> Option<f64> {
        self.view.total(metric)
    }

    /// Answers per second.
    pub fn rate(&self) -> Option<f64> {
        self.total(self.numbers.per_second)
    }

    /// Whether requests were due and none of them was answered.
    pub fn is_unanswered(&self) -> bool {
        self.rate() == Some(0.0)
    }

    /// Answers per second that were asked for; `None` in a closed loop.
    pub fn asked(&self) -> Option<f64> {
        self.total(self.numbers.asked).filter(|rate| *rate > 0.0)
    }

    /// True where a rate was asked for and kept.
    pub fn keeps_its_rate(&self) -> bool {
        let kept = |asked: f64| self.rate().is_some_and(|rate| rate >= asked * CARRIED);
        self.asked().is_some_and(kept)
    }

    /// Whether the database that is loaded runs in the threads of the load: there is no far end then.
    pub fn is_embedded(&self) -> bool {
        self.total(sql::EMBEDDED_RATIO).is_some()
    }

    /// Whether requests waited because of the far end or the path to it; `None` when the figures are
    /// missing.
    ///
    /// It is so when answers take too long for the requested rate, or when the longest answer took about
    /// as long as the longest wait and the asking end did not stand still meanwhile. Otherwise the asking
    /// end stalled and its requests queued up.
    pub fn far_end_made_them_wait(&self) -> Option<bool> {
        let window: Option<f64> = self.view.option("window");
        let connections = self.total(self.numbers.open_connections)?.max(1.0);
        let room = connections * window.unwrap_or(1.0);
        let busy = self.view.stat(self.numbers.service, Stat::Mean)? * self.asked()? / room;
        let (longest, wait) = self.longest()?;
        let took_so_long = longest >= wait * ABOUT_AS_LONG && self.stood_still().is_none();
        Some(busy >= NEARLY_FULL || took_so_long)
    }

    /// An asking end that stood still while the longest answer waited to be read; the answering end, where
    /// it is observed, did not.
    pub fn stood_still(&self) -> Option<StoodStill<'a>> {
        let (longest, _) = self.longest()?;
        let (flow, _) = self.view.highest(self.numbers.window_full_ratio)?;
        self.stood_still_for(flow, longest)
    }

    /// The asking end of a flow that stood still for about so many seconds, and the answering one did not.
    pub fn stood_still_for(&self, flow: &'a FlowResult, seconds: f64) -> Option<StoodStill<'a>> {
        let (least, silent) = silence::bounds(&self.view, &flow.from)?;
        let far = silence::longest(&self.view, &flow.to);
        let far_went_on = far.is_none_or(|far| far < seconds * ABOUT_AS_LONG);
        let stood = silent >= seconds * MOST_OF_IT && least >= seconds * SOME_OF_IT;
        (stood && far_went_on).then_some(StoodStill { flow, silent, far })
    }

    /// The longest answer from its real start, and from its intended one, seconds.
    pub fn longest(&self) -> Option<(f64, f64)> {
        let most = |metric| self.view.stat(metric, Stat::Max);
        Some((most(self.numbers.service)?, most(self.numbers.latency)?))
    }

    /// True when a share of a flow's requests is so few of them, and the longest wait so short, that the waits
    /// say nothing about the load.
    pub fn is_hiccup(&self, flow: &FlowResult, share: f64) -> bool {
        let is_short = self.longest().is_some_and(|(_, wait)| wait < NOTICEABLE_S);
        is_short && self.view.are_few(self.numbers.answered, flow, share)
    }

    /// A message about its requests, which it can call by their name.
    fn named(&self, key: &str) -> Text {
        Text::new(key).word("what", self.numbers.noun.name())
    }

    /// Sentence about the result.
    pub fn achieved(&self, flows: Text) -> Text {
        let rate = self.rate().unwrap_or_default();
        if self.view.stat(self.numbers.latency, Stat::P50).is_none() {
            return match rate == 0.0 {
                true => self.named("verdict-exchange-none"),
                false => Text::new("verdict-exchange-untimed").number("rate", rate, Unit::One),
            }
            .text("flows", flows);
        }
        let (best, asked) = (self.best(), self.asked());
        let key = match (self.numbers.connects_each_time, best, asked) {
            // What was asked for are arrivals, which make several requests each.
            (_, _, Some(_)) if self.kind.is_plan => "verdict-jmx-open",
            (true, Some(_), _) => "verdict-crr-best",
            (false, Some(_), _) => "verdict-rr-best",
            (true, None, Some(_)) => "verdict-crr-open",
            (false, None, Some(_)) => "verdict-rr-open",
            (true, None, None) => "verdict-crr-closed",
            (false, None, None) => "verdict-rr-closed",
        };
        let text = self
            .named(key)
            .number("rate", best.unwrap_or(rate), Unit::One);
        let text = match (best, asked) {
            (None, Some(asked)) => text.number("asked", asked, Unit::One),
            _ => text,
        };
        self.after_own(self.latency(text.text("flows", flows)))
    }

    /// The sentence behind the workload's own numbers, for which people run it.
    fn after_own(&self, rest: Text) -> Text {
        let own = self.numbers.own.iter().filter_map(|metric| {
            let value = self.total(*metric)?;
            let name = Text::new(format!("report-metric-{}", metric.slug()));
            let text = Text::new("verdict-own").text("name", name);
            Some(text.number("value", value, metric.unit))
        });
        let all = own.reduce(|before, own| {
            let both = Text::new("verdict-own-and").text("before", before);
            both.text("own", own)
        });
        match all {
            Some(own) => Text::new("verdict-own-first")
                .text("own", own)
                .text("rest", rest),
            None => rest,
        }
    }

    fn latency(&self, text: Text) -> Text {
        let stats = [Stat::P50, Stat::P99, Stat::Max];
        stats.into_iter().fold(text, |text, stat| {
            let value = self.view.stat(self.numbers.latency, stat);
            text.number(stat.name(), value.unwrap_or(f64::NAN), Unit::Seconds)
        })
    }

    /// Requests that failed, when there are any: without an answer, with one that says so, or with
    /// one that was judged to be wrong.
    pub fn errors(&self) -> Option<Text> {
        let failed = self
            .total(self.numbers.error_ratio)
            .filter(|ratio| *ratio > 0.0)?;
        let of = |metric| self.total(metric).unwrap_or(0.0);
        let unstarted = of(self.numbers.unstarted);
        let lost = of(self.numbers.errors) + unstarted;
        // A closed loop has no requests that were due: what it could not try is told apart.
        let untried = if self.asked().is_none() {
            unstarted
        } else {
            0.0
        };
        let bad = self.bad_answers();
        let of_lost = match untried > 0.0 {
            true => "verdict-exchange-untried",
            false => "verdict-exchange-errors",
        };
        let (key, ratio) = match (self.numbers.bad_answers, bad > 0.0, lost > 0.0) {
            (Some(names), true, true) => (names.says_with_losses, failed),
            (Some(names), true, false) => (names.says, failed),
            // Others may have been judged to be wrong beside them.
            (Some(_), false, true) => {
                let due = of(self.numbers.answered) + lost;
                (of_lost, lost / due)
            }
            (None, _, true) => (of_lost, failed),
            (_, _, false) => ("verdict-judged", failed),
        };
        let text = self
            .named(key)
            .number("ratio", ratio, Unit::Ratio)
            .number("errors", lost - untried, Unit::One)
            .number("untried", untried, Unit::One)
            .number("bad", bad, Unit::One);
        let ports = self.total(self.numbers.ports_exhausted);
        let ports = ports.filter(|ports| *ports > 0.0);
        let why = match (ports, self.first_error()) {
            (Some(_), _) => Text::new("verdict-exchange-ports"),
            (None, Some(error)) => {
                Text::new("verdict-exchange-why").text("error", Text::recorded(error))
            }
            (None, None) if of(self.numbers.errors) == 0.0 => {
                self.named("verdict-exchange-unstarted")
            }
            (None, None) => Text::new("verdict-exchange-unknown"),
        };
        Some(text.text("why", why))
    }

    /// Responses that say of themselves that they are errors.
    fn bad_answers(&self) -> f64 {
        let classes = self.numbers.bad_answers.iter().flat_map(|bad| bad.metrics);
        classes.filter_map(|class| self.total(*class)).sum()
    }

    fn first_error(&self) -> Option<&'a str> {
        let flows = self.view.flows().iter();
        let mut errors = flows.filter_map(|flow| flow.labels.get("error"));
        errors.next().map(String::as_str)
    }

    fn best(&self) -> Option<f64> {
        let summary = &self.view.record.manifest.summary;
        let best = self.numbers.best.of(summary);
        best.filter(|_| self.view.is_confirm())
    }
}
