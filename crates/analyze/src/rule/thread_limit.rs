//! The shared rule about a thread at one end of a flow that had no CPU time left.

use sokudo_model::kinds::Family;
use sokudo_model::metric::Metric;
use sokudo_model::metrics::host;
use sokudo_model::{Evidence, Finding, FlowResult, Severity, Text, Unit};

use crate::quantities::ends::{End, Load};
use crate::quantities::tcp::Connection;
use crate::view::PhaseView;
use crate::view::machine;

/// From this share of a core on, a thread has no time left.
pub const WHOLE_CORE: f64 = 0.85;
/// Share of the time up to which a thread counts as never waiting for the other end.
pub const NEVER: f64 = 0.15;

/// Share of waiting time from which a sentence tells it.
const TOLD: f64 = 0.001;

/// The conclusion about one end of one flow.
pub fn conclude<'a>(
    load: &Load<'a>,
    flow: &'a FlowResult,
    end: End,
    rule: &str,
) -> Option<Finding> {
    let times = load.times(flow, end);
    let cpu = times.cpu.filter(|cpu| *cpu >= WHOLE_CORE)?;
    let held = times.held.unwrap_or(0.0);
    if load.spins(flow) || held > NEVER {
        return None;
    }
    let says = Text::new(match (load.is_exchange(), end) {
        (false, End::Sender) => "rule-sender-cpu-says",
        (false, End::Receiver) => "rule-receiver-cpu-says",
        (true, End::Sender) => "rule-asking-cpu-says",
        (true, End::Receiver) => "rule-answering-cpu-says",
    });
    let host = end.host(flow);
    // Told as measured, for it stands beside the same number elsewhere.
    let waited = match load.blocked(flow, end).or(times.held) {
        Some(held) if held >= TOLD => Text::new("waited-some").number("share", held, Unit::Ratio),
        _ => Text::new("waited-never"),
    };
    let says = says
        .word("host", host)
        .number("cpu", cpu, Unit::Ratio)
        .text("waited", waited);
    let view = load.view;
    let weight = 0.3 + 0.6 * cpu * (1.0 - held);
    let mut finding = view.finding(rule, Severity::Info, weight, says);
    let evidence = &mut finding.evidence;
    evidence.extend(load.thread_evidence(flow, end));
    evidence.extend(load.held_evidence(flow, end));
    let other = match end {
        End::Sender => End::Receiver,
        End::Receiver => End::Sender,
    };
    evidence.extend(load.held_evidence(flow, other));
    if end == End::Receiver {
        let connection = Connection::of(view, flow, End::Sender);
        evidence.extend(connection.receive_window_evidence());
    }
    evidence.extend(busiest_core(view, host));
    finding.next = Some(next(flow, end, load));
    Some(finding)
}

/// The core of a host with the least idle time: where the thread ran most of the time.
fn busiest_core(view: PhaseView<'_>, host: &str) -> Option<Evidence> {
    const CPU: Metric = host::CPU_RATIO;
    let there = machine::with(view.record, host).into_iter();
    let idle = there.flat_map(|host| view.series(Some(host), CPU, &[("state", "idle")]));
    let cores = idle.filter_map(|series| {
        let core = series
            .key
            .labels
            .get("core")
            .filter(|core| *core != "all")?;
        Some((series, core, 1.0 - view.mean(series)?))
    });
    let (series, core, used) = cores.max_by(|a, b| a.2.total_cmp(&b.2))?;
    let mut row = view.evidence("evidence-busiest-core", CPU, host, used);
    row.says = row.says.word("core", core);
    row.labels = series.key.labels.clone();
    Some(row)
}

fn next(flow: &FlowResult, end: End, load: &Load<'_>) -> Text {
    let transport = flow.labels.get("transport").map_or("", String::as_str);
    let is_encrypted = matches!(transport, "tls" | "quic");
    let key = match (load.kind.family, end) {
        (Family::Exchange(_), _) => "rule-exchange-cpu-next",
        _ if is_encrypted => "rule-cpu-encrypted-next",
        (Family::Files(_), _) => "rule-files-cpu-next",
        (Family::Messages(_), End::Sender) => "rule-sender-cpu-bus-next",
        (Family::Messages(_), End::Receiver) => "rule-receiver-cpu-bus-next",
        (Family::Bytes(_) | Family::Datagram | Family::Probe, End::Sender) => {
            "rule-sender-cpu-next"
        }
        (Family::Bytes(_) | Family::Datagram | Family::Probe, End::Receiver) => {
            "rule-receiver-cpu-next"
        }
    };
    Text::new(key).word("host", end.host(flow))
}

#[cfg(test)]
mod tests {
    use crate::tests::scene::*;
    use crate::tests::*;

    /// A thread that uses its whole core has no time left to have waited in, by the kernel's count; its own
    /// clock says that it did, and that number stands in the table.
    #[test]
    fn a_wait_that_the_numbers_show_is_not_denied() {
        let ends = [
            ("sender_cpu_limited", [1.0, 0.0, 0.0853], [0.5, 0.0, 0.4]),
            ("receiver_cpu_limited", [0.5, 0.0, 0.4], [1.0, 0.0, 0.0853]),
        ];
        for (rule, sender, receiver) in ends {
            let scene = Scene::of("stream").sender(sender).receiver(receiver);
            let finding = scene.limited_by(rule);
            let Arg::Text(waited) = &finding.says.args["waited"] else {
                panic!("{:?}", finding.says)
            };
            assert_eq!(waited.key, "waited-some");
            let told = Arg::Number(0.0853, sokudo_model::Unit::Ratio);
            assert_eq!(waited.args["share"], told);
            let shown = finding.evidence.iter().any(|row| row.value == Some(0.0853));
            assert!(shown, "{:?}", finding.evidence);
        }
    }

    #[test]
    fn neither_language_says_never_of_a_wait_that_has_a_share() {
        for source in LANGUAGES {
            let line = |key: &str| {
                let mut lines = source.lines();
                let begin = format!("{key} =");
                lines.find(|line| line.starts_with(&begin)).expect(key)
            };
            assert!(line("waited-some").contains("{ $share }"));
            for key in ["rule-sender-cpu-says", "rule-receiver-cpu-says"] {
                let says = line(key);
                assert!(says.contains("{ $waited }"), "{says}");
                for denied in ["never", "余裕", "待っていません"] {
                    assert!(!says.contains(denied), "{says}");
                }
            }
        }
    }
}
