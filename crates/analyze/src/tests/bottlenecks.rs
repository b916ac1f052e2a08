//! Made-up connections with a known limit: the right one is named, and no wrong one.

mod scene;

use super::*;
use scene::{BUSY, Scene, Tcp};

/// Both ends wait for what lies between them.
fn between() -> Scene {
    Scene::of("stream")
        .sender([0.03, 0.001, 0.95])
        .receiver([0.04, 0.001, 0.94])
}

#[test]
fn a_full_window_before_an_idle_reader_is_the_windows_limit() {
    let tcp = Tcp {
        receive_window: 0.9,
        ..BUSY
    };
    let scene = between().tcp(tcp);
    let finding = scene.limited_by("receive_window_limited");
    has_metric(&finding, "tcp.receive_window_limited_seconds");
    has_metric(&finding, "stream.read_idle_ratio");
    scene.without("path_limited").without("application_limited");
}

#[test]
fn a_full_window_before_a_sleeping_reader_is_the_readers_limit() {
    let tcp = Tcp {
        receive_window: 0.9,
        ..BUSY
    };
    let scene = Scene::of("stream")
        .sender([0.03, 0.001, 0.95])
        .receiver([0.05, 0.001, 0.02])
        .tcp(tcp);
    let finding = scene.limited_by("application_limited");
    assert_eq!(finding.says.key, "rule-application-reader-says");
    assert_eq!(finding.says.args["host"], Arg::Word("hostb".into()));
    has_metric(&finding, "tcp.receive_window_limited_seconds");
    scene.without("receive_window_limited");
}

#[test]
fn a_full_window_before_a_busy_reader_is_its_cpus_limit() {
    let tcp = Tcp {
        receive_window: 0.6,
        ..BUSY
    };
    let scene = Scene::of("stream")
        .sender([0.4, 0.001, 0.55])
        .receiver([0.98, 0.001, 0.01])
        .tcp(tcp);
    let finding = scene.limited_by("receiver_cpu_limited");
    has_metric(&finding, "stream.write_blocked_ratio");
    scene
        .without("receive_window_limited")
        .without("application_limited");
}

#[test]
fn a_small_send_buffer_is_named() {
    let tcp = Tcp {
        send_buffer: 0.85,
        ..BUSY
    };
    let scene = between().tcp(tcp);
    let finding = scene.limited_by("send_buffer_limited");
    has_metric(&finding, "stream.write_blocked_ratio");
    scene
        .without("receive_window_limited")
        .without("loss_limited");
}

#[test]
fn loss_on_an_empty_way_is_loss() {
    let tcp = Tcp { lost: 0.01, ..BUSY };
    let scene = between().tcp(tcp);
    let finding = scene.limited_by("loss_limited");
    has_metric(&finding, "tcp.retransmitted_segments");
    scene.without("path_limited");
}

#[test]
fn a_standing_queue_is_the_paths_limit_with_loss_and_without() {
    for lost in [0.0, 0.01] {
        let tcp = Tcp {
            round_trip: 0.075,
            lost,
            ..BUSY
        };
        let finding = between().tcp(tcp).limited_by("path_limited");
        has_metric(&finding, "tcp.smoothed_rtt_seconds");
        has_metric(&finding, "tcp.delivery_rate_bytes_per_second");
    }
}

#[test]
fn a_sender_without_cpu_time_left_is_the_limit() {
    let scene = Scene::of("stream")
        .sender([0.97, 0.01, 0.01])
        .receiver([0.5, 0.01, 0.48])
        .tcp(BUSY);
    let finding = scene.limited_by("sender_cpu_limited");
    has_metric(&finding, "stream.read_idle_ratio");
    scene
        .without("receiver_cpu_limited")
        .without("loss_limited");
}

#[test]
fn encryption_gets_other_advice() {
    let mut scene = Scene::of("stream")
        .sender([0.97, 0.01, 0.01])
        .receiver([0.5, 0.01, 0.48]);
    let labels = &mut scene.flow().labels;
    labels.insert("transport".into(), "tls".into());
    let finding = scene.limited_by("sender_cpu_limited");
    assert_eq!(finding.next.unwrap().key, "rule-cpu-encrypted-next");
}

#[test]
fn loss_beside_a_sender_without_time_is_not_the_limit() {
    let tcp = Tcp { lost: 0.02, ..BUSY };
    let scene = Scene::of("stream")
        .sender([0.97, 0.01, 0.01])
        .receiver([0.5, 0.01, 0.48])
        .tcp(tcp);
    scene.limited_by("sender_cpu_limited");
    scene.without("loss_limited");
}

