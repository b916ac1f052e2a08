//! Tests of the hosts that a controller knows, and of how long they stay members.

use serde_json::Value;

use crate::group::{agent, at, controller, has_members, noted, objects, own_address};
use crate::vocabulary::{BOUND, Place, place, summary};

const DAY_S: u64 = 24 * 3600;

/// The one host that is there.
#[track_caller]
fn only_host(place: &Place) -> Value {
    let ended = at(place, "home", &["group", "hosts", "lab", "--json"]).run();
    ended.expect_code(0);
    let mut objects = objects(&ended);
    assert_eq!(objects.len(), 1, "{ended}");
    objects.remove(0)
}

/// The list says of a host what the system says.
#[test]
fn a_host_is_listed_with_what_it_is() {
    let place = place();
    let (_controller, token) = controller(&place, &own_address(20));
    let words = [
        "agent", "--join", &token, "--name", "hosta", "--label", "rack=3",
    ];
    let mut hosta = at(&place, "hosta", &words).start();
    hosta.wait_for(|line| (line == "connected").then_some(()));
    has_members(&place, &["hosta"]);
    let host = only_host(&place);
    assert_eq!(
        (&host["number"], &host["name"]),
        (&1.into(), &"hosta".into())
    );
    assert_eq!(host["health"], "ready");
    assert_eq!(host["labels"]["rack"], "3");
    assert_eq!(host["os"], std::env::consts::OS);
    let cores = std::thread::available_parallelism().expect("cores").get();
    assert_eq!(host["cores"], cores);
    assert_eq!(host["version"], env!("CARGO_PKG_VERSION"));
    let workloads = host["workloads"].as_array().expect("workloads");
    assert!(workloads.contains(&"rr".into()), "{workloads:?}");
    // Its clock is that of the controller.
    assert_eq!(host["clock_offset_seconds"], 0.0);
    assert_eq!(host["clock_error_seconds"], 0.0);
    for nic in host["nics"].as_array().expect("interfaces") {
        let name = nic["name"].as_str().expect("a name");
        assert!(name != "lo" && nic["up"].is_boolean(), "{nic}");
        let mtu = std::fs::read_to_string(format!("/sys/class/net/{name}/mtu"));
        let mtu = mtu.ok().and_then(|mtu| mtu.trim().parse::<u64>().ok());
        assert_eq!(nic["mtu_bytes"].as_u64(), mtu, "{nic}");
    }
    let until: jiff::Timestamp = host["certificate_until"]
        .as_str()
        .and_then(|until| until.parse().ok())
        .expect("a time");
    let left_s = until.as_second() - jiff::Timestamp::now().as_second();
    let whole = 90 * DAY_S as i64;
    assert!((whole - 600..=whole).contains(&left_s), "{left_s} s");
}

/// An agent serves eight controllers at a time. A controller that only listed it no longer counts.
#[test]
fn an_agent_that_was_listed_is_free_for_others() {
    let place = place();
    let (_controller, token) = controller(&place, &own_address(28));
    let _hosta = agent(&place, &token, "hosta");
    has_members(&place, &["hosta"]);
    stays_free(&place);
}

/// Lists the only host more often than it serves controllers.
#[track_caller]
pub fn stays_free(place: &Place) {
    for _ in 0..10 {
        let host = only_host(place);
        assert_eq!(host["answers"], true, "{host}");
    }
}

/// Changes a file of JSON.
fn change(place: &Place, file: &str, step: impl FnOnce(&mut Value)) {
    let path = place.path().join(file);
    let text = std::fs::read_to_string(&path).expect("a file");
    let mut value = serde_json::from_str(&text).expect("JSON");
    step(&mut value);
    std::fs::write(&path, value.to_string()).expect("a file");
}

/// As if the host had joined so many days ago.
fn age(place: &Place, days: u64) {
    let back = |value: &mut Value| {
        *value = (value.as_u64().expect("seconds") - days * DAY_S).into();
    };
    change(place, "hosta/members/lab/member.json", |member| {
        let life = &mut member["admission"]["life"];
        back(&mut life["from_unix_s"]);
        back(&mut life["until_unix_s"]);
    });
    change(place, "home/groups/lab/members.json", |members| {
        back(&mut members["members"][0]["until_unix_s"]);
    });
}

/// An agent that joined two months ago goes on with another certificate, which it gets by itself.
#[test]
fn an_agent_renews_its_certificate_while_it_runs() {
    let place = place();
    let (_controller, token) = controller(&place, &own_address(21));
    let first = agent(&place, &token, "hosta");
    first.interrupt();
    first.finish().expect_code(0);
    age(&place, 80);
    let mut hosta = at(&place, "hosta", &["agent", "lab"]).start();
    hosta.wait_for(|line| (line == "connected").then_some(()));
    hosta.wait_for(|line| line.contains("the certificate is renewed").then_some(()));
    // And shows it.
    hosta.wait_for(|line| (line == "connected").then_some(()));
    has_members(&place, &["hosta"]);
    let ended = at(
        &place,
        "home",
        &["rr", "lab/hosta", "--count", "50", "--json"],
    )
    .run();
    ended.expect_code(0);
    assert_eq!(summary(&ended).number("rr.transactions"), 50.0);
    let what: Vec<Value> = noted(&place, "home/groups/lab")
        .iter()
        .map(|entry| entry["what"].clone())
        .collect();
    assert_eq!(what, ["joined", "renewed"]);
    let kept = std::fs::read_to_string(place.path().join("hosta/members/lab/member.json"));
    let kept: Value = serde_json::from_str(&kept.expect("a file")).expect("JSON");
    let until = kept["admission"]["life"]["until_unix_s"].as_u64();
    let now = jiff::Timestamp::now().as_second() as u64;
    assert!(until.is_some_and(|until| until > now + 89 * DAY_S));
}

/// Nobody is at the door: the agent says so, and the controller's list does.
#[test]
fn an_end_that_comes_near_is_told_at_both_ends() {
    let place = place();
    let (_controller, token) = controller(&place, &own_address(22));
    let first = agent(&place, &token, "hosta");
    first.interrupt();
    first.finish().expect_code(0);
    age(&place, 80);
    change(&place, "hosta/members/lab/member.json", |member| {
        member["door"]["places"] = Value::Array(Vec::new());
    });
    let mut hosta = at(&place, "hosta", &["agent", "lab"]).start();
    hosta.wait_for(|line| {
        (line.contains("ends in 9 days, and cannot be renewed")
            || line.contains("ends in 10 days, and cannot be renewed"))
        .then_some(())
    });
    hosta.wait_for(|line| line.contains("sokudo group token lab").then_some(()));
    has_members(&place, &["hosta"]);
    // Who looks at the group is told, too.
    let ended = at(&place, "home", &["group", "hosts", "lab"]).run();
    ended
        .expect_stderr("the certificate of hosta ends in")
        .expect_stderr("sokudo agent --join");
}

/// One that came too late says so, and its name waits for it.
#[test]
fn an_agent_whose_certificate_has_ended_joins_again() {
    let place = place();
    let (_controller, token) = controller(&place, &own_address(23));
    let first = agent(&place, &token, "hosta");
    first.interrupt();
    first.finish().expect_code(0);
    age(&place, 91);
    let late = at(&place, "hosta", &["agent", "lab"]).bound(BOUND).run();
    late.expect_code(2)
        .expect_stderr("the certificate of hosta in the group lab has expired")
        .expect_stderr("sokudo group token lab");
    let _again = agent(&place, &token, "hosta");
    has_members(&place, &["hosta"]);
}
