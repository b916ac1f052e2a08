//! Controllers that are let in and then ask `sokudo serve` for what no honest one asks for.

use std::time::{Duration, Instant};

use sokudo_bus::{Bus, BusError, Member, MemberId, direct};
use sokudo_model::{FlowPlan, HostSpec, Labels, MonitorSpec, On, PhasePlan, PhaseSpec, RunId};
use sokudo_wire::{Ask, Reply, WatchScope};

use crate::vocabulary::{BOUND, Place, Server, no_panic, place, serve};

/// A session with a server.
struct Controller(Bus);

impl Controller {
    fn of(server: &Server) -> Self {
        let link = direct::dial(&server.address.to_string(), None, "hostile", BOUND);
        let bus = Bus::new();
        let member = Member {
            name: "served".into(),
            address: "127.0.0.1".into(),
        };
        bus.add(member, Box::new(link.expect("a session")));
        Self(bus)
    }

    fn ask(&self, ask: Ask) -> Result<Reply, BusError> {
        self.0.ask(MemberId(0), ask, BOUND)
    }

    /// Expects a refusal.
    #[track_caller]
    fn is_refused(&self, ask: Ask, what: &str) {
        let reply = self.ask(ask);
        assert!(matches!(reply, Ok(Reply::Refused(_))), "{what}: {reply:?}");
    }
}

/// A phase of this kind, of one flow from host 0, which is the controller's, to host 1, which is asked.
fn spec(workload: &str, options: String) -> PhaseSpec {
    let host = |name: &str| HostSpec {
        name: name.into(),
        address: "127.0.0.1".into(),
    };
    PhaseSpec {
        run: RunId("run".into()),
        phase: PhasePlan {
            name: "measure".into(),
            workload: workload.into(),
            options,
            flows: vec![FlowPlan {
                id: 0,
                from: 0,
                to: 1,
                stream: 0,
            }],
            duration_ns: 1_000_000_000,
            bound_ns: 60_000_000_000,
            labels: Labels::new(),
        },
        hosts: vec![host("hosta"), host("hostb")],
        me: 1,
        seed: 0,
        tickets: vec![1],
    }
}

fn prepare(spec: PhaseSpec) -> Ask {
    Ask::Prepare(Box::new(spec))
}

fn watch(t0_ns: i64, host: &str, interval_ns: u64, monitors: Vec<MonitorSpec>) -> Ask {
    Ask::Watch {
        host: host.into(),
        t0_ns,
        interval_ns,
        scope: WatchScope::Host,
        monitors,
    }
}

/// What a process holds.
#[derive(Debug, Clone, Copy)]
struct Held {
    /// Most resident memory so far, bytes.
    peak: u64,
    threads: u64,
    files: usize,
}

#[cfg(target_os = "linux")]
fn held(server: &Server) -> Held {
    let process = server.running.id();
    let text = std::fs::read_to_string(format!("/proc/{process}/status")).expect("a status");
    let number = |name: &str| -> u64 {
        let line = text.lines().find(|line| line.starts_with(name));
        let word = line.and_then(|line| line.split_whitespace().nth(1));
        word.and_then(|word| word.parse().ok()).expect(name)
    };
    let files = std::fs::read_dir(format!("/proc/{process}/fd")).expect("files");
    Held {
        peak: number("VmHWM:") << 10,
        threads: number("Threads:"),
        files: files.count(),
    }
}

/// Kinds that need no stranger, file or database.
const KINDS: [&str; 7] = [
    "rr",
    "crr",
    "stream",
    "datagram",
    "probe",
    "bus",
    "replicate",
];

