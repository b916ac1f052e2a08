//! Writes the page of the zoo in both languages.

use std::fs;
use std::path::Path;
use std::process::Command;

use crate::causes;
use crate::judge::Verdict;
use crate::machine;
use crate::matrix::{Counts, Matrix, Row};
use crate::options::Options;
use crate::shift::{Kind, Run};

/// Texts of the page: English, Japanese.
const TITLE: [&str; 2] = ["The zoo of causes", "原因の動物園"];
const INTRO: [&str; 2] = [
    "Written by `./dev zoo --write`. Each row is a small world with a known cause: hosts inside one \
     machine, a link with a script, servers with a fault, bounded CPU time. The program measures in it, \
     and what it names as the limit is compared with the cause. *Undetermined*: it says that it does not \
     know; *silent*: it names nothing and does not say so; *wrong*: it names another cause; *disturbed*: \
     it names other programs of this machine, and they were there; *skipped*: the world cannot be made \
     here. Shares are of the judged runs, with an interval of 95 % (Wilson). Each cause has two \
     strengths, which take turns.",
    "`./dev zoo --write` の出力です。各行は、原因のわかっている小さな世界です。1 台のマシンの中のホスト、\
     台本のあるリンク、故障を持つサーバー、制限された CPU 時間などで作ります。プログラムがその中で測定し、\
     限界として挙げたものを原因と比べます。「不明」はわからないと述べたこと、「沈黙」は何も挙げず不明とも\
     述べなかったこと、「誤り」は別の原因を挙げたこと、「妨害」はこのマシンの他のプログラムを挙げ、実際に\
     それらが動いていたこと、「省略」はここではその世界を作れないことを表します。割合は判定した実行に対する\
     もので、95 % 区間 (Wilson) を添えます。各原因には強さが 2 つあり、交互に使います。",
];
const HEAD: [[&str; 9]; 2] = [
    [
        "case",
        "cause",
        "should be named",
        "right",
        "undetermined",
        "silent",
        "wrong",
        "disturbed",
        "named",
    ],
    [
        "ケース",
        "原因",
        "挙げるべきもの",
        "正",
        "不明",
        "沈黙",
        "誤り",
        "妨害",
        "挙げたもの",
    ],
];
const KINDS: [(Kind, [&str; 2]); 3] = [
    (Kind::Cause, ["One cause", "原因が 1 つ"]),
    (Kind::Pair, ["Two causes at once", "原因が同時に 2 つ"]),
    (Kind::Healthy, ["Healthy worlds", "健全な世界"]),
];
const SUMS: [&str; 2] = ["Sums", "合計"];
const SUM_HEAD: [[&str; 7]; 2] = [
    [
        "worlds",
        "runs",
        "judged",
        "right",
        "undetermined",
        "silent",
        "wrong",
    ],
    ["世界", "実行", "判定", "正", "不明", "沈黙", "誤り"],
];
const FAMILIES: [&str; 2] = ["By what should be named", "挙げるべきものごと"];
const SKIPPED: [&str; 2] = ["Skipped", "省略"];
const CONDITIONS: [&str; 2] = ["Conditions", "条件"];

/// Writes both pages below the current directory.
pub fn write(matrix: &Matrix, runs: &[Run], options: &Options) -> Result<(), String> {
    let facts = facts(runs, options);
    for (tongue, folder) in ["en", "ja"].into_iter().enumerate() {
        let path = Path::new("docs/reference").join(folder).join("zoo.md");
        fs::write(&path, page(matrix, &facts, tongue))
            .map_err(|why| format!("cannot write `{}`: {why}", path.display()))?;
    }
    Ok(())
}

fn page(matrix: &Matrix, facts: &[String], tongue: usize) -> String {
    let mut lines = vec![
        format!("# {}", TITLE[tongue]),
        String::new(),
        INTRO[tongue].to_owned(),
    ];
    lines.extend(section(SUMS[tongue], sums(matrix, tongue)));
    lines.extend(section(FAMILIES[tongue], families(matrix, tongue)));
    for (kind, title) in KINDS {
        lines.extend(section(title[tongue], cases(matrix, kind, tongue)));
    }
    let skipped = matrix.rows.iter().filter(|row| row.counts.skipped > 0);
    let reasons = skipped.map(|row| format!("- {}: {}", row.name, row.names()));
    lines.extend(section(SKIPPED[tongue], reasons.collect()));
    let facts = facts.iter().map(|fact| format!("- {fact}")).collect();
    lines.extend(section(CONDITIONS[tongue], facts));
    lines.join("\n") + "\n"
}

