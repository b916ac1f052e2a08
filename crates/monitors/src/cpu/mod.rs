//! `cpu`: use of the machine's cores.
//!
//! Sources: `/proc/stat` (ticks of 1/100 s, so intervals below 0.1 s are coarse), `/proc/loadavg`,
//! `cpufreq/scaling_cur_freq` of each core. `iowait` is idle time with a request outstanding; the
//! kernel lets it and `idle` go backwards, which counts as no growth. `steal` is 0 unless the
//! hypervisor reports it.

mod parse;

use std::collections::BTreeMap;

use sokudo_model::metrics::host;
use sokudo_model::{Batch, SeriesKey};

pub(crate) use self::parse::MAX_CORES;
use self::parse::{STATES, Stat, Ticks};
use crate::emit::{Emit, Interval, SOURCE_HOST, Total, key};
use crate::reread::Reread;
use crate::{Context, Monitor, NoOptions, Sampler, Unavailable, whole_machine};

/// Reading a clock may interrupt its core, so it happens at most this often.
const FREQUENCY_INTERVAL_NS: i64 = 1_000_000_000;

/// More clocks than this are not read.
const MAX_FREQUENCIES: usize = 64;

const METRICS: &[&str] = &[
    host::CPU_RATIO.name,
    host::CPU_FREQUENCY_HERTZ.name,
    host::CONTEXT_SWITCHES_PER_SECOND.name,
    host::INTERRUPTS_PER_SECOND.name,
    host::RUNNABLE_THREADS.name,
    host::LOAD_1MIN.name,
];

/// Monitor of cores, scheduler load and clocks.
pub(crate) struct Cpu;

impl Monitor for Cpu {
    type Options = NoOptions;

    fn name(&self) -> &'static str {
        "cpu"
    }

    fn help(&self) -> &'static str {
        "time of each core by state, clock, context switches, interrupts, load"
    }

    fn metrics(&self) -> &'static [&'static str] {
        METRICS
    }

    fn open(&self, _: NoOptions, ctx: &Context) -> Result<Box<dyn Sampler>, Unavailable> {
        whole_machine(ctx)?;
        let host = |metric| key(&ctx.host, SOURCE_HOST, metric, &[]);
        Ok(Box::new(CpuSampler {
            stat: Reread::open_readable(&ctx.proc_path("stat"))?,
            loadavg: Reread::open(&ctx.proc_path("loadavg")).ok(),
            frequencies: open_frequencies(ctx),
            frequencies_read_ns: None,
            interval: Interval::default(),
            cores: BTreeMap::new(),
            switches: (
                host(host::CONTEXT_SWITCHES_PER_SECOND.name),
                Total::default(),
            ),
            interrupts: (host(host::INTERRUPTS_PER_SECOND.name), Total::default()),
            runnable: host(host::RUNNABLE_THREADS.name),
            load: host(host::LOAD_1MIN.name),
            host: ctx.host.clone(),
        }))
    }
}

struct CpuSampler {
    host: String,
    stat: Reread,
    loadavg: Option<Reread>,
    frequencies: Vec<(SeriesKey, Reread)>,
    frequencies_read_ns: Option<i64>,
    interval: Interval,
    /// By core number; `None` stands for all cores together.
    cores: BTreeMap<Option<u32>, CoreState>,
    switches: (SeriesKey, Total),
    interrupts: (SeriesKey, Total),
    runnable: SeriesKey,
    load: SeriesKey,
}

struct CoreState {
    previous: Ticks,
    keys: Vec<SeriesKey>,
}

impl Sampler for CpuSampler {
    fn sample(&mut self, t_ns: i64, out: &mut Batch) {
        let elapsed_s = self.interval.step(t_ns);
        let mut emit = Emit::new(out, t_ns, &self.host, METRICS);
        if let Some(load) = self
            .loadavg
            .as_mut()
            .and_then(|file| parse::load_1min(file.text()?).ok())
        {
            emit.put(&self.load, load);
        }
        if let Some(stat) = self.stat.text().and_then(|text| parse::stat(text).ok()) {
            self.emit_stat(&stat, elapsed_s, &mut emit);
        }
        self.emit_frequencies(t_ns, &mut emit);
    }
}

