//! Hosts of a run that share a machine, and the number of its cores.
//!
//! Network namespaces and loopback addresses are hosts with names and addresses of their own, but
//! they share the cores: what one of them uses, the others lack.

use sokudo_model::metrics::host;
use std::collections::BTreeSet;

use sokudo_model::{HostEntry, Record};

/// Notes of a run whose hosts were all made on one machine.
const ONE_MACHINE: [&str; 2] = ["engine-check-namespaces", "engine-check-loopback"];

/// The hosts on the machine of `host`, itself included, in the order of the host table.
pub fn neighbours<'a>(record: &'a Record, host: &str) -> Vec<&'a str> {
    let hosts = &record.manifest.hosts;
    let mut notes = record.manifest.notes.iter();
    let one = notes.any(|note| ONE_MACHINE.contains(&note.key.as_str()));
    let own = hosts.iter().find(|h| h.name == host);
    let there = hosts
        .iter()
        .filter(|h| one || own.is_some_and(|own| is_same(own, h)));
    there.map(|h| h.name.as_str()).collect()
}

/// The same; a host that the table does not know is alone.
pub fn with<'a>(record: &'a Record, host: &'a str) -> Vec<&'a str> {
    let mut there = neighbours(record, host);
    if there.is_empty() {
        there.push(host);
    }
    there
}

fn is_same(one: &HostEntry, other: &HostEntry) -> bool {
    let told = one.machine.is_some() && one.machine == other.machine;
    told || place(one) == place(other)
}

/// Name of the machine that a host is on. The controller's own host and loopback addresses are the
/// same place.
fn place(host: &HostEntry) -> &str {
    let address = host.address.as_str();
    let loopback = address.starts_with("127.") || matches!(address, "::1" | "localhost");
    match loopback || address == "in-process" {
        true => "here",
        false => address,
    }
}

/// CPU threads that the programs on the machine of `host` may use; `None` when they were not counted.
///
/// One of them may be kept on fewer cores than the others: the one with the most tells how many
/// there are.
pub fn cores(record: &Record, host: &str) -> Option<f64> {
    let usable = |name: &str| {
        let number = record.environments.get(name)?.number("cpu threads usable");
        number.filter(|n| n.is_finite() && *n >= 1.0)
    };
    let told = with(record, host).into_iter().filter_map(usable);
    told.max_by(f64::total_cmp).or_else(|| {
        let series = record.series_of(host::CPU_RATIO);
        let series = series.filter(|series| series.key.host == host);
        let cores: BTreeSet<&str> = series
            .filter_map(|series| series.key.labels.get("core"))
            .map(String::as_str)
            .filter(|core| *core != "all")
            .collect();
        (!cores.is_empty()).then_some(cores.len() as f64)
    })
}
