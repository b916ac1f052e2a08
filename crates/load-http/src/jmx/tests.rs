//! A plan is executed against a small server on the loopback: what arrives is what is counted.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpListener;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use sokudo_http::{Crew, Stop, Targets};
use sokudo_i18n::english;
use sokudo_jmeter::run::{GeneratorShare, ThreadStart};
use sokudo_model::{Change, PhasePlan};
use sokudo_net::clock::now_ns;

use super::client::{Comer, Inflight, Joining, PlanUsers};
use super::crowd::Floors;
use super::tally::Shard;
use super::*;

mod backends;
mod names;

/// A server that answers everything, counts it, and closes each connection after its answer.
fn server(answered: Arc<AtomicU64>) -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let answered = Arc::clone(&answered);
            std::thread::spawn(move || {
                let mut reader = BufReader::new(stream);
                let mut length = 0;
                let mut line = String::new();
                while reader.read_line(&mut line).is_ok_and(|n| n > 2) {
                    let value = line.strip_prefix("Content-Length: ");
                    length = value.and_then(|v| v.trim().parse().ok()).unwrap_or(length);
                    line.clear();
                }
                let mut body = vec![0; length];
                if reader.read_exact(&mut body).is_ok() {
                    answered.fetch_add(1, Ordering::Relaxed);
                    let _ = reader.get_mut().write_all(
                        b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 2\r\nConnection: close\r\n\r\nok",
                    );
                }
            });
        }
    });
    port
}

fn plan(port: u16, users: u32, loops: i64) -> String {
    format!(
        r#"<jmeterTestPlan version="1.2"><hashTree><TestPlan testname="P"/><hashTree>
<ThreadGroup testname="Users"><stringProp name="ThreadGroup.num_threads">{users}</stringProp><stringProp name="ThreadGroup.ramp_time">0</stringProp>
<elementProp name="ThreadGroup.main_controller" elementType="LoopController"><boolProp name="LoopController.continue_forever">false</boolProp><intProp name="LoopController.loops">{loops}</intProp></elementProp></ThreadGroup>
<hashTree><HTTPSamplerProxy testname="ask"><stringProp name="HTTPSampler.domain">127.0.0.1</stringProp><stringProp name="HTTPSampler.port">{port}</stringProp>
<stringProp name="HTTPSampler.path">/x</stringProp><stringProp name="HTTPSampler.method">POST</stringProp>
<elementProp name="HTTPsampler.Arguments" elementType="Arguments"><collectionProp name="Arguments.arguments"><elementProp name="a" elementType="HTTPArgument"><stringProp name="Argument.name">a</stringProp><stringProp name="Argument.value">${{__threadNum}}</stringProp></elementProp></collectionProp></elementProp>
</HTTPSamplerProxy><hashTree/></hashTree></hashTree></hashTree></jmeterTestPlan>"#
    )
}

struct Silent;

impl LoadObserver for Silent {
    fn interval(&self, _at_ns: i64, _seen: &Tallies, _users: UsersSeen) {}
}

/// Probes a plan.
fn probed(text: &str) -> Result<Probed, Refusal> {
    let directory = tempfile::tempdir().unwrap();
    let options = JmxOptions {
        plan: directory.path().join("plan.jmx"),
        ..JmxOptions::default()
    };
    std::fs::write(&options.plan, text).unwrap();
    probe(options, (Some(0.5), 1), &AtomicBool::new(false))
}

/// Executes a plan with these options; returns its result and its rows.
fn execute(text: &str, change: impl FnOnce(&mut JmxOptions)) -> (Finished, Vec<String>) {
    let directory =
        std::env::temp_dir().join(format!("sokudo-load-{}-{}", std::process::id(), now_ns()));
    std::fs::create_dir_all(&directory).unwrap();
    let mut options = JmxOptions {
        plan: directory.join("plan.jmx"),
        results: Some(directory.join("out.jtl")),
        threads: 2,
        ..JmxOptions::default()
    };
    change(&mut options);
    std::fs::write(&options.plan, text).unwrap();
    let reading = read_plan(&options, 1).unwrap();
    let prepared = Prepared::new(reading, &options, 1).unwrap();
    let generator = Generator::start(&prepared, &options, (now_ns(), 1), Arc::new(Silent), || {});
    let finished = generator.map_err(Refusal::from).unwrap().finish().unwrap();
    let rows = std::fs::read_to_string(options.results.unwrap()).unwrap();
    std::fs::remove_dir_all(&directory).unwrap();
    (finished, rows.lines().map(str::to_owned).collect())
}

