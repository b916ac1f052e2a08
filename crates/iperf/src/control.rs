//! The control connection: states and messages, each with a bound on its length and its time.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use serde_json::Value;
use socket2::{SockRef, TcpKeepalive};

use crate::IperfError;
use crate::proto::{JSON_BYTES_MAX, State};

/// Longest wait for a message that is due.
const PATIENCE: Duration = Duration::from_secs(20);
/// The same once the operator has ended the test: its results may still come.
const LAST_PATIENCE: Duration = Duration::from_secs(2);
/// Silence after which the other end is asked whether it is there, time between two such questions, and how many.
const ALIVE: (Duration, Duration, u32) = (Duration::from_secs(10), Duration::from_secs(5), 3);
/// Longest and shortest wait between two looks at what else is to be done.
const LOOK: (Duration, Duration) = (Duration::from_millis(1), Duration::from_millis(50));

/// One end of a control connection.
pub struct Control<'a> {
    stream: TcpStream,
    /// The operator has ended the test.
    stop: &'a AtomicBool,
}

impl<'a> Control<'a> {
    /// Over this connection, until `stop`.
    pub fn new(stream: TcpStream, stop: &'a AtomicBool) -> Result<Self, IperfError> {
        let failed = |error| IperfError::io("preparing the control connection")(error);
        stream
            .set_nodelay(true)
            .and_then(|()| stream.set_write_timeout(Some(PATIENCE)))
            .and_then(|()| stream.set_read_timeout(Some(LOOK.1)))
            .map_err(failed)?;
        // A host that has vanished sends no end: load towards it must not go on for the time of the test.
        let keepalive = TcpKeepalive::new()
            .with_time(ALIVE.0)
            .with_interval(ALIVE.1);
        #[cfg(not(windows))]
        let keepalive = keepalive.with_retries(ALIVE.2);
        SockRef::from(&stream)
            .set_tcp_keepalive(&keepalive)
            .map_err(failed)?;
        Ok(Self { stream, stop })
    }

    /// Sends bytes as they are.
    pub fn send(&mut self, bytes: &[u8]) -> Result<(), IperfError> {
        self.stream
            .write_all(bytes)
            .map_err(IperfError::io("sending on the control connection"))
    }

    /// Tells a state.
    pub fn tell(&mut self, state: State) -> Result<(), IperfError> {
        self.send(&[state.byte()])
    }

    /// Waits for a state; what the far end says in place of it is the error.
    pub fn wait_for(&mut self, wanted: State) -> Result<(), IperfError> {
        let got = self.state()?;
        match got {
            got if got == wanted => Ok(()),
            State::AccessDenied => Err(IperfError::Busy),
            State::ServerTerminate | State::ClientTerminate => Err(IperfError::Ended),
            State::ServerError => {
                let mut numbers = [0; 8];
                self.read(&mut numbers)?;
                let number = i32::from_be_bytes([numbers[0], numbers[1], numbers[2], numbers[3]]);
                Err(IperfError::Protocol(format!(
                    "the server reports error {number}"
                )))
            }
            got => Err(IperfError::Protocol(format!(
                "{got:?} in place of {wanted:?}"
            ))),
        }
    }

    fn state(&mut self) -> Result<State, IperfError> {
        let mut byte = [0];
        self.read(&mut byte)?;
        let unknown = || IperfError::Protocol(format!("there is no state {}", byte[0]));
        State::of(byte[0]).ok_or_else(unknown)
    }

    /// A state that has come meanwhile; waits a moment for one, and no longer than `most`.
    pub fn state_within(&mut self, most: Duration) -> Result<Option<State>, IperfError> {
        let failed = |error| IperfError::io("reading the control connection")(error);
        self.stream
            .set_read_timeout(Some(most.clamp(LOOK.0, LOOK.1)))
            .map_err(failed)?;
        let mut byte = [0];
        let got = self.stream.read(&mut byte);
        self.stream.set_read_timeout(Some(LOOK.1)).map_err(failed)?;
        match got {
            Ok(0) => Err(IperfError::Ended),
            Ok(_) => State::of(byte[0])
                .map(Some)
                .ok_or_else(|| IperfError::Protocol(format!("there is no state {}", byte[0]))),
            Err(error) if is_timeout(&error) => Ok(None),
            Err(error) => Err(failed(error)),
        }
    }

    /// Fills the bytes, within the time that a message may take.
    pub fn read(&mut self, bytes: &mut [u8]) -> Result<(), IperfError> {
        let mut due = Instant::now() + PATIENCE;
        let mut is_stopped = false;
        let mut at = 0;
        while at < bytes.len() {
            if !is_stopped && self.stop.load(Ordering::Relaxed) {
                is_stopped = true;
                due = due.min(Instant::now() + LAST_PATIENCE);
            }
            if Instant::now() > due {
                return Err(match is_stopped {
                    true => IperfError::Stopped,
                    false => IperfError::Protocol("a message took too long".into()),
                });
            }
            match self.stream.read(&mut bytes[at..]) {
                Ok(0) => return Err(IperfError::Ended),
                Ok(more) => at += more,
                Err(error) if is_timeout(&error) => {}
                Err(error) => return Err(IperfError::io("reading the control connection")(error)),
            }
        }
        Ok(())
    }

    /// Sends a message in JSON behind its length.
    pub fn send_json(&mut self, message: &Value) -> Result<(), IperfError> {
        let text = message.to_string();
        let length = text.len() as u32;
        self.send(&length.to_be_bytes())?;
        self.send(text.as_bytes())
    }

    /// Reads a message in JSON.
    pub fn read_json(&mut self) -> Result<Value, IperfError> {
        let mut length = [0; 4];
        self.read(&mut length)?;
        let length = u32::from_be_bytes(length);
        if length > JSON_BYTES_MAX {
            return Err(IperfError::Protocol(format!("a message of {length} bytes")));
        }
        let mut bytes = vec![0; length as usize];
        self.read(&mut bytes)?;
        serde_json::from_slice(&bytes)
            .map_err(|error| IperfError::Protocol(format!("a message is not JSON: {error}")))
    }
}

/// True when nothing came in time.
pub fn is_timeout(error: &std::io::Error) -> bool {
    use std::io::ErrorKind::{Interrupted, TimedOut, WouldBlock};
    matches!(error.kind(), WouldBlock | TimedOut | Interrupted)
}
