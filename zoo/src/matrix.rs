//! Sums what became of the runs: cause × verdict, with intervals.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use crate::judge::Verdict;
use crate::shift::{Kind, Run};

/// Quantile of the normal distribution for an interval of 95 %.
const Z: f64 = 1.96;

/// Runs by verdict.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Counts {
    pub right: u64,
    pub undetermined: u64,
    pub silent: u64,
    pub wrong: u64,
    pub disturbed: u64,
    pub skipped: u64,
}

impl Counts {
    fn add(&mut self, verdict: Verdict) {
        *match verdict {
            Verdict::Right => &mut self.right,
            Verdict::Undetermined => &mut self.undetermined,
            Verdict::Silent => &mut self.silent,
            Verdict::Wrong => &mut self.wrong,
            Verdict::Disturbed => &mut self.disturbed,
            Verdict::Skipped => &mut self.skipped,
        } += 1;
    }

    fn sum(mut self, other: Self) -> Self {
        self.right += other.right;
        self.undetermined += other.undetermined;
        self.silent += other.silent;
        self.wrong += other.wrong;
        self.disturbed += other.disturbed;
        self.skipped += other.skipped;
        self
    }

    /// Runs that say something about the program: in an undisturbed world that exists.
    pub fn judged(&self) -> u64 {
        self.right + self.undetermined + self.silent + self.wrong
    }

    /// All runs, those of worlds that cannot be made here included.
    pub fn total(&self) -> u64 {
        self.judged() + self.disturbed + self.skipped
    }

    /// Share of judged runs that are `n`, with its interval: `83 % (61–94)`.
    pub fn share(&self, n: u64) -> String {
        match wilson(n, self.judged()) {
            None => "–".into(),
            Some([low, high]) => {
                let percent = 100.0 * n as f64 / self.judged() as f64;
                format!("{percent:.0} % ({:.0}–{:.0})", 100.0 * low, 100.0 * high)
            }
        }
    }

    /// The counts in the order of [`Verdict::ALL`].
    pub fn columns(&self) -> [u64; 6] {
        Verdict::ALL.map(|verdict| match verdict {
            Verdict::Right => self.right,
            Verdict::Undetermined => self.undetermined,
            Verdict::Silent => self.silent,
            Verdict::Wrong => self.wrong,
            Verdict::Disturbed => self.disturbed,
            Verdict::Skipped => self.skipped,
        })
    }
}

/// Interval of a share by Wilson's score, which holds for few runs and for shares of 0 and 1 as well.
fn wilson(n: u64, of: u64) -> Option<[f64; 2]> {
    if of == 0 {
        return None;
    }
    let (of, share) = (of as f64, n as f64 / of as f64);
    let middle = share + Z * Z / (2.0 * of);
    let half = Z * (share * (1.0 - share) / of + Z * Z / (4.0 * of * of)).sqrt();
    let scale = 1.0 + Z * Z / of;
    Some([(middle - half) / scale, (middle + half) / scale].map(|end| end.clamp(0.0, 1.0)))
}

/// One case.
pub struct Row {
    pub kind: Kind,
    pub name: String,
    pub family: String,
    pub counts: Counts,
    /// Names that were given, each with its count.
    pub named: BTreeMap<String, u64>,
    /// Runs in which both causes of a pair were named.
    pub both: u64,
}

/// All cases, in the order in which they were run first.
pub struct Matrix {
    pub rows: Vec<Row>,
}

impl Matrix {
    pub fn of(runs: &[Run]) -> Self {
        let mut rows: Vec<Row> = Vec::new();
        for run in runs {
            let found = rows
                .iter()
                .position(|row| row.name == run.name && row.kind == run.kind);
            let at = found.unwrap_or_else(|| {
                rows.push(Row {
                    kind: run.kind,
                    name: run.name.clone(),
                    family: run.family.clone(),
                    counts: Counts::default(),
                    named: BTreeMap::new(),
                    both: 0,
                });
                rows.len() - 1
            });
            let row = &mut rows[at];
            row.counts.add(run.judged.verdict);
            row.both += u64::from(run.judged.all_named);
            *row.named.entry(run.judged.named.clone()).or_default() += 1;
        }
        rows.sort_by_key(|row| row.kind);
        Self { rows }
    }