#[test]
fn every_sample_is_asked_counted_and_written() {
    let answered = Arc::new(AtomicU64::new(0));
    let port = server(Arc::clone(&answered));
    let (finished, rows) = execute(&plan(port, 5, 20), |_| {});
    assert!(finished.problems.is_empty(), "{:?}", finished.problems);
    let tally = &finished.seen["ask"];
    assert_eq!((tally.samples, tally.failed), (100, 0));
    assert_eq!(answered.load(Ordering::Relaxed), 100);
    assert_eq!(rows.len(), 101);
    assert!(
        rows[0].starts_with("timeStamp,elapsed,label,"),
        "{}",
        rows[0]
    );
    let url = format!("http://127.0.0.1:{port}/x");
    let fits = |row: &&String| {
        row.contains(",ask,200,OK,Users 1-") && row.contains(&url) && row.contains(",text,true,")
    };
    assert_eq!(rows.iter().filter(fits).count(), 100, "{}", rows[1]);
}

#[test]
fn a_server_that_is_not_there_is_named_in_every_row() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    drop(listener);
    let (finished, rows) = execute(&plan(port, 1, 3), |_| {});
    assert_eq!(finished.seen["ask"].lost, 3);
    let named = "Non HTTP response code: org.apache.http.conn.HttpHostConnectException";
    assert_eq!(
        rows.iter().filter(|row| row.contains(named)).count(),
        3,
        "{rows:?}"
    );
}

#[test]
fn an_open_model_has_its_arrivals_whatever_the_plan_says() {
    let answered = Arc::new(AtomicU64::new(0));
    let port = server(Arc::clone(&answered));
    let (finished, _) = execute(&plan(port, 5, -1), |options| {
        options.open_per_s = Some(100.0);
        options.duration_s = Some(1);
    });
    let tally = &finished.seen["ask"];
    assert_eq!(tally.samples + finished.dropped, 100);
    // The generator's own delay is recorded separately, for each arrival; nobody is due in a closed loop.
    assert_eq!(tally.start_delay.len(), tally.samples);
    let (closed, _) = execute(&plan(port, 1, 3), |_| {});
    assert!(closed.seen["ask"].start_delay.is_empty());
}

#[test]
fn arrivals_follow_a_schedule_that_is_asked_for() {
    let answered = Arc::new(AtomicU64::new(0));
    let port = server(Arc::clone(&answered));
    let (finished, _) = execute(&plan(port, 5, -1), |options| {
        // A ramp: half of what the last rate would bring.
        options.schedule = "rate(0/s) even_arrivals(500 ms) rate(100/s)".into();
    });
    assert_eq!(finished.seen["ask"].samples + finished.dropped, 25);
}

