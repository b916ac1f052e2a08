//! Promises of every monitor, and live readings where the system offers them.

use std::collections::BTreeSet;

use sokudo_model::{Batch, metric};

use super::*;

/// Samplers of the standing monitors that could be opened, and the others with the reason.
#[derive(Default)]
struct Opened {
    samplers: Vec<(&'static str, Box<dyn Sampler>)>,
    missing: Vec<(&'static str, OpenError)>,
}

fn open_all(ctx: &Context) -> Opened {
    let mut opened = Opened::default();
    for monitor in standing() {
        match monitor.open_with(NO_OPTIONS, ctx) {
            Ok(sampler) => opened.samplers.push((monitor.info().name, sampler)),
            Err(OpenError::Unavailable(Unavailable::OtherScope)) => {}
            Err(why) => opened.missing.push((monitor.info().name, why)),
        }
    }
    opened
}

#[test]
fn registry_is_sorted_and_emits_only_catalogue_names() {
    let names: Vec<_> = REGISTRY.iter().map(|m| m.info().name).collect();
    assert!(names.is_sorted(), "{names:?}");
    let mut seen = BTreeSet::new();
    for monitor in REGISTRY {
        let info = monitor.info();
        assert!(!info.help.is_empty());
        // A standing monitor that blocks would delay the others of its thread.
        assert!(!(info.is_standing && info.may_block), "{}", info.name);
        for name in info.metrics {
            assert!(
                metric::find(name).is_some(),
                "{name} is not in the catalogue"
            );
            assert!(seen.insert(name), "{name} is emitted by two monitors");
        }
    }
    let promised = metric::catalogue().filter(|m| {
        ["host.", "self.", "process.", "openmetrics."]
            .iter()
            .any(|of| m.name.starts_with(of))
    });
    for metric in promised {
        assert!(
            seen.contains(&metric.name),
            "{} has no monitor",
            metric.name
        );
    }
}

#[test]
fn live_samples_are_finite_and_never_negative() {
    let ctx = Context::host("here");
    let mut opened = open_all(&ctx);
    for (name, why) in &opened.missing {
        eprintln!("skipped: {name}: {why}");
    }
    let mut batch = Batch::default();
    for t_ns in [0, 1_000_000_000, 2_000_000_000] {
        for (_, sampler) in &mut opened.samplers {
            sampler.sample(t_ns, &mut batch);
        }
    }
    let mut keys = BTreeSet::new();
    for series in &batch.series {
        assert!(keys.insert(&series.key), "{:?} appears twice", series.key);
        let times: Vec<_> = series.points.iter().map(|p| p.0).collect();
        assert!(times.is_sorted(), "{:?}", series.key);
        for (_, value) in &series.points {
            assert!(*value >= 0.0 && value.is_finite(), "{series:?}");
        }
        let monitor = REGISTRY
            .iter()
            .find(|m| m.info().metrics.contains(&series.key.metric.as_str()));
        assert!(monitor.is_some(), "{:?}", series.key);
    }
}

#[test]
fn first_sample_emits_only_gauges() {
    let mut batch = Batch::default();
    for (_, sampler) in &mut open_all(&Context::host("here")).samplers {
        sampler.sample(5, &mut batch);
    }
    for series in &batch.series {
        let kind = metric::find(&series.key.metric).map(|m| m.kind);
        assert_eq!(kind, Some(sokudo_model::MetricKind::Gauge), "{series:?}");
        assert!(!series.key.metric.ends_with("_per_second"), "{series:?}");
    }
}

#[test]
fn a_namespace_is_not_the_machine() {
    let ctx = Context::namespace("inside");
    const OF_A_NAMESPACE: [&str; 5] = ["listen", "network", "nstat", "qdisc", "sockets"];
    let others = standing().filter(|m| !OF_A_NAMESPACE.contains(&m.info().name));
    for monitor in others {
        let why = monitor.open_with(NO_OPTIONS, &ctx).err();
        assert_eq!(why, Some(OpenError::Unavailable(Unavailable::OtherScope)));
    }
    let opened = open_all(&ctx);
    assert_eq!(
        opened.samplers.len() + opened.missing.len(),
        OF_A_NAMESPACE.len()
    );
}

#[test]
fn what_is_absent_is_said_and_not_zero() {
    let dir = tempfile::tempdir().expect("temporary directory");
    let ctx = Context {
        proc_root: dir.path().join("proc"),
        ..Context::host("nowhere")
    };
    let opened = open_all(&ctx);
    assert!(opened.samplers.is_empty());
    assert_eq!(opened.missing.len(), standing().count());
    for (_, why) in opened.missing {
        let why = why.to_string();
        assert!(why.starts_with("not available on this system: `"), "{why}");
    }
}

#[test]
fn a_sampler_stays_with_the_namespace_it_was_opened_in() {
    let hosts = match sokudo_net::netns::LocalHosts::new(2, None) {
        Ok(hosts) => hosts,
        Err(why) => return eprintln!("skipped: {why:?}"),
    };
    let address = hosts.address(1);
    let inside = hosts.spawn_on(1, move || {
        let inside = Context::namespace("inside");
        let opened = network::Network.open_with(NO_OPTIONS, &inside);
        let mut sampler = opened.expect("opens");
        sampler.sample(0, &mut Batch::default());
        // Nobody listens on the port that was just given back; the refusal says it was counted.
        let closed = std::net::UdpSocket::bind((address, 0)).expect("bind");
        let port = closed.local_addr().expect("address").port();
        drop(closed);
        let socket = std::net::UdpSocket::bind((address, 0)).expect("bind");
        let bound = std::time::Duration::from_secs(20);
        socket.set_read_timeout(Some(bound)).expect("timeout");
        socket.connect((address, port)).expect("connect");
        socket.send(b"anybody?").expect("send");
        let refused = socket.recv(&mut [0; 8]);
        assert!(refused.is_err(), "{refused:?}");
        sampler
    });
    let mut sampler = inside.expect("enter").join().expect("no panic");
    let mut batch = Batch::default();
    sampler.sample(1_000_000_000, &mut batch);
    let value = |metric: &str| {
        let series = batch.series.iter().find(|s| s.key.metric == metric);
        series.and_then(|s| s.points.last()).map(|point| point.1)
    };
    assert_eq!(value("host.udp_no_port"), Some(1.0));
    assert_eq!(value("host.udp_out_per_second"), Some(1.0));
    assert_eq!(value("host.softnet_drops"), None);
}

#[test]
fn a_full_queue_of_a_device_shows_its_backlog_and_its_drops() {
    use sokudo_testkit::hosts::{Hosts, Tbf};

    const DATAGRAMS: usize = 50;
    let Some(hosts) = Hosts::new(2) else { return };
    let bucket = Tbf {
        rate_bits_per_s: 800,
        burst_bytes: 2_000,
        limit_bytes: 4_000,
    };
    if let Err(why) = hosts.limit_sending(0, bucket) {
        return sokudo_testkit::skip(why);
    }
    let (from, to) = (hosts.address(0), hosts.address(1));
    let batch = hosts.run_in(0, move || {
        let opened = qdisc::Qdisc.open_with(NO_OPTIONS, &Context::namespace("inside"));
        let mut sampler = opened.expect("opens");
        let mut batch = Batch::default();
        sampler.sample(0, &mut batch);
        let socket = std::net::UdpSocket::bind((from, 0)).expect("bind");
        for _ in 0..DATAGRAMS {
            // The kernel may refuse what its queue drops.
            let _ = socket.send_to(&[0; 1_000], (to, 9));
        }
        sampler.sample(1_000_000_000, &mut batch);
        batch
    });
    let last = |metric: &str| {
        let of_the_bucket = |s: &&sokudo_model::Series| {
            s.key.metric == metric && s.key.labels.get("kind").is_some_and(|kind| kind == "tbf")
        };
        let series = batch.series.iter().find(of_the_bucket);
        let series = series.unwrap_or_else(|| panic!("no {metric} in {:?}", batch.series));
        assert_eq!(series.key.labels["device"], "eth0");
        series.points.last().expect("a point").1
    };
    // Ten seconds of the rate are one datagram; four thousand bytes wait, the others find no room.
    let waiting = last("host.qdisc_backlog_packets");
    assert!((1.0..=4.0).contains(&waiting), "{waiting} packets wait");
    assert!(last("host.qdisc_backlog_bytes") >= 1_000.0 * waiting);
    let dropped = last("host.qdisc_drops");
    assert!(
        dropped >= (DATAGRAMS / 2) as f64 && dropped <= DATAGRAMS as f64,
        "{dropped} dropped"
    );
    assert!(last("host.qdisc_overlimits") >= 1.0);
}
