//! Live capture where the system offers it, and what must never be in it.

use std::collections::BTreeSet;

use super::*;

#[test]
fn every_fact_has_a_value_or_a_reason_and_one_name() {
    let environment = capture("here", &Context::host("here"));
    assert_eq!(environment.host, "here");
    let mut names = BTreeSet::new();
    for fact in &environment.facts {
        assert!(names.insert(&fact.name), "`{}` is told twice", fact.name);
        let has_reason = fact.source.starts_with("not available on this system: ");
        assert_eq!(fact.value.is_none(), has_reason, "{fact:?}");
        if fact.unit.is_some() {
            assert!(environment.number(&fact.name).is_some(), "{fact:?}");
        }
    }
    assert_eq!(environment.value("sokudo"), Some(env!("CARGO_PKG_VERSION")));
}

#[test]
fn no_hardware_address_is_recorded() {
    let text = format!("{:?}", capture("here", &Context::host("here")));
    let Ok(entries) = std::fs::read_dir("/sys/class/net") else {
        eprintln!("skipped: this system has no /sys/class/net");
        return;
    };
    for entry in entries.flatten() {
        let address = std::fs::read_to_string(entry.path().join("address")).unwrap_or_default();
        let address = address.trim();
        if !address.is_empty() && address != "00:00:00:00:00:00" {
            assert!(!text.contains(address), "{address}");
        }
    }
}

#[test]
fn a_system_without_proc_gives_reasons_not_nothing() {
    let dir = tempfile::tempdir().expect("temporary directory");
    let ctx = Context {
        proc_root: dir.path().join("proc"),
        ..Context::host("bare")
    };
    let environment = capture("bare", &ctx);
    for name in [
        "cpu model",
        "memory total",
        "net.core.rmem_max",
        "kernel release",
        "interfaces",
    ] {
        let fact = environment.facts.iter().find(|f| f.name == name);
        let fact = fact.unwrap_or_else(|| panic!("`{name}` is not told"));
        assert_eq!(fact.value, None);
        assert!(fact.source.starts_with("not available on this system: "));
    }
}

#[test]
fn a_thread_in_its_own_namespace_sees_its_own_interfaces() {
    let hosts = match sokudo_net::netns::LocalHosts::new(2, Some(1400)) {
        Ok(hosts) => hosts,
        Err(why) => return eprintln!("skipped: {why:?}"),
    };
    let inside = hosts
        .spawn_on(1, || capture("inside", &Context::namespace("inside")))
        .expect("enter the namespace");
    let environment = inside.join().expect("no panic");
    let interfaces = environment.value("interfaces").unwrap_or_default();
    let names: Vec<&str> = interfaces.split(' ').collect();
    assert!(names.len() >= 2 && names.contains(&"lo"), "{interfaces}");
    let link = names.iter().find(|name| **name != "lo").expect("a link");
    assert_eq!(environment.value(&format!("{link} mtu")), Some("1400"));
    assert_eq!(environment.value(&format!("{link} kind")), Some("veth"));
    assert_eq!(environment.value(&format!("{link} driver")), None);
}
