//! The way to a server: address, encryption, authentication.
//!
//! ```text
//! client                                server
//!   │ ◄──────────────────────── greeting  │  version, capabilities, challenge
//!   │ (request for TLS, handshake) ─────► │
//!   │ login ────────────────────────────► │  user, database, proof
//!   │ ◄── other plugin · more · OK · error│  and so on, until OK or error
//! ```

use mysql_common::constants::{CapabilityFlags, MariadbCapabilities};
use mysql_common::crypto;
use mysql_common::io::ParseBuf;
use mysql_common::packets::{
    AuthPlugin, AuthSwitchRequest, HandshakePacket, HandshakeResponse, SslRequest,
};
use mysql_common::proto::MySerialize as _;
use socket2::{SockRef, TcpKeepalive};
use tokio::net::TcpStream;

use super::address::MySqlAddress;
use super::failure::Failure;
use super::packet::{self, first};
use super::stream::Wire;
use crate::stream::{Duplex, at_socket};
use crate::tls::Encryption;

/// Bytes of a challenge.
const CHALLENGE_BYTES: usize = 20;
/// Longest public key of a server, bytes of its PEM: more would keep the thread of a load busy.
const KEY_BYTES: usize = 4096;
/// Version from which servers know `utf8mb4`: the login asks for it.
const OF_UTF8MB4: (u16, u16, u16) = (5, 5, 3);
/// Number of `utf8mb4_general_ci`.
const UTF8MB4: u8 = 45;
/// Longest packet that a server may send, as the login announces it, bytes.
const PACKET_BYTES: u32 = 64 << 20;

/// An open session.
pub(super) struct Opened {
    pub(super) wire: Wire<Box<dyn Duplex>>,
    pub(super) is_encrypted: bool,
    pub(super) peer: Peer,
}

/// The server of a session.
pub(super) struct Peer {
    /// Number of the connection.
    pub(super) id: u32,
    pub(super) version: String,
    /// Capabilities of both ends.
    pub(super) capabilities: CapabilityFlags,
    pub(super) of_mariadb: MariadbCapabilities,
}

/// What a server begins with.
struct Greeting {
    peer: Peer,
    plugin: AuthPlugin<'static>,
    challenge: Vec<u8>,
}

/// Opens a session, with these capabilities beside those that all have, as far as the server has them.
pub(super) async fn open(
    address: &MySqlAddress,
    password: Option<&str>,
    more: CapabilityFlags,
) -> Result<Opened, Failure> {
    let (mut wire, is_encrypted, greeting) = match &address.socket {
        None => encrypted(address, more).await?,
        Some(path) => {
            let mut wire = Wire::new(at_socket(path).await?);
            let greeting = greeting(&mut wire, more).await?;
            (wire, false, greeting)
        }
    };
    let mut login = Login {
        address,
        password: password.unwrap_or_default(),
        is_private: is_encrypted || address.socket.is_some(),
        has_switched: false,
        plugin: greeting.plugin,
        challenge: greeting.challenge,
    };
    login.begin(&mut wire, &greeting.peer).await?;
    login.go_on(&mut wire).await?;
    wire.open();
    Ok(Opened {
        wire,
        is_encrypted,
        peer: greeting.peer,
    })
}