#[test]
fn arrivals_that_are_begun_after_their_time_are_late() {
    let directory = std::env::temp_dir().join(format!("sokudo-late-{}", std::process::id()));
    std::fs::create_dir_all(&directory).unwrap();
    let options = JmxOptions {
        plan: directory.join("plan.jmx"),
        open_per_s: Some(100.0),
        ..JmxOptions::default()
    };
    std::fs::write(&options.plan, plan(9, 1, 1)).unwrap();
    let prepared = Prepared::new(read_plan(&options, 1).unwrap(), &options, 1).unwrap();
    std::fs::remove_dir_all(&directory).unwrap();
    let shard = Arc::new(Shard::new(Default::default(), None));
    let test = prepared.test(&Arc::new(Targets::new()), shard.clone());
    let inflight = Arc::new(Inflight {
        most: 2,
        dropped: AtomicU64::new(0),
        late: AtomicU64::new(0),
    });
    let floors = Arc::new(Floors::new(1));
    let test = test.map_err(|_| "no test").unwrap();
    let mut users = PlanUsers::new(
        test,
        shard,
        Stop::default(),
        inflight.clone(),
        floors,
        Arc::default(),
    );
    let stage_ns = now_ns();
    let mut begins = |user: u32, at_ms: i64, late_ms: i64| {
        let start = ThreadStart {
            at_ns: at_ms * 1_000_000,
            group: 0,
            number: u64::from(user) + 1,
            ends_ns: None,
            is_arrival: true,
        };
        users.joins(user, Comer::User(Joining { start, stage_ns }));
        let now_ns = stage_ns + (at_ms + late_ms) * 1_000_000;
        users.step(user, now_ns, &mut Vec::new());
        let [late, dropped] =
            [&inflight.late, &inflight.dropped].map(|n| n.load(Ordering::Relaxed));
        (late, dropped)
    };
    assert_eq!(begins(0, 10, 0), (0, 0));
    assert_eq!(begins(1, 20, 5), (1, 0));
    // Two are on their way, and more may not be.
    assert_eq!(begins(2, 30, 5), (1, 1));
}

/// Waits until so many users are active.
#[track_caller]
fn becomes(seen: &Seen, users: u32) {
    let begun = std::time::Instant::now();
    while seen.0.load(Ordering::Relaxed) != u64::from(users) {
        assert!(
            begun.elapsed().as_secs() < 60,
            "there are never {users} users"
        );
        std::thread::yield_now();
    }
}

/// The users that were active last.
#[derive(Default)]
struct Seen(AtomicU64);

impl LoadObserver for Seen {
    fn interval(&self, _at_ns: i64, _seen: &Tallies, users: UsersSeen) {
        self.0.store(u64::from(users.active), Ordering::Relaxed);
    }
}

#[test]
fn users_come_and_go_while_it_runs() {
    let port = server(Arc::default());
    let directory = std::env::temp_dir().join(format!("sokudo-steer-{}", now_ns()));
    std::fs::create_dir_all(&directory).unwrap();
    let options = JmxOptions {
        plan: directory.join("plan.jmx"),
        threads: 2,
        ..JmxOptions::default()
    };
    std::fs::write(&options.plan, plan(port, 4, -1)).unwrap();
    let prepared = Prepared::new(read_plan(&options, 1).unwrap(), &options, 1).unwrap();
    std::fs::remove_dir_all(&directory).unwrap();
    let seen = Arc::new(Seen::default());
    let generator = Generator::start(&prepared, &options, (now_ns(), 1), seen.clone(), || {});
    let generator = generator.map_err(Refusal::from).unwrap();
    becomes(&seen, 4);
    let change = |users, rate_per_s| Change { users, rate_per_s };
    for users in [2, 5] {
        generator
            .steer(&change(Some(users), None), GeneratorShare::WHOLE)
            .unwrap();
        becomes(&seen, users as u32);
    }
    // Of five users this generator has every other.
    let half = GeneratorShare::new(1, 2).unwrap();
    generator.steer(&change(Some(5), None), half).unwrap();
    becomes(&seen, 2);
    for refused in [change(Some(0), None), change(None, Some(5.0))] {
        assert!(generator.steer(&refused, GeneratorShare::WHOLE).is_err());
    }
    generator.stop();
    let finished = generator.finish().unwrap();
    assert!(finished.problems.is_empty(), "{:?}", finished.problems);
    // Users that left did so between two requests.
    assert_eq!(finished.seen["ask"].failed, 0);
}

