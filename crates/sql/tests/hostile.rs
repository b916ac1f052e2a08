//! Servers that do not behave: each call ends with an error, in bounded time and memory.

use std::io::{Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::thread;
use std::time::Duration;

use sokudo_sql::{Class, Session, SqlError, Target};

const BOUND: Duration = Duration::from_secs(30);

/// One message of a server.
fn message(tag: u8, body: &[u8]) -> Vec<u8> {
    let length = u32::try_from(body.len() + 4).expect("a short body");
    [&[tag], &length.to_be_bytes()[..], body].concat()
}

/// What a server says once somebody asks for a session without a password.
fn welcome() -> Vec<u8> {
    let ready = message(b'Z', b"I");
    [message(b'R', &[0; 4]), message(b'K', &[7; 8]), ready].concat()
}

/// Answers the first connection: what it `begins` with, and `says` for each thing that it hears, then the end. Returns
/// its port, too.
fn answers(begins: Vec<u8>, says: Vec<Vec<u8>>) -> (u16, thread::JoinHandle<()>) {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let port = listener.local_addr().expect("an address").port();
    let answering = thread::spawn(move || {
        let (mut stream, _) = listener.accept().expect("a session");
        let _ = stream.write_all(&begins);
        for answer in says {
            let mut heard = [0; 4096];
            if stream.read(&mut heard).is_ok_and(|count| count > 0) {
                // It may be gone: that is the point of some tests.
                let _ = stream.write_all(&answer);
            }
        }
        end(&stream);
    });
    (port, answering)
}

/// A server of PostgreSQL's protocol, which waits for its client to begin.
fn server(says: Vec<Vec<u8>>) -> (Target, thread::JoinHandle<()>) {
    let (port, answering) = answers(Vec::new(), says);
    let target = format!("host=127.0.0.1 port={port} user=u password=p sslmode=disable");
    (target.parse().expect("a target"), answering)
}

/// Closes a connection in order, so that what was sent arrives.
fn end(stream: &TcpStream) {
    let _ = stream.shutdown(std::net::Shutdown::Write);
    let _ = stream.set_read_timeout(Some(BOUND));
    while (&*stream).read(&mut [0; 4096]).is_ok_and(|count| count > 0) {}
}

/// The error of a session, or of its first statement.
fn error(says: Vec<Vec<u8>>) -> SqlError {
    let (target, answering) = server(says);
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .expect("a runtime");
    let failed = runtime.block_on(async {
        let mut session = Session::connect(&target, BOUND).await?;
        let statement = session.prepare("select 1").await?;
        session
            .query(&statement, &[], |row| row.int(0).map(drop))
            .await
    });
    answering.join().expect("the server");
    failed.expect_err("an error")
}

#[test]
fn what_is_not_the_protocol_ends_the_session() {
    let odd = [
        b"HTTP/1.1 400 Bad Request\r\n\r\n".to_vec(),
        message(b'D', b""),
        [&b"R"[..], &2_u32.to_be_bytes()].concat(),
        [&b"R"[..], &u32::MAX.to_be_bytes()].concat(),
        message(b'R', &[0]),
        Vec::new(),
    ];
    for says in odd {
        let failed = error(vec![says.clone()]);
        assert!(failed.is_lost, "{says:?}: {failed}");
        assert_eq!(failed.class, Class::Connection, "{says:?}: {failed}");
    }
}

#[test]
fn columns_and_rows_must_be_whole() {
    let ready = || message(b'Z', b"I");
    let column = |count: u16| {
        let rest = [0, 0, 0, 0, 0, 0, 0, 0, 0, 23, 0, 4, 0, 0, 0, 0, 0, 0];
        [&count.to_be_bytes()[..], b"n\0", &rest].concat()
    };
    for count in [9, u16::MAX] {
        let short = vec![welcome(), [message(b'T', &column(count)), ready()].concat()];
        assert!(error(short).is_lost);
    }
    let described = || [message(b'T', &column(1)), ready()].concat();
    for row in [
        &b"\0\x01\0\0\0\x09abc"[..],
        b"\0\x01\x7f\xff\xff\xffabc",
        b"\xff\xff\0\0\0\x03abc",
        b"\0\x05",
        b"",
        b"\0\x01\0\0\0\x03abc",
    ] {
        let answer = [message(b'D', row), message(b'C', b"SELECT 1\0"), ready()].concat();
        let failed = error(vec![welcome(), described(), answer]);
        assert!(!failed.message.is_empty());
    }
}

#[test]
fn the_last_words_of_a_server_are_its_error() {
    let said = b"SFATAL\0VFATAL\0C57P01\0Mthe administrator ends it\0\0";
    let failed = error(vec![welcome(), message(b'E', said)]);
    assert_eq!(failed.code.as_deref(), Some("57P01"), "{failed}");
    assert!(failed.is_lost && failed.message.contains("administrator"));
}

#[test]
fn a_server_cannot_fill_the_memory_with_one_message() {
    let announced = |tag: u8, bytes: u32| [&[tag][..], &bytes.to_be_bytes()].concat();
    let described = || {
        let column = b"\0\x01n\0\0\0\0\0\0\0\0\0\0\x19\0\x04\0\0\0\0\0\0";
        [message(b'T', column), message(b'Z', b"I")].concat()
    };
    for says in [
        vec![announced(b'R', 1 << 30)],
        vec![announced(b'S', (64 << 10) + 5)],
        vec![welcome(), announced(b'T', 1 << 30)],
        vec![welcome(), announced(b'T', (64 << 20) + 5)],
        vec![welcome(), described(), announced(b'D', 1 << 30)],
    ] {
        let failed = error(says);
        assert!(failed.is_lost, "{failed}");
        assert!(failed.message.contains("longer than any"), "{failed}");
    }
}

#[test]
fn a_server_cannot_fill_the_memory_with_rows() {
    let column = b"\0\x01n\0\0\0\0\0\0\0\0\0\0\x19\0\x04\0\0\0\0\0\0";
    let described = [message(b'T', column), message(b'Z', b"I")].concat();
    let row = message(b'D', &[&b"\0\x01\0\x10\0\0"[..], &[b'x'; 1 << 20]].concat());
    let ready = [message(b'C', b"SELECT 80\0"), message(b'Z', b"I")].concat();
    let (target, answering) = server(vec![welcome(), described, [row.repeat(80), ready].concat()]);
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .expect("a runtime");
    let failed = runtime.block_on(async {
        let mut session = Session::connect(&target, BOUND).await?;
        session.rows("select n from t", &[]).await
    });
    answering.join().expect("the server");
    let failed = failed.expect_err("too many rows");
    assert!(failed.message.contains("more rows"), "{failed}");
}

/// A packet of MariaDB's protocol.
fn packet(number: u8, body: &[u8]) -> Vec<u8> {
    let length = u32::try_from(body.len()).expect("a short body");
    [&length.to_le_bytes()[..3], &[number], body].concat()
}

/// What a server of MariaDB's protocol begins with; it has no TLS.
fn greeting() -> Vec<u8> {
    let body = [
        &b"\x0a8.0.30\0\x07\0\0\x0012345678\0\xff\xf7\x21\x02\0\xf7\x81\x15"[..],
        &[0; 10],
        b"123456789012\0mysql_native_password\0",
    ];
    packet(0, &body.concat())
}

/// The login is fine.
fn fine() -> Vec<u8> {
    packet(2, b"\0\0\0\x02\0\0\0")
}

/// A session of MariaDB's protocol on a server that begins, and its first statement as a text.
fn error_of_mysql(says: Vec<Vec<u8>>) -> SqlError {
    let (port, answering) = answers(greeting(), says);
    let failed = of_mysql(port, async |session| session.batch("select 1").await);
    answering.join().expect("the server");
    failed
}

/// The error of a session at this port, or of what is done with it.
fn of_mysql(port: u16, work: impl AsyncFnOnce(&mut Session) -> Result<(), SqlError>) -> SqlError {
    let target = format!("mysql://u:p@127.0.0.1:{port}/d?ssl-mode=DISABLED");
    let target: Target = target.parse().expect("a target");
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .expect("a runtime");
    let failed = runtime.block_on(async {
        let mut session = Session::connect(&target, BOUND).await?;
        work(&mut session).await
    });
    failed.expect_err("an error")
}

/// How a result of so many columns begins.
fn announced(count: u64) -> Vec<u8> {
    packet(1, &[&[0xfe][..], &count.to_le_bytes()].concat())
}

/// A server whose memory of a count is reserved at once would end this process, and no test could say so.
#[test]
fn counts_of_columns_that_cannot_be_end_the_session_with_their_number() {
    for count in [1 << 16, 1 << 31, 1 << 40, u64::MAX] {
        let failed = error_of_mysql(vec![fine(), announced(count)]);
        assert!(failed.is_lost, "{failed}");
        let says = format!("a result of {count} columns");
        assert!(failed.message.contains(&says), "{failed}");
    }
    // A prepared statement tells its columns twice: when it is prepared in two bytes, and when it is executed.
    let prepared = packet(1, &[0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
    let (port, answering) = answers(greeting(), vec![fine(), prepared, announced(1 << 40)]);
    let failed = of_mysql(port, async |session| {
        session.rows("select 1", &[]).await.map(drop)
    });
    answering.join().expect("the server");
    assert!(
        failed.message.contains("a result of 1099511627776"),
        "{failed}"
    );
}

#[test]
fn keys_and_answers_that_cannot_be_end_the_session() {
    let change = packet(2, b"\xfecaching_sha2_password\x0012345678901234567890\0");
    let more = packet(4, b"\x01\x04");
    let key = b"\x01-----BEGIN PUBLIC KEY-----\nAAAA\n-----END PUBLIC KEY-----\n";
    let long = [&[1][..], &[b'A'; 9000]].concat();
    for says in [
        vec![change.clone(), more.clone(), packet(6, key)],
        vec![change.clone(), more, packet(6, &long)],
        vec![change.clone(), packet(4, &change[4..])],
        vec![packet(2, b"\xfe")],
        vec![packet(2, b"\xfemysql_clear_password\0")],
        vec![packet(7, b"\0\0\0\x02\0\0\0")],
        vec![b"HTTP/1.1 400 Bad Request\r\n\r\n".to_vec()],
        vec![fine(), packet(1, b"")],
        vec![fine(), packet(1, b"\xfb/etc/passwd")],
        vec![fine(), packet(1, b"\0")],
        vec![fine(), [packet(1, b"\x01"), packet(2, b"\x03def")].concat()],
        // 16 MiB of a login, and 64 MiB of an answer, in their first bytes only.
        vec![vec![0xff, 0xff, 0xff, 2]],
    ] {
        let failed = error_of_mysql(says.clone());
        assert!(failed.is_lost, "{says:?}: {failed}");
        assert_eq!(failed.class, Class::Connection, "{says:?}: {failed}");
    }
}

/// Rows are for who asks for them: anything else ends the session, and nobody waits for an answer to them.
#[test]
fn rows_that_a_server_does_not_ask_for_end_the_session() {
    let done = || packet(1, b"\0\0\0\x02\0\0\0");
    for odd in [done(), packet(1, b"\x01"), packet(1, b""), announced(1)] {
        let (port, answering) = answers(greeting(), vec![fine(), done(), odd.clone()]);
        let failed = of_mysql(port, async |session| {
            let load = session.load("t", &["n"], |row| {
                row.int(1).end();
                false
            });
            load.await.map(drop)
        });
        answering.join().expect("the server");
        assert!(failed.is_lost, "{odd:?}: {failed}");
    }
}

#[test]
fn what_arrives_before_tls_is_not_taken_for_what_is_encrypted() {
    let mut begins = greeting();
    // It offers TLS: the third byte of the lower half of its capabilities.
    let capabilities = 4 + 1 + 7 + 4 + 8 + 1;
    begins[capabilities + 1] |= 8;
    begins.extend(fine());
    let (port, answering) = answers(begins, vec![]);
    let target = format!("mysql://u:p@127.0.0.1:{port}/d?ssl-mode=REQUIRED");
    let target: Target = target.parse().expect("a target");
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .expect("a runtime");
    let failed = runtime.block_on(async { Session::connect(&target, BOUND).await.map(drop) });
    let failed = failed.expect_err("what was not asked for");
    answering.join().expect("the server");
    assert!(failed.message.contains("not one of MariaDB"), "{failed}");
}

/// The definition of a column with a name of so many bytes.
fn definition(number: u8, name_bytes: usize) -> Vec<u8> {
    let name = [
        &[0xfd][..],
        &(name_bytes as u32).to_le_bytes()[..3],
        &vec![b'x'; name_bytes],
    ];
    let rest = b"\x0c\x21\0\xff\0\0\0\xfd\0\0\0\0\0";
    packet(
        number,
        &[&b"\x03def\0\0\0"[..], &name.concat(), b"\0", rest].concat(),
    )
}

/// A server that sends its answers to all but the last thing it hears, and then parts of its `last` without
/// end; how much of it was taken.
fn endless(
    says: Vec<Vec<u8>>,
    last: impl Fn(u64) -> Vec<u8> + Send + 'static,
) -> (u16, thread::JoinHandle<u64>) {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let port = listener.local_addr().expect("an address").port();
    let answering = thread::spawn(move || {
        let (mut stream, _) = listener.accept().expect("a session");
        for answer in says {
            stream.write_all(&answer).expect("a client");
            let mut heard = [0; 4096];
            assert!(stream.read(&mut heard).is_ok_and(|count| count > 0));
        }
        let mut taken = 0;
        for number in 0_u64.. {
            let part = last(number);
            if stream.write_all(&part).is_err() {
                break;
            }
            taken += part.len() as u64;
        }
        taken
    });
    (port, answering)
}

#[test]
fn a_server_of_mysql_cannot_fill_the_memory_with_columns() {
    let begins = vec![greeting(), fine()];
    let (port, answering) = endless(begins, |number| match number {
        // A count of columns that fits, then their definitions.
        0 => [packet(1, &[0xfc, 0xff, 0xff]), definition(2, 60_000)].concat(),
        number => definition((number + 2) as u8, 60_000),
    });
    let failed = of_mysql(port, async |session| session.batch("select 1").await);
    assert!(
        failed.is_lost && failed.message.contains("than memory is kept for"),
        "{failed}"
    );
    let taken = answering.join().expect("the server");
    // 16 MiB, and what the sockets hold.
    assert!(taken < 64 << 20, "{taken} B were taken");
}

#[test]
fn a_server_of_mysql_cannot_fill_the_memory_with_a_row() {
    let begins = vec![greeting(), fine()];
    let part = |number: u64| {
        let head = [0xff, 0xff, 0xff, number as u8];
        [&head[..], &vec![0; 0xff_ffff]].concat()
    };
    let (port, answering) = endless(begins, move |number| match number {
        0 => [packet(1, &[1]), definition(2, 3)].concat(),
        number => part(number + 2),
    });
    let failed = of_mysql(port, async |session| session.batch("select 1").await);
    assert!(
        failed.is_lost && failed.message.contains("longer than any"),
        "{failed}"
    );
    let taken = answering.join().expect("the server");
    assert!(taken < 128 << 20, "{taken} B were taken");
}

#[test]
fn a_server_cannot_ask_for_hours_of_hashing() {
    let mechanism = [&10_u32.to_be_bytes()[..], b"SCRAM-SHA-256\0\0"].concat();
    let rounds = [&11_u32.to_be_bytes()[..], b"r=anything,s=QUJD,i=4294967295"].concat();
    let failed = error(vec![message(b'R', &mechanism), message(b'R', &rounds)]);
    assert!(failed.is_lost, "{failed}");
}

#[test]
fn a_server_must_prove_that_it_knows_the_password_as_well() {
    let mechanism = [&10_u32.to_be_bytes()[..], b"SCRAM-SHA-256\0\0"].concat();
    let failed = error(vec![message(b'R', &mechanism), welcome()]);
    assert!(failed.is_lost, "{failed}");
}
