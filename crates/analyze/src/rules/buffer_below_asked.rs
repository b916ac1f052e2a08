//! The system granted a smaller socket buffer than was asked for.
//!
//! Linux cuts `SO_RCVBUF` and `SO_SNDBUF` to `net.core.rmem_max` and `net.core.wmem_max` without
//! an error (socket(7)), so a test that asks for 4 MiB may run with 208 KiB.

use sokudo_model::kinds::datagram;
use sokudo_model::metric::Metric;
use sokudo_model::{Finding, Severity, Text, Unit};

use crate::rule::{Look, Purpose, Rule};
use crate::view::{PhaseView, name_what_lacks};

/// Granted below this share of what was asked counts as below: rounding is not.
const GRANTED_ENOUGH: f64 = 0.99;

/// Values that differ between the two ends.
struct End {
    asked: Metric,
    granted: Metric,
    setting: &'static str,
    /// Counter that tells whether the smaller buffer hurt.
    hurt: Metric,
    says: &'static str,
    at_receiver: bool,
}

const ENDS: [End; 2] = [
    End {
        asked: datagram::RECEIVE_BUFFER_ASKED_BYTES,
        granted: datagram::RECEIVE_BUFFER_GRANTED_BYTES,
        setting: "net.core.rmem_max",
        hurt: datagram::LOST_AT_RECEIVER_SOCKET_PACKETS,
        says: "rule-buffer-below-asked-receive-says",
        at_receiver: true,
    },
    End {
        asked: datagram::SEND_BUFFER_ASKED_BYTES,
        granted: datagram::SEND_BUFFER_GRANTED_BYTES,
        setting: "net.core.wmem_max",
        hurt: datagram::LOST_AT_SENDER_PACKETS,
        says: "rule-buffer-below-asked-send-says",
        at_receiver: false,
    },
];

/// The finding `buffer_below_asked`.
pub const RULE: Rule = Rule {
    name: "buffer_below_asked",
    purpose: Purpose::Describes,
    suspects: &[],
    bounds: &[("enough", GRANTED_ENOUGH, Unit::Ratio)],
    look: Look::Each(look),
};

fn look(view: &PhaseView<'_>) -> Vec<Finding> {
    // A search repeats one set-up many times: its other phases say it already.
    if view.is_trial() {
        return Vec::new();
    }
    ENDS.iter().filter_map(|end| look_at(end, view)).collect()
}

fn look_at(end: &End, view: &PhaseView<'_>) -> Option<Finding> {
    let (flow, asked, granted) = view
        .values(end.granted)
        .filter_map(|(flow, granted)| Some((flow, end.asked.of(&flow.metrics)?, granted)))
        .filter(|(_, asked, granted)| *granted < asked * GRANTED_ENOUGH)
        .min_by(|a, b| (a.2 / a.1).total_cmp(&(b.2 / b.1)))?;
    let host = if end.at_receiver {
        &flow.to
    } else {
        &flow.from
    };
    let hurt = view.total(end.hurt).is_some_and(|n| n > 0.0);
    let (severity, weight) = match hurt {
        true => (Severity::Caution, 0.5),
        false => (Severity::Info, 0.15),
    };
    let says = Text::new(end.says)
        .word("host", host)
        .number("granted", granted, Unit::Bytes)
        .number("asked", asked, Unit::Bytes);
    let mut finding = view.finding(RULE.name, severity, weight, says);
    let evidence = view.evidence("evidence-buffer-granted", end.granted, host, granted);
    finding.evidence.push(evidence);
    let environment = view.record.environments.get(host);
    if let Some(limit) = environment.and_then(|e| e.number(end.setting)) {
        let mut evidence = view.evidence("evidence-setting", end.granted, host, limit);
        evidence.says = Text::new("evidence-setting")
            .word("host", host)
            .word("setting", end.setting)
            .number("value", limit, Unit::Bytes);
        evidence.source = format!("sysctl {}", end.setting);
        evidence.metric = None;
        evidence.unit = Some(Unit::Bytes);
        finding.evidence.push(evidence);
    }
    name_what_lacks(&mut finding.evidence, &[end.setting]);
    finding.next = Some(
        Text::new("rule-buffer-below-asked-next")
            .word("host", host)
            .word("setting", end.setting)
            .word("bytes", format!("{asked:.0}")),
    );
    Some(finding)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::*;

    #[test]
    fn a_small_buffer_is_named_once() {
        let mut record = with_flow(&[("receive_buffer_granted_bytes", 212_992.0)]);
        let again = phase("mesh", record.manifest.phases[0].result.flows.clone());
        record.manifest.phases.push(again);
        let fact = Fact {
            section: "sysctl".into(),
            name: "net.core.rmem_max".into(),
            value: Some("212992".into()),
            unit: None,
            source: "/proc/sys".into(),
        };
        let environment = Environment {
            host: "hostb".into(),
            facts: vec![fact],
        };
        record.environments.insert("hostb".into(), environment);
        let finding = one(&record, "buffer_below_asked");
        assert_eq!(finding.severity, Severity::Info);
        assert_eq!(finding.evidence[1].source, "sysctl net.core.rmem_max");
        let next = finding.next.unwrap();
        assert_eq!(next.args["bytes"], Arg::Word("4194304".into()));
        assert_eq!(next.args["setting"], Arg::Word("net.core.rmem_max".into()));
    }

    #[test]
    fn a_small_send_buffer_is_the_senders() {
        let changes = [
            ("send_buffer_asked_bytes", 1e6),
            ("send_buffer_granted_bytes", 2e5),
        ];
        let finding = one(&with_flow(&changes), "buffer_below_asked");
        assert_eq!(finding.says.args["host"], Arg::Word("hosta".into()));
        none(
            &with_flow(&[
                ("send_buffer_asked_bytes", 1e6),
                ("send_buffer_granted_bytes", 1e6),
            ]),
            "buffer_below_asked",
        );
    }
}
