//! Encodes DNS queries and decodes the responses.
//!
//! ```text
//! head: number, flags, four counts │ question: name, type, class │ records …
//! ```
//!
//! Sans-I/O: the messages of RFC 1035, with the option record of RFC 6891. Queries may be for any
//! type; of responses the records are read for IPv4 addresses only ([`answer`]), or the head alone
//! ([`response`]).

use std::fmt;
use std::net::Ipv4Addr;
use std::str::FromStr;

/// Longest name, bytes on the wire.
const MOST_NAME_BYTES: usize = 255;
/// Most aliases that one answer is followed through.
const MOST_ALIASES: usize = 16;
/// Most addresses that are taken from one answer.
const MOST_ADDRESSES: usize = 64;
/// Bytes of a message's head.
pub const HEAD_BYTES: usize = 12;
/// Response code of a name that exists, and of one that does not.
pub const NO_ERROR: u8 = 0;
/// See [`NO_ERROR`].
pub const NO_SUCH_NAME: u8 = 3;
/// Type of the records that hold an address of IPv4.
const A: u16 = 1;
/// Type of the records that name an alias.
const ALIAS: u16 = 5;
/// Type of the option record (RFC 6891).
const OPTIONS: u16 = 41;
/// Flag of an option record: signatures are wanted (RFC 3225).
const SIGNATURES: u16 = 0x8000;
/// Flag of a head: the server is to ask others.
const RECURSION: u16 = 0x0100;
/// Types by their names (IANA, DNS parameters); any other is written `TYPE65280` (RFC 3597).
const TYPES: &[(&str, u16)] = &[
    ("A", A),
    ("NS", 2),
    ("CNAME", ALIAS),
    ("SOA", 6),
    ("PTR", 12),
    ("HINFO", 13),
    ("MX", 15),
    ("TXT", 16),
    ("AAAA", 28),
    ("LOC", 29),
    ("SRV", 33),
    ("NAPTR", 35),
    ("DS", 43),
    ("SSHFP", 44),
    ("RRSIG", 46),
    ("NSEC", 47),
    ("DNSKEY", 48),
    ("NSEC3", 50),
    ("TLSA", 52),
    ("CDS", 59),
    ("CDNSKEY", 60),
    ("SVCB", 64),
    ("HTTPS", 65),
    ("SPF", 99),
    ("ANY", 255),
    ("CAA", 257),
];
/// The class of records: the Internet.
const INTERNET: u16 = 1;

/// A name as it stands on the wire: labels behind their lengths, letters small, an empty label last.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Name(Vec<u8>);

/// The type of the records that a query is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct RecordType(u16);

/// A word that names no type of records.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not a valid record type: write A, AAAA, MX, … or TYPE with a number up to 65535")]
pub struct NoSuchType(String);

/// Options of a query beside its name and type.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Wishes {
    /// The server is to ask others what it does not know.
    pub recursion: bool,
    /// Largest response over UDP, bytes, told in an option record; `None` = no such record, and
    /// responses have at most 512 bytes.
    pub udp_bytes: Option<u16>,
    /// Signatures are wanted; without an option record they cannot be.
    pub signatures: bool,
}

/// The head of a response.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Response {
    /// Number of the query.
    pub number: u16,
    /// Response code: [`NO_ERROR`], [`NO_SUCH_NAME`], 2 for a server that fails, 5 for one that refuses.
    pub code: u8,
    /// It was truncated to fit.
    pub is_cut: bool,
    /// Records in its answer section.
    pub answers: u16,
}

/// The answer of a name server to a query for IPv4 addresses.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Answer {
    /// It is not an answer to this question.
    Foreign,
    /// It was truncated to fit; the question is to be repeated over TCP.
    Cut,
    /// The server refuses or fails, with this response code.
    Refused(u8),
    /// There is no such name, or it has no address.
    Nothing,
    /// Addresses, in the server's order: at least one.
    Addresses(Vec<Ipv4Addr>),
    /// Another name for the same, whose addresses it did not give.
    Alias(Name),
}

