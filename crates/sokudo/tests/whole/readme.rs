//! Every command line of README.md is executed, shortened, or says which test executes it.

use std::path::Path;

use sokudo_testkit::program::Sokudo;

use crate::vocabulary::{Place, place, serve};

/// Way in which a command of the README is tried.
enum Way {
    /// As these words; HOST is a server on loopback, PORT the demo server's.
    Run(&'static str),
    /// By another test of this program, in a file that holds these words.
    Elsewhere(&'static str, &'static str),
    /// Not at all, for this reason.
    Never(&'static str),
}
use Way::{Elsewhere, Never, Run};

/// Beginning of a command, the longest first where several fit, and how it is tried.
const WAYS: &[(&str, Way)] = &[
    (
        "./dev check",
        Never("builds everything; the check itself is run below"),
    ),
    ("./dev test", Never("is what runs this test")),
    ("sokudo check --group", Elsewhere("group.rs", "--group")),
    ("sokudo check", Run("check rr --quick")),
    ("sokudo demo", Run("demo --help")),
    (
        "sokudo http http://127.0.0.1:9080/stress/demo --rate",
        Run("http http://127.0.0.1:PORT/stress/demo --rate 100 --slo p95<5s,errors<0.1% -d 1s"),
    ),
    (
        "sokudo http http://127.0.0.1:9080/stress/demo",
        Run("http http://127.0.0.1:PORT/stress/demo -d 1s"),
    ),
    (
        "sokudo http URL --rate",
        Run("http http://127.0.0.1:PORT/ --rate 50/s --slo p95<5s,errors<0.1% -d 1s"),
    ),
    (
        "sokudo jmx run demo.jmx",
        Run("jmx run demo.jmx -J port=PORT -J users=2 -J seconds=1"),
    ),
    (
        "sokudo jmx run PLAN.jmx",
        Run("jmx run demo.jmx -J port=PORT -J users=1 -J seconds=1"),
    ),
    ("sokudo jmx check PLAN.jmx", Run("jmx check demo.jmx")),
    (
        "sokudo serve --new-key",
        Elsewhere("security.rs", "--new-key"),
    ),
    ("export SOKUDO_KEY", Elsewhere("security.rs", "SOKUDO_KEY")),
    (
        "sokudo datagram hostb --rate",
        Run("datagram HOST --rate 10Mb/s --duration 1s"),
    ),
    (
        "sokudo datagram hostb --direction both",
        Run("datagram HOST --direction both --json --duration 1s"),
    ),
    ("sokudo datagram hostb", Run("datagram HOST --duration 1s")),
    ("sokudo datagram HOST", Run("datagram HOST --duration 1s")),
    (
        "sokudo datagram B C D --direction mesh",
        Elsewhere("flows.rs", "mesh"),
    ),
    ("sokudo probe HOST", Run("probe HOST --duration 1s")),
    ("sokudo rrul HOST", Run("rrul HOST --duration 1s")),
    ("sokudo rr HOST --find", Elsewhere("sweep.rs", "--find")),
    ("sokudo rr HOST", Run("rr HOST --duration 1s")),
    ("sokudo crr HOST", Run("crr HOST --duration 1s")),
    ("sokudo stream HOST", Run("stream HOST --duration 1s")),
    ("sokudo bus HOST --sweep", Elsewhere("sweep.rs", "--sweep")),
    ("sokudo bus HOST", Run("bus HOST --duration 1s")),
    ("sokudo replicate", Elsewhere("replicate.rs", "replicate")),
    ("sokudo advise", Elsewhere("advise.rs", "advise")),
    ("sokudo link run", Elsewhere("link.rs", "link run")),
    ("sokudo dns", Elsewhere("dns.rs", "dns")),
    ("sokudo db init", Elsewhere("sql.rs", "db init")),
    ("sokudo dbt1", Elsewhere("sql.rs", "dbt1")),
    ("sokudo dbt2", Elsewhere("sql.rs", "dbt2")),
    ("sokudo dbt3", Elsewhere("sql.rs", "dbt3")),
    ("sokudo sqlmix", Elsewhere("sql.rs", "sqlmix")),
    ("sokudo tpcb", Run("tpcb -d 1s")),
    ("sokudo compat iperf3", Elsewhere("stream.rs", "iperf3")),
    (
        "sokudo compat datagram-test",
        Never("listens until it is ended; crates/coherence tests its wire"),
    ),
    (
        "sokudo compat message-bus-test",
        Never("listens until it is ended; crates/coherence tests its wire"),
    ),
    ("sokudo knee http", Elsewhere("knee.rs", "knee http")),
    (
        "sokudo knee PLAN.jmx",
        Run("knee demo.jmx --param users=1..2 --rule cpu80 -J port=PORT -J seconds=1"),
    ),
    ("sokudo why RUN --prove", Elsewhere("prove.rs", "--prove")),
    ("sokudo why RUN", Run("why latest")),
    (
        "sokudo compare OLD NEW",
        Elsewhere("compare.rs", "compare {before} {after}"),
    ),
    (
        "sokudo compare --profiles",
        Elsewhere("sql.rs", "compare --profiles"),
    ),
    ("sokudo import", Elsewhere("stream.rs", "import")),
    ("sokudo export", Run("export latest --to csv")),
    ("sokudo group", Elsewhere("group_guide.rs", "group")),
    (
        "sokudo run examples/switch.js",
        Elsewhere("scenario.rs", "examples"),
    ),
    ("sokudo console", Elsewhere("console.rs", "console")),
    ("sokudo web", Elsewhere("web.rs", "web")),
    ("sokudo doctor", Run("doctor")),
    ("sokudo recover", Elsewhere("faults.rs", "recover")),
];

/// The commands of the README: what follows a prompt in a block, and whole commands in the text.
fn commands(text: &str) -> Vec<String> {
    let mut out = Vec::new();
    let mut in_block = false;
    for line in text.lines() {
        if line.starts_with("```") {
            in_block = !in_block;
        } else if in_block {
            let line = line.strip_prefix("$ ").unwrap_or(line);
            let is_command = ["sokudo ", "./dev ", "export "]
                .iter()
                .any(|it| line.starts_with(it));
            out.extend(
                is_command.then(|| line.split(" #").next().unwrap_or(line).trim().to_owned()),
            );
        } else {
            let quoted = line.split('`').skip(1).step_by(2);
            let quoted = quoted.filter(|word| word.starts_with("sokudo "));
            out.extend(quoted.map(str::to_owned));
        }
    }
    out
}

fn run(place: &Place, words: &str, host: &str, port: &str) {
    let words = words.replace("HOST", host).replace("PORT", port);
    let ended = place.run(&words);
    // Nothing that was asked of it failed; a bound that a busy machine breaks is a result.
    assert!(matches!(ended.code, Some(0 | 1)), "{words}: {ended}");
}

#[test]
fn every_command_of_the_readme_is_tried() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let text = std::fs::read_to_string(root.join("README.md")).expect("the README");
    let commands = commands(&text);
    assert!(commands.len() > 25, "{commands:?}");
    let place = place();
    let server = serve(&place);
    let mut demo: Sokudo = place.sokudo("demo --port 0 --plan demo.jmx");
    demo = demo.env(
        "SOKUDO_CONFIG",
        &place.path().join("home").display().to_string(),
    );
    let mut demo = demo.start();
    let port = demo.wait_for(|line| {
        let url = line
            .split_whitespace()
            .find(|word| word.starts_with("http://"))?;
        Some(url.rsplit(':').next()?.to_owned())
    });
    let mut done = Vec::new();
    for command in &commands {
        let fits = |(begin, _): &&(&str, Way)| command.starts_with(begin);
        let way = WAYS
            .iter()
            .filter(fits)
            .max_by_key(|(begin, _)| begin.len());
        let Some((_, way)) = way else {
            panic!("say in WAYS how `{command}` of README.md is tried");
        };
        match way {
            // Two lines of the README may become the same command here.
            Run(words) if done.contains(words) => {}
            Run(words) => {
                run(&place, words, &server.address.to_string(), &port);
                done.push(words);
            }
            Elsewhere(file, words) => {
                let path = Path::new(env!("CARGO_MANIFEST_DIR"))
                    .join("tests/whole")
                    .join(file);
                let test = std::fs::read_to_string(&path).unwrap_or_default();
                assert!(test.contains(words), "{file} does not try `{command}`");
            }
            Never(why) => assert!(!why.is_empty()),
        }
    }
    demo.interrupt();
    demo.finish().expect_code(0);
}

#[test]
fn from_the_check_to_the_report_in_a_file() {
    let place = place();
    place.run("check rr --quick").expect_code(0);
    let mut demo = place.sokudo("demo --port 0").start();
    let url = demo.wait_for(|line| {
        let url = line
            .split_whitespace()
            .find(|word| word.starts_with("http://"))?;
        Some(url.to_owned())
    });
    let ended = place.run(&format!("http {url}/stress/demo -c 4 -d 1s"));
    ended.expect_code(0);
    let report = ended
        .stdout
        .lines()
        .find_map(|line| line.trim().strip_prefix("report  "));
    let report = place
        .path()
        .join(report.expect("where the report is").trim());
    let page = std::fs::read_to_string(report).expect("a report");
    assert!(page.starts_with("<!DOCTYPE html>") || page.starts_with("<!doctype html>"));
    assert!(
        page.contains("requests/s"),
        "the verdict stands in the page"
    );
    // It is opened offline: it names no other file.
    for loads in ["src=\"http", "href=\"http://", "url(http", "@import"] {
        assert!(!page.contains(loads), "{loads}");
    }
    demo.interrupt();
    demo.finish().expect_code(0);
}
