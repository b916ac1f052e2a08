//! Cost of an agent to the controller, and the time that a group of many takes.
//!
//! The controller of a run lives in this process, the router and the agents in others, as in the field:
//! each agent has its own certificate and its own connection to the router over loopback. Only their
//! monitors are left out, because they would all watch the same host.
//!
//! ```text
//! cargo bench -p sokudo --bench many_agents -- 50 200 1000      one JSON object per number of agents
//!
//! this process: controller ──► process of router and door ◄──┬── process of 50 agents
//!                                                            └── process of 50 agents …
//! ```
//!
//! `bench/group` calls it and makes a table. Times are wall-clock times of this one host: whatever
//! agents need is part of them.

use std::fs;
use std::io::{BufRead, BufReader, Read};
use std::net::{Ipv4Addr, SocketAddr};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use serde_json::{Value, json};
use sokudo_agent::factory;
use sokudo_bus::agent::Factory;
use sokudo_bus::{Handler, Link};
use sokudo_controller::{Hosts, Observer, Progress, Run, RunConfig};
use sokudo_model::{Environment, FlowPlan, PhasePlan, Text};
use sokudo_wire::join::{JoinToken, MemberRole};
use sokudo_wire::{Ask, Reply};
use sokudo_zenoh::agent::{self, Service, Serving};
use sokudo_zenoh::enrol::{self, Door};
use sokudo_zenoh::tokens::Terms;
use sokudo_zenoh::{Fleet, Group, Router};

/// Only a failing step takes so long.
const BOUND: Duration = Duration::from_secs(120);
/// Agents that share a process.
const EACH: usize = 50;
/// First word of the process of router and door; behind it where it listens, and the folder of the group.
const ROUTER: &str = "--router";
/// First word of a process of agents; behind it the token, the first agent's number, and how many.
const AGENTS: &str = "--agents";
/// Agents that join, or are reached, at the same time.
const AT_ONCE: usize = 16;
/// Commands to all agents whose answers are waited for.
const FAN_OUTS: usize = 20;
/// Time in which nothing is asked of anybody.
const QUIET: Duration = Duration::from_secs(5);
/// Requests of each pair in the run.
const REQUESTS: u64 = 10;
/// UDP of the router, TCP of the door.
const PORT: u16 = 7412;

fn main() -> Result<()> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    if let [what, token, first, count] = &words[..]
        && what == AGENTS
    {
        return serve_agents(&token.parse()?, first.parse()?, count.parse()?);
    }
    if let [what, place, folder] = &words[..]
        && what == ROUTER
    {
        return serve_router(place, Path::new(folder));
    }
    let wanted = words.iter().filter(|word| *word != "--bench");
    let mut counts = Vec::new();
    for word in wanted {
        counts.push(
            word.parse::<usize>()
                .with_context(|| format!("`{word}` is not a number"))?,
        );
    }
    if counts.is_empty() {
        counts = vec![50, 100, 200];
    }
    for count in counts {
        println!("{}", measure(count.max(2))?);
    }
    Ok(())
}

/// A folder of this process, removed at the end.
struct Scratch(PathBuf);

impl Scratch {
    fn new() -> Result<Self> {
        let path = std::env::temp_dir().join(format!("sokudo-many-{}", std::process::id()));
        fs::create_dir_all(&path)?;
        Ok(Self(path))
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        // What cannot be removed is temporary all the same.
        let _ = fs::remove_dir_all(&self.0);
    }
}

