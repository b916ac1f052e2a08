//! Tests that virtual hosts reach each other and that nothing of them remains afterwards.
#![cfg(target_os = "linux")]

use std::collections::BTreeSet;
use std::fs;
use std::io::{BufRead, BufReader};
use std::net::{IpAddr, Ipv4Addr, UdpSocket};
use std::os::unix::fs::MetadataExt as _;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use sokudo_net::netns::{HOSTS_MAX, LocalHosts, Starter};

const BOUND: Duration = Duration::from_secs(60);

/// Set in the copy of this test program that is killed.
const VICTIM: &str = "SOKUDO_TEST_NETNS_VICTIM";

/// Hosts, or `None` after saying why there are none.
fn hosts(n: usize, mtu: Option<u32>) -> Option<LocalHosts> {
    LocalHosts::new(n, mtu)
        .inspect_err(|e| eprintln!("skipped: {e:?}"))
        .ok()
}

/// Identity of the calling thread's network namespace.
fn own_namespace() -> String {
    let link = fs::read_link("/proc/thread-self/ns/net").expect("read own namespace");
    link.display().to_string()
}

/// Namespaces that any thread on this machine is in.
fn namespaces_in_use() -> BTreeSet<String> {
    let directories = |path: &str| -> Vec<_> {
        let entries = fs::read_dir(path).into_iter().flatten().flatten();
        entries.map(|e| e.path()).collect()
    };
    directories("/proc")
        .iter()
        .flat_map(|process| directories(&format!("{}/task", process.display())))
        .filter_map(|thread| fs::read_link(thread.join("ns/net")).ok())
        .map(|link| link.display().to_string())
        .collect()
}

fn links() -> String {
    fs::read_to_string("/proc/thread-self/net/dev").expect("read links")
}

#[test]
fn a_datagram_passes_between_two_hosts_with_its_address() {
    let Some(hosts) = hosts(2, None) else { return };
    let address = hosts.address(1);
    let receiver = hosts
        .spawn_on(1, move || UdpSocket::bind((address, 0)).expect("bind"))
        .expect("enter host 1")
        .join()
        .expect("bind on host 1");
    receiver.set_read_timeout(Some(BOUND)).expect("set bound");
    let to = receiver.local_addr().expect("address");
    hosts
        .spawn_on(0, move || {
            let sender = UdpSocket::bind("0.0.0.0:0").expect("bind");
            sender.send_to(b"hello", to).expect("send");
        })
        .expect("enter host 0")
        .join()
        .expect("send from host 0");
    let mut bytes = [0; 16];
    let (n, from) = receiver.recv_from(&mut bytes).expect("receive");
    assert_eq!(&bytes[..n], b"hello");
    assert_eq!(from.ip(), IpAddr::V4(Ipv4Addr::new(10, 77, 0, 1)));
}

#[test]
fn a_host_has_its_own_links_and_the_mtu_asked_for() {
    let Some(hosts) = hosts(3, Some(9000)) else {
        return;
    };
    let outside = links();
    let (inside, children, mtu) = hosts
        .spawn_on(2, || {
            let child = Command::new("cat")
                .arg("/proc/self/net/dev")
                .output()
                .expect("run cat");
            let socket = UdpSocket::bind((Ipv4Addr::new(10, 77, 0, 3), 0)).expect("bind");
            socket
                .connect((Ipv4Addr::new(10, 77, 0, 1), 9))
                .expect("connect");
            let mtu = path_mtu(&socket);
            (links(), String::from_utf8(child.stdout).expect("text"), mtu)
        })
        .expect("enter host 2")
        .join()
        .expect("look around on host 2");
    assert!(inside.contains("eth0") && inside.contains("lo"), "{inside}");
    assert!(
        children.contains("eth0"),
        "a child is elsewhere: {children}"
    );
    assert!(!outside.contains("sk-"), "visible outside: {outside}");
    assert_eq!(mtu, 9000);
}

/// MTU of the route of a connected socket, bytes.
fn path_mtu(socket: &UdpSocket) -> u32 {
    rustix::net::sockopt::ip_mtu(socket).expect("read mtu")
}

#[test]
fn the_hub_has_one_port_per_host() {
    let Some(hosts) = hosts(2, None) else { return };
    let seen = hosts
        .spawn_on_hub(links)
        .expect("enter the hub")
        .join()
        .expect("look around");
    for link in ["sk-hub", "sk-port0", "sk-port1"] {
        assert!(seen.contains(link), "{link} is missing: {seen}");
    }
}

#[test]
fn impossible_wishes_are_refused_with_a_hint() {
    for (n, mtu) in [
        (0, None),
        (HOSTS_MAX + 1, None),
        (2, Some(1)),
        (2, Some(70_000)),
    ] {
        let refused = LocalHosts::new(n, mtu).expect_err("must be refused");
        let hints = ["error-netns-hosts-hint", "error-netns-mtu-hint"];
        assert!(hints.contains(&refused.hint.key.as_str()), "{refused:?}");
    }
}

#[test]
fn dropping_the_hosts_takes_their_namespaces_away() {
    let Some(hosts) = hosts(2, None) else { return };
    let inside = hosts
        .spawn_on(0, own_namespace)
        .expect("enter")
        .join()
        .expect("look around");
    assert_ne!(inside, own_namespace());
    drop(hosts);
    wait_until_unused(&inside);
}

