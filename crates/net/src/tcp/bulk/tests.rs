use std::io::Read as _;
use std::net::{Ipv4Addr, TcpListener};

use super::*;

const BOUND: Duration = Duration::from_secs(30);

fn pair() -> (TcpStream, TcpStream) {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    let near = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
    near.set_write_timeout(Some(BOUND)).unwrap();
    let far = listener.accept().unwrap().0;
    far.set_read_timeout(Some(BOUND)).unwrap();
    (near, far)
}

fn block(bytes: usize) -> Vec<u8> {
    (0..bytes).map(|n| (n % 241) as u8).collect()
}

#[test]
fn every_path_sends_the_block_over_and_over() {
    const BLOCK: usize = 100_003;
    const TOTAL: usize = 3_000_000;
    for path in SendPath::ALL {
        let (near, mut far) = pair();
        let mut sender = match BulkSender::new(&near, path, &block(BLOCK)) {
            Err(why) if why.kind() == io::ErrorKind::Unsupported => {
                eprintln!("skipped: {path}: {why}");
                continue;
            }
            sender => sender.unwrap(),
        };
        std::thread::scope(|scope| {
            scope.spawn(|| {
                let (mut received, mut out) = (0, vec![0; 65_536]);
                while received < TOTAL {
                    let n = far.read(&mut out).unwrap();
                    assert!(n > 0, "{path}: ended at {received}");
                    for byte in &out[..n] {
                        assert_eq!(
                            *byte,
                            (received % BLOCK % 241) as u8,
                            "{path} at {received}"
                        );
                        received += 1;
                    }
                }
            });
            let mut sent = 0;
            while sent < TOTAL {
                sent += sender.send(64 * 1024).unwrap();
            }
            let achieved = sender.finish(BOUND).unwrap();
            assert_eq!((achieved.path, achieved.bytes), (path, sent as u64));
            if path == SendPath::Zerocopy {
                assert_eq!(achieved.completed + achieved.fallback, achieved.calls);
                // Loopback has no device that could take the pages.
                assert!(achieved.copied_after_all(), "{achieved:?}");
            }
        });
    }
}

#[test]
fn a_full_connection_ends_the_call_at_its_bound() {
    for path in SendPath::ALL {
        let (near, _far) = pair();
        near.set_write_timeout(Some(Duration::from_millis(20)))
            .unwrap();
        let Ok(mut sender) = BulkSender::new(&near, path, &block(1 << 20)) else {
            eprintln!("skipped: {path} is not offered here");
            continue;
        };
        let why = loop {
            if let Err(why) = sender.send(usize::MAX) {
                break why;
            }
            assert!(sender.achieved().bytes < 1 << 30, "{path}");
        };
        assert_eq!(why.kind(), io::ErrorKind::TimedOut, "{path}");
    }
}

#[test]
fn a_vanished_receiver_ends_sending() {
    for path in SendPath::ALL {
        let (near, far) = pair();
        let Ok(mut sender) = BulkSender::new(&near, path, &block(1 << 20)) else {
            eprintln!("skipped: {path} is not offered here");
            continue;
        };
        drop(far);
        let why = loop {
            if let Err(why) = sender.send(usize::MAX) {
                break why;
            }
        };
        let gone = [io::ErrorKind::BrokenPipe, io::ErrorKind::ConnectionReset];
        assert!(gone.contains(&why.kind()), "{path}: {why:?}");
    }
}

#[test]
fn both_ways_of_receiving_count_every_byte() {
    const TOTAL: usize = 2_000_000;
    for path in ReceivePath::ALL {
        let (near, far) = pair();
        let mut receiver = match BulkReceiver::new(&far, path, 256 * 1024) {
            Err(why) if why.kind() == io::ErrorKind::Unsupported => {
                eprintln!("skipped: {path}: {why}");
                continue;
            }
            receiver => receiver.unwrap(),
        };
        std::thread::scope(|scope| {
            scope.spawn(move || {
                let mut sender = BulkSender::new(&near, SendPath::Plain, &block(50_000)).unwrap();
                let mut left = TOTAL;
                while left > 0 {
                    left -= sender.send(left).unwrap();
                }
            });
            let mut received = 0;
            loop {
                match receiver.receive().unwrap() {
                    0 => break,
                    n => received += n,
                }
            }
            assert_eq!(received, TOTAL, "{path}");
        });
        far.set_read_timeout(Some(BOUND)).unwrap();
    }
}

#[test]
fn silence_ends_at_the_bound() {
    let (_near, far) = pair();
    far.set_read_timeout(Some(Duration::from_millis(5)))
        .unwrap();
    for path in ReceivePath::ALL {
        if let Ok(mut receiver) = BulkReceiver::new(&far, path, 1000) {
            assert_eq!(
                receiver.receive().unwrap_err().kind(),
                io::ErrorKind::TimedOut
            );
        }
    }
}

#[test]
fn names_and_blocks_are_checked() {
    for path in SendPath::ALL {
        assert_eq!(path.name().parse(), Ok(path));
    }
    for path in ReceivePath::ALL {
        assert_eq!(path.name().parse(), Ok(path));
    }
    let why = "splice".parse::<SendPath>().unwrap_err();
    assert_eq!(
        why.to_string(),
        "`splice` is none of: plain, vectored, zerocopy, sendfile"
    );
    let (near, _far) = pair();
    assert!(BulkSender::new(&near, SendPath::Plain, &[]).is_err());
    assert!(BulkSender::new(&near, SendPath::Plain, &vec![0; MAX_BLOCK_BYTES + 1]).is_err());
}

#[test]
fn a_gathering_reader_waits_for_many_bytes_or_its_bound_or_the_end() {
    const LOT: usize = 64 << 10;
    let (near, far) = pair();
    let mut receiver = BulkReceiver::new(&far, ReceivePath::Read, 2 * LOT).unwrap();
    if let Err(why) = receiver.gather(LOT) {
        eprintln!("skipped: {why}");
        return;
    }
    std::thread::scope(|scope| {
        scope.spawn(|| {
            for piece in block(LOT).chunks(1024) {
                (&near).write_all(piece).unwrap();
            }
        });
        // A call that begins amid the bytes takes what there is, and waits for a lot more.
        far.set_read_timeout(Some(Duration::from_millis(20)))
            .unwrap();
        let (mut left, mut calls) = (LOT, 0);
        while left > 0 {
            match receiver.receive() {
                Ok(taken) => (left, calls) = (left - taken, calls + 1),
                Err(why) => assert_eq!(why.kind(), io::ErrorKind::TimedOut),
            }
        }
        assert!(calls < LOT / 1024 / 2, "{calls} calls");
    });

    (&near).write_all(&block(100)).unwrap();
    far.set_read_timeout(Some(Duration::from_millis(20)))
        .unwrap();
    assert_eq!(receiver.receive().unwrap(), 100, "after its bound");

    far.set_read_timeout(Some(BOUND)).unwrap();
    (&near).write_all(&block(7)).unwrap();
    near.shutdown(std::net::Shutdown::Write).unwrap();
    assert_eq!(receiver.receive().unwrap(), 7, "at the end");
    assert_eq!(receiver.receive().unwrap(), 0);
}
