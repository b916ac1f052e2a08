use std::io::{Read as _, Write as _};
use std::net::Ipv4Addr;

use super::*;

const BOUND: Duration = Duration::from_secs(30);

fn loopback() -> SocketAddr {
    (Ipv4Addr::LOCALHOST, 0).into()
}

/// Both ends of a connection made with the same options.
fn pair(options: &TcpOptions) -> Result<(TcpStream, TcpStream), TcpError> {
    let listener = listen(loopback(), options)?;
    let there = listener.local_addr().unwrap();
    let near = connect(there, options, BOUND)?;
    assert!(near.handshake_ns > 0);
    let (far, peer) = accept(&listener, options, BOUND)?.expect("a caller");
    assert_eq!(peer, near.stream.local_addr().unwrap());
    Ok((near.stream, far))
}

#[test]
fn a_refused_connection_is_told_as_such() {
    let free = std::net::TcpListener::bind(loopback()).unwrap();
    let there = free.local_addr().unwrap();
    drop(free);
    let why = connect(there, &TcpOptions::default(), BOUND).unwrap_err();
    assert!(
        matches!(why, TcpError::Refused { peer } if peer == there),
        "{why:?}"
    );
    assert!(why.hint().is_some());
}

#[test]
fn an_address_in_use_and_a_foreign_one_are_told_apart() {
    let options = TcpOptions::default();
    let listener = listen(loopback(), &options).unwrap();
    let why = listen(listener.local_addr().unwrap(), &options).unwrap_err();
    assert!(matches!(why, TcpError::AddressInUse { .. }), "{why:?}");
    // 192.0.2.0/24 is for documentation (RFC 5737).
    let why = listen(([192, 0, 2, 1], 0).into(), &options).unwrap_err();
    assert!(matches!(why, TcpError::NotLocal { .. }), "{why:?}");
}

#[test]
fn nobody_calling_is_no_error() {
    let listener = listen(loopback(), &TcpOptions::default()).unwrap();
    let none = accept(&listener, &TcpOptions::default(), Duration::from_millis(5)).unwrap();
    assert!(none.is_none());
}

#[test]
fn a_code_point_above_63_is_refused() {
    let options = TcpOptions {
        dscp: Some(64),
        ..TcpOptions::default()
    };
    let why = pair(&options).unwrap_err();
    assert!(
        matches!(why, TcpError::Option { option: "DSCP", .. }),
        "{why:?}"
    );
}

#[cfg(target_os = "linux")]
#[test]
fn options_are_granted_on_both_ends() {
    let options = TcpOptions {
        cc: congestion_controls().pop(),
        sndbuf_bytes: Some(20_000),
        rcvbuf_bytes: Some(30_000),
        window_clamp_bytes: Some(16_000),
        mss_bytes: Some(1_000),
        dscp: Some(46),
        max_pacing_bytes_per_s: Some(5_000_000_000),
        user_timeout: Some(Duration::from_secs(7)),
        quickack: true,
        ..TcpOptions::default()
    };
    let (near, far) = pair(&options).unwrap();
    for stream in [&near, &far] {
        let granted = granted(stream, &options).unwrap();
        assert_eq!(granted.cc, options.cc);
        assert_eq!(granted.sndbuf.granted_bytes, 20_000);
        assert_eq!(granted.rcvbuf.granted_bytes, 30_000);
        assert!(granted.mss_bytes.unwrap() <= 1_000);
        assert_eq!(granted.multipath, None);
        let socket = SockRef::from(stream);
        assert_eq!(socket.tos_v4().unwrap(), 46 << 2);
        assert_eq!(socket.tcp_user_timeout().unwrap(), options.user_timeout);
        assert!(socket.tcp_nodelay().unwrap());
        let info = info::read(stream).unwrap();
        assert_eq!(info.max_pacing_rate_bytes_per_s, Some(5_000_000_000));
    }
}

#[cfg(target_os = "linux")]
#[test]
fn an_unknown_congestion_control_is_refused_with_a_hint() {
    let options = TcpOptions {
        cc: Some("no-such-control".into()),
        ..TcpOptions::default()
    };
    let why = pair(&options).unwrap_err();
    assert!(
        why.to_string()
            .contains("TCP_CONGESTION = `no-such-control`"),
        "{why}"
    );
    assert!(why.hint().is_some());
}

#[test]
fn several_paths_are_used_or_clearly_refused() {
    let options = TcpOptions {
        mptcp: true,
        ..TcpOptions::default()
    };
    match pair(&options) {
        Ok((near, far)) => {
            assert_eq!(granted(&near, &options).unwrap().multipath, Some(true));
            assert_eq!(granted(&far, &options).unwrap().multipath, Some(true));
            // A plain caller of a multipath listener is served plainly, and that shows.
            let listener = listen(loopback(), &options).unwrap();
            let there = listener.local_addr().unwrap();
            let plain = connect(there, &TcpOptions::default(), BOUND).unwrap();
            let (far, _) = accept(&listener, &options, BOUND).unwrap().unwrap();
            assert!(!is_multipath(&plain.stream) && !is_multipath(&far));
        }
        Err(why @ TcpError::NoMultipath { .. }) => {
            assert!(why.hint().is_some());
            eprintln!("skipped: {why}");
        }
        Err(why) => panic!("{why:?}"),
    }
}

#[test]
fn failures_to_connect_are_told_apart() {
    let peer = loopback();
    let check = |kind: io::ErrorKind, expected: fn(&TcpError) -> bool| {
        let told = not_connected(peer, BOUND, kind.into());
        assert!(expected(&told), "{kind:?}: {told:?}");
    };
    check(io::ErrorKind::TimedOut, |why| {
        matches!(why, TcpError::TimedOut { .. })
    });
    check(io::ErrorKind::HostUnreachable, |why| {
        matches!(why, TcpError::Unreachable { .. })
    });
    check(io::ErrorKind::NetworkUnreachable, |why| {
        matches!(why, TcpError::Unreachable { .. })
    });
    check(io::ErrorKind::AddrNotAvailable, |why| {
        matches!(why, TcpError::PortsExhausted { .. })
    });
    check(io::ErrorKind::PermissionDenied, |why| {
        matches!(why, TcpError::Io { .. })
    });
}

#[cfg(target_os = "linux")]
#[test]
fn queues_show_unread_bytes() {
    let (mut near, mut far) = pair(&TcpOptions::default()).unwrap();
    near.write_all(&[1; 5000]).unwrap();
    assert!(wait::readable(&far, BOUND).unwrap());
    let deadline = Instant::now() + BOUND;
    while queues(&far).unwrap().unread_bytes < 5000 {
        assert!(Instant::now() < deadline);
        std::thread::yield_now();
    }
    far.read_exact(&mut [0; 4000]).unwrap();
    assert_eq!(queues(&far).unwrap().unread_bytes, 1000);
    let near = queues(&near).unwrap();
    assert!(near.unsent_bytes <= near.unacked_bytes);
}
