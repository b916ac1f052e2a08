//! Settings of the interfaces of the calling thread's network namespace.
//!
//! Names come from `/proc/thread-self/net/dev`, settings from netlink, and what only `/sys` knows
//! (driver, packet steering, interrupts) from there, as long as `/sys` shows the same namespace.

use std::collections::BTreeMap;
use std::path::Path;

use sokudo_model::Unit;

use super::facts::Facts;
use super::parse;
use crate::Context;
use crate::netlink::message::Link;
use crate::netlink::{self, Settings};
use crate::network::interfaces;
use crate::reread::{read_bounded, read_trimmed};

/// More interfaces than this are not described.
const MAX_DESCRIBED: usize = 32;

/// More queues or interrupts of one interface than this are not described.
const MAX_QUEUES: usize = 64;

pub(super) fn network(ctx: &Context, facts: &mut Facts<'_>) {
    families(ctx, facts);
    let names = match names(ctx) {
        Ok(names) => names,
        Err(why) => return facts.missing("interfaces", &why),
    };
    facts.text("interfaces", &names.join(" "), "/proc/thread-self/net/dev");
    let described: Vec<&str> = names
        .iter()
        .map(String::as_str)
        .take(MAX_DESCRIBED)
        .collect();
    let links = netlink::links();
    let settings = netlink::settings(&described);
    let sys = sys_shows_this_namespace(ctx, &names);
    for (at, name) in described.iter().enumerate() {
        match &links {
            Ok(links) => match links.iter().find(|link| link.name == *name) {
                Some(link) => link_facts(link, facts),
                None => facts.missing(&format!("{name} mtu"), "the interface is gone"),
            },
            Err(why) => facts.missing(&format!("{name} mtu"), why),
        }
        match &settings {
            Ok(settings) => settings
                .get(at)
                .into_iter()
                .for_each(|s| setting_facts(s, facts)),
            Err(why) => facts.missing(&format!("{name} offloads"), why),
        }
        match &sys {
            Ok(()) => sys_facts(ctx, name, facts),
            Err(why) => facts.missing(&format!("{name} driver"), why),
        }
    }
}

fn families(ctx: &Context, facts: &mut Facts<'_>) {
    let path = ctx.proc_path("thread-self/net/if_inet6");
    let addresses = read_bounded(&path, 64 << 10).map(|text| text.lines().count());
    let value = match addresses {
        Ok(0) => "IPv4",
        Ok(_) => "IPv4 IPv6",
        Err(_) if ctx.proc_path("thread-self/net").exists() => "IPv4",
        Err(_) => return facts.missing("address families", "this system has no /proc"),
    };
    facts.text("address families", value, &path.display().to_string());
}

fn names(ctx: &Context) -> Result<Vec<String>, String> {
    let path = ctx.proc_path("thread-self/net/dev");
    let text = read_bounded(&path, 1 << 20)
        .map_err(|error| format!("`{}` cannot be read: {error}", path.display()))?;
    Ok(interfaces(&text).map(|i| i.name.to_owned()).collect())
}

/// `/sys` shows the namespace it was mounted in: for most threads that of the process's first
/// thread, for a program started by `ip netns exec` its own.
fn sys_shows_this_namespace(ctx: &Context, names: &[String]) -> Result<(), String> {
    let why = "/sys shows another network namespace".to_owned();
    let namespace = |task: &str| std::fs::read_link(ctx.proc_path(task).join("ns/net")).ok();
    if namespace("thread-self") != namespace("self") {
        return Err(why);
    }
    let entries = std::fs::read_dir(ctx.sys_path("class/net"));
    let entries = entries.map_err(|error| format!("`/sys/class/net` cannot be read: {error}"))?;
    let shown: Vec<String> = entries
        .flatten()
        .filter_map(|entry| entry.file_name().into_string().ok())
        .collect();
    match names.iter().all(|name| shown.contains(name)) {
        true => Ok(()),
        false => Err(why),
    }
}

fn link_facts(link: &Link, facts: &mut Facts<'_>) {
    const SOURCE: &str = "netlink RTM_GETLINK";
    let name = &link.name;
    facts.text(
        &format!("{name} state"),
        if link.is_up { "up" } else { "down" },
        SOURCE,
    );
    if let Some(kind) = &link.kind {
        facts.text(&format!("{name} kind"), kind, SOURCE);
    }
    let why = "the kernel does not say";
    let qdisc = link.qdisc.as_deref();
    facts.known_or(&format!("{name} qdisc"), qdisc, SOURCE, why);
    for (what, value, unit) in [
        ("mtu", link.mtu_bytes, Unit::Bytes),
        ("tx queue length", link.tx_queue_packets, Unit::Packets),
        ("rx queues", link.rx_queues, Unit::One),
        ("tx queues", link.tx_queues, Unit::One),
        ("gso max size", link.gso_max_bytes, Unit::Bytes),
        ("gro max size", link.gro_max_bytes, Unit::Bytes),
    ] {
        match value {
            Some(value) => facts.number(&format!("{name} {what}"), value, unit, SOURCE),
            None => facts.missing(&format!("{name} {what}"), why),
        }
    }
}