#[test]
fn arrivals_change_their_rate_while_it_runs() {
    let answered = Arc::new(AtomicU64::new(0));
    let port = server(Arc::clone(&answered));
    let directory = std::env::temp_dir().join(format!("sokudo-rate-{}", now_ns()));
    std::fs::create_dir_all(&directory).unwrap();
    let options = JmxOptions {
        plan: directory.join("plan.jmx"),
        open_per_s: Some(0.5),
        duration_s: Some(120),
        threads: 1,
        ..JmxOptions::default()
    };
    std::fs::write(&options.plan, plan(port, 1, -1)).unwrap();
    let prepared = Prepared::new(read_plan(&options, 1).unwrap(), &options, 1).unwrap();
    std::fs::remove_dir_all(&directory).unwrap();
    let generator = Generator::start(&prepared, &options, (now_ns(), 1), Arc::new(Silent), || {});
    let generator = generator.map_err(Refusal::from).unwrap();
    let change = Change {
        users: None,
        rate_per_s: Some(100.0),
    };
    generator.steer(&change, GeneratorShare::WHOLE).unwrap();
    let begun = std::time::Instant::now();
    // The first rate would bring as many in all of the two minutes.
    while answered.load(Ordering::Relaxed) < 60 {
        assert!(begun.elapsed().as_secs() < 60, "the rate stays as it was");
        std::thread::yield_now();
    }
    generator.stop();
    assert!(generator.finish().unwrap().rate_changed);
}

#[test]
fn a_test_is_ended_from_outside_and_keeps_what_it_has() {
    let answered = Arc::new(AtomicU64::new(0));
    let port = server(Arc::clone(&answered));
    let directory = std::env::temp_dir().join(format!("sokudo-stop-{}", now_ns()));
    std::fs::create_dir_all(&directory).unwrap();
    let options = JmxOptions {
        plan: directory.join("plan.jmx"),
        threads: 1,
        ..JmxOptions::default()
    };
    std::fs::write(&options.plan, plan(port, 2, -1)).unwrap();
    let prepared = Prepared::new(read_plan(&options, 1).unwrap(), &options, 1).unwrap();
    let generator = Generator::start(&prepared, &options, (now_ns(), 1), Arc::new(Silent), || {});
    let generator = generator.map_err(Refusal::from).unwrap();
    while answered.load(Ordering::Relaxed) < 20 {
        std::thread::yield_now();
    }
    generator.stop();
    let finished = generator.finish().unwrap();
    std::fs::remove_dir_all(&directory).unwrap();
    assert!(finished.stopped && finished.seen["ask"].samples >= 20);
}

#[test]
fn listeners_of_the_plan_write_files_of_their_own() {
    let answered = Arc::new(AtomicU64::new(0));
    let port = server(Arc::clone(&answered));
    let listener = |file: &str, flags: &str, columns: &str| {
        let columns = columns
            .split(' ')
            .map(|name| format!("<{name}>true</{name}>"));
        let columns: String = columns.collect();
        format!(
            "<ResultCollector testname=\"{file}\">{flags}<objProp><name>saveConfig</name><value class=\"SampleSaveConfiguration\">{columns}</value></objProp><stringProp name=\"filename\">{file}</stringProp></ResultCollector><hashTree/>"
        )
    };
    let errors = "<boolProp name=\"ResultCollector.error_logging\">true</boolProp>";
    let below = [
        listener("~/kept/${__P(run)}-all.jtl", "", "label success fieldNames"),
        listener("~/kept/7-all.jtl", "", "label success fieldNames"),
        listener("~/wrong.jtl", errors, "label code"),
        listener("~/bare.xml", "", "label success xml"),
        listener("~/foreign.xml", "", "label success xml"),
        listener("~/foreign.xml/below.jtl", "", "label"),
    ];
    let place = format!("</HTTPSamplerProxy><hashTree>{}</hashTree>", below.concat());
    let text = plan(port, 2, 3).replace("</HTTPSamplerProxy><hashTree/>", &place);
    let beside = tempfile::tempdir().unwrap();
    let read = |name: &str| std::fs::read_to_string(beside.path().join(name)).unwrap();
    let once = || {
        std::fs::write(beside.path().join("foreign.xml"), "no results").unwrap();
        execute(&text, |options| {
            options.plan = beside.path().join("plan.jmx");
            options.properties.push(("run".into(), "7".into()));
        })
    };
    let (finished, rows) = once();
    assert_eq!((finished.rows, rows.len()), (6, 7));
    // Told, and the test goes on.
    assert_eq!(finished.problems.len(), 2, "{:?}", finished.problems);
    assert!(english(&finished.problems[0]).contains("is not an XML file of results"));
    assert_eq!(read("foreign.xml"), "no results");
    let all = format!("label,success\n{}", "ask,true\n".repeat(6));
    assert_eq!(read("kept/7-all.jtl"), all);
    assert_eq!(read("wrong.jtl"), "");
    let samples = "<httpSample s=\"true\" lb=\"ask\"/>\n".repeat(6);
    let start = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testResults version=\"1.2\">\n";
    let end = "\n</testResults>\n";
    assert_eq!(read("bare.xml"), format!("{start}{samples}{end}"));
    // The second run writes behind the first.
    once();
    assert_eq!(read("kept/7-all.jtl"), all + &"ask,true\n".repeat(6));
    assert_eq!(
        read("bare.xml"),
        format!("{start}{samples}\n{samples}{end}")
    );
}