/// A headline and its lines; nothing without lines.
fn section(title: &str, lines: Vec<String>) -> Vec<String> {
    match lines.is_empty() {
        true => Vec::new(),
        false => [String::new(), format!("## {title}"), String::new()]
            .into_iter()
            .chain(lines)
            .collect(),
    }
}

fn row(cells: &[String]) -> String {
    format!("| {} |", cells.join(" | "))
}

fn head(cells: &[&str], left: usize) -> [String; 2] {
    let rule = (0..cells.len()).map(|at| if at < left { "---" } else { "---:" }.to_owned());
    let cells: Vec<String> = cells.iter().map(|cell| (*cell).to_owned()).collect();
    [row(&cells), row(&rule.collect::<Vec<_>>())]
}

fn sums(matrix: &Matrix, tongue: usize) -> Vec<String> {
    let kinds = KINDS.map(|(kind, title)| (title[tongue], matrix.of_kind(kind)));
    let mut lines = head(&SUM_HEAD[tongue], 1).to_vec();
    lines.extend(
        kinds
            .into_iter()
            .map(|(name, counts)| row(&summed(name, &counts))),
    );
    lines
}

fn families(matrix: &Matrix, tongue: usize) -> Vec<String> {
    let mut lines = head(&SUM_HEAD[tongue], 1).to_vec();
    let families = matrix.by_family();
    lines.extend(
        families
            .iter()
            .map(|(name, counts)| row(&summed(name, counts))),
    );
    lines
}

fn summed(name: &str, counts: &Counts) -> Vec<String> {
    let shares = [
        counts.right,
        counts.undetermined,
        counts.silent,
        counts.wrong,
    ];
    let counted = [counts.total(), counts.judged()].map(|n| n.to_string());
    [name.to_owned()]
        .into_iter()
        .chain(counted)
        .chain(shares.map(|n| counts.share(n)))
        .collect()
}

fn cases(matrix: &Matrix, kind: Kind, tongue: usize) -> Vec<String> {
    let rows: Vec<&Row> = matrix.rows.iter().filter(|row| row.kind == kind).collect();
    if rows.is_empty() {
        return Vec::new();
    }
    let mut lines = head(&HEAD[tongue], 3).to_vec();
    lines.extend(rows.into_iter().map(|one| {
        let counts = one.counts.columns();
        let shown = Verdict::ALL.iter().zip(counts);
        let shown = shown.filter(|(verdict, _)| **verdict != Verdict::Skipped);
        let named = match (kind, one.both) {
            (Kind::Pair, both) => format!("{} (2/2: {both})", one.names()),
            _ => one.names(),
        };
        let mut cells = vec![
            one.name.clone(),
            causes::says(&one.name, tongue),
            one.family.clone(),
        ];
        cells.extend(shown.map(|(_, count)| count.to_string()));
        cells.push(named.replace('|', "\\|"));
        row(&cells)
    }));
    lines
}

fn facts(runs: &[Run], options: &Options) -> Vec<String> {
    let said = |program: &Path, words: &[&str]| {
        let output = Command::new(program).args(words).output().ok()?;
        Some(String::from_utf8_lossy(&output.stdout).trim().to_owned())
    };
    let others: Vec<f64> = runs.iter().filter_map(|run| run.others).collect();
    let mean = others.iter().sum::<f64>() / others.len().max(1) as f64;
    let mut facts = machine::facts();
    facts.extend(said(&options.binary, &["--version"]));
    facts.extend(said("date".as_ref(), &["-u", "+%F"]));
    facts.push(format!("other programs used {mean:.2} cores on average"));
    facts.push(format!("runs of each cause: {}", options.seeds));
    facts
}
