//! One plan, several generators: everything is asked once, told once, and stands in one file.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpListener};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use sokudo_testkit::program::Running;

use crate::group::{agent, at, controller, has_members, own_address};
use crate::jmx::far::{Does, far};
use crate::jmx::rows::{self, Row, number};
use crate::vocabulary::{BOUND, Place, place, summary};

/// A web server that remembers the target of every request.
#[derive(Clone)]
struct Server {
    address: SocketAddr,
    asked: Arc<Mutex<Vec<String>>>,
}

impl Server {
    fn start() -> Self {
        let listener = TcpListener::bind(("127.0.0.1", 0)).expect("loopback has ports");
        let server = Self {
            address: listener.local_addr().expect("it is bound"),
            asked: Arc::default(),
        };
        let answering = server.clone();
        thread::spawn(move || {
            for mut stream in listener.incoming().flatten() {
                let server = answering.clone();
                thread::spawn(move || {
                    let mut portion = [0; 4096];
                    // A request fits into one portion, and none follows before its answer.
                    while let Ok(count @ 1..) = stream.read(&mut portion) {
                        let text = String::from_utf8_lossy(&portion[..count]);
                        let target = text.split(' ').nth(1).unwrap_or_default();
                        server
                            .asked
                            .lock()
                            .expect("no holder panics")
                            .push(target.to_owned());
                        let answer = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";
                        if stream.write_all(answer).is_err() {
                            return;
                        }
                    }
                });
            }
        });
        server
    }

    /// Targets that were asked for, with how often.
    fn asked(&self) -> BTreeMap<String, usize> {
        let mut counts = BTreeMap::new();
        for target in self.asked.lock().expect("no holder panics").iter() {
            *counts.entry(target.clone()).or_default() += 1;
        }
        counts
    }
}

/// A group of agents whose owners let them load servers.
struct Lab {
    place: Place,
    agents: Vec<Running>,
    _controller: Running,
}

impl Lab {
    fn new(number: u8, names: &[&str]) -> Self {
        let place = place();
        let (controller, token) = controller(&place, &own_address(number));
        let agents = names.iter().map(|name| {
            let home = place.path().join(name);
            std::fs::create_dir(&home).expect("a home");
            let policy =
                "workloads = [\"http\", \"jmx\"]\nreach = [\"hosts\", \"strangers\", \"files\"]\n";
            std::fs::write(home.join("policy.toml"), policy).expect("a policy");
            agent(&place, &token, name)
        });
        let agents = agents.collect();
        has_members(&place, names);
        Self {
            place,
            agents,
            _controller: controller,
        }
    }

    fn sokudo(&self, words: &[&str]) -> sokudo_testkit::program::Sokudo {
        at(&self.place, "home", words)
    }
}

/// A plan in which each user asks once per row of its data.
fn plan(server: SocketAddr, users: u32, loops: i32) -> String {
    let port = server.port();
    format!(
        r#"<jmeterTestPlan version="1.2"><hashTree><TestPlan testname="P"/><hashTree>
<ThreadGroup testname="Users"><stringProp name="ThreadGroup.num_threads">{users}</stringProp><stringProp name="ThreadGroup.ramp_time">0</stringProp>
<elementProp name="ThreadGroup.main_controller" elementType="LoopController"><boolProp name="LoopController.continue_forever">false</boolProp><intProp name="LoopController.loops">{loops}</intProp></elementProp></ThreadGroup>
<hashTree><CSVDataSet testname="data"><stringProp name="filename">users.csv</stringProp><stringProp name="variableNames">name</stringProp><boolProp name="recycle">true</boolProp></CSVDataSet><hashTree/>
<HTTPSamplerProxy testname="ask"><stringProp name="HTTPSampler.domain">127.0.0.1</stringProp><stringProp name="HTTPSampler.port">{port}</stringProp>
<stringProp name="HTTPSampler.path">/${{name}}/${{__threadNum}}</stringProp><stringProp name="HTTPSampler.method">GET</stringProp><boolProp name="HTTPSampler.use_keepalive">true</boolProp>
</HTTPSamplerProxy><hashTree/></hashTree></hashTree></hashTree></jmeterTestPlan>"#
    )
}

/// Rows of a file of results.
fn rows(place: &Place, name: &str) -> Vec<Row> {
    rows::rows(&rows::read(place, name)).1
}

/// The value of sorted ones that this part of them does not exceed.
fn quantile(sorted: &[u64], part: f64) -> f64 {
    let rank = (part * sorted.len() as f64).ceil() as usize;
    sorted[rank.clamp(1, sorted.len()) - 1] as f64
}

