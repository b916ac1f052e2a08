//! Writes the lines that a command prints at its end.
//!
//! The verdict, the next thing to try, and the few numbers below each other with their units aligned.
//! Readable at 80 columns, without colour, and by a screen reader.

mod distribution;
mod lines;
mod why;

use std::fmt::Write as _;

use sokudo_analyze::{Purpose, REGISTRY};
use sokudo_i18n::Lang;
use sokudo_model::{Finding, PhaseRecord, Record, Severity, Summary, Text, cut, harmless};

use crate::block::{Block, Cell, Number, Phrase, Speaker, Table};
use crate::budget;
use crate::demands;
use crate::families::Subject;
use crate::number::count;
use crate::sections::verdict::status_words;
use crate::sections::{
    advice, capacity, curve, generators, group, numbers, profiles, repeats, rrul,
};
use crate::view::View;
pub use distribution::distribution;
pub use lines::{columns, wrap};
use lines::{least, longest_piece, pad_left, pad_right, spaces, stacked, wrap_parts};
pub use why::{rules, why};

/// Columns that lines are indented by.
const INDENT: usize = 2;
/// Columns that one cell or label may claim from all other rows: a record can name a host at any length.
const MOST_COLUMNS: usize = 200;
/// Fewest and most columns that text is set in.
const WIDTHS: (usize, usize) = (40, 160);
/// Warnings, and remarks, of one kind that are shown one by one at most; the report has them all.
const SAME_MAX: usize = 3;
/// Pairs that are shown one by one at most; the report has them all.
const PAIRS_MAX: usize = 30;

/// Styles of the terminal; nothing when colour is off.
#[derive(Debug, Clone, Copy)]
enum Ink {
    Bright,
    Dim,
    Accent,
    Caution,
    Bad,
}

impl Ink {
    fn code(self) -> &'static str {
        match self {
            Ink::Bright => "1",
            Ink::Dim => "2",
            Ink::Accent => "36",
            Ink::Caution => "33",
            Ink::Bad => "31",
        }
    }
}

/// Verdict, next step and numbers of a record, `width` columns wide; `color` allows escape
/// sequences. Ends with a line feed.
pub fn terminal(record: &Record, lang: Lang, color: bool, width: usize) -> String {
    write(&View::new(record), lang, color, width)
}

pub(crate) fn write(view: &View, lang: Lang, color: bool, width: usize) -> String {
    let mut writer = Writer {
        speaker: Speaker::new(),
        lang,
        color,
        width: width.clamp(WIDTHS.0, WIDTHS.1),
        out: String::new(),
    };
    writer.verdict(view);
    // The parts say what a line for each of their three loads would say again.
    if writer.rrul(view) {
        writer.notes(view);
        return writer.out;
    }
    writer.out.push('\n');
    writer.numbers(view);
    writer.advice(view);
    writer.layers(view);
    writer.phases(view);
    writer.capacity(view);
    writer.sweep(view);
    writer.repeats(view);
    writer.blocks(&profiles::blocks(view));
    writer.pairs(view);
    writer.generators(view);
    writer.notes(view);
    writer.out
}

/// Sentences and tables, `width` columns wide; charts stay away. Ends with a line feed.
pub(crate) fn plain(blocks: &[Block], lang: Lang, color: bool, width: usize) -> String {
    let mut writer = Writer {
        speaker: Speaker::new(),
        lang,
        color,
        width: width.clamp(WIDTHS.0, WIDTHS.1),
        out: String::new(),
    };
    writer.blocks(blocks);
    writer.out
}

/// One line about a phase: its first number with its details; `None` when its workload has no such
/// number.
pub fn phase_line(phase: &PhaseRecord, lang: Lang) -> Option<String> {
    let totals = Summary::new();
    let subject = Subject::new(phase, &totals);
    let number = (subject.telling().line)(&subject)?;
    let speaker = Speaker::new();
    let say = |phrase: &Phrase| harmless(&speaker.say(lang, phrase)).into_owned();
    let first = format!("{} {}", say(&number.label), say(&number.value));
    let parts: Vec<String> = std::iter::once(first)
        .chain(number.detail.iter().map(say))
        .collect();
    Some(parts.join(" · "))
}

