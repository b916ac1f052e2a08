//! Tests of quiet phases: nothing but load travels, and no sample is lost.

use std::io::{Read as _, Write as _};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{SystemTime, UNIX_EPOCH};

use sokudo_model::{Record, RunStatus};

use crate::vocabulary::{no_panic, place, serve, summary};

/// Longer than the silence after which a host is given up.
const LOAD_S: i64 = 8;
const SECOND_NS: i64 = 1_000_000_000;

/// Bytes of control that passed, by wall-clock nanoseconds.
type Passed = Arc<Mutex<Vec<(i64, usize)>>>;

/// Hands one connection on to `to`, either way, and notes what passes. Load takes its own way.
fn control_to(to: SocketAddr) -> (SocketAddr, Passed) {
    let listener = TcpListener::bind(("127.0.0.1", 0)).expect("loopback has ports");
    let address = listener.local_addr().expect("bound");
    let passed = Passed::default();
    let notes = Arc::clone(&passed);
    std::thread::spawn(move || {
        let (near, _) = listener.accept().expect("one connection");
        let far = TcpStream::connect(to).expect("it listens");
        let (near_too, far_too) = (near.try_clone(), far.try_clone());
        let back = (far_too.expect("a socket"), near_too.expect("a socket"));
        let notes_too = Arc::clone(&notes);
        let backwards = std::thread::spawn(move || pass(back.0, back.1, &notes_too));
        pass(near, far, &notes);
        backwards.join().expect("passing on cannot fail");
    });
    (address, passed)
}

fn pass(mut from: TcpStream, mut to: TcpStream, notes: &Passed) {
    let mut bytes = [0u8; 16 * 1024];
    while let Ok(length @ 1..) = from.read(&mut bytes) {
        let since = SystemTime::now().duration_since(UNIX_EPOCH);
        let now_ns = since.expect("after 1970").as_nanos() as i64;
        let mut notes = notes.lock().unwrap_or_else(PoisonError::into_inner);
        notes.push((now_ns, length));
        drop(notes);
        if to.write_all(&bytes[..length]).is_err() {
            break;
        }
    }
    // The other side may have closed first.
    let _ = to.shutdown(Shutdown::Write);
}

/// Number of points of a metric of a host in the middle of the load.
fn points_within(record: &Record, host: &str, metric: &str) -> usize {
    let begin_ns = record.manifest.phases[0].t0_ns;
    let (from_ns, to_ns) = (
        begin_ns + 2 * SECOND_NS,
        begin_ns + (LOAD_S - 1) * SECOND_NS,
    );
    let series = record.series_of(metric).filter(|s| s.key.host == host);
    let points = series.flat_map(|series| &series.points);
    points
        .filter(|(t_ns, _)| (from_ns..to_ns).contains(t_ns))
        .count()
}

#[test]
fn nothing_but_load_travels_and_the_record_is_whole() {
    let place = place();
    let server = serve(&place);
    let (control, passed) = control_to(server.address);
    let ended = place.run(&format!(
        "rr {control} --rate 200/s --duration {LOAD_S}s --quiet-phase --json"
    ));
    no_panic(&ended);
    assert!(matches!(ended.code, Some(0 | 1)), "{ended}");
    assert!(summary(&ended).number("rr.transactions") > 0.0);
    let record = place.load();
    assert_eq!(record.manifest.status, RunStatus::Ok);
    let notes = &record.manifest.notes;
    assert!(notes.iter().any(|note| note.key == "engine-quiet-phases"));
    for host in &record.manifest.hosts {
        let points = points_within(&record, &host.name, "self.cpu_ratio");
        assert!(points > 0, "nothing of {}", host.name);
    }

    let begin_ns = record.manifest.started_unix_ns + record.manifest.phases[0].t0_ns;
    let passed = passed.lock().unwrap_or_else(PoisonError::into_inner);
    let bytes = |from_ns: i64, to_ns: i64| -> usize {
        let within = passed
            .iter()
            .filter(|(t_ns, _)| (from_ns..to_ns).contains(t_ns));
        within.map(|(_, bytes)| bytes).sum()
    };
    // The last request may end a little before its time.
    let quiet_ns = begin_ns + 2 * SECOND_NS;
    let over_ns = begin_ns + (LOAD_S - 1) * SECOND_NS;
    assert_eq!(bytes(quiet_ns, over_ns), 0, "{passed:?} after {begin_ns}");
    assert!(
        bytes(0, quiet_ns) > 0 && bytes(over_ns, i64::MAX) > 0,
        "{passed:?}"
    );
}