#[test]
fn a_plan_is_divided_among_the_hosts_of_a_group() {
    let lab = Lab::new(21, &["hosta", "hostb"]);
    let server = Server::start();
    lab.place.write("plan.jmx", &plan(server.address, 5, 4));
    lab.place.write("users.csv", "ann\nbob\ncat\ndan\n");
    let ended = lab
        .sokudo(&[
            "jmx", "run", "plan.jmx", "--on", "lab/*", "-l", "all.jtl", "--data", "split", "--json",
        ])
        .run();
    ended
        .expect_code(0)
        .expect_stderr("5 users")
        .expect_stderr("2 generators");
    let said = summary(&ended);
    assert_eq!(said.number("http.requests"), 20.0);
    assert_eq!(said.number("group.hosts"), 3.0);
    said.number("group.clock_error_seconds.max");
    said.number("group.start_spread_seconds.max");
    // Users have the numbers of one test, and no host has another's rows.
    let asked = server.asked();
    assert_eq!(asked.values().sum::<usize>(), 20);
    let users = |names: &[&str]| -> BTreeSet<String> {
        let of = |target: &&String| names.iter().any(|name| target.contains(name));
        let numbers = asked.keys().filter(of);
        numbers
            .filter_map(|t| Some(t.rsplit_once('/')?.1.to_owned()))
            .collect()
    };
    assert_eq!(
        users(&["ann", "cat"]),
        BTreeSet::from(["1", "3", "5"].map(String::from))
    );
    assert_eq!(
        users(&["bob", "dan"]),
        BTreeSet::from(["2", "4"].map(String::from))
    );
    let rows = rows(&lab.place, "all.jtl");
    assert_eq!(rows.len(), 20);
    let of = |host: &str| rows.iter().filter(|row| row["Hostname"] == host).count();
    assert_eq!((of("hosta"), of("hostb")), (12, 8));
    let ends = rows.iter().map(|row| {
        let number = |name: &str| row[name].parse::<i64>().expect("a number");
        number("timeStamp") + number("elapsed")
    });
    let ends: Vec<i64> = ends.collect();
    // A millisecond is lost where both are cut off.
    assert!(
        ends.windows(2).all(|pair| pair[0] <= pair[1] + 1),
        "{ends:?}"
    );
}

#[test]
fn the_tools_own_words_give_every_host_the_whole_plan() {
    let lab = Lab::new(23, &["hosta", "hostb"]);
    let server = Server::start();
    lab.place.write("plan.jmx", &plan(server.address, 2, 3));
    lab.place.write("users.csv", "ann\n");
    let words = [
        "-n",
        "-t",
        "plan.jmx",
        "-l",
        "r.jtl",
        "-R",
        "lab/hosta,lab/hostb",
    ];
    let ended = lab
        .sokudo(&[["compat", "jmeter"].as_slice(), &words].concat())
        .run();
    ended
        .expect_code(0)
        .expect_stdout("... end of run")
        .expect_stderr("4 users");
    let rows = rows(&lab.place, "r.jtl");
    let names: BTreeSet<&str> = rows.iter().map(|row| row["threadName"].as_str()).collect();
    let all = [
        "hosta-Users 1-1",
        "hosta-Users 1-2",
        "hostb-Users 1-1",
        "hostb-Users 1-2",
    ];
    assert_eq!((rows.len(), names), (12, BTreeSet::from(all)));
}

#[test]
fn a_generator_that_dies_is_named_and_the_others_go_on() {
    let mut lab = Lab::new(25, &["hosta", "hostb"]);
    let server = Server::start();
    lab.place.write("plan.jmx", &plan(server.address, 2, -1));
    lab.place.write("users.csv", "ann\n");
    let words = [
        "jmx",
        "run",
        "plan.jmx",
        "--on",
        "lab/*",
        "--duration",
        "8",
        "--json",
    ];
    let running = lab.sokudo(&words).start();
    let deadline = Instant::now() + BOUND;
    while server.asked().len() < 2 {
        assert!(Instant::now() < deadline, "both generators ask");
        thread::yield_now();
    }
    lab.agents.pop().expect("hostb").kill();
    let ended = running.finish();
    ended.expect_code(3).expect_stderr("hostb");
    let said = summary(&ended);
    assert_eq!(said.text("status"), "partial");
    assert!(said.number("http.requests") > 0.0);
}

#[test]
fn files_from_elsewhere_are_not_sent_unasked() {
    let lab = Lab::new(27, &["hosta"]);
    let server = Server::start();
    let text = plan(server.address, 1, 1).replace("users.csv", "../users.csv");
    std::fs::create_dir(lab.place.path().join("plans")).expect("a directory");
    lab.place.write("plans/plan.jmx", &text);
    lab.place.write("users.csv", "ann\n");
    let words = ["jmx", "run", "plan.jmx", "--on", "lab/hosta"];
    let plans = lab.place.path().join("plans");
    lab.sokudo(&words)
        .dir(&plans)
        .run()
        .expect_code(2)
        .expect_stderr("--with ../users.csv");
    let named = [words.as_slice(), &["--with", "../users.csv"]].concat();
    lab.sokudo(&named).dir(&plans).run().expect_code(0);
    assert_eq!(server.asked(), BTreeMap::from([("/ann/1".to_owned(), 1)]));
}

