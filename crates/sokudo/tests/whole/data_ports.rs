//! Tests of hosts that receive load on a range of ports alone.

use std::net::{TcpListener, UdpSocket};

use sokudo_model::RunStatus;

use crate::vocabulary::{Place, no_panic, place, serve_with};

/// Eight neighbouring ports that nothing uses now, of UDP and of TCP.
fn free_range() -> (u16, u16) {
    for first in (20_000..60_000u16).step_by(97) {
        let free = |port: u16| {
            let udp = UdpSocket::bind(("127.0.0.1", port));
            let tcp = TcpListener::bind(("127.0.0.1", port));
            udp.is_ok() && tcp.is_ok()
        };
        if (first..first + 8).all(free) {
            return (first, first + 7);
        }
    }
    panic!("no eight neighbouring ports are free");
}

/// Ports of the sockets of a process, which has called nobody.
#[cfg(target_os = "linux")]
fn received_on(process: u32) -> Vec<u16> {
    let inodes: Vec<String> = std::fs::read_dir(format!("/proc/{process}/fd"))
        .into_iter()
        .flatten()
        .flatten()
        .filter_map(|entry| std::fs::read_link(entry.path()).ok())
        .filter_map(|link| {
            let name = link.to_str()?.strip_prefix("socket:[")?;
            Some(name.strip_suffix(']')?.to_owned())
        })
        .collect();
    let mut ports = Vec::new();
    for table in ["udp", "udp6", "tcp", "tcp6"] {
        let text = std::fs::read_to_string(format!("/proc/{process}/net/{table}"));
        for line in text.unwrap_or_default().lines().skip(1) {
            let words: Vec<&str> = line.split_whitespace().collect();
            let [_, local, _, _, _, _, _, _, _, inode, ..] = words[..] else {
                continue;
            };
            let port = local.rsplit(':').next();
            let port = port.and_then(|port| u16::from_str_radix(port, 16).ok());
            if inodes.iter().any(|own| own == inode) {
                ports.extend(port);
            }
        }
    }
    ports
}

/// Runs a load, and looks at the ports of the far end while it goes on.
#[cfg(target_os = "linux")]
fn received_during(place: &Place, server: &crate::vocabulary::Server, load: &str) -> Vec<u16> {
    let mut client = place
        .sokudo(&format!("{load} {} --duration 1s --json", server.address))
        .start();
    let workload = load.split(' ').next().unwrap_or_default();
    place.wait_until_recorded_by(workload, &mut client);
    let mut ports = received_on(server.running.id());
    ports.retain(|port| *port != server.address.port());
    let ended = client.finish();
    ended.expect_code(0);
    no_panic(&ended);
    ports
}

#[test]
#[cfg(target_os = "linux")]
fn a_host_receives_load_on_its_data_ports_alone() {
    let (first, last) = free_range();
    for load in [
        "datagram --rate 1k/s --streams 3",
        "crr",
        "stream --rate 50Mb/s",
    ] {
        let place = place();
        let range = format!("{first}-{last}");
        let server =
            serve_with(place.sokudo(&format!("serve --bind 127.0.0.1:0 --data-ports {range}")));
        let ports = received_during(&place, &server, load);
        let within = |port: &u16| (first..=last).contains(port);
        assert!(ports.iter().all(within), "{load}: {ports:?}");
        assert!(!ports.is_empty(), "{load}: it received nowhere");
        assert_eq!(place.load().manifest.status, RunStatus::Ok);
        server.running.interrupt();
        server.running.finish().expect_code(0);
    }
}

#[test]
fn a_range_that_is_too_small_is_told_with_what_is_needed() {
    let (first, _) = free_range();
    let place = place();
    let range = format!("{first}-{}", first + 1);
    let server =
        serve_with(place.sokudo(&format!("serve --bind 127.0.0.1:0 --data-ports {range}")));
    let ended = place.run(&format!(
        "datagram {} --rate 1k/s --streams 5 --duration 1s",
        server.address
    ));
    ended
        .expect_code(2)
        .expect_stderr(&format!("all 2 data ports {range}"))
        .expect_stderr("receives on 5 of them");
    // The range is free again.
    place
        .run(&format!("crr {} --duration 1s", server.address))
        .expect_code(0);
    place
        .run("serve --data-ports 9-1")
        .expect_code(2)
        .expect_stderr("5000-5010");
}
