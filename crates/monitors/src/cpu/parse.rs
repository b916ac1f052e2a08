//! Parsers of `/proc/stat` and `/proc/loadavg`.

use crate::BadText;

/// More cores than this are not read.
pub(crate) const MAX_CORES: usize = 4096;

/// States of a core, in the order of the columns of `/proc/stat`.
pub(crate) const STATES: [&str; 8] = [
    "user", "nice", "system", "idle", "iowait", "irq", "softirq", "steal",
];

/// Time that a core, or all of them, spent in each of [`STATES`]. Unit: ticks of 1/100 s.
///
/// Time of guests is contained in `user` and `nice`, so the two guest columns are not read.
/// Columns that an old kernel does not have are zero.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Ticks(pub(crate) [u64; STATES.len()]);

/// One reading of `/proc/stat`.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Stat {
    /// All cores together.
    pub(crate) all: Ticks,
    /// Each core that is online, by number.
    pub(crate) cores: Vec<(u32, Ticks)>,
    /// Interrupts since boot.
    pub(crate) interrupts: Option<u64>,
    /// Context switches since boot.
    pub(crate) context_switches: Option<u64>,
    /// Threads running or waiting for a core, this one included.
    pub(crate) running: Option<u64>,
}

/// Reads `/proc/stat`. Errors: no line for all cores.
pub(crate) fn stat(text: &str) -> Result<Stat, BadText> {
    let mut found = Stat::default();
    let mut all = None;
    for line in text.lines() {
        let (name, rest) = line.split_once(' ').unwrap_or((line, ""));
        match name {
            "cpu" => all = ticks(rest),
            "intr" => found.interrupts = first_number(rest),
            "ctxt" => found.context_switches = first_number(rest),
            "procs_running" => found.running = first_number(rest),
            _ => {
                let core = name.strip_prefix("cpu").and_then(|n| n.parse().ok());
                if let (Some(core), Some(ticks)) = (core, ticks(rest))
                    && found.cores.len() < MAX_CORES
                {
                    found.cores.push((core, ticks));
                }
            }
        }
    }
    found.all = all.ok_or(BadText::new("/proc/stat", "no line `cpu`"))?;
    Ok(found)
}

/// Reads the first field of `/proc/loadavg`: the load average over one minute.
pub(crate) fn load_1min(text: &str) -> Result<f64, BadText> {
    text.split_ascii_whitespace()
        .next()
        .and_then(|field| field.parse().ok())
        .filter(|load: &f64| load.is_finite() && *load >= 0.0)
        .ok_or(BadText::new("/proc/loadavg", "no load average"))
}

fn first_number(text: &str) -> Option<u64> {
    text.split_ascii_whitespace().next()?.parse().ok()
}

/// Four columns at least; iowait and later ones came with Linux 2.6.
fn ticks(columns: &str) -> Option<Ticks> {
    let mut ticks = Ticks::default();
    let mut seen = 0;
    for (slot, column) in ticks.0.iter_mut().zip(columns.split_ascii_whitespace()) {
        *slot = column.parse().ok()?;
        seen += 1;
    }
    (seen >= 4).then_some(ticks)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn stat_of_linux_6_18() {
        let read = stat(include_str!("../../testdata/stat-6.18.txt")).expect("parses");
        assert_eq!(read.all.0, [7180, 0, 3401, 202_927, 622, 0, 61, 18]);
        assert_eq!(read.cores.len(), 2);
        assert_eq!(read.cores[1].0, 1);
        assert_eq!(read.interrupts, Some(204_491));
        assert_eq!(read.context_switches, Some(400_136));
        assert_eq!(read.running, Some(1));
    }

    #[test]
    fn stat_of_an_old_kernel_lacks_steal() {
        let read = stat("cpu  10 20 30 40\ncpu0 10 20 30 40\nctxt 5\n").expect("parses");
        assert_eq!(read.all.0, [10, 20, 30, 40, 0, 0, 0, 0]);
        assert_eq!(read.running, None);
    }

    #[test]
    fn offline_cores_keep_their_numbers() {
        let text = "cpu  1 1 1 1\ncpu0 1 1 1 1\ncpu3 1 1 1 1\n";
        let cores = stat(text).expect("parses").cores;
        assert_eq!(cores.iter().map(|c| c.0).collect::<Vec<_>>(), [0, 3]);
    }

    #[test]
    fn load_is_the_first_field() {
        assert_eq!(load_1min("0.23 0.14 0.09 1/89 6683\n"), Ok(0.23));
        assert!(load_1min("nan 1 1").is_err());
        assert!(load_1min("").is_err());
    }

    proptest! {
        #[test]
        fn garbage_never_panics(text in "(cpu[0-9]{0,12}|ctxt|intr|[ -~\n]{0,8}| [0-9]{0,25}){0,40}") {
            let _ = stat(&text);
            let _ = load_1min(&text);
        }
    }
}
