//! Messages on a pipe: the length in four bytes, then JSON.

use std::io::{self, Read, Write};

use serde::Serialize;
use serde::de::DeserializeOwned;

/// Longest message, bytes: more than a plan with its files has as text.
const MOST_BYTES: usize = 64 << 20;

/// Writes a message.
pub(super) fn write(to: &mut impl Write, message: &impl Serialize) -> io::Result<()> {
    let text = serde_json::to_vec(message)?;
    if text.len() > MOST_BYTES {
        return Err(io::ErrorKind::FileTooLarge.into());
    }
    to.write_all(&(text.len() as u32).to_le_bytes())?;
    to.write_all(&text)?;
    to.flush()
}

/// Reads a message. Errors: the pipe has ended, or what came is not a message.
pub(super) fn read<T: DeserializeOwned>(from: &mut impl Read) -> io::Result<T> {
    let mut length = [0; 4];
    from.read_exact(&mut length)?;
    let length = u32::from_le_bytes(length) as usize;
    if length > MOST_BYTES {
        return Err(io::ErrorKind::InvalidData.into());
    }
    let mut text = Vec::new();
    from.take(length as u64).read_to_end(&mut text)?;
    Ok(serde_json::from_slice(&text)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_arrive_as_they_were_and_nothing_longer_is_taken() {
        let mut pipe = Vec::new();
        write(&mut pipe, &"速度").expect("written");
        write(&mut pipe, &7).expect("written");
        let mut left = pipe.as_slice();
        assert_eq!(read::<String>(&mut left).expect("a text"), "速度");
        assert_eq!(read::<u8>(&mut left).expect("a number"), 7);
        assert!(read::<u8>(&mut left).is_err(), "the end");
        let endless = u32::MAX.to_le_bytes();
        assert!(read::<u8>(&mut endless.as_slice()).is_err());
    }
}
