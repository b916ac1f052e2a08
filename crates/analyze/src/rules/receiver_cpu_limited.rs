//! The receiving thread had no CPU time left.
//!
//! A thread that uses a whole core and never waits for data would take more if it could compute
//! more; the sender shows the other side of it: it waits for room, and the receive window is full.

use sokudo_model::{Finding, FlowResult, Unit};

use crate::quantities::ends::{End, Load};
use crate::rule::thread_limit::{self, NEVER, WHOLE_CORE};
use crate::rule::{Look, Purpose, Rule, Standing, Suspect};

/// The finding `receiver_cpu_limited`.
pub const RULE: Rule = Rule {
    name: "receiver_cpu_limited",
    purpose: Purpose::Limit(Standing::General),
    suspects: &[Suspect::raise("streams"), Suspect::raise("threads")],
    bounds: &[
        ("whole", WHOLE_CORE, Unit::Ratio),
        ("never", NEVER, Unit::Ratio),
    ],
    look: Look::Flows(look),
};

fn look<'a>(load: &Load<'a>, flow: &'a FlowResult) -> Option<Finding> {
    thread_limit::conclude(load, flow, End::Receiver, RULE.name)
}

#[cfg(test)]
mod tests {
    use crate::tests::scene::*;
    use crate::tests::*;

    #[test]
    fn a_full_window_before_a_busy_reader_is_its_cpus_limit() {
        let tcp = Tcp {
            receive_window: 0.6,
            ..SENDING
        };
        let scene = Scene::of("stream")
            .sender([0.4, 0.001, 0.55])
            .receiver([0.98, 0.001, 0.01])
            .tcp(tcp);
        let finding = scene.limited_by("receiver_cpu_limited");
        has_metric(&finding, "stream.write_blocked_ratio");
        scene
            .without("receive_window_limited")
            .without("application_limited");
    }

    #[test]
    fn an_answering_thread_without_time_is_named() {
        let scene = Scene::of("rr")
            .sender([0.4, 0.001, 0.0])
            .receiver([0.96, 0.01, 0.0]);
        let finding = scene.limited_by("receiver_cpu_limited");
        assert_eq!(finding.says.key, "rule-answering-cpu-says");
    }
}
