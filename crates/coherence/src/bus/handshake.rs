//! The handshake of the vendor's bus.
//!
//! A state machine without I/O: bytes that arrive go in, bytes to send come out.

use super::protocol::{
    ACCEPTED, HELLO_BYTES, Hello, ProtocolError, SHARED_PORT_BYTES, SHARED_PORT_MAGIC, VERSION,
};

/// End of the connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    /// Called the other.
    Connector,
    /// Was called.
    Acceptor,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Expect {
    /// A hello, before it perhaps the prefix of a shared port.
    Hello,
    /// A name of so many UTF-16 units.
    Name(u16),
    /// The byte that accepts.
    Accept,
    Nothing,
}

/// One end's part of a handshake.
#[derive(Debug)]
pub struct Handshake {
    role: Role,
    own_name: Vec<u8>,
    expect: Expect,
    /// The prefix of a shared port may come once.
    prefix_seen: bool,
    peer: String,
    out: Vec<u8>,
}

impl Handshake {
    /// Begins. `own_name` is this end's address, such as `tmb://192.0.2.1:8000`; `sub_port` is that
    /// of the service called, for peers behind a shared port.
    pub fn new(role: Role, own_name: &str, sub_port: Option<u32>) -> Self {
        let own_name: Vec<u8> = own_name.encode_utf16().flat_map(u16::to_be_bytes).collect();
        let hello = Hello {
            min_version: VERSION,
            max_version: VERSION,
            name_units: (own_name.len() / 2) as u16,
        };
        let mut out = Vec::new();
        if let Some(port) = sub_port {
            out.extend(SHARED_PORT_MAGIC.to_be_bytes());
            out.extend(port.to_be_bytes());
        }
        out.extend(hello.write());
        // Only version 0 is offered, so that nothing about the name depends on the answer.
        if role == Role::Connector {
            out.extend(&own_name);
        }
        Self {
            role,
            own_name,
            expect: Expect::Hello,
            prefix_seen: false,
            peer: String::new(),
            out,
        }
    }

    /// Bytes to send now; each is handed out once.
    pub fn outgoing(&mut self) -> Vec<u8> {
        std::mem::take(&mut self.out)
    }

    /// Reads what has arrived; returns how many bytes it took, 0 when more are needed.
    pub fn take(&mut self, bytes: &[u8]) -> Result<usize, ProtocolError> {
        let mut taken = 0;
        while let Some(step) = self.step(&bytes[taken..])? {
            taken += step;
        }
        Ok(taken)
    }

    /// The peer's name when all is said and done.
    pub fn peer(&self) -> Option<&str> {
        (self.expect == Expect::Nothing).then_some(self.peer.as_str())
    }

    fn step(&mut self, bytes: &[u8]) -> Result<Option<usize>, ProtocolError> {
        match self.expect {
            Expect::Hello => self.hello(bytes),
            Expect::Name(units) => self.name(bytes, usize::from(units)),
            Expect::Accept => self.accept(bytes),
            Expect::Nothing => Ok(None),
        }
    }

    fn hello(&mut self, bytes: &[u8]) -> Result<Option<usize>, ProtocolError> {
        let shared = bytes.starts_with(&SHARED_PORT_MAGIC.to_be_bytes());
        if shared && self.role == Role::Acceptor && !self.prefix_seen {
            let whole = bytes.len() >= SHARED_PORT_BYTES;
            self.prefix_seen = whole;
            return Ok(whole.then_some(SHARED_PORT_BYTES));
        }
        let Some(hello) = bytes.first_chunk::<HELLO_BYTES>() else {
            return Ok(None);
        };
        self.expect = Expect::Name(Hello::read(hello)?.name_units);
        Ok(Some(HELLO_BYTES))
    }

    fn name(&mut self, bytes: &[u8], units: usize) -> Result<Option<usize>, ProtocolError> {
        let Some(name) = bytes.get(..2 * units) else {
            return Ok(None);
        };
        let letters: Vec<u16> = name
            .chunks_exact(2)
            .map(|pair| u16::from_be_bytes([pair[0], pair[1]]))
            .collect();
        let name = String::from_utf16_lossy(&letters);
        // It is printed and compared, so nothing but what an address consists of.
        let plain = |c: char| c.is_ascii_graphic() && c != '"';
        if !name.chars().all(plain) || !name.contains("://") {
            return Err(ProtocolError::Name(name.escape_default().to_string()));
        }
        self.peer = name;
        if self.role == Role::Acceptor {
            self.out.extend(std::mem::take(&mut self.own_name));
            self.out.push(ACCEPTED);
        }
        self.expect = Expect::Accept;
        Ok(Some(2 * units))
    }

