//! Tests of controllers and other elements that steer a user, against JMeter.
//!
//! Each case is a group; what is compared are the labels of its rows in order, user by user, and what
//! failed assertions said. How long anything took is not.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;

use sokudo_testkit::skip;

use crate::plan::{self, element};
use crate::recorder::Recorder;
use crate::steering::{Case, DATA, INCLUDED, Told, all, get};
use crate::{golden, play};

const GOLDEN: &str = "flow.txt";

fn fragment(name: &str, below: &str) -> String {
    element("TestFragmentController", name, "", below)
}

/// The included plan: nothing but a fragment.
fn included() -> String {
    let below = fragment("included", &(get("inc1") + &get("inc2")));
    format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<jmeterTestPlan version=\"1.2\" properties=\"5.0\" jmeter=\"5.6.3\"><hashTree>\n{below}</hashTree></jmeterTestPlan>\n"
    )
}

/// Executes the plan and tells the rows, case by case.
fn record(execute: impl FnOnce(&Path, &str, &[(&str, String)]) -> String) -> String {
    let recorder = Recorder::start(Vec::new());
    let cases = all();
    let groups: String = cases.iter().map(|case| case.xml.as_str()).collect();
    let shared = plan::controller("shared", &(get("m1") + &get("m2")));
    let whole = plan::plan(&(groups + &fragment("fragment", &shared)));
    let directory = tempfile::tempdir().expect("make a temporary directory");
    let file = |name: &str, text: &str| {
        std::fs::write(directory.path().join(name), text).expect("write a file");
    };
    file(INCLUDED, &included());
    DATA.iter().for_each(|(name, text)| file(name, text));
    let properties = [
        ("port", recorder.port.to_string()),
        // Threads of JMeter that wait for work do not keep it from ending.
        ("jmeterengine.force.system.exit", "true".to_owned()),
    ];
    let rows = execute(directory.path(), &whole, &properties);
    let mut told = String::new();
    for case in &cases {
        // Writing into a String cannot fail.
        let _ = write!(told, "\n=== {}\n{}", case.name, tell(case, &rows));
    }
    told
}

/// The rows of one case.
fn tell(case: &Case, rows: &str) -> String {
    let mut users: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for row in golden::rows_of(rows).iter().skip(1) {
        let fields = golden::fields_of(row);
        let (label, thread) = (&fields[2], &fields[5]);
        let Some((group, user)) = thread.rsplit_once(' ') else {
            continue;
        };
        if group == case.name {
            let said = match fields[7].as_str() {
                "true" => label.clone(),
                _ => format!("{label}: {}", fields[8]),
            };
            users.entry(user.to_owned()).or_default().push(said);
        }
    }
    if !matches!(case.told, Told::InOrder) {
        let mut all: Vec<String> = users.into_values().flatten().collect();
        all.sort();
        if matches!(case.told, Told::Labels) {
            all.dedup();
        }
        users = BTreeMap::from([("all".to_owned(), all)]);
    }
    let users = users.iter().map(|(user, rows)| {
        // Among all that are told in order the number of the group says how many ran before it.
        let user = user.rsplit('-').next().unwrap_or_default();
        format!("user {user}\n  {}\n", rows.join("\n  "))
    });
    users.collect()
}

#[test]
fn users_go_where_those_of_jmeter_go() {
    let golden = std::fs::read_to_string(golden::path(GOLDEN)).unwrap_or_default();
    golden::assert_same(&record(play::sokudo), &golden);
}

#[test]
fn users_go_where_those_of_jmeter_go_today() {
    if let Err(why) = sokudo_testkit::jmeter::JMeter::find() {
        return skip(why);
    }
    let today = record(|directory, plan, properties| {
        play::jmeter(directory, plan, properties).unwrap_or_else(|why| panic!("{why}"))
    });
    golden::compare_or_bless(GOLDEN, &today);
}
