//! Serves as a far end with a fault: `serve listen=ADDR KEY=VALUE…` prints where it listens.

mod crowd;
mod dns;
mod gate;
mod http;
mod tls;

use std::collections::BTreeMap;
use std::net::{IpAddr, SocketAddr};
use std::time::Duration;

/// Behaviour of a server. A word that is not given is 0, which means: not at all.
#[derive(Debug, Default)]
pub struct Manner {
    words: BTreeMap<String, f64>,
}

/// Words that a manner may hold.
const WORDS: &[&str] = &[
    // A name server instead of a web server; or a sender of datagrams, Mb/s, to the host where it says.
    "dns",
    "crowd",
    // Share of queries without a response, and with an error code.
    "drop",
    "servfail",
    // TLS, without resumption.
    "tls",
    // Queue of connections that are not accepted yet; time between two accepts.
    "backlog",
    "accept_ms",
    // Open connections beyond which new ones are reset; whether each is closed after its response.
    "connections",
    "close",
    // Requests per second beyond which 429 is answered, or beyond which requests wait for their turn; share of
    // requests that an error answers, and its status, 503 if none is given.
    "rate",
    "pace",
    "fail",
    "status",
    // Requests that are worked on at a time.
    "workers",
    // Time of a request: asleep, asleep for a time that varies around this mean, on the CPU, under a lock of all,
    // holding one of `pool` connections.
    "think_ms",
    "varied_ms",
    "cpu_us",
    "lock_ms",
    "pool",
    "hold_ms",
    // One request in so many takes so much longer.
    "slow_one_in",
    "slow_ms",
    // Nothing is served for so long, every so often.
    "pause_every_ms",
    "pause_ms",
    // Bytes of requests that each connection takes per second, in thousands.
    "take_kb",
    // Bytes of a body; time over which they are sent; share of responses that end in the middle of it;
    // whether head and body are written apart, with Nagle's algorithm on.
    "body",
    "drip_ms",
    "cut",
    "nagle",
    // Thousands of bytes of cookies that each answer sets.
    "cookies_kb",
    // A line about each request goes to a pipe of which so many thousand bytes are taken per second.
    "log_kb",
    // A name server beside the web server takes so long for each query; every name is this host's.
    "names_ms",
];

impl Manner {
    /// Reads words `key=value`; `listen`, an address with or without a port, is read apart.
    fn parse(words: &[String]) -> Result<(SocketAddr, Self), String> {
        let mut listen = None;
        let mut manner = Self::default();
        for word in words {
            let (key, value) = word
                .split_once('=')
                .ok_or(format!("`{word}` has no value"))?;
            if key == "listen" {
                let with_port = value.parse().ok();
                let any_port = || Some(SocketAddr::new(value.parse::<IpAddr>().ok()?, 0));
                let address = with_port.or_else(any_port);
                listen = Some(address.ok_or(format!("`{value}` is not an address"))?);
                continue;
            }
            let number: f64 = value
                .parse()
                .map_err(|_| format!("`{value}` is not a number"))?;
            if !WORDS.contains(&key) || number < 0.0 {
                return Err(format!("a server cannot be `{word}`"));
            }
            manner.words.insert(key.to_owned(), number);
        }
        Ok((listen.ok_or("`listen=ADDR` is missing")?, manner))
    }

    fn number(&self, word: &str) -> f64 {
        self.words.get(word).copied().unwrap_or(0.0)
    }

    fn count(&self, word: &str) -> usize {
        self.number(word).round() as usize
    }

    fn is(&self, word: &str) -> bool {
        self.number(word) > 0.0
    }

    fn time_ms(&self, word: &str) -> Duration {
        Duration::from_secs_f64(self.number(word) / 1e3)
    }
}

/// Port of a name server.
const NAMES_PORT: u16 = 53;

/// Serves until it is ended.
pub fn serve(words: &[String]) -> Result<(), String> {
    let (listen, manner) = Manner::parse(words)?;
    let beside = || dns::beside(SocketAddr::new(listen.ip(), NAMES_PORT), &manner);
    let served = match (manner.is("dns"), manner.is("crowd")) {
        (true, _) => dns::serve(listen, &manner),
        (_, true) => crowd::serve(listen, &manner),
        _ => beside().and_then(|()| http::serve(listen, manner)),
    };
    served.map_err(|why| format!("cannot serve on {listen}: {why}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(line: &str) -> Result<Manner, String> {
        let words: Vec<String> = line.split_whitespace().map(str::to_owned).collect();
        Manner::parse(&words).map(|(_, manner)| manner)
    }

    #[test]
    fn a_manner_is_read_word_by_word() {
        let manner = parse("listen=127.0.0.1 workers=4 think_ms=2.5").expect("a manner");
        assert_eq!(manner.count("workers"), 4);
        assert_eq!(manner.time_ms("think_ms"), Duration::from_micros(2_500));
        assert!(!manner.is("tls"));
    }

    #[test]
    fn what_no_server_can_be_is_refused() {
        for line in [
            "workers=4",
            "listen=x",
            "listen=::1 speed=9",
            "listen=::1 workers",
            "listen=::1 body=-1",
        ] {
            assert!(parse(line).is_err(), "{line}");
        }
    }
}
