//! Controllers that ask for what no honest one asks for.

use std::net::TcpStream;
use std::time::Instant;

use sokudo_bus::{Bus, Member, MemberId, in_proc};

use super::*;

const BOUND: Duration = Duration::from_secs(60);

/// Agents of this process.
struct Hosts(Bus);

impl Hosts {
    /// One host for each guard.
    fn new(guards: &[Option<&Arc<Guard>>]) -> Self {
        let bus = Bus::new();
        for (number, guard) in guards.iter().enumerate() {
            let name = format!("host{number}");
            let make = match guard {
                Some(guard) => guarded(&name, Arc::clone(guard)),
                None => factory(&name),
            };
            let link = in_proc::link(&name, || Ok(()), move |c, n| make(c, n)).expect("an agent");
            let member = Member {
                name,
                address: "127.0.0.1".into(),
            };
            bus.add(member, Box::new(link));
        }
        Self(bus)
    }

    fn ask(&self, host: u32, ask: Ask) -> Reply {
        self.0.ask(MemberId(host), ask, BOUND).expect("an answer")
    }

    /// Prepares and arms what each host is told.
    fn arm(&self, specs: [PhaseSpec; 2]) {
        let kind = specs[0].phase.workload.clone();
        let offers = self.prepare(specs);
        self.arm_with(&offers, &kind);
    }

    /// Prepares what each host is told; their offers.
    fn prepare(&self, specs: [PhaseSpec; 2]) -> Vec<Option<String>> {
        let offers = (0..).zip(specs).map(|(host, spec)| {
            match self.ask(host, Ask::Prepare(Box::new(spec))) {
                Reply::Offer(offer) => Some(offer),
                other => panic!("no offer: {other:?}"),
            }
        });
        offers.collect()
    }

    /// Has the load that is armed carried out; both hosts have a result.
    fn carry_out(&self, what: &str) {
        let at_ns = now_ns() + 10_000_000;
        for host in [1, 0] {
            assert_eq!(self.start(host, at_ns), Reply::Done, "{what}");
        }
        let sent = vec![Some(self.sent(0)), None];
        for host in 0..2 {
            let reply = self.ask(host, Ask::Drain { sent: sent.clone() });
            assert!(matches!(reply, Reply::Result(_)), "{what}: {reply:?}");
        }
    }

    /// Both at once, as a controller does.
    fn arm_with(&self, offers: &[Option<String>], what: &str) {
        let arm = |host| {
            let offers = offers.to_vec();
            (MemberId(host), Ask::Arm { offers })
        };
        for armed in self.0.ask_all(vec![arm(0), arm(1)], BOUND) {
            assert_eq!(armed, Ok(Reply::Done), "{what}");
        }
    }

    /// Waits until a host has sent all; what it says of that.
    fn sent(&self, host: u32) -> String {
        let deadline = Instant::now() + BOUND;
        loop {
            let left = deadline.saturating_duration_since(Instant::now());
            match self.0.notes().recv_timeout(left).expect("a note in time") {
                (MemberId(from), Note::Sent(says)) if from == host => return says,
                _ => {}
            }
        }
    }

    fn start(&self, host: u32, at_ns: i64) -> Reply {
        self.ask(
            host,
            Ask::Start {
                at_ns,
                t0_ns: at_ns,
            },
        )
    }
}

/// The phase of one flow from host 0 to host 1, as host `me` is told.
fn spec(workload: &str, options: &str, me: u32) -> PhaseSpec {
    let mut spec = together(&[], 1);
    spec.hosts[0].address = "127.0.0.1".into();
    spec.hosts[1].address = "127.0.0.1".into();
    spec.phase.workload = workload.into();
    spec.phase.options = options.into();
    spec.phase.flows = vec![FlowPlan {
        id: 0,
        from: 0,
        to: 1,
        stream: 0,
    }];
    spec.tickets = vec![1];
    spec.me = me;
    spec
}

fn is_refused(reply: &Reply, why: &str) -> bool {
    matches!(reply, Reply::Refused(refusal) if english(&refusal.says).contains(why))
}

/// A paced load that begins late makes up for it as fast as it can.
#[test]
fn a_start_of_long_ago_or_far_ahead_is_refused() {
    let folder = tempfile::tempdir().expect("a folder");
    let guard = guard("max_rate = \"1Mb/s\"", folder.path());
    let options = r#"{"duration":"1s","rate":"1Mb/s"}"#;
    let hour_ns = 3_600_000_000_000;
    for (at_ns, t0_ns) in [
        (now_ns() - hour_ns, None),
        (now_ns() + 2 * hour_ns, None),
        (i64::MIN, None),
        (i64::MAX, None),
        (now_ns(), Some(i64::MIN)),
        (now_ns(), Some(i64::MAX)),
    ] {
        let hosts = Hosts::new(&[Some(&guard), None]);
        hosts.arm([0, 1].map(|me| spec("stream", options, me)));
        let t0_ns = t0_ns.unwrap_or(at_ns);
        let reply = hosts.ask(0, Ask::Start { at_ns, t0_ns });
        assert!(
            is_refused(&reply, "too long ago"),
            "{at_ns} {t0_ns}: {reply:?}"
        );
        hosts.0.close();
    }
}

