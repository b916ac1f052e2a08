//! Tests of a plan's backend listeners, with databases on the loopback.

use std::net::{Ipv4Addr, SocketAddr, UdpSocket};
use std::sync::mpsc;
use std::time::Duration;

use socket2::{Domain, Socket, Type};

use super::*;

/// Longest wait for a message that must come.
const BOUND: Duration = Duration::from_secs(60);

fn listener(client: &str, arguments: &[(&str, &str)]) -> String {
    let argument = |(name, value): &(&str, &str)| {
        format!(
            r#"<elementProp name="{name}" elementType="Argument"><stringProp name="Argument.name">{name}</stringProp><stringProp name="Argument.value">{value}</stringProp></elementProp>"#
        )
    };
    let arguments: String = arguments.iter().map(argument).collect();
    format!(
        r#"<BackendListener testname="{client}"><elementProp name="arguments" elementType="Arguments"><collectionProp name="Arguments.arguments">{arguments}</collectionProp></elementProp><stringProp name="classname">org.example.{client}</stringProp></BackendListener><hashTree/>"#
    )
}

/// The usual plan with these listeners beside its group.
fn with(listeners: &str, port: u16) -> String {
    let (head, rest) = {
        let text = plan(port, 2, 5);
        let at = text.find("<ThreadGroup").unwrap();
        (text[..at].to_owned(), text[at..].to_owned())
    };
    format!("{head}{listeners}{rest}")
}

/// Everything that callers say to a listener over TCP, connection by connection; `says` is answered to
/// each that has said the end of a request.
fn hears(says: &'static str) -> (u16, mpsc::Receiver<String>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let (sender, heard) = mpsc::channel();
    std::thread::spawn(move || {
        for mut stream in listener.incoming().flatten() {
            let mut text = String::new();
            if says.is_empty() {
                let _ = stream.read_to_string(&mut text);
            } else {
                let mut reader = BufReader::new(&stream);
                let mut length = 0;
                let mut line = String::new();
                while reader.read_line(&mut line).is_ok_and(|n| n > 2) {
                    let value = line.strip_prefix("Content-Length: ");
                    length = value.and_then(|v| v.trim().parse().ok()).unwrap_or(length);
                    text.push_str(&std::mem::take(&mut line));
                }
                let mut body = vec![0; length];
                let _ = reader.read_exact(&mut body);
                text.push_str(&String::from_utf8_lossy(&body));
                let _ = stream.write_all(says.as_bytes());
            }
            if sender.send(text).is_err() {
                return;
            }
        }
    });
    (port, heard)
}

const YES: &str = "HTTP/1.1 204 No Content\r\nConnection: close\r\n\r\n";
const NO: &str = "HTTP/1.1 401 Unauthorized\r\nContent-Length: 0\r\nConnection: close\r\n\r\n";

/// Sums the numbers behind a name.
fn sum(text: &str, name: &str) -> u64 {
    let numbers = text.split(name).skip(1);
    let number = |rest: &str| {
        let end = rest.find(|letter: char| !letter.is_ascii_digit());
        rest[..end.unwrap_or(rest.len())]
            .parse::<u64>()
            .unwrap_or(0)
    };
    numbers.map(number).sum()
}

#[test]
fn databases_hear_everything_in_their_own_words() {
    let port = server(Arc::new(AtomicU64::new(0)));
    let (graphite, lines) = hears("");
    let (influx, posts) = hears(YES);
    let datagrams = UdpSocket::bind("127.0.0.1:0").unwrap();
    datagrams.set_read_timeout(Some(BOUND)).unwrap();
    let to = datagrams.local_addr().unwrap().to_string();
    let url = format!("http://127.0.0.1:{influx}/write?db=jmeter");
    let listeners = [
        listener(
            "GraphiteBackendListenerClient",
            &[
                (
                    "graphiteMetricsSender",
                    "org.example.TextGraphiteMetricsSender",
                ),
                ("graphiteHost", "127.0.0.1"),
                ("graphitePort", &graphite.to_string()),
                ("rootMetricsPrefix", "root."),
                ("summaryOnly", "false"),
                ("samplersList", "ask"),
                ("percentiles", "90"),
            ],
        ),
        listener(
            "InfluxdbBackendListenerClient",
            &[
                ("influxdbMetricsSender", "org.example.HttpMetricsSender"),
                ("influxdbUrl", &url),
                ("influxdbToken", "tok"),
                ("application", "shop"),
                ("samplersRegex", "as"),
                ("testTitle", "${__P(title,Mine)}"),
                ("percentiles", "50"),
            ],
        ),
        listener(
            "InfluxdbBackendListenerClient",
            &[
                ("influxdbMetricsSender", "org.example.UdpMetricsSender"),
                ("influxdbUrl", &to),
                ("application", "shop"),
                ("summaryOnly", "true"),
            ],
        ),
    ];
    let (finished, rows) = execute(&with(&listeners.concat(), port), |_| {});
    assert!(finished.problems.is_empty(), "{:?}", finished.problems);
    assert_eq!(rows.len() - 1, 10);

    let text = lines
        .recv_timeout(BOUND)
        .expect("a connection that was closed");
    assert_eq!(sum(&text, "root.all.a.count "), 10, "{text}");
    assert_eq!(sum(&text, "root.ask.ok.count "), 10, "{text}");
    assert!(
        text.contains("root.ask.ok.pct90 ") && text.contains("root.test.startedT 2 "),
        "{text}"
    );

    let mut posted = String::new();
    while !posted.contains("text=\"Mine ended\"") {
        posted.push_str(&posts.recv_timeout(BOUND).expect("a post"));
    }
    assert!(
        posted.starts_with("POST /write?db=jmeter HTTP/1.1\r\n"),
        "{posted}"
    );
    assert!(
        posted.contains("\r\nAuthorization: Token tok\r\n"),
        "{posted}"
    );
    assert!(posted.contains("events,application=shop,title=ApacheJMeter text=\"Mine started\" "));
    assert_eq!(
        sum(&posted, "transaction=all,statut=all count="),
        10,
        "{posted}"
    );
    assert_eq!(
        sum(&posted, "transaction=ask,statut=ok count="),
        10,
        "{posted}"
    );

    let mut said = String::new();
    while !said.contains("text=\"Test ended\"") {
        let mut room = [0; 65_536];
        let bytes = datagrams.recv(&mut room).expect("a datagram");
        said.push_str(&String::from_utf8_lossy(&room[..bytes]));
    }
    assert_eq!(
        sum(&said, "transaction=all,statut=all count="),
        10,
        "{said}"
    );
    assert!(!said.contains("transaction=ask"), "{said}");
}

