//! Test that one agent that stops reading does not stop the others.

use std::net::{SocketAddr, UdpSocket};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use sokudo_bus::{Bus, Member};
use sokudo_wire::{Ask, Reply};

use super::{Alive, BOUND, Lab, PORT, own_address, sees, serve};

/// More than all that a router holds for one link, with the system below it.
const ORDERS: usize = 8;
const ORDER_BYTES: usize = 4 * 1024 * 1024;
/// Far shorter than the time after which Zenoh would close the full link.
const IN_TIME: Duration = Duration::from_secs(2);
const QUESTIONS: usize = 20;
const LOOK: Duration = Duration::from_millis(50);

/// A cable between one agent and the router, which can be pulled and put back.
struct Cable {
    address: SocketAddr,
    pulled: Arc<AtomicBool>,
    gone: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Cable {
    fn to(router: SocketAddr) -> Self {
        let inner = UdpSocket::bind((own_address(), PORT)).unwrap();
        let outer = UdpSocket::bind((router.ip(), 0)).unwrap();
        outer.connect(router).unwrap();
        let (pulled, gone) = (Arc::<AtomicBool>::default(), Arc::<AtomicBool>::default());
        let address = inner.local_addr().unwrap();
        let flags = (Arc::clone(&pulled), Arc::clone(&gone));
        let thread = thread::spawn(move || carry(&inner, &outer, &flags.0, &flags.1));
        Self {
            address,
            pulled,
            gone,
            thread: Some(thread),
        }
    }

    fn pull(&self, pulled: bool) {
        self.pulled.store(pulled, Ordering::Release);
    }
}

impl Drop for Cable {
    fn drop(&mut self) {
        self.gone.store(true, Ordering::Release);
        if let Some(thread) = self.thread.take() {
            thread.join().unwrap();
        }
    }
}

/// The agent speaks first; one thread for each way.
fn carry(inner: &UdpSocket, outer: &UdpSocket, pulled: &AtomicBool, gone: &AtomicBool) {
    inner.set_read_timeout(Some(LOOK)).unwrap();
    outer.set_read_timeout(Some(LOOK)).unwrap();
    let mut buffer = vec![0; 65_536];
    let first = loop {
        match inner.recv_from(&mut buffer) {
            Ok((length, agent)) => break (length, agent),
            Err(_) if gone.load(Ordering::Acquire) => return,
            Err(_) => {}
        }
    };
    let (length, agent) = first;
    inner.connect(agent).unwrap();
    outer.send(&buffer[..length]).unwrap();
    let one_way = |from: &UdpSocket, to: &UdpSocket| {
        let mut buffer = vec![0; 65_536];
        while !gone.load(Ordering::Acquire) {
            if let Ok(length) = from.recv(&mut buffer)
                && !pulled.load(Ordering::Acquire)
            {
                // Packets that do not get through are lost, as on any cable.
                let _ = to.send(&buffer[..length]);
            }
        }
    };
    thread::scope(|scope| {
        scope.spawn(|| one_way(inner, outer));
        one_way(outer, inner);
    });
}

/// A switch that loses its power while long orders are on the way: the router keeps serving everybody
/// else, and when the power is back, nothing was lost.
#[test]
fn an_agent_that_reads_nothing_stops_nobody_else() {
    let (lab, alive) = (Lab::new(), Alive::default());
    let cable = Cable::to(SocketAddr::new(lab.address, PORT));
    let mut member = lab.member("a");
    member.set_routers(vec![cable.address.to_string()]);
    let _a = serve(member, &alive);
    let _b = lab.agent("b", &alive);
    let fleet = lab.fleet();
    sees(&fleet, &["a", "b"]);
    let bus = Bus::new();
    let [a, b] = ["a", "b"].map(|name| {
        let reached = fleet.link(name, "controller", BOUND).unwrap();
        let (name, address) = (name.to_owned(), reached.address);
        bus.add(Member { name, address }, Box::new(reached.link))
    });
    assert_eq!(bus.ask(a, Ask::Clock, BOUND), Ok(Reply::Clock(42)));
    cable.pull(true);
    let long = || Ask::Arm {
        offers: vec![Some("x".repeat(ORDER_BYTES))],
    };
    thread::scope(|scope| {
        let orders = (0..ORDERS).map(|_| scope.spawn(|| bus.ask(a, long(), BOUND)));
        let orders: Vec<_> = orders.collect();
        for question in 0..QUESTIONS {
            let answer = bus.ask(b, Ask::Clock, IN_TIME);
            assert_eq!(answer, Ok(Reply::Clock(42)), "to question {question}");
        }
        cable.pull(false);
        for order in orders {
            assert_eq!(order.join().unwrap(), Ok(Reply::Done));
        }
    });
    bus.close();
    alive.reach(0);
}