struct Writer {
    speaker: Speaker,
    lang: Lang,
    color: bool,
    width: usize,
    out: String,
}

impl Writer {
    fn say(&self, phrase: &Phrase) -> String {
        harmless(&self.speaker.say(self.lang, phrase)).into_owned()
    }

    fn words(&self, key: &str) -> String {
        self.say(&Text::new(key).into())
    }

    fn ink(&self, ink: Ink, text: &str) -> String {
        match self.color {
            true => format!("\u{1b}[{}m{text}\u{1b}[0m", ink.code()),
            false => text.into(),
        }
    }

    /// Writes `text` in lines that fit, all of them in one style.
    fn paragraph(&mut self, text: &str, indent: usize, ink: Option<Ink>) {
        for line in wrap(text, self.width.saturating_sub(indent)) {
            let styled = ink.map_or_else(|| line.clone(), |ink| self.ink(ink, &line));
            let _ = writeln!(self.out, "{}{styled}", spaces(indent));
        }
    }

    fn verdict(&mut self, view: &View) {
        if let Some(status) = view.unwell() {
            let says = self.say(&status_words(status));
            self.paragraph(&says, INDENT, Some(Ink::Bad));
        }
        let mut sentences: Vec<String> = view
            .verdict
            .iter()
            .map(|t| self.say(&t.clone().into()))
            .collect();
        if sentences.is_empty() {
            sentences.push(self.words("report-verdict-none"));
        }
        for (i, sentence) in sentences.iter().enumerate() {
            self.paragraph(sentence, INDENT, (i == 0).then_some(Ink::Bright));
        }
        self.demands(view);
        let subject = view.subject().map(|p| p.name.as_str()).unwrap_or_default();
        let about = |f: &&Finding| f.phase.is_empty() || f.phase == subject;
        let findings = view.record.findings.iter().filter(about);
        let steps: Vec<(&Finding, String)> = findings
            .filter_map(|finding| Some((finding, finding.next.clone()?)))
            .map(|(finding, next)| (finding, self.say(&next.into())))
            .collect();
        // One step at a time: the verdict may have named one already.
        let is_told = |text: &String| sentences.iter().any(|s| s.contains(text));
        let is_rrul = sokudo_analyze::rrul::of(view.record).is_some();
        if is_rrul || steps.iter().any(|(_, next)| is_told(next)) {
            return;
        }
        if let Some((finding, next)) = steps.first() {
            // The verdict tells limits and losses; what only describes is told here, before its step.
            let is_description = REGISTRY
                .iter()
                .any(|rule| rule.name == finding.rule && rule.purpose == Purpose::Describes);
            if is_description {
                self.paragraph(&self.say(&finding.says.clone().into()), INDENT, None);
            }
            let line = format!("{} {next}", self.words("report-terminal-next"));
            self.paragraph(&line, INDENT, Some(Ink::Accent));
        }
    }

    /// Writes the demands of the operator, a line each.
    fn demands(&mut self, view: &View) {
        for (passed, line) in demands::plain(&view.record.checks, self.lang) {
            self.paragraph(&line, INDENT, (!passed).then_some(Ink::Bad));
        }
    }

    fn numbers(&mut self, view: &View) {
        let mut numbers = numbers::numbers(view);
        numbers.extend(numbers::settings(view));
        let mut rows: Vec<Row> = numbers.iter().map(|n| self.row(n)).collect();
        let budget = view
            .lone_subject()
            .and_then(|phase| budget::line(phase, |p| self.say(p)));
        if let Some((number, detail)) = budget {
            rows.push(Row {
                detail,
                ..self.row(&number)
            });
        }
        self.rows(&rows);
        let notes: Vec<String> = numbers::notes(view).iter().map(|it| self.say(it)).collect();
        if !notes.is_empty() {
            self.paragraph(&notes.join(" "), INDENT, Some(Ink::Dim));
        }
    }

