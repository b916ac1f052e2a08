//! Decodes chunked response bodies (RFC 9112 §7.1).

use crate::failure::Malformed;

/// Longest line that states a chunk's size, extensions included.
const MAX_SIZE_LINE: usize = 4096;
/// Digits of the largest size that is accepted.
const MAX_DIGITS: u32 = 15;

/// State between two portions of a chunked body.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Chunks {
    stage: Stage,
    /// Size of the chunk.
    size: u64,
    /// The same while it is read, then what is left of it.
    left: u64,
    digits: u32,
    /// Bytes of the present line, or of the trailer.
    line: usize,
    trailer: usize,
    trailer_limit: usize,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stage {
    Size,
    Extension,
    Data,
    DataEnd,
    Trailer,
    Done,
}

/// The first element of a portion of bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Piece {
    /// This many bytes of framing.
    Framing(usize),
    /// This many bytes of the body.
    Data(usize),
    /// This many bytes of framing, which end the body.
    End(usize),
}

impl Chunks {
    /// Before the first chunk.
    pub fn new(trailer_limit: usize) -> Self {
        Self {
            stage: Stage::Size,
            size: 0,
            left: 0,
            digits: 0,
            line: 0,
            trailer: 0,
            trailer_limit,
        }
    }

    /// Says what `bytes`, which is not empty, begins with.
    ///
    /// Errors: a size that is none, a chunk longer than its size, a trailer beyond the bound.
    pub fn next(&mut self, bytes: &[u8]) -> Result<Piece, Malformed> {
        if self.stage == Stage::Data {
            let here = usize::try_from(self.left).map_or(bytes.len(), |left| left.min(bytes.len()));
            self.left -= here as u64;
            if self.left == 0 {
                self.stage = Stage::DataEnd;
            }
            return Ok(Piece::Data(here));
        }
        for (index, byte) in bytes.iter().enumerate() {
            self.framing(*byte)?;
            match self.stage {
                Stage::Done => return Ok(Piece::End(index + 1)),
                Stage::Data => return Ok(Piece::Framing(index + 1)),
                _ => {}
            }
        }
        Ok(Piece::Framing(bytes.len()))
    }

    /// Size of the chunk in the middle of which it stands, and the bytes of it that came.
    pub fn cut(&self) -> Option<(u64, u64)> {
        (self.stage == Stage::Data).then_some((self.size, self.size - self.left))
    }

    fn framing(&mut self, byte: u8) -> Result<(), Malformed> {
        match self.stage {
            Stage::Size => match (char::from(byte).to_digit(16), byte) {
                (Some(digit), _) if self.digits < MAX_DIGITS => {
                    self.left = self.left * 16 + u64::from(digit);
                    self.digits += 1;
                }
                (_, b'\n') if self.digits > 0 => self.size_is_known(),
                (_, b';' | b' ' | b'\t' | b'\r') if self.digits > 0 => {
                    self.stage = Stage::Extension;
                }
                _ => return Err(Malformed::Chunk),
            },
            Stage::Extension => {
                self.line += 1;
                match byte {
                    b'\n' => self.size_is_known(),
                    _ if self.line > MAX_SIZE_LINE => return Err(Malformed::Chunk),
                    _ => {}
                }
            }
            Stage::DataEnd => match byte {
                b'\r' if self.line == 0 => self.line = 1,
                b'\n' => self.begin_size(),
                _ => return Err(Malformed::ChunkEnd),
            },
            Stage::Trailer => self.trailer(byte)?,
            Stage::Data | Stage::Done => {}
        }
        Ok(())
    }

    fn begin_size(&mut self) {
        self.stage = Stage::Size;
        (self.left, self.digits, self.line) = (0, 0, 0);
    }

    fn size_is_known(&mut self) {
        self.line = 0;
        self.size = self.left;
        self.stage = match self.left {
            0 => Stage::Trailer,
            _ => Stage::Data,
        };
    }

    fn trailer(&mut self, byte: u8) -> Result<(), Malformed> {
        self.trailer += 1;
        match byte {
            b'\n' if self.line == 0 => self.stage = Stage::Done,
            b'\n' => self.line = 0,
            b'\r' => {}
            _ => self.line += 1,
        }
        match self.trailer > self.trailer_limit {
            true => Err(Malformed::TrailerTooLong),
            false => Ok(()),
        }
    }
}
