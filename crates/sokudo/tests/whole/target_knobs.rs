//! Tests of knobs of a target that a program changes for a time: they are put back however it ends.

use sokudo_testkit::program::{Ended, Running, Sokudo};

use crate::vocabulary::{Place, place, summary};

/// A target of this place, and its admin port.
pub struct App {
    pub running: Running,
    pub at: String,
    pub admin: String,
}

/// Starts a target with these settings on free ports; its keys lie in the place.
pub fn app(place: &Place, settings: &str) -> App {
    let settings = settings.split_whitespace();
    let settings: String = settings.map(|pair| format!(" --set {pair}")).collect();
    let ports = "--set listen.address=127.0.0.1:0 --set admin.address=127.0.0.1:0";
    let mut running = told(place, &format!("target app {ports}{settings}")).start();
    let at = running.wait_for(|line| Some(line.strip_prefix("target app on http://")?.to_owned()));
    let admin = running.wait_for(|line| Some(line.strip_prefix("admin port on http://")?.into()));
    let at = at.trim_end_matches('/').to_owned();
    App { running, at, admin }
}

/// The program with a user's folder of its own.
pub fn told(place: &Place, typed: &str) -> Sokudo {
    let config = place.path().join("config");
    place
        .sokudo(typed)
        .env("SOKUDO_CONFIG", config.to_str().expect("a path of letters"))
}

/// A program that holds `pool.max` at 50.
fn holder(place: &Place) -> Running {
    let mut running = told(place, "target set pool.max=50 --hold").start();
    running.wait_for(|line| line.contains("10 → 50").then_some(()));
    running
}

fn pool_max(place: &Place) -> (String, Ended) {
    let ended = told(place, "target set").run();
    ended.expect_code(0);
    let line = ended.stdout.lines().find(|it| it.starts_with("pool.max="));
    (line.expect("every knob is told").to_owned(), ended)
}

#[test]
fn knobs_are_put_back_at_the_end_and_after_ctrl_c() {
    let place = place();
    let _app = app(&place, "pool.url=sim:");
    let ended = told(
        &place,
        "target set pool.max=50 workers.queue_max=7 --hold=300ms",
    )
    .run();
    ended.expect_code(0);
    ended
        .expect_stdout("pool.max: 50 → 10")
        .expect_stdout("7 → 20000");
    assert_eq!(pool_max(&place).0, "pool.max=10");

    let holder = holder(&place);
    assert_eq!(pool_max(&place).0, "pool.max=50");
    // Two experiments do not spoil each other, and the operator's own change stays.
    let second = told(&place, "target set pool.max=9 --hold").run();
    second
        .expect_code(2)
        .expect_stderr("are held by target set --hold");
    told(&place, "target set workers.queue_max=8")
        .run()
        .expect_code(0);
    holder.interrupt();
    let ended = holder.finish();
    ended.expect_code(0).expect_stdout("pool.max: 50 → 10");
    let (value, all) = pool_max(&place);
    assert_eq!(value, "pool.max=10");
    all.expect_stdout("workers.queue_max=8");
}

#[test]
fn the_next_start_puts_back_what_a_killed_program_held() {
    let place = place();
    let _app = app(&place, "pool.url=sim:");
    holder(&place).kill();
    let (value, ended) = pool_max(&place);
    assert_eq!(value, "pool.max=10");
    ended
        .expect_stderr("was killed while it held the knobs")
        .expect_stderr("pool.max 50 → 10");
    let (_, again) = pool_max(&place);
    assert!(!again.stderr.contains("was killed"), "{again}");
}

#[test]
fn the_target_puts_back_what_a_silent_program_held() {
    let place = place();
    let mut app = app(&place, "pool.url=sim:");
    holder(&place).kill();
    let says = app.running.wait_for(|line| {
        let is_it = line.contains("has not been heard");
        is_it.then(|| line.to_owned())
    });
    assert!(says.contains("pool.max 50 → 10"), "{says}");
    let (value, ended) = pool_max(&place);
    assert_eq!(value, "pool.max=10");
    ended.expect_stderr("the target has put them back itself");
}

#[test]
fn a_target_begins_with_its_own_settings_after_one_that_was_killed() {
    let place = place();
    let first = app(&place, "pool.url=sim:");
    assert_ne!(first.at, first.admin);
    told(&place, "target set pool.max=50").run().expect_code(0);
    let admin = first.admin.clone();
    first.running.kill();
    let again = format!(
        "target app --set listen.address=127.0.0.1:0 --set admin.address={admin} --set pool.url=sim:"
    );
    let mut running = told(&place, &again).start();
    let says = running.wait_for(|line| line.contains("killed").then(|| line.to_owned()));
    assert!(says.contains("pool.max 10 → 50"), "{says}");
    assert_eq!(pool_max(&place).0, "pool.max=10");
}

/// Requests of 20 ms, each of which holds a connection of the pool for all of that time.
const HOLD: &str =
    "pool.url=sim: stress.search_ms=20 stress.update_ms=0 stress.interval_ms=0 stress.bit=0";

