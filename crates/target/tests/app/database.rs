//! The pool over a real database server: it is used, it is slow, it goes down and comes back.

use std::time::Duration;

use sokudo_sql::{Session, Value};
use sokudo_target::start;
use sokudo_testkit::databases::{DatabaseServer, postgres};

use crate::client::{BOUND, Lab, body, get, lab, settings};

const PATH: &str = "/stress/x?searchTime=0&updateTime=0&bit=0&interval=0";

fn over(server: &DatabaseServer, more: &[&str]) -> Lab {
    let url = format!("pool.url={}", server.dsn());
    let pairs: Vec<&str> = [url.as_str()]
        .into_iter()
        .chain(more.iter().copied())
        .collect();
    lab(&pairs)
}

/// A session beside those of the pool, with the runtime that drives it.
struct Beside {
    session: Session,
    runtime: tokio::runtime::Runtime,
}

impl Beside {
    fn new(server: &DatabaseServer) -> Self {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build();
        let runtime = runtime.expect("a runtime");
        let target = server.dsn().parse().expect("a target");
        let session = runtime.block_on(Session::connect(&target, BOUND));
        Self {
            session: session.expect("a session"),
            runtime,
        }
    }

    fn number(&mut self, sql: &str) -> i64 {
        let rows = self
            .runtime
            .block_on(self.session.rows(sql, &[]))
            .expect(sql);
        match rows.first().and_then(|row| row.first()) {
            Some(Value::Int(number)) => *number,
            other => panic!("{other:?}"),
        }
    }

    fn execute(&mut self, sql: &str) {
        self.runtime.block_on(self.session.batch(sql)).expect(sql);
    }
}

/// The updates of the pool's connections, as the database has them.
const UPDATES: &str = "select sum(amount)::int8 from sokudo_item";

#[test]
fn requests_use_a_real_database_and_wait_as_long_as_it_does() {
    let Some(server) = postgres(&["fsync=off", "max_connections=20"]) else {
        return;
    };
    let lab = over(&server, &["pool.max=3"]);
    let mut beside = Beside::new(&server);
    for _ in 0..7 {
        assert_eq!(lab.status(PATH), 200);
    }
    assert_eq!(beside.number(UPDATES), 7);

    // Slow: every update waits for a lock that somebody else has.
    beside.execute("begin; lock table sokudo_item in exclusive mode");
    std::thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| assert_eq!(lab.status(PATH), 200));
        }
        lab.until("/pool/waiting", |waiting| waiting == 5.0);
        assert_eq!(
            (lab.number("/pool/used"), lab.number("/pool/size")),
            (3.0, 3.0)
        );
        let held = "select count(*) from pg_stat_activity where wait_event_type = 'Lock'";
        // One that looks for a deadlock does not count as waiting for that moment.
        let waiting = (0..1000).map(|_| {
            std::thread::sleep(Duration::from_millis(10));
            beside.number(held)
        });
        let most = { waiting }.find(|waiting| *waiting == 3);
        assert_eq!(most, Some(3), "the whole pool waits in the database");
        beside.execute("commit");
    });
    assert_eq!(beside.number(UPDATES), 15);
    assert_eq!(lab.number("/pool/errors_total"), 0.0);

    // Where it is, without who asks.
    let knobs = lab.remote().knobs().expect("knobs");
    let url = knobs.settings["pool.url"].to_string();
    assert_eq!(
        url,
        format!("\"postgres://127.0.0.1:{}/bench\"", server.port)
    );

    // More connections than the server takes for ordinary users: 20 less 3.
    let folder = tempfile::tempdir().expect("a folder");
    let url = format!("pool.url={}", server.dsn());
    let refused = start(settings(&[&url, "pool.max=18"]), folder.path());
    let refused = refused.err().expect("too many").to_string();
    assert!(
        refused.contains("18") && refused.contains("17"),
        "{refused}"
    );
}

#[test]
fn a_database_that_goes_down_costs_errors_until_it_is_back() {
    let Some(mut server) = postgres(&["fsync=off"]) else {
        return;
    };
    let lab = over(&server, &["pool.max=4", "pool.min=4"]);
    assert_eq!(lab.status(PATH), 200);
    assert_eq!(lab.number("/pool/size"), 4.0);
    server.kill();
    let answer = lab.ask(&get(PATH));
    assert!(answer.starts_with("HTTP/1.1 503 "), "{answer}");
    // The first one that broke takes those along that lay idle.
    assert_eq!(
        (lab.number("/pool/size"), lab.number("/pool/errors_total")),
        (0.0, 1.0)
    );
    let answer = lab.ask(&get(PATH));
    assert!(body(&answer).contains("gives no connection"), "{answer}");
    server.start_again();
    let end = std::time::Instant::now() + BOUND;
    // It listens before it lets anybody in.
    while lab.status(PATH) != 200 {
        assert!(std::time::Instant::now() < end, "{}", server.log());
        std::thread::sleep(Duration::from_millis(50));
    }
    assert_eq!(lab.number("/pool/size"), 1.0);
    drop(server);
    let folder = tempfile::tempdir().expect("a folder");
    let refused = start(
        settings(&["pool.url=postgres://u:geheim@127.0.0.1:1/d"]),
        folder.path(),
    );
    let refused = refused.err().expect("nobody listens").to_string();
    assert!(!refused.contains("geheim"), "{refused}");
}
