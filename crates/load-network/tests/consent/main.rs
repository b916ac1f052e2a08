//! Tests of what reaches an address that another host announced as its own.
//!
//! A member of a run answers "send it there" with the address of a third party: a plain socket that
//! never heard of the run. It must get the few small messages of the proof, and no load.

mod forged;

use std::collections::BTreeMap;
use std::io::Read as _;
use std::net::{TcpListener, UdpSocket};
use std::sync::mpsc;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::Value;
use sokudo_i18n::english;
use sokudo_load_network::bus::{Bus, BusOptions};
use sokudo_load_network::crr::{Crr, CrrOptions};
use sokudo_load_network::datagram::{Datagram, DatagramOptions};
use sokudo_load_network::probe::{Probe, ProbeOptions};
use sokudo_load_network::rr::protocol::{Header, MessageKind};
use sokudo_load_network::rr::{Rr, RrOptions};
use sokudo_load_network::stream::{Stream, StreamOptions};
use sokudo_model::{FlowPlan, HostSpec, PhasePlan, PhaseSpec, RunId};
use sokudo_net::clock::now_ns;
use sokudo_workload::consent::{MESSAGE_BYTES, SENDINGS};
use sokudo_workload::{Emitted, Options, Phase, Workload};

const BOUND: Duration = Duration::from_secs(60);
/// The flows' secrets: one that is seen at once where it does not belong.
const TICKET: u64 = 0x7365_6372_6574_2131;
/// Most bytes of a connection that proves nothing; a TLS client says hello first.
const MOST_BYTES: usize = 2048;

/// A load between two hosts.
struct Case {
    workload: &'static dyn Workload,
    options: String,
    flows: Vec<FlowPlan>,
}

fn case<O: Options>(workload: &'static dyn Workload, fields: &str) -> Case {
    let options: O = serde_json::from_str(&format!("{{{fields}}}")).expect("options of a test");
    options.validate().expect("possible options");
    Case {
        workload,
        flows: options.flows(2),
        options: options.to_json(),
    }
}