/// Connects by TCP, and encrypts as far as it is asked for and offered.
async fn encrypted(
    address: &MySqlAddress,
    more: CapabilityFlags,
) -> Result<(Wire<Box<dyn Duplex>>, bool, Greeting), Failure> {
    let tls = match address.encryption {
        Encryption::Never => None,
        _ => {
            let made = address.connector();
            Some(made.map_err(|error| Failure::Untrusted(error.to_string()))?)
        }
    };
    let stream = TcpStream::connect((address.host.as_str(), address.port)).await?;
    stream.set_nodelay(address.is_nodelay)?;
    if let Some(idle) = address.keepalive {
        let probes = TcpKeepalive::new().with_time(idle);
        SockRef::from(&stream).set_tcp_keepalive(&probes)?;
    }
    let mut wire = Wire::new(stream);
    let mut greeting = greeting(&mut wire, more).await?;
    let peer = &mut greeting.peer;
    // The server takes what a session is to be from the first packet of it, which asks for TLS: the login that names the
    // database comes too late to say that it does.
    let names_database = CapabilityFlags::CLIENT_CONNECT_WITH_DB;
    peer.capabilities
        .set(names_database, address.database.is_some());
    let offers = peer.capabilities.contains(CapabilityFlags::CLIENT_SSL);
    let tls = match (tls, offers) {
        (Some(_), false) if address.encryption == Encryption::Always => return Err(Failure::NoTls),
        (tls, offers) => tls.filter(|_| offers),
    };
    let Some(tls) = tls else {
        peer.capabilities.remove(CapabilityFlags::CLIENT_SSL);
        let (stream, codec) = wire.into_parts()?;
        let stream: Box<dyn Duplex> = Box::new(stream);
        return Ok((Wire::of_parts(stream, codec), false, greeting));
    };
    let request = SslRequest::new(peer.capabilities, PACKET_BYTES, UTF8MB4)
        .with_mariadb_capabilities(peer.of_mariadb);
    let mut body = Vec::new();
    request.serialize(&mut body);
    wire.put(&body)?;
    wire.flush().await?;
    let (stream, codec) = wire.into_parts()?;
    let stream: Box<dyn Duplex> = Box::new(tls.encrypt(&address.host, stream).await?);
    Ok((Wire::of_parts(stream, codec), true, greeting))
}

/// Reads what a server begins with.
async fn greeting<S: Duplex>(
    wire: &mut Wire<S>,
    more: CapabilityFlags,
) -> Result<Greeting, Failure> {
    use CapabilityFlags as C;
    let body = wire.read().await?;
    packet::refusal(body)?;
    let told: HandshakePacket<'_> = ParseBuf(body).parse(()).map_err(|_| Failure::Garbled)?;
    let needed = C::CLIENT_PROTOCOL_41 | C::CLIENT_SECURE_CONNECTION;
    if told.protocol_version() != 10 || !told.capabilities().contains(needed) {
        return Err(Failure::Garbled);
    }
    let wanted = needed
        | more
        | C::CLIENT_LONG_PASSWORD
        | C::CLIENT_TRANSACTIONS
        | C::CLIENT_MULTI_STATEMENTS
        | C::CLIENT_MULTI_RESULTS
        | C::CLIENT_PS_MULTI_RESULTS
        | C::CLIENT_DEPRECATE_EOF
        | C::CLIENT_PLUGIN_AUTH
        | C::CLIENT_SSL
        // Found rows, as PostgreSQL and SQLite count: also those that an update left as they were.
        | C::CLIENT_FOUND_ROWS;
    let capabilities = told.capabilities() & wanted;
    // A server that clears this old flag tells MariaDB's own ones; the client answers likewise.
    let is_extended = !capabilities.contains(C::CLIENT_LONG_PASSWORD);
    let of_mariadb = match is_extended && capabilities.contains(C::CLIENT_DEPRECATE_EOF) {
        true => {
            told.mariadb_ext_capabilities() & MariadbCapabilities::MARIADB_CLIENT_CACHE_METADATA
        }
        false => MariadbCapabilities::empty(),
    };
    Ok(Greeting {
        peer: Peer {
            id: told.connection_id(),
            version: told.server_version_str().into_owned(),
            capabilities,
            of_mariadb,
        },
        plugin: match told.auth_plugin() {
            Some(AuthPlugin::CachingSha2Password) => AuthPlugin::CachingSha2Password,
            // Whatever else it is: the server asks for it by a switch.
            _ => AuthPlugin::MysqlNativePassword,
        },
        challenge: told.nonce(),
    })
}

/// A login on its way.
struct Login<'a> {
    address: &'a MySqlAddress,
    password: &'a str,
    /// Nobody else reads what is sent.
    is_private: bool,
    has_switched: bool,
    plugin: AuthPlugin<'static>,
    challenge: Vec<u8>,
}