fn nonsense() -> Vec<(&'static str, String)> {
    let deep = |open: &str, close: &str| open.repeat(200_000) + &close.repeat(200_000);
    vec![
        ("nothing", String::new()),
        ("no JSON", "{".into()),
        ("an array", "[]".into()),
        ("a deep array", deep("[", "]")),
        ("a deep object", deep("{\"a\":", "}")),
        (
            "a deep option",
            format!("{{\"duration\":{}}}", deep("[", "]")),
        ),
        ("an unknown option", "{\"never\":1}".into()),
        (
            "an option twice",
            "{\"duration\":\"1s\",\"duration\":\"2s\"}".into(),
        ),
        ("a long name", format!("{{\"{}\":1}}", "a".repeat(8 << 20))),
        (
            "a long value",
            format!("{{\"duration\":\"{}\"}}", "9".repeat(8 << 20)),
        ),
        (
            "a large number",
            format!("{{\"duration\":{}}}", "9".repeat(1 << 20)),
        ),
        (
            "many names",
            format!("{{{}\"a\":1}}", "\"a\":1,".repeat(1_000_000)),
        ),
        (
            "many values",
            format!("{{\"duration\":[{}1]}}", "1,".repeat(4_000_000)),
        ),
        ("another type", "{\"duration\":{\"secs\":1}}".into()),
        ("a negative", "{\"duration\":-1}".into()),
        (
            "no number",
            "{\"duration\":\"NaN s\",\"rate\":\"inf/s\"}".into(),
        ),
        ("a zero byte", "{\"duration\":\"1s\\u0000\"}".into()),
    ]
}

/// A controller that is let in neither ends the server nor fills it: honest ones are served as before.
#[test]
#[cfg(target_os = "linux")]
fn a_controller_that_asks_for_nonsense_harms_nobody() {
    let place = place();
    let server = serve(&place);
    let before = held(&server);
    let hostile = Controller::of(&server);
    for kind in KINDS {
        for (what, options) in nonsense() {
            let what = format!("{kind}: {what}");
            hostile.is_refused(prepare(spec(kind, options)), &what);
        }
    }
    for kind in ["", "\0", "RR", &"r".repeat(1 << 20)] {
        hostile.is_refused(prepare(spec(kind, "{}".into())), "an unknown kind");
    }
    counts(&server);
    offers(&hostile);
    watches(&hostile);
    out_of_order(&hostile);
    hostile.0.close();
    is_well(&place, server, before);
}

