//! Start, pause and end of users by the properties of their group.

use super::*;

fn scheduled(users_: (u32, u32), delay_s: u32, duration_s: u32) -> String {
    users(users_.0, users_.1, -1)
        + &flag("ThreadGroup.scheduler", true)
        + &text("ThreadGroup.delay", &delay_s.to_string())
        + &text("ThreadGroup.duration", &duration_s.to_string())
}

/// One group of GETs, each followed by a pause.
fn paused(group: &str, timer: &str, factor: Option<&str>) -> Simulated {
    let mut simulation = Simulation::group(group, &(get("/a", "") + timer));
    if let Some(factor) = factor {
        simulation
            .properties
            .set("timer.factor", factor, Origin::CommandLine);
    }
    simulation.run(|_| ok(""))
}

fn constant(ms: u32) -> String {
    let delay = text("ConstantTimer.delay", &ms.to_string());
    element("ConstantTimer", "T", &delay, "")
}

#[test]
fn the_delay_comes_first_then_the_ramp_and_the_clock_counts_from_the_delay() {
    let done = paused(&scheduled((4, 4), 3, 5), &constant(990), None);
    let of = |thread: &str| -> Vec<i64> {
        let rows = done.rows.iter().filter(|row| row.thread == thread);
        rows.map(|row| row.start_ms).collect()
    };
    // Started at 3, 4, 5 and 6 s; each pauses 990 ms and requests for 10; all end at 8 s.
    assert_eq!(of("G 1-1"), [3_990, 4_990, 5_990, 6_990, 7_990]);
    assert_eq!(of("G 1-2"), [4_990, 5_990, 6_990, 7_990]);
    assert_eq!(of("G 1-4"), [6_990, 7_990]);
    assert_eq!(done.end_ms, 8_000);
}

#[test]
fn a_user_is_made_when_it_begins_whether_the_plan_asks_for_it_or_not() {
    let group = scheduled((3, 3), 1, 4);
    let delayed = group.clone() + &flag("ThreadGroup.delayedStart", true);
    let rows = |group: &str| paused(group, &constant(300), None).rows;
    assert_eq!(rows(&group), rows(&delayed));
}

#[test]
fn a_sample_in_flight_at_the_end_finishes_and_has_its_row() {
    let simulation = Simulation::group(&scheduled((1, 0), 0, 5), &get("/a", ""));
    let done = simulation.run(|_| (200, String::new(), String::new(), 3_000));
    let rows: Vec<_> = done
        .rows
        .iter()
        .map(|r| (r.start_ms, r.elapsed_ms))
        .collect();
    assert_eq!(rows, [(0, 3_000), (3_000, 3_000)]);
    assert_eq!(done.end_ms, 6_000);
}

#[test]
fn a_factor_scales_pauses_of_chance_and_no_others() {
    let uniform = |range: &str| {
        let inner = text("ConstantTimer.delay", "100") + &text("RandomTimer.range", range);
        element("UniformRandomTimer", "T", &inner, "")
    };
    let starts = |timer: &str, factor| -> Vec<i64> {
        let done = paused(&users(1, 0, 2), timer, factor);
        done.rows.iter().map(|row| row.start_ms).collect()
    };
    assert_eq!(starts(&uniform("0"), None), [100, 210]);
    assert_eq!(starts(&uniform("0"), Some("2.5")), [250, 510]);
    assert_eq!(starts(&constant(100), Some("2.5")), [100, 210]);
}

#[test]
fn an_error_that_ends_the_test_now_lets_nobody_begin() {
    for on_error in ["stoptest", "stoptestnow"] {
        let group = users(3, 3, 5) + &text("ThreadGroup.on_sample_error", on_error);
        let simulation = Simulation::group(&group, &(get("/bad", "") + &get("/c", "")));
        let done = simulation.run(|_| (500, String::new(), String::new(), 10));
        assert_eq!(done.labels(), ["/bad"], "{on_error}");
    }
}

