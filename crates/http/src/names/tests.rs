//! Tests against name servers on the loopback interface. They answer every query, because a query
//! may be repeated on a busy machine.

use std::net::TcpListener;
use std::thread::{self, JoinHandle};

use super::*;

/// Long enough for a busy machine.
fn soon() -> Instant {
    Instant::now() + Duration::from_secs(60)
}

/// A name server that gives the same answer to every query; it ends with this value.
struct Server {
    address: SocketAddr,
    thread: Option<JoinHandle<()>>,
}

/// Flags and records of the answer to this question.
type Says = fn(&[u8]) -> (u16, &'static [&'static [u8]]);

impl Server {
    fn new(says: Says) -> Self {
        let socket = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).expect("a socket");
        Self::at(socket, says)
    }

    fn at(socket: UdpSocket, says: Says) -> Self {
        let address = socket.local_addr().expect("its address");
        let serve = move || {
            let mut room = [0; 600];
            while let Ok((bytes @ 1.., from)) = socket.recv_from(&mut room) {
                // The client may have closed its socket.
                let _ = socket.send_to(&reply(&room[..bytes], says), from);
            }
        };
        let thread = Some(thread::spawn(serve));
        Self { address, thread }
    }

    fn name(&self) -> String {
        self.address.to_string()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let bell = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).expect("a socket");
        bell.send_to(&[], self.address).expect("the end is said");
        self.thread.take().map(JoinHandle::join);
    }
}

fn reply(asked: &[u8], says: Says) -> Vec<u8> {
    let (flags, records) = says(asked);
    let mut message = asked.to_vec();
    message[2..4].copy_from_slice(&flags.to_be_bytes());
    message[7] = records.len() as u8;
    records.iter().for_each(|record| message.extend(*record));
    message
}

/// The queried name has this address.
const ADDRESS: &[u8] = b"\xc0\x0c\0\x01\0\x01\0\0\0\x3c\0\x04\x7f\0\0\x07";
/// The queried name is an alias of `b.c`.
const ELSEWHERE: &[u8] = b"\xc0\x0c\0\x05\0\x01\0\0\0\x3c\0\x05\x01b\x01c\0";
const FOUND: Ipv4Addr = Ipv4Addr::new(127, 0, 0, 7);

fn is_alias(asked: &[u8]) -> bool {
    asked[HEAD..].starts_with(b"\x01b\x01c\0")
}

/// Bytes of a question before its name.
const HEAD: usize = 12;

#[test]
fn an_alias_is_asked_for_and_a_cut_answer_comes_over_tcp() {
    let tcp = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a listener");
    let address = tcp.local_addr().expect("its address");
    let Ok(udp) = UdpSocket::bind(address) else {
        eprintln!("skipped: the port is taken for UDP");
        return;
    };
    let server = Server::at(udp, |asked| match is_alias(asked) {
        true => (0x8380, &[]),
        false => (0x8180, &[ELSEWHERE]),
    });
    let serves = thread::spawn(move || {
        for stream in tcp.incoming() {
            let mut stream = stream.expect("a connection");
            let mut room = [0; 2 + HEAD + 5 + 4];
            if stream.read_exact(&mut room).is_err() {
                return;
            }
            let message = reply(&room[2..], |_| (0x8180, &[ADDRESS]));
            let length = (message.len() as u16).to_be_bytes();
            // The client may have closed its socket.
            let _ = stream.write_all(&[&length, message.as_slice()].concat());
        }
    });
    let found = look_up("shop.invalid", &[server.name()], soon());
    drop(TcpStream::connect(address));
    serves.join().expect("the server");
    assert_eq!(found.expect("an address"), [FOUND]);
}

#[test]
fn a_server_that_refuses_is_passed_over_and_no_such_name_is_an_end() {
    let refuses = Server::new(|_| (0x8185, &[]));
    let knows = Server::new(|asked| match is_alias(asked) {
        true => (0x8180, &[ADDRESS]),
        false => (0x8183, &[]),
    });
    let servers = [refuses.name(), knows.name()];
    assert_eq!(look_up("b.c", &servers, soon()).expect("found"), [FOUND]);
    let none = look_up("a.b", &servers, soon()).expect_err("no such name");
    assert_eq!(none.kind(), io::ErrorKind::NotFound);
    let refused = look_up("b.c", &servers[..1], soon()).expect_err("refused");
    assert!(refused.to_string().ends_with("refuses with code 5"));
}

#[test]
fn the_wait_for_a_silent_server_has_a_bound() {
    let silent = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).expect("a socket");
    let address = silent.local_addr().expect("its address").to_string();
    let until = Instant::now() + Duration::from_millis(50);
    assert!(look_up("a.b", &[address], until).is_err());
    assert!(Instant::now() >= until);
    assert!(look_up("a.b", &[], soon()).is_err());
}
