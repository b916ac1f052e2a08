//! Tests that the helper which runs the program keeps its bounds. A shell stands in for the program.
#![cfg(unix)]

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Duration;

use sokudo_testkit::program::{Sokudo, temp_runs};

fn shell(script: &str) -> Sokudo {
    Sokudo::of("sh".as_ref(), ["-c", script])
}

/// Text of the panic that `f` ends in.
fn panic_of(f: impl FnOnce()) -> String {
    let panic = catch_unwind(AssertUnwindSafe(f)).expect_err("must panic");
    panic.downcast_ref::<String>().cloned().unwrap_or_default()
}

#[test]
fn results_and_progress_are_kept_apart_from_each_other() {
    let ended = shell("echo result; echo progress >&2; exit 3").run();
    ended
        .expect_code(3)
        .expect_stdout("result")
        .expect_stderr("progress");
    assert_eq!(ended.stdout, "result\n");
}

#[test]
fn a_program_that_takes_too_long_is_ended_and_quoted() {
    let slow = shell("echo so far; exec sleep 600").bound(Duration::from_millis(300));
    let said = panic_of(|| drop(slow.run()));
    assert!(
        said.contains("took too long") && said.contains("so far"),
        "{said}"
    );
}

#[test]
fn waiting_for_a_line_ends_with_the_program() {
    let mut running = shell("echo one; echo port=4711").start();
    let port = running.wait_for(|line| line.strip_prefix("port=")?.parse::<u16>().ok());
    assert_eq!(port, 4711);
    let said = panic_of(|| running.wait_for(|line| line.strip_prefix("never").map(|_| ())));
    assert!(said.contains("ended without saying it"), "{said}");
}

#[test]
fn an_interrupt_reaches_the_program() {
    let script = "trap 'echo bye; exit 5' INT; echo ready; while :; do sleep 0.05; done";
    let mut running = shell(script).start();
    running.wait_for(|line| (line == "ready").then_some(()));
    running.interrupt();
    running.finish().expect_code(5).expect_stdout("bye");
}

#[test]
fn a_killed_program_has_no_exit_code() {
    let ended = shell("exec sleep 600").start().kill();
    assert_eq!(ended.code, None);
}

#[test]
fn records_are_the_directories_below_runs() {
    let runs = temp_runs();
    assert!(runs.records().is_empty());
    shell("mkdir -p runs/b runs/a; touch runs/c")
        .dir(runs.path())
        .run();
    let names: Vec<_> = runs
        .records()
        .iter()
        .map(|r| r.file_name().map(ToOwned::to_owned))
        .collect();
    assert_eq!(names, [Some("a".into()), Some("b".into())]);
}