    fn accept(&mut self, bytes: &[u8]) -> Result<Option<usize>, ProtocolError> {
        let Some(&answer) = bytes.first() else {
            return Ok(None);
        };
        if answer != ACCEPTED {
            return Err(ProtocolError::Rejected(answer));
        }
        if self.role == Role::Connector {
            self.out.push(ACCEPTED);
        }
        self.expect = Expect::Nothing;
        Ok(Some(1))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Lets both talk, in pieces of at most `piece` bytes, until neither has bytes left to send.
    fn converse(connector: &mut Handshake, acceptor: &mut Handshake, piece: usize) {
        let (mut to_acceptor, mut to_connector) = (Vec::new(), Vec::new());
        loop {
            let said = [connector.outgoing(), acceptor.outgoing()];
            if said.iter().all(Vec::is_empty) {
                return;
            }
            let [by_connector, by_acceptor] = said;
            for (to, from, held) in [
                (&mut *acceptor, by_connector, &mut to_acceptor),
                (&mut *connector, by_acceptor, &mut to_connector),
            ] {
                for bytes in from.chunks(piece) {
                    held.extend_from_slice(bytes);
                    let taken = to.take(held).unwrap();
                    held.drain(..taken);
                }
            }
        }
    }

    #[test]
    fn both_learn_each_others_names() {
        for piece in [1, 3, 1000] {
            for sub_port in [None, Some(7)] {
                let mut connector = Handshake::new(Role::Connector, "tmb://h:1", sub_port);
                let mut acceptor = Handshake::new(Role::Acceptor, "tmb://127.0.0.1:2", None);
                converse(&mut connector, &mut acceptor, piece);
                assert_eq!(connector.peer(), Some("tmb://127.0.0.1:2"));
                assert_eq!(acceptor.peer(), Some("tmb://h:1"));
            }
        }
    }

    #[test]
    fn a_newer_peer_is_answered_as_version_0() {
        let mut ours = Handshake::new(Role::Connector, "tmb://h:1", None);
        let mut bytes = Hello {
            min_version: 0,
            max_version: 5,
            name_units: 9,
        }
        .write()
        .to_vec();
        bytes.extend("tmb://v:2".encode_utf16().flat_map(u16::to_be_bytes));
        bytes.push(ACCEPTED);
        // A frame may follow at once; it is not the handshake's.
        bytes.push(0xff);
        assert_eq!(ours.take(&bytes), Ok(bytes.len() - 1));
        assert_eq!(ours.peer(), Some("tmb://v:2"));
        let said = ours.outgoing();
        assert_eq!(&said[4..8], [0, 0, 0, 0], "versions 0 to 0");
        assert_eq!(said.last(), Some(&ACCEPTED));
    }

    #[test]
    fn refusal_and_bad_names_are_told() {
        let begin = |name: &str, answer: u8| {
            let hello = Hello {
                min_version: 0,
                max_version: 0,
                name_units: name.encode_utf16().count() as u16,
            };
            let mut bytes = hello.write().to_vec();
            bytes.extend(name.encode_utf16().flat_map(u16::to_be_bytes));
            bytes.push(answer);
            Handshake::new(Role::Connector, "tmb://h:1", None).take(&bytes)
        };
        assert_eq!(begin("tmb://v:2", 3), Err(ProtocolError::Rejected(3)));
        for name in ["v", "tmb://a b", "tmb://a\n", "tmb://\u{202e}"] {
            assert!(matches!(begin(name, 0), Err(ProtocolError::Name(_))));
        }
    }

    proptest! {
        #[test]
        fn any_bytes_are_answered(bytes in prop::collection::vec(any::<u8>(), 0..100), acceptor in any::<bool>()) {
            let role = if acceptor { Role::Acceptor } else { Role::Connector };
            let mut handshake = Handshake::new(role, "tmb://h:1", None);
            if let Ok(taken) = handshake.take(&bytes) {
                prop_assert!(taken <= bytes.len());
            }
        }
    }
}
