//! Time budget of the requests of a load on servers, and how many of them the server works on at a time.
//!
//! ```text
//! under way   = rate × mean time of a request          (Little's law)
//! worked on   = rate × shortest time of a request      what would be under way if none waited for another
//! ```
//!
//! The shortest time is that of a request which found the server free: of many that begin together, the
//! first. Where requests take much longer than that, they wait for one another.

use sokudo_model::kinds::http;
use sokudo_model::metric::{Metric, Stat};
use sokudo_model::metrics::{postgres, process};
use sokudo_model::spent::{N_STAGES, STAGE_MEANS, STAGES};
use sokudo_model::{Evidence, Unit};

use crate::quantities::exchange::Exchange;
use crate::quantities::{server, service_times};
use crate::view::PhaseView;

/// Time that a round trip takes above the lowest one, seconds, beyond which the kernel's own delay of an
/// acknowledgement does not explain it: that of Linux is 40 ms while data come (`TCP_DELACK_MIN`), and its timer is
/// late by a tick.
pub const BEYOND_DELAYED_S: f64 = 0.0445;
/// Times the lowest round trip from which the mean one has waited in a queue.
pub const GROWN: f64 = 3.0;

/// Part of a time that the mean round trip makes up, from which it may have passed on the way.
const ON_THE_WAY: f64 = 0.5;

/// Part of the mean round trip that the median request must take where the round trips are long because of a queue.
const MOST_OF_ONE: f64 = 0.75;

/// Samples of a connection's round trip from which it is known how much of a step the smoothed one shows.
const SAMPLES: f64 = 4.0;

/// Share of a core from which the asking thread may be the reason itself.
pub const BUSY: f64 = 0.8;
/// Share of the users that are under way up to which their pauses set the rate.
const PAUSING: f64 = 0.5;
/// Requests at a time up to which they are served one by one.
pub const ONE: f64 = 1.6;
/// Times the shortest request from which requests wait for one another.
pub const QUEUED: f64 = 3.0;
/// Times the median request up to which the 90th percentile is that of a queue in which all wait alike.
pub const ALIKE: f64 = 1.6;
/// Part of the requests that is quicker than the rest.
const QUICK: f64 = 0.1;
/// Times the 10th percentile up to which the median is that of a queue in which all wait alike: several times of work
/// that vary by themselves add up to one that varies less.
const ALIKE_QUICK: f64 = 2.0;
/// Share of the times between answers that are about as long as the mean one, from which they come at a pace.
pub const PACED: f64 = 0.8;
/// Share of the times between answers that one worker alone does not make, from which there are several.
pub const SEVERAL: f64 = 0.3;
/// Share of the time that passes in long gaps between answers, from which nothing is done in them.
pub const PAUSED: f64 = 0.3;
/// Requests under way below which nothing can queue.
const FEW: f64 = 2.0;
/// Cores that a server wants up to which CPU time is not what it lacks.
const LEISURE: f64 = 0.5;
/// Shortest request that can be told from the scheduling of threads, seconds.
const CLEAR_S: f64 = 0.000_1;

/// The requests of one phase.
#[derive(Debug, Clone, Copy)]
pub struct Requests<'a> {
    view: PhaseView<'a>,
    /// Requests as exchanges.
    pub exchange: Exchange<'a>,
    /// Mean time in each stage, seconds.
    means: [f64; N_STAGES],
}

/// One stage of the requests.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Stage {
    /// Its name, one of [`STAGES`].
    pub name: &'static str,
    /// Metric of its mean.
    pub metric: Metric,
    /// Mean over all requests, seconds.
    pub mean: f64,
    /// Share of the time of a request, 0 to 1.
    pub share: f64,
}

/// Part of a step of the round trip that the smoothed one shows, as the mean over its first `samples`: each moves it
/// by an eighth of what is left (RFC 6298), from the round trip of the handshake on.
fn shown(samples: f64) -> f64 {
    const LEFT: f64 = 7.0 / 8.0;
    if samples < SAMPLES {
        return 1.0;
    }
    let left = LEFT * (1.0 - LEFT.powf(samples)) / (1.0 - LEFT);
    1.0 - left / samples
}