/// Numbers of hosts and flows that are not there. What no message says ends its session: each has one of its own.
fn counts(server: &Server) {
    let ask = |spec| {
        let hostile = Controller::of(server);
        let reply = hostile.ask(prepare(spec));
        hostile.0.close();
        reply
    };
    let plain = || spec("rr", r#"{"duration":"1s"}"#.into());
    let flow = |id, from, to, stream| FlowPlan {
        id,
        from,
        to,
        stream,
    };
    let many_hosts = |count: usize| PhaseSpec {
        hosts: vec![HostSpec::default(); count],
        ..plain()
    };
    for (what, spec) in [
        (
            "no host of its own",
            PhaseSpec {
                me: u32::MAX,
                ..plain()
            },
        ),
        ("many hosts", many_hosts(200_000)),
    ] {
        let reply = ask(spec);
        assert!(!matches!(reply, Ok(Reply::Offer(_))), "{what}: {reply:?}");
    }
    for flows in [
        vec![flow(7, 0, 1, 0)],
        vec![flow(0, 0, 1, u32::MAX)],
        vec![flow(0, 1, 0, 0), flow(0, 1, 0, 0)],
    ] {
        let mut odd = plain();
        odd.tickets = vec![1; flows.len()];
        odd.phase.flows = flows;
        // Numbered anew on the way, some of them are a phase: what counts is that the server goes on.
        let _ = ask(odd);
    }
}

/// Offers of other hosts that are none.
fn offers(hostile: &Controller) {
    let deep = "[".repeat(200_000);
    let odd = [
        String::new(),
        "null".into(),
        deep,
        r#"{"places":{"0":{"Port":0}}}"#.into(),
        r#"{"places":{"0":{"Path":"/etc/passwd"}}}"#.into(),
        format!(
            "{{\"places\":{{{}}}}}",
            "\"1\":{\"Port\":1},".repeat(100_000)
        ),
    ];
    for kind in KINDS {
        for offer in &odd {
            // Without a flow of its own to call it may have no use for the offer.
            let mut spec = spec(kind, "{}".into());
            spec.phase.flows[0] = FlowPlan {
                id: 0,
                from: 1,
                to: 0,
                stream: 0,
            };
            let prepared = hostile.ask(prepare(spec)).expect("an answer");
            let offers = vec![Some(offer.clone()), None];
            let reply = hostile.ask(Ask::Arm { offers });
            let is_told = matches!(reply, Ok(Reply::Refused(_) | Reply::Done));
            assert!(is_told, "{kind} {prepared:?}: {reply:?}");
            assert_eq!(hostile.ask(Ask::Stop).expect("an answer"), Reply::Done);
        }
    }
}

fn watches(hostile: &Controller) {
    let Ok(Reply::Clock(now)) = hostile.ask(Ask::Clock) else {
        panic!("no clock");
    };
    for t0_ns in [i64::MIN, i64::MAX] {
        hostile.is_refused(watch(t0_ns, "a", 1_000_000, Vec::new()), "another age");
    }
    let monitor = |name: &str, options: String| MonitorSpec {
        name: name.into(),
        on: On::All,
        interval_ns: Some(0),
        options,
    };
    let long = "a".repeat(8 << 20);
    for (what, ask) in [
        ("a long name", watch(now, &long, 0, Vec::new())),
        (
            "many",
            watch(now, "a", 1, vec![monitor("cpu", "{}".into()); 100_000]),
        ),
        (
            "an unknown one",
            watch(now, "a", 1, vec![monitor("never", "{}".into())]),
        ),
        (
            "deep options",
            watch(now, "a", 1, vec![monitor("process", "[".repeat(200_000))]),
        ),
    ] {
        hostile.is_refused(ask, what);
    }
    // Whatever it says to these: it goes on.
    for ask in [
        watch(now, "a", u64::MAX, Vec::new()),
        watch(now, "a", 0, Vec::new()),
    ] {
        hostile.ask(ask).expect("an answer");
    }
    hostile.ask(Ask::Unwatch).expect("an answer");
}

fn out_of_order(hostile: &Controller) {
    for ask in [
        Ask::Arm {
            offers: vec![Some("{}".into()); 1000],
        },
        Ask::Start {
            at_ns: i64::MAX,
            t0_ns: i64::MIN,
        },
        Ask::Drain {
            sent: vec![Some("{}".into()); 1000],
        },
        Ask::Kept {
            run: RunId("../../etc".into()),
            from: u64::MAX,
        },
    ] {
        let reply = hostile.ask(ask).expect("an answer");
        assert!(!matches!(reply, Reply::Done), "{reply:?}");
    }
    for ask in [
        Ask::Halt,
        Ask::Clocks {
            clocks: vec![None; 1000],
        },
        Ask::Discard {
            run: RunId("../../etc".into()),
        },
    ] {
        hostile.ask(ask).expect("an answer");
    }
}

/// An honest run is served, and nothing is left of what was asked for before.
#[cfg(target_os = "linux")]
fn is_well(place: &Place, server: Server, before: Held) {
    place
        .run(&format!("rr {} --count 100", server.address))
        .expect_code(0);
    let deadline = Instant::now() + BOUND;
    loop {
        let after = held(&server);
        if after.threads <= before.threads + 2 && after.files <= before.files + 2 {
            assert!(after.peak < 1 << 30, "{after:?}");
            break;
        }
        assert!(Instant::now() < deadline, "{before:?} became {after:?}");
        std::thread::sleep(Duration::from_millis(50));
    }
    server.running.interrupt();
    let ended = server.running.finish();
    ended.expect_code(0);
    no_panic(&ended);
}

/// Phases that are prepared and given up leave nothing behind, however many there are.
#[test]
#[cfg(target_os = "linux")]
fn phases_that_are_given_up_leave_nothing_behind() {
    let place = place();
    let server = serve(&place);
    let before = held(&server);
    let hostile = Controller::of(&server);
    for round in 0..30 {
        for kind in ["rr", "crr", "stream", "datagram", "probe", "bus"] {
            let options = r#"{"duration":"1s"}"#.into();
            let reply = hostile.ask(prepare(spec(kind, options)));
            assert!(
                matches!(reply, Ok(Reply::Offer(_))),
                "{kind} {round}: {reply:?}"
            );
        }
    }
    hostile.0.close();
    is_well(&place, server, before);
}
