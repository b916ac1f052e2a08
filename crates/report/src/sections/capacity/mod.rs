//! Section: a search for the knee: throughput, response time and CPU over users, the answers of all
//! rules, and the levels as a table.

use sokudo_model::units::{human, percent};
use sokudo_model::{Text, Unit};
use sokudo_stats::capacity::Level;
use sokudo_stats::capacity::estimate::Users;
use sokudo_stats::capacity::record::{KneeFound, Rule, knee_of};

mod protect;

use crate::block::{Block, Cell, Column, Phrase, Table};
use crate::number::{Scale, count};
use crate::plane::{Axis, Mark, Plane, Trace};
use crate::view::View;

/// Point at which requests begin to queue; nothing when no search for it was made.
pub fn blocks(view: &View) -> Vec<Block> {
    let Some(found) = knee_of(&view.record.manifest.phases) else {
        return Vec::new();
    };
    let planes = [
        Some(throughput(&found)),
        Some(response(&found)),
        cpu(&found),
    ];
    let planes = planes.into_iter().flatten();
    let mut out: Vec<Block> = vec![Block::Table(answers(&found))];
    out.extend(planes.map(|plane| Block::Plane(Box::new(plane))));
    out.push(Block::Table(levels(&found)));
    out.extend(protect::table(view.record).map(Block::Table));
    out
}

pub use protect::table as limits;

fn column(title: &str, unit: &str, numeric: bool) -> Column {
    Column {
        title: Text::new(title).into(),
        unit: unit.into(),
        numeric,
    }
}

fn users(users: f64) -> Cell {
    Cell::number(human((users * 10.0).round() / 10.0, Unit::One), users)
}

/// One row per rule, that of the answer marked. Also the terminal's.
pub fn answers(found: &KneeFound) -> Table {
    let all = &found.all;
    let cpu = match found.rule {
        Rule::Cpu(percent) => percent,
        _ => 80,
    };
    let rules: [(Phrase, Option<Users>, bool); 4] = [
        (
            Text::new("report-capacity-bound").into(),
            all.bounds,
            found.rule == Rule::Bound,
        ),
        (
            Text::new("report-capacity-kneedle").into(),
            all.kneedle,
            found.rule == Rule::Kneedle,
        ),
        (
            Text::new("report-capacity-cpu")
                .word("percent", cpu.to_string())
                .into(),
            all.cpu,
            matches!(found.rule, Rule::Cpu(_)),
        ),
        (
            Text::new("report-capacity-slo").into(),
            all.held,
            found.rule == Rule::Slo,
        ),
    ];
    let shown = rules
        .into_iter()
        .filter(|(_, users, is_answer)| users.is_some() || *is_answer);
    let shown: Vec<_> = shown.collect();
    Table {
        title: Text::new("report-capacity-answers").into(),
        columns: vec![
            column("report-capacity-rule", "", false),
            column("report-capacity-users", "", true),
            column("report-repeats-low", "", true),
            column("report-repeats-high", "", true),
        ],
        marked: shown.iter().position(|(.., is_answer)| *is_answer),
        rows: shown
            .into_iter()
            .map(|(name, answer, _)| {
                let number = |of: fn(&Users) -> f64| match &answer {
                    Some(answer) => users(of(answer)),
                    None => Cell::missing(),
                };
                vec![
                    Cell::word(name),
                    number(|u| u.users),
                    number(|u| u.low),
                    number(|u| u.high),
                ]
            })
            .collect(),
        tools: false,
    }
}

