//! Message formats of the databases.
//!
//! ```text
//! Graphite   jmeter.all.ok.count 12 1795318927
//! InfluxDB   jmeter,application=shop,transaction=all,statut=all count=12,countError=0,… 1795318927000000000
//! ```
//!
//! Names and meaning are those of JMeter, down to its `statut`.

use std::fmt::Write;

use sokudo_jmeter::plan::{Destination, Influx};

use super::Summary;
use super::sums::{Sums, Window};

/// The label under which everything is summed up.
const ALL: &str = "all";
/// The tag that tells generators apart.
const HOST: &str = "host";

/// Makes what one generator of several says tell itself apart from what the others say: in InfluxDB by
/// the tag `host`, unless the plan has one, in Graphite by a part of all names behind the prefix.
pub(super) fn tell_apart(to: &mut Destination, host: &str) {
    match to {
        Destination::Influx(influx) if influx.tags.iter().all(|(name, _)| name != HOST) => {
            influx.tags.push((HOST.into(), host.into()));
        }
        Destination::Graphite { prefix, .. } => prefix.push_str(&format!("{}.", plain(host))),
        Destination::Influx(_) | Destination::Nobody(_) => {}
    }
}

/// Names with numbers for Graphite, in order.
pub(super) fn graphite(summary: &Summary, prefix: &str) -> Vec<(String, String)> {
    let mut said = Vec::new();
    let labels = summary
        .labels
        .iter()
        .map(|(label, sums)| (plain(label), sums));
    let all = std::iter::once((ALL.to_owned(), &summary.all));
    for (label, sums) in labels.chain(all).filter(|(_, sums)| sums.count() > 0) {
        let mut say =
            |name: &str, value: String| said.push((format!("{prefix}{label}.{name}"), value));
        say("ok.count", sums.ok.to_string());
        say("ko.count", sums.failed.to_string());
        say("a.count", sums.count().to_string());
        say("h.count", sums.hits.to_string());
        say("sb.bytes", sums.sent_bytes.to_string());
        say("rb.bytes", sums.bytes.to_string());
        let kinds = [
            ("ok", sums.ok, &sums.ok_ms, &sums.ok_ms),
            ("ko", sums.failed, &sums.failed_ms, &sums.failed_ms),
            ("a", sums.count(), &sums.all_ms, &sums.late_ms),
        ];
        for (kind, count, window, late) in kinds {
            if count == 0 {
                continue;
            }
            let numbers = [
                ("min", window.least()),
                ("max", window.most()),
                ("avg", window.mean()),
            ];
            for (name, value) in numbers {
                value
                    .into_iter()
                    .for_each(|value| say(&format!("{kind}.{name}"), float(value)));
            }
            let found = late.percentiles(&summary.percentiles);
            for (percent, value) in summary.percentiles.iter().zip(found) {
                let percent = plain(&short(*percent));
                say(&format!("{kind}.pct{percent}"), float(value));
            }
        }
    }
    for (name, value) in users(summary) {
        said.push((format!("{prefix}test.{name}"), value.to_string()));
    }
    said
}

/// Lines of text for Graphite.
pub(super) fn lines(said: &[(String, String)], at_s: i64) -> Vec<u8> {
    let mut text = String::new();
    for (name, value) in said {
        // Writing to a string never fails.
        let _ = writeln!(text, "{name} {value} {at_s}");
    }
    text.into_bytes()
}

/// The same as a list of Python's, `[(name, (time, value)), …]`, behind its length.
pub(super) fn pickled(said: &[(String, String)], at_s: i64) -> Vec<u8> {
    let mut list = String::from("(l");
    for (name, value) in said {
        let (name, value) = (quoted(name), quoted(value));
        // Writing to a string never fails.
        let _ = write!(list, "(S{name}\n(L{at_s}L\nS{value}\ntta");
    }
    list.push('.');
    let bytes = u32::try_from(list.len()).unwrap_or(u32::MAX);
    [&bytes.to_be_bytes(), list.as_bytes()].concat()
}

