//! What crosses a connection that serves one request?
//!
//! ```text
//! SYN … (TLS …) │ request: header, payload │ response: header, payload │ FIN
//! ```
//!
//! The messages are those of [`crate::rr::protocol`]; the request's header carries the ticket, so a
//! connection needs no other proof that it belongs here.

use std::io;

use crate::rr::protocol::Reader;

/// Takes the next piece of an answer; true when it is whole.
///
/// Errors: what came is no answer.
pub(crate) fn is_answered(reader: &mut Reader, piece: &[u8]) -> io::Result<bool> {
    let mut whole = false;
    let fed = reader.feed(piece, |_| whole = true);
    fed.map_err(|error| io::Error::new(io::ErrorKind::InvalidData, error))?;
    Ok(whole)
}
