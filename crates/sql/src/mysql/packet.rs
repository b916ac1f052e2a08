//! Packets of a server, as far as they are read here. They are read whole, and not beyond their ends.

use mysql_common::io::ParseBuf;
use mysql_common::packets::Column;

use super::failure::{Failure, ServerError};

/// First bytes of packets.
pub(super) mod first {
    pub(in super::super) const OK: u8 = 0;
    /// More about an authentication.
    pub(in super::super) const MORE: u8 = 1;
    /// The server asks for a file.
    pub(in super::super) const FILE: u8 = 0xfb;
    /// Rows end, or another plugin is asked for.
    pub(in super::super) const END: u8 = 0xfe;
    pub(in super::super) const ERROR: u8 = 0xff;
}

/// Most columns of a result: a table has 4,096 at most, and a prepared statement tells its own in two bytes.
const MOST_COLUMNS: u64 = 65_535;
/// Length of a part of a packet that is continued.
const WHOLE_PART: usize = 0xff_ffff;
/// More results follow behind this one.
const MORE_RESULTS: u16 = 8;
/// SQLSTATE of an error that has none.
const NO_STATE: &str = "HY000";

/// Fields of a packet, from its beginning.
struct Fields<'p>(&'p [u8]);

impl<'p> Fields<'p> {
    fn take(&mut self, count: usize) -> Result<&'p [u8], Failure> {
        let (taken, rest) = self.0.split_at_checked(count).ok_or(Failure::Garbled)?;
        self.0 = rest;
        Ok(taken)
    }

    /// A number of so many bytes, the lowest first.
    fn bytes(&mut self, count: usize) -> Result<u64, Failure> {
        let taken = self.take(count)?.iter().rev();
        Ok(taken.fold(0, |sum, byte| (sum << 8) | u64::from(*byte)))
    }

    /// A number that says how long it is.
    fn number(&mut self) -> Result<u64, Failure> {
        match self.bytes(1)? {
            0xfc => self.bytes(2),
            0xfd => self.bytes(3),
            0xfe => self.bytes(8),
            small @ 0..=0xfa => Ok(small),
            _ => Err(Failure::Garbled),
        }
    }

    fn two(&mut self) -> Result<u16, Failure> {
        Ok(self.bytes(2)? as u16)
    }
}

/// End of a statement, or of the rows of a result.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Done {
    /// Rows that the statement changed.
    pub(crate) changed: u64,
    /// Warnings that the server has for it.
    pub(crate) warnings: u16,
    /// Another result follows.
    pub(crate) has_more: bool,
}

/// Errors: the packet is one; the server reports it.
pub(super) fn refusal(packet: &[u8]) -> Result<(), Failure> {
    match packet {
        [first::ERROR, rest @ ..] => Err(Failure::Server(Box::new(server_error(rest)?))),
        _ => Ok(()),
    }
}

fn server_error(body: &[u8]) -> Result<ServerError, Failure> {
    let mut fields = Fields(body);
    let code = fields.two()?;
    let state = match fields.0 {
        // Without it before the session is open.
        [b'#', ..] => String::from_utf8_lossy(&fields.take(6)?[1..]).into_owned(),
        _ => NO_STATE.into(),
    };
    Ok(ServerError {
        code,
        state,
        message: String::from_utf8_lossy(fields.0).into_owned(),
    })
}

/// Reads an OK, or the end of rows that has its form.
pub(super) fn done(packet: &[u8]) -> Result<Done, Failure> {
    let mut fields = Fields(packet);
    fields.take(1)?;
    let changed = fields.number()?;
    let _inserted = fields.number()?;
    let status = fields.two()?;
    Ok(Done {
        changed,
        warnings: fields.two()?,
        has_more: status & MORE_RESULTS != 0,
    })
}

/// The end of rows; `None` for a row. Older servers end with a form of their own.
pub(super) fn end_of_rows(packet: &[u8], is_old: bool) -> Result<Option<Done>, Failure> {
    let is_end = packet.first() == Some(&first::END);
    match (is_end, is_old) {
        (true, false) if packet.len() < WHOLE_PART => done(packet).map(Some),
        (true, true) if packet.len() < 8 => {
            let mut fields = Fields(packet);
            fields.take(3)?;
            let has_more = fields.two()? & MORE_RESULTS != 0;
            Ok(Some(Done {
                changed: 0,
                warnings: 0,
                has_more,
            }))
        }
        _ => Ok(None),
    }
}

