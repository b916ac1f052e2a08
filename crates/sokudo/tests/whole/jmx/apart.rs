//! A plan on a server runs in a process of its own: its death concerns its run alone.

use std::fs;
use std::time::{Duration, Instant};

use sokudo_testkit::program::Running;

use crate::jmx::far::{far, get, plan, says};
use crate::vocabulary::{BOUND, place};

/// The address of a server that listens on this machine.
fn served(server: &mut Running) -> String {
    server.wait_for(|line| Some(line.strip_prefix("serving on ")?.to_owned()))
}

/// The number of the process that the server started for a plan.
fn plan_process(server: &Running) -> i32 {
    let by = Instant::now() + BOUND;
    while Instant::now() < by {
        for entry in fs::read_dir("/proc").expect("processes").flatten() {
            let Some(id) = entry.file_name().to_string_lossy().parse::<i32>().ok() else {
                continue;
            };
            let of = |file: &str| fs::read_to_string(format!("/proc/{id}/{file}"));
            let parent = of("status").unwrap_or_default();
            let parent = parent.lines().find_map(|line| line.strip_prefix("PPid:\t"));
            let is_plan = of("cmdline").is_ok_and(|line| line.contains("plan-process"));
            if is_plan && parent == Some(server.id().to_string().as_str()) {
                return id;
            }
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    panic!("the server started no process for the plan");
}

#[test]
fn the_death_of_a_plans_process_is_a_problem_of_its_run() {
    let place = place();
    let far = far(|_, _| says(200, "ok"));
    let pause = r#"<ConstantTimer testname="t"><stringProp name="ConstantTimer.delay">20</stringProp></ConstantTimer><hashTree/>"#;
    let asks = get(far.address, "/a", "");
    place.write("endless.jmx", &plan(1, -1, &format!("{pause}{asks}")));
    place.write("short.jmx", &plan(1, 3, &asks));
    place.write("policy.toml", "reach = [\"strangers\", \"files\"]");
    let words = ["serve", "--bind", "127.0.0.1:0", "--policy", "policy.toml"];
    let mut server = place.words(words).start();
    let address = served(&mut server);
    for (signal, name) in [
        (rustix::process::Signal::ABORT, "SIGABRT"),
        (rustix::process::Signal::KILL, "SIGKILL"),
    ] {
        let run = place.words(["jmx", "run", "endless.jmx", "--on", &address]);
        let running = run.start();
        let before = far.asked().len();
        let process = plan_process(&server);
        let by = Instant::now() + BOUND;
        while far.asked().len() == before && Instant::now() < by {
            std::thread::sleep(Duration::from_millis(5));
        }
        let process = rustix::process::Pid::from_raw(process).expect("a process");
        rustix::process::kill_process(process, signal).expect("it lives");
        let ended = running.finish();
        ended.expect_code(3).expect_stderr(name);
        server.must_run();
        let again = place.words(["jmx", "run", "short.jmx", "--on", &address]);
        again.run().expect_code(0);
    }
}
