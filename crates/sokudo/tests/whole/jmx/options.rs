//! The tool's own command lines.

use std::fs;
use std::time::Duration;

use serde_json::Value;

use super::far::{Does, far, get, plan, says};
use crate::http::PROMISED;
use crate::vocabulary::place;

#[test]
fn a_whole_command_line_of_the_tool_is_taken() {
    let place = place();
    let far = far(|_, _| says(200, "ok"));
    place.write(
        "plan.jmx",
        &plan(
            2,
            3,
            &get(far.address, "/${__P(path)}-${__P(other)}-${__P(third)}", ""),
        ),
    );
    fs::create_dir_all(place.path().join("home/bin")).unwrap();
    place.write(
        "home/bin/jmeter.properties",
        "path=home\nother=home\nthird=home",
    );
    place.write("home/bin/user.properties", "other=user");
    place.write("global.properties", "third=global");
    let ended = place.run(
        "compat jmeter -n -t plan.jmx -l out.jtl -f -j run.log -i log.xml -L DEBUG -d home \
         -Gglobal.properties -Djava.x=1 -Jpath=typed",
    );
    ended
        .expect_code(0)
        .expect_stdout("Creating summariser <summary>")
        .expect_stdout("... end of run")
        .expect_stderr("-i -L -Djava.x");
    let asked = far.asked();
    assert_eq!(asked.len(), 6);
    assert!(
        asked[0].starts_with("GET /typed-user-global HTTP/1.1\r\n"),
        "{}",
        asked[0]
    );
    let rows = fs::read_to_string(place.path().join("out.jtl")).unwrap();
    assert_eq!(rows.lines().count(), 7, "{rows}");
}

#[test]
fn what_a_plan_logs_is_in_the_file_of_j() {
    let place = place();
    let far = far(|_, _| says(200, "ok"));
    // The name asks for nothing.
    let asks = "/${__log(said)}";
    let content = get(far.address, asks, "").replacen(asks, "named", 1);
    place.write("plan.jmx", &plan(1, 2, &content));
    place.write("run.log", "of an earlier test\n");
    place
        .run("compat jmeter -n -t plan.jmx -j run.log")
        .expect_code(0);
    let log = fs::read_to_string(place.path().join("run.log")).unwrap();
    let told: Vec<&str> = log.lines().filter_map(|line| line.get(24..)).collect();
    let [begins, said @ .., ends, summary] = &told[..] else {
        panic!("{log}");
    };
    assert!(
        begins.starts_with("INFO o.a.j.JMeter: Running test ("),
        "{log}"
    );
    let own = "INFO o.a.j.f.LogFunction: Users 1-1  :  said";
    assert_eq!(said.iter().filter(|line| **line == own).count(), 2, "{log}");
    assert_eq!(
        *ends,
        "INFO o.a.j.e.StandardJMeterEngine: Notifying test listeners of end of test"
    );
    let total = "INFO o.a.j.r.Summariser: summary =      2 in ";
    assert!(summary.starts_with(total), "{log}");
    let quiet = "-Jsummariser.log=false -Jsummariser.out=false";
    let ended = place.run(&format!("compat jmeter -n -t plan.jmx -j run.log {quiet}"));
    assert!(!ended.stdout.contains("summar"), "{}", ended.stdout);
    let log = fs::read_to_string(place.path().join("run.log")).unwrap();
    assert!(log.contains(own) && !log.contains("Summariser"), "{log}");
    // As JMeter, with the folder that is missing.
    place
        .run("compat jmeter -n -t plan.jmx -j new/run.log")
        .expect_code(0);
    assert!(place.path().join("new/run.log").is_file());
    place
        .run("compat jmeter -n -t plan.jmx -j plan.jmx/run.log")
        .expect_stderr("the log `");
}

#[test]
fn everything_goes_through_the_proxy_and_its_password_is_recorded_nowhere() {
    let place = place();
    let proxy = far(|_, _| says(200, "from the proxy"));
    let direct = far(|_, _| says(200, "direct"));
    let elsewhere = "192.0.2.7:80".parse().unwrap();
    let both = get(elsewhere, "/a", "") + &get(direct.address, "/b", "");
    place.write("plan.jmx", &plan(1, 1, &both));
    place
        .run(&format!(
            "jmx run plan.jmx -H 127.0.0.1 -P {} -N 127.* -E http -u me -a se-cret",
            proxy.address.port()
        ))
        .expect_code(0);
    let asked = proxy.asked();
    assert_eq!(asked.len(), 1);
    assert!(
        asked[0].starts_with("GET http://192.0.2.7/a HTTP/1.1\r\n"),
        "{}",
        asked[0]
    );
    assert!(asked[0].contains("\r\nProxy-Authorization: Basic bWU6c2UtY3JldA==\r\n"));
    assert!(direct.asked()[0].starts_with("GET /b HTTP/1.1\r\n"));
    let record = place.record();
    for entry in fs::read_dir(&record).unwrap().flatten() {
        let bytes = fs::read(entry.path()).unwrap_or_default();
        assert!(
            !String::from_utf8_lossy(&bytes).contains("se-cret"),
            "{entry:?}"
        );
    }
}