/// A server that notes where its callers come from.
fn noting() -> (u16, Arc<std::sync::Mutex<Vec<std::net::IpAddr>>>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let callers = Arc::new(std::sync::Mutex::new(Vec::new()));
    let noted = Arc::clone(&callers);
    std::thread::spawn(move || {
        while let Ok((mut stream, from)) = listener.accept() {
            noted.lock().unwrap().push(from.ip());
            let mut head = [0; 4096];
            let _ = stream.read(&mut head);
            let _ = stream
                .write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: close\r\n\r\n");
        }
    });
    (port, callers)
}

#[test]
fn requests_leave_from_where_the_plan_says_and_go_to_the_host_that_it_knows() {
    if let Err(why) = std::net::UdpSocket::bind("127.0.0.2:0") {
        return eprintln!("skipped: this system has one loopback address: {why}");
    }
    let (port, callers) = noting();
    let get = |source: &str, kind: &str| {
        format!(
            r#"<HTTPSamplerProxy testname="{source}"><stringProp name="HTTPSampler.domain">shop.invalid</stringProp><stringProp name="HTTPSampler.port">{port}</stringProp><stringProp name="HTTPSampler.ipSource">{source}</stringProp><intProp name="HTTPSampler.ipSourceType">{kind}</intProp></HTTPSamplerProxy><hashTree/>"#
        )
    };
    let dns = r#"<DNSCacheManager testname="names"><boolProp name="DNSCacheManager.isCustomResolver">true</boolProp><collectionProp name="DNSCacheManager.servers"/><collectionProp name="DNSCacheManager.hosts"><elementProp name="" elementType="StaticHost"><stringProp name="StaticHost.Name">Shop.Invalid</stringProp><stringProp name="StaticHost.Address">127.0.0.1</stringProp></elementProp></collectionProp></DNSCacheManager><hashTree/>"#;
    let samplers = [
        get("", "0"),
        get("127.0.0.2", "0"),
        get("127.0.0.${__intSum(1,2)}", "0"),
        get("192.0.2.7", "0"),
        get("nowhere.invalid", "0"),
        get("no-such-device", "1"),
    ];
    let text = format!(
        r#"<jmeterTestPlan version="1.2"><hashTree><TestPlan testname="P"/><hashTree>
<ThreadGroup testname="Users"><stringProp name="ThreadGroup.num_threads">1</stringProp>
<elementProp name="ThreadGroup.main_controller" elementType="LoopController"><boolProp name="LoopController.continue_forever">false</boolProp><intProp name="LoopController.loops">1</intProp></elementProp></ThreadGroup>
<hashTree>{dns}{}</hashTree></hashTree></hashTree></jmeterTestPlan>"#,
        samplers.concat()
    );
    let (finished, rows) = execute(&text, |_| {});
    assert!(finished.problems.is_empty(), "{:?}", finished.problems);
    let from = |last: u8| std::net::IpAddr::from([127, 0, 0, last]);
    assert_eq!(*callers.lock().unwrap(), [from(1), from(2), from(3)]);
    let codes: Vec<_> = rows[1..]
        .iter()
        .map(|row| row.split(',').nth(3).unwrap())
        .collect();
    assert_eq!(codes[..3], ["200"; 3]);
    let failed = |code: &&&str| code.starts_with("Non HTTP response code: ");
    assert_eq!(codes[3..].iter().filter(failed).count(), 3, "{codes:?}");
}

