//! Whole plans: reading, coverage and problems.
//!
//! `testdata/plans` contains valid plans, `testdata/refused` invalid ones; the expected outcome is
//! beside each, as `.json`. Run with `SOKUDO_BLESS=1` to write these files anew, and review the
//! difference.

use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use proptest::prelude::*;
use serde_json::json;
use sokudo_jmeter::check::outlook;
use sokudo_jmeter::files::{Files, MemoryFiles};
use sokudo_jmeter::plan::SamplerKind;
use sokudo_jmeter::problem::Severity;
use sokudo_jmeter::properties::Origin;
use sokudo_jmeter::registry::{COMPARED, REGISTRY, Treatment};
use sokudo_jmeter::settings::{Settings, Unsupported};
use sokudo_jmeter::{Reading, read};

/// The files beside a plan.
struct Beside(PathBuf);

impl Files for Beside {
    fn read(&self, path: &str, _most_bytes: u64) -> io::Result<Vec<u8>> {
        fs::read(self.0.join(path))
    }

    fn exists(&self, path: &str) -> bool {
        self.0.join(path).is_file()
    }
}

fn folder(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("testdata")
        .join(name)
}

fn settings() -> Settings {
    let mut settings = Settings::default();
    settings
        .properties
        .set("THREAD_NUMBER", "40", Origin::CommandLine);
    settings
}

fn read_file(folder_name: &str, name: &str, settings: &Settings) -> Reading {
    let folder = folder(folder_name);
    let bytes = fs::read(folder.join(name)).unwrap();
    read(name, &bytes, settings, &Beside(folder))
}

/// The complete outcome of a reading.
fn shown(reading: &Reading) -> serde_json::Value {
    let problem = |severity| {
        let of_kind = reading
            .problems
            .iter()
            .filter(move |p| p.severity == severity);
        of_kind.map(ToString::to_string).collect::<Vec<_>>()
    };
    json!({
        "errors": problem(Severity::Error),
        "warnings": problem(Severity::Warning),
        "elements": reading.coverage.iter().map(|c| format!("{} × {}", c.element, c.count)).collect::<Vec<_>>(),
        "functions": reading.functions,
        "properties": reading.properties,
        "disabled": reading.disabled,
        "outlook": reading.plan.as_ref().map(|plan| outlook(plan, 2, 1.0)),
        "plan": reading.plan,
    })
}

/// Compares the outcome of every plan of a folder with the file beside it.
fn golden(folder_name: &str, settings: &Settings) -> Vec<Reading> {
    let mut names: Vec<_> = fs::read_dir(folder(folder_name))
        .unwrap()
        .filter_map(|entry| entry.ok()?.file_name().into_string().ok())
        .filter(|name| name.ends_with(".jmx"))
        .collect();
    names.sort();
    let mut all = Vec::new();
    for name in names {
        let reading = read_file(folder_name, &name, settings);
        let now = format!("{:#}\n", shown(&reading));
        let path = folder(folder_name).join(name.replace(".jmx", ".json"));
        if std::env::var_os("SOKUDO_BLESS").is_some() {
            fs::write(&path, &now).unwrap();
        }
        let before = fs::read_to_string(&path).unwrap_or_default();
        for (index, (now, before)) in now.lines().zip(before.lines()).enumerate() {
            assert_eq!(now, before, "{}:{}", path.display(), index + 1);
        }
        assert_eq!(now.len(), before.len(), "{}", path.display());
        all.push(reading);
    }
    all
}

#[test]
fn plans_are_read_to_what_stands_beside_them() {
    // Elements that cannot be executed are reported, and the rest is read.
    let settings = Settings {
        unsupported: Unsupported::Warn,
        ..settings()
    };
    for reading in golden("plans", &settings) {
        let errors: Vec<_> = reading
            .problems
            .iter()
            .filter(|p| p.severity == Severity::Error)
            .collect();
        assert_eq!(errors, Vec::<&_>::new());
    }
}

