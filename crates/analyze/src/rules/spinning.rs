//! Is the CPU time that a thread used its way of waiting, or work?
//!
//! A thread that spins uses a whole core whatever the load is: its CPU time says nothing about how
//! much more it could do, and on a host with few cores it takes them from the far end.

use sokudo_model::{Finding, Severity, Text, Unit};

use crate::quantities::exchange::Exchange;
use crate::rule::{Kind, Rule};
use crate::view::PhaseView;

/// From this share of a core on, the thread never slept.
const WHOLE_CORE: f64 = 0.8;

/// See the module.
pub struct Spinning;

impl Rule for Spinning {
    fn name(&self) -> &'static str {
        "spinning"
    }

    fn question(&self) -> &'static str {
        "is the CPU time that a thread used its way of waiting, or work?"
    }

    fn kind(&self) -> Kind {
        Kind::Describes
    }

    fn diagnose(&self, view: &PhaseView<'_>, out: &mut Vec<Finding>) {
        let spins = view.flows().iter().any(|flow| {
            let wait = flow.labels.get("wait");
            wait.is_some_and(|wait| wait.starts_with("spin"))
        });
        let exchange = Exchange::of(*view).filter(|_| spins);
        out.extend(exchange.and_then(|exchange| self.conclude(view, &exchange)));
    }
}

impl Spinning {
    fn conclude(&self, view: &PhaseView<'_>, exchange: &Exchange<'_>) -> Option<Finding> {
        let metric = exchange.name("client_cpu_ratio");
        let (flow, cpu) = view
            .highest(&metric)
            .filter(|(_, cpu)| *cpu >= WHOLE_CORE)?;
        let says = Text::new("rule-spinning-says")
            .word("host", &flow.from)
            .number("cpu", cpu, Unit::Ratio);
        let mut finding = view.finding(self.name(), Severity::Info, 0.2, says);
        let evidence = &mut finding.evidence;
        evidence.push(view.evidence("evidence-client-cpu", &metric, &flow.from, cpu));
        let server = exchange.name("server_cpu_ratio");
        if let Some(cpu) = view.highest_at_receiver(&flow.to, &server) {
            evidence.push(view.evidence("evidence-server-cpu", &server, &flow.to, cpu));
        }
        finding.next = Some(Text::new("rule-spinning-next"));
        Some(finding)
    }
}
