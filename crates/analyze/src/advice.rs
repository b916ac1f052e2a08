//! Options that advice may name, by the kind of load that it is given to.
//!
//! Every message that names an option stands in [`ADVICE`] with those options. [`fit`] lets a message
//! through to a kind whose command has all of them; any other kind gets the message that stands
//! instead, or no advice; a run of another command is told whose options they are ([`fit_phase`]). A test compares the table with the messages of both languages, so that a
//! message cannot name an option which it does not declare.

use sokudo_model::kinds::Kind;
use sokudo_model::{Arg, Finding, Text};

use crate::view::PhaseView;

/// A message that names options.
#[derive(Debug)]
pub struct Advice {
    /// Key of the message.
    pub key: &'static str,
    /// The long options that it names.
    pub options: &'static [&'static str],
    /// Key of the message for kinds that lack one of them; `None` when there is nothing to say then.
    pub instead: Option<&'static str>,
}

const fn of(
    key: &'static str,
    options: &'static [&'static str],
    instead: Option<&'static str>,
) -> Advice {
    Advice {
        key,
        options,
        instead,
    }
}

/// Every message that names an option.
#[rustfmt::skip]
pub const ADVICE: &[Advice] = &[
    of("verdict-advice-choice", &["batch", "connections", "level"], None),
    of("verdict-best-next", &["streams", "size"], None),
    of("verdict-probe-unsent", &["every"], None),
    of("verdict-sweep-next-finer", &["find"], None),
    of("next-paced", &["find"], None),
    of("next-unpaced", &["find"], None),
    of("remedy-receiver-buffer", &["rcvbuf"], None),
    of("remedy-receiver-busy", &["streams"], None),
    of("remedy-receiver-waiting", &["rcvbuf"], None),
    of("rule-generator-limited-paced-next", &["size", "streams", "rate"], None),
    of("rule-generator-limited-busy-next", &["streams", "size"], None),
    of("rule-generator-limited-asks-late-next", &["threads", "wait", "rate"], Some("rule-generator-limited-asks-late-loop-next")),
    of("rule-generator-limited-loop-next", &["threads", "rate"], Some("rule-generator-limited-loop-plan-next")),
    of("rule-generator-limited-loop-plan-next", &["threads"], None),
    of("rule-low-mtu-fragments-next", &["size"], None),
    of("rule-sender-refusal-next", &["sndbuf"], None),
    of("rule-window-full-next", &["window", "connections"], Some("rule-window-full-connections-next")),
    of("rule-window-full-connections-next", &["connections"], Some("rule-window-full-clients-next")),
    of("rule-window-full-clients-next", &["clients"], Some("rule-window-full-threads-next")),
    of("rule-window-full-threads-next", &["threads"], None),
    of("rule-window-full-receipts-next", &["inflight"], None),
    of("rule-spinning-says", &["wait"], None),
    of("rule-spinning-next", &["wait"], None),
    of("rule-receive-window-next", &["rcvbuf", "window-clamp"], Some("rule-receive-window-system-next")),
    of("rule-send-buffer-next", &["sndbuf"], Some("rule-send-buffer-system-next")),
    of("rule-loss-limited-next", &["cc"], Some("rule-loss-limited-place-next")),
    of("rule-path-limited-next", &["pacing"], Some("rule-path-limited-compare-next")),
    of("rule-sender-cpu-next", &["streams", "size", "io"], None),
    of("rule-sender-cpu-bus-next", &["tx-threads", "size"], None),
    of("rule-receiver-cpu-bus-next", &["rx", "rx-threads", "tx-threads"], None),
    of("rule-receiver-cpu-next", &["streams"], None),
    of("rule-cpu-encrypted-next", &["streams", "transport"], Some("rule-cpu-encrypted-threads-next")),
    of("rule-cpu-encrypted-threads-next", &["tx-threads", "transport"], None),
    of("rule-exchange-cpu-next", &["threads"], None),
    of("rule-files-cpu-next", &["connections", "level", "transport"], None),
    of("rule-session-pool-next", &["pool"], None),
    of("rule-replication-stage-read-next", &["connections"], None),
    of("rule-replication-stage-make-next", &["connections"], None),
    of("rule-replication-stage-pack-next", &["connections", "level"], None),
    of("rule-replication-stage-dense-next", &["level"], None),
    of("rule-replication-stage-walk-next", &["checksum"], None),
    of("rule-replication-stage-create-next", &["connections"], None),
    of("rule-replication-stage-sync-next", &["durability"], None),
    of("rule-replication-stage-unpack-next", &["connections", "level"], None),
    of("rule-application-asked-next", &["rate"], Some("rule-application-limit-next")),
    of("rule-application-limit-next", &["limit"], None),
    of("rule-application-paced-says", &["pacing"], None),
    of("rule-application-paced-next", &["pacing"], None),
    of("rule-application-reader-next", &["read-rate"], Some("rule-application-consumer-next")),
    of("rule-application-consumer-next", &["consume-rate"], None),
    of("rule-application-writer-next", &["rate"], None),
    of("rule-delayed-ack-next", &["nagle"], Some("rule-delayed-ack-server-next")),
    of("evidence-nagle", &["nagle"], None),
    of("rule-uneven-start-next", &["max-skew"], Some("rule-uneven-start-plan-next")),
    of("rule-name-server-errors-others-next", &["udp-bytes"], None),
    of("rule-lost-queries-own-next", &["threads", "window"], None),
    of("rule-lost-queries-unknown-next", &["transport"], None),
    of("rule-lost-queries-requests-next", &["transport"], None),
    of("rule-truncated-responses-next", &["udp-bytes", "transport"], None),
    of("rule-client-bound-next", &["threads"], None),
    of("rule-embedded-database-computes-next", &["threads"], None),
    of("rule-embedded-database-waits-next", &["commit"], None),
    of("rule-hidden-stall-next", &["model"], Some("rule-hidden-stall-rate-next")),
    of("rule-hidden-stall-rate-next", &["rate"], None),
    of("check-generator-unstarted", &["max-inflight"], Some("check-generator-unstarted-connections")),
    of("check-generator-unstarted-connections", &["connections"], Some("check-generator-unstarted-clients")),
    of("check-generator-unstarted-clients", &["clients"], None),
];

