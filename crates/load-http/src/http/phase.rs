//! One phase of HTTP load, from the look-up of the server's name to the result. There is no other
//! end of ours: the server is whatever answers.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::mpsc::{self, SyncSender};
use std::thread::JoinHandle;

use serde_json::json;
use sokudo_http::{
    Config, Engine, Entry, Exchange, Keep, LoopAudit, Scheme, Stop, TargetId, Targets, Trust,
};
use sokudo_model::kinds::http as numbers;
use sokudo_model::{Change, FlowPlan, PhaseSpec, Refusal, Text};
use sokudo_net::clock::now_ns;
use sokudo_pace::Random;
use sokudo_workload::contract::{Emit, Options, Phase};
use sokudo_workload::exchange::Asked;
use sokudo_workload::exchange::{Collected, Reporter};
use sokudo_workload::exchange::{Recorder, Report, Scope};
use sokudo_workload::flows::share;
use sokudo_workload::limit::Limit;
use sokudo_workload::place::{own_address, resolve};
use sokudo_workload::refusal::{failed, operator, spawn};
use sokudo_workload::reporting::{self, REPORT_QUEUE, never_started};
use sokudo_workload::sample::Sample;
use sokudo_workload::told::read_one;

use super::NAME;
use super::arrivals::Arrivals;
use super::client::{Tally, Visitors};
use super::course::{LoopTask, Wanted};
use super::join::Numbers;
use super::options::{Arrival, HttpOptions};
use super::peer::{self, Offer, Server};
use super::record::VisitDetails;
use super::request::Request;
use super::url::Url;

/// Longest wait for responses after the operator has stopped the run.
const STOP_GRACE_NS: u64 = 1_000_000_000;
/// Open files beside the connections.
const OTHER_FILES: u64 = 256;

/// Results of the event loops.
type Left = Vec<(Tally, LoopAudit)>;

/// Changes of the load on the way.
#[derive(Default)]
struct Steered {
    /// Lets more visitors in.
    entry: Option<Entry<u64>>,
    /// Numbers of the connections that are to be there: from the first to before the last.
    connections: (u64, u64),
    /// Since when which rate was asked for, all hosts together.
    rates: Vec<(i64, f64)>,
}

/// Target of a flow, and the request to it.
#[derive(Clone)]
struct Aim {
    target: TargetId,
    request: Request,
}

/// The threads of a phase that was started: who waits for the event loops, the way to the reporting
/// thread, and that thread.
type Running = (
    JoinHandle<Left>,
    SyncSender<Report<VisitDetails>>,
    JoinHandle<Collected<VisitDetails>>,
);

/// One host's part of a phase.
pub(crate) struct HttpPhase {
    options: HttpOptions,
    spec: PhaseSpec,
    emit: Emit,
    targets: Arc<Targets>,
    /// Target of each own flow, by its number.
    aims: BTreeMap<u32, Aim>,
    /// Answers the hosts that load this one.
    server: Option<Server>,
    stop: Stop,
    wanted: Arc<Wanted>,
    steered: Steered,
    running: Option<Running>,
}

impl HttpPhase {
    /// Checks the options; no traffic yet.
    pub(crate) fn prepare(
        options: HttpOptions,
        spec: PhaseSpec,
        emit: Emit,
    ) -> Result<Self, Refusal> {
        options.validate()?;
        let server = server_of(&spec)?;
        let phase = Self {
            options,
            spec,
            emit,
            targets: Arc::new(Targets::new()),
            aims: BTreeMap::new(),
            server,
            stop: Stop::default(),
            wanted: Arc::default(),
            steered: Steered::default(),
            running: None,
        };
        if phase.own_loops().next().is_some() {
            phase.check_loops(u64::from(phase.options.connections))?;
        }
        can_hold(phase.own_share(u64::from(phase.options.connections)))?;
        Ok(phase)
    }

