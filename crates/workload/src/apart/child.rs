//! The process that carries out a phase.

use std::io::{self, Stdout};
use std::sync::mpsc::{Receiver, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};

use sokudo_model::{Refusal, Text};

use super::{Order, Told, frame};
use crate::contract::{Emit, Phase, Workload};
use crate::refusal::{failed, spawn};

/// Orders that wait.
const WAITING: usize = 16;
/// Share of the host's memory that the process may have.
const MEMORY_SHARE: f64 = 0.5;

/// Carries out one phase of a workload, as ordered on the standard input, until that ends.
///
/// Errors: no thread could be started.
pub fn carry_out(workload: &dyn Workload) -> Result<(), Refusal> {
    sokudo_net::process::confine(MEMORY_SHARE);
    let (send, orders) = sync_channel(WAITING);
    let read = move || {
        let mut input = io::stdin();
        while let Ok(order) = frame::read::<Order>(&mut input) {
            if send.send(order).is_err() {
                break;
            }
        }
        // The agent is gone, or has its result: whatever is still under way is nobody's.
        std::process::exit(0);
    };
    spawn("orders", read)?;
    obey(workload, &orders, &Arc::new(Mutex::new(io::stdout())));
    Ok(())
}

fn obey(workload: &dyn Workload, orders: &Receiver<Order>, out: &Arc<Mutex<Stdout>>) {
    let to = Arc::clone(out);
    let emit: Emit = Arc::new(move |emitted| tell(&to, &Told::Emitted(emitted)));
    let mut phase: Option<Box<dyn Phase>> = None;
    for order in orders {
        let answer = match (order, &mut phase) {
            (Order::Prepare(spec), empty) => {
                workload.prepare(*spec, Arc::clone(&emit)).map(|ready| {
                    let offer = ready.offer();
                    *empty = Some(ready);
                    offer
                })
            }
            (order, Some(phase)) => follow(phase.as_mut(), order),
            (_, None) => Err(failed(Text::new("error-load-process-unprepared"), None)),
        };
        tell(out, &Told::Answer(answer));
    }
}

fn follow(phase: &mut dyn Phase, order: Order) -> Result<String, Refusal> {
    match order {
        Order::Prepare(_) => Ok(()),
        Order::Arm { offers } => phase.arm(&offers),
        Order::Start { at_ns, t0_ns } => phase.start(at_ns, t0_ns),
        Order::Halt => {
            phase.halt();
            Ok(())
        }
        Order::Steer(change) => phase.steer(&change),
        Order::Clocks(clocks) => {
            phase.clocks(&clocks);
            Ok(())
        }
        Order::Drain { sent } => return phase.drain(&sent),
    }
    .map(|()| String::new())
}

fn tell(out: &Mutex<Stdout>, told: &Told) {
    let mut out = out.lock().unwrap_or_else(PoisonError::into_inner);
    // An agent that does not read any more ends this process in a moment.
    let _ = frame::write(&mut *out, told);
}
