//! Made-up connections with a known limit: the right one is named, and no wrong one.

use super::scene::*;
use super::*;

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
fn thin_evidence_names_no_limit() {
    // The kernel's clocks alone: the times of the programs are unknown.
    let tcp = Tcp {
        receive_window: 0.9,
        ..SENDING
    };
    assert_eq!(Scene::of("stream").tcp(tcp).top(), None);
    // The programs' waits alone: the limit lies between them, unknown where.
    assert_eq!(between().top(), None);
    // A way without a queue, without loss, with everything open.
    assert_eq!(between().tcp(SENDING).top(), None);
}

#[test]
fn contradictions_are_settled_by_who_waits_for_whom() {
    // Window, buffer and loss all show, but the receiving program never waits for data.
    let tcp = Tcp {
        receive_window: 0.4,
        send_buffer: 0.3,
        lost: 0.02,
        ..SENDING
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
            ..SENDING
        };
        between().tcp(tcp)
    };
    of(0.6, 0.3).limited_by("receive_window_limited");
    of(0.3, 0.6).limited_by("send_buffer_limited");
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
        ..SENDING
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
    let said = verdict(&asked.total("missing_messages", 3.0).record);
    assert_eq!(
        keys(&said)[..2],
        ["verdict-bus-asked", "verdict-bus-missing"]
    );
}
