//! Sets two sides of the same load beside each other: for a terminal, as a page, for programs.

use serde_json::{Value, json};
use sokudo_analyze::compare::{Compared, Comparison, Load, Order};
use sokudo_analyze::profiles::Profiles;
use sokudo_i18n::{I18n, Lang};
use sokudo_model::document::{Document, field};
use sokudo_model::kinds::{Family, Track};
use sokudo_model::units::{human, percent};
use sokudo_model::{Kind, Metric, PhaseRecord, Record, Series, Text, Unit};
use sokudo_stats::compare::{ENOUGH_ROUNDS, ENOUGH_RUNS, Scale, Verdict};

use crate::block::{Block, Cell, Column, Phrase, Table};
use crate::html::{self, Part, Sheet};
use crate::names;
use crate::plane::{Axis, Mark, Plane, Trace};
use crate::terminal::plain;

/// Conditions that the first sentences name.
const NAMED_MAX: usize = 4;
/// Points of a curve.
const POINTS: usize = 60;

/// Version of the object.
const SCHEMA: &str = "sokudo.comparison/1";

/// The object that `sokudo compare --json` prints.
#[rustfmt::skip]
pub const COMPARISON: Document = Document {
    name: "comparison",
    command: "sokudo compare --json",
    fields: &[
        field("schema", "string", ""),
        field("before", "string", ""),
        field("least", "number", "ratio"),
        field("comparisons", "array of object", ""),
        field("comparisons[].after", "string", ""),
        field("comparisons[].least", "number", "ratio"),
        field("comparisons[].says", "array of string", ""),
        field("comparisons[].loads", "array of object", ""),
        field("comparisons[].loads[].name", "string", ""),
        field("comparisons[].loads[].workload", "string", ""),
        field("comparisons[].loads[].figures", "map of object", ""),
        field("comparisons[].loads[].figures.*.before", "number", ""),
        field("comparisons[].loads[].figures.*.before_runs", "integer", ""),
        field("comparisons[].loads[].figures.*.after", "number", ""),
        field("comparisons[].loads[].figures.*.after_runs", "integer", ""),
        field("comparisons[].loads[].figures.*.scale", "string", ""),
        field("comparisons[].loads[].figures.*.change", "number or null", ""),
        field("comparisons[].loads[].figures.*.low", "number or null", ""),
        field("comparisons[].loads[].figures.*.high", "number or null", ""),
        field("comparisons[].loads[].figures.*.confidence", "number or null", "ratio"),
        field("comparisons[].loads[].figures.*.verdict", "string", ""),
        field("comparisons[].only_one_side", "array of string", ""),
        field("comparisons[].conditions", "array of object", ""),
        field("comparisons[].conditions[].host", "string", ""),
        field("comparisons[].conditions[].name", "string", ""),
        field("comparisons[].conditions[].before", "string", ""),
        field("comparisons[].conditions[].after", "string", ""),
    ],
};

