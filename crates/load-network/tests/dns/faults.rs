//! Servers that do not answer, go away, or close their connections.

use sokudo_i18n::english;
use std::io::Write as _;
use std::net::{TcpListener, UdpSocket};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use crate::far_end::{OK, Place, Says, serve};
use crate::{error, get, play};

/// An address of this host at which no other test listens, where the system has one.
fn alone() -> &'static str {
    match cfg!(target_os = "linux") {
        true => "127.0.0.77",
        false => "127.0.0.1",
    }
}

#[test]
fn queries_without_a_response_are_errors_and_late_responses_are_not_answers() {
    let place = serve(|number, _| match number % 10 {
        3 => Says::Silence,
        _ => Says::Answer(OK, 1),
    });
    let fields = r#""name":["www.example"],"count":"90","timeout":"100ms","connections":2"#;
    let result = play(&place, fields);
    let (answers, errors) = (get(&result, "answers"), get(&result, "errors"));
    let came = place.came.load(Ordering::Relaxed) as f64;
    assert_eq!((answers, answers + errors), (90.0, came));
    // On a busy machine others may come too late.
    let silent = ((came + 6.0) / 10.0).floor();
    assert!(errors >= silent, "{errors} of {came}");
    assert_eq!(error(&result), "no response came in time");
}

#[test]
fn a_port_on_which_nothing_listens_is_told() {
    let socket = UdpSocket::bind((alone(), 0)).expect("loopback has ports");
    let address = socket.local_addr().expect("it is bound");
    drop(socket);
    let place = Place {
        address,
        came: Arc::new(AtomicUsize::new(0)),
    };
    let fields = r#""name":["www.example"],"duration":"300ms","connections":2"#;
    let result = play(&place, fields);
    assert_eq!(get(&result, "answers"), 0.0);
    // Where the system reports refusals of datagrams, they end the wait.
    if cfg!(target_os = "linux") {
        assert!(get(&result, "unreachable") > 0.0);
        assert_eq!(error(&result), "nothing listens on the server's port");
    }
    assert!(get(&result, "errors") > 0.0);
    assert_eq!(get(&result, "error_ratio"), 1.0);
}

#[test]
fn queries_that_wait_for_a_silent_server_are_not_late_by_themselves() {
    let place = serve(|_, _| Says::Silence);
    let fields = r#""name":["www.example"],"duration":"1s","rate":"100/s","timeout":"200ms","connections":1,"window":1"#;
    let result = play(&place, fields);
    let of = |ratio: &str| get(&result, ratio) * place.came.load(Ordering::Relaxed) as f64;
    let (late, full) = (of("late_ratio"), of("window_full_ratio"));
    // The first query found room; each of the others waited until the one before was given up.
    assert!(late <= 1.5 && full >= 2.0, "{late} late, {full} waited");
}

#[test]
fn connections_that_the_server_closes_are_made_again() {
    // Each connection brings a few answers; which query ends it depends on the order of arrival.
    let place = serve(|number, _| match number % 20 {
        19 => Says::HangUp,
        _ => Says::Answer(OK, 1),
    });
    let fields = r#""name":["www.example"],"count":"400","transport":"tcp","connections":3"#;
    let result = play(&place, fields);
    assert_eq!(get(&result, "answers"), 400.0);
    let (errors, made) = (get(&result, "errors"), get(&result, "made_connections"));
    assert!(made >= 19.0, "{made}");
    // What was under way on a closed connection has failed: the query that ended it, and up to a
    // window of others.
    assert!(
        (made..=8.0 * (made + 3.0)).contains(&errors),
        "{errors} of {made}"
    );
    assert_eq!(error(&result), "the server closed the connection");
    assert_eq!(result.histograms["dns.connect_seconds"].n as f64, made);
}

#[test]
fn a_server_that_sends_without_end_does_not_hold_the_load() {
    let listener = TcpListener::bind(("127.0.0.1", 0)).expect("loopback has ports");
    let address = listener.local_addr().expect("it is bound");
    thread::spawn(move || {
        for mut stream in listener.incoming().flatten() {
            // Messages of no length, until the load hangs up.
            thread::spawn(move || while stream.write_all(&[0; 65_536]).is_ok() {});
        }
    });
    let place = Place {
        address,
        came: Arc::new(AtomicUsize::new(0)),
    };
    let fields = r#""name":["www.example"],"duration":"200ms","timeout":"200ms","transport":"tcp","connections":2"#;
    let result = play(&place, fields);
    assert_eq!(get(&result, "answers"), 0.0);
    assert!(get(&result, "unexpected_messages") > 0.0);
    assert_eq!(get(&result, "error_ratio"), 1.0);
}

#[test]
fn a_server_without_tcp_is_refused_before_the_load() {
    let socket = UdpSocket::bind((alone(), 0)).expect("loopback has ports");
    let address = socket.local_addr().expect("it is bound");
    let refused = crate::armed(address, r#""name":["a.example"],"transport":"tcp""#);
    let refusal = refused.err().expect("nothing listens over TCP");
    assert!(refusal.operator_error && refusal.hint.is_some());
    assert!(
        english(&refusal.says).contains("cannot be reached"),
        "{}",
        english(&refusal.says)
    );
}

#[test]
fn an_open_loop_counts_what_it_could_not_send() {
    let place = serve(|_, _| Says::Silence);
    let fields = r#""name":["www.example"],"rate":"1000/s","duration":"500ms","timeout":"200ms","connections":1,"window":4"#;
    let result = play(&place, fields);
    let (errors, unstarted) = (get(&result, "errors"), get(&result, "unstarted_queries"));
    assert_eq!((get(&result, "answers"), errors + unstarted), (0.0, 500.0));
    assert!(unstarted > 0.0 && errors >= 4.0, "{errors} {unstarted}");
    assert_eq!(get(&result, "asked_per_second"), 1000.0);
}

#[test]
fn a_server_that_dies_answered_over_the_whole_load() {
    for more in ["", r#","transport":"tcp""#, r#","rate":"200/s""#] {
        let place = serve(|number, _| match number {
            0..50 => Says::Answer(OK, 1),
            _ => Says::Silence,
        });
        let fields = format!(
            r#""duration":"1s","timeout":"100ms","name":["www.example"],"connections":1,"window":1{more}"#
        );
        let result = play(&place, &fields);
        let answered = get(&result, "answers");
        assert!(answered > 0.0 && answered <= 50.0, "{more}: {answered}");
        assert_eq!(get(&result, "answers_per_second"), answered, "{more}");
        let last = result.flows[0].metrics["group.last_through_seconds"];
        let lost = 1.0 - last;
        let errors = get(&result, "error_ratio");
        let least = if more.contains("rate") {
            0.7
        } else {
            lost * 0.95
        };
        assert!(errors >= least, "{more}: {errors} of {last} s");
    }
}
