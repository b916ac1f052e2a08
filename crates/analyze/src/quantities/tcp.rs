//! The kernel's state of a flow's TCP connection during a phase.
//!
//! Linux keeps three clocks per connection, of which at most one runs (`tcp_chrono` in
//! linux/tcp.h): the peer's window is full; the own send buffer is too small; or, with data to send
//! or under way, neither. The counter of busy time is the sum of all three. What is left of it is
//! limited by the congestion window, or by nothing at all.

use sokudo_model::metric::Metric;
use sokudo_model::metrics::tcp;
use sokudo_model::{Evidence, FlowResult, Series};

use crate::quantities::ends::{End, as_share};
use crate::view::PhaseView;

const BUSY: Metric = tcp::BUSY_SECONDS;
const RECEIVE_WINDOW: Metric = tcp::RECEIVE_WINDOW_LIMITED_SECONDS;
const SEND_BUFFER: Metric = tcp::SEND_BUFFER_LIMITED_SECONDS;
const SMOOTHED: Metric = tcp::SMOOTHED_RTT_SECONDS;
const LOWEST: Metric = tcp::MIN_RTT_SECONDS;
const DELIVERY: Metric = tcp::DELIVERY_RATE_BYTES_PER_SECOND;
const RETRANSMITTED: Metric = tcp::RETRANSMITTED_SEGMENTS;
const SENT: Metric = tcp::SENT_SEGMENTS;
const SEND_QUEUE: Metric = tcp::SEND_QUEUE_BYTES;
const NOT_SENT: Metric = tcp::NOT_SENT_BYTES;

/// Round trips above the lowest one from which a queue stands on the way.
pub const QUEUED: f64 = 1.5;
/// Shorter queues than this are everywhere, seconds.
pub const QUEUE_S: f64 = 0.0005;

/// Segments sent again in the first half of a phase from which others would follow if the way lost them.
const AT_BEGIN: f64 = 10.0;
/// Samples of the delivery rate from which its steadiness means something.
const ENOUGH: usize = 10;

/// The connection of one flow, seen from one end.
#[derive(Debug, Clone)]
pub struct Connection<'a> {
    view: PhaseView<'a>,
    host: &'a str,
    end: End,
    /// Label of its series.
    label: String,
}

/// Limits of the sending side: shares of the observed time.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Limits {
    /// Data to send or under way.
    pub busy: f64,
    /// Of that, the peer's receive window was full.
    pub receive_window: f64,
    /// Of that, the own send buffer was too small.
    pub send_buffer: f64,
}

impl Limits {
    /// The rest of the busy time: the congestion window decided, or nothing did.
    pub fn congestion_window(&self) -> f64 {
        (self.busy - self.receive_window - self.send_buffer).max(0.0)
    }

    /// Share of the time that the receive window held the sender back. Where it did so more than the send buffer, the
    /// time of both counts: they are windows of one size at its two ends, and the kernel names whichever it meets.
    pub fn by_receive_window(&self) -> f64 {
        of_both(self.receive_window, self.send_buffer)
    }

    /// The same of the send buffer.
    pub fn by_send_buffer(&self) -> f64 {
        of_both(self.send_buffer, self.receive_window)
    }
}

fn of_both(own: f64, other: f64) -> f64 {
    if own > other { own + other } else { own }
}

/// Round trips of a connection, seconds.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RoundTrips {
    /// Mean of the smoothed ones.
    pub mean: f64,
    /// Lowest one.
    pub lowest: f64,
    /// Share of the readings that are so much above the lowest one that a queue stood: [`QUEUED`] times it, and
    /// [`QUEUE_S`] more.
    pub queued: f64,
}

impl RoundTrips {
    /// Difference between the mean round trip and the lowest, seconds: time spent in queues.
    pub fn queueing(&self) -> f64 {
        (self.mean - self.lowest).max(0.0)
    }
}

