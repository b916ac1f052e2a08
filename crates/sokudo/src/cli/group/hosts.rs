//! `sokudo group hosts`: the hosts of a group and the state of each.

use std::collections::BTreeMap;
use std::time::Duration;

use jiff::Timestamp;
use serde_json::{Value, json};
use sokudo_controller::{Host, Hosts, LEASE, host_name};
use sokudo_i18n::I18n;
use sokudo_model::document::{Document, field};
use sokudo_model::{Environment, Text, Unit, cut, harmless, units};
use sokudo_wire::join::MemberRole;
use sokudo_wire::life::Life;
use sokudo_wire::{Ask, Health, Reply};
use sokudo_zenoh::enrol::rejoin;
use sokudo_zenoh::members::{Known, Members};
use sokudo_zenoh::tokens::now_s;
use sokudo_zenoh::{Chosen, Group, Present, Reached};

use super::super::{Exit, Failure, config, language};
use super::ANSWER_BOUND;

/// Each line of `sokudo group hosts --json`.
#[rustfmt::skip]
pub(in crate::cli) const HOSTS: Document = Document {
    name: "hosts",
    command: "sokudo group hosts GROUP --json",
    fields: &[
        field("name", "string", ""),
        field("answers", "boolean", ""),
        field("health", "string", ""),
        field("labels", "map of string", ""),
        field("certificate_until", "string or null", ""),
        field("number", "integer", ""),
        field("address", "string or null", ""),
        field("os", "string", ""),
        field("cores", "integer", ""),
        field("nics", "array of object", ""),
        field("nics[].name", "string", ""),
        field("nics[].mtu_bytes", "integer or null", "bytes"),
        field("nics[].up", "boolean", ""),
        field("version", "string", ""),
        field("workloads", "array of string", ""),
        field("clock_offset_seconds", "number", "seconds"),
        field("clock_error_seconds", "number", "seconds"),
    ],
};

/// Interfaces of a host that are shown in a line.
const SHOWN_NICS: usize = 3;

/// An interface that carries packets to others.
struct Nic {
    name: String,
    mtu_bytes: Option<u32>,
    is_up: bool,
}

/// An agent, and what it says of its host.
struct Seen {
    number: usize,
    labels: String,
    host: Host,
    health: Health,
    nics: Vec<Nic>,
}

/// Expiry of the agents' certificates, seconds of Unix time.
type Ends = BTreeMap<String, u64>;

/// Prints the agents of `group`, or of `group/site=tokyo`.
pub(super) fn list(wanted: &str, json: bool) -> Result<Exit, Failure> {
    let (group, which) = wanted.split_once('/').unwrap_or((wanted, "*"));
    let chosen: Chosen = which.parse()?;
    let held = Group::load(&config(), group)?;
    let fleet = super::fleet(&held)?;
    let mut agents = fleet.agents(ANSWER_BOUND)?;
    let names = chosen.names(&fleet, ANSWER_BOUND)?;
    agents.retain(|agent| names.contains(&agent.name));
    let mut hosts = Hosts::own(sokudo_agent::factory)?;
    let (mut seen, mut lost) = (Vec::new(), Vec::new());
    let names: Vec<String> = agents.iter().map(|agent| agent.name.clone()).collect();
    // A lost host delays no other.
    let linked = fleet.link_each(&names, &host_name(), 2 * LEASE);
    for (agent, (reached, took)) in agents.into_iter().zip(linked) {
        let answer = reached.ok().and_then(|r| look(&mut hosts, &agent, r, took));
        match answer {
            Some(answer) => seen.push(answer),
            None => lost.push(agent),
        }
    }
    hosts.leave();
    let ends = ends(group)?;
    match json {
        true => print_json(&seen, &lost, &ends),
        false => print_table(group, &seen, &lost),
    }
    for warning in names.iter().filter_map(|name| warning(group, name, &ends)) {
        eprintln!("  {}", I18n::new(language()).text(&warning));
    }
    Ok(Exit::Fine)
}

fn ends(group: &str) -> Result<Ends, Failure> {
    let members = Members::of(&config(), group).list()?.into_iter();
    let agents = members.filter(|member| member.role == MemberRole::Agent);
    let end = |member: Known| (member.name, member.until_unix_s);
    Ok(agents.map(end).collect())
}