/// One comparison with the names of its sides.
#[derive(Debug, Clone, Copy)]
pub struct Sides<'a> {
    /// Name of the first side.
    pub before: &'a str,
    /// Name of the other.
    pub after: &'a str,
    /// Letters that stand for the sides in sentences and tables.
    pub letters: [&'a str; 2],
    /// A record of each side, for the curves.
    pub records: [&'a Record; 2],
    /// Their figures.
    pub all: &'a Comparison,
    /// Least relative difference that counts.
    pub least: f64,
}

impl Sides<'_> {
    /// True when a figure of the other side is worse.
    pub fn is_worse(&self) -> bool {
        self.figures().any(|it| it.verdict == Verdict::Worse)
    }

    fn figures(&self) -> impl Iterator<Item = &Compared> {
        self.all.loads.iter().flat_map(|load| &load.figures)
    }

    /// The sentences and the tables, without curves.
    fn told(&self) -> impl Iterator<Item = Block> {
        let sentences = self.sentences().into_iter().map(Phrase::Text);
        let tables = self.all.loads.iter().map(|load| self.table(load));
        std::iter::once(Block::Lead(sentences.collect())).chain(tables.map(Block::Table))
    }

    /// Sentences on what is worse and better between the sides of these names, or that no difference is shown.
    fn conclusions(&self, [before, after]: [&str; 2]) -> Vec<Text> {
        let sides = |key: &str| Text::new(key).word("before", before).word("after", after);
        let mut out = Vec::new();
        for (verdict, key) in [
            (Verdict::Worse, "compare-worse"),
            (Verdict::Better, "compare-better"),
        ] {
            let such: Vec<&Compared> = self.figures().filter(|it| it.verdict == verdict).collect();
            let Some(first) = such.first() else { continue };
            let says = sides(key)
                .number("count", such.len() as f64, Unit::One)
                .number("of", self.figures().count() as f64, Unit::One)
                .text("figure", figure_words(first))
                .text("change", change_words(first));
            out.push(says);
        }
        if out.is_empty() {
            out.push(sides("compare-none").word("least", percent(self.least)));
        }
        out
    }

    /// Sentence on runs that are too few to tell a difference.
    fn too_few(&self) -> Option<Text> {
        let (key, enough) = match self.all.order {
            Order::Apart => ("compare-few", ENOUGH_RUNS),
            Order::InTurns => ("compare-few-rounds", ENOUGH_ROUNDS),
        };
        let runs = self.figures().map(|it| it.before.n.min(it.after.n)).min();
        let fewest = runs.filter(|fewest| *fewest < enough)?;
        let says = Text::new(key)
            .number("runs", fewest as f64, Unit::One)
            .number("enough", enough as f64, Unit::One);
        Some(says)
    }

    /// What they conclude; what few runs and other conditions make of it; names of the sides.
    fn sentences(&self) -> Vec<Text> {
        let mut out = self.conclusions(self.letters);
        out.extend(self.too_few());
        let conditions = &self.all.conditions;
        if !conditions.is_empty() {
            let names = conditions.iter().take(NAMED_MAX).map(|it| it.name.as_str());
            let says = Text::new("compare-conditions")
                .number("count", conditions.len() as f64, Unit::One)
                .word("names", names.collect::<Vec<_>>().join(", "));
            out.push(says);
        }
        if !self.all.alone.is_empty() {
            let says = Text::new("compare-alone").word("loads", self.all.alone.join(", "));
            out.push(says);
        }
        let [one, other] = self.letters;
        let says = Text::new("compare-sides")
            .word("one", one)
            .word("before", self.before)
            .word("other", other)
            .word("after", self.after);
        out.push(says);
        out
    }

    /// Loads that both sides have, with their figures.
    fn loads_json(&self) -> Vec<Value> {
        let loads = self.all.loads.iter().map(|load| {
            let figures = load.figures.iter().map(|it| (it.name(), figure_json(it)));
            json!({
                "name": load.name,
                "workload": load.workload,
                "figures": figures.collect::<serde_json::Map<_, _>>(),
            })
        });
        loads.collect()
    }

    fn blocks(&self) -> Vec<Block> {
        let sentences = self.sentences().into_iter().map(Phrase::Text);
        let mut out = vec![Block::Lead(sentences.collect())];
        for load in &self.all.loads {
            out.push(Block::Table(self.table(load)));
            out.extend(self.curves(load).map(|plane| Block::Plane(Box::new(plane))));
        }
        if !self.all.conditions.is_empty() {
            out.push(Block::Table(self.conditions()));
        }
        out
    }

    fn table(&self, load: &Load) -> Table {
        let column = |title: Phrase, numeric| Column {
            title,
            unit: String::new(),
            numeric,
        };
        let words = |key: &str| Phrase::from(Text::new(key));
        let several = self.all.loads.len() > 1;
        let first = match several {
            true => Phrase::from(load.name.clone()),
            false => words("compare-figure"),
        };
        let columns = vec![
            column(first, false),
            column(self.letters[0].to_owned().into(), true),
            column("n".into(), true),
            column(self.letters[1].to_owned().into(), true),
            column("n".into(), true),
            column(words("compare-change"), true),
            column(words("compare-from"), true),
            column(words("compare-to"), true),
            column(words("compare-confidence"), true),
            column(words("compare-verdict"), false),
        ];
        Table {
            title: Text::new("compare-title")
                .word("load", load.name.clone())
                .into(),
            columns,
            rows: load.figures.iter().map(row).collect(),
            marked: None,
            tools: true,
        }
    }

    fn conditions(&self) -> Table {
        let column = |title: Phrase| Column {
            title,
            unit: String::new(),
            numeric: false,
        };
        let rows = self.all.conditions.iter().map(|it| {
            let all = [&it.host, &it.name, &it.before, &it.after];
            all.map(|word| Cell::word(word.clone())).into()
        });
        Table {
            title: Text::new("compare-conditions-title").into(),
            columns: vec![
                column(Text::new("report-column-host").into()),
                column(Text::new("compare-condition").into()),
                column(self.letters[0].to_owned().into()),
                column(self.letters[1].to_owned().into()),
            ],
            rows: rows.collect(),
            marked: None,
            tools: true,
        }
    }

    /// Curves of both sides over the time of a run, over each other, chart by chart.
    fn curves(&self, load: &Load) -> impl Iterator<Item = Plane> {
        DRAWN.iter().filter_map(|drawn| self.curve(load, drawn))
    }

    fn curve(&self, load: &Load, drawn: &Drawn) -> Option<Plane> {
        let names = self.letters;
        let traces = names.into_iter().zip(self.records).enumerate();
        let traces = traces.filter_map(|(colour, (name, record))| {
            let (unit, points) = curve(record, load, drawn)?;
            let trace = Trace {
                label: name.to_owned().into(),
                colour,
                mark: Mark::Line,
                points,
            };
            Some((unit, trace))
        });
        let (units, traces): (Vec<Unit>, Vec<Trace>) = traces.unzip();
        let unit = *units.first()?;
        let axis = |key: &str, unit| Axis {
            title: Text::new(key).into(),
            unit,
        };
        Some(Plane {
            title: Text::new(drawn.title)
                .word("load", load.name.clone())
                .into(),
            note: Text::new(drawn.note).into(),
            x: axis("compare-time", Unit::Seconds),
            y: axis(drawn.axis, unit),
            traces,
        })
    }
}

