//! Test that a request on a kept connection allocates nothing, be it of `http` or of a plan.
//!
//! A test binary of its own, because the allocator counts every allocation of the process.

use std::collections::BTreeMap;
use std::fs;
use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpListener};
use std::path::Path;
use std::sync::mpsc;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use sokudo_load_http::http::{Http, HttpOptions};
use sokudo_load_http::jmx::{
    Generator, JmxOptions, LoadObserver, Prepared, Tallies, UsersSeen, read_plan,
};
use sokudo_model::{HostSpec, PhasePlan, PhaseSpec, RunId};
use sokudo_net::clock::now_ns;
use sokudo_testkit::allocations::{COUNTED, Counted, cost_of, none_per_event};
use sokudo_workload::{Emitted, Options, Workload as _};

#[global_allocator]
static ALLOCATOR: Counted = COUNTED;

/// Nothing that a test waits for takes longer.
const BOUND: Duration = Duration::from_secs(20);

/// The count is the process's.
static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());

/// A server that allocates nothing for a request, either.
fn server() -> SocketAddr {
    let listener = TcpListener::bind(("127.0.0.1", 0)).expect("loopback has ports");
    let address = listener.local_addr().expect("it is bound");
    thread::spawn(move || {
        for mut stream in listener.incoming().flatten() {
            thread::spawn(move || {
                let mut portion = [0; 4096];
                // A request fits into one portion, and none follows before its answer.
                while let Ok(1..) = stream.read(&mut portion) {
                    let answer = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";
                    if stream.write_all(answer).is_err() {
                        return;
                    }
                }
            });
        }
    });
    address
}

/// Plays `http` for a second with twenty intervals; returns the requests that were answered.
fn http(server: SocketAddr, rate: &str) -> f64 {
    let text = format!(
        r#"{{"url":"http://{server}/","interval":"50ms","duration":"1s","connections":8,"rate":"{rate}"}}"#
    );
    let options: HttpOptions = serde_json::from_str(&text).expect("options of a test");
    let flows = options.flows(1);
    let spec = PhaseSpec {
        run: RunId("test".into()),
        hosts: vec![HostSpec {
            name: "host0".into(),
            address: "127.0.0.1".into(),
        }],
        me: 0,
        seed: 7,
        tickets: vec![0; flows.len()],
        phase: PhasePlan {
            name: "counted".into(),
            workload: HttpOptions::NAME.into(),
            options: options.to_json(),
            flows,
            duration_ns: options.duration_ns(),
            bound_ns: BOUND.as_nanos() as u64 / 2,
            labels: BTreeMap::new(),
        },
    };
    let (emit, emitted) = mpsc::channel();
    let emit = Arc::new(move |said| {
        // The receiver goes when the phase is over.
        let _ = emit.send(said);
    });
    let mut phase = Http.prepare(spec.clone(), emit).expect("it is prepared");
    let at_ns = now_ns() + 20_000_000;
    phase.arm(&[None]).expect("an address resolves");
    phase.start(at_ns, at_ns).expect("it starts");
    let is_sent = || {
        let said = emitted.recv_timeout(BOUND).expect("the load ends");
        matches!(said, Emitted::Sent(_))
    };
    while !is_sent() {}
    let numbers = phase.drain(&[None]).expect("it has numbers");
    let joined = Http.join(&spec, &[Ok(numbers)]).expect("options");
    joined.summary["http.requests"]
}

#[test]
fn a_request_allocates_nothing() {
    let _alone = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
    let server = server();
    none_per_event(|| ["500/s", "8000/s"].map(|rate| cost_of(|| http(server, rate))));
}

struct Silent;

impl LoadObserver for Silent {
    fn interval(&self, _at_ns: i64, _seen: &Tallies, _users: UsersSeen) {}
}

/// A plan of one user that asks for the same `loops` times.
fn plan(server: SocketAddr, loops: u32) -> String {
    format!(
        r#"<jmeterTestPlan version="1.2" properties="5.0" jmeter="5.6.3"><hashTree>
<TestPlan testclass="TestPlan" testname="Plan"/><hashTree>
<ThreadGroup testclass="ThreadGroup" testname="Users">
<elementProp name="ThreadGroup.main_controller" elementType="LoopController" testclass="LoopController">
<boolProp name="LoopController.continue_forever">false</boolProp>
<stringProp name="LoopController.loops">{loops}</stringProp></elementProp>
<stringProp name="ThreadGroup.num_threads">1</stringProp>
</ThreadGroup><hashTree>
<HTTPSamplerProxy testclass="HTTPSamplerProxy" testname="look">
<stringProp name="HTTPSampler.domain">127.0.0.1</stringProp>
<stringProp name="HTTPSampler.port">{}</stringProp>
<stringProp name="HTTPSampler.path">/items</stringProp>
<stringProp name="HTTPSampler.method">GET</stringProp>
<boolProp name="HTTPSampler.use_keepalive">true</boolProp>
</HTTPSamplerProxy><hashTree/>
</hashTree></hashTree></hashTree></jmeterTestPlan>"#,
        server.port()
    )
}

/// Carries a plan out; returns the requests that were answered.
fn jmx(directory: &Path, server: SocketAddr, loops: u32) -> f64 {
    let options = JmxOptions {
        plan: directory.join("plan.jmx"),
        threads: 1,
        ..JmxOptions::default()
    };
    fs::write(&options.plan, plan(server, loops)).expect("a plan");
    let reading = read_plan(&options, 1).expect("a plan that can be read");
    let problems = format!("{:?}", reading.problems);
    let prepared = Prepared::new(reading, &options, 1);
    let prepared = prepared.unwrap_or_else(|why| panic!("{why:?}: {problems}"));
    let started = Generator::start(&prepared, &options, (now_ns(), 1), Arc::new(Silent), || {});
    let generator = started.unwrap_or_else(|why| panic!("{why:?}"));
    let deadline = Instant::now() + BOUND;
    while !generator.is_over() {
        assert!(Instant::now() < deadline, "the plan does not end");
        thread::sleep(Duration::from_millis(5));
    }
    let finished = generator.finish().expect("the plan ends");
    let seen = finished.seen.values();
    seen.map(|tally| tally.samples - tally.failed).sum::<u64>() as f64
}

#[test]
fn a_request_of_a_plan_allocates_nothing() {
    let _alone = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
    let server = server();
    let directory = tempfile::tempdir().expect("a directory");
    let cost = |loops| cost_of(|| jmx(directory.path(), server, loops));
    none_per_event(|| {
        let both = [500, 5_000].map(cost);
        assert_eq!(both.map(|cost| cost.events), [500.0, 5_000.0]);
        both
    });
}