fn measure(count: usize) -> Result<Value> {
    let scratch = Scratch::new()?;
    let address = Ipv4Addr::new(127, 90, (count >> 8) as u8, count as u8);
    let place = SocketAddr::new(address.into(), PORT).to_string();
    let group = Group::found("many")?;
    let token = group.token(&scratch.0, &Terms::default(), vec![place.clone()])?;
    fs::write(scratch.0.join(GROUP), serde_json::to_string(&group)?)?;
    let folder = scratch.0.to_string_lossy();
    let router = Crowd(vec![process(&[ROUTER, &place, &folder])?]).ready()?;
    let before = Usage::now(&router, &Crowd::default());
    let begun = Instant::now();
    let agents = Crowd::join(&token, count)?;
    let fleet = Fleet::connect(&group, &place)?;
    let mut seen = 0;
    while seen < count {
        if begun.elapsed() > BOUND {
            bail!("{seen} of {count} agents were seen in time");
        }
        seen = fleet.agents(BOUND)?.len();
    }
    let joined = begun.elapsed();
    let joined_usage = Usage::now(&router, &agents);
    let begun = Instant::now();
    let hosts = reach(&fleet, count)?;
    let reached = begun.elapsed();
    let fan_outs = fan_out(&hosts)?;
    let reached_usage = Usage::now(&router, &agents);
    let ran = run(hosts, &scratch.0, (&router, &agents), count)?;
    drop(agents);
    let each = |after: &Usage| (after.memory_bytes - before.memory_bytes) / count as f64;
    let reaching = reached_usage.cpu_per_agent(&joined_usage, count);
    Ok(json!({
        "agents": count,
        "join_seconds": joined.as_secs_f64(),
        "reach_seconds": reached.as_secs_f64(),
        "fan_out_seconds": { "p50": fan_outs[fan_outs.len() / 2], "max": fan_outs[fan_outs.len() - 1] },
        "joined_bytes_per_agent": each(&joined_usage),
        "reached_bytes_per_agent": each(&reached_usage),
        "reach_and_fan_outs_cpu_seconds_per_agent": reaching,
        "run": ran,
    }))
}

/// The group, in the folder of all processes.
const GROUP: &str = "group.json";
/// Line of a process that is ready.
const READY: &str = "ready";

/// Other processes of this program. They end with it.
#[derive(Default)]
struct Crowd(Vec<Child>);

/// This program with these words, which hears when its parent is gone.
fn process(words: &[&str]) -> Result<Child> {
    let mut command = Command::new(std::env::current_exe()?);
    command
        .args(words)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped());
    Ok(command.spawn()?)
}

impl Crowd {
    /// Processes of agents that have joined and are connected.
    fn join(token: &JoinToken, count: usize) -> Result<Self> {
        let mut crowd = Self(Vec::new());
        for first in (0..count).step_by(EACH) {
            let [first, many] = [first, EACH.min(count - first)].map(|number| number.to_string());
            let child = process(&[AGENTS, &token.to_string(), &first, &many])?;
            crowd.0.push(child);
        }
        crowd.ready()
    }

    /// Waits until all of them say so.
    fn ready(mut self) -> Result<Self> {
        for process in &mut self.0 {
            let said = process.stdout.take().context("its output is piped")?;
            let mut line = String::new();
            BufReader::new(said).read_line(&mut line)?;
            if line.trim() != READY {
                bail!("a process did not become ready");
            }
        }
        Ok(self)
    }
}

impl Drop for Crowd {
    fn drop(&mut self) {
        for process in &mut self.0 {
            // The end of its input ends it; what cannot be waited for has ended.
            drop(process.stdin.take());
            let _ = process.wait();
        }
    }
}

/// Says that this process is ready, and stays until nothing can come from the parent any more.
fn stay() -> Result<()> {
    println!("{READY}");
    std::io::stdin().read_to_end(&mut Vec::new())?;
    Ok(())
}

/// The process of router and door.
fn serve_router(place: &str, folder: &Path) -> Result<()> {
    let group: Group = serde_json::from_str(&fs::read_to_string(folder.join(GROUP))?)?;
    let _router = Router::open(&group, place, &[])?;
    let routers = vec![place.to_owned()];
    let _door = Door::open(group, folder, place.parse()?, routers, Arc::new(|_| {}))?;
    stay()
}

/// A process of agents: they join, and stay until nothing can come from the parent any more.
fn serve_agents(token: &JoinToken, first: usize, count: usize) -> Result<()> {
    let join = |number: usize| -> Result<Serving> {
        let name = format!("agent{:05}", first + number);
        let member = enrol::join(token, &name, MemberRole::Agent)?;
        let service = Service {
            factory: without_monitors(&name),
            log: Arc::new(|_: &Text| {}),
            refused: Arc::new(|_, why: &Text| eprintln!("refused: {why:?}")),
        };
        Ok(agent::serve(member, service)?)
    };
    let _agents = several(count, join)?;
    stay()
}