/// What the first settings differ from themselves: no smaller difference of the others is told.
pub fn same(found: &Profiles<'_>) -> Text {
    let first = found.names.first().copied().unwrap_or_default();
    match found.same().and_then(|same| Some((same, same.interval?))) {
        Some((same, interval)) => Text::new("compare-profiles-same")
            .word("profile", first)
            .word("change", percent(same.change))
            .word("low", percent(interval.low))
            .word("high", percent(interval.high)),
        None => Text::new("compare-profiles-unsure").with("enough", ENOUGH_ROUNDS),
    }
}

/// Letters of the sides behind the first one, which is A.
pub fn letters() -> Vec<String> {
    (b'B'..=b'Z')
        .map(|letter| char::from(letter).to_string())
        .collect()
}

/// What a scenario that measured settings of a server in turns concludes of each of them, by its name.
pub(crate) fn conclusions(record: &Record, found: &Profiles<'_>) -> Vec<Text> {
    let sides = sides(record, found, &[]);
    // The first of them is what one profile differs from itself, which the section tells.
    let told = sides.into_iter().skip(1);
    told.flat_map(|it| it.conclusions([it.before, it.after]))
        .collect()
}

/// The first profile beside each of the others, with these letters for the others.
fn sides<'a>(record: &'a Record, found: &'a Profiles<'_>, letters: &'a [String]) -> Vec<Sides<'a>> {
    let Some((before, others)) = found.names.split_first() else {
        return Vec::new();
    };
    let letter = |at: usize| letters.get(at).map_or("", String::as_str);
    let sides = others.iter().zip(&found.comparisons).enumerate();
    let sides = sides.map(|(at, (after, (all, least)))| Sides {
        before,
        after,
        letters: ["A", letter(at)],
        records: [record, record],
        all,
        least: *least,
    });
    sides.collect()
}

/// The settings of a server that a scenario measured in turns: first what one of them differs from itself, then
/// what each other one differs from it beyond that.
pub(crate) fn profiles(record: &Record, found: &Profiles<'_>) -> Vec<Block> {
    let letters = letters();
    let sides = sides(record, found, &letters);
    let told = sides.iter().flat_map(Sides::told);
    let lead = Block::Lead(vec![same(found).into()]);
    std::iter::once(lead).chain(told).collect()
}

/// The same for programs: the first pair is one profile beside itself. Sentences are English.
pub(crate) fn profiles_json(record: &Record, found: &Profiles<'_>) -> Value {
    let i18n = I18n::new(Lang::En);
    let sides = sides(record, found, &[]);
    let pairs = sides.iter().enumerate().map(|(at, sides)| {
        let says = match at {
            0 => vec![same(found)],
            _ => sides.conclusions([sides.before, sides.after]),
        };
        json!({
            "after": sides.after,
            "is_same": at == 0,
            "least": sides.least,
            "says": says.iter().map(|says| i18n.text(says)).collect::<Vec<_>>(),
            "loads": sides.loads_json(),
        })
    });
    json!({
        "before": found.names.first(),
        "pairs": pairs.collect::<Vec<_>>(),
    })
}