/// Every load between hosts over this transport.
fn loads(transport: &str) -> Vec<Case> {
    let with = |more: &str| format!(r#""transport":"{transport}"{more}"#);
    let mut cases = vec![case::<RrOptions>(&Rr, &with(""))];
    if transport == "udp" {
        cases.push(case::<ProbeOptions>(&Probe, ""));
        cases.push(case::<DatagramOptions>(&Datagram, &with("")));
        return cases;
    }
    if transport != "shm" {
        cases.push(case::<RrOptions>(&Rr, &with(r#","connections":3"#)));
    }
    cases.push(case::<CrrOptions>(&Crr, &with("")));
    cases.push(case::<StreamOptions>(&Stream, &with("")));
    cases.push(case::<StreamOptions>(&Stream, &with(r#","streams":3"#)));
    cases.push(case::<BusOptions>(&Bus, &with("")));
    if ["tcp", "tls"].contains(&transport) {
        cases.push(case::<DatagramOptions>(&Datagram, &with("")));
    }
    cases
}

impl Case {
    fn name(&self) -> String {
        format!("{} {}", self.workload.descriptor().name, self.options)
    }

    fn prepare(&self, me: u32) -> (Box<dyn Phase>, mpsc::Receiver<Emitted>) {
        let host = |index: u32| HostSpec {
            name: format!("host{index}"),
            address: "127.0.0.1".into(),
        };
        let spec = PhaseSpec {
            run: RunId("test".into()),
            phase: PhasePlan {
                name: "consent".into(),
                workload: self.workload.descriptor().name.into(),
                options: self.options.clone(),
                flows: self.flows.clone(),
                duration_ns: 1_000_000_000,
                bound_ns: BOUND.as_nanos() as u64,
                labels: BTreeMap::new(),
            },
            hosts: vec![host(0), host(1)],
            me,
            seed: 7,
            tickets: vec![TICKET; self.flows.len()],
        };
        let (emit, emitted) = mpsc::channel();
        let emit = Arc::new(move |said| {
            // The receiver goes when a test has seen enough.
            let _ = emit.send(said);
        });
        let prepared = self.workload.prepare(spec, emit);
        let phase = prepared.unwrap_or_else(|refusal| panic!("{}", english(&refusal.says)));
        (phase, emitted)
    }

    /// Refusal of the calling end when the far end's offer names this place for every flow.
    fn refusal(&self, place: &Value) -> String {
        let (mut calling, _) = self.prepare(0);
        let (called, _) = self.prepare(1);
        let offer = serde_json::from_str(&called.offer());
        let mut offer: Value = offer.expect("offers are JSON");
        for (list, place) in [("places", place), ("ports", &place["Port"])] {
            let places = offer.get_mut(list).and_then(Value::as_object_mut);
            for (_, announced) in places.into_iter().flatten() {
                *announced = place.clone();
            }
        }
        let armed = calling.arm(&[Some(calling.offer()), Some(offer.to_string())]);
        let refusal = armed
            .err()
            .unwrap_or_else(|| panic!("{} sends", self.name()));
        english(&refusal.says)
    }
}

fn holds_secret(bytes: &[u8]) -> bool {
    bytes.windows(8).any(|word| word == TICKET.to_be_bytes())
}

/// Somebody who listens, records what comes over all connections, and hangs up without a word.
fn stranger() -> (u16, Arc<Mutex<Vec<u8>>>) {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let port = listener.local_addr().expect("bound").port();
    let heard: Arc<Mutex<Vec<u8>>> = Arc::default();
    let kept = Arc::clone(&heard);
    std::thread::spawn(move || {
        for mut caller in listener.incoming().flatten() {
            let kept = Arc::clone(&kept);
            std::thread::spawn(move || {
                let mut portion = [0; 4096];
                let count = caller.read(&mut portion).unwrap_or(0);
                kept.lock().expect("no panic").extend(&portion[..count]);
            });
        }
    });
    (port, heard)
}

#[test]
fn a_third_partys_port_hears_the_proof_and_no_load() {
    for case in ["tcp", "mptcp", "tls"].into_iter().flat_map(loads) {
        let (port, heard) = stranger();
        let says = case.refusal(&serde_json::json!({ "Port": port }));
        let heard = heard.lock().expect("no panic");
        assert!(
            heard.len() <= MOST_BYTES,
            "{}: {}",
            case.name(),
            heard.len()
        );
        assert!(!holds_secret(&heard), "{}", case.name());
        assert!(says.contains(&port.to_string()), "{}: {says}", case.name());
        if !case.options.contains("tls") {
            assert!(says.contains("did not prove"), "{}: {says}", case.name());
        }
    }
}

#[test]
fn a_third_partys_datagram_socket_hears_a_few_small_datagrams() {
    for case in loads("udp") {
        let stranger = UdpSocket::bind("127.0.0.1:0").expect("a port");
        let port = stranger.local_addr().expect("bound").port();
        let says = case.refusal(&serde_json::json!({ "Port": port }));
        assert!(says.contains("did not prove"), "{}: {says}", case.name());
        stranger.set_nonblocking(true).expect("a mode");
        let mut bytes = [0; 65_536];
        let mut heard = Vec::new();
        while let Ok(count) = stranger.recv(&mut bytes) {
            assert!(!holds_secret(&bytes[..count]), "{}", case.name());
            heard.push(count);
        }
        let allowed = vec![MESSAGE_BYTES; SENDINGS as usize];
        assert_eq!(heard, allowed, "{}", case.name());
    }
}

#[cfg(unix)]
#[test]
fn a_socket_file_that_was_not_made_for_the_flow_is_not_called() {
    use std::os::unix::net::UnixListener;
    let folder = tempfile::tempdir().expect("a folder");
    let mut paths = vec![folder.path().join("service.sock")];
    // The name of a socket of another flow.
    paths.push(folder.path().join("sokudo-1-0-0123456789abcdef.sock"));
    for transport in ["unix", "shm"] {
        if transport == "shm" && cfg!(not(target_os = "linux")) {
            continue;
        }
        for path in &paths {
            let _ = std::fs::remove_file(path);
            let listener = UnixListener::bind(path).expect("a socket");
            listener.set_nonblocking(true).expect("a mode");
            for case in loads(transport) {
                let says = case.refusal(&serde_json::json!({ "Path": path }));
                assert!(says.contains("socket file of its own"), "{says}");
                assert!(listener.accept().is_err(), "{} called", case.name());
            }
        }
    }
}

#[test]
fn requests_from_an_address_that_proved_nothing_are_not_answered() {
    // One connection pins the socket, several are distinguished by address.
    for connections in [1, 2] {
        let fields = format!(r#""transport":"udp","count":"50","connections":{connections}"#);
        let case = case::<RrOptions>(&Rr, &fields);
        let (mut asking, emitted) = case.prepare(0);
        let (mut answering, _said) = case.prepare(1);
        let offer = answering.offer();
        asking
            .arm(&[None, Some(offer.clone())])
            .expect("they agree");
        let at_ns = now_ns() + 20_000_000;
        answering.start(at_ns, at_ns).expect("threads");
        let offer: Value = serde_json::from_str(&offer).expect("offers are JSON");
        let port = offer["places"]["0"]["Port"].as_u64().expect("a port") as u16;
        // It knows the flow's secret, as every host of the run does.
        let elsewhere = UdpSocket::bind("127.0.0.1:0").expect("a port");
        elsewhere.connect(("127.0.0.1", port)).expect("a route");
        let mut request = [0; 64];
        let header = Header {
            ticket: TICKET,
            sequence: 0,
            length: 64,
        };
        header.write(MessageKind::Request, &mut request);
        for _ in 0..10 {
            // Refused once the system has said that this port is not for everybody.
            let _ = elsewhere.send(&request);
        }
        asking.start(at_ns, at_ns).expect("threads");
        while !matches!(
            emitted.recv_timeout(BOUND).expect("it ends"),
            Emitted::Sent(_)
        ) {}
        let sent = [Some("{}".to_owned()), None];
        let results = [asking.drain(&sent), answering.drain(&sent)];
        assert!(results.iter().all(Result::is_ok), "{results:?}");
        elsewhere.set_nonblocking(true).expect("a mode");
        let mut bytes = [0; 128];
        let answered = (0..10).any(|_| elsewhere.recv(&mut bytes).is_ok());
        assert!(!answered, "{connections} connections");
    }
}
