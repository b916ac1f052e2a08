//! The answering end: accept, answer, wait until the caller hangs up; one caller at a time, while others prove
//! that they belong to the flow.

use std::io;
use std::ops::ControlFlow;
use std::sync::Arc;

use sokudo_net::clock::now_ns;
use sokudo_net::stream::Stream;
use sokudo_net::wait::Wait;
use sokudo_workload::limit::Exceeded;
use sokudo_workload::link::Link;
use sokudo_workload::meet::Arrived;
use sokudo_workload::turns::{Serve, Turns};

use super::protocol::MIN_REQUEST_BYTES;
use crate::rr::server::Loop;

/// A caller that is silent for so long makes room for the next one.
const PATIENCE_NS: i64 = 1_000_000_000;

/// Answers callers until it is stopped.
///
/// The caller closes first: the end that does keeps the port for a while (TIME_WAIT), and
/// that must not be the listening one.
pub(crate) fn answer(answering: &mut Loop, end: Arrived, way: Wait) -> io::Result<()> {
    let Arrived::Callers(listener) = end else {
        return Err(io::ErrorKind::Unsupported.into());
    };
    let (request, stop) = (answering.request(), Arc::clone(answering.stop()));
    let turns = Turns {
        listener: &listener,
        wait: way,
        proof_bytes: MIN_REQUEST_BYTES as usize,
        is_proof: &|begun| request.begins(begun),
        stop: &stop,
    };
    let mut serve = Answer {
        answering: &mut *answering,
        outcome: Ok(()),
    };
    let away = turns.take(&mut serve)?;
    serve.outcome?;
    answering.turned_away(&away);
    Ok(())
}

/// Answers callers that have proven themselves.
struct Answer<'l> {
    answering: &'l mut Loop,
    outcome: Result<(), Exceeded>,
}

impl Answer<'_> {
    fn one(&mut self, stream: Box<dyn Stream>, begun: &[u8]) -> Result<(), Exceeded> {
        let before = self.answering.answered();
        let give_up_ns = now_ns().saturating_add(PATIENCE_NS);
        self.answering
            .begun(Link::Stream(stream), begun, give_up_ns)?;
        match self.answering.answered() == before {
            true => self.answering.pay_for_silence(),
            false => Ok(()),
        }
    }
}

impl Serve for Answer<'_> {
    fn serve(&mut self, stream: Box<dyn Stream>, begun: &[u8]) -> ControlFlow<()> {
        self.outcome = self.one(stream, begun);
        match self.outcome {
            Ok(()) => ControlFlow::Continue(()),
            Err(_) => ControlFlow::Break(()),
        }
    }
}