impl RecordType {
    /// Addresses of IPv4.
    pub const A: Self = Self(A);
}

impl FromStr for RecordType {
    type Err = NoSuchType;
    fn from_str(text: &str) -> Result<Self, NoSuchType> {
        let upper = text.to_ascii_uppercase();
        let known = TYPES.iter().find(|(name, _)| *name == upper);
        let number = || upper.strip_prefix("TYPE")?.parse().ok();
        let found = known.map(|(_, number)| *number).or_else(number);
        found.map(Self).ok_or_else(|| NoSuchType(text.into()))
    }
}

impl fmt::Display for RecordType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match TYPES.iter().find(|(_, number)| *number == self.0) {
            Some((name, _)) => f.write_str(name),
            None => write!(f, "TYPE{}", self.0),
        }
    }
}

impl Name {
    /// The root of all names.
    pub fn root() -> Self {
        Self(vec![0])
    }

    /// The bytes as they stand in a message.
    pub fn bytes(&self) -> &[u8] {
        &self.0
    }

    /// A name from its text. `None`: it cannot stand in a message.
    pub fn of(text: &str) -> Option<Self> {
        let mut bytes = Vec::with_capacity(text.len() + 2);
        for label in text.strip_suffix('.').unwrap_or(text).split('.') {
            let length = u8::try_from(label.len())
                .ok()
                .filter(|l| (1..64).contains(l))?;
            if !label.is_ascii() {
                return None;
            }
            bytes.push(length);
            bytes.extend(label.bytes().map(|byte| byte.to_ascii_lowercase()));
        }
        bytes.push(0);
        (bytes.len() <= MOST_NAME_BYTES).then_some(Self(bytes))
    }

    /// The name at a place of a message, and the place behind it.
    fn read(message: &[u8], at: usize) -> Option<(Self, usize)> {
        let mut bytes = Vec::new();
        let (mut at, mut least, mut behind) = (at, at, None);
        loop {
            let length = *message.get(at)?;
            match length >> 6 {
                0 => {
                    let label = message.get(at + 1..at + 1 + usize::from(length))?;
                    bytes.push(length);
                    bytes.extend(label.iter().map(u8::to_ascii_lowercase));
                    if bytes.len() > MOST_NAME_BYTES {
                        return None;
                    }
                    at += 1 + label.len();
                    if length == 0 {
                        return Some((Self(bytes), behind.unwrap_or(at)));
                    }
                }
                3 => {
                    let to = u16_at(message, at)? & 0x3fff;
                    behind = behind.or(Some(at + 2));
                    // Each pointer must lead further to the front, so there is no circle.
                    at = usize::from(to);
                    if at >= least {
                        return None;
                    }
                    least = at;
                }
                _ => return None,
            }
        }
    }
}

/// The question for the addresses of a name, under a number of its own.
pub fn question(number: u16, name: &Name) -> Vec<u8> {
    let mut message = Vec::with_capacity(HEAD_BYTES + name.0.len() + 4);
    let wishes = Wishes {
        recursion: true,
        udp_bytes: None,
        signatures: false,
    };
    query(&mut message, number, (name, RecordType::A), wishes);
    message
}

/// Appends a query for the records of a name to `message`.
pub fn query(
    message: &mut Vec<u8>,
    number: u16,
    (name, kind): (&Name, RecordType),
    wishes: Wishes,
) {
    let flags = match wishes.recursion {
        true => RECURSION,
        false => 0,
    };
    let extra = u16::from(wishes.udp_bytes.is_some());
    for field in [number, flags, 1, 0, 0, extra] {
        message.extend(field.to_be_bytes());
    }
    message.extend(&name.0);
    message.extend(kind.0.to_be_bytes());
    message.extend(INTERNET.to_be_bytes());
    if let Some(udp_bytes) = wishes.udp_bytes {
        let flags = match wishes.signatures {
            true => SIGNATURES,
            false => 0,
        };
        // The owner is the root; the code's upper bits and the version are zero; no options follow.
        message.push(0);
        for field in [OPTIONS, udp_bytes, 0, flags, 0] {
            message.extend(field.to_be_bytes());
        }
    }
}

