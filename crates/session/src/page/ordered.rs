//! Loads that the page orders, with their fields read as a command line would read them.
//!
//! Whatever cannot be read is refused with the field that it stands in, before anything is loaded.

use std::fs;
use std::path::Path;

use clap::error::{ContextKind, ContextValue};
use clap::{Args, Command, FromArgMatches};
use sokudo_load_http::http::{self, HttpOptions};
use sokudo_load_http::jmx::{self, JmxOptions, Prepared, read_plan};
use sokudo_model::{Bounds, Change, Labels, MonitorSpec, PhasePlan, Refusal, Text};
use sokudo_monitors::Files;
use sokudo_web::desk::{Mistake, NotTaken, PlanFile, PlanLoad, WebLoad};
use sokudo_web::feed::Words;
use sokudo_workload::refusal::{failed, operator};
use sokudo_workload::values::whole_seconds;
use tempfile::TempDir;

use crate::typed::not_understood;
use crate::{How, LoadedServer, Measurement};

/// Fields of the page by the options that they stand for.
const FIELDS: [(&str, &str); 5] = [
    ("--connections", "users"),
    ("--ramp", "ramp"),
    ("--duration", "duration"),
    ("--rate", "rate"),
    ("<URL>", "url"),
];
/// Longest name of a file.
const NAME_MAX: usize = 200;
/// Files of one plan.
const FILES_MAX: usize = 50;

/// Load on one URL.
pub struct OnServer {
    /// The measurement.
    pub planned: Measurement<HttpOptions>,
    /// Time between two samples, nanoseconds.
    pub interval_ns: u64,
    /// The loaded server.
    pub server: LoadedServer,
    /// Monitors beside the usual ones.
    pub monitors: Vec<MonitorSpec>,
    /// The same load as a command line, behind `sokudo`.
    pub words: Vec<String>,
}

/// A plan in a folder of its own, read and without errors.
pub struct ByPlan {
    /// Holds the plan and its data files.
    _folder: TempDir,
    /// The phase that executes it.
    pub phase: PhasePlan,
    /// Monitors beside the usual ones.
    pub monitors: Vec<MonitorSpec>,
    /// Name of the plan's file.
    pub name: String,
    /// Options of the same load on a command line, behind the plan's file.
    pub words: Vec<String>,
}

/// Reads an order of load on one URL.
pub fn on_server(asked: &WebLoad) -> Result<OnServer, NotTaken> {
    let given = [
        ("connections", &asked.users),
        ("ramp", &asked.ramp),
        ("duration", &asked.duration),
        ("rate", &asked.rate),
    ];
    let given = given.into_iter().filter(|(_, text)| !text.is_empty());
    let options: Vec<String> = given
        .map(|(name, text)| format!("--{name}={text}"))
        .collect();
    // What follows is not an option.
    let typed = options
        .iter()
        .cloned()
        .chain(["--".into(), asked.url.clone()]);
    let no_word =
        |error: clap::Error| NotTaken::at(field_of(&error), not_understood(&error, http::NAME));
    let bare = Command::new(http::NAME).no_binary_name(true);
    let read = HttpOptions::augment_args(bare).try_get_matches_from(typed);
    let read = read.map_err(no_word)?;
    let http = HttpOptions::from_arg_matches(&read).map_err(no_word)?;
    let slo = bounds(&asked.slo)?;
    let (monitors, watched) = monitors(&asked.monitors)?;
    let how = How::default();
    let options_fit = Measurement::new(&http, &how);
    options_fit.map_err(|why| NotTaken::at(field_of_text(&why.says), why))?;
    let how = How { slo, ..how };
    let planned = Measurement::new(&http, &how).map_err(|why| NotTaken::at("slo", why))?;
    let words = [http::NAME.to_owned(), asked.url.clone()].into_iter();
    let words = words
        .chain(options)
        .chain(asked_slo(&asked.slo))
        .chain(watched);
    Ok(OnServer {
        planned,
        interval_ns: http.interval.0,
        server: LoadedServer::of(&http),
        monitors,
        words: words.collect(),
    })
}

/// The field of the argument that could not be read.
fn field_of(error: &clap::Error) -> &'static str {
    let argument = match error.get(ContextKind::InvalidArg) {
        Some(ContextValue::String(argument)) => argument.as_str(),
        Some(ContextValue::Strings(all)) => all.first().map_or("", String::as_str),
        _ => "",
    };
    let mut fields = FIELDS.iter();
    let found = fields.find(|(option, _)| argument.starts_with(option));
    found.map_or("", |(_, field)| *field)
}

/// The field that a refused set of options is about.
fn field_of_text(says: &Text) -> &'static str {
    match says.key.as_str() {
        "error-http-ramp" => "ramp",
        key if key.contains("duration") => "duration",
        _ => "",
    }
}

fn bounds(text: &str) -> Result<Option<Bounds>, NotTaken> {
    if text.is_empty() {
        return Ok(None);
    }
    text.parse()
        .map(Some)
        .map_err(|why: sokudo_model::NoBound| {
            NotTaken::at(
                "slo",
                operator(why.text(), Text::new("error-page-slo-hint")),
            )
        })
}