/// Agents renew their certificates by themselves: one that is near its end could not.
fn warning(group: &str, name: &str, ends: &Ends) -> Option<Text> {
    let life = Life {
        from_unix_s: 0,
        until_unix_s: *ends.get(name)?,
    };
    life.is_near_its_end(now_s()).then(|| {
        Text::new("group-hosts-ending")
            .word("name", name)
            .with("days", life.days_left(now_s()))
            .text("hint", rejoin(group, MemberRole::Agent))
    })
}

/// Line about one agent, which `took` so long to open a session; `None` when nothing comes any
/// more.
fn look(hosts: &mut Hosts, agent: &Present, reached: Reached, took: Duration) -> Option<Seen> {
    hosts.admit(Box::new(reached.link), reached.address).ok()?;
    let number = hosts.list().len() - 1;
    let host = hosts.list().last()?.clone();
    let asked = hosts.bus.ask(host.member, Ask::Environment, ANSWER_BOUND);
    let nics = match asked.ok()? {
        Reply::Environment(environment) => nics_of(&environment),
        _ => Vec::new(),
    };
    Some(Seen {
        number,
        labels: agent.labels.to_string(),
        host,
        health: Health::after(took, LEASE),
        nics,
    })
}

fn nics_of(environment: &Environment) -> Vec<Nic> {
    let names = environment.value("interfaces").unwrap_or_default();
    let others = names.split_whitespace().filter(|name| *name != "lo");
    let nic = |name: &str| Nic {
        name: name.to_owned(),
        mtu_bytes: environment
            .number(&format!("{name} mtu"))
            .map(|mtu| mtu as u32),
        is_up: environment.value(&format!("{name} state")) == Some("up"),
    };
    others.map(nic).collect()
}

/// `eth0 1500 B, eth1 9000 B`; what is down is left out.
fn shown(nics: &[Nic]) -> String {
    let up: Vec<&Nic> = nics.iter().filter(|nic| nic.is_up).collect();
    let one = |nic: &&Nic| match nic.mtu_bytes {
        Some(mtu) => format!("{} {mtu} B", nic.name),
        None => nic.name.clone(),
    };
    let mut text: Vec<String> = up.iter().take(SHOWN_NICS).map(one).collect();
    if up.len() > SHOWN_NICS {
        text.push(format!("{} more", up.len() - SHOWN_NICS));
    }
    text.join(", ")
}

fn print_table(group: &str, seen: &[Seen], lost: &[Present]) {
    println!(
        "{} of {} hosts of {group} answer\n",
        seen.len(),
        seen.len() + lost.len()
    );
    if seen.is_empty() && lost.is_empty() {
        return;
    }
    let head = [
        "no.",
        "name",
        "address",
        "labels",
        "system",
        "cores",
        "network, MTU",
        "clock offset ± error",
        "health",
    ];
    let mut rows = vec![head.map(str::to_owned)];
    rows.extend(seen.iter().map(row));
    rows.extend(lost.iter().map(|agent| {
        let cells = [
            "–",
            &agent.name,
            "",
            &agent.labels.to_string(),
            "",
            "",
            "",
            "",
            Health::Lost.word(),
        ];
        cells.map(str::to_owned)
    }));
    let rows: Vec<[String; 9]> = rows.into_iter().map(|row| row.map(cell)).collect();
    for line in aligned(&rows) {
        println!("  {line}");
    }
}

/// Text of a host about itself, as it may stand in a line.
fn cell(text: String) -> String {
    /// Characters.
    const MOST: usize = 80;
    harmless(&cut(&text, MOST)).into_owned()
}

fn row(seen: &Seen) -> [String; 9] {
    let host = &seen.host;
    let seconds = |ns: f64| units::human(ns * 1e-9, Unit::Seconds);
    let clock = match host.one_clock {
        true => "the same clock".to_owned(),
        false => format!(
            "{} ± {}",
            seconds(host.clock.offset_ns as f64),
            seconds(host.clock.error_ns as f64)
        ),
    };
    [
        seen.number.to_string(),
        host.name.clone(),
        host.address.clone().unwrap_or_default(),
        seen.labels.clone(),
        host.description.os.clone(),
        host.description.cores.to_string(),
        shown(&seen.nics),
        clock,
        seen.health.word().into(),
    ]
}