/// Length of the question in a query made by [`query`], name, type and class; it begins at
/// [`HEAD_BYTES`].
pub fn question_bytes(name: &Name) -> usize {
    name.0.len() + 4
}

/// Reads the head of a response. `None`: the bytes are not a response. Never panics on any input.
///
/// `asked` is the question that it must repeat, upper and lower case alike. A server that could not
/// read the query may leave the question out (RFC 1035 §4.1.1, format error).
#[inline]
pub fn response(message: &[u8], asked: &[u8]) -> Option<Response> {
    let head = message.get(..HEAD_BYTES)?;
    let field = |at: usize| u16::from_be_bytes([head[at], head[at + 1]]);
    let flags = field(2);
    let code = (flags & 0xf) as u8;
    let repeats = match field(4) {
        0 => code != NO_ERROR,
        1 => {
            let question = message.get(HEAD_BYTES..HEAD_BYTES + asked.len())?;
            question.eq_ignore_ascii_case(asked)
        }
        _ => false,
    };
    let is_response = flags & 0x8000 != 0;
    (is_response && repeats).then_some(Response {
        number: field(0),
        code,
        is_cut: flags & 0x0200 != 0,
        answers: field(6),
    })
}

/// Decodes the response to a query made by [`question`]. Never panics on any input.
pub fn answer(message: &[u8], asked: &[u8]) -> Answer {
    read(message, asked).unwrap_or(Answer::Foreign)
}

/// `None`: the message is damaged, or answers another question.
fn read(message: &[u8], asked: &[u8]) -> Option<Answer> {
    let flags = u16_at(message, 2)?;
    let (is_answer, is_cut) = (flags & 0x8000 != 0, flags & 0x0200 != 0);
    if message.get(..2)? != asked.get(..2)? || !is_answer {
        return None;
    }
    let code = (flags & 0xf) as u8;
    if code != 0 && code != 3 {
        return Some(Answer::Refused(code));
    }
    let (name, at) = Name::read(message, HEAD_BYTES)?;
    let (asked_name, asked_at) = Name::read(asked, HEAD_BYTES)?;
    let kind = message.get(at..at + 4)?;
    if u16_at(message, 4)? != 1 || name != asked_name || asked.get(asked_at..) != Some(kind) {
        return None;
    }
    if is_cut {
        return Some(Answer::Cut);
    }
    let (addresses, aliases) = records(message, at + 4)?;
    Some(follow(asked_name, &addresses, &aliases))
}

/// By owner.
type Records<T> = Vec<(Name, T)>;

/// The addresses and the aliases among the answers.
fn records(message: &[u8], mut at: usize) -> Option<(Records<Ipv4Addr>, Records<Name>)> {
    let (mut addresses, mut aliases) = (Vec::new(), Vec::new());
    for _ in 0..u16_at(message, 6)? {
        let (owner, fields) = Name::read(message, at)?;
        let (kind, class) = (u16_at(message, fields)?, u16_at(message, fields + 2)?);
        let data = fields + 10;
        let bytes = usize::from(u16_at(message, fields + 8)?);
        let content = message.get(data..data + bytes)?;
        match (kind, class) {
            (A, INTERNET) => {
                let octets = <[u8; 4]>::try_from(content).ok()?;
                if addresses.len() < MOST_ADDRESSES {
                    addresses.push((owner, Ipv4Addr::from(octets)));
                }
            }
            (ALIAS, INTERNET) => {
                let (to, end) = Name::read(message, data)?;
                if end != data + bytes {
                    return None;
                }
                if aliases.len() < MOST_ALIASES {
                    aliases.push((owner, to));
                }
            }
            _ => {}
        }
        at = data + bytes;
    }
    Some((addresses, aliases))
}