    fn exchange(&self, aim: &Aim) -> Exchange {
        Exchange {
            target: aim.target,
            intended_ns: 0,
            close: self.options.no_keepalive,
            fresh: self.options.no_keepalive,
            connect_timeout_ns: self.options.connect_timeout.0,
            response_timeout_ns: 0,
            whole_timeout_ns: self.options.timeout.0,
            keep: Keep::Nothing,
            method_is_head: self.options.asks_for_head(),
            switch: self.options.switch(),
            names: None,
            lane: aim.request.lane,
        }
    }

    /// The visitors of one event loop.
    fn visitors(
        &self,
        (flow, aim): (&FlowPlan, &Aim),
        at_ns: i64,
        reports: &SyncSender<Report<VisitDetails>>,
    ) -> Visitors {
        let options = &self.options;
        let (loops, number) = (self.loops(), u64::from(flow.id));
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
        let course = LoopTask {
            request: aim.request.bytes.clone(),
            exchange: self.exchange(aim),
            streams: u64::from(options.streams),
            arrivals,
            left: options.count.map(|count| share(count.0, number, loops)),
            end_ns,
            wanted: Arc::clone(&self.wanted),
        };
        Visitors::new(course, Recorder::new(scope, reports.clone()))
    }

    /// Event loops of all hosts together.
    fn loops(&self) -> u64 {
        self.spec.phase.flows.len().max(1) as u64
    }

    /// Event loops of this host, as numbered over all hosts.
    fn own_loops(&self) -> impl Iterator<Item = &FlowPlan> {
        let flows = self.spec.phase.flows.iter();
        flows.filter(|flow| flow.from == self.spec.me)
    }

    /// Share of this host in something that all event loops share.
    fn own_share(&self, whole: u64) -> u64 {
        let loops = self.loops();
        let own = self.own_loops();
        own.map(|flow| share(whole, u64::from(flow.id), loops))
            .sum()
    }

    /// A server outside of the run.
    fn aim_at(&self, url: &Url) -> Result<Aim, Refusal> {
        let target = self.targets.intern(url.scheme, &url.host, url.port);
        let options = HttpOptions {
            url: url.clone(),
            ..self.options.clone()
        };
        let known = self.targets.get(target);
        let known = known.ok_or_else(|| failed(Text::new("error-http-name-lost"), None))?;
        known.resolve().map_err(|error| {
            operator(
                Text::new("error-http-no-address")
                    .with("host", &url.host)
                    .with("error", error),
                Text::new("error-http-no-address-hint"),
            )
        })?;
        Ok(Aim {
            target,
            request: Request::new(&options),
        })
    }

    /// A host of the run, which must have agreed to be loaded.
    fn aim_at_peer(&self, flow: &FlowPlan, offers: &[Option<String>]) -> Result<Aim, Refusal> {
        if self.options.http2 {
            return Err(operator(
                Text::new("error-http-peers-1-1"),
                Text::new("error-http-peers-1-1-hint"),
            ));
        }
        let silent = || failed(Text::new("error-http-no-port"), None);
        let peer = flow.to as usize;
        let offer = offers.get(peer).and_then(Option::as_deref);
        let offer = offer.ok_or_else(silent)?;
        let offer: Offer = read_one(&self.spec.hosts, peer, "offer", offer)?;
        let host = self.spec.hosts.get(peer).ok_or_else(silent)?;
        let ticket = self.spec.tickets.get(flow.id as usize);
        let ticket = *ticket.ok_or_else(silent)?;
        let address = resolve(&host.address, offer.port)?;
        peer::must_agree(address, flow.id, ticket)?;
        self.aim_at(&Url {
            scheme: Scheme::Http,
            host: address.ip().to_string(),
            port: address.port(),
            path: peer::path(ticket),
        })
    }

    /// Errors: an event loop would have no connection.
    fn check_loops(&self, connections: u64) -> Result<(), Refusal> {
        let loops = self.loops();
        match connections < loops {
            false => Ok(()),
            true => Err(operator(
                Text::new("error-http-loops")
                    .with("connections", connections)
                    .with("loops", loops),
                Text::new("error-http-loops-hint"),
            )),
        }
    }

