//! Test that what the loads do again and again on their measured paths allocates nothing.
//!
//! A test binary of its own, because the allocator counts every allocation of the process. Each load is
//! run twice for as long, slowly and fast: what happens once per run or per interval costs the same.
//! `crr`, and `dns` over TCP, are left out, because each connection is made of memory.

use std::collections::BTreeMap;
use std::net::{SocketAddr, UdpSocket};
use std::sync::mpsc::{self, Receiver};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use sokudo_i18n::english;
use sokudo_load_network::bus::{Bus, BusOptions};
use sokudo_load_network::datagram::{Datagram, DatagramOptions};
use sokudo_load_network::dns::{Dns, DnsOptions};
use sokudo_load_network::probe::{Probe, ProbeOptions};
use sokudo_load_network::rr::{Rr, RrOptions};
use sokudo_load_network::stream::{Stream, StreamOptions};
use sokudo_model::{HostSpec, PhasePlan, PhaseResult, PhaseSpec, RunId};
use sokudo_net::clock::now_ns;
use sokudo_testkit::allocations::{COUNTED, Counted, cost_of, none_per_event};
use sokudo_workload::{Emitted, HostResult, Options, Phase, Workload};

#[global_allocator]
static ALLOCATOR: Counted = COUNTED;

/// Nothing that a test waits for takes longer.
const BOUND: Duration = Duration::from_secs(60);

/// The count is the process's.
static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());