impl<'a> Requests<'a> {
    /// The phase as requests whose stages were timed; `None` for any other.
    pub fn of(view: &PhaseView<'a>) -> Option<Self> {
        let exchange = Exchange::of(*view).filter(|one| one.rate() > Some(0.0))?;
        let mut means = [0.0; N_STAGES];
        for (mean, metric) in means.iter_mut().zip(STAGE_MEANS) {
            *mean = view.total(metric)?;
        }
        let requests = Self {
            view: *view,
            exchange,
            means,
        };
        (requests.mean() > 0.0).then_some(requests)
    }

    /// Mean time of a request from its real start, seconds: its wait for a free connection does not count.
    pub fn mean(&self) -> f64 {
        self.means.iter().skip(1).sum()
    }

    /// A stage by its name.
    pub fn stage(&self, name: &str) -> Option<Stage> {
        self.stages().find(|stage| stage.name == name)
    }

    /// The stages after the start of a request.
    pub fn stages(&self) -> impl Iterator<Item = Stage> {
        let all = self.mean();
        let each = STAGES.into_iter().zip(STAGE_MEANS).zip(self.means);
        each.skip(1).map(move |((name, metric), mean)| Stage {
            name,
            metric,
            mean,
            share: mean / all,
        })
    }

    /// The stage in which most of the time passes.
    pub fn longest_stage(&self) -> Option<Stage> {
        self.stages().max_by(|a, b| a.mean.total_cmp(&b.mean))
    }

    /// Share of a request in connecting and in the TLS handshake.
    pub fn connecting(&self) -> Option<f64> {
        let share = |name| self.stage(name).map(|stage| stage.share);
        Some(share("connect")? + share("tls")?)
    }

    /// Share of the time for which the busiest asking thread was on a CPU, or ready for one.
    pub fn asking_thread(&self) -> f64 {
        let near = self.exchange.kind.ends.near;
        let most = |metric: Option<Metric>| metric.and_then(|metric| self.view.highest(metric));
        let shares = [Some(near.cpu), near.wait].map(most);
        shares.into_iter().flatten().map(|(_, share)| share).sum()
    }

    /// True where a rate was asked for and kept.
    pub fn are_carried(&self) -> bool {
        self.exchange.keeps_its_rate()
    }

    /// True for users whose pauses set the rate: few of them have a request under way.
    pub fn users_pause(&self) -> bool {
        let users = self.view.highest_mean(None, http::ACTIVE_USERS, &[]);
        let pausing = |(_, users): (_, f64)| self.under_way() < users * PAUSING;
        self.exchange.kind.is_plan && users.is_some_and(pausing)
    }

    /// Requests under way at a time, on average.
    pub fn under_way(&self) -> f64 {
        self.exchange.rate().unwrap_or(0.0) * self.mean()
    }

    /// Shortest time of a request on a connection that stood, seconds.
    pub fn shortest(&self) -> Option<f64> {
        self.view.total(http::SHORTEST_WAIT_SECONDS)
    }

    /// Requests that the server works on at a time, if each takes the shortest time.
    pub fn worked_on(&self) -> Option<f64> {
        Some(self.exchange.rate()? * self.shortest()?)
    }

    /// True for requests of a plan with several labels: that some take longer than others says nothing of a queue.
    pub fn are_mixed(&self) -> bool {
        let flows = self.view.flows().iter();
        let labels = flows.filter(|flow| !flow.labels.contains_key("kind"));
        self.exchange.kind.is_plan && labels.count() > 1
    }

    /// True where a request waits far longer for its answer than the quickest did, as where requests wait for one
    /// another: times of their own that vary look the same but for how answers follow each other, and how alike the
    /// waits are.
    pub fn wait_for_one_another(&self) -> bool {
        let wait = self.stage("wait").map_or(0.0, |stage| stage.mean);
        let longer = self.shortest().is_some_and(|shortest| {
            shortest >= CLEAR_S && wait >= shortest * QUEUED && self.under_way() >= FEW
        });
        longer && !self.are_mixed()
    }

    /// True where nearly all requests take about as long, as all who wait in one queue do: a way that jitters and
    /// times of their own have quick ones, too.
    pub fn are_alike(&self) -> bool {
        let service = self.exchange.numbers.service;
        let of = |stat| self.view.stat(service, stat);
        let slow = of(Stat::P90).zip(of(Stat::P50)).map(|(p90, p50)| p90 / p50);
        let quick = service_times::of(&self.view).map(|all| {
            let at = |q| all.quantile(q).max(1) as f64;
            at(0.5) / at(QUICK)
        });
        let within = |ratio: Option<f64>, most: f64| ratio.is_none_or(|ratio| ratio <= most);
        within(slow, ALIKE) && within(quick, ALIKE_QUICK)
    }