/// JMeter, too, tidies nothing up then, although the plan asks for it.
#[test]
fn a_set_up_that_stops_the_test_is_followed_by_nothing() {
    let group = |class: &str| {
        format!(
            r#"<{class} testname="{class}"><stringProp name="ThreadGroup.num_threads">1</stringProp><stringProp name="ThreadGroup.on_sample_error">stoptest</stringProp>
<elementProp name="ThreadGroup.main_controller" elementType="LoopController"><intProp name="LoopController.loops">1</intProp></elementProp></{class}>
<hashTree><HTTPSamplerProxy testname="{class}"><stringProp name="HTTPSampler.domain">127.0.0.1</stringProp><stringProp name="HTTPSampler.port">1</stringProp></HTTPSamplerProxy><hashTree/></hashTree>"#
        )
    };
    let groups = ["SetupThreadGroup", "ThreadGroup", "PostThreadGroup"].map(group);
    let text = format!(
        r#"<jmeterTestPlan version="1.2"><hashTree><TestPlan testname="P"><boolProp name="TestPlan.tearDown_on_shutdown">true</boolProp></TestPlan><hashTree>{}</hashTree></hashTree></jmeterTestPlan>"#,
        groups.concat()
    );
    let (finished, _) = execute(&text, |_| {});
    let labels: Vec<&String> = finished.seen.keys().collect();
    assert_eq!(labels, ["SetupThreadGroup"]);
}

#[test]
fn a_probe_sends_what_one_user_of_a_group_sends() {
    let answered = Arc::new(AtomicU64::new(0));
    let port = server(Arc::clone(&answered));
    let probed = probed(&plan(port, 5, 20)).unwrap();
    assert_eq!((probed.users, probed.samples, probed.failed), (1, 20, 0));
    assert_eq!(answered.load(Ordering::Relaxed), 20);
    let cycle_seconds = probed.response_seconds + probed.pause_seconds;
    assert_eq!(probed.knee_users, Some(cycle_seconds / 0.5));
}

#[test]
fn a_probe_without_a_sample_says_nothing_of_the_server() {
    let port = server(Arc::default());
    let refusal = probed(&plan(port, 5, 0)).unwrap_err();
    assert!(english(&refusal.says).contains("no result"), "{refusal:?}");
}

/// Phase that `options` plan for a group of 100 loops.
fn planned(options: JmxOptions) -> PhasePlan {
    let directory = tempfile::tempdir().unwrap();
    let options = JmxOptions {
        plan: directory.path().join("plan.jmx"),
        ..options
    };
    std::fs::write(&options.plan, plan(1, 2, 100)).unwrap();
    let reading = read_plan(&options, 1).unwrap();
    let prepared = Prepared::new(reading, &options, 1).unwrap();
    phase_plan(&prepared.plan, &options, 3)
}

#[test]
fn a_plan_lasts_as_long_as_its_main_groups_and_is_bounded_in_any_case() {
    let timed = planned(JmxOptions {
        duration_s: Some(60),
        ..JmxOptions::default()
    });
    assert_eq!(timed.duration_ns, 60_000_000_000);
    assert!(timed.bound_ns > timed.duration_ns);
    assert_eq!(timed.flows.len(), 2);
    let by_loops = planned(JmxOptions::default());
    assert_eq!(by_loops.duration_ns, 0);
    let elsewhere = planned(JmxOptions {
        together: Some(Together::default()),
        ..JmxOptions::default()
    });
    assert!(0 < elsewhere.bound_ns && elsewhere.bound_ns < by_loops.bound_ns);
}