/// Columns as wide as their longest cell.
fn aligned(rows: &[[String; 9]]) -> Vec<String> {
    let width = |column: usize| {
        let cells = rows.iter().map(|row| row[column].chars().count());
        cells.max().unwrap_or(0)
    };
    let widths: Vec<usize> = (0..9).map(width).collect();
    let line = |row: &[String; 9]| {
        let cells = row.iter().zip(&widths);
        let cells: Vec<String> = cells
            .map(|(cell, width)| cell.clone() + &" ".repeat(width - cell.chars().count()))
            .collect();
        cells.join("  ").trim_end().to_owned()
    };
    rows.iter().map(line).collect()
}

fn print_json(seen: &[Seen], lost: &[Present], ends: &Ends) {
    let until = |name: &str| {
        let end = i64::try_from(*ends.get(name)?).ok()?;
        Some(Timestamp::from_second(end).ok()?.to_string())
    };
    for answer in seen {
        println!("{}", as_json(answer, until(&answer.host.name)));
    }
    for agent in lost {
        println!("{}", lost_as_json(agent, until(&agent.name)));
    }
}

fn lost_as_json(agent: &Present, until: Option<String>) -> Value {
    json!({
        "name": agent.name, "answers": false, "health": Health::Lost,
        "labels": labels_of(&agent.labels.to_string()), "certificate_until": until,
    })
}

fn as_json(seen: &Seen, until: Option<String>) -> Value {
    let host = &seen.host;
    let nic = |nic: &Nic| json!({ "name": nic.name, "mtu_bytes": nic.mtu_bytes, "up": nic.is_up });
    json!({
        "number": seen.number, "name": host.name, "answers": true, "health": seen.health,
        "address": host.address, "labels": labels_of(&seen.labels),
        "os": host.description.os, "cores": host.description.cores,
        "nics": seen.nics.iter().map(nic).collect::<Vec<_>>(),
        "version": host.description.version, "workloads": host.description.workloads,
        "clock_offset_seconds": host.clock.offset_ns as f64 * 1e-9,
        "clock_error_seconds": host.clock.error_ns as f64 * 1e-9,
        "certificate_until": until,
    })
}

/// Labels as an object.
fn labels_of(text: &str) -> Value {
    let pairs = text.split(',').filter_map(|label| label.split_once('='));
    pairs
        .map(|(key, value)| (key.to_owned(), Value::from(value)))
        .collect::<serde_json::Map<_, _>>()
        .into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_line_is_as_it_is_described() {
        let hosts = Hosts::own(sokudo_agent::factory).expect("an agent of this process");
        let host = hosts.list()[0].clone();
        hosts.leave();
        let seen = Seen {
            number: 0,
            labels: "site=tokyo".into(),
            host: Host {
                address: Some("192.0.2.1".into()),
                ..host
            },
            health: Health::Ready,
            nics: vec![Nic {
                name: "eth0".into(),
                mtu_bytes: Some(1500),
                is_up: true,
            }],
        };
        let lost = Present {
            name: "hostb".into(),
            labels: "site=osaka".parse().expect("labels"),
        };
        let lines = [
            as_json(&seen, Some("2030-01-01T00:00:00Z".into())),
            lost_as_json(&lost, None),
        ];
        let differences = sokudo_testkit::document::differences(&HOSTS, &lines);
        assert!(differences.is_empty(), "{differences:#?}");
    }

    #[test]
    fn columns_stand_below_each_other() {
        let row = |first: &str, last: &str| {
            let mut row: [String; 9] = Default::default();
            (row[0], row[1]) = (first.into(), last.into());
            row
        };
        let lines = aligned(&[row("no.", "name"), row("1", "ホスト"), row("10", "b")]);
        assert_eq!(lines, ["no.  name", "1    ホスト", "10   b"]);
    }

    #[test]
    fn only_what_is_up_is_shown() {
        let nic = |name: &str, mtu_bytes, is_up| Nic {
            name: name.into(),
            mtu_bytes,
            is_up,
        };
        let nics = [
            nic("eth0", Some(1500), true),
            nic("eth1", None, true),
            nic("eth2", Some(9000), false),
        ];
        assert_eq!(shown(&nics), "eth0 1500 B, eth1");
    }
}
