//! Test that a request on a kept connection allocates nothing.
//!
//! A test binary of its own, because the allocator counts every allocation of the process.

use std::io::{Read as _, Write as _};
use std::net::TcpListener;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use sokudo_http::{
    Config, Exchange, Keep, Outcome, Scheme, Stop, Switch, TargetId, Targets, User, UserStep, run,
};
use sokudo_net::clock::now_ns;
use sokudo_testkit::allocations::{COUNTED, Counted, calls};

#[global_allocator]
static ALLOCATOR: Counted = COUNTED;

const USERS: usize = 8;
/// Requests of a user before the counting begins, and while it lasts.
const WARM: u32 = 100;
const MEASURED: u32 = 1_000;

/// Asks one request after the other, and notes the allocator's count twice.
struct Asker {
    target: TargetId,
    asked: u32,
    /// Calls between the two counts, of the user that saw most.
    most: Arc<AtomicUsize>,
    before: usize,
}

impl User for Asker {
    fn step(&mut self, now_ns: i64, out: &mut Vec<u8>) -> UserStep {
        match self.asked {
            WARM => self.before = calls(),
            asked if asked == WARM + MEASURED => {
                self.most
                    .fetch_max(calls() - self.before, Ordering::Relaxed);
            }
            // The others are still being counted.
            asked if asked == 2 * WARM + MEASURED => return UserStep::End,
            _ => {}
        }
        self.asked += 1;
        out.extend_from_slice(b"GET / HTTP/1.1\r\nHost: test\r\n\r\n");
        UserStep::Send(Exchange {
            target: self.target,
            intended_ns: now_ns,
            close: false,
            fresh: false,
            connect_timeout_ns: 20_000_000_000,
            response_timeout_ns: 20_000_000_000,
            whole_timeout_ns: 0,
            keep: Keep::Body { at_most: 1 << 16 },
            method_is_head: false,
            switch: Switch::default(),
            names: None,
            lane: None,
        })
    }

    fn ended(&mut self, outcome: &Outcome<'_>) {
        assert_eq!(outcome.failure, None);
        assert_eq!(outcome.body, b"ok");
    }
}

/// A server that allocates nothing for a request, either.
fn server() -> u16 {
    let listener = TcpListener::bind(("127.0.0.1", 0)).expect("loopback has ports");
    let port = listener.local_addr().expect("it is bound").port();
    thread::spawn(move || {
        for mut stream in listener.incoming().flatten() {
            thread::spawn(move || {
                let mut portion = [0; 4096];
                // A request fits into one portion, and none follows before its answer.
                while let Ok(1..) = stream.read(&mut portion) {
                    let answer = b"HTTP/1.1 200 OK\r\nServer: test\r\nContent-Length: 2\r\n\r\nok";
                    if stream.write_all(answer).is_err() {
                        return;
                    }
                }
            });
        }
    });
    port
}

#[test]
fn a_request_on_a_kept_connection_allocates_nothing() {
    let targets = Arc::new(Targets::new());
    let target = targets.intern(Scheme::Http, "127.0.0.1", server());
    let most = Arc::new(AtomicUsize::new(0));
    let asker = |_| {
        let asker = Asker {
            target,
            asked: 0,
            most: Arc::clone(&most),
            before: 0,
        };
        (now_ns(), Box::new(asker) as Box<dyn User>)
    };
    let users = (0..USERS).map(asker).collect();
    let audit = run(&Config::default(), &targets, 1, users, &Stop::default());
    assert_eq!(audit.expect("the loop starts").died, 0);
    // Of some 8,000 requests: a thread of the test harness or of the server may begin or end meanwhile.
    let most = most.load(Ordering::Relaxed);
    assert!(
        most < MEASURED as usize / 10,
        "{most} calls of the allocator"
    );
}
