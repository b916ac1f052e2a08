//! Site routers, which connect the agents of a site to a controller that they cannot or should not
//! dial themselves.
//!
//! ```text
//!  site                                                   controller
//!   agent ──┐  UDP   ┌────────────────┐  UDP, dials out    router
//!   agent ──┼───────►│ sokudo router  ├──────────────────►
//!   agent ──┘  TCP   └────────────────┘  TCP               door
//! ```
//!
//! Messages of many agents share one connection to the controller. Orders are signed and encrypted end
//! to end, and who joins checks the door's key, so that a site's router carries what it can neither
//! read nor make.

use std::io::{self, Read};
use std::net::{Shutdown, SocketAddr, TcpStream, ToSocketAddrs};
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use sokudo_model::Text;
use zenoh::{Session, Wait};

use crate::agent::Log;
use crate::error::GroupError;
use crate::fleet;
use crate::keys::Keys;
use crate::membership::Membership;
use crate::settings;
use crate::visitors::Visitors;

/// Longest time to reach the controller's door, and longest silence of either end of an enrolment.
const BOUND: Duration = Duration::from_secs(5);
/// Bytes that one enrolment may need each way.
const MAX_BYTES: u64 = 256 * 1024;

/// Longest time to search for controllers.
const LOOK_BOUND: Duration = Duration::from_secs(2);

/// A site's router. Dropping it cuts the site off.
pub struct Site {
    door: Visitors,
    session: Session,
    keys: Keys,
}

impl Site {
    /// Listens at `listen`, UDP for agents and TCP for joining hosts. A controller that cannot be
    /// reached is tried again.
    ///
    /// Errors: the port is taken, damaged certificates.
    pub fn open(membership: &Membership, listen: SocketAddr, log: Log) -> Result<Self, GroupError> {
        let admission = &membership.admission;
        let routers = admission.routers.clone();
        let config = settings::router(
            &admission.group_id,
            &listen.to_string(),
            &routers,
            &membership.credentials(),
        )?;
        let session = fleet::listening(config, &listen.to_string())?;
        let receive = move |visitor: TcpStream, address: SocketAddr| match pass(&visitor, &routers)
        {
            Ok(()) => log(&Text::new("log-led").with("who", address)),
            Err(why) => log(&Text::new("log-not-led")
                .with("who", address)
                .with("why", why)),
        };
        Ok(Self {
            door: Visitors::open(listen, Arc::new(receive))?,
            session,
            keys: Keys::new(&admission.group_id),
        })
    }

    /// Whether no controller of the group has a session with any agent, as far as it can see.
    pub fn is_idle(&self) -> bool {
        let asked = self.session.liveliness().get(self.keys.controller("*"));
        let answers = asked.timeout(LOOK_BOUND).wait();
        answers.is_ok_and(|answers| answers.into_iter().all(|answer| answer.result().is_err()))
    }

    /// The address at which it listens.
    pub fn address(&self) -> SocketAddr {
        self.door.address()
    }
}

impl Drop for Site {
    /// Gives the port back.
    fn drop(&mut self) {
        // A router that cannot be closed in order ends with the process.
        let _ = self.session.close().wait();
    }
}

/// Carries bytes between a visitor and the first door that can be reached. The door hangs up.
fn pass(visitor: &TcpStream, doors: &[String]) -> Result<(), String> {
    let door = doors.iter().find_map(|door| {
        let address = door.to_socket_addrs().ok()?.next()?;
        TcpStream::connect_timeout(&address, BOUND).ok()
    });
    let door = door.ok_or("the controller cannot be reached")?;
    for end in [visitor, &door] {
        end.set_read_timeout(Some(BOUND))
            .and_then(|()| end.set_write_timeout(Some(BOUND)))
            .map_err(|why| why.to_string())?;
    }
    thread::scope(|scope| {
        scope.spawn(|| pump(visitor, &door));
        pump(&door, visitor);
    });
    Ok(())
}

/// One way, until its end, a silence, or too much.
fn pump(from: &TcpStream, mut to: &TcpStream) {
    // Either end's failure is seen by the other one as the end.
    let _ = io::copy(&mut from.take(MAX_BYTES), &mut to);
    let _ = to.shutdown(Shutdown::Write);
}