    fn row(&self, number: &Number) -> Row {
        Row {
            label: self.say(&number.label),
            value: self.say(&number.value),
            detail: number.detail.iter().map(|d| self.say(d)).collect(),
            tone: number.tone,
        }
    }

    /// Labels left, values right-aligned, details behind them and wrapped under themselves.
    fn rows(&mut self, rows: &[Row]) {
        let widest = |of: fn(&Row) -> &str| {
            let widths = rows.iter().map(|row| columns(of(row)));
            widths.max().unwrap_or(0).min(MOST_COLUMNS)
        };
        let label_width = widest(|r| &r.label);
        let value_width = widest(|r| &r.value);
        let indent = INDENT + label_width + 2 + value_width + 3;
        for row in rows {
            let label = pad_right(&row.label, label_width);
            let value = pad_left(&row.value, value_width);
            let value = match row.tone {
                Severity::Info => self.ink(Ink::Bright, &value),
                Severity::Caution => self.ink(Ink::Caution, &value),
                Severity::Bad => self.ink(Ink::Bad, &value),
            };
            let detail = wrap_parts(&row.detail, self.width.saturating_sub(indent).max(20));
            let label = self.ink(Ink::Dim, &label);
            let mut line = format!("{:INDENT$}{label}  {value}", "");
            for (i, part) in detail.iter().enumerate() {
                let part = self.ink(Ink::Dim, part);
                let _ = match i {
                    0 => write!(line, "   {part}"),
                    _ => write!(line, "\n{}{part}", spaces(indent)),
                };
            }
            let _ = writeln!(self.out, "{}", line.trim_end());
        }
    }

    /// One sentence or two per layer of a check.
    fn layers(&mut self, view: &View) {
        let layers = sokudo_analyze::layers::of(view.record);
        let width = layers.iter().map(|(name, _)| columns(name)).max();
        let indent = INDENT + width.unwrap_or(0) + 2;
        for (at, (name, says)) in layers.iter().enumerate() {
            if at == 0 {
                self.out.push('\n');
            }
            let says: Vec<String> = says.iter().map(|t| self.say(&t.clone().into())).collect();
            let lines = wrap(&says.join(" "), self.width.saturating_sub(indent).max(20));
            for (at, line) in lines.iter().enumerate() {
                let label = if at == 0 { *name } else { "" };
                let label = pad_right(label, indent - INDENT);
                let _ = writeln!(
                    self.out,
                    "{:INDENT$}{}{line}",
                    "",
                    self.ink(Ink::Dim, &label)
                );
            }
        }
    }

    /// One line per measured phase when there are several, but for those of which [`Writer::layers`]
    /// speaks.
    fn phases(&mut self, view: &View) {
        let layers = sokudo_analyze::layers::of(view.record);
        let told = |name: &str| layers.iter().any(|(layer, _)| *layer == name);
        let phases: Vec<_> = view.measured().filter(|p| !told(&p.workload)).collect();
        if phases.len() < 2 {
            return;
        }
        let rows: Vec<Row> = phases
            .iter()
            .filter_map(|phase| self.phase(phase))
            .collect();
        self.out.push('\n');
        self.rows(&rows);
    }

    /// The answers of all rules for the knee, and one line per number of users.
    fn capacity(&mut self, view: &View) {
        let Some(found) = sokudo_stats::capacity::record::knee_of(&view.record.manifest.phases)
        else {
            return;
        };
        let mark = self.words("report-capacity-answer");
        self.table(&capacity::answers(&found), &mark);
        let mark = self.words("report-terminal-knee");
        self.table(&capacity::levels(&found), &mark);
        if let Some(limits) = capacity::limits(view.record) {
            let mark = self.words("report-protect-mark");
            self.table(&limits, &mark);
        }
    }

    /// One line per step of a sweep, the knee marked.
    fn sweep(&mut self, view: &View) {
        let Some(curve) = sokudo_stats::curve_of(&view.record.manifest.phases) else {
            return;
        };
        let mark = self.words("report-terminal-knee");
        self.table(&curve::table(&curve), &mark);
    }

