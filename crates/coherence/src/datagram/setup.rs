//! Sockets that are bound before a test begins.

use std::io;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::time::Duration;

use sokudo_model::{Refusal, Text};
use sokudo_net::udp::{self, MAX_PAYLOAD_BYTES, Receiver, SendMode, Sender};

use super::event::Event;
use super::listener::{BookSettings, Input, Links};
use super::mtu;
use super::options::{
    CoherenceDatagramOptions, HostPort, LogTarget, Provider, ReportInterval, operator,
};
use super::protocol::DEFAULT_PORT;
use super::publisher::{Out, Peer, Shape};
use super::report::{ListenerStart, PublisherStart};
use super::tcp::{Inlet, Outlet};
use super::text;

/// Longest wait of one receive call: how soon silence, an interval's end or the test's is noticed.
const RECEIVE_BOUND: Duration = Duration::from_millis(20);

/// Datagrams per receive call.
const RECEIVE_BATCH: usize = 64;

/// Receive slots are longer than packets by this much, so that a longer packet shows.
const SLOT_SPARE: usize = 64;

/// MTU assumed where the system does not tell the interface's.
const ETHERNET_MTU: u32 = 1500;

/// One local address: its listener, and its publisher when there are peers.
pub struct Binding {
    /// Its address.
    pub local: SocketAddr,
    /// Its source.
    pub input: Input,
    /// Way of counting.
    pub settings: BookSettings,
    /// Receive buffer granted, bytes.
    pub granted_buffer_bytes: Option<u64>,
    /// Between its listener and its publisher.
    pub links: Links,
    /// Destinations of its publisher.
    pub peers: Vec<Peer>,
}

/// Everything bound, nothing sent.
pub struct Setup {
    /// Each local address.
    pub bindings: Vec<Binding>,
    /// Bytes per packet.
    pub packet_size: u32,
    /// Shape of the packets.
    pub shape: Shape,
    /// Rounds per second of each publisher; `None` = as fast as possible.
    pub rounds_per_s: Option<f64>,
    /// Banners and notes, in order.
    pub opening: Vec<Event>,
}

/// Resolves, binds and prepares.
///
/// Errors: operator errors for addresses, sizes and ports that cannot be.
pub fn set_up(options: &CoherenceDatagramOptions) -> Result<Setup, Refusal> {
    let peers: Vec<(HostPort, SocketAddr)> = options
        .peers
        .iter()
        .map(|peer| Ok((peer.clone(), peer.resolve()?)))
        .collect::<Result<_, Refusal>>()?;
    let locals = locals(options, &peers)?;
    let mut opening: Vec<Event> = options.notes.iter().cloned().map(Event::Note).collect();
    let packet_size = packet_size(options, &locals, &mut opening)?;
    let shape = Shape {
        sizes: options.sizes(packet_size),
        width: options.width,
        process_bytes: options.process_bytes as usize,
        payload: options.payload,
    };
    let mut bindings = Vec::new();
    for local in locals {
        bindings.push(bind(options, local, packet_size, &peers, &mut opening)?);
    }
    Ok(Setup {
        rounds_per_s: rounds_per_s(options, &shape, bindings.len(), peers.len()),
        bindings,
        packet_size,
        shape,
        opening,
    })
}

fn locals(
    options: &CoherenceDatagramOptions,
    peers: &[(HostPort, SocketAddr)],
) -> Result<Vec<SocketAddr>, Refusal> {
    if !options.local.is_empty() {
        return options.local.iter().map(HostPort::resolve).collect();
    }
    // Without a peer: towards the default route, asked with an address for documentation
    // (RFC 5737). Nothing is sent.
    let towards = peers
        .first()
        .map_or(([192, 0, 2, 1], DEFAULT_PORT).into(), |(_, peer)| *peer);
    let ip = udp::local_address_towards(towards).unwrap_or(IpAddr::V4(Ipv4Addr::LOCALHOST));
    Ok(vec![SocketAddr::new(ip, DEFAULT_PORT)])
}

