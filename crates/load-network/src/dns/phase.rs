//! One host's part of a phase of queries, from its sockets to the result. There is no other end of
//! ours: the server is whatever answers.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use sokudo_model::kinds::dns as numbers;
use sokudo_model::{FlowPlan, PhaseSpec, Refusal, Text};
use sokudo_net::wait::allow_open_files;
use sokudo_workload::contract::{Emit, Options as _, Phase};
use sokudo_workload::crew::Crew;
use sokudo_workload::exchange::{AskPlan, AskedNumbers, Collected, Report, Reporter};
use sokudo_workload::flows::share;
use sokudo_workload::limit::Limit;
use sokudo_workload::link::Transport;
use sokudo_workload::place::resolve;
use sokudo_workload::refusal::operator;
use sokudo_workload::reporting::Names;
use sokudo_workload::sample::Sample;

use super::NAME;
use super::client::{self, Task};
use super::dial::connect;
use super::join::Numbers;
use super::options::DnsOptions;
use super::queries::QuerySet;
use super::record::ResponseDetails;
use super::socket::{Lane, Sizes};

/// Longest wait for a connection before the load.
const CONNECT_BOUND: Duration = Duration::from_secs(5);
/// Open files beside the sockets.
const OTHER_FILES: u64 = 256;

/// One host's part of a phase.
pub(super) struct DnsPhase {
    options: DnsOptions,
    spec: PhaseSpec,
    emit: Emit,
    queries: Arc<QuerySet>,
    /// By own flow, from when they were made until the load starts.
    armed: Vec<(FlowPlan, SocketAddr, Vec<Lane>)>,
    crew: Crew<Report<ResponseDetails>, Collected<ResponseDetails>>,
    /// Start of the first query, monotonic nanoseconds; `None` in an open loop, where each has its own time.
    agreed_ns: Option<i64>,
}

impl DnsPhase {
    /// Checks the options; no traffic yet.
    pub(super) fn prepare(
        options: DnsOptions,
        spec: PhaseSpec,
        emit: Emit,
    ) -> Result<Self, Refusal> {
        options.validate()?;
        let queries = Arc::new(options.query_set()?);
        let me = spec.hosts.get(spec.me as usize);
        let phase = Self {
            crew: Crew::new(me.map_or("", |host| host.name.as_str())),
            options,
            queries,
            armed: Vec::new(),
            agreed_ns: None,
            emit,
            spec,
        };
        let sockets = phase.own_flows().map(|flow| phase.connections_of(&flow));
        can_hold(sockets.sum())?;
        Ok(phase)
    }

    /// Asking threads of all hosts together.
    fn threads(&self) -> u64 {
        self.spec.phase.flows.len().max(1) as u64
    }

    fn own_flows(&self) -> impl Iterator<Item = FlowPlan> + use<'_> {
        let flows = self.spec.phase.flows.iter();
        flows.filter(|flow| flow.from == self.spec.me).cloned()
    }

    /// Every thread has a socket.
    fn connections_of(&self, flow: &FlowPlan) -> u64 {
        let all = u64::from(self.options.connections);
        share(all, u64::from(flow.id), self.threads()).max(1)
    }

    /// Queries per second of each thread, as asked for.
    fn thread_rate(&self) -> Option<f64> {
        Some(self.options.queries_per_s()? / self.threads() as f64)
    }

    fn sizes(&self) -> Sizes {
        Sizes {
            query_bytes: self.queries.longest(),
            response_bytes: self.options.response_bytes(),
            window: self.options.window,
        }
    }

    fn lane(&self, server: SocketAddr) -> Result<Lane, Refusal> {
        let over_tcp = self.options.transport == Transport::Tcp;
        let lane = match over_tcp {
            true => connect(server, CONNECT_BOUND)
                .map(|(connection, _)| Lane::tcp(connection, self.sizes())),
            false => Lane::udp(server, self.sizes()),
        };
        let hint = match over_tcp {
            true => "error-dns-unreachable-tcp-hint",
            false => "error-dns-unreachable-hint",
        };
        lane.map_err(|error| {
            let says = Text::new("error-dns-unreachable")
                .with("server", &self.options.server)
                .with("error", error);
            operator(says, Text::new(hint))
        })
    }

    fn plan(&self, flow: &FlowPlan) -> AskPlan {
        let options = &self.options;
        let count = options.count;
        AskPlan {
            flow: flow.id,
            rate_per_s: self.thread_rate(),
            count: count.map(|count| share(count.0, u64::from(flow.id), self.threads())),
            duration_ns: options.duration_ns(),
            warmup_ns: options.warmup.0,
            bound_ns: self.spec.phase.bound_ns,
            timeout_ns: i64::try_from(options.timeout.0).unwrap_or(i64::MAX),
            sample: Sample::All,
            keep: 0,
            interval_ns: options.interval.0,
            stop: Arc::clone(&self.crew.stop),
        }
    }

    fn series_names(&self, at_ns: i64, t0_ns: i64) -> Names {
        let me = self.spec.hosts.get(self.spec.me as usize);
        let server = self.options.server.to_string();
        let label = |flow: &FlowPlan| match self.options.threads {
            1 => server.clone(),
            _ => format!("{server} #{}", flow.stream + 1),
        };
        let flows = self.spec.phase.flows.iter();
        Names {
            flows: flows.map(|flow| (flow.id, label(flow))).collect(),
            host: me.map_or(String::new(), |host| host.name.clone()),
            t0_ns,
            start_ns: at_ns,
        }
    }
}