#[test]
fn what_means_nothing_here_is_refused_with_what_to_do_instead() {
    let place = place();
    place
        .run("compat jmeter -s")
        .expect_code(2)
        .expect_stderr("sokudo serve");
    for words in ["-v", "--version"] {
        place
            .run(&format!("compat jmeter {words}"))
            .expect_code(0)
            .expect_stdout("sokudo ");
    }
    for words in ["-h", "--help", "-?"] {
        place
            .run(&format!("compat jmeter {words}"))
            .expect_code(0)
            .expect_stdout("sokudo compat jmeter");
    }
    place
        .run("jmx run -t plan.jmx --duration 1500ms")
        .expect_code(2);
    place.run("jmx run -t plan.jmx -P 3128").expect_code(2);
    place.run("jmx run -t plan.jmx -H h -P 0").expect_code(2);
    place
        .run("jmx run -t plan.jmx -d nowhere")
        .expect_code(2)
        .expect_stderr("there is no `bin` in it");
}

#[test]
fn a_test_and_its_dashboard_are_one_object() {
    let place = place();
    let far = far(|_, _| says(200, "ok"));
    place.write("plan.jmx", &plan(2, 5, &get(far.address, "/a", "")));
    let ended = place.run("jmx run plan.jmx -l out.jtl -e -o page --slo p95<60s,err<1% --json");
    ended.expect_code(0);
    let object: Value = serde_json::from_str(&ended.stdout).expect("one object");
    let numbers = object["summary"].as_object().expect("numbers");
    for key in PROMISED {
        assert!(numbers.contains_key(key), "{key} in {numbers:?}");
    }
    assert_eq!(numbers["http.requests"], 10.0);
    let dashboard = &object["dashboard"];
    assert_eq!(dashboard["summary"]["http.requests"], 10);
    assert_eq!(dashboard["checks"][0]["passed"], true);
    // Rows of another test are not reported by accident.
    place
        .run("jmx run plan.jmx -l out.jtl -e -o other")
        .expect_code(2)
        .expect_stderr("`out.jtl` is not empty");
    assert_eq!(far.asked().len(), 10);
    place
        .run("compat jmeter -n -t plan.jmx -l out.jtl -f -e -o other")
        .expect_code(0);
    assert!(place.path().join("other/index.html").is_file());
    let rows = fs::read_to_string(place.path().join("out.jtl")).unwrap();
    assert_eq!(rows.lines().count(), 11, "{rows}");
}

#[test]
fn arrivals_that_nobody_could_begin_fail_the_run() {
    let place = place();
    let slow = Duration::from_millis(200);
    let far = far(move |_, _| {
        let answer = b"HTTP/1.1 200 X\r\nContent-Length: 2\r\n\r\nok";
        Does::Later(slow, answer.to_vec())
    });
    place.write("plan.jmx", &plan(1, 1, &get(far.address, "/a", "")));
    let ended = place.run(
        "jmx run plan.jmx --model open:100/s --max-inflight 2 --duration 1 --threads 1 --json",
    );
    ended.expect_code(1);
    let object: Value = serde_json::from_str(&ended.stdout).expect("one object");
    let number = |name: &str| object["summary"][name].as_f64().expect("a number");
    let unstarted = number("http.unstarted_requests");
    assert_eq!(number("http.requests") + unstarted, 100.0);
    assert!(unstarted > 0.0);
    let ratio = number("http.error_ratio");
    assert!((ratio - unstarted / 100.0).abs() < 1e-9, "{ratio}");
}

#[test]
fn a_schedule_is_a_rate_that_was_asked_for() {
    let place = place();
    let far = far(|_, _| says(200, "ok"));
    place.write("plan.jmx", &plan(1, 1, &get(far.address, "/a", "")));
    let schedule = "--model=schedule:rate(0/s) even_arrivals(1 s) rate(100/s)";
    let ended = place
        .words([
            "jmx",
            "run",
            "plan.jmx",
            schedule,
            "--threads",
            "1",
            "--json",
        ])
        .run();
    let object: Value = serde_json::from_str(&ended.stdout).expect("one object");
    // Its mean.
    assert_eq!(object["summary"]["http.asked_per_second"], 50.0);
    let checks = object["checks"].as_array().expect("checks").iter();
    let judged: Vec<_> = checks.filter(|one| one["name"] == "generator").collect();
    assert_eq!(judged.len(), 1, "lateness is judged: {object}");
}

/// A property that the plan does not read is told with those that it reads, and a folder without an order
/// for a dashboard is told, too; properties of the tool and those that are read are not.
#[test]
fn options_without_an_effect_are_told() {
    let place = place();
    let far = far(|_, _| says(200, "ok"));
    let content = get(far.address, "/${__P(users,1)}", "");
    place.write("plan.jmx", &plan(1, 1, &content));
    let ended = place.run("jmx run plan.jmx -J user=5 -J jmeter.x=1 -o out");
    ended
        .expect_code(0)
        .expect_stderr("`-J user` has no effect")
        .expect_stderr("It reads: users")
        .expect_stderr("`-o out` makes no dashboard");
    assert!(!ended.stderr.contains("jmeter.x"), "{}", ended.stderr);
    let ended = place.run("jmx run plan.jmx -J users=5");
    assert!(!ended.stderr.contains("no effect"), "{}", ended.stderr);
}