/// As asked, or the interface's MTU less what the vendor takes off.
fn packet_size(
    options: &CoherenceDatagramOptions,
    locals: &[SocketAddr],
    opening: &mut Vec<Event>,
) -> Result<u32, Refusal> {
    if let Some(size) = options.packet_size {
        // Options need not have come from a command line.
        options.check_size(size)?;
        return Ok(size);
    }
    let headers = match options.provider {
        Provider::System => 48,
        Provider::Tcp => 68,
    };
    let known = locals.iter().map(|local| mtu::of_interface(local.ip()));
    let mtu = match known.collect::<Option<Vec<u32>>>() {
        Some(mtus) => mtus.into_iter().min().unwrap_or(ETHERNET_MTU),
        None => {
            opening.push(Event::Note(format!(
                "the MTU of the interface is not known: {ETHERNET_MTU} B is assumed; \
                 `-packetSize` overrides"
            )));
            ETHERNET_MTU
        }
    };
    let size = mtu.saturating_sub(headers).min(MAX_PAYLOAD_BYTES as u32);
    options.check_size(size)?;
    Ok(size)
}

/// The rate is a total over all peers and all local addresses.
fn rounds_per_s(
    options: &CoherenceDatagramOptions,
    shape: &Shape,
    bindings: usize,
    peers: usize,
) -> Option<f64> {
    let bytes_per_s = options.tx_rate_mib_per_s? * f64::from(1u32 << 20);
    let (least, most) = shape.sizes;
    let mean_size = f64::from(least + most) / 2.0;
    Some(bytes_per_s / mean_size / bindings.max(1) as f64 / peers.max(1) as f64)
}

fn bind(
    options: &CoherenceDatagramOptions,
    asked: SocketAddr,
    packet_size: u32,
    peers: &[(HostPort, SocketAddr)],
    opening: &mut Vec<Event>,
) -> Result<Binding, Refusal> {
    let (input, local, granted_buffer_bytes) = match options.provider {
        Provider::System => listen_udp(options, asked, packet_size, opening)?,
        Provider::Tcp => {
            let inlet = Inlet::bind(asked, packet_size as usize)
                .map_err(|error| cannot_listen(asked, &error))?;
            let local = inlet
                .local()
                .map_err(|error| cannot_listen(asked, &error))?;
            (Input::Tcp(inlet), local, None)
        }
    };
    opening.push(Event::Listening(ListenerStart {
        at: local,
        packet_size,
        buffer_packets: options.rx_buffer_packets,
        report: options.report_interval,
        process_bytes: options.process_bytes,
        log: log_name(options, local),
        log_interval: match options.log_interval {
            ReportInterval::Off => ReportInterval::Packets(100_000),
            other => other,
        },
    }));
    let mut at = local;
    let mut outs = Vec::new();
    for (link, (typed, peer)) in peers.iter().enumerate() {
        let (mut out, from) = connect(options, local, typed, *peer, packet_size)?;
        if link == 0 {
            at = from;
        }
        out.prepare(local.port());
        outs.push(Peer::new(link, *peer, out));
    }
    if !peers.is_empty() {
        opening.push(Event::Publishing(PublisherStart {
            at,
            peers: peers.to_vec(),
            packet_size,
            buffer_packets: options.tx_buffer_packets,
            report: options.report_interval,
            process_bytes: options.process_bytes,
            rate_mib_per_s: options.tx_rate_mib_per_s,
        }));
    }
    let addresses: Vec<SocketAddr> = peers.iter().map(|(_, peer)| *peer).collect();
    Ok(Binding {
        local,
        input,
        settings: BookSettings::new(options, local),
        granted_buffer_bytes,
        links: Links::new(&addresses),
        peers: outs,
    })
}

fn log_name(options: &CoherenceDatagramOptions, local: SocketAddr) -> Option<String> {
    Some(match options.log.as_ref()? {
        LogTarget::Stdout => "stdout".into(),
        LogTarget::Stderr => "stderr".into(),
        LogTarget::File(path) => {
            let several = options.local.len() > 1;
            let path = text::path_of(path, several.then_some(local));
            path.display().to_string()
        }
    })
}