impl CpuSampler {
    fn emit_stat(&mut self, stat: &Stat, elapsed_s: Option<f64>, emit: &mut Emit<'_>) {
        if let Some(running) = stat.running {
            emit.put(&self.runnable, running as f64);
        }
        for ((key, total), now) in [
            (&mut self.switches, stat.context_switches),
            (&mut self.interrupts, stat.interrupts),
        ] {
            let growth = now.and_then(|now| total.step(now));
            if let (Some(growth), Some(elapsed_s)) = (growth, elapsed_s) {
                emit.put(key, growth as f64 / elapsed_s);
            }
        }
        self.emit_core(None, &stat.all, emit);
        for (core, ticks) in &stat.cores {
            self.emit_core(Some(*core), ticks, emit);
        }
    }

    fn emit_core(&mut self, core: Option<u32>, now: &Ticks, emit: &mut Emit<'_>) {
        let Some(state) = self.cores.get_mut(&core) else {
            let keys = core_keys(&self.host, core);
            let previous = *now;
            self.cores.insert(core, CoreState { previous, keys });
            return;
        };
        let ratios = ratios(&state.previous, now);
        state.previous = *now;
        for (key, ratio) in state.keys.iter().zip(ratios.into_iter().flatten()) {
            emit.put(key, ratio);
        }
    }

    fn emit_frequencies(&mut self, t_ns: i64, emit: &mut Emit<'_>) {
        let too_early = self
            .frequencies_read_ns
            .is_some_and(|last| t_ns.saturating_sub(last) < FREQUENCY_INTERVAL_NS);
        if too_early {
            return;
        }
        self.frequencies_read_ns = Some(t_ns);
        for (key, file) in &mut self.frequencies {
            let khz: Option<f64> = file.text().and_then(|text| text.trim().parse().ok());
            if let Some(khz) = khz {
                emit.put(key, khz * 1000.0);
            }
        }
    }
}

/// Ticks that `/proc/stat` says the hypervisor took from this machine since boot.
pub(crate) fn steal_ticks(stat: &str) -> Option<u64> {
    let steal = STATES.iter().position(|state| *state == "steal")?;
    Some(parse::stat(stat).ok()?.all.0[steal])
}

/// Share of each state in the ticks between two readings; `None` when no tick passed.
fn ratios(before: &Ticks, now: &Ticks) -> Option<[f64; STATES.len()]> {
    let mut growth = [0u64; STATES.len()];
    for (slot, (before, now)) in growth.iter_mut().zip(before.0.iter().zip(now.0)) {
        *slot = now.saturating_sub(*before);
    }
    let total: f64 = growth.iter().map(|&ticks| ticks as f64).sum();
    (total > 0.0).then(|| growth.map(|ticks| ticks as f64 / total))
}

fn core_keys(host: &str, core: Option<u32>) -> Vec<SeriesKey> {
    let core = core.map_or("all".to_owned(), |core| core.to_string());
    STATES
        .iter()
        .map(|state| {
            let labels = [("core", core.as_str()), ("state", state)];
            key(host, SOURCE_HOST, host::CPU_RATIO.name, &labels)
        })
        .collect()
}

fn open_frequencies(ctx: &Context) -> Vec<(SeriesKey, Reread)> {
    (0..MAX_FREQUENCIES)
        .filter_map(|core| {
            let path = format!("devices/system/cpu/cpu{core}/cpufreq/scaling_cur_freq");
            let file = Reread::open_readable(&ctx.sys_path(&path)).ok()?;
            let labels = [("core", core.to_string())];
            let labels = labels.each_ref().map(|(name, core)| (*name, core.as_str()));
            let key = key(
                &ctx.host,
                SOURCE_HOST,
                host::CPU_FREQUENCY_HERTZ.name,
                &labels,
            );
            Some((key, file))
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ratios_sum_to_one_and_backward_iowait_counts_as_nothing() {
        let before = Ticks([100, 0, 50, 800, 60, 0, 0, 0]);
        let now = Ticks([120, 0, 60, 860, 40, 0, 5, 5]);
        let ratios = ratios(&before, &now).expect("ticks passed");
        assert_eq!(ratios[4], 0.0);
        assert!((ratios.iter().sum::<f64>() - 1.0).abs() < 1e-12);
        assert!((ratios[0] - 0.2).abs() < 1e-12);
    }

    #[test]
    fn no_tick_no_ratio() {
        assert_eq!(ratios(&Ticks::default(), &Ticks::default()), None);
        let huge = Ticks([u64::MAX; STATES.len()]);
        assert!(super::ratios(&Ticks::default(), &huge).is_some());
    }
}