/// Options of a test from JSON fields over the defaults: a second with twenty intervals.
fn options<O: Options>(fields: &str) -> O {
    let text = format!(r#"{{"interval":"50ms","duration":"1s",{fields}}}"#);
    serde_json::from_str(&text).expect("options of a test")
}

fn spec(options: &impl Options, name: &str, hosts: u32, me: u32) -> PhaseSpec {
    let host = |index: u32| HostSpec {
        name: format!("host{index}"),
        address: "127.0.0.1".into(),
    };
    let flows = options.flows(hosts);
    PhaseSpec {
        run: RunId("test".into()),
        hosts: (0..hosts).map(host).collect(),
        me,
        seed: 7,
        tickets: (1..=flows.len() as u64).collect(),
        phase: PhasePlan {
            name: "counted".into(),
            workload: name.into(),
            options: options.to_json(),
            flows,
            duration_ns: options.duration_ns(),
            bound_ns: BOUND.as_nanos() as u64 / 2,
            labels: BTreeMap::new(),
        },
    }
}

/// One host of a phase and what it says.
struct Host(Box<dyn Phase>, Receiver<Emitted>);

impl Host {
    fn new(load: &dyn Workload, spec: PhaseSpec) -> Self {
        let (emit, emitted) = mpsc::channel();
        let emit = Arc::new(move |said| {
            // The receiver goes when the phase is over.
            let _ = emit.send(said);
        });
        let phase = load.prepare(spec, emit);
        Self(
            phase.unwrap_or_else(|r| panic!("{}", english(&r.says))),
            emitted,
        )
    }

    /// Its report once it has sent everything.
    fn sent(&self) -> String {
        loop {
            let said = self.1.recv_timeout(BOUND);
            if let Emitted::Sent(text) = said.expect("sending ends within the bound") {
                return text;
            }
        }
    }
}

/// Plays a load between two hosts, or on one.
fn play<O: Options>(load: &dyn Workload, options: &O, hosts: u32) -> PhaseResult {
    let prepared = |me| Host::new(load, spec(options, O::NAME, hosts, me));
    let mut playing: Vec<Host> = (0..hosts).map(prepared).collect();
    let offers: Vec<_> = playing.iter().map(|host| Some(host.0.offer())).collect();
    let at_ns = now_ns() + 20_000_000;
    for step in [
        |host: &mut Host, offers: &[_], _| host.0.arm(offers),
        |host: &mut Host, _: &[_], at_ns| host.0.start(at_ns, at_ns),
    ] {
        // The receiving end first.
        for host in playing.iter_mut().rev() {
            step(host, &offers, at_ns)
                .unwrap_or_else(|refusal| panic!("{}", english(&refusal.says)));
        }
    }
    let sent: Vec<_> = playing.iter().map(|host| Some(host.sent())).collect();
    let drained = playing.iter_mut().map(|host| {
        let numbers = host.0.drain(&sent);
        HostResult::Ok(numbers.unwrap_or_else(|refusal| panic!("{}", english(&refusal.says))))
    });
    let drained: Vec<_> = drained.collect();
    let joined = load.join(&spec(options, O::NAME, hosts, 0), &drained);
    joined.unwrap_or_else(|refusal| panic!("{}", english(&refusal.says)))
}

/// Plays `fields` with little and with much load; `counted` is the metric that counts the events.
#[track_caller]
fn allocates_nothing<O: Options>(load: &dyn Workload, fields: [&str; 2], counted: &str) {
    let _alone = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
    none_per_event(|| {
        fields.map(|fields| {
            let options: O = options(fields);
            cost_of(|| play(load, &options, 2).summary[counted])
        })
    });
}

#[test]
fn a_request_allocates_nothing() {
    let fields = [r#""rate":"500/s""#, r#""rate":"8000/s""#];
    allocates_nothing::<RrOptions>(&Rr, fields, "rr.transactions");
}

#[test]
fn a_request_on_one_of_many_connections_allocates_nothing() {
    let fields = [
        r#""rate":"500/s","connections":8,"window":4"#,
        r#""rate":"8000/s","connections":8,"window":4"#,
    ];
    allocates_nothing::<RrOptions>(&Rr, fields, "rr.transactions");
}

#[test]
fn a_request_in_a_datagram_allocates_nothing() {
    let fields = [
        r#""rate":"500/s","transport":"udp""#,
        r#""rate":"8000/s","transport":"udp""#,
    ];
    allocates_nothing::<RrOptions>(&Rr, fields, "rr.transactions");
}

#[test]
fn a_write_of_a_stream_allocates_nothing() {
    // Writes of 1,000 bytes: 500 and 8,000 per second.
    let fields = [
        r#""rate":"4Mb/s","size":"1000B""#,
        r#""rate":"64Mb/s","size":"1000B""#,
    ];
    let _alone = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
    none_per_event(|| {
        fields.map(|fields| {
            let options: StreamOptions = options(fields);
            cost_of(|| play(&Stream, &options, 2).summary["stream.received_bytes"] / 1_000.0)
        })
    });
}

#[test]
fn a_message_of_the_bus_allocates_nothing() {
    // Each interval has some measured messages, however slow the run is.
    let fields = [
        r#""rate":"500/s","sample":"1/10""#,
        r#""rate":"8000/s","sample":"1/10""#,
    ];
    allocates_nothing::<BusOptions>(&Bus, fields, "bus.messages");
}

#[test]
fn a_message_that_another_thread_handles_allocates_nothing() {
    let fields = [
        r#""rate":"500/s","sample":"1/10","rx":"queue""#,
        r#""rate":"8000/s","sample":"1/10","rx":"queue""#,
    ];
    allocates_nothing::<BusOptions>(&Bus, fields, "bus.messages");
}

#[test]
fn a_message_with_an_answer_allocates_nothing() {
    let fields = [
        r#""rate":"500/s","mode":"rr""#,
        r#""rate":"8000/s","mode":"rr""#,
    ];
    allocates_nothing::<BusOptions>(&Bus, fields, "bus.messages");
}

#[test]
fn a_datagram_allocates_nothing() {
    let fields = [r#""rate":"500/s""#, r#""rate":"20000/s""#];
    allocates_nothing::<DatagramOptions>(&Datagram, fields, "datagram.received_packets");
}

#[test]
fn a_probe_allocates_nothing() {
    let fields = [r#""every":"4ms""#, r#""every":"200us""#];
    allocates_nothing::<ProbeOptions>(&Probe, fields, "probe.answered_packets");
}

/// A name server that says of every name, in a buffer of its own, that it has no records.
fn name_server() -> SocketAddr {
    let socket = UdpSocket::bind("127.0.0.1:0").expect("bind");
    let address = socket.local_addr().expect("address");
    std::thread::spawn(move || {
        let mut message = [0; 512];
        while let Ok((length, from)) = socket.recv_from(&mut message) {
            // The flag of a response (RFC 1035, section 4.1.1).
            message[2] |= 0x80;
            // The client may have closed its socket.
            let _ = socket.send_to(&message[..length], from);
        }
    });
    address
}

#[test]
fn a_query_allocates_nothing() {
    let _alone = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
    let server = name_server();
    none_per_event(|| {
        ["500/s", "8000/s"].map(|rate| {
            let fields =
                format!(r#""server":"{server}","name":["n{{n}}.example"],"rate":"{rate}""#);
            let options: DnsOptions = options(&fields);
            cost_of(|| play(&Dns, &options, 1).summary["dns.answers"])
        })
    });
}