impl Login<'_> {
    async fn begin<S: Duplex>(&self, wire: &mut Wire<S>, peer: &Peer) -> Result<(), Failure> {
        let bytes = |text: &Option<String>| text.as_ref().map(|text| text.clone().into_bytes());
        let proof = self.plugin.gen_data(Some(self.password), &self.challenge);
        let names_plugin = CapabilityFlags::CLIENT_PLUGIN_AUTH;
        let names_plugin = peer.capabilities.contains(names_plugin);
        let login = HandshakeResponse::new(
            proof.as_deref(),
            OF_UTF8MB4,
            bytes(&self.address.user),
            bytes(&self.address.database),
            names_plugin.then(|| self.plugin.clone()),
            peer.capabilities,
            None,
            PACKET_BYTES,
        )
        .with_mariadb_ext_capabilities(peer.of_mariadb);
        let mut body = Vec::new();
        login.serialize(&mut body);
        wire.put(&body)?;
        Ok(wire.flush().await?)
    }

    /// Answers the server until the session is open.
    async fn go_on<S: Duplex>(&mut self, wire: &mut Wire<S>) -> Result<(), Failure> {
        loop {
            let body = wire.read().await?;
            packet::refusal(body)?;
            match (body, &self.plugin) {
                ([first::OK, ..], _) => return Ok(()),
                ([first::END, ..], _) if !self.has_switched => {
                    let answer = self.switch(body)?;
                    wire.put(&answer)?;
                }
                // The server remembers the password's hash: its OK follows.
                ([first::MORE, 3], AuthPlugin::CachingSha2Password) => continue,
                ([first::MORE, 4], AuthPlugin::CachingSha2Password) => self.tell(wire).await?,
                _ => return Err(Failure::Garbled),
            }
            wire.flush().await?;
        }
    }

    /// Takes another plugin and its challenge. Returns the answer.
    fn switch(&mut self, body: &[u8]) -> Result<Vec<u8>, Failure> {
        let unsupported = |name: &str| {
            let says = format!("the server wants an authentication that is not supported: {name}");
            Err(Failure::Lost(says))
        };
        if body.len() == 1 {
            return unsupported("mysql_old_password");
        }
        let asked: AuthSwitchRequest<'_> =
            ParseBuf(body).parse(()).map_err(|_| Failure::Garbled)?;
        self.has_switched = true;
        self.plugin = asked.auth_plugin().into_owned();
        self.challenge = asked.plugin_data().to_vec();
        self.challenge.resize(CHALLENGE_BYTES, 0);
        match &self.plugin {
            AuthPlugin::MysqlNativePassword | AuthPlugin::CachingSha2Password => {}
            AuthPlugin::MysqlClearPassword if self.address.tells_password => {}
            other => return unsupported(&String::from_utf8_lossy(other.as_bytes())),
        }
        let mut answer = Vec::new();
        if let Some(proof) = self.plugin.gen_data(Some(self.password), &self.challenge) {
            proof.serialize(&mut answer);
        }
        Ok(answer)
    }

    /// Tells the server the password: as it is where nobody else reads it, encrypted for the server elsewhere.
    async fn tell<S: Duplex>(&self, wire: &mut Wire<S>) -> Result<(), Failure> {
        let mut password = [self.password.as_bytes(), b"\0"].concat();
        if self.is_private {
            return wire.put(&password);
        }
        wire.put(&[2])?;
        wire.flush().await?;
        let body = wire.read().await?;
        packet::refusal(body)?;
        let key = match body {
            [first::MORE, key @ ..] if key.len() <= KEY_BYTES => key.to_vec(),
            _ => return Err(Failure::Garbled),
        };
        for (byte, mask) in password.iter_mut().zip(self.challenge.iter().cycle()) {
            *byte ^= mask;
        }
        wire.put(&crypto::encrypt(&password, &key))
    }
}
