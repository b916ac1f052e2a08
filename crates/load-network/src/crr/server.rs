//! The answering end: accept, answer, wait until the caller hangs up; one caller at a time per
//! thread.

use std::io;

use sokudo_net::wait::Wait;
use sokudo_workload::exchange::LOOK;
use sokudo_workload::limit::Exceeded;
use sokudo_workload::link::establish;
use sokudo_workload::meet::Arrived;

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
    while answering.goes_on() {
        let Some(incoming) = listener.accept(LOOK).map_err(io::Error::other)? else {
            continue;
        };
        let before = answering.answered();
        // A caller that fails says so at its own end.
        if let Ok(link) = establish(incoming)
            && let Err(error) = answering.one(link, way, PATIENCE_NS)
        {
            // So does one that cannot be waited for in this way.
            let over = error.get_ref().and_then(|error| error.downcast_ref());
            over.map_or(Ok(()), |over: &Exceeded| Err(*over))?;
        }
        if answering.answered() == before {
            answering.pay_for_silence()?;
        }
    }
    Ok(())
}
