//! Servers and disks that do not do what they should: the load goes on, and what was lost is told.

use std::fs;
use std::net::{SocketAddr, TcpListener};
use std::time::Duration;

use sokudo_testkit::program::{Sokudo, sokudo_bin};

use super::far::{Does, far, far_on, get, plan, says, says_with};
use crate::vocabulary::{BOUND, place, summary};

#[test]
fn six_of_ten_answers_are_errors_and_every_one_is_counted_by_its_kind() {
    let place = place();
    let far = far(|number, _| match number % 10 {
        0 | 1 => Does::Closes,
        2 | 3 => Does::Resets,
        4 | 5 => says(500, "no"),
        6 => Does::Later(
            Duration::from_millis(20),
            b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n".to_vec(),
        ),
        _ => says(200, "ok"),
    });
    place.write("plan.jmx", &plan(1, 100, &get(far.address, "/a", "")));
    let ended = place.run("jmx run plan.jmx -l out.jtl --json");
    ended.expect_code(1);
    let said = summary(&ended);
    assert_eq!(said.number("http.errors"), 40.0);
    assert_eq!(said.number("http.status_5xx"), 20.0);
    assert_eq!(said.number("http.status_2xx"), 40.0);
    let rows = fs::read_to_string(place.path().join("out.jtl")).unwrap();
    let count = |text: &str| rows.lines().filter(|row| row.contains(text)).count();
    assert_eq!(rows.lines().count(), 101);
    assert_eq!(count("NoHttpResponseException"), 20);
    assert_eq!(count("java.net.SocketException"), 20);
    assert_eq!(count(",500,X,"), 20);
}

#[test]
fn a_server_that_restarts_is_found_again() {
    let place = place();
    let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
    let address = listener.local_addr().unwrap();
    place.write("plan.jmx", &plan(2, -1, &get(address, "/a", "")));
    // Bound and not accepting: the first connections wait in its queue and are then broken off.
    let running = place
        .sokudo("jmx run plan.jmx -l out.jtl --duration 3 --threads 1 --json")
        .start();
    let first = listener.accept().map(drop);
    drop(listener);
    assert!(first.is_ok());
    // A port in its last moments may be taken once more only with the option for it.
    let again = socket2::Socket::new(socket2::Domain::IPV4, socket2::Type::STREAM, None).unwrap();
    again.set_reuse_address(true).unwrap();
    again.bind(&address.into()).unwrap();
    again.listen(64).unwrap();
    let far = far_on(again.into(), |_, _| says(200, "ok"));
    let ended = running.finish();
    ended.expect_code(0);
    let said = summary(&ended);
    assert!(said.number("http.status_2xx") > 0.0);
    assert!(said.number("http.errors") > 0.0);
    assert!(!far.asked().is_empty());
}

/// A request whose answer is waited for so many milliseconds.
fn get_within(address: SocketAddr, wait_ms: u64) -> String {
    let timeout =
        format!("<stringProp name=\"HTTPSampler.response_timeout\">{wait_ms}</stringProp>");
    get(address, "/a", "").replace(
        "</HTTPSamplerProxy>",
        &format!("{timeout}</HTTPSamplerProxy>"),
    )
}

/// Users that wait for one answer until the end fail once each; what they could not try counts as well, and
/// no row is added for it.
#[test]
fn what_users_could_not_try_while_the_server_was_silent_counts() {
    let place = place();
    let far = far(|number, _| match number {
        0..400 => Does::Later(
            Duration::from_millis(2),
            b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n".to_vec(),
        ),
        _ => Does::Later(BOUND, Vec::new()),
    });
    place.write("plan.jmx", &plan(2, -1, &get_within(far.address, 1_500)));
    let ended = place.run("jmx run plan.jmx -l out.jtl --duration 3 --threads 1 --json");
    ended.expect_code(1);
    let said = summary(&ended);
    let (answered, failed) = (said.number("http.requests"), said.number("http.errors"));
    assert_eq!(answered, 400.0);
    assert!((2.0..=6.0).contains(&failed), "{failed}");
    let rows = fs::read_to_string(place.path().join("out.jtl")).unwrap();
    assert_eq!(rows.lines().count() as f64, 1.0 + answered + failed);
    let untried = said.number("http.unstarted_requests");
    let errors = said.number("http.error_ratio");
    let share = (failed + untried) / (answered + failed + untried);
    assert!((errors - share).abs() < 1e-9, "{errors} and {share}");
    // 400 answers take one to two of the three seconds on a busy machine, less on a quiet one.
    assert!(untried > 50.0 && errors > 0.1, "{untried}: {errors}");
    // They are not arrivals that found too many users.
    assert!(!ended.stdout.contains("max-inflight"), "{}", ended.stdout);
}

