//! The four experiments of an application server's queues, held against their closed form.
//!
//! Users ask, wait for the answer, think, and ask again. With `N` users, throughput `X`, think time `Z`
//! and time `R` in the server, `N = X (R + Z)`; users that are neither thinking nor being served wait.

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use crate::client::{Lab, exchange, get, is_reset, lab, status};

/// A search and an update of 500 ms each.
const HOLD_S: f64 = 1.0;
const PATH: &str = "/stress/x?searchTime=500&updateTime=500&interval=10&duration=1&bit=16";
/// Mean pause between two requests of a user.
const THINK: Duration = Duration::from_millis(290);

/// Outcomes of the users' requests.
#[derive(Default)]
struct Told {
    answers: AtomicU64,
    resets: AtomicU64,
    others: Mutex<Vec<String>>,
}

/// Sets its flag when it is dropped.
struct Ending<'a>(&'a AtomicBool);

impl Drop for Ending<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// Lets users ask for a while, and looks at the stages meanwhile, after the start-up.
fn load(lab: &Lab, users: u64, time: Duration, mut look: impl FnMut()) -> Told {
    let told = Told::default();
    let stop = AtomicBool::new(false);
    std::thread::scope(|scope| {
        for user in 0..users {
            let (told, stop) = (&told, &stop);
            scope.spawn(move || {
                // Half to three halves of the mean, different for each user and turn.
                let mut turn = user;
                while !stop.load(Ordering::Relaxed) {
                    match exchange(lab.at(), &get(PATH)) {
                        Ok(answer) if status(&answer) == 200 => &told.answers,
                        Err(error) if is_reset(&error) => &told.resets,
                        other => {
                            told.others.lock().expect("lock").push(format!("{other:?}"));
                            return;
                        }
                    }
                    .fetch_add(1, Ordering::Relaxed);
                    turn = (turn * 7 + 3) % 11;
                    std::thread::sleep(THINK.mul_f64(0.5 + turn as f64 / 10.0));
                }
            });
        }
        // Users end even when a look fails, so that the failure is told.
        let _end = Ending(&stop);
        let end = Instant::now() + time;
        std::thread::sleep(time / 3);
        while Instant::now() < end {
            look();
            std::thread::sleep(Duration::from_millis(50));
        }
    });
    let others = std::mem::take(&mut *told.others.lock().expect("lock"));
    assert!(others.is_empty(), "{others:?}");
    told
}

/// Mean of a depth while users ask, and the requests that were answered meanwhile, per second.
fn depths(lab: &Lab, users: u64, paths: [&str; 2]) -> ([f64; 2], f64) {
    let mut sums = [0.0; 2];
    let mut looks = 0.0;
    let mut first = None;
    let mut last = (Instant::now(), 0.0);
    let told = load(lab, users, Duration::from_secs(6), || {
        for (sum, path) in sums.iter_mut().zip(paths) {
            *sum += lab.number(path);
        }
        looks += 1.0;
        last = (Instant::now(), lab.number("/workers/service/count"));
        first.get_or_insert(last);
    });
    assert_eq!(told.resets.load(Ordering::Relaxed), 0);
    let (begun, before) = first.expect("a look");
    let rate = (last.1 - before) / (last.0 - begun).as_secs_f64();
    (sums.map(|sum| sum / looks), rate)
}

/// A: a pool of 10 makes 25 users wait; a pool of 50 makes nobody wait.
#[test]
fn a_small_pool_makes_requests_wait_and_a_large_one_does_not() {
    let lab = lab(&["workers.max=50", "pool.max=10", "stress.hold=sleep"]);
    let ([waiting, used], rate) = depths(&lab, 25, ["/pool/waiting", "/pool/used"]);
    // Users that neither think, nor pause between search and update, nor hold a connection.
    let expected = 25.0 - 10.0 - rate * (THINK.as_secs_f64() + 0.01);
    assert!((8.0..=15.0).contains(&waiting), "{waiting} wait");
    assert!(
        (waiting - expected).abs() < 3.0,
        "{waiting} wait, {expected} should"
    );
    assert!(used > 9.0, "{used} in use");
    assert!(rate <= 10.0 / HOLD_S * 1.2, "{rate} requests/s");
    let wait_s = lab.number("/pool/wait/seconds_total") / lab.number("/workers/service/count");
    assert!(wait_s > 0.5, "{wait_s} s of a request in the pool's queue");

    lab.set(&[("pool.max", "50")]);
    let waited = lab.number("/pool/waited_total");
    let ([waiting, _], faster) = depths(&lab, 25, ["/pool/waiting", "/pool/used"]);
    assert_eq!(waiting, 0.0);
    assert_eq!(
        lab.number("/pool/waited_total"),
        waited,
        "nobody had to wait"
    );
    assert!(faster > rate * 1.3, "{rate} and then {faster} requests/s");
}

/// C: as many threads as connections put the surplus in front of the threads.
#[test]
fn as_many_threads_as_connections_make_requests_wait_in_front() {
    let lab = lab(&[
        "workers.core=40",
        "workers.max=40",
        "pool.max=40",
        "stress.hold=sleep",
    ]);
    let ([queued, active], rate) = depths(&lab, 60, ["/workers/queued", "/workers/active"]);
    assert_eq!(
        lab.number("/pool/waited_total"),
        0.0,
        "nobody waited for a connection"
    );
    let expected = 60.0 - 40.0 - rate * THINK.as_secs_f64();
    assert!(active > 38.0, "{active} active");
    assert!(
        queued > 2.0 && (queued - expected).abs() < 4.0,
        "{queued} wait, {expected} should"
    );
}

/// D: a limit of connections resets the surplus after it was accepted, and users come back at once.
#[test]
fn a_limit_of_connections_resets_the_surplus() {
    let lab = lab(&[
        "workers.core=40",
        "workers.max=40",
        "pool.max=40",
        "listen.max_open=40",
        "stress.hold=sleep",
    ]);
    let (mut looks, mut queued) = (0.0, 0.0);
    let told = load(&lab, 60, Duration::from_secs(6), || {
        assert_eq!(lab.number("/pool/waiting"), 0.0);
        looks += 1.0;
        queued += lab.number("/workers/queued");
    });
    // Between its arrival and the waking of its thread a request is queued for a moment.
    assert!(queued / looks < 2.0, "{} are queued", queued / looks);
    let answers = told.answers.into_inner() as f64;
    let resets = told.resets.into_inner() as f64;
    // 20 to 60 users are turned away in each turn of 0.29 s, 40 are served in each of 1.3 s.
    let share = resets / (answers + resets);
    assert!(
        (0.45..=0.75).contains(&share),
        "{share}: {resets} resets, {answers} answers"
    );
    assert_eq!(lab.number("/connections/turned_away_total"), resets);
}