/// One row per number of users, the one up to the knee marked. Also the terminal's.
pub fn levels(found: &KneeFound) -> Table {
    let scale = Scale::of(found.levels.iter().map(Level::per_second), Unit::PerSecond);
    let has_cpu = found.levels.iter().any(|level| level.cpu_ratio().is_some());
    let mut columns = vec![
        Column {
            title: found.option.clone().into(),
            unit: String::new(),
            numeric: true,
        },
        column("report-capacity-runs", "", true),
        column("report-capacity-throughput", &scale.unit, true),
        column("report-capacity-range", &scale.unit, false),
        column("report-capacity-response", "", true),
        column("report-capacity-residual", "", true),
    ];
    if has_cpu {
        columns.push(column("report-capacity-server-cpu", "", true));
    }
    let rows = found
        .levels
        .iter()
        .zip(&found.all.residuals)
        .map(|(level, residual)| {
            let each = level.visits.iter().map(|visit| visit.per_second);
            let (low, high) = each.fold((f64::INFINITY, 0.0f64), |(l, h), x| (l.min(x), h.max(x)));
            let n = level.visits.len() as f64;
            let mut row = vec![
                Cell::number(count(level.users), level.users),
                Cell::number(count(n), n),
                Cell::number(scale.show(level.per_second()), level.per_second()),
                Cell::word(format!("{}–{}", scale.show(low), scale.show(high))),
                Cell::number(human(level.response_s(), Unit::Seconds), level.response_s()),
                match found.raises_users() {
                    true => Cell::number(percent(*residual), *residual),
                    false => Cell::missing(),
                },
            ];
            if has_cpu {
                row.push(match level.cpu_ratio() {
                    Some(cpu) => Cell::number(percent(cpu), cpu),
                    None => Cell::missing(),
                });
            }
            row
        });
    Table {
        title: Text::new("report-capacity-levels").into(),
        rows: rows.collect(),
        columns,
        marked: found.answer().map(|_| found.subject()),
        tools: true,
    }
}

fn plane(found: &KneeFound, name: &str, y: (&str, Unit), traces: Vec<Trace>) -> Plane {
    Plane {
        title: Text::new(format!("report-capacity-{name}-title")).into(),
        note: Text::new(format!("report-capacity-{name}-note")).into(),
        x: Axis {
            title: found.option.clone().into(),
            unit: Unit::One,
        },
        y: Axis {
            title: Text::new(y.0).into(),
            unit: y.1,
        },
        traces,
    }
}

fn line(label: &str, colour: usize, points: Vec<(f64, f64)>) -> Trace {
    Trace {
        label: Text::new(label).into(),
        colour,
        mark: Mark::Line,
        points,
    }
}

/// Points of all levels that have the figure.
fn over_users(found: &KneeFound, of: impl Fn(&Level) -> Option<f64>) -> Vec<(f64, f64)> {
    let point = |level: &Level| Some((level.users, of(level)?));
    found.levels.iter().filter_map(point).collect()
}

fn last_users(found: &KneeFound) -> f64 {
    found.levels.last().map_or(0.0, |level| level.users)
}

/// Throughput, and the two lines that bound it: no queue, and no more than the highest.
fn throughput(found: &KneeFound) -> Plane {
    let all = &found.all;
    let cycle_s = all.alone_s + all.think_s;
    let most = last_users(found);
    let meet = (all.most_per_second * cycle_s).min(most);
    let bounds = vec![
        (0.0, 0.0),
        (meet, meet / cycle_s),
        (most, (most / cycle_s).min(all.most_per_second)),
    ];
    let measured = over_users(found, |level| Some(level.per_second()));
    let traces = vec![
        line("report-capacity-measured", 0, measured),
        line("report-capacity-bounds", 3, bounds),
    ];
    plane(
        found,
        "throughput",
        ("report-capacity-throughput", Unit::PerSecond),
        traces,
    )
}

/// Response time, and the line below which no closed system can be.
fn response(found: &KneeFound) -> Plane {
    let all = &found.all;
    let most = last_users(found);
    let asymptote = |n: f64| (n / all.most_per_second - all.think_s).max(all.alone_s);
    let meet = (all.most_per_second * (all.alone_s + all.think_s)).min(most);
    let bounds = [0.0, meet, most].map(|n| (n, asymptote(n))).into();
    let measured = over_users(found, |level| Some(level.response_s()));
    let traces = vec![
        line("report-capacity-measured", 1, measured),
        line("report-capacity-bounds", 3, bounds),
    ];
    plane(
        found,
        "response",
        ("report-capacity-response", Unit::Seconds),
        traces,
    )
}

fn cpu(found: &KneeFound) -> Option<Plane> {
    let measured = over_users(found, Level::cpu_ratio);
    let share = match found.rule {
        Rule::Cpu(percent) => f64::from(percent) / 100.0,
        _ => 0.8,
    };
    let traces = vec![
        line("report-capacity-measured", 2, measured),
        line(
            "report-capacity-full",
            3,
            vec![(0.0, share), (last_users(found), share)],
        ),
    ];
    (traces[0].points.len() > 1).then(|| {
        plane(
            found,
            "cpu",
            ("report-capacity-server-cpu", Unit::Ratio),
            traces,
        )
    })
}