/// A chart of both sides over each other.
struct Drawn {
    title: &'static str,
    note: &'static str,
    axis: &'static str,
    metric: fn(&Kind) -> Option<Metric>,
    /// The series of a side are added up; otherwise the largest of them counts.
    is_sum: bool,
}

/// The charts from top to bottom.
const DRAWN: &[Drawn] = &[
    Drawn {
        title: "compare-curves",
        note: "compare-curves-note",
        axis: "compare-rate",
        metric: |kind| kind.charts.per_second.or(kind.charts.arrived),
        is_sum: true,
    },
    Drawn {
        title: "compare-curves-latency",
        note: "compare-curves-worst-note",
        axis: "compare-latency",
        metric: |kind| kind.charts.latency.map(|[_, high]| high),
        is_sum: false,
    },
    Drawn {
        title: "compare-curves-failed",
        note: "compare-curves-note",
        axis: "compare-failed",
        metric: |kind| match kind.family {
            Family::Exchange(exchange) => exchange.failed_per_second,
            _ => None,
        },
        is_sum: true,
    },
    Drawn {
        title: "compare-curves-users",
        note: "compare-curves-note",
        axis: "compare-users",
        metric: |kind| {
            let mut tracks = kind.tracks.iter();
            tracks
                .find(|it| it.track == Track::Users)
                .map(|it| it.metric)
        },
        is_sum: true,
    },
];

/// The values of the last run of a load over its time.
fn curve(record: &Record, load: &Load, drawn: &Drawn) -> Option<(Unit, Vec<(f64, f64)>)> {
    let is_run = |phase: &&PhaseRecord| {
        let is_named = phase.name.starts_with(&load.name) || load.name == "answer";
        phase.workload == load.workload && is_named
    };
    let phase = record.manifest.phases.iter().rfind(is_run)?;
    let metric = (drawn.metric)(phase.kind()?)?;
    let step_ns = ((phase.t1_ns - phase.t0_ns) / POINTS as i64).max(1);
    let mut bins = vec![0.0_f64; POINTS];
    for series in record.series_of(metric) {
        for (bin, value) in bins.iter_mut().zip(held(series, phase, step_ns)) {
            *bin = match drawn.is_sum {
                true => *bin + value,
                false => bin.max(value),
            };
        }
    }
    let points = bins.into_iter().enumerate();
    let points: Vec<(f64, f64)> = points
        .map(|(at, value)| ((at as f64 + 0.5) * step_ns as f64 / 1e9, value))
        .collect();
    points
        .iter()
        .any(|(_, value)| *value > 0.0)
        .then_some((metric.unit, points))
}

/// The mean of a series in each step of a phase; a value holds for the time since the one before.
fn held(series: &Series, phase: &PhaseRecord, step_ns: i64) -> Vec<f64> {
    let mut own = vec![(0.0, 0u32); POINTS];
    for (t_ns, value) in series.points.iter().filter(|point| point.1.is_finite()) {
        let at = usize::try_from((t_ns - phase.t0_ns - 1) / step_ns);
        let within = at.ok().filter(|_| *t_ns > phase.t0_ns);
        if let Some(bin) = within.and_then(|at| own.get_mut(at)) {
            *bin = (bin.0 + value, bin.1 + 1);
        }
    }
    let mut held = None;
    let mut values: Vec<f64> = own
        .iter()
        .rev()
        .map(|(sum, n)| {
            if *n > 0 {
                held = Some(sum / f64::from(*n));
            }
            held.unwrap_or(0.0)
        })
        .collect();
    values.reverse();
    values
}

fn figure_words(figure: &Compared) -> Text {
    if figure.scale == Scale::Absolute {
        return Text::new("report-curve-lost");
    }
    let name = names::metric_text(figure.metric.name);
    match figure.stat {
        Some(stat) => Text::new("compare-stat")
            .text("name", name)
            .word("stat", stat.name()),
        None => name,
    }
}

/// `−20.1 % (between −21 % and −19 %, confidence 97 %)`.
fn change_words(figure: &Compared) -> Text {
    let Some(found) = figure.difference else {
        return Text::new("compare-plain").word("name", "–");
    };
    let text = Text::new(match found.interval {
        Some(_) => "compare-change-between",
        None => "compare-plain",
    });
    let text = text.word("name", change(figure, found.change));
    match found.interval {
        Some(it) => text
            .word("low", change(figure, it.low))
            .word("high", change(figure, it.high))
            .word("confidence", percent(it.confidence)),
        None => text,
    }
}

