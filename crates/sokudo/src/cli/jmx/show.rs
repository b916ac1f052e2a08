//! Output of what was read from a plan.

use std::fmt::Write as _;

use serde_json::{Value, json};
use sokudo_i18n::{I18n, Lang};
use sokudo_jmeter::check::{FileUse, GroupOutlook, Outlook, outlook};
use sokudo_jmeter::plan::Stage;
use sokudo_jmeter::problem::{Problem, Severity};
use sokudo_jmeter::properties::{Origin, Properties};
use sokudo_jmeter::registry::Treatment;
use sokudo_jmeter::{PropertyUse, Reading};
use sokudo_load_http::jmx::{PlanFiles, Probed};
use sokudo_model::document::{Document, field};
use sokudo_model::{cut, harmless, units};
use sokudo_report::text_columns;

use crate::cli::screen::escapes;

/// Name and version of the JSON output.
const SCHEMA: &str = "sokudo.jmx-check/1";

/// The object that `sokudo jmx check --json` and `sokudo jmx probe --json` print.
#[rustfmt::skip]
pub const READING: Document = Document {
    name: "jmx",
    command: "sokudo jmx check PLAN --json",
    fields: &[
        field("schema", "string", ""),
        field("plan", "string or null", ""),
        field("written_by", "string or null", ""),
        field("accepted", "boolean", ""),
        field("errors", "integer", ""),
        field("disabled", "integer", ""),
        field("load", "object or null", ""),
        field("load.groups", "array of object", ""),
        field("load.groups[].name", "string", ""),
        field("load.groups[].stage", "string", ""),
        field("load.groups[].users", "integer or null", ""),
        field("load.groups[].ramp_ms", "integer", "milliseconds"),
        field("load.groups[].end_ms", "integer or null", "milliseconds"),
        field("load.groups[].loops", "integer or null", ""),
        field("load.groups[].samplers", "integer", ""),
        field("load.groups[].think_ms", "number or null", "milliseconds"),
        field("load.users", "integer", ""),
        field("load.generators", "integer", ""),
        field("load.ramp_ms", "integer", "milliseconds"),
        field("load.duration_ms", "integer or null", "milliseconds"),
        field("elements", "array of object", ""),
        field("elements[].element", "string", ""),
        field("elements[].count", "integer", ""),
        field("elements[].tier", "integer or null", ""),
        field("elements[].treatment", "string", ""),
        field("elements[].first", "any", ""),
        field("functions", "array of object", ""),
        field("functions[].function", "string", ""),
        field("functions[].count", "integer", ""),
        field("files", "array of object", ""),
        field("files[].path", "string", ""),
        field("files[].by", "string", ""),
        field("files[].is_written", "boolean", ""),
        field("files[].is_computed", "boolean", ""),
        field("files[].needs_with", "boolean or null", ""),
        field("properties", "array of object", ""),
        field("properties[].name", "string", ""),
        field("properties[].value", "string", ""),
        field("properties[].origin", "string or null", ""),
        field("properties[].has_default", "boolean", ""),
        field("properties[].place", "any", ""),
        field("problems", "array of object", ""),
        field("problems[].severity", "string", ""),
        field("problems[].key", "string", ""),
        field("problems[].place", "any", ""),
        field("problems[].says", "string", ""),
        field("problems[].hint", "string or null", ""),
        field("problems_not_shown", "integer", ""),
        field("probe", "object", ""),
        field("probe.users", "integer", ""),
        field("probe.samples", "integer", ""),
        field("probe.failed", "integer", ""),
        field("probe.response_seconds", "number", "seconds"),
        field("probe.pause_seconds", "number", "seconds"),
        field("probe.demand_seconds", "number or null", "seconds"),
        field("probe.knee_users", "number or null", ""),
        field("resolved", "any", ""),
    ],
};

/// A reading and what is needed to show it.
pub struct Shown<'a> {
    reading: &'a Reading,
    outlook: Option<Outlook>,
    files: Vec<NamedFile>,
    i18n: I18n,
}