/// The message as `kind` may be told it; `None` when it would name an option that the kind's command
/// lacks, and nothing stands instead.
pub fn fit(kind: Option<&Kind>, mut text: Text) -> Option<Text> {
    while let Some(advice) = ADVICE.iter().find(|advice| advice.key == text.key) {
        let has = |option: &&str| kind.is_some_and(|kind| kind.options.contains(option));
        if advice.options.iter().all(has) {
            break;
        }
        text.key = advice.instead?.into();
    }
    for arg in text.args.values_mut() {
        if let Arg::Text(inner) = arg {
            **inner = fit(kind, (**inner).clone())?;
        }
    }
    Some(text)
}

/// Message that says whose options an advice names.
const OF_COMMAND: &str = "advice-of-command";

/// The message as it may be told about a phase. Where the run was ordered with another command, which has
/// options of its own, the message says whose options it names.
pub fn fit_phase(view: &PhaseView<'_>, text: Text) -> Option<Text> {
    let told = fit(view.kind(), plain(text))?;
    let run = &view.record.manifest;
    let is_own = run.workload == view.phase.workload || run.is_of_many_hosts();
    Some(match is_own || !names_options(&told) {
        true => told,
        false => Text::new(OF_COMMAND)
            .word("command", &view.phase.workload)
            .text("advice", told),
    })
}

/// The message without what says whose options it names: the advice of a finding is part of a longer one,
/// which says so once.
fn plain(mut text: Text) -> Text {
    if text.key == OF_COMMAND
        && let Some(Arg::Text(advice)) = text.args.remove("advice")
    {
        return plain(*advice);
    }
    for arg in text.args.values_mut() {
        if let Arg::Text(inner) = arg {
            **inner = plain((**inner).clone());
        }
    }
    text
}

fn names_options(text: &Text) -> bool {
    let inner = |arg: &Arg| matches!(arg, Arg::Text(inner) if names_options(inner));
    ADVICE.iter().any(|advice| advice.key == text.key) || text.args.values().any(inner)
}

/// Fits the next step of a finding to the phase that it is about.
pub fn fit_finding(view: &PhaseView<'_>, mut finding: Finding) -> Finding {
    finding.next = finding.next.and_then(|next| fit_phase(view, next));
    finding
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use sokudo_model::kinds::KINDS;

    use super::*;
    use crate::tests::LANGUAGES;

    /// Key and long options of each message of the analysis; those of the reference are told of no run.
    fn named(source: &str) -> Vec<(String, BTreeSet<String>)> {
        let mut all: Vec<(String, BTreeSet<String>)> = Vec::new();
        for line in source.lines().filter(|line| !line.starts_with('#')) {
            if let (false, Some((key, _))) = (line.starts_with(' '), line.split_once(" =")) {
                all.push((key.to_owned(), BTreeSet::new()));
            }
            let is_name = |c: char| c.is_ascii_lowercase() || c == '-';
            let options = line.split("--").skip(1);
            let options =
                options.map(|rest| rest.split(|c| !is_name(c)).next().unwrap_or_default());
            if let Some((_, into)) = all.last_mut() {
                into.extend(options.filter(|name| !name.is_empty()).map(str::to_owned));
            }
        }
        all.retain(|(key, options)| !options.is_empty() && !key.starts_with("finding-"));
        all
    }

    #[test]
    fn messages_name_the_options_that_they_declare() {
        for source in LANGUAGES {
            let named = named(source);
            for (key, options) in &named {
                let advice = ADVICE.iter().find(|advice| advice.key == key);
                let advice =
                    advice.unwrap_or_else(|| panic!("`{key}` names {options:?}, undeclared"));
                let declared = advice.options.iter().map(|name| (*name).to_owned());
                assert_eq!(declared.collect::<BTreeSet<_>>(), *options, "{key}");
            }
            for advice in ADVICE {
                assert!(
                    named.iter().any(|(key, _)| key == advice.key),
                    "{}",
                    advice.key
                );
                let instead = advice.instead.map(|key| format!("\n{key} ="));
                assert!(
                    instead.is_none_or(|key| source.contains(&key)),
                    "{advice:?}"
                );
            }
        }
    }

    #[test]
    fn no_kind_is_told_an_option_that_it_lacks() {
        let (nested, known) = (Text::new("next-paced"), |key: &str| {
            ADVICE.iter().find(|advice| advice.key == key)
        });
        for kind in KINDS {
            for advice in ADVICE {
                for text in [
                    Text::new(advice.key),
                    nested.clone().text("remedy", Text::new(advice.key)),
                ] {
                    let Some(told) = fit(Some(kind), text) else {
                        continue;
                    };
                    let inner = match told.args.get("remedy") {
                        Some(Arg::Text(inner)) => Some(inner.key.clone()),
                        _ => None,
                    };
                    for key in inner.iter().chain([&told.key]) {
                        let options = known(key).map_or(&[][..], |advice| advice.options);
                        let lacks = options.iter().find(|name| !kind.options.contains(name));
                        assert_eq!(lacks, None, "{} is told {key}", kind.name);
                    }
                }
            }
        }
        assert_eq!(fit(None, Text::new("rule-spinning-next")), None);
    }
}
