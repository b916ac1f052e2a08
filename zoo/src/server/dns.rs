//! A name server with a fault, over UDP: it knows one address for every name.

use std::io;
use std::net::{IpAddr, SocketAddr, UdpSocket};
use std::thread;

use super::Manner;

/// Length of the header of a message (RFC 1035).
const HEADER_BYTES: usize = 12;
/// Response code SERVFAIL.
const SERVFAIL: u8 = 2;

/// Address that every name has where the name server stands alone (RFC 5737).
const ANYWHERE: [u8; 4] = [192, 0, 2, 1];

/// Serves beside a web server, on whose host every name lies; nothing where no time for it is given.
pub fn beside(listen: SocketAddr, manner: &Manner) -> io::Result<()> {
    let IpAddr::V4(home) = listen.ip() else {
        return Ok(());
    };
    if !manner.is("names_ms") {
        return Ok(());
    }
    let socket = UdpSocket::bind(listen)?;
    let takes = manner.time_ms("names_ms");
    thread::spawn(move || -> io::Result<()> {
        let mut query = [0; 1500];
        loop {
            let (n, from) = socket.recv_from(&mut query)?;
            thread::sleep(takes);
            if let Some(answer) = answer(&query[..n], false, home.octets()) {
                // The caller may have left.
                let _ = socket.send_to(&answer, from);
            }
        }
    });
    Ok(())
}

/// Serves until the process ends.
pub fn serve(listen: SocketAddr, manner: &Manner) -> io::Result<()> {
    let socket = UdpSocket::bind(listen)?;
    println!("serving on {}", socket.local_addr()?);
    let mut query = [0; 1500];
    let mut number = 0_u64;
    loop {
        let (n, from) = socket.recv_from(&mut query)?;
        number += 1;
        // Spread evenly, as the failures of the web server are.
        let turn = |word: &str| {
            let before = |n: u64| (n as f64 * manner.number(word)).floor();
            before(number) > before(number - 1)
        };
        if turn("drop") {
            continue;
        }
        thread::sleep(manner.time_ms("think_ms"));
        if let Some(answer) = answer(&query[..n], turn("servfail"), ANYWHERE) {
            // The caller may have left.
            let _ = socket.send_to(&answer, from);
        }
    }
}

/// The answer to a query with one question; `None` for anything else.
fn answer(query: &[u8], fails: bool, address: [u8; 4]) -> Option<Vec<u8>> {
    let mut end = HEADER_BYTES;
    while *query.get(end)? != 0 {
        end += 1 + usize::from(query[end]);
    }
    let question = query.get(HEADER_BYTES..end + 5)?;
    // Of other types than A (1) a name has nothing.
    let is_address = question[question.len() - 4..question.len() - 2] == [0, 1];
    let code = if fails { SERVFAIL } else { 0 };
    let answers = u8::from(is_address && !fails);
    let mut out = query[..2].to_vec();
    out.extend([0x84, 0x80 | code, 0, 1, 0, answers, 0, 0, 0, 0]);
    out.extend(question);
    if answers > 0 {
        // The name of the question, type A, class IN, 60 s, four bytes.
        out.extend([0xc0, 12, 0, 1, 0, 1, 0, 0, 0, 60, 0, 4]);
        out.extend(address);
    }
    Some(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_repeats_its_question() {
        let head = [7, 9, 1, 0, 0, 1, 0, 0, 0, 0, 0, 0];
        let question = [1, b'a', 0, 0, 1, 0, 1];
        let query = [&head[..], &question].concat();
        let said = answer(&query, false, ANYWHERE).expect("an answer");
        assert_eq!(said[..4], [7, 9, 0x84, 0x80]);
        assert_eq!(said[12..19], question);
        assert_eq!(answer(&query, true, ANYWHERE).expect("an error")[3], 0x82);
        assert_eq!(answer(&query[..15], false, ANYWHERE), None);
        assert_eq!(answer(&[], false, ANYWHERE), None);
    }
}