/// A file that the plan names.
struct NamedFile {
    used: FileUse,
    /// True if the plan may not use it unless `--with` names it; `None`: its path is known only while the
    /// plan runs.
    needs_with: Option<bool>,
}

impl<'a> Shown<'a> {
    /// A reading for so many generators.
    pub fn new(reading: &'a Reading, generators: u64, properties: &Properties, lang: Lang) -> Self {
        let factor = properties.number("timer.factor").unwrap_or(1.0);
        let plan = reading.plan.as_ref();
        Self {
            reading,
            outlook: plan.map(|plan| outlook(plan, generators, factor)),
            files: Vec::new(),
            i18n: I18n::new(lang),
        }
    }

    /// With the files that the plan names, those that were read already among them.
    pub fn with_files(mut self, read: &[String], files: &PlanFiles) -> Self {
        let plan = self.reading.plan.iter();
        let mut used: Vec<FileUse> = plan.flat_map(sokudo_jmeter::check::files).collect();
        for path in read {
            if !used.iter().any(|file| file.path == *path) {
                used.push(FileUse {
                    path: path.clone(),
                    is_written: false,
                    is_computed: false,
                    is_here: false,
                    by: String::new(),
                });
            }
        }
        let named = used.into_iter().map(|used| NamedFile {
            needs_with: (!used.is_computed).then(|| !files.may_use(&used)),
            used,
        });
        self.files = named.collect();
        self
    }

    /// For a program.
    pub fn json(&self, resolved: bool, probed: Option<&Probed>) -> Value {
        let reading = self.reading;
        let plan = reading.plan.as_ref();
        let elements = reading.coverage.iter().map(|c| {
            json!({
                "element": c.element, "count": c.count, "tier": c.tier,
                "treatment": treatment_word(c.treatment), "first": c.first,
            })
        });
        let problems = reading.problems.iter().map(|problem| {
            json!({
                "severity": problem.severity, "key": problem.key(), "place": problem.place,
                "says": self.i18n.text(&problem.says),
                "hint": problem.hint.as_ref().map(|hint| self.i18n.text(hint)),
            })
        });
        let files = self.files.iter().map(|file| {
            json!({
                "path": file.used.path, "by": file.used.by, "is_written": file.used.is_written,
                "is_computed": file.used.is_computed, "needs_with": file.needs_with,
            })
        });
        let mut all = json!({
            "schema": SCHEMA,
            "plan": plan.map(|plan| &plan.name),
            "written_by": plan.map(|plan| &plan.written_by),
            "accepted": reading.errors == 0,
            "errors": reading.errors,
            "disabled": reading.disabled,
            "load": self.outlook,
            "elements": elements.collect::<Vec<_>>(),
            "functions": reading.functions.iter().map(|(name, count)| json!({"function": name, "count": count})).collect::<Vec<_>>(),
            "files": files.collect::<Vec<_>>(),
            "properties": reading.properties,
            "problems": problems.collect::<Vec<_>>(),
            "problems_not_shown": reading.dropped,
        });
        if let Some(probed) = probed {
            all["probe"] = json!(probed);
        }
        if resolved {
            all["resolved"] = json!(plan);
        }
        all
    }

    /// For people.
    pub fn text(&self, probed: Option<&Probed>) -> String {
        let ink = Ink::new();
        let mut out = String::new();
        self.head(&mut out, &ink);
        self.load(&mut out, &ink);
        if let Some(probed) = probed {
            self.title(&mut out, &ink, "jmx-show-probe");
            out.push_str(&probe_text(probed, &self.i18n));
        }
        self.elements(&mut out, &ink);
        self.functions(&mut out, &ink);
        self.files(&mut out, &ink);
        self.properties(&mut out, &ink);
        self.problems(&mut out, &ink, probed.is_some());
        out
    }

    /// Problems of a plan that is to be executed: all when it is refused, else one line that says
    /// how many warnings there are.
    pub fn only_problems(&self) -> String {
        let mut out = String::new();
        match (self.reading.errors, self.reading.problems.len()) {
            (0, 0) => {}
            (0, warnings) => {
                let count = warnings.to_string();
                let said = self.i18n.message("jmx-run-warnings", &[("count", &count)]);
                let _ = writeln!(out, "  {said}");
            }
            _ => self.problems(&mut out, &Ink::new(), false),
        }
        out
    }

