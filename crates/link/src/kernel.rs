//! Links of the kernel's own disciplines, beside the bridge of the hosts (tc-tbf(8), tc-netem(8)).
//!
//! ```text
//!   host 0 ─► port of host 0 ═ bridge ═ port of host 1: netem (delay, loss) ─► tbf (rate, queue) ─► host 1
//! ```

use serde_json::Value;
use sokudo_model::{Arg, Text};
use sokudo_net::netns::{LocalHosts, NetnsError, port_name};

use crate::direction::Properties;
use crate::loss::Loss;
use crate::tally::Tally;

/// Packets that a discipline without a rate holds at most: more than is ever under way.
const PACKETS_MAX: u32 = 1_000_000;
/// Least bytes that a bucket holds: two packets with their headers.
const BURST_MIN_BYTES: u64 = 3_028;
/// The bucket holds what its rate sends in this time: timers are late by less.
const BURST_PER_S: u64 = 1_000;

/// Reasons why the disciplines cannot do as asked: keys of messages.
pub fn lacks(properties: &Properties) -> Option<&'static str> {
    let reorders = properties.jitter_ns > 0 && !properties.may_reorder;
    reorders.then_some("error-link-reorders")
}

/// Reason why this process carries such a link better, although the kernel can: the key of a message.
pub fn is_worse_at(properties: &Properties) -> Option<&'static str> {
    draws(properties).then_some("error-link-bursts")
}

/// True when packets have a fate of their own.
fn draws(properties: &Properties) -> bool {
    properties.jitter_ns > 0 || !properties.loss.is_none()
}

/// Puts the disciplines of both directions in place.
///
/// Errors: what the kernel, or `tc`, lacks.
pub fn set_up(hosts: &LocalHosts, ways: [&Properties; 2]) -> Result<(), NetnsError> {
    for (direction, properties) in ways.into_iter().enumerate() {
        for (kind, line) in disciplines(&port_towards(direction), properties) {
            let done = hosts.set_up_hub("tc", &[], line);
            done.map_err(|e| lacking(kind, e))?;
        }
    }
    if !ways.into_iter().any(draws) {
        // A bucket takes apart what is larger than itself, and a delay is the same for all.
        return Ok(());
    }
    for i in 0..2 {
        // Each packet is sent by itself: one draw would lose or delay 64 KiB at once.
        hosts.set_up(i, "ip", &[], "link set eth0 gso_max_segs 1\n".into())?;
    }
    Ok(())
}

fn lacking(kind: &str, error: NetnsError) -> NetnsError {
    let says = |arg: &Arg| matches!(arg, Arg::Word(said) if said.contains("qdisc kind is unknown"));
    if !error.what.args.values().any(says) {
        return error;
    }
    NetnsError::new(
        Text::new("error-link-discipline").word("kind", kind),
        Text::new("error-link-discipline-hint").word("kind", kind),
    )
}

/// Kinds of the disciplines that these properties need, from the root of the device downwards.
pub fn kinds(properties: &Properties) -> &'static [&'static str] {
    let alters = properties.delay_ns > 0 || draws(properties);
    match (alters, properties.rate_bits_per_s.is_some()) {
        (true, true) => &["netem", "tbf"],
        (true, false) => &["netem"],
        (false, true) => &["tbf"],
        // It only counts.
        (false, false) => &["pfifo"],
    }
}

/// Counts of the disciplines of a direction so far.
pub fn tally(
    hosts: &LocalHosts,
    direction: usize,
    properties: &Properties,
) -> Result<Tally, NetnsError> {
    let port = port_towards(direction);
    let batch = format!("qdisc show dev {port}\n");
    let shown = hosts.set_up_hub("tc", &["-s", "-j"], batch)?;
    counted(&shown, properties).ok_or_else(|| {
        NetnsError::new(
            Text::new("error-link-counters")
                .word("port", &port)
                .word("shown", shown.trim()),
            Text::new("error-link-counters-hint"),
        )
    })
}

/// The bridge's port behind which the packets of a direction leave.
fn port_towards(direction: usize) -> String {
    port_name(1 - direction)
}

/// The disciplines of one direction, and the command of `tc` for each.
fn disciplines(port: &str, properties: &Properties) -> Vec<(&'static str, String)> {
    let mut commands = Vec::new();
    let mut place = "root";
    for kind in kinds(properties) {
        let options = match *kind {
            "netem" => netem(properties),
            "tbf" => tbf(properties),
            _ => format!("limit {PACKETS_MAX}"),
        };
        let handle = if place == "root" { 1 } else { 2 };
        let command =
            format!("qdisc replace dev {port} {place} handle {handle}: {kind} {options}\n");
        commands.push((*kind, command));
        place = "parent 1:1";
    }
    commands
}

fn netem(properties: &Properties) -> String {
    let (delay, loss) = (delay(properties), loss(properties.loss));
    format!("limit {PACKETS_MAX}{delay}{loss}")
}

