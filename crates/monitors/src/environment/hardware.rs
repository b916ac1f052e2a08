//! Hardware of the machine, and whether it is a virtual one.

use std::collections::BTreeSet;

use sokudo_model::Unit;

use super::facts::Facts;
use super::parse;
use crate::Context;
use crate::reread::{read_bounded, read_trimmed};

/// More cache levels than this are not listed.
const MAX_CACHES: usize = 8;

pub(super) fn hardware(ctx: &Context, facts: &mut Facts<'_>) {
    processor(ctx, facts);
    caches(ctx, facts);
    let nodes = ctx.sys_path("devices/system/node/online");
    facts.file_as("numa nodes", &nodes, |text| {
        Some(parse::cpu_list(text).ok()?.len().to_string())
    });
    memory(ctx, facts);
    governor(ctx, facts);
    virtualisation(ctx, facts);
}

fn processor(ctx: &Context, facts: &mut Facts<'_>) {
    let path = ctx.proc_path("cpuinfo");
    let source = path.display().to_string();
    let why = format!("`{source}` says no model");
    let info = read_bounded(&path, 64 << 10)
        .ok()
        .and_then(|text| parse::cpuinfo(&text).ok())
        .unwrap_or_default();
    facts.known_or("cpu model", info.model.as_deref(), &source, &why);
    let is_guest = info.is_guest.map(|yes| if yes { "yes" } else { "no" });
    let why = "the processor has no flag for it";
    facts.known_or("hypervisor flag", is_guest, &source, why);
    if let Ok(threads) = std::thread::available_parallelism() {
        let source = "affinity and quota of this process";
        facts.number("cpu threads usable", threads, Unit::One, source);
    }
    topology(ctx, facts);
}

fn topology(ctx: &Context, facts: &mut Facts<'_>) {
    let root = ctx.sys_path("devices/system/cpu");
    let source = root.display().to_string();
    let online = read_trimmed(&root.join("online"));
    let Some(online) = online.and_then(|text| parse::cpu_list(&text).ok()) else {
        for name in ["cpu threads", "cpu cores", "cpu sockets"] {
            facts.missing(name, &format!("`{source}/online` cannot be read"));
        }
        return;
    };
    let mut cores = BTreeSet::new();
    let mut sockets = BTreeSet::new();
    for cpu in &online {
        let topology = root.join(format!("cpu{cpu}/topology"));
        let socket = read_trimmed(&topology.join("physical_package_id"));
        if let (Some(socket), Some(core)) = (socket, read_trimmed(&topology.join("core_id"))) {
            cores.insert((socket.clone(), core));
            sockets.insert(socket);
        }
    }
    facts.number("cpu threads", online.len(), Unit::One, &source);
    for (name, count) in [("cpu cores", cores.len()), ("cpu sockets", sockets.len())] {
        match count {
            0 => facts.missing(name, "the kernel does not show the topology"),
            _ => facts.number(name, count, Unit::One, &source),
        }
    }
}

fn caches(ctx: &Context, facts: &mut Facts<'_>) {
    let root = ctx.sys_path("devices/system/cpu/cpu0/cache");
    let mut seen = 0;
    for index in 0..MAX_CACHES {
        let dir = root.join(format!("index{index}"));
        let field = |name| read_trimmed(&dir.join(name));
        if let (Some(level), Some(kind), Some(size)) =
            (field("level"), field("type"), field("size"))
        {
            let shared = field("shared_cpu_list").unwrap_or_default();
            let name = format!("cache L{level} {}", kind.to_ascii_lowercase());
            let value = format!("{}iB, shared by cpu {shared}", size);
            facts.text(&name, &value, &dir.display().to_string());
            seen += 1;
        }
    }
    if seen == 0 {
        facts.missing("caches", "the kernel does not show them");
    }
}

fn memory(ctx: &Context, facts: &mut Facts<'_>) {
    let path = ctx.proc_path("meminfo");
    let source = path.display().to_string();
    let text = read_bounded(&path, 64 << 10).ok();
    match text.and_then(|text| crate::memory::meminfo(&text).ok()) {
        Some(read) => facts.number("memory total", read.total_bytes, Unit::Bytes, &source),
        None => facts.missing("memory total", &format!("`{source}` cannot be read")),
    }
}

/// Governors of all cores, without repetition; empty where the kernel does not set the clock.
pub(crate) fn governors(ctx: &Context) -> BTreeSet<String> {
    let root = ctx.sys_path("devices/system/cpu");
    let online = read_trimmed(&root.join("online"));
    let online = online.and_then(|text| parse::cpu_list(&text).ok());
    online
        .unwrap_or_default()
        .iter()
        .filter_map(|cpu| read_trimmed(&root.join(format!("cpu{cpu}/cpufreq/scaling_governor"))))
        .collect()
}

fn governor(ctx: &Context, facts: &mut Facts<'_>) {
    let governors: Vec<String> = governors(ctx).into_iter().collect();
    let value = (!governors.is_empty()).then(|| governors.join(" "));
    facts.known_or(
        "cpu governor",
        value.as_deref(),
        "cpufreq/scaling_governor of each core",
        "the kernel does not set the clock of the cores",
    );
    let cpu = ctx.sys_path("devices/system/cpu");
    facts.file("cpu idle driver", &cpu.join("cpuidle/current_driver"));
    facts.file("smt", &cpu.join("smt/control"));
}

fn virtualisation(ctx: &Context, facts: &mut Facts<'_>) {
    let dmi = ctx.sys_path("class/dmi/id");
    for (name, file) in [
        ("machine maker", "sys_vendor"),
        ("machine model", "product_name"),
    ] {
        facts.file(name, &dmi.join(file));
    }
    facts.file("hypervisor", &ctx.sys_path("hypervisor/type"));
    let root = ctx.proc_root.parent().unwrap_or(&ctx.proc_root);
    let marks = [(".dockerenv", "docker"), ("run/.containerenv", "podman")];
    let marked = marks.iter().find(|(file, _)| root.join(file).exists());
    let groups = read_trimmed(&ctx.proc_path("self/cgroup")).unwrap_or_default();
    let grouped = ["docker", "kubepods", "lxc", "containerd"]
        .into_iter()
        .find(|name| groups.contains(name));
    let container = marked.map(|(_, name)| *name).or(grouped);
    let why = "no mark of a container was found, which does not exclude one";
    facts.known_or("container", container, "marks and /proc/self/cgroup", why);
}