    fn say(&self, key: &str) -> String {
        self.i18n.message(key, &[])
    }

    fn head(&self, out: &mut String, ink: &Ink) {
        let Some(plan) = &self.reading.plan else {
            return;
        };
        let _ = writeln!(out, "{}{}{}", ink.bright, shown(&plan.name), ink.plain);
        let count = |n: usize| n.to_string();
        let head = self.i18n.message(
            "jmx-show-head",
            &[
                ("groups", &count(plan.groups.len())),
                ("samplers", &count(plan.samplers.len())),
                ("disabled", &count(self.reading.disabled)),
            ],
        );
        let _ = writeln!(out, "{head}");
        if !plan.written_by.is_empty() {
            let version = [("version", plan.written_by.as_str())];
            let said = self.i18n.message("jmx-show-written-by", &version);
            let _ = writeln!(out, "{}{said}{}", ink.dim, ink.plain);
        }
    }

    fn load(&self, out: &mut String, ink: &Ink) {
        let Some(outlook) = self.outlook.as_ref().filter(|o| !o.groups.is_empty()) else {
            return;
        };
        self.title(out, ink, "jmx-show-load");
        let mut rows = vec![
            ["group", "stage", "users", "ramp", "end", "loops", "think"]
                .map(|column| self.say(&format!("jmx-show-{column}")))
                .to_vec(),
        ];
        rows.extend(outlook.groups.iter().map(|group| self.group(group)));
        table(out, ink, &rows);
        let total = self.i18n.message(
            "jmx-show-total",
            &[
                ("users", &units::grouped(outlook.users)),
                ("generators", &outlook.generators.to_string()),
                ("ramp", &seconds(outlook.ramp_ms)),
            ],
        );
        let _ = writeln!(out, "  {total}");
    }

    fn group(&self, group: &GroupOutlook) -> Vec<String> {
        let or_dash = |text: Option<String>| text.unwrap_or_else(|| "–".into());
        let stage = match group.stage {
            Stage::SetUp => "jmx-stage-setup",
            Stage::Main => "jmx-stage-main",
            Stage::TearDown => "jmx-stage-teardown",
        };
        vec![
            group.name.clone(),
            self.say(stage),
            or_dash(group.users.map(units::grouped)),
            seconds(group.ramp_ms),
            or_dash(group.end_ms.map(seconds)),
            group.loops.map_or("∞".into(), units::grouped),
            or_dash(group.think_ms.map(|ms| format!("{ms:.0} ms"))),
        ]
    }

    fn elements(&self, out: &mut String, ink: &Ink) {
        if self.reading.coverage.is_empty() {
            return;
        }
        self.title(out, ink, "jmx-show-elements");
        let mut rows = vec![
            ["element", "count", "tier", "treatment"]
                .map(|column| self.say(&format!("jmx-show-{column}")))
                .to_vec(),
        ];
        rows.extend(self.reading.coverage.iter().map(|c| {
            vec![
                c.element.clone(),
                units::grouped(c.count as u64),
                c.tier.map_or("–".into(), |tier| tier.to_string()),
                self.say(&format!("jmx-treated-{}", treatment_word(c.treatment))),
            ]
        }));
        table(out, ink, &rows);
    }

    fn functions(&self, out: &mut String, ink: &Ink) {
        if self.reading.functions.is_empty() {
            return;
        }
        self.title(out, ink, "jmx-show-functions");
        let calls = self.reading.functions.iter();
        let calls: Vec<_> = calls
            .map(|(name, count)| format!("{name} × {count}"))
            .collect();
        let _ = writeln!(out, "  {}", harmless(&calls.join(", ")));
    }

    fn files(&self, out: &mut String, ink: &Ink) {
        if self.files.is_empty() {
            return;
        }
        self.title(out, ink, "jmx-show-files");
        let rows: Vec<_> = self.files.iter().map(|file| self.file(file)).collect();
        table(out, &Ink::none(), &rows);
    }

