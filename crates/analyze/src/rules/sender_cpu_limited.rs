//! The sending thread had no CPU time left.
//!
//! A thread that uses a whole core and never waits for room to write into would send more if it
//! could compute more; the far end shows the other side of it: it waits for data.

use sokudo_model::{Finding, FlowResult, Unit};

use crate::quantities::ends::{End, Load};
use crate::rule::thread_limit::{self, NEVER, WHOLE_CORE};
use crate::rule::{Look, Purpose, Rule, Standing, Suspect};

/// The finding `sender_cpu_limited`.
pub const RULE: Rule = Rule {
    name: "sender_cpu_limited",
    purpose: Purpose::Limit(Standing::General),
    suspects: &[
        Suspect::raise("streams"),
        Suspect::raise("size"),
        Suspect::raise("threads"),
    ],
    bounds: &[
        ("whole", WHOLE_CORE, Unit::Ratio),
        ("never", NEVER, Unit::Ratio),
    ],
    look: Look::Flows(look),
};

fn look<'a>(load: &Load<'a>, flow: &'a FlowResult) -> Option<Finding> {
    thread_limit::conclude(load, flow, End::Sender, RULE.name)
}

#[cfg(test)]
mod tests {
    use crate::tests::scene::*;
    use crate::tests::*;

    #[test]
    fn a_sender_without_cpu_time_left_is_the_limit() {
        let scene = Scene::of("stream")
            .sender([0.97, 0.01, 0.01])
            .receiver([0.5, 0.01, 0.48])
            .tcp(SENDING);
        let finding = scene.limited_by("sender_cpu_limited");
        has_metric(&finding, "stream.read_idle_ratio");
        scene
            .without("receiver_cpu_limited")
            .without("loss_limited");
    }

    #[test]
    fn encryption_gets_other_advice() {
        let mut scene = Scene::of("stream")
            .sender([0.97, 0.01, 0.01])
            .receiver([0.5, 0.01, 0.48]);
        let labels = &mut scene.flow().labels;
        labels.insert("transport".into(), "tls".into());
        let finding = scene.limited_by("sender_cpu_limited");
        assert_eq!(finding.next.unwrap().key, "rule-cpu-encrypted-next");
    }

    #[test]
    fn loss_beside_a_sender_without_time_is_not_the_limit() {
        let tcp = Tcp {
            lost: 0.02,
            ..SENDING
        };
        let scene = Scene::of("stream")
            .sender([0.97, 0.01, 0.01])
            .receiver([0.5, 0.01, 0.48])
            .tcp(tcp);
        scene.limited_by("sender_cpu_limited");
        scene.without("loss_limited");
    }
}
