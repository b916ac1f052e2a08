//! Start, shared state and end of users.

use super::*;

#[test]
fn users_begin_along_the_ramp_and_do_their_loops() {
    let done = Simulation::group(&users(4, 2, 3), &get("/a", "")).run(|_| ok(""));
    assert_eq!(done.rows.len(), 12);
    let first = |thread: &str| {
        done.rows
            .iter()
            .find(|row| row.thread == thread)
            .unwrap()
            .start_ms
    };
    assert_eq!(
        ["G 1-1", "G 1-2", "G 1-3", "G 1-4"].map(first),
        [0, 500, 1_000, 1_500]
    );
}

#[test]
fn the_clock_ends_users_and_a_pause_beyond_it_does_so_at_once() {
    let scheduled =
        users(2, 0, -1) + &flag("ThreadGroup.scheduler", true) + &text("ThreadGroup.duration", "5");
    let pause = element(
        "ConstantTimer",
        "T",
        &text("ConstantTimer.delay", "990"),
        "",
    );
    let done = Simulation::group(&scheduled, &(get("/a", "") + &pause)).run(|_| ok(""));
    // 990 + 10 ms each: the fifth ends at 5 s, when no other starts.
    assert_eq!(done.rows.len(), 10);
    assert_eq!(done.rows[0].start_ms, 990);
    assert!(done.end_ms <= 5_000, "{}", done.end_ms);
}

#[test]
fn thousands_of_users_think_583_ms_on_average() {
    let timer = element(
        "GaussianRandomTimer",
        "T",
        &(text("ConstantTimer.delay", "500") + &text("RandomTimer.range", "500")),
        "",
    );
    let done = Simulation::group(&users(5_000, 0, 2), &(get("/a", "") + &timer)).run(|_| ok(""));
    assert_eq!(done.rows.len(), 10_000);
    let first = done.rows.iter().filter(|row| row.start_ms < i64::MAX);
    let thought: i64 = {
        let mut by_thread = std::collections::HashMap::new();
        first
            .map(|row| {
                let before = by_thread
                    .insert(&row.thread, row.start_ms + 10)
                    .unwrap_or(0);
                row.start_ms - before
            })
            .sum()
    };
    let mean = thought as f64 / 10_000.0;
    assert!((573.0..593.0).contains(&mean), "{mean}");
}

#[test]
fn a_seed_repeats_everything() {
    let run = || {
        let timer = element(
            "UniformRandomTimer",
            "T",
            &text("RandomTimer.range", "1000"),
            "",
        );
        let content = get("/a?${__Random(1,1000)}", "") + &timer;
        Simulation::group(&users(5, 1, 5), &content)
            .run(|_| ok(""))
            .rows
    };
    assert_eq!(run(), run());
}

#[test]
fn an_error_does_what_the_group_says() {
    let failing = |on_error: &str| {
        let group = users(2, 0, 3) + &text("ThreadGroup.on_sample_error", on_error);
        let done = Simulation::group(&group, &(get("/a", "") + &get("/bad", "") + &get("/c", "")))
            .run(|request| {
                if request.contains("/bad") {
                    (500, String::new(), String::new(), 10)
                } else {
                    ok("")
                }
            });
        done.rows.len()
    };
    assert_eq!(failing("continue"), 18);
    assert_eq!(failing("startnextloop"), 12);
    assert_eq!(failing("stopthread"), 4);
    assert_eq!(failing("stoptest"), 4);
}

#[test]
fn rows_of_files_are_shared_and_end_users() {
    let csv = |more: &str| {
        element(
            "CSVDataSet",
            "D",
            &(text("filename", "users.csv") + &text("variableNames", "user,pass") + more),
            "",
        )
    };
    let names = |more: &str, loops: i64| {
        let content = csv(more) + &get("/${user}", "");
        let done = Simulation::group(&users(2, 0, loops), &content)
            .file("users.csv", "ann,1\nbob,2\ncy,3\n")
            .run(|_| ok(""));
        let mut labels: Vec<String> = done.labels().into_iter().map(str::to_owned).collect();
        labels.sort();
        labels.join(" ")
    };
    assert_eq!(names("", 2), "/ann /ann /bob /cy");
    assert_eq!(
        names(&(flag("recycle", false) + &flag("stopThread", true)), 9),
        "/ann /bob /cy"
    );
    assert_eq!(
        names(&text("shareMode", "shareMode.thread"), 2),
        "/ann /ann /bob /bob"
    );
}

#[test]
fn a_loop_without_samplers_neither_spins_nor_hangs() {
    let scheduled =
        users(1, 0, -1) + &flag("ThreadGroup.scheduler", true) + &text("ThreadGroup.duration", "1");
    let done = Simulation::group(&scheduled, "").run(|_| ok(""));
    assert!(
        done.rows.is_empty() && done.end_ms <= 1_001,
        "{}",
        done.end_ms
    );
}

#[test]
fn groups_before_and_after_have_their_time() {
    let group = |tag: &str, path: &str| {
        format!(
            "<{tag} testname=\"{tag}\">{}</{tag}><hashTree>{}</hashTree>",
            users(1, 0, 1),
            get(path, "")
        )
    };
    let content = group("PostThreadGroup", "/after")
        + &group("ThreadGroup", "/main")
        + &group("SetupThreadGroup", "/before");
    assert_eq!(
        Simulation::plan(&content).run(|_| ok("")).labels(),
        ["/before", "/main", "/after"]
    );
}
