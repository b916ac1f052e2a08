//! Tests of one server with many clients, in sequence and at once.

use crate::vocabulary::{GENTLE, place, refused, serve, serve_with, summary};

#[test]
fn several_clients_at_once_get_their_own_results() {
    let place = place();
    let server = serve(&place);
    let clients: Vec<_> = (1..=3)
        .map(|n| {
            place
                .sokudo(&format!(
                    "datagram {} --count {} --rate {GENTLE} --json",
                    server.address,
                    n * 1000
                ))
                .start()
        })
        .collect();
    for (n, client) in (1..).zip(clients) {
        let ended = client.finish();
        ended.expect_code(0);
        let said = summary(&ended);
        said.adds_up();
        assert_eq!(said.number("datagram.sent_packets"), f64::from(n * 1000));
    }
    assert_eq!(place.records().len(), 3);
}

#[test]
fn a_full_server_says_so() {
    let place = place();
    let mut server = serve_with(place.sokudo("serve --bind 127.0.0.1:0 --max-clients 1"));
    let first = place
        .sokudo(&format!(
            "datagram {} --rate {GENTLE} --duration 60s",
            server.address
        ))
        .start();
    server
        .running
        .wait_for(|line| line.ends_with("has come").then_some(()));
    let second = place.run(&format!("datagram {} --duration 1s", server.address));
    refused(&second, "already serves 1 clients", "--max-clients");
    drop(first);
}

#[test]
fn a_server_says_who_comes_and_goes_and_ends_on_request() {
    let place = place();
    let mut server = serve(&place);
    place
        .run(&format!(
            "datagram {} --rate {GENTLE} --duration 1s",
            server.address
        ))
        .expect_code(0);
    server
        .running
        .wait_for(|line| line.contains("has left: it said goodbye").then_some(()));
    server.running.interrupt();
    let ended = server.running.finish();
    ended.expect_code(0).expect_stderr("stopping");
}