fn asked_slo(text: &str) -> Option<String> {
    (!text.is_empty()).then(|| format!("--slo={text}"))
}

/// Monitors, which may not read files of this host, and the options for them.
fn monitors(texts: &[String]) -> Result<(Vec<MonitorSpec>, Vec<String>), NotTaken> {
    let read = |text: &String| sokudo_monitors::parse(text, Files::Refused);
    let specs: Result<_, _> = texts.iter().map(read).collect();
    let specs = specs.map_err(|bad| NotTaken::at("monitors", operator(bad.text(), bad.hint())))?;
    let words = texts.iter().map(|text| format!("--monitor={text}"));
    Ok((specs, words.collect()))
}

/// Reads an order to execute a plan; `both` puts a message into both languages.
pub fn by_plan(
    asked: &PlanLoad,
    seed: u64,
    both: &dyn Fn(&Text) -> Words,
) -> Result<ByPlan, NotTaken> {
    let users = users(&asked.users)?;
    let [ramp_s, duration_s] = [("ramp", &asked.ramp), ("duration", &asked.duration)]
        .map(|(field, text)| seconds(field, text));
    let (ramp_s, duration_s) = (ramp_s?, duration_s?);
    let slo = bounds(&asked.slo)?;
    let (monitors, watched) = monitors(&asked.monitors)?;
    let properties = asked.properties.iter().map(|text| property(text));
    let properties: Vec<(String, String)> = properties.collect::<Result<_, _>>()?;
    let (folder, name) = written(&asked.files)?;
    let options = JmxOptions {
        plan: folder.path().join(&name),
        properties,
        users,
        ramp_s,
        duration_s,
        confined: true,
        ..JmxOptions::default()
    };
    let of_plan = |why: Refusal| NotTaken::at("plan", why);
    let reading = read_plan(&options, seed).map_err(of_plan)?;
    if reading.errors > 0 {
        let first = reading.problems.iter().take(reading.errors);
        let says = Text::new("error-page-plan-errors");
        let mistakes = first.map(|problem| Mistake {
            line: problem.place.as_ref().map_or(0, |place| place.line),
            column: 0,
            says: both(&problem.says),
            hint: problem.hint.as_ref().map_or_else(Words::default, both),
        });
        return Err(NotTaken {
            mistakes: mistakes.collect(),
            ..of_plan(operator(says, Text::new("error-page-plan-hint")))
        });
    }
    let prepared = Prepared::new(reading, &options, seed).map_err(of_plan)?;
    let label = slo.map(|slo| ("bounds".to_owned(), slo.to_string()));
    let phase = jmx::phase_plan(&prepared.plan, &options, 1);
    let given = [
        ("users", &asked.users),
        ("ramp", &asked.ramp),
        ("duration", &asked.duration),
        ("slo", &asked.slo),
    ];
    let given = given.into_iter().filter(|(_, text)| !text.is_empty());
    let words = given.map(|(option, text)| format!("--{option}={text}"));
    let set = asked.properties.iter().map(|text| format!("-J{text}"));
    Ok(ByPlan {
        phase: PhasePlan {
            labels: Labels::from_iter(label),
            ..phase
        },
        monitors,
        name,
        words: words.chain(set).chain(watched).collect(),
        _folder: folder,
    })
}

fn users(text: &str) -> Result<Option<u64>, NotTaken> {
    if text.is_empty() {
        return Ok(None);
    }
    let users = text.parse().ok();
    let users = users.filter(|users| (1..=Change::MOST_USERS).contains(users));
    users.map(Some).ok_or_else(|| {
        let says = Text::new("error-page-users").word("text", text);
        let hint = Text::new("error-page-users-hint").with("most", Change::MOST_USERS);
        NotTaken::at("users", operator(says, hint))
    })
}

fn seconds(field: &'static str, text: &str) -> Result<Option<u64>, NotTaken> {
    if text.is_empty() {
        return Ok(None);
    }
    let read = whole_seconds(text).map(Some);
    read.map_err(|why| {
        NotTaken::at(
            field,
            operator(why.text(), Text::new("error-page-time-hint")),
        )
    })
}

fn property(text: &str) -> Result<(String, String), NotTaken> {
    let both = text
        .split_once('=')
        .filter(|(name, _)| !name.trim().is_empty());
    let (name, value) = both.ok_or_else(|| {
        let says = Text::new("error-page-property").word("text", text);
        let hint = Text::new("error-page-property-hint");
        NotTaken::at("properties", operator(says, hint))
    })?;
    Ok((name.trim().into(), value.into()))
}

