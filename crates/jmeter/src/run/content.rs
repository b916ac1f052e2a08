//! Decoding of content encodings.

use std::borrow::Cow;
use std::io::{self, Read};

use super::http::header_values;
use super::outcome::{NotHttp, Reply};

/// Largest decoded body, bytes; the rest is cut off.
const MOST_BYTES: u64 = 64 << 20;
/// Most encodings on top of one another.
const MOST_ENCODINGS: usize = 4;

/// The error of a body: JMeter's exception and message.
pub(super) type Bad = (NotHttp, &'static str);

/// Decodes a body: gzip, deflate and br. A body that was kept in part is decoded as far as
/// possible.
///
/// Fails with JMeter's exception and message for an invalid body.
pub(super) fn decoded<'a>(reply: &Reply<'a>) -> Result<Cow<'a, [u8]>, Bad> {
    let mut body = Cow::Borrowed(reply.body);
    let is_cut = (reply.body.len() as u64) < reply.body_bytes;
    let named = header_values(reply.headers, "Content-Encoding");
    let names: Vec<String> = named
        .flat_map(|value| {
            let each = value
                .split(',')
                .map(|name| name.trim().to_ascii_lowercase());
            each.collect::<Vec<_>>()
        })
        .take(MOST_ENCODINGS)
        .collect();
    for name in names.iter().rev() {
        if body.is_empty() {
            break;
        }
        let undone = match name.as_str() {
            "gzip" | "x-gzip" => (
                flate2::read::MultiGzDecoder::new(&*body).take_all(),
                (NotHttp::BadContent, "Not in GZIP format"),
            ),
            // The standard demands a zlib header, which many servers leave out.
            "deflate" if has_zlib_head(&body) => (
                flate2::read::ZlibDecoder::new(&*body).take_all(),
                (NotHttp::BadContent, "invalid block type"),
            ),
            "deflate" => (
                flate2::read::DeflateDecoder::new(&*body).take_all(),
                (NotHttp::BadContent, "invalid block type"),
            ),
            "br" => (
                brotli_decompressor::Decompressor::new(&*body, 4096).take_all(),
                (NotHttp::BadBrotli, "Brotli stream decoding failed"),
            ),
            _ => continue,
        };
        let ((bytes, failed), bad) = undone;
        match failed.filter(|_| !is_cut) {
            Some(io::ErrorKind::UnexpectedEof)
                if bad.0 == NotHttp::BadContent && !is_other(name, &body) =>
            {
                return Err((NotHttp::ContentCut, "Unexpected end of ZLIB input stream"));
            }
            Some(_) => return Err(bad),
            None => {}
        }
        body = Cow::Owned(bytes);
    }
    Ok(body)
}

/// True if the body does not begin as gzip (RFC 1952, 2.3.1).
fn is_other(name: &str, body: &[u8]) -> bool {
    name.ends_with("gzip") && !body.starts_with(&[0x1f, 0x8b])
}

/// Decodes as far as possible.
trait TakeAll: Read + Sized {
    /// The decoded bytes within the limit, and the error at which decoding ended.
    fn take_all(self) -> (Vec<u8>, Option<io::ErrorKind>) {
        let mut bytes = Vec::new();
        let read: io::Result<usize> = self.take(MOST_BYTES).read_to_end(&mut bytes);
        (bytes, read.err().map(|error| error.kind()))
    }
}

impl<R: Read> TakeAll for R {}

fn has_zlib_head(body: &[u8]) -> bool {
    match body {
        [first, second, ..] => {
            first & 0x0f == 8 && (u16::from(*first) << 8 | u16::from(*second)) % 31 == 0
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use flate2::Compression;
    use proptest::prelude::*;

    use super::*;

    fn reply<'a>(headers: &'a [u8], body: &'a [u8], whole: u64) -> Reply<'a> {
        Reply {
            body_bytes: whole,
            status: 200,
            headers,
            body,
            ..Reply::default()
        }
    }

    fn undo(encoding: &str, body: &[u8]) -> Result<Vec<u8>, Bad> {
        let headers = format!("Content-Encoding: {encoding}\r\n");
        decoded(&reply(headers.as_bytes(), body, body.len() as u64)).map(Cow::into_owned)
    }

    fn gzip(text: &[u8]) -> Vec<u8> {
        let mut to = flate2::write::GzEncoder::new(Vec::new(), Compression::fast());
        to.write_all(text).unwrap();
        to.finish().unwrap()
    }

    #[test]
    fn encodings_are_undone() {
        let zipped = gzip(b"hello");
        assert_eq!(undo("gzip", &zipped).unwrap(), b"hello");
        assert_eq!(undo("gzip, gzip", &gzip(&zipped)).unwrap(), b"hello");
        let mut zlib = flate2::write::ZlibEncoder::new(Vec::new(), Compression::fast());
        zlib.write_all(b"hello").unwrap();
        assert_eq!(undo("deflate", &zlib.finish().unwrap()).unwrap(), b"hello");
        let mut raw = flate2::write::DeflateEncoder::new(Vec::new(), Compression::fast());
        raw.write_all(b"hello").unwrap();
        assert_eq!(undo("deflate", &raw.finish().unwrap()).unwrap(), b"hello");
        // `hello` as one uncompressed block, RFC 7932.
        let brotli = [0x0b, 0x02, 0x80, b'h', b'e', b'l', b'l', b'o', 0x03];
        assert_eq!(undo("br", &brotli).unwrap(), b"hello");
        assert_eq!(undo("identity", b"hello").unwrap(), b"hello");
        assert_eq!(undo("gzip", b"").unwrap(), b"");
    }

    #[test]
    fn garbage_is_told_and_a_cut_body_gives_its_beginning() {
        let bad = Err((NotHttp::BadContent, "Not in GZIP format"));
        assert_eq!(undo("gzip", b"hello, no gzip"), bad);
        assert_eq!(undo("gzip", b"no"), bad);
        assert!(undo("br", b"\xff\xff\xff").is_err());
        let zipped = gzip(&[b'x'; 100_000]);
        let cut = &zipped[..zipped.len() / 2];
        let words = "Unexpected end of ZLIB input stream";
        assert_eq!(undo("gzip", cut), Err((NotHttp::ContentCut, words)));
        let kept = reply(b"Content-Encoding: gzip\r\n", cut, zipped.len() as u64);
        assert!(!decoded(&kept).unwrap().is_empty());
    }

    #[test]
    fn a_bomb_stays_within_the_bound() {
        let bomb = gzip(&vec![0; 80 << 20]);
        assert_eq!(undo("gzip", &bomb).unwrap().len() as u64, MOST_BYTES);
    }

    proptest! {
        #[test]
        fn no_bytes_panic(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
            for encoding in ["gzip", "deflate", "br", "br, gzip"] {
                let _ = undo(encoding, &bytes);
            }
        }
    }
}
