//! Writes each kind of block as HTML.

use std::fmt::Write as _;

use sokudo_model::{Severity, Text, units};

use super::{Page, escape};
use sokudo_stats::{self as stats, Curve};

use crate::bars::Bars;
use crate::block::{Block, Cell, Column, Conclusion, Number, Phrase, Proof, Speaker, Table};
use crate::chart::{Chart, ChartKind};
use crate::demands::DemandLine;
use crate::knee::Knee;
use crate::plane::Plane;
use crate::svg;
use crate::unbroken::GAP;

impl Page<'_> {
    /// Writes one block.
    pub(super) fn block(&self, out: &mut String, block: &Block) {
        match block {
            Block::Lead(sentences) => self.lead(out, sentences),
            Block::Notice(severity, phrase) => self.notice(out, *severity, phrase),
            Block::Demands(lines) => self.demands(out, lines),
            Block::Numbers(numbers) => self.numbers(out, numbers),
            Block::Heading(phrase) => self.element(out, "h3", "", phrase),
            Block::Paragraph(phrase) => self.element(out, "p", "how", phrase),
            Block::Conclusions(list) => self.conclusions(out, list),
            Block::Table(table) => self.table(out, table),
            Block::Chart(chart) => self.chart(out, chart),
            Block::Curve(curve) => self.curve(out, curve),
            Block::Knee(knee) => self.knee(out, knee),
            Block::Bars(bars) => self.bars(out, bars),
            Block::Plane(plane) => self.plane(out, plane),
            Block::Command(line) => self.command(out, line),
            Block::Details {
                title,
                open,
                blocks,
            } => {
                let open = if *open { " open" } else { "" };
                let _ = write!(out, "<details{open}><summary>{}</summary>", self.say(title));
                blocks.iter().for_each(|b| self.block(out, b));
                out.push_str("</details>");
            }
        }
    }

    pub(super) fn element(&self, out: &mut String, tag: &str, class: &str, phrase: &Phrase) {
        let _ = write!(out, "<{tag} class=\"{class}\">{}</{tag}>", self.say(phrase));
    }

    fn lead(&self, out: &mut String, sentences: &[Phrase]) {
        out.push_str("<div class=\"lead\">");
        for (i, sentence) in sentences.iter().enumerate() {
            let class = if i == 0 { "first" } else { "more" };
            self.element(out, "p", class, sentence);
        }
        out.push_str("</div>");
    }

    fn notice(&self, out: &mut String, severity: Severity, phrase: &Phrase) {
        let _ = write!(
            out,
            "<p class=\"notice {}\"><b>{}</b> {}</p>",
            class(severity),
            self.words(severity_key(severity)),
            self.say(phrase)
        );
    }

    fn demands(&self, out: &mut String, lines: &[DemandLine]) {
        out.push_str("<ul class=\"demands\">");
        for line in lines {
            let (class, key) = match line.passed {
                true => ("kept", "report-demand-kept"),
                false => ("missed", "report-demand-missed"),
            };
            let _ = write!(
                out,
                "<li class=\"{class}\"><b aria-hidden=\"true\">{}</b> \
                 <span class=\"hidden\">{}</span> <code>{}</code> <span>{}</span>",
                line.sign(),
                self.words(key),
                escape(&line.asked),
                self.say(&line.measured)
            );
            if !line.on.is_empty() {
                let _ = write!(out, " <span class=\"on\">{}</span>", escape(&line.on));
            }
            out.push_str("</li>");
        }
        out.push_str("</ul>");
    }

    fn numbers(&self, out: &mut String, numbers: &[Number]) {
        out.push_str("<dl class=\"numbers\">");
        for number in numbers {
            let detail: Vec<String> = number.detail.iter().map(|d| self.say(d)).collect();
            let _ = write!(
                out,
                "<div class=\"number {}\"><dt>{}</dt><dd class=\"value\">{}</dd>",
                class(number.tone),
                self.say(&number.label),
                unit_apart(&self.say(&number.value))
            );
            for line in detail {
                let _ = write!(out, "<dd class=\"detail\">{line}</dd>");
            }
            out.push_str("</div>");
        }
        out.push_str("</dl>");
    }

    fn conclusions(&self, out: &mut String, list: &[Conclusion]) {
        out.push_str("<ol class=\"findings\">");
        for conclusion in list {
            let _ = write!(
                out,
                "<li class=\"finding {}\"><p class=\"says\"><span class=\"tag\">{}</span> {}",
                class(conclusion.severity),
                self.words(severity_key(conclusion.severity)),
                self.say(&conclusion.says)
            );
            let several = self.sheet.spans.len() > 1;
            if several && !conclusion.phase.is_empty() {
                let _ = write!(
                    out,
                    " <span class=\"phase\">{}</span>",
                    escape(&conclusion.phase)
                );
            }
            out.push_str("</p>");
            self.proofs(out, &conclusion.proofs);
            if let Some(next) = &conclusion.next {
                let _ = write!(
                    out,
                    "<p class=\"next\"><b>{}</b> {}</p>",
                    self.words("report-why-next"),
                    self.say(next)
                );
            }
            out.push_str("</li>");
        }
        out.push_str("</ol>");
    }

    fn proofs(&self, out: &mut String, proofs: &[Proof]) {
        if proofs.is_empty() {
            return;
        }
        out.push_str("<ul class=\"proofs\">");
        for proof in proofs {
            let _ = write!(
                out,
                "<li><span class=\"what\">{}</span>",
                self.say(&proof.says)
            );
            if !proof.spark.is_empty() {
                let peak = Text::new("report-why-peak").word("peak", proof.peak.clone());
                let _ = write!(
                    out,
                    "{}<span class=\"peak\">{}</span>",
                    svg::spark(&proof.spark),
                    self.say(&peak.into())
                );
            }
            let _ = write!(
                out,
                "<span class=\"source\">{}</span></li>",
                self.say(&Text::recorded(&proof.source).into())
            );
        }
        out.push_str("</ul>");
    }

    fn command(&self, out: &mut String, line: &str) {
        let _ = write!(
            out,
            "<div class=\"command\"><pre tabindex=\"0\"><code>{}</code></pre><button type=\"button\" class=\"quiet\" data-do=\"copy-command\">{}</button></div>",
            escape(line),
            self.words("report-tool-copy")
        );
    }

    fn table(&self, out: &mut String, table: &Table) {
        out.push_str("<div class=\"table\"><div class=\"caption\">");
        self.element(out, "span", "name", &table.title);
        if table.tools {
            let _ = write!(
                out,
                "<button type=\"button\" class=\"quiet\" data-do=\"copy-table\">{}</button>",
                self.words("report-tool-copy-csv")
            );
        }
        out.push_str("</div><div class=\"scroll\" tabindex=\"0\"><table><thead><tr>");
        table
            .columns
            .iter()
            .for_each(|c| self.column(out, c, table.tools));
        out.push_str("</tr></thead><tbody>");
        for (i, row) in table.rows.iter().enumerate() {
            let marked = if table.marked == Some(i) {
                " class=\"marked\""
            } else {
                ""
            };
            let _ = write!(out, "<tr{marked}>");
            for (column, cell) in table.columns.iter().zip(row) {
                self.cell(out, column, cell);
            }
            out.push_str("</tr>");
        }
        out.push_str("</tbody></table></div></div>");
    }

    fn column(&self, out: &mut String, column: &Column, sortable: bool) {
        let class = if column.numeric { " class=\"n\"" } else { "" };
        let mut title = self.say(&column.title);
        if !column.unit.is_empty() {
            let _ = write!(
                title,
                " <span class=\"unit\">{}</span>",
                escape(&column.unit)
            );
        }
        let _ = match sortable {
            true => write!(
                out,
                "<th scope=\"col\"{class}><button type=\"button\" data-do=\"sort\">{title}</button></th>"
            ),
            false => write!(out, "<th scope=\"col\"{class}>{title}</th>"),
        };
    }

    fn cell(&self, out: &mut String, column: &Column, cell: &Cell) {
        let mut attributes = String::new();
        if column.numeric {
            attributes.push_str(" class=\"n\"");
        }
        if let Some(value) = cell.value {
            let _ = write!(attributes, " data-v=\"{value}\"");
        }
        if let Some(heat) = cell.heat {
            // The colour is bounded so that the number on it stays readable.
            let _ = write!(
                attributes,
                " style=\"--heat:{:.0}%\"",
                heat.clamp(0.0, 1.0) * 45.0
            );
        }
        let _ = write!(out, "<td{attributes}>{}</td>", self.say(&cell.says));
    }

    fn chart(&self, out: &mut String, chart: &Chart) {
        let _ = write!(
            out,
            "<figure class=\"chart\" id=\"chart-{0}\"><figcaption><span class=\"name\">{1}</span><span class=\"readout\" aria-live=\"off\"></span>",
            escape(&chart.id),
            self.say(&chart.title)
        );
        if chart.log_switch {
            let _ = write!(
                out,
                "<button type=\"button\" class=\"quiet\" data-do=\"log\" aria-pressed=\"true\">{}</button>",
                self.words("report-tool-log")
            );
        }
        out.push_str("</figcaption>");
        if let Some(note) = &chart.note {
            self.element(out, "p", "note", note);
        }
        let drawing = svg::time(chart, &self.bands(), self.sheet.end_ns, &self.speaker);
        let _ = write!(
            out,
            "<div class=\"plot\" data-chart=\"{}\" tabindex=\"0\" role=\"img\" aria-describedby=\"text-{0}\"></div>{drawing}",
            escape(&chart.id)
        );
        let _ = write!(
            out,
            "<div class=\"hidden\" id=\"text-{}\">",
            escape(&chart.id)
        );
        self.outline(out, chart);
        out.push_str("</div></figure>");
    }

    /// The chart in words: what each line did.
    fn outline(&self, out: &mut String, chart: &Chart) {
        self.element(out, "p", "", &chart.title);
        out.push_str("<ul>");
        for line in &chart.lines {
            let Some(words) = chart.outline_of(line) else {
                continue;
            };
            let _ = write!(
                out,
                "<li>{}: {}</li>",
                self.say(&line.label),
                self.say(&words.into())
            );
        }
        out.push_str("</ul>");
        if matches!(chart.kind, ChartKind::Strip { .. }) {
            self.element(out, "p", "", &Text::new("report-chart-strip").into());
        }
    }

    /// Phases as charts mark them: probes of a search without their names, and an only phase, too.
    fn bands(&self) -> Vec<svg::Band<'_>> {
        let spans = &self.sheet.spans;
        spans
            .iter()
            .map(|span| {
                let named = !span.is_trial && spans.len() > 1;
                let name = if named { span.name.as_str() } else { "" };
                (name, span.at_ns.0, span.at_ns.1)
            })
            .collect()
    }

    /// The steps follow as a table, so that they can be read without the drawing.
    fn curve(&self, out: &mut String, curve: &Curve) {
        let title = match curve.knee {
            stats::Knee::At(..) => "report-curve-title",
            _ => "report-curve-title-none",
        };
        let _ = write!(
            out,
            "<figure class=\"chart knee\"><figcaption><span class=\"name\">{}</span></figcaption>",
            self.say(&Text::new(title).into())
        );
        self.element(out, "p", "note", &Text::new("report-curve-note").into());
        out.push_str(&svg::curve(curve, &self.speaker));
        out.push_str("</figure>");
    }

    fn plane(&self, out: &mut String, plane: &Plane) {
        self.still(out, (&plane.title, &plane.note), |speaker| {
            svg::plane(plane, speaker)
        });
    }

    fn bars(&self, out: &mut String, bars: &Bars) {
        self.still(out, (&bars.title, &bars.note), |speaker| {
            svg::bars(bars, speaker)
        });
    }

    /// A drawing that no script draws again, below its title and how to read it.
    fn still(
        &self,
        out: &mut String,
        (title, note): (&Phrase, &Phrase),
        drawing: impl Fn(&Speaker) -> String,
    ) {
        let _ = write!(
            out,
            "<figure class=\"chart knee\"><figcaption><span class=\"name\">{}</span></figcaption>",
            self.say(title)
        );
        self.element(out, "p", "note", note);
        out.push_str(&drawing(&self.speaker));
        out.push_str("</figure>");
    }

    fn knee(&self, out: &mut String, knee: &Knee) {
        let title = match knee.best {
            Some(best) => Text::new("report-search-title-best").number(
                "rate",
                best,
                sokudo_model::Unit::BitsPerSecond,
            ),
            None => Text::new("report-search-title-none"),
        };
        let _ = write!(
            out,
            "<figure class=\"chart knee\"><figcaption><span class=\"name\">{}</span></figcaption>",
            self.say(&title.into())
        );
        self.element(out, "p", "note", &Text::new("report-search-note").into());
        out.push_str(&svg::knee(knee, &self.speaker));
        out.push_str("<ul class=\"hidden\">");
        for trial in &knee.trials {
            let words = Text::new("report-search-outline")
                .word("trial", trial.name.clone())
                .word("offered", units::si(trial.offered, "b/s"))
                .word("delivered", units::si(trial.delivered, "b/s"))
                .word("loss", units::percent(trial.loss));
            self.element(out, "li", "", &words.into());
        }
        out.push_str("</ul></figure>");
    }
}

/// Sets the unit in its own element, so that it can be smaller than the number.
fn unit_apart(value: &str) -> String {
    let number = value.starts_with(|c: char| c.is_ascii_digit());
    match value.split_once([' ', GAP]) {
        Some((digits, unit)) if number && !unit.starts_with(|c: char| c.is_ascii_digit()) => {
            format!("{digits} <span class=\"unit\">{unit}</span>")
        }
        _ => value.into(),
    }
}

/// Class of everything that is coloured by its weight.
fn class(severity: Severity) -> &'static str {
    match severity {
        Severity::Info => "info",
        Severity::Caution => "caution",
        Severity::Bad => "bad",
    }
}

fn severity_key(severity: Severity) -> &'static str {
    match severity {
        Severity::Info => "report-severity-info",
        Severity::Caution => "report-severity-caution",
        Severity::Bad => "report-severity-bad",
    }
}