    /// Another number of visitors from now on: the oldest leave, or new ones come.
    fn steer_visitors(&mut self, all: u64) -> Result<(), Refusal> {
        self.check_loops(all)?;
        let own = self.own_share(all);
        can_hold(own)?;
        let streams = u64::from(self.options.streams);
        let steered = &mut self.steered;
        let (first, last) = steered.connections;
        let first = first.max(last.saturating_sub(own));
        self.wanted.send_home_below(first * streams);
        let new_last = first + own;
        if let Some(entry) = &steered.entry {
            let come = |connection| entry.add_together(now_ns(), visitors_of(connection, streams));
            (last..new_last).for_each(come);
        }
        steered.connections = (first, last.max(new_last));
        Ok(())
    }

    /// The rate that was asked for, averaged over the time until now; all hosts together.
    fn asked_per_s(&self) -> Option<f64> {
        let rates = &self.steered.rates;
        let ends = rates.iter().skip(1).map(|(at_ns, _)| *at_ns);
        let load_end_ns =
            rates
                .first()?
                .0
                .saturating_add_unsigned(match self.options.duration_ns() {
                    0 => u64::MAX >> 1,
                    duration_ns => duration_ns,
                });
        let until_ns = now_ns().min(load_end_ns);
        let (mut asked, mut all_ns) = (0.0, 0.0);
        for ((from_ns, per_s), end_ns) in rates.iter().zip(ends.chain([until_ns])) {
            let span_ns = (end_ns.min(until_ns) - from_ns).max(0) as f64;
            asked += per_s * span_ns;
            all_ns += span_ns;
        }
        match rates.len() {
            1 => Some(rates[0].1),
            _ => Some(asked / f64::max(all_ns, 1.0)),
        }
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
        let label = |flow: &FlowPlan| {
            let to = aimed_at(&self.options, &self.spec, flow);
            match self.options.threads {
                1 => to,
                _ => format!("{to} #{}", flow.stream + 1),
            }
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

impl Phase<Numbers> for HttpPhase {
    fn offer(&self) -> String {
        let offer = self
            .server
            .as_ref()
            .map(|server| Offer { port: server.port });
        // A number cannot fail to be written.
        offer.map_or("{}".into(), |offer| json!(offer).to_string())
    }

    fn hold_to(&mut self, limit: &Arc<Limit>) {
        if let Some(server) = &self.server {
            server.hold_to(limit);
        }
    }

    fn arm(&mut self, offers: &[Option<String>]) -> Result<(), Refusal> {
        let own: Vec<FlowPlan> = self.own_loops().cloned().collect();
        for flow in own {
            let aim = match flow.from == flow.to {
                true => self.aim_at(&self.options.url)?,
                false => self.aim_at_peer(&flow, offers)?,
            };
            self.aims.insert(flow.id, aim);
        }
        Ok(())
    }

    fn start(&mut self, at_ns: i64, t0_ns: i64) -> Result<(), Refusal> {
        let (reports, queue) = mpsc::sync_channel(REPORT_QUEUE);
        let mine: Vec<FlowPlan> = self.own_loops().cloned().collect();
        if mine.is_empty() {
            return Ok(());
        }
        let crews = mine.iter().map(|flow| {
            let aim = self.aims.get(&flow.id);
            let aim = aim.ok_or_else(|| failed(Text::new("error-load-unarmed"), None))?;
            Ok(self.visitors((flow, aim), at_ns, &reports))
        });
        let crews: Vec<Visitors> = crews.collect::<Result<_, Refusal>>()?;
        let engine = Engine::start(&self.config(), &self.targets, crews, &self.stop)
            .map_err(|error| failed(error.text(), None))?;
        let connections = self.own_share(u64::from(self.options.connections));
        let streams = u64::from(self.options.streams);
        let ramp_ns = u128::from(self.options.ramp.0);
        let come = |connection| {
            let after_ns = ramp_ns * u128::from(connection) / u128::from(connections.max(1));
            let comes_ns = at_ns.saturating_add_unsigned(after_ns as u64);
            engine.add_together(comes_ns, visitors_of(connection, streams));
        };
        (0..connections).for_each(come);
        self.steered = Steered {
            entry: Some(engine.entry()),
            connections: (0, connections),
            rates: Vec::from_iter(self.options.requests_per_s().map(|rate| (at_ns, rate))),
        };
        let names = self.series_names(at_ns, t0_ns);
        let reporter = Reporter::new(
            (NAME, &numbers::EXCHANGE),
            names,
            Arc::clone(&self.emit),
            mine.len(),
        );
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

    fn steer(&mut self, change: &Change) -> Result<(), Refusal> {
        if let Some(per_s) = change.rate_per_s {
            if self.options.rate.is_none() {
                return Err(operator(
                    Text::new("error-http-closed-loop"),
                    Text::new("error-http-closed-loop-hint"),
                ));
            }
            self.wanted.set_rate(per_s / self.loops() as f64);
            self.steered.rates.push((now_ns(), per_s));
        }
        change
            .users
            .map_or(Ok(()), |users| self.steer_visitors(users))
    }

    fn drain(&mut self, _sent: &[Option<String>]) -> Result<Numbers, Refusal> {
        self.stop.now();
        if self.own_loops().next().is_none() {
            self.server = None;
            return Ok(Numbers::default());
        }
        let Some((waiting, reports, collected)) = self.running.take() else {
            return Err(never_started());
        };
        let died = |_| failed(Text::new("error-http-loop-died"), None);
        let left = waiting.join().map_err(died)?;
        drop(reports);
        if left.iter().any(|(tally, _)| tally.met_no_http2()) {
            return Err(operator(
                Text::new("error-http-no-http2").with("server", self.options.url.authority()),
                Text::new("error-http-no-http2-hint"),
            ));
        }
        let collected = collected
            .join()
            .map_err(|_| failed(Text::new("error-reporting-died"), None))?;
        Ok(Numbers::new(
            collected,
            left,
            self.asked_per_s().map(|all| all / self.loops() as f64),
        ))
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

/// Name of the end of a flow: a host of the run, or a server elsewhere.
pub(crate) fn aimed_at(options: &HttpOptions, spec: &PhaseSpec, flow: &FlowPlan) -> String {
    let host = spec.hosts.get(flow.to as usize);
    match host.filter(|_| flow.from != flow.to) {
        Some(host) => host.name.clone(),
        None => options.url.authority(),
    }
}

/// Numbers of the visitors that share a connection.
fn visitors_of(connection: u64, streams: u64) -> std::ops::Range<u64> {
    connection * streams..(connection + 1) * streams
}

/// A server when other hosts of the run load this one.
fn server_of(spec: &PhaseSpec) -> Result<Option<Server>, Refusal> {
    let (flows, tickets) = (spec.phase.flows.iter(), &spec.tickets);
    let mine = flows.filter(|flow| flow.to == spec.me && flow.from != spec.me);
    let mine = mine.filter_map(|flow| Some((flow.id, *tickets.get(flow.id as usize)?)));
    let tickets: Vec<(u32, u64)> = mine.collect();
    let own = spec.hosts.get(spec.me as usize);
    let address = own_address(own.map_or("", |host| host.address.as_str()));
    match tickets.is_empty() {
        true => Ok(None),
        false => Server::start(address, tickets).map(Some),
    }
}

/// Makes room for so many connections. Errors: this process may not hold them.
fn can_hold(connections: u64) -> Result<(), Refusal> {
    let wanted = connections + OTHER_FILES;
    let most = sokudo_net::wait::allow_open_files(wanted);
    match most.filter(|most| *most < wanted) {
        None => Ok(()),
        Some(most) => Err(operator(
            Text::new("error-http-open-files")
                .with("most", most)
                .with("connections", connections)
                .with("wanted", wanted),
            Text::new("error-http-open-files-hint"),
        )),
    }
}

/// Waits for the event loops, and hands over what each counted.
fn wait_for(
    engine: Engine<Visitors>,
    flows: &[u32],
    reports: &SyncSender<Report<VisitDetails>>,
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
        // Fails only when the reporting thread has ended.
        let _ = reports.send(Report::Asked(Box::new(asked)));
        (tally, audit)
    });
    left.collect()
}