/// The lines of one message to InfluxDB.
pub(super) fn influx(summary: &Summary, to: &Influx, at_ms: i64) -> String {
    let mut said = String::new();
    let tags = own_tags(to);
    let application = tag(&to.application);
    let measured = tag(&to.measurement);
    let mut say = |tags_of: String, fields: &str| {
        // Writing to a string never fails.
        let _ = writeln!(
            said,
            "{measured},application={application},{tags_of}{tags} {fields} {at_ms}000000"
        );
    };
    if summary.all.count() > 0 {
        let sums = &summary.all;
        let mut fields = format!("count={},countError={}", sums.count(), sums.failed);
        // As there, the times of all are those of what succeeded, and the percentiles those of all.
        times(
            &mut fields,
            (&sums.ok_ms, &sums.late_ms),
            sums,
            &summary.percentiles,
        );
        say("transaction=all,statut=all".into(), &fields);
    }
    for (label, sums) in summary.labels.iter().filter(|(_, sums)| sums.count() > 0) {
        let label = tag(label);
        let kinds = [
            ("all", sums.count(), &sums.all_ms, &sums.late_ms),
            ("ok", sums.ok, &sums.ok_ms, &sums.ok_ms),
            ("ko", sums.failed, &sums.failed_ms, &sums.failed_ms),
        ];
        for (kind, count, window, late) in kinds.into_iter().filter(|kind| kind.1 > 0) {
            let mut fields = format!("count={count}");
            times(&mut fields, (window, late), sums, &summary.percentiles);
            say(format!("transaction={label},statut={kind}"), &fields);
        }
        for ((code, message), count) in &sums.errors {
            let or = |text: &str, otherwise: &str| match text.trim() {
                "" => otherwise.into(),
                text => tag(text),
            };
            let (code, message) = (or(code, "0"), or(message, "None"));
            let tags = format!("transaction={label},responseCode={code},responseMessage={message}");
            say(tags, &format!("count={count}"));
        }
    }
    let fields = users(summary).map(|(name, value)| format!("{name}={value}"));
    say("transaction=internal".into(), &fields.join(","));
    said
}

/// The line that says that a test begins or ends.
pub(super) fn event(to: &Influx, ends: bool, at_ms: i64) -> String {
    let (application, tags) = (tag(&to.application), own_tags(to));
    let of_events = match to.event_tags.trim() {
        "" => String::new(),
        tags => format!(",tags={}", tag(tags)),
    };
    let what = if ends { "ended" } else { "started" };
    let title = to
        .title
        .trim_start()
        .replace('"', "\\\"")
        .replace('\n', " ");
    format!(
        "events,application={application},title=ApacheJMeter{tags}{of_events} text=\"{title} {what}\" {at_ms}000000\n"
    )
}

fn times(fields: &mut String, (window, late): (&Window, &Window), sums: &Sums, asked: &[f32]) {
    let numbers = [
        ("avg", window.mean()),
        ("min", window.least()),
        ("max", window.most()),
    ];
    for (name, value) in numbers {
        if let Some(value) = value {
            fields.push_str(&format!(",{name}={}", float(value)));
        }
    }
    let Sums {
        hits,
        sent_bytes,
        bytes,
        ..
    } = sums;
    fields.push_str(&format!(",hit={hits},sb={sent_bytes},rb={bytes}"));
    for (percent, value) in asked.iter().zip(late.percentiles(asked)) {
        fields.push_str(&format!(",pct{percent:?}={}", float(value)));
    }
}

fn users(summary: &Summary) -> [(&'static str, u64); 5] {
    let whole = |value: Option<f64>| value.unwrap_or(0.0) as u64;
    [
        ("minAT", whole(summary.users.least())),
        ("maxAT", whole(summary.users.most())),
        ("meanAT", whole(summary.users.mean())),
        ("startedT", summary.begun),
        ("endedT", summary.begun.saturating_sub(summary.active)),
    ]
}

/// A number that always shows that it may be broken.
fn float(value: f64) -> String {
    format!("{value:?}")
}

/// A number with at most two places behind the point.
fn short(value: f32) -> String {
    let text = format!("{value:.2}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

/// A part of a name of Graphite. Line ends would be names of their own.
fn plain(text: &str) -> String {
    text.replace(['\\', ' ', '\n', '\r'], "-").replace('.', "_")
}

/// A text of Python.
fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\\', "\\\\").replace('\'', "\\'"))
}

/// A name or value of a tag of InfluxDB.
fn tag(text: &str) -> String {
    let mut tag = String::new();
    for letter in text.trim().chars() {
        match letter {
            ' ' | ',' | '=' => tag.extend(['\\', letter]),
            // A line end would end the line.
            '\n' => tag.push_str("\\n"),
            '\r' => {}
            letter => tag.push(letter),
        }
    }
    tag
}

fn own_tags(to: &Influx) -> String {
    let each = to.tags.iter();
    each.map(|(name, value)| format!(",{}={}", tag(name), tag(value)))
        .collect()
}