    /// True where answers come at an even pace.
    pub fn are_paced(&self) -> bool {
        self.gaps(http::EVEN_GAP_RATIO) >= Some(PACED)
    }

    /// True where answers follow each other more closely than one worker alone can make them.
    pub fn come_from_several(&self) -> bool {
        self.gaps(http::CLOSE_GAP_RATIO) >= Some(SEVERAL)
    }

    /// True where much of the time passes in long gaps between answers; `None` of unknown gaps.
    pub fn have_pauses(&self) -> Option<bool> {
        Some(self.gaps(http::LONG_GAP_RATIO)? >= PAUSED)
    }

    /// A ratio of the times between answers.
    fn gaps(&self, metric: Metric) -> Option<f64> {
        self.view.total(metric)
    }

    /// Lowest and mean round trip of the connections, seconds.
    pub fn round_trips(&self) -> Option<(f64, f64)> {
        let of = |metric| self.view.total(metric);
        Some((of(http::PATH_LOWEST_SECONDS)?, of(http::PATH_MEAN_SECONDS)?))
    }

    /// True where the round trips of the connections are so much longer than the lowest one that a queue stands
    /// on the way.
    pub fn has_queue_on_the_way(&self) -> bool {
        let mean = self.round_trips().map_or(0.0, |(_, mean)| mean);
        self.longer_round_trip().is_some_and(|(lowest, longer)| {
            longer > BEYOND_DELAYED_S && mean >= lowest * GROWN && self.most_take(mean)
        })
    }

    /// Lowest round trip, and by how much the mean one is longer, seconds: what the smoothed values of few samples do
    /// not show yet is added.
    pub fn longer_round_trip(&self) -> Option<(f64, f64)> {
        let (lowest, mean) = self.round_trips()?;
        Some((lowest, (mean - lowest) / shown(self.samples())))
    }

    /// True where the round trips of the connections are longer than the lowest one by a good part of this time: it
    /// may have passed on the way. Acknowledgements that come with the answers have such round trips, too.
    pub fn may_pass_on_the_way(&self, seconds: f64) -> bool {
        self.longer_round_trip().is_some_and(|(lowest, longer)| {
            longer >= lowest * (GROWN - 1.0) && lowest + longer >= seconds * ON_THE_WAY
        })
    }

    /// True where most requests took about as long as a round trip does on average: each takes one at least. Where
    /// they are quicker, few round trips were very long, as after a loss, and no queue stood.
    fn most_take(&self, round_trip: f64) -> bool {
        let service = self.exchange.numbers.service;
        let median = self.view.stat(service, Stat::P50);
        median.is_none_or(|median| median >= round_trip * MOST_OF_ONE)
    }

    /// Samples of the round trip that each connection gave: one for each segment with data.
    fn samples(&self) -> f64 {
        let of = |metric| self.view.total(metric).unwrap_or(0.0);
        let connections = of(http::OPEN_CONNECTIONS).max(of(http::MADE_CONNECTIONS));
        of(http::PATH_SENT_SEGMENTS) / connections.max(1.0)
    }

