//! Writes a report as Markdown, for tickets, wikis and commit messages.

use std::fmt::Write as _;

use sokudo_i18n::Lang;
use sokudo_model::{Record, Severity, Text, harmless, units};

use crate::block::{Block, Column, Conclusion, Number, Phrase, Speaker, Table};
use crate::chart::Chart;
use crate::date;
use crate::demands::DemandLine;
use crate::sections::REGISTRY;
use crate::view::View;

/// The report as Markdown (CommonMark with tables) in one language. Charts become the range of
/// each of their lines.
pub fn markdown(record: &Record, lang: Lang) -> String {
    write(&View::new(record), lang)
}

pub(crate) fn write(view: &View, lang: Lang) -> String {
    let mut writer = Writer {
        speaker: Speaker::new(),
        lang,
        out: String::new(),
    };
    writer.title(view);
    for section in REGISTRY {
        let blocks = (section.blocks)(view);
        if blocks.is_empty() {
            continue;
        }
        if section.headed {
            let title = writer.words(&format!("report-{}", section.name));
            let _ = write!(writer.out, "## {title}\n\n");
        }
        blocks.iter().for_each(|b| writer.block(b, 3));
    }
    let end = writer.out.trim_end().len();
    writer.out.truncate(end);
    writer.out.push('\n');
    writer.out
}

struct Writer {
    speaker: Speaker,
    lang: Lang,
    out: String,
}

impl Writer {
    fn say(&self, phrase: &Phrase) -> String {
        escape(&self.speaker.say(self.lang, phrase))
    }

    fn words(&self, key: &str) -> String {
        self.say(&Text::new(key).into())
    }

    fn title(&mut self, view: &View) {
        let manifest = &view.record.manifest;
        let when = date::written(&manifest.started, self.lang);
        let length = units::duration(view.end_ns() as f64 / 1e9);
        let _ = write!(
            self.out,
            "# sokudo {} · {} · {length}\n\n",
            escape(&manifest.workload),
            when.unwrap_or_else(|| escape(&manifest.started))
        );
    }

    fn block(&mut self, block: &Block, level: usize) {
        match block {
            Block::Lead(sentences) => self.lead(sentences),
            Block::Notice(severity, phrase) => {
                let key = match severity {
                    Severity::Info => "report-severity-info",
                    Severity::Caution => "report-severity-caution",
                    Severity::Bad => "report-severity-bad",
                };
                let line = format!("> **{}** {}\n\n", self.words(key), self.say(phrase));
                self.out.push_str(&line);
            }
            Block::Demands(lines) => self.demands(lines),
            Block::Numbers(numbers) => self.numbers(numbers),
            Block::Heading(phrase) => self.heading(phrase, level),
            Block::Paragraph(phrase) => {
                let line = format!("{}\n\n", self.say(phrase));
                self.out.push_str(&line);
            }
            Block::Conclusions(list) => list.iter().for_each(|c| self.conclusion(c)),
            Block::Table(table) => self.table(table),
            Block::Chart(chart) => self.chart(chart),
            // The steps, trials and parts follow as tables.
            Block::Curve(_) | Block::Knee(_) | Block::Bars(_) => {}
            Block::Plane(plane) => {
                let line = format!("**{}**\n\n", self.say(&plane.title));
                self.out.push_str(&line);
            }
            Block::Command(line) => {
                let fence = "`".repeat(longest_ticks(line).max(2) + 1);
                let line = harmless(line);
                let _ = write!(self.out, "{fence}sh\n{line}\n{fence}\n\n");
            }
            Block::Details { title, blocks, .. } => {
                self.heading(title, level);
                blocks.iter().for_each(|b| self.block(b, level + 1));
            }
        }
    }

    fn heading(&mut self, phrase: &Phrase, level: usize) {
        let line = format!("{} {}\n\n", "#".repeat(level.min(6)), self.say(phrase));
        self.out.push_str(&line);
    }

