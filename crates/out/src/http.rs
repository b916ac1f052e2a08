//! As much of HTTP/1.1 as handing samples on needs: one request or answer per connection, each within a bound.

use std::io::{self, Read, Write};
use std::net::{TcpStream, ToSocketAddrs as _};
use std::time::{Duration, Instant};

/// Longest time for one exchange as a whole, however slowly the other end goes on.
const BOUND: Duration = Duration::from_secs(2);
/// Longest head that is read, bytes.
const HEAD_MAX: usize = 4096;

/// A connection that ends at a time.
struct Bounded {
    stream: TcpStream,
    until: Instant,
}

impl Bounded {
    fn new(stream: TcpStream) -> Self {
        let until = Instant::now() + BOUND;
        Self { stream, until }
    }

    fn left(&self) -> io::Result<Duration> {
        let left = self.until.saturating_duration_since(Instant::now());
        match left.is_zero() {
            true => Err(io::ErrorKind::TimedOut.into()),
            false => Ok(left),
        }
    }
}

impl Read for Bounded {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        self.stream.set_read_timeout(Some(self.left()?))?;
        self.stream.read(out)
    }
}

impl Write for Bounded {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.stream.set_write_timeout(Some(self.left()?))?;
        self.stream.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.stream.flush()
    }
}

/// Posts a body; any status of success is one.
pub fn post(authority: &str, path: &str, headers: &str, body: &[u8]) -> Result<(), String> {
    let told = |error: io::Error| error.to_string();
    let mut addresses = authority.to_socket_addrs().map_err(told)?;
    let address = addresses.next().ok_or("its name has no address")?;
    let stream = TcpStream::connect_timeout(&address, BOUND).map_err(told)?;
    let mut stream = Bounded::new(stream);
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
pub fn serve(stream: TcpStream, media_type: &str, page: &str) -> io::Result<()> {
    stream.set_nonblocking(false)?;
    let mut stream = Bounded::new(stream);
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
fn head_of(stream: &mut impl Read) -> io::Result<String> {
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

#[cfg(test)]
mod tests {
    use std::net::TcpListener;

    use super::*;

    /// Both ways: a caller of the page, and a sink, that go on a byte at a time.
    #[test]
    fn an_end_that_drips_is_left() {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let place = listener.local_addr().expect("an address").to_string();
        std::thread::scope(|scope| {
            scope.spawn(|| {
                let mut caller = TcpStream::connect(&place).expect("a page");
                while caller.write_all(b"G").is_ok() {
                    std::thread::sleep(Duration::from_millis(20));
                }
            });
            let (stream, _) = listener.accept().expect("a caller");
            assert!(serve(stream, "text/plain", "a 1\n").is_err());
        });
        std::thread::scope(|scope| {
            scope.spawn(|| {
                let (mut sink, _) = listener.accept().expect("a post");
                while sink.write_all(b"H").is_ok() {
                    std::thread::sleep(Duration::from_millis(20));
                }
            });
            assert!(post(&place, "/", "", b"a 1").is_err());
        });
    }
}