#[test]
fn plans_are_refused_for_all_that_is_wrong_with_them() {
    for reading in golden("refused", &settings()) {
        assert!(reading.errors > 0, "{:?}", reading.problems);
    }
}

#[test]
fn the_test_plans_hold_every_element_that_runs() {
    let plan = read_file("plans", "elements.jmx", &settings());
    let held: BTreeSet<_> = plan.coverage.iter().map(|c| c.element.as_str()).collect();
    let missing: Vec<_> = REGISTRY
        .iter()
        .flat_map(|family| family.iter())
        .filter(|spec| spec.treatment() == Treatment::Runs && !held.contains(spec.name()))
        .map(|spec| spec.name())
        .collect();
    assert_eq!(missing, [""; 0]);
}

#[test]
fn what_is_said_to_be_compared_runs_and_stands_in_a_plan_that_is() {
    let plans = Path::new(env!("CARGO_MANIFEST_DIR")).join("../sokudo/tests/plans");
    let mut held = BTreeSet::new();
    for entry in fs::read_dir(&plans).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_some_and(|extension| extension == "jmx") {
            let bytes = fs::read(&path).unwrap();
            let reading = read("p.jmx", &bytes, &settings(), &Beside(plans.clone()));
            held.extend(reading.coverage.into_iter().map(|c| c.element));
        }
    }
    let specs = || REGISTRY.iter().flat_map(|family| family.iter());
    let runs: BTreeSet<_> = specs()
        .filter(|spec| spec.treatment() == Treatment::Runs)
        .map(|spec| spec.name())
        .collect();
    let mut seen = BTreeSet::new();
    for known in COMPARED {
        let element = known.element;
        assert!(runs.contains(element), "{element} is not executed");
        assert!(held.contains(element), "no plan has {element}");
        assert!(seen.insert(element), "{element} stands twice");
    }
}

#[test]
fn a_plan_is_utf_8_whatever_it_declares() {
    let text = fs::read_to_string(folder("plans").join("stress.jmx")).unwrap();
    let read = |bytes: &[u8]| read("p.jmx", bytes, &settings(), &MemoryFiles::default());
    let replaced = |reading: &Reading| {
        let mut keys = reading.problems.iter().map(|problem| problem.key());
        keys.any(|key| key == "jmx-bytes-replaced")
    };
    let declared = text.replace("encoding=\"UTF-8\"", "encoding=\"Shift_JIS\"");
    let other = read(declared.as_bytes());
    assert!(!replaced(&other));
    assert_eq!(other.plan.unwrap().groups[0].name, "DBヘビーユーザ");
    // JMeter sends replacement characters, too; it just does not tell.
    let (bytes, ..) = encoding_rs::SHIFT_JIS.encode(&declared);
    let other = read(&bytes);
    assert_eq!(other.errors, 0, "{:?}", other.problems);
    assert!(replaced(&other));
    assert!(other.plan.unwrap().groups[0].name.starts_with("DB\u{fffd}"));
}

#[test]
fn what_cannot_be_executed_is_left_out_when_the_operator_says_so() {
    let mut settings = settings();
    settings.unsupported = Unsupported::Warn;
    let reading = read_file("refused", "unknown.jmx", &settings);
    assert_eq!(reading.errors, 0, "{:?}", reading.problems);
    let warned = reading
        .problems
        .iter()
        .filter(|p| p.key() == "jmx-unknown-element");
    assert_eq!(warned.count(), 3);
    let plan = reading.plan.unwrap();
    assert!(
        plan.groups[0].body.is_empty(),
        "what stands below goes, too"
    );
    settings.unsupported = Unsupported::Skip;
    let reading = read_file("refused", "unknown.jmx", &settings);
    assert!(
        reading
            .problems
            .iter()
            .all(|p| p.key() != "jmx-unknown-element")
    );
    assert!(
        reading
            .coverage
            .iter()
            .any(|c| c.element == "MagicSampler" && c.family.is_none())
    );
}