/// A time in which one end had something to send and sent nothing new.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Stall {
    /// Its length, seconds.
    pub seconds: f64,
    /// Begin, seconds since the start of the phase.
    pub begin_s: f64,
    /// Segments sent again meanwhile.
    pub again: f64,
    begin_ns: i64,
    end_ns: i64,
}

impl<'a> Connection<'a> {
    /// The connection of `flow`, which is one of the view's, seen from `end`.
    pub fn of(view: PhaseView<'a>, flow: &'a FlowResult, end: End) -> Self {
        let pair = format!("{}→{}", flow.from, flow.to);
        let same = |other: &&FlowResult| other.from == flow.from && other.to == flow.to;
        let before = view.flows().iter().filter(same);
        let number = before.take_while(|other| other.id != flow.id).count() + 1;
        let numbered = format!("{pair} #{number}");
        let host = match end {
            End::Sender => flow.from.as_str(),
            End::Receiver => flow.to.as_str(),
        };
        let mut connection = Self {
            view,
            host,
            end,
            label: numbered,
        };
        if number == 1 && connection.series(SMOOTHED).is_none() {
            connection.label = pair;
        }
        connection
    }

    fn labels(&self) -> [(&str, &str); 2] {
        [("flow", self.label.as_str()), ("end", self.end.label())]
    }