    /// Latency idle and under load, a line per part, and how the grade is given; false for a run of
    /// another kind.
    fn rrul(&mut self, view: &View) -> bool {
        let Some(found) = sokudo_analyze::rrul::of(view.record) else {
            return false;
        };
        self.table(&rrul::parts(&found), "");
        let says = self.say(&sokudo_analyze::rrul::definition().into());
        self.out.push('\n');
        self.paragraph(&says, INDENT, Some(Ink::Dim));
        true
    }

    /// Writes the settings predicted and tried, the choice marked, and the rules of thumb.
    fn advice(&mut self, view: &View) {
        let Some(found) = &view.record.manifest.advice else {
            return;
        };
        let mark = self.words("report-advice-chosen");
        self.table(&advice::settings(found), &mark);
        for says in advice::rules(found) {
            let says = self.say(&says);
            self.paragraph(&says, INDENT, None);
        }
    }

    /// The medians of a check's layers, or of repeated runs with one line per run, the one in the middle
    /// marked.
    /// Sentences and tables; charts stay away.
    fn blocks(&mut self, blocks: &[Block]) {
        for block in blocks {
            match block {
                Block::Lead(sentences) => {
                    for (at, sentence) in sentences.iter().enumerate() {
                        let says = self.say(sentence);
                        self.paragraph(&says, INDENT, (at == 0).then_some(Ink::Bright));
                    }
                }
                Block::Table(table) => self.table(table, ""),
                Block::Notice(..)
                | Block::Demands(_)
                | Block::Numbers(_)
                | Block::Heading(_)
                | Block::Paragraph(_)
                | Block::Conclusions(_)
                | Block::Chart(_)
                | Block::Curve(_)
                | Block::Knee(_)
                | Block::Bars(_)
                | Block::Plane(_)
                | Block::Command(_)
                | Block::Details { .. } => {}
            }
        }
    }

    fn repeats(&mut self, view: &View) {
        if !view.turns.is_empty() {
            self.table(&repeats::layers(&view.turns), "");
        }
        let Some(repeats) = &view.repeats else {
            return;
        };
        self.table(&repeats::medians(repeats), "");
        let mark = self.words("report-repeats-middle");
        self.table(&repeats::runs(view, repeats), &mark);
    }

    /// One line per pair of a group, those that fail first.
    fn pairs(&mut self, view: &View) {
        if view.pairs.is_empty() {
            return;
        }
        let mut table = group::table(&view.pairs);
        let more = table.rows.len().saturating_sub(PAIRS_MAX);
        table.rows.truncate(PAIRS_MAX);
        self.table(&table, "");
        if more > 0 {
            let text = Text::new("report-terminal-more").word("n", more.to_string());
            let text = self.say(&text.into());
            self.paragraph(&text, INDENT, Some(Ink::Dim));
        }
    }

    /// One line per host that made load, when several did.
    fn generators(&mut self, view: &View) {
        for table in generators::tables(view) {
            self.table(&table, "");
        }
    }

    /// A cell of a table, cut where its column would make every other row as long.
    fn cell(&self, cell: &Cell) -> String {
        cut(&self.say(&cell.says), MOST_COLUMNS).into_owned()
    }

