//! Requests over plain TCP.

use serde::Serialize;

use super::Value;
use crate::expression::Template;

/// A request over a TCP connection, as JMeter's TCP sampler makes it.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct TcpRequest {
    /// Name or address of the server.
    pub server: Template,
    /// Its port.
    pub port: Value<i64>,
    /// The text to send.
    pub text: Template,
    /// Conversion of text to bytes, and end of a response.
    pub form: TcpForm,
    /// Goes on over the connection of the user's last request to this server.
    pub reuses: Value<bool>,
    /// Closes the connection after the response.
    pub closes: Value<bool>,
    /// Sends small segments at once.
    pub no_delay: Value<bool>,
    /// Longest time to connect, milliseconds; 0: unbounded.
    pub connect_timeout_ms: Value<i64>,
    /// Longest time without a byte of the response, milliseconds; 0: unbounded.
    pub response_timeout_ms: Value<i64>,
    /// Seconds that closing waits for unsent bytes; `None`: the system decides.
    pub linger_s: Option<Value<i64>>,
    /// The byte that ends a response, -128 to 127; `None`: that of the properties.
    pub end_byte: Option<Value<i64>>,
    /// User and password, which tell connections to one server apart.
    pub login: [Template; 2],
}

/// Conversion of a TCP request's text to bytes, and end of its response.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub enum TcpForm {
    /// Text in the charset of the properties; the end byte or the end of the connection ends the response.
    Text,
    /// Hexadecimal digits, each pair a byte; the response ends as that of text does.
    Binary,
    /// The same with the length before it, in both directions.
    LengthPrefixed,
}