/// Writes the plan and its data files into a folder that nothing else is in; gives the plan's name.
fn written(files: &[PlanFile]) -> Result<(TempDir, String), NotTaken> {
    let refused = |key: &str, name: &str| {
        let says = Text::new(key).word("name", name).with("most", FILES_MAX);
        let hint = Text::new("error-page-plan-files-hint");
        NotTaken::at("plan", operator(says, hint))
    };
    let is_plan = |file: &&PlanFile| file.name.ends_with(".jmx");
    let plan = files.iter().find(is_plan).or(files.first());
    let plan = plan.filter(|plan| !plan.text.trim().is_empty());
    let plan = plan.ok_or_else(|| refused("error-page-no-plan", ""))?;
    if files.len() > FILES_MAX {
        return Err(refused("error-page-plan-files", ""));
    }
    let cannot = |error: std::io::Error| {
        let says = Text::new("error-page-plan-folder").with("error", error);
        NotTaken::at("plan", failed(says, None))
    };
    let folder = TempDir::with_prefix("sokudo-plan-").map_err(cannot)?;
    for file in files {
        if !is_name(&file.name) || folder.path().join(&file.name).exists() {
            return Err(refused("error-page-file-name", &file.name));
        }
        fs::write(folder.path().join(&file.name), &file.text).map_err(cannot)?;
    }
    Ok((folder, plan.name.clone()))
}

/// A name of a file and no way to another folder.
fn is_name(name: &str) -> bool {
    let is_plain = |c: char| !c.is_control() && !"/\\:".contains(c);
    let is_alone = Path::new(name).file_name().is_some_and(|own| own == name);
    is_alone && name.len() <= NAME_MAX && name.chars().all(is_plain)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused<T>(read: Result<T, NotTaken>) -> (&'static str, String) {
        let Err(not) = read else {
            panic!("it was taken on");
        };
        (not.field, not.why.says.key)
    }

    #[test]
    fn a_load_is_refused_with_the_field_that_is_wrong() {
        let fine = WebLoad {
            url: "http://127.0.0.1:8080/".into(),
            users: "5".into(),
            ramp: "1s".into(),
            duration: "3s".into(),
            rate: "50".into(),
            slo: "p95<2s,err<0.1%".into(),
            monitors: vec!["process:port=80".into()],
        };
        let read = on_server(&fine).unwrap_or_else(|not| panic!("{not:?}"));
        assert_eq!(
            read.words.join(" "),
            "http http://127.0.0.1:8080/ --connections=5 --ramp=1s --duration=3s --rate=50 \
             --slo=p95<2s,err<0.1% --monitor=process:port=80"
        );
        type Wrong = (&'static str, fn(&mut WebLoad));
        let wrong: [Wrong; 8] = [
            ("url", |it| it.url = String::new()),
            ("url", |it| it.url = "ftp://x/".into()),
            ("users", |it| it.users = "many".into()),
            ("ramp", |it| it.ramp = "1min".into()),
            ("duration", |it| it.duration = "3 parsecs".into()),
            ("rate", |it| it.rate = "fast".into()),
            ("slo", |it| it.slo = "good".into()),
            ("monitors", |it| it.monitors = vec!["tea".into()]),
        ];
        for (field, spoil) in wrong {
            let mut asked = fine.clone();
            spoil(&mut asked);
            assert_eq!(refused(on_server(&asked)).0, field, "{asked:?}");
        }
    }

    #[test]
    fn files_of_a_plan_stay_in_its_folder() {
        let file = |name: &str| PlanFile {
            name: name.into(),
            text: "x".into(),
        };
        let (folder, name) = written(&[file("users.csv"), file("shop.jmx")]).expect("written");
        assert_eq!(name, "shop.jmx");
        assert_eq!(fs::read_dir(folder.path()).expect("a folder").count(), 2);
        for wrong in [
            "../shop.jmx",
            "/etc/shop.jmx",
            "a/b.jmx",
            "..",
            ".",
            "",
            "a\\b",
            "a\nb",
        ] {
            let read = written(&[file("shop.jmx"), file(wrong)]);
            assert_eq!(refused(read).1, "error-page-file-name", "{wrong:?}");
        }
        let twice = written(&[file("shop.jmx"), file("shop.jmx")]);
        assert_eq!(refused(twice).1, "error-page-file-name");
        assert_eq!(refused(written(&[])).1, "error-page-no-plan");
    }

    #[test]
    fn a_plan_is_refused_with_the_field_and_the_place() {
        let both = |text: &Text| Words::same(text.key.clone());
        let ask = |change: fn(&mut PlanLoad)| {
            let mut asked = PlanLoad {
                files: vec![PlanFile {
                    name: "plan.jmx".into(),
                    text: "<jmeterTestPlan>\n<hashTree>\n<nonsense>".into(),
                }],
                ..PlanLoad::default()
            };
            change(&mut asked);
            by_plan(&asked, 1, &both)
        };
        assert_eq!(refused(ask(|it| it.users = "0".into())).0, "users");
        assert_eq!(refused(ask(|it| it.ramp = "soon".into())).0, "ramp");
        assert_eq!(refused(ask(|it| it.duration = "1ms".into())).0, "duration");
        let unnamed = ask(|it| it.properties = vec!["=5".into()]);
        assert_eq!(refused(unnamed).0, "properties");
        let Err(not) = ask(|_| ()) else {
            panic!("it was taken on");
        };
        assert_eq!(not.field, "plan");
        assert!(!not.mistakes.is_empty(), "{not:?}");
        assert!(not.mistakes[0].line > 0, "{not:?}");
    }
}
