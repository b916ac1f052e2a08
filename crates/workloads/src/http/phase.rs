//! One phase of HTTP load, from the look-up of the server's name to the result. There is no other
//! end of ours: the server is whatever answers.

use std::sync::Arc;
use std::sync::mpsc::{self, SyncSender};
use std::thread::JoinHandle;

use sokudo_http::{Config, Engine, Exchange, Keep, LoopAudit, Stop, TargetId, Targets, Trust};
use sokudo_model::{FlowPlan, PhaseSpec, Refusal};
use sokudo_net::clock::now_ns;
use sokudo_pace::Random;

use super::arrivals::Arrivals;
use super::client::{Course, Tally, Visitors};
use super::join::Numbers;
use super::names::HTTP;
use super::options::{Arrival, HttpOptions};
use crate::contract::{Emit, Phase};
use crate::refusal::{failed, operator, spawn};
use crate::reporting::{self, REPORT_QUEUE};
use crate::rr::client::Asked;
use crate::rr::record::{Recorder, Report, Scope};
use crate::rr::report::{Collected, Reporter};
use crate::sample::Sample;

/// How long responses are waited for after the operator has had enough.
const STOP_GRACE_NS: u64 = 1_000_000_000;
/// Open files beside the connections.
const OTHER_FILES: u64 = 256;

/// What the event loops leave behind.
type Left = Vec<(Tally, LoopAudit)>;

/// One host's part of a phase.
pub(crate) struct HttpPhase {
    options: HttpOptions,
    spec: PhaseSpec,
    emit: Emit,
    targets: Arc<Targets>,
    target: TargetId,
    stop: Stop,
    running: Option<(JoinHandle<Left>, SyncSender<Report>, JoinHandle<Collected>)>,
}

impl HttpPhase {
    /// Checks the options; no traffic yet.
    pub(crate) fn prepare(
        options: HttpOptions,
        spec: PhaseSpec,
        emit: Emit,
    ) -> Result<Self, Refusal> {
        options.validate()?;
        let wanted = u64::from(options.connections) + OTHER_FILES;
        let can_hold = sokudo_net::wait::allow_open_files(wanted);
        if let Some(can_hold) = can_hold.filter(|can_hold| *can_hold < wanted) {
            return Err(operator(
                format!(
                    "this process may hold {can_hold} open files, and {} connections need {wanted}",
                    options.connections
                ),
                "raise the limit (ulimit -n), or ask for fewer connections",
            ));
        }
        let targets = Arc::new(Targets::new());
        let url = &options.url;
        let target = targets.intern(url.scheme, &url.host, url.port);
        Ok(Self {
            options,
            spec,
            emit,
            targets,
            target,
            stop: Stop::default(),
            running: None,
        })
    }

    fn exchange(&self) -> Exchange {
        Exchange {
            target: self.target,
            intended_ns: 0,
            close: self.options.no_keepalive,
            fresh: self.options.no_keepalive,
            connect_timeout_ns: self.options.connect_timeout.0,
            response_timeout_ns: 0,
            whole_timeout_ns: self.options.timeout.0,
            keep: Keep::Nothing,
            method_is_head: self.options.asks_for_head(),
        }
    }

    /// The visitors of one event loop.
    fn visitors(&self, flow: &FlowPlan, at_ns: i64, reports: &SyncSender<Report>) -> Visitors {
        let options = &self.options;
        let loops = u64::from(options.threads);
        let number = u64::from(flow.stream);
        let end_ns = at_ns.saturating_add_unsigned(match options.duration_ns() {
            0 => self.spec.phase.bound_ns,
            duration_ns => duration_ns.min(self.spec.phase.bound_ns),
        });
        let arrivals = options.requests_per_s().map(|rate| {
            let random = match options.arrival {
                Arrival::Even => None,
                Arrival::Poisson => Some(Random::new(self.spec.seed, number)),
            };
            // Even starts of several loops lie between each other.
            let first_ns = at_ns + (number as f64 * 1e9 / rate) as i64;
            Arrivals::new(rate / loops as f64, first_ns, end_ns, random)
        });
        let scope = Scope {
            flow: flow.id,
            count_from_ns: at_ns.saturating_add_unsigned(options.warmup.0),
            interval_ns: options.interval.0,
            sample: Sample::All,
            keep: 0,
            is_open: arrivals.is_some(),
        };
        let course = Course {
            request: options.request(),
            exchange: self.exchange(),
            arrivals,
            left: options.count.map(|count| share(count.0, number, loops)),
            end_ns,
        };
        Visitors::new(course, Recorder::new(scope, reports.clone()))
    }