/// Follows the queried name through its aliases to addresses.
fn follow(asked: Name, addresses: &Records<Ipv4Addr>, aliases: &Records<Name>) -> Answer {
    let mut name = &asked;
    for _ in 0..=MOST_ALIASES {
        let own = addresses.iter().filter(|(owner, _)| owner == name);
        let own: Vec<_> = own.map(|(_, address)| *address).collect();
        if !own.is_empty() {
            return Answer::Addresses(own);
        }
        match aliases.iter().find(|(owner, _)| owner == name) {
            Some((_, to)) => name = to,
            None if *name == asked => return Answer::Nothing,
            None => return Answer::Alias(name.clone()),
        }
    }
    // The aliases form a circle.
    Answer::Nothing
}

fn u16_at(message: &[u8], at: usize) -> Option<u16> {
    let bytes = message.get(at..at + 2)?;
    Some(u16::from_be_bytes([bytes[0], bytes[1]]))
}

/// Takes any bytes as the answer to a question: nothing may panic, and addresses come in bounds.
pub fn any_bytes(bytes: &[u8]) {
    let Some(name) = Name::of("shop.example") else {
        return;
    };
    let number = bytes
        .get(..2)
        .map_or(0, |two| u16::from_be_bytes([two[0], two[1]]));
    let asked = question(number, &name);
    let read = answer(bytes, &asked);
    if let Answer::Addresses(found) = &read {
        assert!((1..=MOST_ADDRESSES).contains(&found.len()));
    }
    let head = response(bytes, &asked[HEAD_BYTES..]);
    if head.is_none() {
        // What repeats no question is an answer to this one only when the server fails.
        assert!(!matches!(read, Answer::Addresses(_) | Answer::Cut));
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// An answer with these records behind the question, whose name stands at 12.
    fn answered(asked: &[u8], flags: u16, records: &[(&[u8], u16, &[u8])]) -> Vec<u8> {
        let mut message = asked.to_vec();
        message[2..4].copy_from_slice(&flags.to_be_bytes());
        message[6..8].copy_from_slice(&(records.len() as u16).to_be_bytes());
        for (owner, kind, content) in records {
            message.extend(*owner);
            message.extend(kind.to_be_bytes());
            message.extend([0, 1, 0, 0, 0, 60]);
            message.extend((content.len() as u16).to_be_bytes());
            message.extend(*content);
        }
        message
    }

    fn name(text: &str) -> Name {
        Name::of(text).expect("a name")
    }

    const ASKED: &[u8] = &[0xc0, 12];
    const OK: u16 = 0x8180;

    #[test]
    fn a_question_is_as_the_standard_writes_it() {
        let expected = b"\x12\x34\x01\0\0\x01\0\0\0\0\0\0\x04shop\x07example\0\0\x01\0\x01";
        assert_eq!(question(0x1234, &name("Shop.example.")), expected);
        for none in [
            "",
            ".",
            "a..b",
            "店.example",
            &"a".repeat(64),
            &"a.".repeat(200),
        ] {
            assert_eq!(Name::of(none), None, "{none}");
        }
    }

    #[test]
    fn addresses_come_in_the_servers_order_and_through_aliases() {
        let asked = question(7, &name("shop.example"));
        let two = [1, 2].map(|last| Ipv4Addr::new(127, 0, 0, last));
        let says = answered(
            &asked,
            OK,
            &[(ASKED, A, &[127, 0, 0, 1]), (ASKED, A, &[127, 0, 0, 2])],
        );
        assert_eq!(answer(&says, &asked), Answer::Addresses(two.to_vec()));
        let edge = &name("edge.net").0;
        let records: &[(&[u8], u16, &[u8])] = &[(ASKED, ALIAS, edge), (edge, A, &[127, 0, 0, 1])];
        let says = answered(&asked, OK, records);
        assert_eq!(answer(&says, &asked), Answer::Addresses(two[..1].to_vec()));
        let says = answered(&asked, OK, &records[..1]);
        assert_eq!(answer(&says, &asked), Answer::Alias(name("edge.net")));
        let circle = answered(&asked, OK, &[(ASKED, ALIAS, edge), (edge, ALIAS, ASKED)]);
        assert_eq!(answer(&circle, &asked), Answer::Nothing);
    }

    #[test]
    fn an_answer_without_addresses_says_why() {
        let asked = question(7, &name("shop.example"));
        let of = |flags| answer(&answered(&asked, flags, &[]), &asked);
        assert_eq!(of(OK), Answer::Nothing);
        assert_eq!(of(OK | 3), Answer::Nothing);
        assert_eq!(of(OK | 2), Answer::Refused(2));
        assert_eq!(of(OK | 0x200), Answer::Cut);
        assert_eq!(of(0x0100), Answer::Foreign);
        let other = question(8, &name("shop.example"));
        assert_eq!(answer(&answered(&other, OK, &[]), &asked), Answer::Foreign);
        let other = question(7, &name("bank.example"));
        assert_eq!(answer(&answered(&other, OK, &[]), &asked), Answer::Foreign);
    }

    #[test]
    fn a_query_is_as_the_standards_write_it() {
        let wishes = Wishes {
            recursion: false,
            udp_bytes: Some(1232),
            signatures: true,
        };
        let mut message = Vec::new();
        let kind: RecordType = "aaaa".parse().expect("a type");
        query(&mut message, 0x1234, (&Name::root(), kind), wishes);
        let expected = b"\x12\x34\0\0\0\x01\0\0\0\0\0\x01\0\0\x1c\0\x01\
            \0\0\x29\x04\xd0\0\0\x80\0\0\0";
        assert_eq!(message, expected);
    }

    #[test]
    fn types_are_read_as_they_are_printed() {
        for (text, printed) in [
            ("mx", "MX"),
            ("TYPE65", "HTTPS"),
            ("type65280", "TYPE65280"),
        ] {
            let kind: RecordType = text.parse().expect("a type");
            assert_eq!(kind.to_string(), printed);
        }
        for wrong in ["", "B", "TYPE", "TYPE65536", "TYPE-1"] {
            assert!(wrong.parse::<RecordType>().is_err(), "{wrong}");
        }
    }

    #[test]
    fn the_head_of_a_response_is_read_when_it_repeats_the_question() {
        let asked = question(7, &name("shop.example"));
        let question = &asked[HEAD_BYTES..];
        let says = answered(&asked, OK | 0x0203, &[(ASKED, A, &[127, 0, 0, 1])]);
        let head = response(&says, question).expect("a response");
        assert_eq!(
            (head.number, head.code, head.is_cut, head.answers),
            (7, 3, true, 1)
        );
        let shouted = answered(&asked.to_ascii_uppercase(), OK, &[]);
        assert!(response(&shouted, question).is_some());
        assert_eq!(response(&asked, question), None, "a query");
        assert_eq!(response(&says[..HEAD_BYTES + 3], question), None, "cut off");
        // A server that could not read the query repeats nothing.
        let mut bare = says[..HEAD_BYTES].to_vec();
        bare[2..6].copy_from_slice(&[0x81, 0x81, 0, 0]);
        assert_eq!(response(&bare, question).map(|head| head.code), Some(1));
        bare[3] = 0x80;
        assert_eq!(response(&bare, question), None, "an answer to what?");
    }

    proptest! {
        #[test]
        fn any_bytes_are_survived(bytes: Vec<u8>) {
            any_bytes(&bytes);
        }

        #[test]
        fn a_damaged_answer_is_survived(at in 0usize..90, byte: u8, keep in 0usize..200) {
            let asked = question(7, &name("shop.example"));
            let edge = &name("edge.net").0;
            let mut says = answered(&asked, OK, &[(ASKED, ALIAS, edge), (edge, A, &[127, 0, 0, 1])]);
            if let Some(place) = says.get_mut(at) {
                *place = byte;
            }
            says.truncate(keep);
            if let Answer::Addresses(found) = answer(&says, &asked) {
                prop_assert_eq!(found.len(), 1);
            }
        }

        #[test]
        fn names_come_back_as_they_were_written(labels in prop::collection::vec("[a-z0-9-]{1,20}", 1..6)) {
            let written = name(&labels.join("."));
            let message = question(1, &written);
            prop_assert_eq!(Name::read(&message, HEAD_BYTES), Some((written, message.len() - 4)));
        }
    }
}