/// Calls `step` with 0 to `count - 1`, several at a time; results in their order.
fn several<T: Send>(count: usize, step: impl Fn(usize) -> Result<T> + Sync) -> Result<Vec<T>> {
    let share = count.div_ceil(AT_ONCE);
    let step = &step;
    thread::scope(|scope| {
        let threads: Vec<_> = (0..count)
            .step_by(share)
            .map(|first| {
                let numbers = first..(first + share).min(count);
                scope.spawn(move || numbers.map(step).collect::<Result<Vec<T>>>())
            })
            .collect();
        let mut all = Vec::with_capacity(count);
        for thread in threads {
            match thread.join() {
                Ok(done) => all.extend(done?),
                Err(_) => bail!("a thread failed"),
            }
        }
        Ok(all)
    })
}

/// An ordinary agent that does not watch its host.
struct Blind(Box<dyn Handler>);

impl Handler for Blind {
    fn handle(&mut self, ask: Ask) -> Reply {
        match ask {
            Ask::Environment => Reply::Environment(Environment::default()),
            Ask::Watch { .. } | Ask::Unwatch => Reply::Done,
            ask => self.0.handle(ask),
        }
    }
}

fn without_monitors(name: &str) -> Factory {
    let inner = factory(name);
    Arc::new(move |client, notes| Box::new(Blind(inner(client, notes))))
}

fn reach(fleet: &Fleet<'_>, count: usize) -> Result<Hosts> {
    let link = |number: usize| -> Result<(Box<dyn Link>, String)> {
        let reached = fleet.link(&format!("agent{number:05}"), "bench", BOUND)?;
        Ok((Box::new(reached.link), reached.address))
    };
    let mut hosts = Hosts::own(without_monitors)?;
    hosts.admit_all(several(count, link)?)?;
    Ok(hosts)
}

/// Times of a command to all until the last one has answered, seconds, in ascending order.
fn fan_out(hosts: &Hosts) -> Result<Vec<f64>> {
    let mut took = Vec::new();
    for _ in 0..FAN_OUTS {
        let agents = hosts.list().iter().skip(1);
        let asks = agents.map(|host| (host.member, Ask::Clock)).collect();
        let begun = Instant::now();
        let answers = hosts.bus.ask_all(asks, BOUND);
        took.push(begun.elapsed().as_secs_f64());
        for answer in answers {
            answer?;
        }
    }
    took.sort_by(f64::total_cmp);
    Ok(took)
}

struct Silent;