    fn config(&self) -> Config {
        Config {
            trust: match self.options.insecure {
                true => Trust::Anyone,
                false => Trust::System,
            },
            name: "http".into(),
            ..Config::default()
        }
    }

    fn series_names(&self, at_ns: i64, t0_ns: i64) -> reporting::Names {
        let me = self.spec.hosts.get(self.spec.me as usize);
        let host = me.map_or(String::new(), |host| host.name.clone());
        let label = |flow: &FlowPlan| match self.options.threads {
            1 => self.options.url.authority(),
            _ => format!("{} #{}", self.options.url.authority(), flow.stream + 1),
        };
        let flows = self.spec.phase.flows.iter();
        reporting::Names {
            flows: flows.map(|flow| (flow.id, label(flow))).collect(),
            host,
            t0_ns,
            start_ns: at_ns,
        }
    }
}

impl Phase for HttpPhase {
    fn offer(&self) -> String {
        "{}".into()
    }

    fn arm(&mut self, _offers: &[Option<String>]) -> Result<(), Refusal> {
        let Some(target) = self.targets.get(self.target) else {
            return Err(failed("the server's name was lost", None));
        };
        let host = &self.options.url.host;
        target.resolve().map(drop).map_err(|error| {
            operator(
                format!("the server `{host}` has no address: {error}"),
                "check the name, or write the address itself",
            )
        })
    }

    fn start(&mut self, at_ns: i64, t0_ns: i64) -> Result<(), Refusal> {
        let (reports, queue) = mpsc::sync_channel(REPORT_QUEUE);
        let mine = self.spec.phase.flows.iter();
        let mine: Vec<FlowPlan> = mine
            .filter(|flow| flow.from == self.spec.me)
            .cloned()
            .collect();
        let crews = mine.iter().map(|flow| self.visitors(flow, at_ns, &reports));
        let crews: Vec<Visitors> = crews.collect();
        let engine = Engine::start(&self.config(), &self.targets, crews, &self.stop)
            .map_err(|error| failed(error.to_string(), None))?;
        for _ in 0..self.options.connections {
            engine.add(at_ns, ());
        }
        let names = self.series_names(at_ns, t0_ns);
        let reporter = Reporter::new(&HTTP, names, Arc::clone(&self.emit), mine.len());
        let collected = spawn("report", move || reporter.run(&queue))?;
        let (to_reporter, stop) = (reports.clone(), self.stop.clone());
        let flows: Vec<u32> = mine.iter().map(|flow| flow.id).collect();
        let waiting = spawn("http", move || {
            wait_for(engine, &flows, &to_reporter, &stop)
        })?;
        self.running = Some((waiting, reports, collected));
        Ok(())
    }

    fn halt(&mut self) {
        self.stop.within(STOP_GRACE_NS);
    }

    fn drain(&mut self, _sent: &[Option<String>]) -> Result<String, Refusal> {
        self.stop.now();
        let Some((waiting, reports, collected)) = self.running.take() else {
            return Err(failed("the phase was never started on this host", None));
        };
        let died = |_| failed("an event loop died", None);
        let left = waiting.join().map_err(died)?;
        drop(reports);
        let collected = collected
            .join()
            .map_err(|_| failed("the reporting thread died", None))?;
        let numbers = Numbers::new(collected, left, &self.options);
        serde_json::to_string(&numbers)
            .map_err(|error| failed(format!("the result cannot be written: {error}"), None))
    }
}

impl Drop for HttpPhase {
    fn drop(&mut self) {
        self.stop.now();
        if let Some((waiting, reports, collected)) = self.running.take() {
            let _ = waiting.join();
            drop(reports);
            let _ = collected.join();
        }
    }
}

/// Waits for the event loops, and hands over what each counted.
fn wait_for(
    engine: Engine<Visitors>,
    flows: &[u32],
    reports: &SyncSender<Report>,
    stop: &Stop,
) -> Left {
    let (crews, audit) = engine.finish();
    let was_stopped = stop.is_soon();
    let both = crews.into_iter().zip(audit.loops);
    let left = both.zip(flows).map(|((visitors, audit), flow)| {
        let (counts, tally) = visitors.finish(was_stopped, now_ns());
        let asked = Asked {
            flow: *flow,
            counts,
            cpu_ns: audit.cpu_ns,
            wait_ns: audit.wait_ns,
            elapsed_ns: i64::try_from(audit.elapsed_ns).unwrap_or(i64::MAX),
        };
        // Fails only when nobody listens any more.
        let _ = reports.send(Report::Asked(Box::new(asked)));
        (tally, audit)
    });
    left.collect()
}

/// Part `number` of `parts` of a whole number; the first parts take what does not divide.
fn share(whole: u64, number: u64, parts: u64) -> u64 {
    whole / parts + u64::from(number < whole % parts)
}