#[test]
fn one_generator_of_several_tells_itself_apart() {
    let port = server(Arc::new(AtomicU64::new(0)));
    let (graphite, lines) = hears("");
    let (influx, posts) = hears(YES);
    let url = format!("http://127.0.0.1:{influx}/");
    let to = [
        ("graphiteHost", "127.0.0.1"),
        ("graphitePort", &graphite.to_string()),
        ("rootMetricsPrefix", "root."),
        (
            "graphiteMetricsSender",
            "org.example.TextGraphiteMetricsSender",
        ),
    ];
    let listeners = [
        listener("GraphiteBackendListenerClient", &to),
        listener("InfluxdbBackendListenerClient", &[("influxdbUrl", &url)]),
        listener(
            "InfluxdbBackendListenerClient",
            &[("influxdbUrl", &url), ("TAG_host", "mine")],
        ),
    ];
    let (finished, _) = execute(&with(&listeners.concat(), port), |options| {
        options.together = Some(Together::default());
    });
    assert!(finished.problems.is_empty(), "{:?}", finished.problems);
    let host = sokudo_net::host::name().unwrap_or_default();
    let text = lines
        .recv_timeout(BOUND)
        .expect("a connection that was closed");
    let name = format!("root.{}.all.a.count ", host.replace('.', "_"));
    assert_eq!(sum(&text, &name), 10, "{text}");
    let mut posted = String::new();
    while posted.matches(" ended\"").count() < 2 {
        posted.push_str(&posts.recv_timeout(BOUND).expect("a post"));
    }
    let all = "transaction=all,statut=all";
    for host in [host.as_str(), "mine"] {
        let name = format!("{all},host={host} count=");
        assert_eq!(sum(&posted, &name), 10, "{posted}");
    }
}

#[test]
fn a_database_that_does_not_listen_is_told_of_and_harms_nothing() {
    let port = server(Arc::new(AtomicU64::new(0)));
    let (refusing, posts) = hears(NO);
    // Bound and not listening, so that no other process can answer there.
    let nobody = Socket::new(Domain::IPV4, Type::STREAM, None).unwrap();
    nobody
        .bind(&SocketAddr::from((Ipv4Addr::LOCALHOST, 0)).into())
        .unwrap();
    let nobody_port = nobody.local_addr().unwrap().as_socket().unwrap().port();
    let url = format!("http://127.0.0.1:{refusing}/");
    let listeners = [
        listener(
            "InfluxdbBackendListenerClient",
            &[("influxdbUrl", &url), ("influxdbToken", "wrong")],
        ),
        listener(
            "GraphiteBackendListenerClient",
            &[
                ("graphiteHost", "127.0.0.1"),
                ("graphitePort", &nobody_port.to_string()),
            ],
        ),
        listener(
            "InfluxdbBackendListenerClient",
            &[("influxdbUrl", "ftp://x")],
        ),
        listener("OtherClient", &[]),
    ];
    let (finished, rows) = execute(&with(&listeners.concat(), port), |_| {});
    assert_eq!(rows.len() - 1, 10);
    assert!(posts.recv_timeout(BOUND).is_ok());
    let problems: Vec<String> = finished.problems.iter().map(english).collect();
    let problems = problems.join("\n");
    assert_eq!(finished.problems.len(), 3, "{problems}");
    for part in [
        "it answered with status 401",
        &nobody_port.to_string(),
        "`ftp://x` is not a valid URL",
    ] {
        assert!(problems.contains(part), "{part} in {problems}");
    }
    assert!(!problems.contains("wrong"), "{problems}");
}
