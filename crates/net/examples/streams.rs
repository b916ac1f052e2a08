//! Measures what the ways to send, receive and wait cost on this machine.
//!
//! ```text
//! cargo run --release -p sokudo-net --example streams           # everything
//! cargo run --release -p sokudo-net --example streams tcp shm   # these kinds only
//! ```
//!
//! Sends bulk bytes over loopback in every way, then sends single messages to and fro over every
//! kind of stream in every way of waiting. Prints medians of rounds that take turns, so that a busy
//! machine disturbs all alike.

use std::error::Error;
use std::io::{Read as _, Write as _};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::thread;
use std::time::{Duration, Instant};

use sokudo_net::stream::{Connector, Endpoint, Listener, Stream, StreamKind, StreamOptions};
use sokudo_net::tcp::bulk::{Achieved, BulkReceiver, BulkSender, ReceivePath, SendPath};
use sokudo_net::tls::Identity;
use sokudo_net::unix::Name;
use sokudo_net::wait::Wait;

const ROUNDS: usize = 5;
const BULK_TIME: Duration = Duration::from_millis(500);
const MESSAGES: u32 = 5_000;
const BOUND: Duration = Duration::from_secs(30);

type Anything<T> = Result<T, Box<dyn Error>>;

fn main() -> Anything<()> {
    let kinds: Vec<StreamKind> = std::env::args()
        .skip(1)
        .map(|kind| kind.parse())
        .collect::<Result<_, _>>()?;
    if !kinds.is_empty() {
        return streams(&kinds);
    }
    bulk()?;
    println!();
    streams(&StreamKind::ALL)
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

fn bulk() -> Anything<()> {
    let ways: Vec<_> = SendPath::ALL
        .into_iter()
        .flat_map(|send| ReceivePath::ALL.map(|receive| (send, receive)))
        .collect();
    let mut rates = vec![Vec::new(); ways.len()];
    let mut last = vec![None; ways.len()];
    for _ in 0..ROUNDS {
        for (index, (send, receive)) in ways.iter().enumerate() {
            let (rate, achieved) = bulk_once(*send, *receive)?;
            rates[index].push(rate);
            last[index] = Some(achieved);
        }
    }
    let plain = median(rates[0].clone());
    println!("bulk over loopback      Gb/s   ratio");
    for (index, (send, receive)) in ways.iter().enumerate() {
        let rate = median(rates[index].clone());
        let copied = last[index].is_some_and(|achieved: Achieved| achieved.copied_after_all());
        let note = if copied { "   copied after all" } else { "" };
        println!(
            "{:<9} {:<9} {:>8.1} {:>7.2}{note}",
            send.name(),
            receive.name(),
            rate,
            rate / plain
        );
    }
    Ok(())
}

/// Gigabits per second that one connection delivers.
fn bulk_once(send: SendPath, receive: ReceivePath) -> Anything<(f64, Achieved)> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
    let near = TcpStream::connect(listener.local_addr()?)?;
    let far = listener.accept()?.0;
    near.set_write_timeout(Some(BOUND))?;
    far.set_read_timeout(Some(BOUND))?;
    let sending = thread::spawn(move || -> std::io::Result<Achieved> {
        let mut sender = BulkSender::new(&near, send, &vec![1; 1 << 20])?;
        let begun = Instant::now();
        while begun.elapsed() < BULK_TIME {
            sender.send(256 * 1024)?;
        }
        sender.finish(BOUND)
    });
    let mut receiver = BulkReceiver::new(&far, receive, 1 << 20)?;
    let begun = Instant::now();
    let mut bytes = 0;
    loop {
        match receiver.receive()? {
            0 => break,
            n => bytes += n,
        }
    }
    let rate = bytes as f64 * 8.0 / begun.elapsed().as_secs_f64() / 1e9;
    let achieved = sending.join().map_err(|_| "the sender failed")??;
    Ok((rate, achieved))
}