#[test]
fn limits_in_front_of_the_knee_keep_throughput_and_let_the_surplus_wait_for_a_thread() {
    let place = place();
    let app = app(&place, &format!("pool.max=4 {HOLD}"));
    let typed = format!(
        "knee http://{}/stress/x --param connections=1..16 -d 600ms --protect --json",
        app.at
    );
    let ended = told(&place, &typed).run();
    let said = summary(&ended);
    ended
        .expect_stderr("workers.max 50 →")
        .expect_stderr("knobs put back");
    assert_eq!(pool_max(&place).0, "pool.max=4");
    let (users, limits) = (said.number("knee.users"), &said.0["protect"]);
    let number = |path: &str| {
        let value = limits.pointer(path).and_then(serde_json::Value::as_f64);
        value.unwrap_or_else(|| panic!("no {path} in {limits:#}"))
    };
    assert_eq!(number("/workers"), users.ceil(), "{limits:#}");
    assert_eq!(number("/users"), (users * 1.5).ceil(), "{limits:#}");
    // Nobody waits behind the threads when there are no more of them than connections.
    assert!(number("/after/pool_waiting") < 0.5, "{limits:#}");
    assert!(
        number("/after/workers_queued") > number("/before/workers_queued"),
        "{limits:#}"
    );
    assert!(number("/before/pool_waiting") > 0.5, "{limits:#}");
    assert_eq!(limits["surplus"], "workers", "{limits:#}");
    let verdict = said.0["verdict"].to_string();
    assert!(
        verdict.contains("in front of the threads") || limits["kept"] == false,
        "{verdict}"
    );
    let report = std::fs::read_to_string(place.record().join("report.html")).expect("a report");
    assert!(
        report.contains("Limits in front of the knee"),
        "the table is missing"
    );
    let record = place.record();
    let japanese = told(&place, &format!("show {} --lang ja", record.display())).run();
    japanese.expect_stdout("workers = pool = ");
}

#[test]
fn limits_are_set_on_a_target_of_ones_own_alone() {
    let place = place();
    let _app = app(&place, HOLD);
    for typed in [
        "knee http://127.0.0.1:9/ --protect",
        "knee http://127.0.0.1:9/ --protect --monitor target:kind=nginx,url=http://127.0.0.1:9/",
    ] {
        told(&place, typed)
            .run()
            .expect_code(2)
            .expect_stderr("no sokudo target");
    }
}

#[test]
fn the_summary_of_a_load_tells_the_queues_of_the_target_and_its_limit() {
    let place = place();
    let app = app(&place, &format!("pool.max=2 {HOLD}"));
    let typed = format!(
        "http http://{}/stress/x -c 8 -d 2s --monitor target:at={},interval=200ms --json",
        app.at, app.admin
    );
    let said = summary(&told(&place, &typed).run());
    // Eight requests at a time: two have a connection, the others wait for one on their threads.
    assert!(
        (4.0..=8.0).contains(&said.number("target.workers.active")),
        "{said:?}"
    );
    assert!(said.number("target.workers.queued") < 1.0, "{said:?}");
    assert!(
        (3.0..=6.0).contains(&said.number("target.pool.waiting")),
        "{said:?}"
    );
    assert!(
        said.number("target.pool.wait_seconds.mean") > 0.01,
        "{said:?}"
    );
    assert!(said.number("target.accept_queue.depth") < 1.0, "{said:?}");
    let limit = &said.0["limit"];
    assert_eq!(limit["cause"], "target_queue", "{limit:#}");
    assert_eq!(limit["confirmed"], serde_json::Value::Null, "{limit:#}");
    let metrics = limit["for"].as_array().expect("a list").iter();
    let metrics: Vec<_> = metrics.filter_map(|row| row["metric"].as_str()).collect();
    assert!(metrics.contains(&"target.pool.waiting"), "{limit:#}");
    assert!(limit["against"].is_array(), "{limit:#}");
}

#[test]
fn a_full_pool_is_confirmed_by_raising_it_and_by_tightening_it_where_it_cannot_be_raised() {
    let place = place();
    let app = app(&place, &format!("pool.max=5 {HOLD}"));
    let load = format!(
        "http http://{}/stress/x -c 12 -d 1s --monitor target:at={},interval=200ms",
        app.at, app.admin
    );
    // How far it is raised depends on how many waited.
    for (settings, options) in [("", 6..=12), ("fault.db_sessions=5", 4..=4)] {
        if !settings.is_empty() {
            told(&place, &format!("target set {settings}"))
                .run()
                .expect_code(0);
        }
        told(&place, &load).run().expect_code(0);
        let ended = told(&place, "why latest --prove --json").run();
        ended.expect_code(0);
        let option = ended.stderr.split("--target.pool.max ").nth(1);
        let option = option.and_then(|rest| rest.split_whitespace().next());
        let option: u32 = option
            .and_then(|number| number.parse().ok())
            .expect(&ended.stderr);
        assert!(options.contains(&option), "{ended}");
        let object = ended.stdout.rfind("\n{").map_or(0, |at| at + 1);
        let limit: serde_json::Value = serde_json::from_str(&ended.stdout[object..]).expect("JSON");
        assert_eq!(limit["cause"], "target_queue", "{limit:#}");
        assert_eq!(limit["confirmed"], true, "{limit:#}");
        let says = limit["says"].as_str().expect("a sentence");
        assert!(says.contains("per request"), "{says}");
        assert_eq!(pool_max(&place).0, "pool.max=5");
        // Each proof lies with the run that it is about, and is told there.
        let runs = place.records().into_iter();
        let proved = runs.filter(|run| {
            std::fs::read_to_string(run.join("report.html"))
                .is_ok_and(|report| report.contains(&format!("with target.pool.max = {option}")))
        });
        let proved: Vec<_> = proved.collect();
        assert_eq!(proved.len(), 1, "{proved:?}");
        let says = told(&place, &format!("why {}", proved[0].display())).run();
        says.expect_stdout("target_queue is confirmed");
    }
}
