//! Tests of the counts by response code, and of which responses count.

use std::collections::BTreeSet;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex};

use crate::far_end::{OK, Says, answer, label, serve};
use crate::{get, play};

#[test]
fn responses_are_counted_by_what_they_say() {
    for transport in ["udp", "tcp"] {
        let place = serve(|_, query| match label(query).as_str() {
            "absent" => Says::Answer(OK | 3, 0),
            "broken" => Says::Answer(OK | 2, 0),
            "refused" => Says::Answer(OK | 5, 0),
            "odd" => Says::Answer(OK | 4, 0),
            "empty" => Says::Answer(OK, 0),
            "long" => Says::Answer(OK | 0x200, 0),
            _ => Says::Answer(OK, 1),
        });
        let names = [
            "www", "absent", "broken", "refused", "odd", "empty", "long", "mail",
        ];
        let names = names.map(|name| format!(r#""{name}.example""#)).join(",");
        let fields = format!(r#""name":[{names}],"count":"80","transport":"{transport}""#);
        let result = play(&place, &fields);
        let counted = [
            ("answers", 80.0),
            ("no_error", 40.0),
            ("no_such_name", 10.0),
            ("server_failures", 10.0),
            ("refused", 10.0),
            ("other_codes", 10.0),
            ("empty_answers", 10.0),
            ("truncated", 10.0),
            ("errors", 0.0),
            ("unexpected_messages", 0.0),
            ("error_ratio", 30.0 / 80.0),
        ];
        for (name, value) in counted {
            assert_eq!(get(&result, name), value, "{transport}: {name}");
        }
        assert_eq!(place.came.load(Ordering::Relaxed), 80, "{transport}");
        // A query for the records of `www.example`, with EDNS: 12 + 13 + 4 + 11 bytes.
        assert!(get(&result, "sent_bytes") > 80.0 * 40.0 - 1.0);
        assert_eq!(get(&result, "sent_bytes"), get(&result, "received_bytes"));
        assert_eq!(result.histograms["dns.latency_seconds"].n, 80);
        assert!(result.flows[0].complete);
    }
}

#[test]
fn a_message_that_answers_no_query_under_way_is_not_a_response() {
    let place = serve(|number, query| {
        let right = answer(query, OK, 1);
        match number {
            0 => {
                let mut other_number = right.clone();
                other_number[0] ^= 0x80;
                let mut other_name = right.clone();
                other_name[13] = b'x';
                let not_a_response = query.to_vec();
                let cut_off = right[..14].to_vec();
                let wrong = vec![
                    other_number,
                    other_name,
                    not_a_response,
                    cut_off,
                    Vec::new(),
                ];
                Says::Messages([wrong, vec![right.clone(), right]].concat())
            }
            _ => Says::Messages(vec![right]),
        }
    });
    let fields = r#""name":["www.example"],"count":"10","connections":1,"window":1"#;
    let result = play(&place, fields);
    // Five that are wrong, and the response that came twice.
    assert_eq!(get(&result, "unexpected_messages"), 6.0);
    assert_eq!(
        (get(&result, "answers"), get(&result, "errors")),
        (10.0, 0.0)
    );
}

#[test]
fn responses_in_another_order_belong_to_their_queries() {
    let waiting = Arc::new(Mutex::new(Vec::new()));
    let place = serve(move |_, query| {
        let mut waiting = waiting.lock().expect("no test panicked");
        waiting.push(answer(query, OK, 1));
        match waiting.len() {
            8 => Says::Messages(waiting.drain(..).rev().collect()),
            _ => Says::Silence,
        }
    });
    let fields = r#""name":["a{n}.example"],"count":"800","connections":1,"window":8"#;
    for transport in ["udp", "tcp"] {
        let result = play(&place, &format!(r#"{fields},"transport":"{transport}""#));
        assert_eq!(get(&result, "answers"), 800.0, "{transport}");
        assert_eq!(get(&result, "unexpected_messages"), 0.0, "{transport}");
    }
}

#[test]
fn every_thread_asks_for_names_of_its_own() {
    let seen = Arc::new(Mutex::new(BTreeSet::new()));
    let names = Arc::clone(&seen);
    let place = serve(move |_, query| {
        let is_new = names.lock().expect("no test panicked").insert(label(query));
        match is_new {
            true => Says::Answer(OK, 1),
            false => Says::Answer(OK | 2, 0),
        }
    });
    let fields = r#""name":["n{n}.example"],"count":"301","threads":3,"connections":7"#;
    let result = play(&place, fields);
    assert_eq!(
        (get(&result, "answers"), get(&result, "server_failures")),
        (301.0, 0.0)
    );
    assert_eq!(seen.lock().expect("no test panicked").len(), 301);
    assert_eq!(
        (result.flows.len(), get(&result, "open_connections")),
        (3, 7.0)
    );
}