fn options() -> Anything<StreamOptions> {
    Ok(StreamOptions {
        identity: Some(Identity::ephemeral("example")?),
        ..StreamOptions::default()
    })
}

fn endpoint(kind: StreamKind) -> Endpoint {
    match kind.same_host() {
        true => Endpoint::Local(Name::Abstract(format!(
            "sokudo-example-{}",
            std::process::id()
        ))),
        false => Endpoint::Ip((Ipv4Addr::LOCALHOST, 0).into()),
    }
}

fn pair(kind: StreamKind) -> Anything<(Box<dyn Stream>, Box<dyn Stream>)> {
    let options = options()?;
    let listener = Listener::bind(kind, &endpoint(kind), &options)?;
    let there = listener.local()?;
    let calling = thread::spawn(move || {
        let connector = Connector::new(kind, options)?;
        connector.connect(&there, BOUND)
    });
    let incoming = listener.accept(BOUND)?.ok_or("no connection came")?;
    let far = incoming.establish(BOUND)?;
    let near = calling.join().map_err(|_| "the caller failed")??;
    Ok((near.stream, far))
}

fn streams(kinds: &[StreamKind]) -> Anything<()> {
    let waits = [Wait::Block, Wait::Epoll, Wait::Spin { for_ns: u64::MAX }];
    println!("64 B to and fro, µs");
    println!(
        "         {:>8} {:>8} {:>8}   bulk Gb/s",
        "block", "epoll", "spin"
    );
    for &kind in kinds {
        let mut line = format!("{kind:<8}");
        for wait in waits {
            let times: Result<Vec<f64>, _> = (0..ROUNDS).map(|_| to_and_fro(kind, wait)).collect();
            match times {
                Ok(times) => line += &format!(" {:>8.2}", median(times)),
                Err(_) => line += &format!(" {:>8}", "-"),
            }
        }
        let rates: Anything<Vec<f64>> = (0..ROUNDS).map(|_| through(kind)).collect();
        line += &match rates {
            Ok(rates) => format!(" {:>11.1}", median(rates)),
            Err(why) => format!("   {why}"),
        };
        println!("{line}");
    }
    Ok(())
}

/// Microseconds per round trip.
fn to_and_fro(kind: StreamKind, wait: Wait) -> Anything<f64> {
    let (mut near, mut far) = pair(kind)?;
    near.set_wait(wait)?;
    far.set_wait(wait)?;
    let answering = thread::spawn(move || -> std::io::Result<()> {
        let mut message = [0; 64];
        for _ in 0..MESSAGES {
            far.read_exact(&mut message)?;
            far.write_all(&message)?;
        }
        Ok(())
    });
    let mut message = [7; 64];
    let begun = Instant::now();
    for _ in 0..MESSAGES {
        near.write_all(&message)?;
        near.read_exact(&mut message)?;
    }
    let spent = begun.elapsed();
    answering
        .join()
        .map_err(|_| "the answering side failed")??;
    Ok(spent.as_secs_f64() * 1e6 / f64::from(MESSAGES))
}

/// Gigabits per second through the common interface.
fn through(kind: StreamKind) -> Anything<f64> {
    let (mut near, mut far) = pair(kind)?;
    let sending = thread::spawn(move || -> std::io::Result<()> {
        let block = vec![1; 128 * 1024];
        let begun = Instant::now();
        while begun.elapsed() < BULK_TIME {
            near.write_all(&block)?;
        }
        Ok(())
    });
    let mut buffer = vec![0; 256 * 1024];
    let begun = Instant::now();
    let mut bytes = 0;
    loop {
        match far.read(&mut buffer)? {
            0 => break,
            n => bytes += n,
        }
    }
    let rate = bytes as f64 * 8.0 / begun.elapsed().as_secs_f64() / 1e9;
    sending.join().map_err(|_| "the sender failed")??;
    Ok(rate)
}
