//! Tests of the finding about Nagle's algorithm and delayed acknowledgements, on the kernel's own
//! stall.
//!
//! ```text
//!   rr                                  far end of this test, Nagle's algorithm on
//!   request ──────────────────────────► first half of the answer leaves at once
//!   holds its acknowledgement back      second half waits for the acknowledgement
//!   40 ms later: acknowledgement ─────► second half leaves
//! ```
//!
//! The program's own answering end writes each answer whole and cannot be made to do this, so the
//! asking half of the workload meets a far end of the test, in this process.

use std::io::{Read as _, Write as _};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::mpsc::{self, Receiver};
use std::thread;

use sokudo_load_network::rr::protocol::{Header, MessageKind};
use sokudo_model::{
    Batch, FlowPlan, HostSpec, Labels, Manifest, PhasePlan, PhaseRecord, PhaseResult, PhaseSpec,
    Record, RunId, RunStatus,
};
use sokudo_net::clock::now_ns;
use sokudo_workload::{Emitted, consent};

use crate::vocabulary::BOUND;

/// Bytes of a request and of an answer.
const SIZE: usize = 64;
const OPTIONS: &str = r#"{"nagle":true,"count":"40"}"#;

#[test]
fn answers_in_two_small_writes_wait_for_held_back_acknowledgements() {
    let record = asked(answer_in_halves());
    let found = sokudo_analyze::limit(&record).expect("a limit is named");
    assert_eq!(found.rule, "delayed_ack", "{found:#?}");
    assert_eq!(found.says.key, "rule-delayed-ack-step-says");
    let seen: Vec<_> = found
        .evidence
        .iter()
        .filter_map(|e| e.metric.as_deref())
        .collect();
    for metric in ["rr.latency_seconds", "tcp.delayed_ack_seconds"] {
        assert!(seen.contains(&metric), "no {metric} in {seen:?}");
    }
}

/// A far end that sends every request back as its answer, in two writes.
fn answer_in_halves() -> SocketAddr {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a port");
    let address = listener.local_addr().expect("a bound port");
    thread::spawn(move || {
        let (mut caller, _) = listener.accept().expect("the asking end calls");
        // The asking end hangs up when it has all its answers.
        let _ = serve(&mut caller);
    });
    address
}

fn serve(caller: &mut TcpStream) -> std::io::Result<()> {
    caller.set_nodelay(false)?;
    consent::answer(caller, |_| Some(1))?;
    let mut message = [0; SIZE];
    loop {
        caller.read_exact(&mut message)?;
        let Some(header) = Header::read(MessageKind::Request, &message) else {
            return Ok(());
        };
        header.write(MessageKind::Response, &mut message);
        let (first, second) = message.split_at(SIZE / 2);
        caller.write_all(first)?;
        caller.write_all(second)?;
    }
}

/// Record of `rr` about this far end.
fn asked(far_end: SocketAddr) -> Record {
    let workload = sokudo_workloads::find("rr").expect("a workload");
    let spec = spec();
    let (emit, emitted) = mpsc::channel();
    let emit = Arc::new(move |said| {
        // The receiver goes when the test has seen enough.
        let _ = emit.send(said);
    });
    let mut phase = workload.prepare(spec.clone(), emit).expect("an asking end");
    let port = far_end.port();
    let offer = format!(r#"{{"places":{{"0":{{"Port":{port}}}}},"tls_key":null}}"#);
    phase
        .arm(&[None, Some(offer)])
        .expect("the far end listens");
    let at_ns = now_ns();
    phase.start(at_ns, at_ns).expect("threads");
    let mut batch = until_sent(&emitted);
    let own = phase.drain(&[None, None]).expect("numbers");
    drop(phase);
    for said in emitted.try_iter() {
        if let Emitted::Batch(more) = said {
            batch.append(more);
        }
    }
    let result = workload
        .join(&spec, &[Ok(own), Err("not ours".into())])
        .expect("options");
    record(&spec, result, batch, now_ns() - at_ns)
}

fn spec() -> PhaseSpec {
    let host = |name: &str| HostSpec {
        name: name.into(),
        address: Ipv4Addr::LOCALHOST.to_string(),
    };
    let flow = FlowPlan {
        id: 0,
        from: 0,
        to: 1,
        stream: 0,
    };
    PhaseSpec {
        run: RunId("test".into()),
        phase: PhasePlan {
            name: "measure".into(),
            workload: "rr".into(),
            options: OPTIONS.into(),
            flows: vec![flow],
            duration_ns: 0,
            bound_ns: BOUND.as_nanos() as u64,
            labels: Labels::new(),
        },
        hosts: vec![host("near"), host("far")],
        me: 0,
        seed: 1,
        tickets: vec![1],
    }
}

/// Samples until all requests have been asked.
fn until_sent(emitted: &Receiver<Emitted>) -> Batch {
    let mut batch = Batch::default();
    loop {
        match emitted.recv_timeout(BOUND).expect("the asking ends") {
            Emitted::Batch(more) => batch.append(more),
            Emitted::Sent(_) => return batch,
            other => panic!("{other:?}"),
        }
    }
}

fn record(spec: &PhaseSpec, result: PhaseResult, batch: Batch, t1_ns: i64) -> Record {
    let (name, workload) = (&spec.phase.name, &spec.phase.workload);
    let phase = PhaseRecord {
        options: spec.phase.options.clone(),
        ..PhaseRecord::plain(name, workload, (0, t1_ns), result)
    };
    let manifest = Manifest {
        seed: spec.seed,
        phases: vec![phase],
        status: RunStatus::Ok,
        ..Manifest::new(spec.run.clone(), &spec.phase.workload)
    };
    Record {
        series: batch.series,
        histograms: batch.histograms,
        events: batch.events,
        ..Record::new(manifest)
    }
}