/// A plan that ends by its own loops has tried all that it was to.
#[test]
fn users_that_end_by_their_own_loops_have_tried_everything() {
    let place = place();
    let far = far(|number, _| match number {
        0..40 => says(200, "ok"),
        _ => Does::Later(BOUND, Vec::new()),
    });
    place.write("plan.jmx", &plan(1, 41, &get_within(far.address, 400)));
    let ended = place.run("jmx run plan.jmx --threads 1 --json");
    let said = summary(&ended);
    assert_eq!(said.number("http.unstarted_requests"), 0.0);
    assert_eq!(said.number("http.error_ratio"), 1.0 / 41.0);
}

/// Once the server is dead, connections to it end without a byte; over the whole load that is most of the time.
#[test]
fn a_server_that_dies_answered_over_the_whole_load() {
    for model in ["", "--model open:200/s"] {
        let place = place();
        let far = far(|number, _| match number {
            0..50 => says(200, "ok"),
            _ => Does::Closes,
        });
        let loops = if model.is_empty() { -1 } else { 1 };
        place.write("plan.jmx", &plan(2, loops, &get(far.address, "/a", "")));
        let run = format!("jmx run plan.jmx --duration 1 {model}");
        let ended = place.run(&format!("{run} --json"));
        ended.expect_code(1);
        let said = summary(&ended);
        assert_eq!(said.number("http.requests"), 50.0, "{model}");
        let flows = said.flows().iter();
        let times = |name: &str| -> Vec<f64> {
            let values = flows
                .clone()
                .filter_map(|flow| flow["metrics"][name].as_f64());
            values.collect()
        };
        let most = |name: &str| times(name).into_iter().fold(0.0, f64::max);
        let (load_s, last_s) = (
            most("group.load_seconds"),
            most("group.last_through_seconds"),
        );
        assert!(
            load_s > last_s && load_s <= 1.01,
            "{model}: {load_s} and {last_s}"
        );
        let rate = said.number("http.requests_per_second");
        assert!(
            (rate * load_s - 50.0).abs() < 0.5,
            "{model}: {rate} over {load_s} s"
        );
        let errors = said.number("http.error_ratio");
        assert!(errors > 0.5, "{model}: {errors}");
        let json: serde_json::Value = serde_json::from_str(&ended.stdout).unwrap();
        let verdict = json["verdict"].as_array().expect("sentences").iter();
        let mut verdict = verdict.filter_map(|says| says.as_str());
        let checks = json["checks"].as_array().expect("checks").iter();
        // A generator that lacked the CPU is told before anything else.
        let mut failed = checks.filter(|check| check["passed"] == false);
        if failed.any(|check| check["name"] == "generator") {
            verdict.next();
        }
        let first = verdict.next().unwrap_or_default();
        assert!(first.contains("got no answer"), "{model}: {first}");
    }
}

#[test]
fn a_killed_generator_leaves_whole_rows() {
    let place = place();
    let far = far(|_, _| says(200, "ok"));
    place.write("plan.jmx", &plan(2, -1, &get(far.address, "/a", "")));
    let running = place
        .sokudo("jmx run plan.jmx -l out.jtl --duration 60 --threads 1")
        .start();
    let file = place.path().join("out.jtl");
    let begun = std::time::Instant::now();
    let rows = || fs::read_to_string(&file).unwrap_or_default();
    while rows().lines().count() < 100 {
        assert!(
            begun.elapsed() < Duration::from_secs(60),
            "rows are written meanwhile"
        );
        std::thread::sleep(Duration::from_millis(20));
    }
    running.kill();
    let text = rows();
    let columns = |line: &str| line.split(',').count();
    let header = columns(text.lines().next().unwrap());
    let whole = text.lines().filter(|line| columns(line) == header).count();
    // Only the very last line may be cut.
    assert!(text.lines().count() - whole <= 1);
    place.run("jtl report out.jtl -o report").expect_code(0);
}

#[test]
fn redirects_in_a_circle_end() {
    let place = place();
    let far = far(|_, _| says_with(302, "Location: /a\r\n", ""));
    let content = get(far.address, "/a", "").replace(
        "<boolProp name=\"HTTPSampler.use_keepalive\">",
        "<boolProp name=\"HTTPSampler.follow_redirects\">true</boolProp><boolProp name=\"HTTPSampler.use_keepalive\">",
    );
    place.write("plan.jmx", &plan(1, 1, &content));
    place
        .run("jmx run plan.jmx -l out.jtl -Jhttpsampler.max_redirects=5")
        .expect_code(1);
    assert_eq!(far.asked().len(), 6);
    let rows = fs::read_to_string(place.path().join("out.jtl")).unwrap();
    assert!(
        rows.contains("Exceeded maximum number of redirects: 5"),
        "{rows}"
    );
}

