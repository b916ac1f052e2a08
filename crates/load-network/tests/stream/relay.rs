//! A relay that treats a connection as a faulty middle box would.

use std::io::{Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::time::Duration;

use sokudo_workload::consent::MESSAGE_BYTES;

/// Action after so many bytes of the caller.
#[derive(Debug, Clone, Copy)]
pub enum After {
    /// Both connections are reset.
    Reset,
    /// The called end sees the end of the stream; what the caller sends from then on is swallowed.
    Cut,
    /// Nothing is passed on any more, and nobody is told.
    Stall,
}

/// Passes one connection on to `port` of this machine until `bytes` of the caller's load have passed;
/// returns its own port. It ends with the connections.
pub fn relay(port: u16, bytes: usize, after: After) -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let own = listener.local_addr().expect("it is bound").port();
    std::thread::spawn(move || {
        let (caller, _) = listener.accept().expect("a caller");
        let called = TcpStream::connect(("127.0.0.1", port)).expect("somebody listens");
        // A test that fails is over all the same.
        let _ = pass(caller, called, bytes, after);
    });
    own
}

fn pass(
    mut caller: TcpStream,
    mut called: TcpStream,
    bytes: usize,
    after: After,
) -> std::io::Result<()> {
    // Both ends prove themselves before any load.
    let mut message = [0; MESSAGE_BYTES];
    for _ in 0..2 {
        caller.read_exact(&mut message)?;
        called.write_all(&message)?;
        std::mem::swap(&mut caller, &mut called);
    }
    caller.read_exact(&mut message)?;
    called.write_all(&message)?;
    let mut chunk = vec![0; 16 << 10];
    let mut left = bytes;
    while left > 0 {
        let most = chunk.len().min(left);
        let read = caller.read(&mut chunk[..most])?;
        called.write_all(&chunk[..read])?;
        left -= read;
    }
    match after {
        After::Reset => {
            for end in [&caller, &called] {
                socket2::SockRef::from(end).set_linger(Some(Duration::ZERO))?;
            }
        }
        After::Cut => {
            called.shutdown(Shutdown::Write)?;
            while caller.read(&mut chunk)? > 0 {}
        }
        // Until the called end hangs up.
        After::Stall => while called.read(&mut chunk)? > 0 {},
    }
    Ok(())
}