#[test]
fn a_url_is_loaded_from_all_hosts_of_a_group() {
    let lab = Lab::new(29, &["hosta", "hostb"]);
    let server = Server::start();
    let url = format!("http://{}/x", server.address);
    let words = [
        "http", &url, "--on", "lab/*", "-c", "4", "-n", "50", "--json",
    ];
    let ended = lab.sokudo(&words).run();
    ended.expect_code(0);
    let said = summary(&ended);
    assert_eq!(said.number("http.requests"), 50.0);
    assert_eq!(said.number("http.open_connections"), 4.0);
    assert_eq!(server.asked(), BTreeMap::from([("/x".to_owned(), 50)]));
}

/// Whatever the generators saw is told as if one had seen it all.
#[test]
fn percentiles_of_all_generators_are_those_of_all_their_rows() {
    let lab = Lab::new(31, &["hosta", "hostb"]);
    // Two of three answers are quick, and no generator sees the same mixture as the other.
    let far = far(|number, _| {
        let ms = [5, 15, 60][number % 3] + (number % 7) as u64;
        let answer = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";
        Does::Later(Duration::from_millis(ms), answer.to_vec())
    });
    lab.place.write("plan.jmx", &plan(far.address, 3, 40));
    lab.place.write("users.csv", "ann\n");
    for (how, users) in [("--split", 3), ("--replicate", 6)] {
        let file = format!("all{how}.jtl");
        let pages = format!("page{how}");
        let words = [
            "jmx", "run", "plan.jmx", "--on", "lab/*", how, "-l", &file, "-e", "-o", &pages,
            "--json",
        ];
        let ended = lab.sokudo(&words).run();
        ended.expect_code(0);
        let said = summary(&ended);
        let rows = rows(&lab.place, &file);
        assert_eq!(rows.len(), users * 40, "{how}");
        let mut elapsed: Vec<u64> = rows.iter().map(|row| number(row, "elapsed")).collect();
        elapsed.sort_unstable();
        for (name, part) in [("p50", 0.5), ("p90", 0.9), ("p95", 0.95), ("p99", 0.99)] {
            let told_ms = said.number(&format!("http.latency_seconds.{name}")) * 1e3;
            let exact_ms = quantile(&elapsed, part);
            // Rows are whole milliseconds between two cut-off stamps, histograms have three digits.
            let allowed_ms = 1.0 + told_ms * 1e-3;
            assert!(
                (told_ms - exact_ms).abs() <= allowed_ms,
                "{how} {name}: {told_ms} told, {exact_ms} in the rows"
            );
        }
        let page = lab.place.path().join(&pages).join("index.html");
        let page = std::fs::read_to_string(page).expect("a dashboard");
        assert!(page.contains("By generator"), "{how}");
        let dashboard = &said.0["dashboard"]["summary"];
        assert_eq!(
            dashboard["http.requests"],
            rows.len() as u64,
            "{dashboard:#}"
        );
        let of = |host: &str| rows.iter().filter(|row| row["Hostname"] == host).count() as f64;
        let flows = said.flows().iter();
        let asked = |host: &str| -> f64 {
            let own = flows.clone().filter(|flow| flow["from"] == host);
            let each = own.filter_map(|flow| flow["metrics"]["http.requests"].as_f64());
            each.sum()
        };
        for host in ["hosta", "hostb"] {
            assert_eq!(asked(host), of(host), "{how} {host}");
        }
    }
    for record in lab.place.records() {
        let page = std::fs::read_to_string(record.join("report.html")).expect("a report");
        assert!(page.contains("<section id=\"generators\">"), "{record:?}");
    }
}

/// The tool's list of hosts is a property, and its wish to end them means nothing to agents.
#[test]
fn the_tools_property_names_the_hosts_and_they_stay() {
    let lab = Lab::new(33, &["hosta", "hostb"]);
    let server = Server::start();
    lab.place.write("plan.jmx", &plan(server.address, 1, 2));
    lab.place.write("users.csv", "ann\n");
    let words = |more: &[&'static str]| {
        let own = ["compat", "jmeter", "-n", "-t", "plan.jmx", "-r", "-X"];
        [own.as_slice(), more].concat()
    };
    let nobody = lab.sokudo(&words(&[])).run();
    nobody.expect_code(2).expect_stderr("`remote_hosts`");
    let hosts = "-Jremote_hosts=lab/hosta, lab/hostb";
    let ended = lab.sokudo(&words(&[hosts])).run();
    ended
        .expect_code(0)
        .expect_stdout("... end of run")
        .expect_stderr("2 users")
        .expect_stderr("2 generators");
    assert_eq!(server.asked(), BTreeMap::from([("/ann/1".to_owned(), 4)]));
    has_members(&lab.place, &["hosta", "hostb"]);
}
