//! Tests of `sokudo knee` as a command.

use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpListener};
use std::sync::{Arc, Condvar, Mutex};
use std::thread;
use std::time::Duration;

use crate::vocabulary::{place, summary};

/// A web server that works on so many requests at a time, each for 20 ms, and lets the others wait.
fn server_with_workers(workers: u32) -> SocketAddr {
    const SERVICE: Duration = Duration::from_millis(20);
    let free = Arc::new((Mutex::new(workers), Condvar::new()));
    let listener = TcpListener::bind(("127.0.0.1", 0)).expect("loopback has ports");
    let address = listener.local_addr().expect("it is bound");
    thread::spawn(move || {
        for mut stream in listener.incoming().flatten() {
            let free = Arc::clone(&free);
            thread::spawn(move || {
                let mut portion = [0; 4096];
                while let Ok(1..) = stream.read(&mut portion) {
                    let (count, changed) = &*free;
                    let idle = count.lock().expect("no worker panics");
                    let mut idle = changed
                        .wait_while(idle, |idle| *idle == 0)
                        .expect("the same");
                    *idle -= 1;
                    drop(idle);
                    // The service itself is what is simulated.
                    thread::sleep(SERVICE);
                    *count.lock().expect("no worker panics") += 1;
                    changed.notify_one();
                    let says = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";
                    if stream.write_all(says).is_err() {
                        return;
                    }
                }
            });
        }
    });
    address
}

#[test]
fn a_server_with_four_workers_queues_from_about_four_users() {
    let place = place();
    let address = server_with_workers(4);
    let ended = place.run(&format!(
        "knee http://{address}/ --param connections=1..32 -d 500ms --json"
    ));
    let said = summary(&ended);
    let [low, users, high] =
        ["knee.users.low", "knee.users", "knee.users.high"].map(|name| said.number(name));
    assert!(low <= users && users <= high, "{low} {users} {high}");
    // Closed form: 4 workers, no pauses. A busy machine stretches all service times alike.
    assert!((2.5..=6.0).contains(&users), "{said:?}");
    assert!(said.number("knee.levels") <= 12.0, "{said:?}");
    assert!(said.number("knee.alone_seconds") >= 0.02, "{said:?}");
    let phases = place.load().manifest.phases;
    let passes = |word: &str| phases.iter().filter(|p| p.labels["pass"] == word).count();
    assert_eq!(passes("ramp") + passes("refine"), passes("descend"));
    assert!(passes("confirm") >= 3, "{phases:?}");
    let report = std::fs::read_to_string(place.record().join("report.html")).expect("a report");
    assert!(
        report.contains("The knee by every rule"),
        "the section is missing"
    );
}

#[test]
fn demands_give_the_most_users_that_keep_them() {
    let place = place();
    let address = server_with_workers(2);
    let ended = place.run(&format!(
        "knee http://{address}/ --param connections=1..64 -d 500ms --rule slo --slo p50<90ms --json"
    ));
    let said = summary(&ended);
    // Two workers of 20 ms: 8 users wait 80 ms, 16 wait 160 ms.
    let users = said.number("knee.users");
    assert!((2.0..16.0).contains(&users), "{said:?}");
    assert!(said.number("knee.users.high") > users, "{said:?}");
}

#[test]
fn what_cannot_be_raised_is_refused() {
    let place = place();
    for (typed, why) in [
        ("knee", "required"),
        ("knee --rule bound", "no URL, no database"),
        ("knee plan.jmx", "which property"),
        ("knee 127.0.0.1:9/ --param connections=5..2", "below"),
        (
            "knee 127.0.0.1:9/ --param colour=1..2",
            "no option `--colour`",
        ),
        ("knee 127.0.0.1:9/ --rate 5/s", "--rate"),
        ("knee 127.0.0.1:9/ --rule slo", "asks for demands"),
        (
            "knee 127.0.0.1:9/ --slo p95<1s",
            "has no meaning for the rule",
        ),
        ("knee 127.0.0.1:9/ --rule cpu0", "not a rule"),
    ] {
        let ended = place.run(typed);
        ended.expect_code(2).expect_stderr(why);
    }
}

#[test]
fn a_server_that_is_not_there_gives_no_knee() {
    let place = place();
    let ended = place.run("knee http://127.0.0.1:9/ --param connections=1..8 -d 200ms");
    ended.expect_code(1).expect_stdout("refused");
}