impl Observer for Silent {
    fn note(&mut self, _: &Progress<'_>) {}
}

/// A quiet time, then a run in which half of the agents ask the other half.
fn run(hosts: Hosts, scratch: &Path, others: (&Crowd, &Crowd), count: usize) -> Result<Value> {
    let usage = || Usage::now(others.0, others.1);
    let config = RunConfig {
        workload: "rr".into(),
        command: Vec::new(),
        root: scratch.join("runs"),
        seed: 1,
        interval_ns: 10_000_000_000,
        monitors: Vec::new(),
        stop: Arc::new(AtomicBool::new(false)),
    };
    let mut run = Run::begin(hosts, config, Box::new(Silent))?;
    let (begun, traffic) = (usage(), loopback_bytes());
    thread::sleep(QUIET);
    let cpu = usage().cpu_s() - begun.cpu_s();
    let quiet_s = QUIET.as_secs_f64();
    let bytes = loopback_bytes()
        .zip(traffic)
        .map(|(after, before)| after - before);
    // The time to notify all agents is not part of the quiet phase.
    run.hosts().bus.hush(2 * QUIET);
    thread::sleep(QUIET / 5);
    let traffic = loopback_bytes();
    thread::sleep(QUIET);
    let hushed = loopback_bytes()
        .zip(traffic)
        .map(|(after, before)| after - before);
    run.hosts().bus.wake();
    let half = (count / 2) as u32;
    let flow = |id: u32| FlowPlan {
        id,
        from: 1 + id,
        to: 1 + half + id,
        stream: 0,
    };
    let plan = PhasePlan {
        name: "pairs".into(),
        workload: "rr".into(),
        options: json!({ "count": REQUESTS.to_string(), "interval": "1s" }).to_string(),
        flows: (0..half).map(flow).collect(),
        duration_ns: 0,
        bound_ns: 120_000_000_000,
        labels: Default::default(),
    };
    let (before, begun) = (usage(), Instant::now());
    let record = run.run_phase(plan)?;
    let phase = begun.elapsed();
    let phase_cpu = usage().cpu_per_agent(&before, count);
    run.group_numbers();
    let summary = run.manifest().summary.clone();
    let begun = Instant::now();
    let finished = run.finish()?;
    let whole = record
        .result
        .flows
        .iter()
        .filter(|flow| flow.complete)
        .count();
    Ok(json!({
        "quiet_cpu_seconds_per_agent_and_second": cpu / quiet_s / count as f64,
        "quiet_bytes_per_agent_and_second": bytes.map(|bytes| bytes / quiet_s / count as f64),
        "quiet_phase_bytes_per_agent_and_second":
            hushed.map(|bytes| bytes / quiet_s / count as f64),
        "pairs": half, "pairs_complete": whole,
        "phase_seconds": phase.as_secs_f64(),
        "phase_cpu_seconds_per_agent": phase_cpu,
        "finish_seconds": begun.elapsed().as_secs_f64(),
        "status": finished.manifest.status,
        "start_lead_seconds": summary.get("group.start_lead_seconds"),
        "start_spread_seconds": {
            "p50": summary.get("group.start_spread_seconds.p50"),
            "max": summary.get("group.start_spread_seconds.max"),
        },
    }))
}

/// Usage of all processes: those of the controller, of the router, and of the agents.
struct Usage {
    memory_bytes: f64,
    controller_cpu_s: f64,
    router_cpu_s: f64,
    agents_cpu_s: f64,
}

impl Usage {
    fn now(router: &Crowd, agents: &Crowd) -> Self {
        let ids = |crowd: &Crowd| crowd.0.iter().map(Child::id).collect::<Vec<u32>>();
        let parts = [vec![std::process::id()], ids(router), ids(agents)];
        let all = parts.iter().flatten();
        let cpu = |part: &Vec<u32>| part.iter().filter_map(|id| cpu_s(*id)).sum();
        Self {
            memory_bytes: all.filter_map(|id| memory_bytes(*id)).sum(),
            controller_cpu_s: cpu(&parts[0]),
            router_cpu_s: cpu(&parts[1]),
            agents_cpu_s: cpu(&parts[2]),
        }
    }

    fn cpu_s(&self) -> f64 {
        self.controller_cpu_s + self.router_cpu_s + self.agents_cpu_s
    }

    /// Processor time since `before`, for each agent, seconds.
    fn cpu_per_agent(&self, before: &Self, count: usize) -> Value {
        let each = |after: f64, before: f64| (after - before) / count as f64;
        json!({
            "controller": each(self.controller_cpu_s, before.controller_cpu_s),
            "router": each(self.router_cpu_s, before.router_cpu_s),
            "agents": each(self.agents_cpu_s, before.agents_cpu_s),
        })
    }
}

/// Resident memory of a process; see proc_pid_status(5).
fn memory_bytes(process: u32) -> Option<f64> {
    let status = fs::read_to_string(format!("/proc/{process}/status")).ok()?;
    let resident = status
        .lines()
        .find_map(|line| line.strip_prefix("VmRSS:"))?;
    let kib: f64 = resident.split_whitespace().next()?.parse().ok()?;
    Some(kib * 1024.0)
}

/// Processor time of a process, user and system, in hundredths of a second; see proc_pid_stat(5).
fn cpu_s(process: u32) -> Option<f64> {
    let stat = fs::read_to_string(format!("/proc/{process}/stat")).ok()?;
    // The name in parentheses may hold spaces.
    let (_, rest) = stat.rsplit_once(')')?;
    let ticks = rest.split_whitespace().skip(11).take(2);
    let ticks = ticks.map(|field| field.parse::<f64>().ok());
    Some(ticks.sum::<Option<f64>>()? / 100.0)
}

/// Bytes that the loopback interface has sent: everything between the agents and the controller, and
/// whatever else the namespace does.
fn loopback_bytes() -> Option<f64> {
    let text = fs::read_to_string("/proc/self/net/dev").ok()?;
    let line = text
        .lines()
        .find_map(|line| line.trim_start().strip_prefix("lo:"))?;
    line.split_whitespace().nth(8)?.parse().ok()
}
