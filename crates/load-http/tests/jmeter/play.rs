//! The same plan, executed by both.

use std::fs;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use sokudo_load_http::jmx::{
    Generator, JmxOptions, LoadObserver, Prepared, Tallies, UsersSeen, read_plan,
};
use sokudo_net::clock::now_ns;
use sokudo_testkit::jmeter::JMeter;

/// Columns beside the usual ones.
const MORE: &[(&str, &str)] = &[
    ("jmeter.save.saveservice.encoding", "true"),
    ("jmeter.save.saveservice.sample_count", "true"),
];

/// Longest that either may take.
const BOUND: Duration = Duration::from_secs(60);
/// Time between two looks at whether it is over.
const LOOK: Duration = Duration::from_millis(5);

struct Silent;

impl LoadObserver for Silent {
    fn interval(&self, _at_ns: i64, _seen: &Tallies, _users: UsersSeen) {}
}

/// sokudo executes a plan; gives its file of results.
pub fn sokudo(directory: &Path, plan: &str, properties: &[(&str, String)]) -> String {
    let options = JmxOptions {
        plan: directory.join("plan.jmx"),
        results: Some(directory.join("sokudo.jtl")),
        properties: pairs(properties),
        threads: 1,
        insecure: true,
        ..JmxOptions::default()
    };
    fs::write(&options.plan, plan).expect("write a plan");
    let reading = read_plan(&options, 1).expect("a plan that can be read");
    let problems = format!("{:?}", reading.problems);
    let prepared =
        Prepared::new(reading, &options, 1).unwrap_or_else(|why| panic!("{why:?}: {problems}"));
    let started = Generator::start(&prepared, &options, (now_ns(), 1), Arc::new(Silent), || {});
    let generator = started.unwrap_or_else(|why| panic!("{why:?}"));
    let deadline = Instant::now() + BOUND;
    while !generator.is_over() {
        assert!(Instant::now() < deadline, "the test does not end");
        std::thread::sleep(LOOK);
    }
    let finished = generator.finish().expect("the test ends");
    assert!(finished.problems.is_empty(), "{:?}", finished.problems);
    fs::read_to_string(directory.join("sokudo.jtl")).expect("results were written")
}

/// JMeter executes a plan; gives its file of results, or why there is no JMeter.
pub fn jmeter(
    directory: &Path,
    plan: &str,
    properties: &[(&str, String)],
) -> Result<String, String> {
    let peer = JMeter::find()?;
    fs::write(directory.join("plan.jmx"), plan).expect("write a plan");
    let mut words: Vec<String> = ["-n", "-t", "plan.jmx", "-l", "jmeter.jtl"]
        .map(str::to_owned)
        .into();
    words.extend(
        pairs(properties)
            .iter()
            .map(|(name, value)| format!("-J{name}={value}")),
    );
    let ended = peer.call(directory, words).bound(BOUND).run();
    let results = fs::read_to_string(directory.join("jmeter.jtl"));
    Ok(results.unwrap_or_else(|error| panic!("{error}: {ended}")))
}

fn pairs(properties: &[(&str, String)]) -> Vec<(String, String)> {
    let more = MORE
        .iter()
        .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
    let own = properties
        .iter()
        .map(|(name, value)| ((*name).to_owned(), value.clone()));
    more.chain(own).collect()
}