    fn file(&self, file: &NamedFile) -> Vec<String> {
        let access = match file.used.is_written {
            true => "jmx-file-written",
            false => "jmx-file-read",
        };
        let needs = match file.needs_with {
            None => "jmx-file-computed",
            Some(true) => "jmx-file-needs-with",
            Some(false) => "jmx-file-within",
        };
        vec![
            file.used.path.clone(),
            self.say(access),
            file.used.by.clone(),
            self.say(needs),
        ]
    }

    fn properties(&self, out: &mut String, ink: &Ink) {
        if self.reading.properties.is_empty() {
            return;
        }
        self.title(out, ink, "jmx-show-properties");
        let rows: Vec<_> = self
            .reading
            .properties
            .iter()
            .map(|used| vec![used.name.clone(), used.value.clone(), self.origin(used)])
            .collect();
        table(out, &Ink::none(), &rows);
    }

    fn origin(&self, used: &PropertyUse) -> String {
        match &used.origin {
            Some(Origin::BuiltIn) => self.say("jmx-origin-built-in"),
            Some(Origin::File(name)) => name.clone(),
            Some(Origin::CommandLine) => "-J".into(),
            Some(Origin::Global) => "-G".into(),
            None if used.has_default => self.say("jmx-origin-default"),
            None => self.say("jmx-origin-unset"),
        }
    }

    fn problems(&self, out: &mut String, ink: &Ink, is_probed: bool) {
        if !self.reading.problems.is_empty() {
            self.title(out, ink, "jmx-show-problems");
        }
        for problem in &self.reading.problems {
            self.problem(out, ink, problem);
        }
        if self.reading.dropped > 0 {
            let count = self.reading.dropped.to_string();
            let said = self.i18n.message("jmx-show-dropped", &[("count", &count)]);
            let _ = writeln!(out, "  {said}");
        }
        let errors = self.reading.errors.to_string();
        let verdict = match self.reading.errors {
            // What the probe sent has been told above.
            0 if is_probed => self.say("jmx-show-fine-probed"),
            0 => self.say("jmx-show-fine"),
            _ => self
                .i18n
                .message("jmx-show-refused", &[("errors", &errors)]),
        };
        let _ = writeln!(out, "\n{}{verdict}{}", ink.bright, ink.plain);
    }

    fn problem(&self, out: &mut String, ink: &Ink, problem: &Problem) {
        let (color, key) = match problem.severity {
            Severity::Error => (ink.bad, "jmx-show-error"),
            Severity::Warning => (ink.caution, "jmx-show-warning"),
        };
        let said = self.i18n.text(&problem.says);
        let _ = writeln!(out, "  {color}{}{}: {said}", self.say(key), ink.plain);
        if let Some(place) = &problem.place {
            let _ = writeln!(
                out,
                "    {}{}{}",
                ink.dim,
                shown(&place.to_string()),
                ink.plain
            );
        }
        if let Some(hint) = &problem.hint {
            let _ = writeln!(out, "    → {}", self.i18n.text(hint));
        }
    }

    fn title(&self, out: &mut String, ink: &Ink, key: &str) {
        let _ = writeln!(out, "\n{}{}{}", ink.bright, self.say(key), ink.plain);
    }
}

/// Sentences about a test with one user.
fn probe_text(probed: &Probed, i18n: &I18n) -> String {
    let count = |n: u64| units::grouped(n);
    let mut out = i18n.message(
        "jmx-probe-saw",
        &[
            ("users", &count(probed.users)),
            ("samples", &count(probed.samples)),
            ("failed", &count(probed.failed)),
            ("response", &units::duration(probed.response_seconds)),
            ("pause", &units::duration(probed.pause_seconds)),
        ],
    );
    let Some(knee) = probed.knee_users else {
        return format!("  {out}\n");
    };
    let knee = format!("{knee:.1}");
    let said = match probed.demand_seconds {
        Some(demand) => i18n.message(
            "jmx-probe-knee",
            &[("users", &knee), ("demand", &units::duration(demand))],
        ),
        None => i18n.message("jmx-probe-least", &[("users", &knee)]),
    };
    out = format!("  {out}\n  {said}\n");
    out
}