#[test]
fn what_changes_nothing_here_is_told_where_it_stands() {
    let plan = "<jmeterTestPlan><hashTree><TestPlan>\n<boolProp name='TestPlan.functional_mode'>true</boolProp></TestPlan><hashTree>\
         <ThreadGroup/><hashTree><XPathAssertion>\n\n<boolProp name='XPath.validate'>true</boolProp><boolProp name='XPath.whitespace'>true</boolProp>\
         <boolProp name='XPath.report_errors'>false</boolProp></XPathAssertion><hashTree/></hashTree></hashTree></hashTree></jmeterTestPlan>";
    let mut settings = settings();
    let origin = Origin::CommandLine;
    settings
        .properties
        .set("httpclient4.retrycount", "3", origin);
    let files = MemoryFiles::default();
    let reading = read("p.jmx", plan.as_bytes(), &settings, &files);
    let told = |key: &str| -> Vec<Option<u32>> {
        let of_key = reading.problems.iter().filter(|p| p.key() == key);
        of_key
            .map(|p| p.place.as_ref().map(|place| place.line))
            .collect()
    };
    assert_eq!(told("jmx-unread-property"), [Some(2), Some(4)]);
    assert_eq!(told("jmx-unheeded-property"), [None]);
}

#[test]
fn passwords_are_not_shown() {
    let shown = shown(&read_file("plans", "elements.jmx", &settings())).to_string();
    assert!(!shown.contains("secret"));
}

#[test]
fn properties_that_may_change_stay_expressions() {
    let path = |plan: &str| {
        let reading = read(
            "p.jmx",
            plan.as_bytes(),
            &settings(),
            &MemoryFiles::default(),
        );
        match &reading.plan.unwrap().samplers[0].kind {
            SamplerKind::Http(request) => request.path.to_string(),
            other => panic!("{other:?}"),
        }
    };
    let plan = |name: &str| {
        format!(
            "<jmeterTestPlan><hashTree><TestPlan/><hashTree><ThreadGroup/><hashTree>\
             <HTTPSamplerProxy testname='{name}'><stringProp name='HTTPSampler.path'>/${{__P(THREAD_NUMBER)}}</stringProp>\
             <stringProp name='HTTPSampler.domain'>{name}</stringProp></HTTPSamplerProxy>\
             <hashTree/></hashTree></hashTree></hashTree></jmeterTestPlan>"
        )
    };
    assert_eq!(path(&plan("a")), "/40");
    assert_eq!(
        path(&plan("${__setProperty(a,b)}")),
        "/${__P(THREAD_NUMBER)}"
    );
}

/// Pieces of random plans.
const PIECES: &[&str] = &[
    "<jmeterTestPlan>",
    "</jmeterTestPlan>",
    "<hashTree>",
    "</hashTree>",
    "<hashTree/>",
    "<TestPlan testname='p'>",
    "</TestPlan>",
    "<ThreadGroup>",
    "</ThreadGroup>",
    "<stringProp name='ThreadGroup.num_threads'>9999999</stringProp>",
    "<stringProp name='ThreadGroup.ramp_time'>${__P(x)}</stringProp>",
    "<HTTPSamplerProxy/>",
    "<UltimateThreadGroup>",
    "</UltimateThreadGroup>",
    "<collectionProp name='ultimatethreadgroupdata'><collectionProp name='1'><stringProp name='1'>9999999</stringProp></collectionProp></collectionProp>",
    "<CSVDataSet/>",
    "<IncludeController/>",
    "<ModuleController/>",
    "<LoopController/>",
    "<Odd/>",
    "<elementProp name='ThreadGroup.main_controller'>",
    "</elementProp>",
];

proptest! {
    #[test]
    fn no_plan_panics(pieces in prop::collection::vec(prop::sample::select(PIECES), 0..40)) {
        let reading = read("p.jmx", pieces.concat().as_bytes(), &settings(), &MemoryFiles::default());
        if let Some(plan) = &reading.plan {
            outlook(plan, 3, 1.0);
        }
        prop_assert!(reading.plan.is_some() || reading.errors > 0);
    }
}