/// How a result begins: number of its columns, and whether their definitions follow.
///
/// Errors: more columns than any result has.
pub(super) fn result(packet: &[u8], may_omit: bool) -> Result<(u16, bool), Failure> {
    let mut fields = Fields(packet);
    let count = fields.number()?;
    if count > MOST_COLUMNS {
        let says = format!("the server announces a result of {count} columns");
        return Err(Failure::Lost(says));
    }
    let is_omitted = may_omit && fields.0.first() == Some(&0);
    Ok((count as u16, !is_omitted))
}

/// Number of a statement, and how many columns and parameters it has.
pub(super) fn prepared(packet: &[u8]) -> Result<(u32, u16, u16), Failure> {
    let mut fields = Fields(packet);
    if fields.bytes(1)? != u64::from(first::OK) {
        return Err(Failure::Garbled);
    }
    Ok((fields.bytes(4)? as u32, fields.two()?, fields.two()?))
}

/// Definition of a column.
pub(super) fn column(packet: &[u8]) -> Result<Column, Failure> {
    ParseBuf(packet).parse(()).map_err(|_| Failure::Garbled)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn numbers_say_how_long_they_are() {
        for (bytes, expected) in [
            (&[0xfa][..], 0xfa),
            (&[0xfc, 1, 2], 0x201),
            (&[0xfd, 1, 2, 3], 0x3_0201),
            (&[0xfe, 0, 0, 0, 0, 0, 1, 0, 0], 1 << 40),
        ] {
            assert!(matches!(Fields(bytes).number(), Ok(number) if number == expected));
            assert!(Fields(&bytes[..bytes.len() - 1]).number().is_err());
        }
        for odd in [0xfb, 0xff] {
            assert!(Fields(&[odd, 0, 0, 0]).number().is_err());
        }
    }

    #[test]
    fn columns_that_no_result_has_are_refused_by_their_number() {
        assert!(matches!(
            result(&[0xfc, 0xff, 0xff], false),
            Ok((65_535, true))
        ));
        assert!(matches!(result(&[3, 0], true), Ok((3, false))));
        assert!(matches!(result(&[3, 1], true), Ok((3, true))));
        // 2^16, 2^31, 2^40 and 2^63.
        for count in [16, 31, 40, 63] {
            let packet = [&[0xfe][..], &(1_u64 << count).to_le_bytes()].concat();
            let says = match result(&packet, false) {
                Err(Failure::Lost(says)) => says,
                other => panic!("2^{count}: {other:?}"),
            };
            assert!(says.contains(&(1_u64 << count).to_string()), "{says}");
        }
    }

    #[test]
    fn rows_end_in_the_form_of_their_server() {
        let done = |changed, has_more| {
            Some(Done {
                changed,
                warnings: 0,
                has_more,
            })
        };
        let end = [0xfe, 3, 0, 8, 0, 0, 0];
        assert_eq!(end_of_rows(&end, false).ok(), Some(done(3, true)));
        assert_eq!(
            end_of_rows(&[0xfe, 0, 0, 2, 0], true).ok(),
            Some(done(0, false))
        );
        // A long row that begins with the length of its first text.
        assert_eq!(
            end_of_rows(&[0xfe, 0, 0, 0, 0, 0, 1, 0, 0], true).ok(),
            Some(None)
        );
        assert_eq!(end_of_rows(&[0, 0], false).ok(), Some(None));
    }

    #[test]
    fn errors_have_a_state_once_the_session_is_open() {
        let said = |packet: &[u8]| match refusal(packet) {
            Err(Failure::Server(said)) => (said.code, said.state, said.message),
            other => panic!("{other:?}"),
        };
        assert_eq!(
            said(b"\xff\x7a\x04#42S02no"),
            (1146, "42S02".into(), "no".into())
        );
        assert_eq!(
            said(b"\xff\x10\x04too many"),
            (1040, "HY000".into(), "too many".into())
        );
        assert!(refusal(b"\0").is_ok() && refusal(b"").is_ok());
        assert!(matches!(refusal(b"\xff\x7a"), Err(Failure::Garbled)));
    }

    proptest! {
        #[test]
        fn no_packet_is_read_beyond_its_end(packet in prop::collection::vec(any::<u8>(), 0..80)) {
            let _ = (done(&packet), end_of_rows(&packet, true), end_of_rows(&packet, false));
            let _ = (result(&packet, true), prepared(&packet), refusal(&packet), column(&packet));
        }
    }
}