/// The far end does not hold to what this host was told, and the controller never asks for the result.
#[test]
fn what_answers_ends_in_time_whatever_the_others_do() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut guarded = guard("max_duration = \"100ms\"", folder.path());
    Arc::get_mut(&mut guarded).expect("the only one").grace = Duration::ZERO;
    for kind in ["probe", "rr", "crr", "stream", "bus", "datagram"] {
        let hosts = Hosts::new(&[None, Some(&guarded)]);
        let told = ["100s", "100ms"].map(|time| format!("{{\"duration\":\"{time}\"}}"));
        hosts.arm([spec(kind, &told[0], 0), spec(kind, &told[1], 1)]);
        let at_ns = now_ns() + 10_000_000;
        for host in [1, 0] {
            assert_eq!(hosts.start(host, at_ns), Reply::Done);
        }
        let deadline = Instant::now() + BOUND;
        while !guarded.loads.is_idle() {
            assert!(Instant::now() < deadline, "{kind} goes on");
            std::thread::sleep(Duration::from_millis(10));
        }
        let reply = hosts.ask(
            1,
            Ask::Drain {
                sent: vec![None; 2],
            },
        );
        assert!(
            is_refused(&reply, "longer than the policy"),
            "{kind}: {reply:?}"
        );
        hosts.0.close();
    }
}

/// Bound of what is answered, and what a caller that holds to nothing asks for, by kind.
const ASKED_TOO_MUCH: [(&str, &str, &str, &str); 15] = [
    (
        "http",
        r#"{"duration":"1s","rate":"100/s","url":"http://a/"}"#,
        r#"{"duration":"1s","url":"http://a/"}"#,
        "100/s",
    ),
    (
        "http",
        r#"{"duration":"1s","rate":"100/s","url":"http://a/"}"#,
        r#"{"duration":"1s","url":"http://a/"}"#,
        "1Mb/s",
    ),
    (
        "bus",
        r#"{"duration":"1s","rate":"100/s","mode":"rr"}"#,
        r#"{"duration":"1s","mode":"rr"}"#,
        "1Gb/s",
    ),
    (
        "rr",
        r#"{"duration":"1s","rate":"100/s"}"#,
        r#"{"duration":"1s"}"#,
        "100/s",
    ),
    (
        "rr",
        r#"{"duration":"1s","rate":"100/s","connections":3}"#,
        r#"{"duration":"1s","connections":3}"#,
        "100/s",
    ),
    (
        "rr",
        r#"{"duration":"1s","rate":"100/s","transport":"udp"}"#,
        r#"{"duration":"1s","transport":"udp"}"#,
        "100/s",
    ),
    (
        "rr",
        r#"{"duration":"1s","rate":"10/s","size":"64:4096"}"#,
        r#"{"duration":"1s","size":"64:4096"}"#,
        "400kb/s",
    ),
    (
        "rr",
        r#"{"duration":"1s","rate":"10/s","size":"4096:4096","duplex":true}"#,
        r#"{"duration":"1s","size":"4096:4096","duplex":true}"#,
        "400kb/s",
    ),
    (
        "crr",
        r#"{"duration":"1s","rate":"10/s"}"#,
        r#"{"duration":"1s"}"#,
        "10/s",
    ),
    (
        "probe",
        r#"{"duration":"1s","every":"100ms"}"#,
        r#"{"duration":"1s","every":"100us"}"#,
        "100/s",
    ),
    (
        "stream",
        r#"{"duration":"1s","rate":"1Mb/s"}"#,
        r#"{"duration":"1s"}"#,
        "1Mb/s",
    ),
    (
        "datagram",
        r#"{"duration":"1s","rate":"1Mb/s"}"#,
        r#"{"duration":"1s","rate":"500Mb/s"}"#,
        "1Mb/s",
    ),
    (
        "bus",
        r#"{"duration":"1s","rate":"100/s","rx":"inline"}"#,
        r#"{"duration":"1s","rx":"inline"}"#,
        "100/s",
    ),
    (
        "bus",
        r#"{"duration":"1s","rate":"100/s","rx":"queue"}"#,
        r#"{"duration":"1s","rx":"queue"}"#,
        "100/s",
    ),
    (
        "bus",
        r#"{"duration":"1s","rate":"100/s","rx":"poll"}"#,
        r#"{"duration":"1s","rx":"poll"}"#,
        "100/s",
    ),
];