#[test]
fn a_thread_that_spins_is_not_busy() {
    let mut scene = Scene::of("rr")
        .sender([1.0, 0.0, 0.0])
        .receiver([1.0, 0.0, 0.0]);
    let labels = &mut scene.flow().labels;
    labels.insert("wait".into(), "spin".into());
    scene
        .without("sender_cpu_limited")
        .without("receiver_cpu_limited");
}

#[test]
fn an_answering_thread_without_time_is_named() {
    let scene = Scene::of("rr")
        .sender([0.4, 0.001, 0.0])
        .receiver([0.96, 0.01, 0.0]);
    let finding = scene.limited_by("receiver_cpu_limited");
    assert_eq!(finding.says.key, "rule-answering-cpu-says");
}

#[test]
fn a_rate_that_was_kept_is_no_limit_but_the_askers() {
    let scene = Scene::of("stream")
        .sender([0.05, 0.001, 0.001])
        .receiver([0.05, 0.001, 0.94])
        .metric("asked_bits_per_second", 1e8)
        .metric("goodput_bits_per_second", 9.99e7)
        .tcp(Tcp { busy: 0.3, ..BUSY });
    let finding = scene.limited_by("application_limited");
    assert_eq!(finding.says.key, "rule-application-asked-says");
    assert_eq!(finding.severity, Severity::Info);
}

#[test]
fn a_rate_that_was_missed_leaves_the_limit_to_its_cause() {
    let tcp = Tcp {
        receive_window: 0.9,
        ..BUSY
    };
    let scene = between()
        .metric("asked_bits_per_second", 1e8)
        .metric("goodput_bits_per_second", 3e7)
        .tcp(tcp);
    scene.limited_by("receive_window_limited");
    scene.without("application_limited");
}

