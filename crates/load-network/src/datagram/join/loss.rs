//! The place of loss of each missing datagram.

use sokudo_model::FlowResult;
use sokudo_model::kinds::datagram as numbers;
use sokudo_net::udp::SendMode;

use super::numbers_of_host::{Numbers, SocketNumbers};
use super::{put, ratio};

/// Says where the missing datagrams of everything that one host received were lost.
///
/// A counter explains up to what it counted, and never more than is missing. What it counts are
/// kernel buffers. Measured on Linux 6.18 with a full receive buffer over loopback, 46 datagrams of
/// 1400 B (64 of 100 B) per segmented send:
///
/// | sender | receiving socket | socket drops and `RcvbufErrors` per missing datagram |
/// |---|---|---|
/// | plain, mmsg | with or without GRO | 1 |
/// | GSO | without GRO | 1: the buffer is cut before it is queued |
/// | GSO | with GRO | 1/46 (1/64): the buffer is queued, or dropped, whole |
///
/// So only at a socket with GRO a drop stands for several datagrams: as many as the buffers that
/// did arrive held on average. The backlog queue of a core is in front of the cutting: there a drop
/// stands for one segmented send.
pub(super) fn attribute_loss(flows: &mut [FlowResult], host: &Numbers) {
    let mut host_left = host.softnet_drops.map(|drops| drops as f64);
    for socket in &host.sockets {
        let ids: Vec<usize> = socket
            .done
            .flows
            .iter()
            .map(|flow| flow.flow as usize)
            .collect();
        let own = |id: &usize| numbers::MISSING_PACKETS.of(&flows.get(*id)?.metrics);
        let missing: f64 = ids.iter().filter_map(own).sum();
        let per_send = datagrams_per_segmented_send(flows, &ids);
        let per_buffer = datagrams_per_buffer(socket, per_send);
        let at_socket = socket
            .done
            .drops
            .map(|drops| explained(drops as f64, per_buffer, missing));
        let rest = missing - at_socket.unwrap_or(0.0);
        let at_host = host_left.map(|drops| explained(drops, per_send, rest));
        if let (Some(left), Some(used)) = (&mut host_left, at_host) {
            *left = (*left - used / per_send).max(0.0);
        }
        let on_path = rest - at_host.unwrap_or(0.0);
        let parts = [
            (numbers::LOST_AT_RECEIVER_SOCKET_PACKETS, at_socket),
            (numbers::LOST_AT_RECEIVER_HOST_PACKETS, at_host),
            (numbers::LOST_ON_PATH_PACKETS, Some(on_path)),
        ];
        for id in &ids {
            let Some(flow) = flows.get_mut(*id) else {
                continue;
            };
            let own = numbers::MISSING_PACKETS.of(&flow.metrics);
            let share = ratio(own.unwrap_or(0.0), missing).unwrap_or(0.0);
            for (name, lost) in parts {
                put(&mut flow.metrics, name, lost.map(|lost| lost * share));
            }
        }
    }
}

/// Datagrams that a buffer of this socket held on average, or holds if none arrived to tell; 1
/// without GRO.
fn datagrams_per_buffer(socket: &SocketNumbers, per_send: f64) -> f64 {
    if !socket.settings.as_ref().is_some_and(|socket| socket.gro) {
        return 1.0;
    }
    ratio(socket.done.datagrams as f64, socket.done.buffers as f64)
        .map_or(per_send, |mean| mean.max(1.0))
}

/// Datagrams per send call of the fullest segmented sender among these flows; 1 without one.
fn datagrams_per_segmented_send(flows: &[FlowResult], ids: &[usize]) -> f64 {
    let segmented = |id: &usize| {
        let flow = flows.get(*id)?;
        let batch = numbers::MEAN_SEND_BATCH_PACKETS.of(&flow.metrics);
        batch.filter(|_| {
            flow.labels
                .get("io")
                .is_some_and(|io| io == SendMode::Gso.name())
        })
    };
    ids.iter().filter_map(segmented).fold(1.0, f64::max)
}

/// Number of the `missing` datagrams that `drops` buffers explain.
fn explained(drops: f64, per_buffer: f64, missing: f64) -> f64 {
    let most = drops * per_buffer;
    // Dropped buffers may have been fuller or emptier than the mean: when the counter comes within
    // a tenth, it explains all of it.
    if per_buffer > 1.0 && most >= missing * 0.9 {
        missing
    } else {
        most.min(missing)
    }
}
