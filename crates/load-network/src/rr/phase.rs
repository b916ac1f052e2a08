//! One host's part of a request/response phase, from bind to result. A [`Variant`] says how
//! its connections come about.

use std::sync::Arc;
use std::sync::mpsc::SyncSender;

use sokudo_model::kinds::Exchange;
use sokudo_model::{FlowPlan, Kind, PhaseSpec, Refusal};
use sokudo_workload::contract::{Emit, Options, Phase};
use sokudo_workload::crew::Crew;
use sokudo_workload::exchange::{AskPlan, Collected, Details, Report, Reporter};
use sokudo_workload::limit::Limit;
use sokudo_workload::meet::{Arrived, Calls, Dialled, Meeting, Terms};
use sokudo_workload::tcp_state::{MAX_FLOWS, Watch, Watched};

use super::client::Task;
use super::join::Numbers;
use super::options::RrOptions;
use super::server;

/// Differences between the workloads that are phases of this kind.
pub(crate) struct Variant<D: Details> {
    /// Meaning of its numbers.
    pub(crate) kind: &'static Kind,
    /// Those that it shares with every exchange.
    pub(crate) numbers: &'static Exchange,
    /// True when connections are made during the load, one per request.
    pub(crate) per_request: bool,
    /// The body of an asking thread: the load starts at the given moment.
    pub(crate) ask: fn(Task, Dialled, i64, &SyncSender<Report<D>>),
    /// The body of an answering thread.
    pub(crate) answer: server::AnswerLoop,
}

/// One host's part of a phase.
pub(crate) struct RrPhase<D: Details> {
    variant: &'static Variant<D>,
    options: RrOptions,
    emit: Emit,
    meeting: Meeting,
    answering: Vec<server::Task>,
    asking: Vec<(Task, Dialled)>,
    tcp_state: Option<Watch>,
    crew: Crew<Report<D>, Collected<D>>,
    /// Time at which the first request is to leave; `None` in an open loop, where each has its own
    /// time.
    agreed_ns: Option<i64>,
}

impl<D: Details> RrPhase<D> {
    /// Binds everything that this host answers.
    pub(crate) fn prepare(
        variant: &'static Variant<D>,
        options: RrOptions,
        spec: PhaseSpec,
        emit: Emit,
    ) -> Result<Self, Refusal> {
        options.validate()?;
        let connections = |flow: &FlowPlan| match variant.per_request {
            true => 1,
            false => options.connections_of(flow.stream),
        };
        let terms = Terms {
            transport: options.common.transport,
            tcp: options.tcp(),
            connections: spec.phase.flows.iter().map(connections).collect(),
            calls: Calls::Sender,
            during_load: variant.per_request,
        };
        let meeting = Meeting::prepare(spec, terms)?;
        Ok(Self {
            variant,
            crew: Crew::new(meeting.own_name()),
            meeting,
            options,
            emit,
            answering: Vec::new(),
            asking: Vec::new(),
            agreed_ns: None,
            tcp_state: None,
        })
    }

    fn answering_task(&self, flow: u32, end: Arrived) -> server::Task {
        server::Task {
            flow,
            ticket: self.meeting.ticket(flow),
            sizes: self.options.common.size,
            duplex: self.options.duplex,
            wait: self.options.common.wait.0,
            end,
            answer: self.variant.answer,
            purse: self.meeting.purse(),
            stop: Arc::clone(&self.crew.closed),
        }
    }

    /// Requests per second of each asking thread, as asked for.
    fn thread_rate(&self) -> Option<f64> {
        let threads = self.meeting.sent_here().len().max(1) as f64;
        let rate = self.options.common.rate?;
        Some(self.options.common.events_per_s(rate) / threads)
    }