fn setting_facts(settings: &Settings, facts: &mut Facts<'_>) {
    const SOURCE: &str = "netlink ethtool family";
    let why = "the driver does not say";
    let name = &settings.name;
    let features = settings.features.as_ref().map(|on| on.join(" "));
    facts.known_or(
        &format!("{name} offloads"),
        features.as_deref(),
        SOURCE,
        why,
    );
    let bits_per_s = settings.speed_mbit_per_s.map(|m| u64::from(m) * 1_000_000);
    match bits_per_s {
        Some(speed) => {
            facts.number(&format!("{name} speed"), speed, Unit::BitsPerSecond, SOURCE);
        }
        None => facts.missing(&format!("{name} speed"), why),
    }
    facts.known_or(&format!("{name} duplex"), settings.duplex, SOURCE, why);
    for (what, ring) in [("rx ring", settings.rx_ring), ("tx ring", settings.tx_ring)] {
        let value = ring.map(|(now, most)| format!("{now} of {most}"));
        facts.known_or(&format!("{name} {what}"), value.as_deref(), SOURCE, why);
    }
    let coalesce = settings.rx_coalesce_us.map(|us| {
        let adaptive = settings.rx_coalesce_is_adaptive == Some(true);
        format!("{us} µs{}", if adaptive { ", adaptive" } else { "" })
    });
    let coalesce_name = format!("{name} rx interrupt delay");
    facts.known_or(&coalesce_name, coalesce.as_deref(), SOURCE, why);
}

fn sys_facts(ctx: &Context, name: &str, facts: &mut Facts<'_>) {
    let root = ctx.sys_path("class/net").join(name);
    let device = root.join("device");
    let last = |path: &Path| {
        let target = std::fs::read_link(path).ok()?;
        Some(target.file_name()?.to_string_lossy().into_owned())
    };
    let source = root.display().to_string();
    let driver = last(&device.join("driver"));
    let why = "no device stands behind the interface";
    facts.known_or(&format!("{name} driver"), driver.as_deref(), &source, why);
    let queues = root.join("queues");
    for (what, prefix, file) in [
        ("rps_cpus", "rx-", "rps_cpus"),
        ("xps_cpus", "tx-", "xps_cpus"),
    ] {
        let masks = queue_masks(&queues, prefix, file);
        let why = "the kernel does not show it";
        facts.known_or(&format!("{name} {what}"), masks.as_deref(), &source, why);
    }
    if driver.is_some() {
        facts.file(&format!("{name} numa node"), &device.join("numa_node"));
        interrupts(ctx, name, last(&device), facts);
    }
}

/// `rx-0=3 rx-1=c`: the cores of each queue as the kernel's hexadecimal mask.
fn queue_masks(queues: &Path, prefix: &str, file: &str) -> Option<String> {
    let masks: Vec<String> = (0..MAX_QUEUES)
        .map_while(|queue| {
            let queue = format!("{prefix}{queue}");
            let mask = read_trimmed(&queues.join(&queue).join(file))?;
            Some(format!("{queue}={mask}"))
        })
        .collect();
    (!masks.is_empty()).then(|| masks.join(" "))
}

fn interrupts(ctx: &Context, name: &str, device: Option<String>, facts: &mut Facts<'_>) {
    let text = read_bounded(&ctx.proc_path("interrupts"), 4 << 20).unwrap_or_default();
    let mut wanted = vec![name];
    wanted.extend(device.as_deref());
    let mut by_cores: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for irq in parse::interrupts_of(&text, &wanted)
        .into_iter()
        .take(MAX_QUEUES)
    {
        let path = ctx.proc_path(&format!("irq/{irq}/smp_affinity_list"));
        if let Some(cores) = read_trimmed(&path) {
            by_cores.entry(cores).or_default().push(irq.to_string());
        }
    }
    let parts: Vec<String> = by_cores
        .iter()
        .map(|(cores, irqs)| format!("cpu {cores}: irq {}", irqs.join(",")))
        .collect();
    let value = (!parts.is_empty()).then(|| parts.join("; "));
    facts.known_or(
        &format!("{name} irq affinity"),
        value.as_deref(),
        "/proc/interrupts, /proc/irq/*/smp_affinity_list",
        "no interrupt carries the name of the interface or its device",
    );
}