    fn lead(&mut self, sentences: &[Phrase]) {
        for (i, sentence) in sentences.iter().enumerate() {
            let said = self.say(sentence);
            let line = match i {
                0 => format!("**{said}**\n\n"),
                _ => format!("{said}\n\n"),
            };
            self.out.push_str(&line);
        }
    }

    fn demands(&mut self, lines: &[DemandLine]) {
        for line in lines {
            let (asked, measured) = (escape(&line.asked), self.say(&line.measured));
            let _ = write!(self.out, "- {} {asked}: **{measured}**", line.sign());
            if !line.on.is_empty() {
                let _ = write!(self.out, " ({})", escape(&line.on));
            }
            self.out.push('\n');
        }
        self.out.push('\n');
    }

    fn numbers(&mut self, numbers: &[Number]) {
        for number in numbers {
            let detail: Vec<String> = number.detail.iter().map(|d| self.say(d)).collect();
            let (label, value) = (self.say(&number.label), self.say(&number.value));
            let _ = write!(self.out, "- {label}: **{value}**");
            if !detail.is_empty() {
                let _ = write!(self.out, " ({})", detail.join(" · "));
            }
            self.out.push('\n');
        }
        self.out.push('\n');
    }

    fn conclusion(&mut self, conclusion: &Conclusion) {
        let says = self.say(&conclusion.says);
        let _ = write!(self.out, "- **{says}**");
        if !conclusion.phase.is_empty() {
            let _ = write!(self.out, " ({})", escape(&conclusion.phase));
        }
        self.out.push('\n');
        for proof in &conclusion.proofs {
            let line = format!(
                "  - {} ({})\n",
                self.say(&proof.says),
                self.say(&Text::recorded(&proof.source).into())
            );
            self.out.push_str(&line);
        }
        if let Some(next) = &conclusion.next {
            let line = format!("  - {} {}\n", self.words("report-why-next"), self.say(next));
            self.out.push_str(&line);
        }
        self.out.push('\n');
    }

    fn table(&mut self, table: &Table) {
        let title = self.say(&table.title);
        let _ = write!(self.out, "{title}\n\n");
        let head = |column: &Column| match column.unit.is_empty() {
            true => self.say(&column.title),
            false => format!("{} ({})", self.say(&column.title), escape(&column.unit)),
        };
        let heads: Vec<String> = table.columns.iter().map(head).collect();
        let mut lines = format!("| {} |\n|", heads.join(" | "));
        for column in &table.columns {
            lines.push_str(if column.numeric { "---:|" } else { "---|" });
        }
        lines.push('\n');
        for row in &table.rows {
            let cells: Vec<String> = row.iter().map(|c| self.say(&c.says)).collect();
            let _ = writeln!(lines, "| {} |", cells.join(" | "));
        }
        lines.push('\n');
        self.out.push_str(&lines);
    }

    fn chart(&mut self, chart: &Chart) {
        let mut lines = format!("{}\n\n", self.say(&chart.title));
        for line in &chart.lines {
            let Some(words) = chart.outline_of(line) else {
                continue;
            };
            let _ = writeln!(
                lines,
                "- {}: {}",
                self.say(&line.label),
                self.say(&words.into())
            );
        }
        lines.push('\n');
        self.out.push_str(&lines);
    }
}

/// Length of the longest run of backticks.
fn longest_ticks(line: &str) -> usize {
    line.split(|c| c != '`').map(str::len).max().unwrap_or(0)
}

/// Foreign text that can neither end a table cell nor start markup.
fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in harmless(text).chars() {
        match c {
            '|' | '\\' | '`' | '*' | '_' | '[' | ']' | '#' => {
                out.push('\\');
                out.push(c);
            }
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '&' => out.push_str("&amp;"),
            c => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn foreign_text_stays_text() {
        assert_eq!(escape("a|b\n<i>*x*`"), r"a\|b &lt;i&gt;\*x\*\`");
        assert_eq!(escape("a\u{202e}b"), "a\u{fffd}b");
        assert_eq!(longest_ticks("a``b```"), 3);
    }
}