/// The far end was told another load than this host: this host answers no more than what it was told.
#[test]
fn what_answers_holds_to_its_rate_whatever_the_others_do() {
    for (kind, granted, asked, most) in ASKED_TOO_MUCH {
        let folder = tempfile::tempdir().expect("a folder");
        let guarded = guard(&format!("max_rate = \"{most}\""), folder.path());
        let hosts = Hosts::new(&[None, Some(&guarded)]);
        hosts.arm([spec(kind, asked, 0), spec(kind, granted, 1)]);
        let at_ns = now_ns() + 10_000_000;
        for host in [1, 0] {
            assert_eq!(hosts.start(host, at_ns), Reply::Done);
        }
        hosts.sent(0);
        let reply = hosts.ask(
            1,
            Ask::Drain {
                sent: vec![None; 2],
            },
        );
        assert!(
            is_refused(&reply, "more than the policy"),
            "{kind} {asked}: {reply:?}"
        );
        hosts.0.close();
        let noted = std::fs::read_to_string(folder.path().join("audit.jsonl")).expect("a log");
        assert!(noted.contains("\"ended\""), "{noted}");
    }
}

/// Who asks for what was agreed on is answered to the end, in full.
#[test]
fn what_holds_to_its_rate_is_not_ended() {
    let honest = ASKED_TOO_MUCH.map(|(kind, granted, _, most)| (kind, granted, most));
    for (kind, granted, most) in honest {
        let folder = tempfile::tempdir().expect("a folder");
        let guarded = guard(&format!("max_rate = \"{most}\""), folder.path());
        let options = granted.replace("1s", "300ms");
        // Twice: nothing is owed by the first.
        for _ in 0..2 {
            let hosts = Hosts::new(&[None, Some(&guarded)]);
            hosts.arm([0, 1].map(|me| spec(kind, &options, me)));
            hosts.carry_out(&format!("{kind} {options}"));
            hosts.0.close();
        }
    }
}

#[test]
fn no_load_is_steered_to_what_is_no_number() {
    let folder = tempfile::tempdir().expect("a folder");
    let guard = guard("", folder.path());
    let hosts = Hosts::new(&[Some(&guard), None]);
    let options = r#"{"duration":"1s","rate":"1/s","url":"http://127.0.0.1:1/"}"#;
    hosts.arm([0, 1].map(|me| spec("http", options, me)));
    assert_eq!(hosts.start(0, now_ns()), Reply::Done);
    for rate in [-5.0, f64::NAN, f64::INFINITY, 0.0, 1e300] {
        let change = Change {
            users: None,
            rate_per_s: Some(rate),
        };
        let reply = hosts.ask(0, Ask::Steer { change });
        assert!(is_refused(&reply, "no host can offer"), "{rate}: {reply:?}");
    }
    hosts.0.close();
}

