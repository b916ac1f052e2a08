//! The little of HTTP/1.1 that sinks need: a request with a body, and a page for whoever asks.

use std::io::{self, Read, Write};
use std::net::{TcpStream, ToSocketAddrs as _};
use std::time::Duration;

/// Longest wait for a server: to connect, to take the body, to answer.
const BOUND: Duration = Duration::from_secs(2);
/// Bytes that are read of an answer or of a question.
const HEAD_MAX: usize = 4096;

/// Posts a body; any status of success is one.
pub fn post(authority: &str, path: &str, headers: &str, body: &[u8]) -> Result<(), String> {
    let told = |error: io::Error| error.to_string();
    let mut addresses = authority.to_socket_addrs().map_err(told)?;
    let address = addresses.next().ok_or("its name has no address")?;
    let mut stream = TcpStream::connect_timeout(&address, BOUND).map_err(told)?;
    stream.set_read_timeout(Some(BOUND)).map_err(told)?;
    stream.set_write_timeout(Some(BOUND)).map_err(told)?;
    let head = format!(
        "POST {path} HTTP/1.1\r\nHost: {authority}\r\nUser-Agent: sokudo\r\n{headers}\
         Content-Length: {}\r\nConnection: close\r\n\r\n",
        body.len()
    );
    stream.write_all(head.as_bytes()).map_err(told)?;
    stream.write_all(body).map_err(told)?;
    let answer = head_of(&mut stream).map_err(told)?;
    let status = answer.split_ascii_whitespace().nth(1).unwrap_or_default();
    match status.starts_with('2') && answer.starts_with("HTTP/1.") {
        true => Ok(()),
        false => Err(format!(
            "it answered `{}`",
            answer.lines().next().unwrap_or_default()
        )),
    }
}

/// Answers one question for the page.
pub fn serve(mut stream: TcpStream, media_type: &str, page: &str) -> io::Result<()> {
    stream.set_nonblocking(false)?;
    stream.set_read_timeout(Some(BOUND))?;
    stream.set_write_timeout(Some(BOUND))?;
    let asked = head_of(&mut stream)?;
    let (status, page) = match asked.split_ascii_whitespace().nth(1) {
        Some("/metrics" | "/") if asked.starts_with("GET ") => ("200 OK", page),
        _ => ("404 Not Found", "the newest samples are at /metrics\n"),
    };
    write!(
        stream,
        "HTTP/1.1 {status}\r\nContent-Type: {media_type}\r\nContent-Length: {}\r\n\
         Connection: close\r\n\r\n{page}",
        page.len()
    )?;
    stream.flush()
}

/// A message up to the end of its head, or as much as is read of one.
fn head_of(stream: &mut TcpStream) -> io::Result<String> {
    let mut head = Vec::new();
    let mut some = [0; 512];
    while head.len() < HEAD_MAX && !head.windows(4).any(|end| end == b"\r\n\r\n") {
        match stream.read(&mut some)? {
            0 => break,
            n => head.extend(&some[..n]),
        }
    }
    Ok(String::from_utf8_lossy(&head).into_owned())
}