    /// Counts of all cases of a kind.
    pub fn of_kind(&self, kind: Kind) -> Counts {
        let rows = self.rows.iter().filter(|row| row.kind == kind);
        rows.fold(Counts::default(), |sum, row| sum.sum(row.counts))
    }

    /// Counts of all cases.
    pub fn all(&self) -> Counts {
        let rows = self.rows.iter();
        rows.fold(Counts::default(), |sum, row| sum.sum(row.counts))
    }

    /// Counts of single causes by what should have been named.
    pub fn by_family(&self) -> BTreeMap<&str, Counts> {
        let mut families: BTreeMap<&str, Counts> = BTreeMap::new();
        for row in self.rows.iter().filter(|row| row.kind == Kind::Cause) {
            let counts = families.entry(&row.family).or_default();
            *counts = counts.sum(row.counts);
        }
        families
    }

    /// The table for a terminal.
    pub fn text(&self) -> String {
        let mut out = String::new();
        let head = ["right", "undet.", "silent", "wrong", "dist.", "skip"];
        let _ = write!(out, "{:44}", "cause");
        for word in head {
            let _ = write!(out, "{word:>7}");
        }
        out.push_str("  named\n");
        for row in &self.rows {
            let _ = write!(out, "{:44}", row.name);
            for count in row.counts.columns() {
                let _ = write!(out, "{count:>7}");
            }
            let _ = writeln!(out, "  {}", row.names());
        }
        for (kind, what) in [
            (Kind::Cause, "one cause"),
            (Kind::Pair, "two causes"),
            (Kind::Healthy, "healthy"),
        ] {
            let counts = self.of_kind(kind);
            if counts.total() > 0 {
                let _ = writeln!(
                    out,
                    "{what}: {} runs, {} judged; right {}, wrong {}, undetermined {}, silent {}",
                    counts.total(),
                    counts.judged(),
                    counts.share(counts.right),
                    counts.share(counts.wrong),
                    counts.share(counts.undetermined),
                    counts.share(counts.silent),
                );
            }
        }
        out
    }
}

impl Row {
    /// Names that were given, the most frequent first.
    pub fn names(&self) -> String {
        let mut named: Vec<_> = self.named.iter().collect();
        named.sort_by_key(|(name, count)| (std::cmp::Reverse(**count), name.as_str()));
        let each = named.iter().map(|(name, count)| match count {
            1 => (*name).clone(),
            n => format!("{name} ×{n}"),
        });
        each.collect::<Vec<_>>().join(", ")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::judge::Judged;

    fn run(name: &str, kind: Kind, verdict: Verdict) -> Run {
        Run {
            kind,
            name: name.into(),
            family: "f".into(),
            load: String::new(),
            judged: Judged {
                verdict,
                named: "x".into(),
                all_named: false,
            },
            others: None,
        }
    }

    #[test]
    fn every_run_is_counted_once() {
        let runs: Vec<Run> = Verdict::ALL
            .into_iter()
            .flat_map(|verdict| {
                [
                    run("a", Kind::Cause, verdict),
                    run("b", Kind::Healthy, verdict),
                ]
            })
            .collect();
        let matrix = Matrix::of(&runs);
        assert_eq!(matrix.rows.len(), 2);
        assert_eq!(matrix.all().total(), 12);
        assert_eq!(matrix.all().judged(), 8);
        assert_eq!(matrix.of_kind(Kind::Cause).columns(), [1; 6]);
        assert_eq!(matrix.by_family()["f"].total(), 6);
        assert_eq!(matrix.rows[0].named["x"], 6);
    }

    #[test]
    fn an_interval_holds_its_share_and_is_never_empty() {
        let [low, high] = wilson(0, 10).expect("ten runs");
        assert!(low == 0.0 && (0.2..0.35).contains(&high), "{high}");
        let [low, high] = wilson(50, 100).expect("a hundred runs");
        assert!((0.39..0.42).contains(&low) && (0.58..0.61).contains(&high));
        assert_eq!(wilson(0, 0), None);
    }
}