fn tbf(properties: &Properties) -> String {
    let rate = properties.rate_bits_per_s.unwrap_or(u64::MAX);
    let burst = (rate / 8 / BURST_PER_S).clamp(BURST_MIN_BYTES, u64::from(u32::MAX));
    let limit = properties.queue_bytes.min(u64::from(u32::MAX));
    format!("rate {rate}bit burst {burst} limit {limit}")
}

/// netem draws a delay from both sides of its mean.
fn delay(properties: &Properties) -> String {
    let half_ns = properties.jitter_ns / 2;
    let us = |ns: u64| ns as f64 / 1e3;
    match (properties.delay_ns, half_ns) {
        (0, 0) => String::new(),
        (delay_ns, 0) => format!(" delay {}us", us(delay_ns)),
        (delay_ns, half_ns) => format!(" delay {}us {}us", us(delay_ns + half_ns), us(half_ns)),
    }
}

fn loss(loss: Loss) -> String {
    let percent = |share: f64| format!("{}%", share * 100.0);
    match loss {
        Loss::None => String::new(),
        _ if loss.is_none() => String::new(),
        Loss::Share(share) => format!(" loss random {}", percent(share)),
        Loss::Bursts {
            to_bad,
            to_good,
            in_bad,
            in_good,
        } => format!(
            " loss gemodel {} {} {} {}",
            percent(to_bad),
            percent(to_good),
            percent(in_bad),
            percent(in_good)
        ),
    }
}

/// Reads what `tc -s -j qdisc show` prints of one device.
fn counted(shown: &str, properties: &Properties) -> Option<Tally> {
    let shown: Value = serde_json::from_str(shown).ok()?;
    let all = shown.as_array()?;
    let kinds = kinds(properties);
    let of = |kind: &str| all.iter().find(|one| one["kind"] == kind);
    let number = |one: &Value, name: &str| one[name].as_u64();
    let root = of(kinds.first()?)?;
    let drops = number(root, "drops")?;
    // A discipline counts the drops of the one below as its own.
    let dropped_queue = match of("tbf") {
        Some(tbf) => number(tbf, "drops")?,
        None => 0,
    };
    let (delivered, waiting) = (number(root, "packets")?, number(root, "qlen")?);
    Some(Tally {
        offered: delivered + drops + waiting,
        delivered,
        delivered_bytes: number(root, "bytes")?,
        dropped_queue,
        dropped_loss: drops.saturating_sub(dropped_queue),
        queue_max_bytes: None,
        late_max_ns: None,
        overflowed: 0,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const ALL: Properties = Properties {
        rate_bits_per_s: Some(100_000_000),
        queue_bytes: 1_250_000,
        delay_ns: 20_000_000,
        jitter_ns: 0,
        may_reorder: false,
        loss: Loss::Share(0.001),
    };

    #[test]
    fn the_disciplines_are_those_that_are_needed() {
        let lines = |properties: Properties| -> String {
            let commands = disciplines("p", &properties);
            commands.into_iter().map(|(_, command)| command).collect()
        };
        assert_eq!(
            lines(ALL),
            "qdisc replace dev p root handle 1: netem limit 1000000 delay 20000us loss random 0.1%\n\
             qdisc replace dev p parent 1:1 handle 2: tbf rate 100000000bit burst 12500 limit 1250000\n"
        );
        let rate = Properties {
            rate_bits_per_s: Some(1_000_000),
            queue_bytes: 30_000,
            ..Properties::default()
        };
        assert_eq!(
            lines(rate),
            "qdisc replace dev p root handle 1: tbf rate 1000000bit burst 3028 limit 30000\n"
        );
        assert_eq!(
            lines(Properties::default()),
            "qdisc replace dev p root handle 1: pfifo limit 1000000\n"
        );
    }

    #[test]
    fn jitter_is_drawn_from_both_sides_of_its_mean() {
        let properties = Properties {
            jitter_ns: 2_000_000,
            may_reorder: true,
            ..ALL
        };
        assert_eq!(delay(&properties), " delay 21000us 1000us");
        assert_eq!(lacks(&properties), None);
        let orderly = Properties {
            may_reorder: false,
            ..properties
        };
        assert!(lacks(&orderly).is_some());
    }

    #[test]
    fn counters_of_a_bucket_below_a_delay() {
        let shown = r#"[
            {"kind":"netem","handle":"1:","root":true,"options":{"limit":1000000},
             "bytes":1514000,"packets":1000,"drops":30,"overlimits":0,"requeues":0,"backlog":3028,"qlen":2},
            {"kind":"tbf","handle":"2:","parent":"1:1","options":{"rate":12500000},
             "bytes":1514000,"packets":1000,"drops":25,"overlimits":7,"requeues":0,"backlog":0,"qlen":0}]"#;
        let tally = counted(shown, &ALL).expect("counters");
        assert_eq!((tally.offered, tally.delivered), (1_032, 1_000));
        assert_eq!((tally.dropped_queue, tally.dropped_loss), (25, 5));
        assert_eq!(tally.queue_max_bytes, None);
        assert_eq!(counted("[]", &ALL), None);
        assert_eq!(counted("nothing", &ALL), None);
    }
}