#[test]
fn pacing_below_everything_else_is_what_was_asked() {
    let mut scene = between().tcp(BUSY).option(r#"{"pacing":"100Mb/s"}"#);
    scene.series("hosta", "tcp.pacing_rate_bytes_per_second", |_| 1.3e7);
    let finding = scene.limited_by("application_limited");
    assert_eq!(finding.says.key, "rule-application-paced-says");
}

#[test]
fn neighbours_are_told_from_the_tests_own_threads() {
    let waiting = |all, own, own_wait| {
        Scene::of("stream")
            .sender([0.5, 0.45, 0.02])
            .receiver([0.3, 0.02, 0.65])
            .machine("hosta", all, own, own_wait)
    };
    let scene = waiting(1.9, 0.8, 0.47);
    let finding = scene.limited_by("neighbour_interference");
    has_metric(&finding, "stream.sender_wait_ratio");
    let mut rows = finding.evidence.iter();
    assert!(rows.any(|row| row.says.key == "evidence-others-cpu"));
    // One conclusion, not two about the same wait.
    scene.without("host_busy");
    // Nobody else used anything to speak of: the test is its own neighbour.
    let crowded = waiting(2.0, 1.9, 0.47);
    crowded.limited_by("host_busy");
    crowded.without("neighbour_interference");
    // Others used a little, but the test lacks far more.
    waiting(2.0, 1.7, 6.0).without("neighbour_interference");
}

#[test]
fn both_ends_that_neighbours_keep_waiting_are_named() {
    let scene = Scene::of("stream")
        .sender([0.5, 0.45, 0.02])
        .receiver([0.3, 0.2, 0.5])
        .machine("hosta", 1.9, 0.8, 0.65);
    let finding = scene.limited_by("neighbour_interference");
    has_metric(&finding, "stream.sender_wait_ratio");
    has_metric(&finding, "stream.receiver_wait_ratio");
}

#[test]
fn stolen_time_is_a_neighbour_too() {
    let mut scene = Scene::of("rr")
        .sender([0.5, 0.2, 0.0])
        .receiver([0.3, 0.1, 0.0]);
    let steal = [("core", "all"), ("state", "steal")];
    add_series(
        &mut scene.record,
        "hosta",
        "host.cpu_ratio",
        &steal,
        0.0,
        0.2,
    );
    let finding = scene.limited_by("neighbour_interference");
    assert_eq!(finding.says.key, "rule-neighbour-steal-says");
}

#[test]
fn a_core_full_of_packets_is_named() {
    let mut scene = between();
    for (core, share) in [("0", 0.05), ("1", 0.97)] {
        let labels = [("core", core), ("state", "softirq")];
        add_series(
            &mut scene.record,
            "hostb",
            "host.cpu_ratio",
            &labels,
            0.0,
            share,
        );
    }
    let squeezes = "host.softnet_time_squeezes";
    add_series(
        &mut scene.record,
        "hostb",
        squeezes,
        &[("core", "1")],
        0.0,
        900.0,
    );
    let finding = scene.limited_by("softirq_core");
    assert_eq!(finding.says.args["core"], Arg::Word("1".into()));
    has_metric(&finding, squeezes);
}

/// Round trips of 50 µs, and what the receiving kernel says about acknowledgements.
fn near(source: &'static str) -> Scene {
    let tcp = Tcp {
        round_trip: 0.000_06,
        lowest: 0.000_05,
        under_way: 1.0,
        ..BUSY
    };
    let mut scene = Scene::of(source)
        .sender([0.02, 0.001, 0.9])
        .receiver([0.02, 0.001, 0.95])
        .tcp(tcp)
        .option(r#"{"size":"100","nagle":true}"#);
    scene.series("hostb", "tcp.delayed_ack_seconds", |_| 0.04);
    scene
}

#[test]
fn a_step_of_40_ms_is_a_delayed_acknowledgement() {
    let metric = "bus.response_latency_seconds";
    let step = [(900, 0.0001), (100, 0.0405)];
    let finding = near("bus").answers(metric, &step).limited_by("delayed_ack");
    has_metric(&finding, metric);
    has_metric(&finding, "tcp.delayed_ack_seconds");
    // Without Nagle's algorithm nothing waits for an acknowledgement.
    let open = near("bus")
        .answers(metric, &step)
        .option(r#"{"nagle":false}"#);
    open.without("delayed_ack");
    // A broad distribution has no step.
    let broad = [(300, 0.02), (300, 0.030), (300, 0.040), (300, 0.058)];
    near("bus").answers(metric, &broad).without("delayed_ack");
}

#[test]
fn a_stream_that_stands_still_with_every_window_open_waits_for_acknowledgements() {
    let finding = near("stream").limited_by("delayed_ack");
    assert_eq!(finding.says.key, "rule-delayed-ack-still-says");
    has_metric(&finding, "tcp.unacknowledged_segments");
}

#[test]
fn the_tail_of_answers_shows_retransmissions() {
    let tcp = Tcp { lost: 0.01, ..BUSY };
    let answers = [(990, 0.0201), (10, 0.23)];
    let scene = Scene::of("rr")
        .tcp(tcp)
        .answers("rr.latency_seconds", &answers);
    let finding = scene.limited_by("loss_limited");
    assert_eq!(finding.says.key, "rule-loss-limited-tail-says");
}

#[test]
fn thin_evidence_names_no_limit() {
    // The kernel's clocks alone: nobody knows what the programs did meanwhile.
    let tcp = Tcp {
        receive_window: 0.9,
        ..BUSY
    };
    assert_eq!(Scene::of("stream").tcp(tcp).top(), None);
    // The programs' waits alone: something between them, nobody knows what.
    assert_eq!(between().top(), None);
    // A way without a queue, without loss, with everything open.
    assert_eq!(between().tcp(BUSY).top(), None);
}

#[test]
fn contradictions_are_settled_by_who_waits_for_whom() {
    // Window, buffer and loss all show, but the receiving program never waits for data.
    let tcp = Tcp {
        receive_window: 0.4,
        send_buffer: 0.3,
        lost: 0.02,
        ..BUSY
    };
    let scene = Scene::of("stream")
        .sender([0.2, 0.01, 0.78])
        .receiver([0.95, 0.02, 0.02])
        .tcp(tcp);
    scene.limited_by("receiver_cpu_limited");
    for other in [
        "receive_window_limited",
        "send_buffer_limited",
        "loss_limited",
    ] {
        scene.without(other);
    }
}

#[test]
fn the_larger_share_of_two_limits_is_named_first() {
    let of = |receive_window, send_buffer| {
        let tcp = Tcp {
            receive_window,
            send_buffer,
            ..BUSY
        };
        between().tcp(tcp)
    };
    of(0.6, 0.3).limited_by("receive_window_limited");
    of(0.3, 0.6).limited_by("send_buffer_limited");
}

#[test]
fn shares_that_overlap_do_not_add_up_to_more_than_the_time() {
    // A blocked read that is timed from outside holds the wait for a CPU at its end.
    let tcp = Tcp {
        receive_window: 0.9,
        ..BUSY
    };
    let scene = Scene::of("stream")
        .sender([0.3, 0.0, 0.7])
        .receiver([0.5, 0.45, 0.5])
        .tcp(tcp);
    scene.without("receive_window_limited");
}

#[test]
fn figures_that_are_no_numbers_name_nothing() {
    for bad in [f64::NAN, f64::INFINITY, -1.0] {
        let tcp = Tcp {
            busy: bad,
            receive_window: bad,
            send_buffer: bad,
            round_trip: bad,
            lowest: bad,
            lost: bad,
            under_way: bad,
        };
        let scene = Scene::of("stream")
            .sender([bad; 3])
            .receiver([bad; 3])
            .tcp(tcp)
            .machine("hosta", bad, bad, bad);
        findings(&scene.record).iter().for_each(check_texts);
        keys(&verdict(&scene.record));
    }
}

#[test]
fn the_verdict_tells_result_limit_and_next_of_a_stream() {
    let tcp = Tcp {
        receive_window: 0.9,
        ..BUSY
    };
    let scene = between().tcp(tcp).metric("goodput_bits_per_second", 3e7);
    let told = [
        "verdict-stream",
        "rule-receive-window-says",
        "rule-receive-window-next",
    ];
    assert_eq!(keys(&verdict(&scene.record)), told);
    let named = limit(&scene.record).map(|finding| finding.rule);
    assert_eq!(named.as_deref(), Some("receive_window_limited"));
}

#[test]
fn the_verdict_says_what_would_have_had_to_be_known() {
    let scene = Scene::of("stream").metric("goodput_bits_per_second", 3e7);
    let said = verdict(&scene.record);
    assert_eq!(
        keys(&said),
        ["verdict-stream", "verdict-undetermined-lacking"]
    );
    let Arg::Word(names) = &said[1].args["names"] else {
        panic!("{said:?}");
    };
    assert!(names.contains("stream.read_idle_ratio") && names.contains("tcp.busy_seconds"));
    assert_eq!(limit(&scene.record), None);
}

#[test]
fn the_verdict_of_a_bus_tells_its_answers_when_they_were_timed() {
    let plain = || Scene::of("bus").metric("messages_per_second", 5e5);
    let answers = |scene: &Scene| match &verdict(&scene.record)[0].args["answers"] {
        Arg::Text(answers) => answers.key.clone(),
        other => panic!("{other:?}"),
    };
    assert_eq!(answers(&plain()), "answers-untold");
    let timed = ["p50", "p99", "max"].into_iter();
    let timed = timed.fold(plain(), |scene, which| {
        scene.total(&format!("response_latency_seconds.{which}"), 1e-3)
    });
    assert_eq!(answers(&timed), "answers-told");
    let asked = plain().metric("asked_per_second", 6e5);
    let said = verdict(&asked.total("lost_messages", 3.0).record);
    assert_eq!(
        keys(&said)[..2],
        ["verdict-bus-asked", "verdict-bus-missing"]
    );
}

/// An open loop of 500 requests per second over one connection: longest answer and longest wait,
/// seconds, and how long an answer takes on average.
fn open_loop(mean: f64, service: f64, wait: f64) -> Scene {
    Scene::of("rr")
        .sender([0.02, 0.001, 0.0])
        .receiver([0.02, 0.001, 0.0])
        .metric("window_full_ratio", 0.14)
        .total("transactions_per_second", 500.0)
        .total("asked_per_second", 500.0)
        .total("open_connections", 1.0)
        .total("service_seconds.mean", mean)
        .total("service_seconds.p99", service)
        .total("service_seconds.max", service)
        .total("latency_seconds.p99", wait)
        .total("latency_seconds.max", wait)
}

#[test]
fn a_far_end_that_is_too_slow_or_stands_still_fills_the_window() {
    for scene in [open_loop(0.04, 0.04, 2.0), open_loop(0.001, 0.5, 0.5)] {
        let finding = scene.limited_by("window_full");
        has_metric(&finding, "rr.window_full_ratio");
        scene.without("generator_limited");
    }
}

#[test]
fn an_asking_end_that_stood_still_does_not_blame_the_far_end() {
    let scene = open_loop(0.000_07, 0.005, 0.5);
    let finding = scene.limited_by("generator_limited");
    assert_eq!(finding.says.key, "rule-generator-limited-stood-says");
    scene.without("window_full");
}

#[test]
fn pressure_that_the_tests_own_threads_do_not_feel_limits_nothing() {
    let tcp = Tcp {
        receive_window: 0.3,
        ..BUSY
    };
    let mut scene = between().tcp(tcp);
    let pressure = [("resource", "cpu"), ("kind", "some")];
    let record = &mut scene.record;
    add_series(record, "hosta", "host.pressure_ratio", &pressure, 0.0, 0.99);
    scene.limited_by("receive_window_limited");
    scene.without("host_busy");
}

#[test]
fn messages_that_wait_for_receipts_are_limited_by_the_window() {
    let bus = |receiver| {
        Scene::of("bus")
            .sender([0.3, 0.01, 0.02])
            .receiver(receiver)
            .metric("backlog_ratio", 0.6)
            .tcp(BUSY)
    };
    let finding = bus([0.2, 0.01, 0.7]).limited_by("window_full");
    assert_eq!(finding.says.key, "rule-window-full-receipts-says");
    has_metric(&finding, "bus.backlog_ratio");
    has_metric(&finding, "bus.read_idle_ratio");
    // Receipts are late because the receiver has no time left.
    let slow = bus([0.97, 0.01, 0.01]);
    slow.limited_by("receiver_cpu_limited");
    slow.without("window_full");
}
