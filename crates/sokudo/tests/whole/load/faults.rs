//! Servers and disks that do not do what they should: the load goes on, and what was lost is told.

use std::fs;
use std::net::TcpListener;
use std::time::Duration;

use super::far::{Does, far, far_on, get, plan, says, says_with};
use crate::vocabulary::{place, summary};

#[test]
fn six_of_ten_answers_are_errors_and_every_one_is_counted_by_its_kind() {
    let place = place();
    let far = far(|number, _| match number % 10 {
        0 | 1 => Does::Closes,
        2 | 3 => Does::Resets,
        4 | 5 => says(500, "no"),
        6 => Does::Later(
            Duration::from_millis(20),
            b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n".to_vec(),
        ),
        _ => says(200, "ok"),
    });
    place.write("plan.jmx", &plan(1, 100, &get(far.address, "/a", "")));
    let ended = place.run("load plan.jmx -l out.jtl --json");
    ended.expect_code(0);
    let said = summary(&ended);
    assert_eq!(said.number("http.errors"), 40.0);
    assert_eq!(said.number("http.status_5xx"), 20.0);
    assert_eq!(said.number("http.status_2xx"), 40.0);
    let rows = fs::read_to_string(place.path().join("out.jtl")).unwrap();
    let count = |text: &str| rows.lines().filter(|row| row.contains(text)).count();
    assert_eq!(rows.lines().count(), 101);
    assert_eq!(count("NoHttpResponseException"), 20);
    assert_eq!(count("java.net.SocketException"), 20);
    assert_eq!(count(",500,X,"), 20);
}

#[test]
fn a_server_that_restarts_is_found_again() {
    let place = place();
    let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
    let address = listener.local_addr().unwrap();
    place.write("plan.jmx", &plan(2, -1, &get(address, "/a", "")));
    // Bound and not accepting: the first connections wait in its queue and are then broken off.
    let running = place
        .sokudo("load plan.jmx -l out.jtl --duration 3 --threads 1 --json")
        .start();
    let first = listener.accept().map(drop);
    drop(listener);
    assert!(first.is_ok());
    // A port in its last moments may be taken once more only by whoever says so.
    let again = socket2::Socket::new(socket2::Domain::IPV4, socket2::Type::STREAM, None).unwrap();
    again.set_reuse_address(true).unwrap();
    again.bind(&address.into()).unwrap();
    again.listen(64).unwrap();
    let far = far_on(again.into(), |_, _| says(200, "ok"));
    let ended = running.finish();
    ended.expect_code(0);
    let said = summary(&ended);
    assert!(said.number("http.status_2xx") > 0.0);
    assert!(said.number("http.errors") > 0.0);
    assert!(!far.asked().is_empty());
}

#[test]
fn a_killed_generator_leaves_whole_rows() {
    let place = place();
    let far = far(|_, _| says(200, "ok"));
    place.write("plan.jmx", &plan(2, -1, &get(far.address, "/a", "")));
    let running = place
        .sokudo("load plan.jmx -l out.jtl --duration 60 --threads 1")
        .start();
    let file = place.path().join("out.jtl");
    let begun = std::time::Instant::now();
    let rows = || fs::read_to_string(&file).unwrap_or_default();
    while rows().lines().count() < 100 {
        assert!(
            begun.elapsed() < Duration::from_secs(60),
            "rows are written meanwhile"
        );
        std::thread::sleep(Duration::from_millis(20));
    }
    running.kill();
    let text = rows();
    let columns = |line: &str| line.split(',').count();
    let header = columns(text.lines().next().unwrap());
    let whole = text.lines().filter(|line| columns(line) == header).count();
    // Only the very last line may be cut.
    assert!(text.lines().count() - whole <= 1);
    place.run("jtl report out.jtl -o report").expect_code(0);
}

#[test]
fn redirects_in_a_circle_end() {
    let place = place();
    let far = far(|_, _| says_with(302, "Location: /a\r\n", ""));
    let content = get(far.address, "/a", "").replace(
        "<boolProp name=\"HTTPSampler.use_keepalive\">",
        "<boolProp name=\"HTTPSampler.follow_redirects\">true</boolProp><boolProp name=\"HTTPSampler.use_keepalive\">",
    );
    place.write("plan.jmx", &plan(1, 1, &content));
    place
        .run("load plan.jmx -l out.jtl -Jhttpsampler.max_redirects=5")
        .expect_code(0);
    assert_eq!(far.asked().len(), 6);
    let rows = fs::read_to_string(place.path().join("out.jtl")).unwrap();
    assert!(
        rows.contains("Exceeded maximum number of redirects: 5"),
        "{rows}"
    );
}