fn seconds(ms: u64) -> String {
    units::duration(ms as f64 / 1e3)
}

/// Key of a treatment in messages and in JSON.
pub fn treatment_word(treatment: Option<Treatment>) -> &'static str {
    match treatment {
        Some(Treatment::Runs) => "runs",
        Some(Treatment::NoEffect) => "no-effect",
        Some(Treatment::LeftOut) => "left-out",
        Some(Treatment::NeedsScripts) => "scripts",
        Some(Treatment::NotSupported) => "not-supported",
        None => "unknown",
    }
}

/// A name of the plan's as it may stand on a terminal.
fn shown(text: &str) -> String {
    /// Characters.
    const MOST: usize = 200;
    harmless(&cut(text, MOST)).into_owned()
}

/// Columns below each other; the first row is the heading when there is colour for one.
fn table(out: &mut String, ink: &Ink, rows: &[Vec<String>]) {
    let rows: Vec<Vec<String>> = rows
        .iter()
        .map(|row| row.iter().map(|cell| shown(cell)).collect())
        .collect();
    let columns = rows.iter().map(Vec::len).max().unwrap_or(0);
    let width = |column: usize| {
        let cells = rows.iter().filter_map(|row| row.get(column));
        cells.map(|cell| text_columns(cell)).max().unwrap_or(0)
    };
    let widths: Vec<_> = (0..columns).map(width).collect();
    for (index, row) in rows.iter().enumerate() {
        let mut line = String::from("  ");
        for (cell, width) in row.iter().zip(&widths) {
            let blanks = width - text_columns(cell) + 2;
            line.extend([cell, &*" ".repeat(blanks)]);
        }
        let (dim, plain) = if index == 0 {
            (ink.dim, ink.plain)
        } else {
            ("", "")
        };
        let _ = writeln!(out, "{dim}{}{plain}", line.trim_end());
    }
}

/// Escape sequences, or nothing.
struct Ink {
    bright: &'static str,
    dim: &'static str,
    caution: &'static str,
    bad: &'static str,
    plain: &'static str,
}

impl Ink {
    fn new() -> Self {
        if !escapes(&std::io::stdout()) {
            return Self::none();
        }
        Self {
            bright: "\x1b[1m",
            dim: "\x1b[2m",
            caution: "\x1b[33m",
            bad: "\x1b[31m",
            plain: "\x1b[0m",
        }
    }

    fn none() -> Self {
        Self {
            bright: "",
            dim: "",
            caution: "",
            bad: "",
            plain: "",
        }
    }
}

#[cfg(test)]
mod tests {
    use sokudo_jmeter::settings::Settings;
    use sokudo_load_http::jmx::{PlanFiles, Reach};

    use super::*;

    const PROBED: Probed = Probed {
        users: 2,
        samples: 10,
        failed: 1,
        response_seconds: 0.1,
        pause_seconds: 1.0,
        demand_seconds: Some(0.01),
        knee_users: Some(110.0),
    };

    #[test]
    fn the_object_is_as_it_is_described() {
        let plans = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../jmeter/testdata");
        let shown = |plan: &str, resolved: bool, probed: Option<&Probed>| {
            let plan = plans.join(plan);
            let bytes = std::fs::read(&plan).expect("a plan");
            let settings = Settings::default();
            let files = PlanFiles::within(&plan, Reach::below(&plan, &[]));
            let reading = sokudo_jmeter::read("plan.jmx", &bytes, &settings, &files);
            let shown = Shown::new(&reading, 1, &settings.properties, Lang::En);
            shown.with_files(&[], &files).json(resolved, probed)
        };
        let all = [
            shown("plans/elements.jmx", true, None),
            shown("plans/stress.jmx", false, Some(&PROBED)),
            shown("refused/broken.jmx", false, None),
            shown("refused/unknown.jmx", false, None),
        ];
        let differences = sokudo_testkit::document::differences(&READING, &all);
        assert!(differences.is_empty(), "{differences:#?}");
    }
}