#[test]
fn a_full_disk_loses_rows_and_not_the_load() {
    let place = place();
    let far = far(|_, _| says(200, "ok"));
    place.write("plan.jmx", &plan(2, 1_000, &get(far.address, "/a", "")));
    // Everything is looked at before the disk vanishes together with its mount namespace.
    let script = format!(
        r#"
        set -u
        mkdir small && mount -t tmpfs -o size=64k tmpfs small || exit 77
        {bin} jmx run plan.jmx -l small/out.jtl --threads 1 --json >said 2>shown
        echo run $?
        {bin} jtl report small/out.jtl --json >rows
        echo report $?
        "#,
        bin = sokudo_bin().display(),
    );
    let ended = Sokudo::of("unshare".as_ref(), ["--mount", "sh", "-c", script.as_str()])
        .dir(place.path())
        .env("SOKUDO_LANG", "en")
        .env("SOKUDO_RUNS", "runs")
        .bound(BOUND)
        .run();
    if ended.stderr.contains("unshare") || ended.code == Some(77) {
        let why = ended.stderr.trim();
        return sokudo_testkit::skip(format!("no small disk can be made: {why}"));
    }
    ended.expect_stdout("run 3").expect_stdout("report 0");
    let read = |name: &str| -> serde_json::Value {
        let text = fs::read_to_string(place.path().join(name)).expect("written");
        serde_json::from_str(&text).unwrap_or_else(|error| panic!("{error}: {text}"))
    };
    // Nobody was kept from asking, and what is missing is told.
    assert_eq!(far.asked().len(), 2_000);
    let said = read("said");
    assert_eq!(said["summary"]["http.requests"], 2_000.0);
    assert_eq!(said["status"], "partial");
    let shown = fs::read_to_string(place.path().join("shown")).expect("written");
    assert!(
        shown.contains("bytes of results could not be written"),
        "{shown}"
    );
    let rows = read("rows")["summary"]["http.requests"].as_u64();
    assert!(
        rows.is_some_and(|rows| (1..2_000).contains(&rows)),
        "{rows:?}"
    );
}

#[test]
fn rows_are_added_to_a_file_that_exists_unless_it_is_to_be_replaced() {
    let place = place();
    let far = far(|_, _| says(200, "ok"));
    place.write("plan.jmx", &plan(1, 3, &get(far.address, "/a", "")));
    let lines = |options: &str, name: &str| {
        place
            .run(&format!("jmx run plan.jmx -l {name} {options}"))
            .expect_code(0);
        fs::read_to_string(place.path().join(name))
            .unwrap()
            .lines()
            .count()
    };
    fs::create_dir(place.path().join("results")).unwrap();
    // The operator may write wherever the system lets him.
    let name = "results/../results/out.jtl";
    assert_eq!(lines("", name), 4);
    assert_eq!(lines("", name), 7);
    assert_eq!(lines("-f", name), 4);
}

#[test]
fn a_dashboard_needs_its_place_before_the_first_request() {
    let place = place();
    let far = far(|_, _| says(200, "ok"));
    place.write("plan.jmx", &plan(1, 3, &get(far.address, "/a", "")));
    fs::create_dir(place.path().join("full")).unwrap();
    place.write("full/notes.txt", "mine");
    for words in ["jmx run plan.jmx", "compat jmeter -n -t plan.jmx"] {
        let ended = place.run(&format!("{words} -l out.jtl -e -o full"));
        ended.expect_code(2).expect_stderr("`full` is not empty");
    }
    assert!(far.asked().is_empty());
    place
        .run("compat jmeter -n -t plan.jmx -l out.jtl -e -o new/board")
        .expect_code(0);
    let page = fs::read_to_string(place.path().join("new/board/index.html")).unwrap();
    assert!(page.contains("<section id=\"statistics\">"));
    place
        .run("jmx run plan.jmx -l again.jtl -e -o board --compare out.jtl")
        .expect_code(0);
    let page = fs::read_to_string(place.path().join("board/index.html")).unwrap();
    for section in ["comparison", "budget", "felt"] {
        assert!(
            page.contains(&format!("<section id=\"{section}\">")),
            "{section}"
        );
    }
}