    /// The host that asks.
    pub fn host(&self) -> &'a str {
        self.view.flows().first().map_or("", |flow| &flow.from)
    }

    /// Evidence that is a total of the phase.
    pub fn row(&self, key: &str, metric: Metric) -> Option<Evidence> {
        let value = self.view.total(metric)?;
        Some(self.view.evidence(key, metric, self.host(), value))
    }

    /// Evidence that is the mean of a stage, with its share of a request.
    pub fn stage_row(&self, stage: &Stage) -> Evidence {
        let key = match stage.name {
            "resolve" => "evidence-stage-resolve",
            "connect" => "evidence-stage-connect",
            "tls" => "evidence-stage-tls",
            "send" => "evidence-stage-send",
            "wait" => "evidence-stage-wait",
            _ => "evidence-stage-read",
        };
        let mut row = self
            .view
            .evidence(key, stage.metric, self.host(), stage.mean);
        row.says = row.says.number("share", stage.share, Unit::Ratio);
        row
    }

    /// The asking thread's share of a core: a busy one would explain the time by itself.
    pub fn own_cpu_row(&self) -> Option<Evidence> {
        let cpu = self.exchange.kind.ends.near.cpu;
        let (flow, value) = self.view.highest(cpu)?;
        Some(
            self.view
                .evidence("evidence-client-cpu", cpu, &flow.from, value),
        )
    }

    /// CPU time per second of the processes that hold the server's port and of their children, where they are
    /// observed: cores.
    pub fn server_cpu(&self) -> Option<f64> {
        server::cores_used(&self.view)
    }

    /// The same, and the time for which their threads were ready and had no CPU.
    pub fn server_wanted(&self) -> Option<f64> {
        Some(self.server_cpu()? + server::sum(&self.view, process::WAIT_RATIO).unwrap_or(0.0))
    }

    /// True where the server's processes are observed, and wanted no more CPU time than they got. Its children, as
    /// the sessions of a database, may have wanted more than they got.
    pub fn server_had_time(&self) -> bool {
        let is_all = self.sessions_cpu().is_none() && !server::has_working_children(&self.view);
        is_all && self.server_wanted().is_some_and(|cores| cores <= LEISURE)
    }

    /// Cores that the sessions of a database used, where they are processes beside the one that holds the port.
    fn sessions_cpu(&self) -> Option<f64> {
        let most = self.view.highest_mean(None, postgres::CPU_CORES, &[]);
        most.map(|(_, cores)| cores)
    }

    /// Evidence of it; of a database's sessions where they are known.
    pub fn server_cpu_row(&self) -> Option<Evidence> {
        let (key, metric, cores) = match self.sessions_cpu() {
            Some(cores) => ("evidence-server-sessions-cpu", postgres::CPU_CORES, cores),
            None => (
                "evidence-server-process-cpu",
                process::CPU_RATIO,
                self.server_cpu()?,
            ),
        };
        let mut row = self.view.evidence(key, metric, self.host(), cores);
        row.says = row.says.number("value", cores, Unit::One);
        row.unit = Some(Unit::One);
        Some(row)
    }
}

#[cfg(test)]
mod tests {
    use sokudo_model::Record;

    use super::*;
    use crate::tests::add_series;
    use crate::tests::requests::of_stages;

    #[test]
    fn few_samples_show_a_part_of_a_step() {
        for (samples, part) in [(0.0, 1.0), (6.0, 0.357), (18.0, 0.646), (1e4, 0.999)] {
            assert!((shown(samples) - part).abs() < 0.001, "{samples}");
        }
    }

    /// The process that holds a database's port does not work itself.
    #[test]
    fn the_sessions_of_a_database_stand_for_its_server() {
        let mut record = of_stages([0.0, 0.0, 0.0, 0.0, 0.1, 0.0], &[]);
        let row = |record: &Record| {
            let view = PhaseView::new(record, &record.manifest.phases[0]);
            let requests = Requests::of(&view).expect("requests");
            let row = requests.server_cpu_row().expect("a row");
            (row.metric, row.value, requests.server_had_time())
        };
        let by = [("by", "port=5432"), ("mode", "user")];
        add_series(&mut record, "hostb", "process.cpu_ratio", &by, 0.0, 0.25);
        let process = (Some("process.cpu_ratio".to_owned()), Some(0.25), true);
        assert_eq!(row(&record), process);
        add_series(&mut record, "hostb", "postgres.cpu_cores", &[], 0.0, 1.5);
        let sessions = (Some("postgres.cpu_cores".to_owned()), Some(1.5), false);
        assert_eq!(row(&record), sessions);
    }

    #[test]
    fn a_queue_shows_in_the_round_trips_of_few_requests_too() {
        let has_queue = |lowest: f64, mean: f64, segments: f64| {
            let totals = [
                ("path_lowest_seconds", lowest),
                ("path_mean_seconds", mean),
                ("path_sent_segments", segments),
                ("open_connections", 8.0),
            ];
            let record = of_stages([0.0, 0.0, 0.0, 0.0, 0.15, 0.39], &totals);
            let view = PhaseView::new(&record, &record.manifest.phases[0]);
            Requests::of(&view)
                .expect("requests")
                .has_queue_on_the_way()
        };
        // As two links of 5 and 15 Mb/s with a queue of 0.2 s were seen.
        assert!(has_queue(0.0043, 0.0426, 49.0));
        assert!(has_queue(0.0045, 0.0488, 143.0));
        // 40 ms that every acknowledgement is delayed by: a part of the time, or all of it.
        assert!(!has_queue(0.0043, 0.0043 + 0.04 * 0.357, 49.0));
        assert!(!has_queue(0.0045, 0.0445, 8_000.0));
    }
}