/// Options by kind that no command line accepts: each would cost the host its memory, a thread for each
/// number, or a panic.
const NOT_TO_BE_TYPED: [(&str, &str); 17] = [
    ("rr", r#"{"window":4294967295}"#),
    ("rr", r#"{"threads":0}"#),
    ("rr", r#"{"connections":4294967295}"#),
    ("crr", r#"{"threads":0}"#),
    // Values by the order of the fields, which have no names to be checked by.
    ("stream", "[]"),
    ("stream", " [4294967295]"),
    ("datagram", "[]"),
    ("probe", "[]"),
    ("stream", r#"{"interval":"18446744073709551615ns"}"#),
    ("stream", r#"{"interval":"4294967295s"}"#),
    ("stream", r#"{"interval":"0ns"}"#),
    ("stream", r#"{"streams":4294967295}"#),
    ("datagram", r#"{"streams":0}"#),
    ("probe", r#"{"interval":"0ns"}"#),
    ("bus", r#"{"interval":"0ns"}"#),
    ("http", r#"{"url":"http://127.0.0.1:1/","connections":0}"#),
    (
        "tpcb",
        r#"{"target":"postgres://127.0.0.1:1/x","sessions":0}"#,
    ),
];

#[test]
fn options_are_checked_where_they_are_carried_out() {
    let folder = tempfile::tempdir().expect("a folder");
    let guard = guard("reach = [\"hosts\", \"strangers\"]", folder.path());
    let hosts = Hosts::new(&[Some(&guard), None]);
    for (kind, options) in NOT_TO_BE_TYPED {
        for me in [0, 1] {
            let prepared = hosts.ask(me, Ask::Prepare(Box::new(spec(kind, options, me))));
            let is_refused = matches!(&prepared, Reply::Refused(refusal) if refusal.operator_error);
            assert!(is_refused, "{kind} {options}: {prepared:?}");
        }
    }
    hosts.0.close();
}

/// All whole numbers of a document.
fn numbers_of(value: &serde_json::Value) -> Vec<u64> {
    match value {
        serde_json::Value::Object(fields) => fields.values().flat_map(numbers_of).collect(),
        serde_json::Value::Array(values) => values.iter().flat_map(numbers_of).collect(),
        number => number.as_u64().into_iter().collect(),
    }
}

/// Silent connections to every port that the offers name.
fn strangers(offers: &[Option<String>]) -> Vec<TcpStream> {
    let read = |offer: &String| serde_json::from_str(offer).expect("an offer");
    let numbers = offers
        .iter()
        .flatten()
        .flat_map(|offer| numbers_of(&read(offer)));
    let ports = numbers.filter_map(|number| u16::try_from(number).ok());
    let connect = |port: u16| TcpStream::connect(("127.0.0.1", port)).ok();
    ports.filter(|port| *port > 0).filter_map(connect).collect()
}

/// Who scans the ports of a host ends no load by it.
#[test]
fn strangers_that_call_first_and_say_nothing_hold_no_load() {
    for (kind, options) in [
        ("rr", r#"{"duration":"100ms"}"#),
        ("rr", r#"{"duration":"100ms","connections":5}"#),
        ("rr", r#"{"duration":"100ms","transport":"tls"}"#),
        ("crr", r#"{"duration":"100ms"}"#),
        ("stream", r#"{"duration":"100ms"}"#),
        ("bus", r#"{"duration":"100ms"}"#),
        ("datagram", r#"{"duration":"100ms","transport":"tcp"}"#),
        ("datagram", r#"{"duration":"100ms","transport":"tls"}"#),
    ] {
        let hosts = Hosts::new(&[None, None]);
        let offers = hosts.prepare([0, 1].map(|me| spec(kind, options, me)));
        let held: Vec<_> = (0..3).flat_map(|_| strangers(&offers)).collect();
        assert!(held.len() >= 3, "{kind} {options}: {offers:?}");
        hosts.arm_with(&offers, &format!("{kind} {options}"));
        hosts.carry_out(&format!("{kind} {options}"));
        hosts.0.close();
    }
}

/// Pointers to all numbers of a document; of each array, those of its first element.
fn numbers_in(value: &serde_json::Value, at: &str, out: &mut Vec<String>) {
    match value {
        serde_json::Value::Object(fields) => {
            for (name, value) in fields {
                let name = name.replace('~', "~0").replace('/', "~1");
                numbers_in(value, &format!("{at}/{name}"), out);
            }
        }
        serde_json::Value::Array(values) => {
            if let Some(first) = values.first() {
                numbers_in(first, &format!("{at}/0"), out);
            }
        }
        serde_json::Value::Number(_) => out.push(at.to_owned()),
        _ => {}
    }
}

/// Results of both hosts of a load.
fn measured(kind: &str, options: &str) -> Vec<String> {
    let hosts = Hosts::new(&[None, None]);
    hosts.arm([0, 1].map(|me| spec(kind, options, me)));
    let at_ns = now_ns() + 10_000_000;
    for host in [1, 0] {
        assert_eq!(hosts.start(host, at_ns), Reply::Done);
    }
    let sent = vec![Some(hosts.sent(0)), None];
    let results = (0..2).map(
        |host| match hosts.ask(host, Ask::Drain { sent: sent.clone() }) {
            Reply::Result(text) => text,
            other => panic!("{kind}: {other:?}"),
        },
    );
    results.collect()
}

/// A member that tells what cannot be does not end the controller.
#[test]
fn numbers_that_no_host_measures_are_joined_all_the_same() {
    let options = r#"{"duration":"100ms"}"#;
    for kind in ["rr", "crr", "bus", "datagram", "probe"] {
        let results = measured(kind, options);
        let (load, spec) = (
            sokudo_workloads::find(kind).expect("a kind"),
            spec(kind, options, 0),
        );
        for (liar, honest) in results.iter().enumerate() {
            let honest: serde_json::Value = serde_json::from_str(honest).expect("JSON");
            let mut places = Vec::new();
            numbers_in(&honest, "", &mut places);
            for place in places {
                for lie in [u64::MAX.into(), i64::MIN.into(), serde_json::json!(1e308)] {
                    let mut told: Vec<_> = results.iter().cloned().map(Ok).collect();
                    let mut lies = honest.clone();
                    *lies.pointer_mut(&place).expect("a number") = lie;
                    told[liar] = Ok(lies.to_string());
                    // What it comes to is of no interest: that it comes to something is.
                    let joined = load.join(&spec, &told);
                    assert!(joined.is_ok(), "{kind} {place}");
                }
            }
        }
    }
}
