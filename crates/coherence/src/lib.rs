//! The wires of a data grid's own network tests, so that its processes can be the far end.
//!
//! [`datagram`] speaks the wire of its datagram test, [`bus`] that of its message bus test.

pub mod bus;
pub mod datagram;
