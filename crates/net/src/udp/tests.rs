use super::*;

fn pair(size_bytes: usize, mode: SendMode, gro: bool) -> io::Result<(Sender, Receiver)> {
    let receiving = bind(([127, 0, 0, 1], 0).into())?;
    receive_bound(&receiving, Duration::from_secs(5))?;
    if gro {
        enable_gro(&receiving)?;
    }
    let sending = bind(([127, 0, 0, 1], 0).into())?;
    sending.connect(receiving.local_addr()?)?;
    let sender = Sender::new(sending, mode, size_bytes)?;
    Ok((
        sender,
        Receiver::new(receiving, size_bytes + 1, gro, MMSG_BATCH),
    ))
}

/// Sends one call's worth and expects every datagram back, in order and whole.
fn round(mode: SendMode, gro: bool) {
    const SIZE: usize = 1000;
    let (mut sender, mut receiver) = match pair(SIZE, mode, gro) {
        Ok(pair) => pair,
        Err(error) if error.kind() == io::ErrorKind::Unsupported => {
            eprintln!("skipped: {error}");
            return;
        }
        Err(error) => panic!("{mode:?}: {error}"),
    };
    let count = sender.batch();
    for index in 0..count {
        sender.slot(index).fill(index as u8);
    }
    assert_eq!(
        sender.send(count),
        Sent {
            taken: count,
            problem: None
        }
    );
    let from = sender.socket().local_addr().unwrap();
    let mut seen = Vec::new();
    while seen.len() < count {
        assert!(
            receiver.receive().unwrap() > 0,
            "{} of {count} arrived",
            seen.len()
        );
        receiver.for_each(|datagram| {
            assert_eq!(datagram.bytes.len(), SIZE);
            assert_eq!(datagram.from(), Some(from));
            assert!(!datagram.truncated);
            seen.push(datagram.bytes[0]);
        });
    }
    assert_eq!(seen, (0..count).map(|i| i as u8).collect::<Vec<_>>());
}

#[test]
fn every_mode_delivers_what_was_sent() {
    for mode in [SendMode::Plain, SendMode::Mmsg, SendMode::Gso] {
        for gro in [false, true] {
            round(mode, gro);
        }
    }
}

#[test]
fn a_short_slot_is_noticed() {
    let (mut sender, mut receiver) = pair(100, SendMode::Plain, false).unwrap();
    let wide = bind(([127, 0, 0, 1], 0).into()).unwrap();
    wide.send_to(&[1; 500], receiver.socket().local_addr().unwrap())
        .unwrap();
    assert_eq!(receiver.receive().unwrap(), 1);
    let mut truncated = false;
    receiver.for_each(|datagram| truncated = datagram.truncated);
    if cfg!(target_os = "linux") {
        assert!(truncated);
    }
    assert_eq!(sender.send(1).taken, 1);
}

#[test]
fn a_full_socket_counts_its_drops() {
    let (mut sender, receiver) = pair(1000, SendMode::Plain, false).unwrap();
    let granted = receive_buffer(receiver.socket(), Some(4096)).unwrap();
    assert_eq!(granted.asked_bytes, Some(4096));
    let Some(before) = socket_drops(receiver.socket()) else {
        eprintln!("skipped: this system does not count drops per socket");
        return;
    };
    for _ in 0..100 {
        assert_eq!(sender.send(1).taken, 1);
    }
    assert!(socket_drops(receiver.socket()).unwrap() > before);
}

#[test]
fn unreachable_ports_are_told_apart() {
    let gone = bind(([127, 0, 0, 1], 0).into())
        .unwrap()
        .local_addr()
        .unwrap();
    let socket = bind(([127, 0, 0, 1], 0).into()).unwrap();
    socket.connect(gone).unwrap();
    let mut sender = Sender::new(socket, SendMode::Plain, 10).unwrap();
    let problems: Vec<_> = (0..20).filter_map(|_| sender.send(1).problem).collect();
    assert!(problems.contains(&SendProblem::Unreachable), "{problems:?}");
}

#[test]
fn batches_fit_in_one_datagram_buffer() {
    assert_eq!(SendMode::Gso.batch(1468), 44);
    assert_eq!(SendMode::Gso.batch(100), MAX_SEGMENTS);
    assert_eq!(SendMode::Gso.batch(MAX_PAYLOAD_BYTES), 1);
    assert_eq!(SendMode::Plain.batch(1468), 1);
}