    fn series(&self, metric: Metric) -> Option<&'a Series> {
        self.view
            .series(Some(self.host), metric, &self.labels())
            .next()
    }

    /// Values during the phase, with their times.
    fn points(&self, metric: Metric) -> Vec<(i64, f64)> {
        let (t0, t1) = (self.view.phase.t0_ns, self.view.phase.t1_ns);
        let points = self.series(metric).into_iter().flat_map(|s| &s.points);
        let inside = points.filter(|(t, v)| (t0..=t1).contains(t) && v.is_finite());
        inside.copied().collect()
    }

    /// Growth of a counter between its first and its last reading, and the seconds between them.
    fn growth(&self, metric: Metric) -> Option<(f64, f64)> {
        let points = self.points(metric);
        let ((t0, first), (t1, last)) = (*points.first()?, *points.last()?);
        let seconds = (t1 - t0) as f64 / 1e9;
        (seconds > 0.0).then(|| ((last - first).max(0.0), seconds))
    }

    /// Segments that this end sent per second.
    pub fn sent_per_second(&self) -> Option<f64> {
        self.growth(SENT).map(|(sent, seconds)| sent / seconds)
    }

    /// Growth of a counter during the phase.
    pub fn grown(&self, metric: Metric) -> Option<f64> {
        self.growth(metric).map(|(grown, _)| grown)
    }

    fn share(&self, metric: Metric) -> Option<f64> {
        let (grown, seconds) = self.growth(metric)?;
        Some((grown / seconds).clamp(0.0, 1.0))
    }

    /// The host of this end.
    pub fn host(&self) -> &'a str {
        self.host
    }

    /// The same connection, seen from the other end; `flow` is the one it is of.
    pub fn far_end(&self, flow: &'a FlowResult) -> Self {
        match self.end {
            End::Sender => Self::of(self.view, flow, End::Receiver),
            End::Receiver => Self::of(self.view, flow, End::Sender),
        }
    }

    /// The longest time in which bytes waited in the send queue and no segment was sent for the first
    /// time; `None` where the kernel does not tell, or it was never so.
    pub fn longest_stall(&self) -> Option<Stall> {
        let (queue, again) = (self.points(SEND_QUEUE), self.points(RETRANSMITTED));
        let at = |points: &[(i64, f64)], t: i64| {
            let index = points.partition_point(|(time, _)| *time <= t);
            points.get(index.checked_sub(1)?).map(|(_, value)| *value)
        };
        let mut longest: Option<Stall> = None;
        let mut open: Option<(i64, f64, f64)> = None;
        for (t, sent) in self.points(SENT) {
            let resent = at(&again, t).unwrap_or(0.0);
            let waits = at(&queue, t).is_some_and(|bytes| bytes > 0.0);
            let fresh = sent - resent;
            let goes_on = open.filter(|(_, before, _)| waits && fresh <= *before);
            let Some((begin_ns, _, before)) = goes_on else {
                open = waits.then_some((t, fresh, resent));
                continue;
            };
            let seconds = (t - begin_ns) as f64 / 1e9;
            if longest.is_none_or(|longest| seconds > longest.seconds) {
                longest = Some(Stall {
                    seconds,
                    begin_s: (begin_ns - self.view.phase.t0_ns) as f64 / 1e9,
                    again: resent - before,
                    begin_ns,
                    end_ns: t,
                });
            }
        }
        longest
    }

    /// Readings of the connection after a stall.
    pub fn readings_after(&self, stall: Stall) -> usize {
        let points = self.points(SENT).into_iter();
        points.filter(|(t, _)| *t > stall.end_ns).count()
    }

    /// The last reading of a gauge during a stall.
    pub fn last_in(&self, metric: Metric, stall: Stall) -> Option<f64> {
        let points = self.points(metric).into_iter();
        let mut inside = points.filter(|(t, _)| (stall.begin_ns..=stall.end_ns).contains(t));
        inside.next_back().map(|(_, value)| value)
    }

    /// Mean of a gauge during the phase.
    pub fn mean(&self, metric: Metric) -> Option<f64> {
        let points = self.points(metric);
        let sum: f64 = points.iter().map(|(_, value)| value).sum();
        (!points.is_empty()).then(|| sum / points.len() as f64)
    }

    /// Largest value of a gauge during the phase.
    pub fn highest(&self, metric: Metric) -> Option<f64> {
        let points = self.points(metric).into_iter();
        points.map(|(_, value)| value).max_by(f64::total_cmp)
    }

    /// Limits of the sending side; `None` where the kernel does not report them.
    pub fn limits(&self) -> Option<Limits> {
        Some(Limits {
            busy: self.share(BUSY)?,
            receive_window: self.share(RECEIVE_WINDOW)?,
            send_buffer: self.share(SEND_BUFFER)?,
        })
    }

    /// Its round trips. Where the kernel does not keep the lowest one, the lowest smoothed one of
    /// the phase stands for it: the first ones are made before queues fill.
    pub fn round_trips(&self) -> Option<RoundTrips> {
        let mean = self.mean(SMOOTHED)?;
        let lowest = |metric| {
            let points = self.points(metric).into_iter();
            points.map(|(_, value)| value).min_by(f64::total_cmp)
        };
        let lowest = lowest(LOWEST).or_else(|| lowest(SMOOTHED))?;
        let readings = self.points(SMOOTHED);
        let is_queued = |trip: f64| trip >= lowest * QUEUED && trip - lowest >= QUEUE_S;
        let queued = readings.iter().filter(|(_, trip)| is_queued(*trip)).count();
        let queued = queued as f64 / readings.len().max(1) as f64;
        Some(RoundTrips {
            mean,
            lowest,
            queued,
        })
    }

    /// Share of the readings at which bytes had been written and not been sent yet.
    pub fn not_sent(&self) -> Option<f64> {
        let readings = self.points(NOT_SENT);
        let waiting = readings.iter().filter(|(_, bytes)| *bytes > 0.0).count();
        (!readings.is_empty()).then(|| waiting as f64 / readings.len() as f64)
    }

    /// Segments retransmitted during the phase, and their share of those sent.
    pub fn retransmitted(&self) -> Option<(f64, f64)> {
        let (again, _) = self.growth(RETRANSMITTED)?;
        let (sent, _) = self.growth(SENT)?;
        (sent > 0.0).then(|| (again, (again / sent).min(1.0)))
    }

    /// True where many segments were sent again in the first half of the phase and none in the second: TCP had found
    /// out, by filling the queue, what the way carries. Losses of the way would have gone on.
    pub fn lost_at_its_begin(&self) -> bool {
        let again = self.points(RETRANSMITTED);
        let Some(middle) = again.get(again.len() / 2) else {
            return false;
        };
        let (first, last) = (again[0].1, again[again.len() - 1].1);
        middle.1 - first >= AT_BEGIN && last <= middle.1
    }

    /// Mean delivery rate of the second half of the phase, bytes per second, and its spread: the
    /// standard deviation over the mean. The first half may hold the slow start.
    pub fn delivery(&self) -> Option<(f64, f64)> {
        let points = self.points(DELIVERY);
        let half = &points[points.len() / 2..];
        if half.len() < ENOUGH {
            return None;
        }
        let n = half.len() as f64;
        let mean = half.iter().map(|(_, v)| v).sum::<f64>() / n;
        let square = half.iter().map(|(_, v)| (v - mean).powi(2)).sum::<f64>();
        (mean > 0.0).then(|| (mean, (square / n).sqrt() / mean))
    }

    /// Evidence that is a number of this connection.
    pub fn evidence(&self, key: &str, metric: Metric, value: f64) -> Evidence {
        let mut evidence = self.view.evidence(key, metric, self.host, value);
        let labels = self.labels();
        evidence.labels = labels.map(|(n, v)| (n.into(), v.into())).into();
        evidence
    }

    /// Share of the time in which the peer's window was full.
    pub fn receive_window_evidence(&self) -> Option<Evidence> {
        self.share_evidence("evidence-tcp-receive-window", RECEIVE_WINDOW)
    }

    /// Share of the time in which the send buffer was too small.
    pub fn send_buffer_evidence(&self) -> Option<Evidence> {
        self.share_evidence("evidence-tcp-send-buffer", SEND_BUFFER)
    }

    /// Share of the time in which there was anything to send or under way.
    pub fn busy_evidence(&self) -> Option<Evidence> {
        self.share_evidence("evidence-tcp-busy", BUSY)
    }

    fn share_evidence(&self, key: &str, metric: Metric) -> Option<Evidence> {
        let share = self.share(metric)?;
        Some(as_share(self.evidence(key, metric, share), share))
    }

    /// Round-trip times, beside the lowest one.
    pub fn round_trip_evidence(&self) -> Option<Evidence> {
        let trips = self.round_trips()?;
        let mut evidence = self.evidence("evidence-tcp-round-trips", SMOOTHED, trips.mean);
        let unit = sokudo_model::Unit::Seconds;
        evidence.says = evidence.says.number("lowest", trips.lowest, unit);
        Some(evidence)
    }

    /// Share of the readings with bytes that were not sent yet.
    pub fn not_sent_evidence(&self) -> Option<Evidence> {
        let share = self.not_sent()?;
        Some(as_share(
            self.evidence("evidence-tcp-not-sent", NOT_SENT, share),
            share,
        ))
    }

    /// Number of segments sent again.
    pub fn retransmission_evidence(&self) -> Option<Evidence> {
        let (again, share) = self.retransmitted()?;
        let mut evidence = self.evidence("evidence-tcp-retransmitted", RETRANSMITTED, again);
        evidence.says = evidence
            .says
            .number("share", share, sokudo_model::Unit::Ratio);
        Some(evidence)
    }

    /// Spread of the rate at which the peer acknowledged.
    pub fn evenness_evidence(&self) -> Option<Evidence> {
        let (_, spread) = self.delivery()?;
        let evidence = self.evidence("evidence-tcp-even", DELIVERY, spread);
        Some(as_share(evidence, spread))
    }

    /// Rate at which the peer acknowledged, and its spread.
    pub fn delivery_evidence(&self) -> Option<Evidence> {
        let (mean, spread) = self.delivery()?;
        let mut evidence = self.evidence("evidence-tcp-delivery", DELIVERY, mean);
        let unit = sokudo_model::Unit::Ratio;
        evidence.says = evidence.says.number("spread", spread, unit);
        evidence.says =
            evidence
                .says
                .number("value", mean * 8.0, sokudo_model::Unit::BitsPerSecond);
        Some(evidence)
    }
}
