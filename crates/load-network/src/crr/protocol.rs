//! Messages of a connection that serves one request.
//!
//! ```text
//! SYN … (TLS …) │ request: header, payload │ response: header, payload │ FIN
//! ```
//!
//! The messages are those of [`crate::rr::protocol`]. The request's header carries the ticket, so a
//! connection needs no other proof that it belongs here; the response may be shorter than a header.

use crate::rr::protocol::HEADER_BYTES;

/// Smallest request: one that has room for the ticket.
pub const MIN_REQUEST_BYTES: u32 = HEADER_BYTES as u32;