    /// A table with columns of equal width; `mark` stands behind its marked row. Titles are broken
    /// into lines, and columns stand closer, when the table would be wider than the text.
    fn table(&mut self, table: &Table, mark: &str) {
        let titles = table.columns.iter().map(|column| {
            let title = self.say(&column.title);
            match column.unit.as_str() {
                "" => title,
                unit => format!("{title} {unit}"),
            }
        });
        let titles: Vec<String> = titles.collect();
        let cells = |row: &Vec<Cell>| row.iter().map(|cell| self.cell(cell)).collect();
        let rows: Vec<Vec<String>> = table.rows.iter().map(cells).collect();
        let widest = |at: usize| rows.iter().map(|row| columns(&row[at])).max().unwrap_or(0);
        let whole = titles.iter().enumerate();
        let whole = whole.map(|(at, title)| widest(at).max(columns(title)) + 2);
        let fits = whole.sum::<usize>() <= self.width.saturating_sub(INDENT) + 2;
        let broken = |at: usize, title: &String| match fits {
            true => vec![title.clone()],
            false => wrap(
                title,
                widest(at).max(longest_piece(title)).max(least(title)),
            ),
        };
        let titles: Vec<Vec<String>> = titles
            .iter()
            .enumerate()
            .map(|(at, it)| broken(at, it))
            .collect();
        let gap = if fits { "  " } else { " " };
        let widths = titles.iter().enumerate().map(|(at, lines)| {
            let lines = lines.iter().map(|line| columns(line));
            lines.max().unwrap_or(0).max(widest(at))
        });
        let widths: Vec<usize> = widths.collect();
        let line = |row: &[String]| {
            let sides = table.columns.iter().map(|column| column.numeric);
            let padded = row.iter().zip(&widths).zip(sides);
            let padded = padded.map(|((cell, width), numeric)| match numeric {
                true => pad_left(cell, *width),
                false => pad_right(cell, *width),
            });
            padded.collect::<Vec<_>>().join(gap)
        };
        self.out.push('\n');
        for head in stacked(&titles) {
            let head = self.ink(Ink::Dim, line(&head).trim_end());
            let _ = writeln!(self.out, "{:INDENT$}{head}", "");
        }
        for (at, row) in rows.iter().enumerate() {
            let mut text = line(row).trim_end().to_owned();
            if table.marked == Some(at) {
                text = self.ink(Ink::Bright, &format!("{text}  ◀ {mark}"));
            }
            let _ = writeln!(self.out, "{:INDENT$}{text}", "");
        }
    }

    /// Row of a phase in the table.
    fn phase(&self, phase: &PhaseRecord) -> Option<Row> {
        let totals = Summary::new();
        let subject = Subject::new(phase, &totals);
        let number = (subject.telling().line)(&subject)?;
        Some(Row {
            label: harmless(&phase.name).into_owned(),
            value: self.say(&number.value),
            detail: number.detail.iter().map(|d| self.say(d)).collect(),
            tone: number.tone,
        })
    }

    fn notes(&mut self, view: &View) {
        let manifest = &view.record.manifest;
        let failed = view.unasked_failures();
        let bad = manifest.problems.iter().map(|p| &p.says);
        let bad = self.few_of_each(bad.chain(failed.map(|c| &c.says)));
        let notes = self.few_of_each(manifest.notes.iter());
        if bad.is_empty() && notes.is_empty() {
            return;
        }
        self.out.push('\n');
        for line in bad {
            let line = format!("{} {line}", self.words("report-severity-bad"));
            self.paragraph(&line, INDENT, Some(Ink::Bad));
        }
        for line in notes {
            self.paragraph(&line, INDENT, Some(Ink::Dim));
        }
    }

    /// The texts, few of those that say the same of many hosts or moments; how many more there are
    /// stands behind the last one.
    fn few_of_each<'a>(&self, texts: impl Iterator<Item = &'a Text>) -> Vec<String> {
        let mut kinds: Vec<(&str, Vec<&Text>)> = Vec::new();
        for text in texts {
            match kinds.iter_mut().find(|(key, _)| *key == text.key) {
                Some((_, same)) => same.push(text),
                None => kinds.push((&text.key, vec![text])),
            }
        }
        let mut lines = Vec::new();
        for (_, same) in kinds {
            let shown = &same[..same.len().min(SAME_MAX)];
            lines.extend(
                shown
                    .iter()
                    .map(|text| self.say(&Phrase::from((*text).clone()))),
            );
            if let (more @ 1.., Some(last)) = (same.len() - shown.len(), lines.last_mut()) {
                let more = Text::new("report-terminal-same").word("n", count(more as f64));
                last.push(' ');
                last.push_str(&self.say(&more.into()));
            }
        }
        lines
    }
}

struct Row {
    label: String,
    value: String,
    detail: Vec<String>,
    tone: Severity,
}