#[test]
fn ramps_go_up_and_down_row_by_row() {
    let row = |cells: [u32; 5]| {
        let cells: String = cells.iter().map(|n| text("0", &n.to_string())).collect();
        format!("<collectionProp name=\"0\">{cells}</collectionProp>")
    };
    // Users, delay, start-up, hold, shutdown: seconds.
    let table = row([2, 0, 2, 3, 2]) + &row([1, 4, 0, 2, 0]);
    let group = format!(
        "<kg.apc.jmeter.threads.UltimateThreadGroup testname=\"G\"><collectionProp name=\"ultimatethreadgroupdata\">{table}</collectionProp>{}</kg.apc.jmeter.threads.UltimateThreadGroup><hashTree>{}{}</hashTree>",
        LOOPS(-1),
        get("/a", ""),
        constant(490),
    );
    let done = Simulation::plan(&group).run(|_| ok(""));
    let span = |thread: &str| {
        let rows = done.rows.iter().filter(|row| row.thread == thread);
        let starts: Vec<i64> = rows.map(|row| row.start_ms).collect();
        (starts.first().copied(), starts.last().copied())
    };
    // Started at 0 and 1 s, and at 4 s; ended at 6 and 7 s, and at 6 s.
    assert_eq!(span("G 1-1"), (Some(490), Some(5_990)));
    assert_eq!(span("G 1-2"), (Some(1_490), Some(6_990)));
    assert_eq!(span("G 1-3"), (Some(4_490), Some(5_990)));
}

#[test]
fn a_concurrency_is_reached_in_steps_and_kept() {
    let inner = text("TargetLevel", "4")
        + &text("RampUp", "4")
        + &text("Steps", "2")
        + &text("Hold", "2")
        + &text("Unit", "S");
    let tag = "com.blazemeter.jmeter.threads.concurrency.ConcurrencyThreadGroup";
    let group = format!(
        "<{tag} testname=\"G\">{inner}</{tag}><hashTree>{}{}</hashTree>",
        get("/a", ""),
        constant(490)
    );
    let done = Simulation::plan(&group).run(|_| ok(""));
    let most = done.rows.iter().map(|row| row.all_threads).max();
    assert_eq!(most, Some(4));
    assert!(done.end_ms <= 6_000, "{}", done.end_ms);
    let last = done.rows.last().map(|row| row.start_ms);
    assert!(last.is_some_and(|start| start > 5_000), "{last:?}");
}

#[test]
fn a_made_up_sample_is_what_it_is_told_to_be() {
    let inner = flag("WAITING", true)
        + &flag("SUCCESFULL", false)
        + &text("RESPONSE_CODE", "418")
        + &text("RESPONSE_MESSAGE", "teapot")
        + &text("RESPONSE_DATA", "short and stout")
        + &text("RESPONSE_TIME", "250")
        + &text("LATENCY", "20")
        + &text("CONNECT", "5");
    let tag = "kg.apc.jmeter.samplers.DummySampler";
    let dummy = element(tag, "made up", &inner, "");
    let done = Simulation::group(&users(1, 0, 2), &dummy).run(|_| ok(""));
    let row = &done.rows[1];
    assert_eq!((row.start_ms, row.elapsed_ms), (250, 250));
    assert_eq!((row.code.as_str(), row.message.as_str()), ("418", "teapot"));
    assert!(!row.success && done.requests.is_empty());
}

#[test]
fn a_made_up_sample_without_words_fails_at_once() {
    let tag = "kg.apc.jmeter.samplers.DummySampler";
    let dummy = element(tag, "old", &text("RESPONSE_TIME", "250"), "");
    let done = Simulation::group(&users(1, 0, 2), &dummy).run(|_| ok(""));
    let row = &done.rows[1];
    assert_eq!((row.start_ms, row.elapsed_ms), (0, 250));
    assert_eq!((row.code.as_str(), row.message.as_str()), ("", ""));
    assert!(!row.success);
}

#[test]
fn arrivals_are_those_of_their_schedule_however_long_each_takes() {
    let inner = text(
        "OpenModelThreadGroup.schedule",
        "rate(20/s) even_arrivals(500 ms)",
    );
    let below = get("/a", "");
    let group = element("OpenModelThreadGroup", "G", &inner, &below);
    let done = Simulation::plan(&group).run(|_| ok(""));
    assert_eq!(done.rows.len(), 10);
    let users: std::collections::BTreeSet<_> = done.rows.iter().map(|row| &row.thread).collect();
    assert_eq!(users.len(), 10);
}