/// A thread that was joined may still be on its way out of the kernel.
fn wait_until_unused(namespace: &str) {
    let deadline = Instant::now() + BOUND;
    while namespaces_in_use().contains(namespace) {
        assert!(Instant::now() < deadline, "{namespace} is still in use");
        std::thread::yield_now();
    }
}

/// Not a test of its own: what [`a_killed_process_leaves_nothing_behind`] starts and kills.
#[test]
fn victim() {
    if std::env::var_os(VICTIM).is_none() {
        return;
    }
    match LocalHosts::new(2, None) {
        Err(e) => println!("victim refused {e:?}"),
        Ok(hosts) => {
            let host = hosts
                .spawn_on(0, || {
                    println!("victim inside {}", own_namespace());
                    loop {
                        std::thread::park();
                    }
                })
                .expect("enter");
            let _ = host.join();
        }
    }
}

#[test]
fn a_killed_process_leaves_nothing_behind() {
    let mut victim = Command::new(std::env::current_exe().expect("own program"))
        .args(["--exact", "victim", "--nocapture"])
        .env(VICTIM, "1")
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .expect("start the victim");
    let said = BufReader::new(victim.stdout.take().expect("piped"))
        .lines()
        .map_while(Result::ok)
        .find_map(|line| Some(line.split_once("victim ")?.1.to_owned()));
    victim.kill().expect("kill the victim");
    victim.wait().expect("reap the victim");
    let said = said.expect("the victim says how far it came");
    let Some(inside) = said.strip_prefix("inside ") else {
        eprintln!("skipped: {said}");
        return;
    };
    wait_until_unused(inside);
    assert!(!links().contains("sk-"), "links stayed: {}", links());
    let named = named_namespaces();
    assert!(!named.contains(inside), "{inside} has a name in {named:?}");
}

/// Namespaces that `ip netns list` would show.
fn named_namespaces() -> BTreeSet<String> {
    let entries = fs::read_dir("/run/netns").into_iter().flatten().flatten();
    entries
        .filter_map(|e| fs::metadata(e.path()).ok())
        .map(|file| format!("net:[{}]", file.ino()))
        .collect()
}

/// Two hosts that nothing joins, with a starter of programs on the first, or `None` after saying why.
fn programs() -> Option<(LocalHosts, Starter)> {
    let known = [(IpAddr::V4(Ipv4Addr::new(192, 0, 2, 7)), "seven")];
    let made = LocalHosts::apart(2).and_then(|hosts| {
        let starter = hosts.starter(0, "starter", &known)?;
        Ok((hosts, starter))
    });
    made.inspect_err(|e| eprintln!("skipped: {e:?}")).ok()
}

fn shell(line: &str) -> Command {
    let mut shell = Command::new("sh");
    shell
        .args(["-c", line])
        .stdin(Stdio::null())
        .stdout(Stdio::piped());
    shell
}

fn said(child: Child) -> String {
    let done = child.wait_with_output().expect("the program ends");
    String::from_utf8(done.stdout).expect("text")
}

#[test]
fn a_program_on_a_host_sees_its_links_and_knows_the_names() {
    let Some((_hosts, starter)) = programs() else {
        return;
    };
    let outside = fs::read_to_string("/etc/hosts").expect("names");
    let inside = said(starter.start(shell("cat /etc/hosts")).expect("starts"));
    assert_eq!(inside, format!("192.0.2.7 seven\n{outside}"));
    let links = said(starter.start(shell("cat /proc/net/dev")).expect("starts"));
    let names: Vec<&str> = links
        .lines()
        .filter_map(|line| line.split_once(':'))
        .map(|(name, _)| name.trim())
        .collect();
    assert!(!names.is_empty() && !names.contains(&"eth0"), "{links}");
    assert!(starter.start(Command::new("/nowhere/at-all")).is_err());
    assert_eq!(fs::read_to_string("/etc/hosts").expect("names"), outside);
}

#[test]
fn a_program_on_a_host_ends_with_its_starter() {
    let Some((_hosts, starter)) = programs() else {
        return;
    };
    let mut command = Command::new("sleep");
    command.arg("1000");
    let mut child = starter.start(command).expect("starts");
    assert!(child.try_wait().expect("asked").is_none(), "it runs");
    drop(starter);
    let status = child.wait().expect("ends");
    assert_eq!(
        std::os::unix::process::ExitStatusExt::signal(&status),
        Some(9)
    );
}

#[test]
fn hosts_apart_are_set_up_by_the_caller() {
    let Some((hosts, _starter)) = programs() else {
        return;
    };
    let shown = hosts
        .set_up(1, "ip", &["-o"], "link show\n".into())
        .expect("ip works");
    assert_eq!(shown.lines().count(), 1, "only the loopback link: {shown}");
    assert!(shown.contains("lo") && shown.contains("UP"), "{shown}");
    let refused = hosts
        .set_up(1, "ip", &[], "link set nothing up\n".into())
        .expect_err("no such link");
    assert_eq!(refused.what.key, "error-netns-set-up");
    let said = format!("{:?}", refused.what);
    assert!(said.contains("nothing"), "{said}");
}