    fn asking_task(&self, flow: &FlowPlan) -> Task {
        let common = &self.options.common;
        Task {
            plan: AskPlan {
                flow: flow.id,
                rate_per_s: self.thread_rate(),
                count: common.count.map(|count| count.0),
                duration_ns: common.duration_ns(),
                warmup_ns: common.warmup.0,
                bound_ns: self.meeting.spec().phase.bound_ns,
                timeout_ns: i64::try_from(common.timeout.0).unwrap_or(i64::MAX),
                sample: common.sample,
                keep: common.keep.map_or(0, |keep| keep.0),
                interval_ns: common.interval.0,
                stop: Arc::clone(&self.crew.stop),
            },
            ticket: self.meeting.ticket(flow.id),
            sizes: common.size,
            window: self.options.window,
            wait: common.wait.0,
            duplex: self.options.duplex,
        }
    }

    /// The first connection of each flow, on this end.
    fn watched(&self) -> Vec<Watched> {
        let asking = self.asking.iter();
        let asking = asking
            .filter_map(|(task, dialled)| Some((task.plan.flow, "sender", dialled.links.first()?)));
        let answering = self.answering.iter().filter_map(|task| match &task.end {
            Arrived::Links(links) => Some((task.flow, "receiver", links.first()?)),
            Arrived::Datagrams(_) | Arrived::Callers(_) => None,
        });
        asking
            .chain(answering)
            .filter_map(|(flow, end, link)| {
                let tcp = link.tcp()?.try_clone().ok()?;
                Some(Watched { flow, end, tcp })
            })
            .take(MAX_FLOWS)
            .collect()
    }

    /// Connections of a flow and the rate asked of it.
    fn set_up(&self, flow: u32) -> (u64, Option<f64>) {
        let connections = u64::from(self.meeting.connections_of(flow));
        (connections, self.thread_rate())
    }
}

impl<D: Details> Phase<Numbers<D>> for RrPhase<D> {
    fn offer(&self) -> String {
        self.meeting.offer()
    }

    fn hold_to(&mut self, limit: &Arc<Limit>) {
        self.meeting.hold_to(limit);
    }

    fn arm(&mut self, offers: &[Option<String>]) -> Result<(), Refusal> {
        for (flow, dialled) in self.meeting.connect(offers)? {
            self.asking.push((self.asking_task(&flow), dialled));
        }
        Ok(())
    }

    fn start(&mut self, at_ns: i64, t0_ns: i64) -> Result<(), Refusal> {
        for (flow, end) in self.meeting.arrived()? {
            self.answering.push(self.answering_task(flow, end));
        }
        let common = &self.options.common;
        let counted_ns = at_ns.saturating_add_unsigned(common.warmup.0);
        self.agreed_ns = common.rate.is_none().then_some(counted_ns);
        let names = self.meeting.series_names(at_ns, t0_ns);
        let (emit, source) = (Arc::clone(&self.emit), self.variant.kind.source);
        let begins = (at_ns, self.meeting.spec().hosts.len());
        self.tcp_state = Watch::begin(self.watched(), source, names.clone(), begins, emit)?;
        let emit = Arc::clone(&self.emit);
        let reporter = Reporter::new(
            (source, self.variant.numbers),
            names,
            emit,
            self.asking.len(),
        );
        let reports = self.crew.report(move |queue| reporter.run(queue))?;
        for task in std::mem::take(&mut self.answering) {
            let (reports, name) = (reports.clone(), format!("answer{}", task.flow));
            self.crew
                .start(&name, move || server::run(task, &reports))?;
        }
        let ask = self.variant.ask;
        for (task, dialled) in std::mem::take(&mut self.asking) {
            let (reports, name) = (reports.clone(), format!("ask{}", task.plan.flow));
            let run = move || ask(task, dialled, at_ns, &reports);
            self.crew.start(&name, run)?;
        }
        Ok(())
    }

    fn halt(&mut self) {
        self.crew.halt();
    }

    fn drain(&mut self, _sent: &[Option<String>]) -> Result<Numbers<D>, Refusal> {
        // All requests have been sent, so nothing is left to be answered.
        self.tcp_state = None;
        self.crew.end();
        let collected = self.crew.collected()?;
        Ok(Numbers::new(collected, self.agreed_ns, |flow| {
            self.set_up(flow)
        }))
    }
}
