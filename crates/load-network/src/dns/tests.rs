use sokudo_workload::contract::{Options as _, Workload as _};

use super::*;

/// Options from JSON fields over the defaults.
fn options(fields: &str) -> DnsOptions {
    serde_json::from_str(&format!("{{{fields}}}")).expect("options of a test")
}

#[test]
fn servers_are_read_as_they_are_printed() {
    for (text, host, port) in [
        ("192.0.2.53", "192.0.2.53", 53),
        ("192.0.2.53:5353", "192.0.2.53", 5353),
        ("ns1.example", "ns1.example", 53),
        ("2001:db8::53", "2001:db8::53", 53),
        ("[2001:db8::53]:5353", "2001:db8::53", 5353),
    ] {
        let server: options::NameServer = text.parse().expect(text);
        assert_eq!((server.host.as_str(), server.port), (host, port));
        assert_eq!(server.to_string().parse(), Ok(server));
    }
    for wrong in [
        "",
        "a b",
        "a:0",
        "a:99999",
        "[::1",
        "[a]:53",
        "https://a/",
        "a:b:c",
    ] {
        assert!(wrong.parse::<options::NameServer>().is_err(), "{wrong}");
    }
}

#[test]
fn what_cannot_be_is_refused() {
    for fields in [
        r#""server":"a""#,
        r#""name":["a.example"],"count":"0""#,
        r#""name":["a.example"],"rate":"1Mb/s""#,
        r#""name":["a.example"],"threads":2,"connections":1"#,
        r#""name":["a.example"],"udp_bytes":100"#,
        r#""name":["a.example"],"udp_bytes":0,"dnssec":true"#,
        r#""queries":"a.example A\nb.example NONSENSE""#,
        r#""queries":"; nothing but a comment""#,
    ] {
        let refusal = options(fields).validate().unwrap_err();
        assert!(refusal.operator_error && refusal.hint.is_some(), "{fields}");
    }
    for wrong in [
        r#"{"name":["a..example"]}"#,
        r#"{"transport":"tls"}"#,
        r#"{"type":"B"}"#,
        r#"{"colour":"red"}"#,
    ] {
        assert!(
            serde_json::from_str::<DnsOptions>(wrong).is_err(),
            "{wrong}"
        );
    }
}

#[test]
fn options_survive_json_and_grow_with_the_hosts() {
    let fields =
        r#""server":"ns:5353","name":["a{n}.example"],"type":"MX","rate":"500/s","count":"7""#;
    let options = options(fields);
    let read: DnsOptions = serde_json::from_str(&options.to_json()).unwrap();
    assert_eq!(read, options);
    let three = read.of_hosts(3);
    assert_eq!(
        (three.connections, three.count.map(|c| c.0)),
        (48, Some(21))
    );
    assert_eq!(three.queries_per_s(), Some(1500.0));
    assert_eq!(read.flows(1).len(), 1);
    let trial = Dns.trial(&read.to_json(), Some(250.0), 1_000_000).unwrap();
    let trial: DnsOptions = serde_json::from_str(&trial).unwrap();
    assert_eq!((trial.count, trial.queries_per_s()), (None, Some(250.0)));
}