impl Phase<Numbers> for DnsPhase {
    fn offer(&self) -> String {
        "{}".into()
    }

    fn hold_to(&mut self, _: &Arc<Limit>) {
        // A response is no longer than the demand says, and only what was asked is read.
    }

    fn arm(&mut self, _offers: &[Option<String>]) -> Result<(), Refusal> {
        let own: Vec<FlowPlan> = self.own_flows().collect();
        if own.is_empty() {
            return Ok(());
        }
        let server = resolve(&self.options.server.host, self.options.server.port)?;
        for flow in own {
            let lanes = (0..self.connections_of(&flow)).map(|_| self.lane(server));
            let lanes = lanes.collect::<Result<_, _>>()?;
            self.armed.push((flow, server, lanes));
        }
        Ok(())
    }

    fn start(&mut self, at_ns: i64, t0_ns: i64) -> Result<(), Refusal> {
        let options = &self.options;
        let counted_ns = at_ns.saturating_add_unsigned(options.warmup.0);
        self.agreed_ns = options.rate.is_none().then_some(counted_ns);
        let reporter = Reporter::new(
            (NAME, &numbers::EXCHANGE),
            self.series_names(at_ns, t0_ns),
            Arc::clone(&self.emit),
            self.armed.len(),
        );
        let reports = self.crew.report(move |queue| reporter.run(queue))?;
        for (flow, server, lanes) in std::mem::take(&mut self.armed) {
            let task = Task {
                plan: self.plan(&flow),
                server,
                queries: Arc::clone(&self.queries),
                sizes: self.sizes(),
                sequence: (u64::from(flow.id), self.threads()),
                lanes,
            };
            let reports = reports.clone();
            let run = move || client::run(task, at_ns, &reports);
            self.crew.start(&format!("dns{}", flow.id), run)?;
        }
        Ok(())
    }

    fn halt(&mut self) {
        self.crew.halt();
    }

    fn drain(&mut self, _sent: &[Option<String>]) -> Result<Numbers, Refusal> {
        self.crew.end();
        let collected = self.crew.collected()?;
        let flows = self.spec.phase.flows.iter();
        let connections: Vec<u64> = flows.map(|flow| self.connections_of(flow)).collect();
        let rate = self.thread_rate();
        let set_up = |flow: u32| {
            let connections = connections.get(flow as usize);
            (connections.copied().unwrap_or(0), rate)
        };
        Ok(Numbers(AskedNumbers::all(
            collected,
            self.agreed_ns,
            set_up,
        )))
    }
}

/// Makes room for so many sockets. Errors: this process may not hold them.
fn can_hold(sockets: u64) -> Result<(), Refusal> {
    let wanted = sockets + OTHER_FILES;
    match allow_open_files(wanted).filter(|most| *most < wanted) {
        None => Ok(()),
        Some(most) => {
            let says = Text::new("error-process-files")
                .with("most", most)
                .with("connections", sockets)
                .with("wanted", wanted);
            Err(operator(says, Text::new("error-process-files-hint")))
        }
    }
}
