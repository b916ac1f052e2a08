use std::sync::Barrier;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;

use super::*;

const BOUND: Duration = Duration::from_secs(20);

fn pool(max: u32, order: Order, timeout_s: f64) -> Pool {
    let settings = PoolSettings {
        max,
        order,
        timeout_s,
        ..PoolSettings::default()
    };
    Pool::new(open("sim:").expect("a database"), &settings).expect("a pool")
}

fn until(pool: &Pool, holds: impl Fn(&PoolStats) -> bool) -> PoolStats {
    let end = Instant::now() + BOUND;
    loop {
        let (stats, ..) = pool.stats();
        if holds(&stats) || Instant::now() > end {
            return stats;
        }
        thread::yield_now();
    }
}

#[test]
fn who_waits_is_counted_and_served_in_order() {
    for (order, expected) in [(Order::Fifo, [0, 1, 2]), (Order::Lifo, [2, 1, 0])] {
        let pool = pool(1, order, 20.0);
        let served = Mutex::new(Vec::new());
        let held = pool.acquire().expect("the first");
        thread::scope(|scope| {
            for number in 0..3 {
                let (pool, served) = (&pool, &served);
                scope.spawn(move || {
                    let held = pool.acquire().expect("a turn");
                    served.lock().expect("lock").push(number);
                    drop(held);
                });
                let stats = until(pool, |stats| stats.waiting == number + 1);
                assert_eq!((stats.used, stats.waiting), (1, number + 1));
            }
            drop(held);
        });
        assert_eq!(served.into_inner().expect("lock"), expected, "{order:?}");
        let (stats, ..) = pool.stats();
        assert_eq!((stats.used, stats.size, stats.waiting), (0, 1, 0));
        assert_eq!((stats.wait.count, stats.waited_total), (4, 3));
        assert_eq!(stats.hold.count, 4);
    }
}

#[test]
fn waiting_ends_after_its_bound() {
    let pool = pool(1, Order::Fifo, 0.02);
    let held = pool.acquire().expect("the first");
    assert_eq!(pool.acquire().err(), Some(NoSession::Timeout));
    drop(held);
    assert!(pool.acquire().is_ok());
    let (stats, ..) = pool.stats();
    assert_eq!((stats.timeouts_total, stats.waiting, stats.used), (1, 0, 0));
}

#[test]
fn a_larger_pool_serves_who_waits_and_a_smaller_one_closes_connections() {
    let pool = pool(1, Order::Fifo, 20.0);
    let all = Barrier::new(4);
    thread::scope(|scope| {
        for _ in 0..3 {
            scope.spawn(|| {
                let _held = pool.acquire().expect("room in the end");
                all.wait();
            });
        }
        until(&pool, |stats| stats.waiting == 2);
        pool.resize(&PoolSettings {
            max: 3,
            ..PoolSettings::default()
        });
        all.wait();
    });
    let stats = until(&pool, |stats| stats.used == 0);
    assert_eq!((stats.size, stats.waiting), (3, 0));
    pool.resize(&PoolSettings {
        max: 1,
        ..PoolSettings::default()
    });
    assert_eq!(pool.stats().0.size, 1);
}

/// A database that can be told to be down.
struct Moody(Arc<AtomicU64>);

impl Database for Moody {
    fn session(&self) -> Result<Box<dyn Session>, String> {
        match self.0.load(Ordering::Relaxed) {
            0 => super::sim::Sim.session(),
            _ => Err("it is down".into()),
        }
    }
}

#[test]
fn a_database_that_is_down_costs_no_room() {
    let down = Arc::new(AtomicU64::new(1));
    let settings = PoolSettings {
        max: 1,
        ..PoolSettings::default()
    };
    let pool = Pool::new(Box::new(Moody(Arc::clone(&down))), &settings).expect("a pool");
    for _ in 0..3 {
        let refused = NoSession::Database("it is down".into());
        assert_eq!(pool.acquire().err(), Some(refused));
    }
    down.store(0, Ordering::Relaxed);
    let mut held = pool.acquire().expect("it is up again");
    held.is_broken();
    drop(held);
    let (stats, ..) = pool.stats();
    assert_eq!((stats.errors_total, stats.size, stats.used), (4, 0, 0));
}

#[test]
fn closing_sends_everybody_away() {
    let pool = pool(1, Order::Fifo, 20.0);
    let held = pool.acquire().expect("the first");
    thread::scope(|scope| {
        let waits = scope.spawn(|| pool.acquire().err());
        until(&pool, |stats| stats.waiting == 1);
        pool.close();
        assert_eq!(waits.join().expect("no panic"), Some(NoSession::Closed));
    });
    drop(held);
    assert_eq!(pool.acquire().err(), Some(NoSession::Closed));
}

#[test]
fn sqlite_reads_and_writes() {
    let database = open("sqlite:").expect("a database");
    let mut first = database.session().expect("a connection");
    let mut second = database.session().expect("another one");
    for _ in 0..3 {
        first.execute(Statement::Search).expect("rows");
        first.execute(Statement::Update).expect("a row");
        second.execute(Statement::Update).expect("a row");
    }
    assert!(matches!(open("oracle:x"), Err(NoDatabase::Unknown(_))));
    assert!(matches!(
        open("sqlite:/no/such/folder/x.db"),
        Err(NoDatabase::Refused(_))
    ));
}