/// A difference with its sign: of rates and times in percent, of shares in points.
fn change(figure: &Compared, value: f64) -> String {
    let sign = if value < 0.0 { "−" } else { "+" };
    let size = percent(value.abs());
    match figure.scale {
        Scale::Relative => format!("{sign}{size}"),
        Scale::Absolute => format!("{sign}{} pp", size.trim_end_matches('%').trim_end()),
    }
}

fn row(figure: &Compared) -> Vec<Cell> {
    let value = |value: f64| Cell::number(human(value, figure.metric.unit), value);
    let count = |n: usize| Cell::number(n.to_string(), n as f64);
    let signed = |value: f64| Cell::number(change(figure, value), value);
    let found = figure.difference;
    let interval = found.and_then(|found| found.interval);
    let or_missing = |cell: Option<Cell>| cell.unwrap_or_else(Cell::missing);
    let verdict = match figure.verdict {
        Verdict::Better => "compare-is-better",
        Verdict::Worse => "compare-is-worse",
        Verdict::NotShown => "compare-is-not-shown",
    };
    vec![
        Cell::word(figure_words(figure)),
        value(figure.before.median),
        count(figure.before.n),
        value(figure.after.median),
        count(figure.after.n),
        or_missing(found.map(|found| signed(found.change))),
        or_missing(interval.map(|it| signed(it.low))),
        or_missing(interval.map(|it| signed(it.high))),
        or_missing(interval.map(|it| Cell::number(percent(it.confidence), it.confidence))),
        Cell::word(Text::new(verdict)),
    ]
}

/// The comparisons as text for a terminal.
pub fn terminal(all: &[Sides<'_>], lang: Lang, color: bool, width: usize) -> String {
    let blocks: Vec<Block> = all.iter().flat_map(Sides::blocks).collect();
    plain(&blocks, lang, color, width)
}

/// The comparisons as one page; `lang` is the language it opens in.
pub fn html(all: &[Sides<'_>], lang: Lang) -> String {
    let names = all.iter().map(|sides| sides.after);
    let names: Vec<&str> = all
        .iter()
        .take(1)
        .map(|it| it.before)
        .chain(names)
        .collect();
    let parts = all.iter().map(|sides| Part {
        name: "comparison",
        title: (all.len() > 1).then(|| sides.after.to_owned().into()),
        blocks: sides.blocks(),
    });
    let version = env!("CARGO_PKG_VERSION");
    let sheet = Sheet {
        title: format!("sokudo · {}", names.join(" · ")),
        what: names.iter().map(|name| (*name).to_owned().into()).collect(),
        parts: parts.collect(),
        footer: Text::new("compare-footer").word("version", version).into(),
        end_ns: 0,
        start_ms: None,
        clock_error_s: None,
        spans: Vec::new(),
        events: Vec::new(),
        problems: Vec::new(),
    };
    html::write(&sheet, lang)
}

/// The comparisons as one JSON object; sentences are English.
pub fn json(all: &[Sides<'_>]) -> Value {
    let i18n = I18n::new(Lang::En);
    let each = all.iter().map(|sides| {
        let conditions = sides.all.conditions.iter().map(|it| {
            json!({ "host": it.host, "name": it.name, "before": it.before, "after": it.after })
        });
        json!({
            "after": sides.after,
            "least": sides.least,
            "says": sides.sentences().iter().map(|says| i18n.text(says)).collect::<Vec<_>>(),
            "loads": sides.loads_json(),
            "only_one_side": sides.all.alone,
            "conditions": conditions.collect::<Vec<_>>(),
        })
    });
    json!({
        "schema": SCHEMA,
        "before": all.first().map_or("", |sides| sides.before),
        "least": all.first().map(|sides| sides.least),
        "comparisons": each.collect::<Vec<_>>(),
    })
}

fn figure_json(figure: &Compared) -> Value {
    let interval = figure.difference.and_then(|found| found.interval);
    json!({
        "before": figure.before.median,
        "before_runs": figure.before.n,
        "after": figure.after.median,
        "after_runs": figure.after.n,
        "scale": match figure.scale {
            Scale::Relative => "relative",
            Scale::Absolute => "absolute",
        },
        "change": figure.difference.map(|found| found.change),
        "low": interval.map(|it| it.low),
        "high": interval.map(|it| it.high),
        "confidence": interval.map(|it| it.confidence),
        "verdict": figure.verdict.name(),
    })
}