type Listening = (Input, SocketAddr, Option<u64>);

fn listen_udp(
    options: &CoherenceDatagramOptions,
    asked: SocketAddr,
    packet_size: u32,
    opening: &mut Vec<Event>,
) -> Result<Listening, Refusal> {
    let cannot = |error: io::Error| cannot_listen(asked, &error);
    let socket = udp::bind(asked).map_err(cannot)?;
    let local = socket.local_addr().map_err(cannot)?;
    let wanted = buffer_bytes(options.rx_buffer_packets, packet_size);
    let granted = match udp::receive_buffer(&socket, Some(wanted)) {
        Ok(granted) => granted,
        // Some systems refuse a size where others grant less: then the default stays.
        Err(_) => udp::receive_buffer(&socket, None).map_err(cannot)?,
    };
    if granted.granted_bytes < wanted {
        opening.push(Event::Note(format!(
            "the system grants a receive buffer of {} packets, not of {}: raise it with \
             `sysctl -w net.core.rmem_max={wanted}`, or ask for less with `-rxBufferSize`",
            granted.granted_bytes / u64::from(packet_size),
            options.rx_buffer_packets,
        )));
    }
    udp::receive_bound(&socket, RECEIVE_BOUND).map_err(cannot)?;
    let receiver = Receiver::new(
        socket,
        packet_size as usize + SLOT_SPARE,
        false,
        RECEIVE_BATCH,
    );
    Ok((Input::Udp(receiver), local, Some(granted.granted_bytes)))
}

/// Buffer size in bytes, at most what the system's calls can take (31 bits).
fn buffer_bytes(packets: u32, packet_size: u32) -> u64 {
    (u64::from(packets) * u64::from(packet_size)).min(i32::MAX as u64)
}

fn connect(
    options: &CoherenceDatagramOptions,
    local: SocketAddr,
    typed: &HostPort,
    peer: SocketAddr,
    packet_size: u32,
) -> Result<(Out, SocketAddr), Refusal> {
    let from = SocketAddr::new(local.ip(), 0);
    if options.provider == Provider::Tcp {
        let outlet = Outlet::new(from, peer, packet_size as usize);
        return Ok((Out::Tcp(outlet), local));
    }
    let cannot = |error: io::Error| {
        operator(
            Text::new("error-coherence-unreached")
                .with("peer", typed)
                .with("local", local.ip())
                .with("error", error),
            Text::new("error-coherence-unreached-hint"),
        )
    };
    let socket = udp::bind(from).map_err(cannot)?;
    socket.connect(peer).map_err(cannot)?;
    let wanted = buffer_bytes(options.tx_buffer_packets, packet_size);
    // A send buffer that is refused only makes the publisher wait earlier.
    let _ = udp::send_buffer(&socket, Some(wanted));
    let at = socket.local_addr().map_err(cannot)?;
    let size = packet_size as usize;
    let again = socket.try_clone().map_err(cannot)?;
    let sender = match Sender::new(socket, SendMode::Mmsg, size) {
        Ok(sender) => sender,
        Err(_) => Sender::new(again, SendMode::Plain, size).map_err(cannot)?,
    };
    Ok((Out::Udp(sender), at))
}

fn cannot_listen(address: SocketAddr, error: &io::Error) -> Refusal {
    let hint = match error.kind() {
        io::ErrorKind::AddrInUse => Text::new("error-coherence-listen-hint-in-use"),
        io::ErrorKind::AddrNotAvailable => Text::new("error-coherence-listen-hint-foreign"),
        io::ErrorKind::PermissionDenied => Text::new("error-coherence-listen-hint-root"),
        _ => Text::new("error-coherence-listen-hint").with("option", "-local"),
    };
    operator(
        Text::new("error-cannot-listen")
            .with("address", address)
            .with("error", error),
        hint,
    )
}
