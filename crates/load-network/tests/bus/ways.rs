//! Tests of every transport, way of waiting and way of handling: all messages arrive.

use super::play::{among, bus};
use sokudo_i18n::english;
use sokudo_testkit::strangers::Strangers;

#[track_caller]
fn delivers(fields: &str, count: f64) {
    let played = match bus(fields).try_play() {
        Ok(played) => played,
        Err(refusal) if english(&refusal.says).contains("not available on this system") => {
            eprintln!("skipped: {}", english(&refusal.says));
            return;
        }
        Err(refusal) => panic!("{fields}: {}", english(&refusal.says)),
    };
    assert_eq!(
        played.get("bus.messages"),
        count,
        "{fields}: {}",
        played.error()
    );
    assert!(played.is_whole(), "{fields}: {}", played.error());
    assert_eq!(played.get("bus.errors"), 0.0, "{fields}");
}

#[test]
fn every_transport_delivers() {
    for transport in ["tcp", "tls", "quic", "unix", "shm"] {
        let streaming = r#""count":"1000","size":"24..8192","sample":"1/7""#;
        delivers(&format!(r#"{streaming},"transport":"{transport}""#), 1000.0);
        let rr = r#""count":"100","mode":"rr""#;
        delivers(&format!(r#"{rr},"transport":"{transport}""#), 100.0);
        let wide = r#""count":"500","mode":"rr","window":64,"size":"4KiB""#;
        delivers(&format!(r#"{wide},"transport":"{transport}""#), 500.0);
        let paced = r#""count":"100","rate":"2000/s""#;
        delivers(&format!(r#"{paced},"transport":"{transport}""#), 100.0);
    }
}

#[test]
fn every_way_to_handle_delivers() {
    for rx in ["inline", "queue", "poll"] {
        for more in [
            r#""count":"2000""#,
            r#""count":"200","mode":"rr""#,
            r#""count":"2000","sample":"all""#,
            r#""count":"300","transport":"tls""#,
        ] {
            delivers(&format!(r#"{more},"rx":"{rx}""#), count_of(more));
        }
    }
}

fn count_of(fields: &str) -> f64 {
    let digits = fields.split('"').nth(3).expect("a count");
    digits.parse().expect("a number")
}

#[test]
fn every_way_to_wait_delivers() {
    for wait in ["block", "epoll", "spin:20us", "spin"] {
        if cfg!(not(target_os = "linux")) && wait == "epoll" {
            continue;
        }
        for more in [r#""count":"1000""#, r#""count":"100","mode":"rr""#] {
            delivers(&format!(r#"{more},"wait":"{wait}""#), count_of(more));
        }
    }
}

#[test]
fn messages_larger_than_any_buffer_arrive() {
    let fields = r#""count":"20","size":"3MiB","inflight":"6MiB","sample":"all""#;
    delivers(fields, 20.0);
    delivers(r#""count":"20","size":"1MiB","mode":"rr","window":4"#, 20.0);
}

#[test]
fn threads_and_directions_add_up() {
    delivers(r#""count":"300","tx_threads":3"#, 900.0);
    delivers(r#""count":"300","direction":"both""#, 600.0);
    delivers(r#""count":"300","direction":"down""#, 300.0);
    let mesh = among(
        3,
        r#""count":"100","direction":"mesh","rx":"queue","rx_threads":2"#,
    )
    .play();
    assert_eq!(mesh.get("bus.messages"), 600.0);
    assert!(mesh.is_whole());
}

#[test]
fn a_connection_per_message() {
    for transport in ["tcp", "tls"] {
        let fields = r#""single":true,"mode":"rr","count":"30""#;
        let played = bus(&format!(r#"{fields},"transport":"{transport}""#)).play();
        assert!(played.is_whole(), "{}", played.error());
        assert_eq!(played.get("bus.messages"), 30.0);
        assert_eq!(played.get("bus.connections"), 30.0);
        assert_eq!(played.get("bus.answers"), 30.0);
    }
}

/// Strangers that keep coming, some hundred a second, keep no caller waiting for long: each one is answered.
#[test]
fn strangers_hold_no_connection_per_message() {
    for transport in ["tcp", "tls"] {
        let fields = r#""single":true,"mode":"rr","count":"200","rate":"200/s","timeout":"20s""#;
        let plan = bus(&format!(r#"{fields},"transport":"{transport}""#));
        let begin = |offer: &str| {
            let strangers = Strangers::at_offer(offer);
            strangers.wait_for(80);
            strangers
        };
        let played = plan
            .try_play_beside(begin)
            .unwrap_or_else(|refusal| panic!("{}", english(&refusal.says)));
        assert!(played.is_whole(), "{}", played.error());
        for metric in ["messages", "connections", "answers"] {
            assert_eq!(played.get(&format!("bus.{metric}")), 200.0, "{metric}");
        }
        assert_eq!(played.get("bus.errors"), 0.0, "{}", played.error());
        assert!(played.get("bus.foreign_connections") > 0.0);
    }
}

#[test]
fn nobody_is_asked_where_nobody_stands() {
    let refusal = bus(r#""step":true"#).try_play().err().expect("a refusal");
    assert!(refusal.operator_error && english(&refusal.says).contains("--step"));
}
