//! Reads the kernel's statistics of one TCP connection (`TCP_INFO`).
//!
//! ```text
//! getsockopt(TCP_INFO) ─► bytes ─► TcpInfo    older kernels give fewer bytes, newer ones more:
//!                                             each field is read by its offset, if it is there
//! ```
//!
//! Offsets and units: `struct tcp_info` in linux/tcp.h, whose fields only ever grow at the end.

use std::io;
use std::net::{TcpListener, TcpStream};

use rustix::fd::AsFd;

/// Bytes asked from the kernel: more than any released one gives.
const ROOM_BYTES: usize = 512;

/// Slow start threshold before the first loss: "none" (`TCP_INFINITE_SSTHRESH`).
const NO_THRESHOLD: u32 = 0x7fff_ffff;

/// State of one connection. A field is `None` when this kernel does not give it, or when the
/// kernel says that there is no such value (yet).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct TcpInfo {
    /// Connection state as a number: 1 established, 4 FIN_WAIT1, 7 closed, 8 CLOSE_WAIT …
    pub state: Option<u8>,
    /// Congestion state: 0 open, 1 disorder, 2 congestion window reduced, 3 recovery, 4 loss.
    pub ca_state: Option<u8>,
    /// Timeouts in a row without an acknowledgement.
    pub retransmits: Option<u8>,
    /// Window probes in a row without an answer.
    pub probes: Option<u8>,
    /// Doublings of the timeout.
    pub backoff: Option<u8>,
    /// Window scaling of the peer's offers, as a power of two.
    pub snd_wscale: Option<u8>,
    /// Window scaling of the own offers, as a power of two.
    pub rcv_wscale: Option<u8>,
    /// True when the last delivery rate was limited by the sending program.
    pub delivery_rate_app_limited: Option<bool>,
    /// Retransmission timeout.
    pub rto_us: Option<u32>,
    /// Delayed acknowledgement timeout.
    pub ato_us: Option<u32>,
    /// Payload per segment sent.
    pub snd_mss_bytes: Option<u32>,
    /// Payload per segment received, estimated.
    pub rcv_mss_bytes: Option<u32>,
    /// Segments sent and not acknowledged.
    pub unacked_segments: Option<u32>,
    /// Segments acknowledged out of order.
    pub sacked_segments: Option<u32>,
    /// Segments taken for lost.
    pub lost_segments: Option<u32>,
    /// Retransmitted segments under way.
    pub retrans_segments: Option<u32>,
    /// Since the last data were sent.
    pub last_data_sent_ms: Option<u32>,
    /// Since the last data were received.
    pub last_data_recv_ms: Option<u32>,
    /// Since the last acknowledgement was received.
    pub last_ack_recv_ms: Option<u32>,
    /// Path MTU.
    pub pmtu_bytes: Option<u32>,
    /// Highest receive window that the own side lets itself offer now.
    pub rcv_ssthresh_bytes: Option<u32>,
    /// Smoothed round-trip time.
    pub rtt_us: Option<u32>,
    /// Mean deviation of the round-trip time.
    pub rttvar_us: Option<u32>,
    /// Slow start threshold; `None` before the first loss.
    pub snd_ssthresh_segments: Option<u32>,
    /// Congestion window.
    pub snd_cwnd_segments: Option<u32>,
    /// Payload per segment that the own side announced.
    pub advmss_bytes: Option<u32>,
    /// Segments by which arrivals may be out of order before that is taken for loss.
    pub reordering_segments: Option<u32>,
    /// Round-trip time as the receiving side estimates it.
    pub rcv_rtt_us: Option<u32>,
    /// Receive window that the own side aims at.
    pub rcv_space_bytes: Option<u32>,
    /// Retransmitted segments, ever.
    pub total_retrans_segments: Option<u32>,
    /// Rate at which the kernel paces sending; `None` without pacing.
    pub pacing_rate_bytes_per_s: Option<u64>,
    /// Upper limit of it; `None` without one.
    pub max_pacing_rate_bytes_per_s: Option<u64>,
    /// Sent bytes acknowledged, ever.
    pub bytes_acked: Option<u64>,
    /// Bytes received in order, ever.
    pub bytes_received: Option<u64>,
    /// Segments sent, ever.
    pub segs_out: Option<u32>,
    /// Segments received, ever.
    pub segs_in: Option<u32>,
    /// Written and not yet sent for the first time.
    pub notsent_bytes: Option<u32>,
    /// Lowest round-trip time seen lately; `None` before the first.
    pub min_rtt_us: Option<u32>,
    /// Segments with payload received, ever.
    pub data_segs_in: Option<u32>,
    /// Segments with payload sent, ever.
    pub data_segs_out: Option<u32>,
    /// Latest delivery rate.
    pub delivery_rate_bytes_per_s: Option<u64>,
    /// Time with data to send or under way, ever.
    pub busy_time_us: Option<u64>,
    /// Of it, time limited by the peer's receive window.
    pub rwnd_limited_us: Option<u64>,
    /// Of it, time limited by the own send buffer.
    pub sndbuf_limited_us: Option<u64>,
    /// Segments delivered, ever, retransmitted ones included.
    pub delivered_segments: Option<u32>,
    /// Of them, marked by a congested router.
    pub delivered_ce_segments: Option<u32>,
    /// Payload bytes sent, ever, retransmitted ones included.
    pub bytes_sent: Option<u64>,
    /// Payload bytes retransmitted, ever.
    pub bytes_retrans: Option<u64>,
    /// Duplicates that the peer reported: retransmissions that were not needed.
    pub dsack_dups: Option<u32>,
    /// Times that reordering was seen.
    pub reord_seen: Option<u32>,
    /// Segments received out of order, ever.
    pub rcv_ooopack: Option<u32>,
    /// Window that the peer offers now.
    pub snd_wnd_bytes: Option<u32>,
    /// Window that the own side offers now.
    pub rcv_wnd_bytes: Option<u32>,
    /// Times that another path was tried by changing the flow label or hash.
    pub rehash: Option<u32>,
    /// Timeouts, ever.
    pub total_rto: Option<u16>,
    /// Recoveries after timeouts, ever.
    pub total_rto_recoveries: Option<u16>,
    /// Time spent recovering after timeouts, ever.
    pub total_rto_time_ms: Option<u32>,
}

/// The bytes of one `struct tcp_info` in this machine's byte order.
struct Fields<'a>(&'a [u8]);

impl Fields<'_> {
    fn at<const N: usize>(&self, offset: usize) -> Option<[u8; N]> {
        self.0.get(offset..offset + N)?.try_into().ok()
    }

    fn u8(&self, offset: usize) -> Option<u8> {
        self.0.get(offset).copied()
    }

    fn u16(&self, offset: usize) -> Option<u16> {
        self.at(offset).map(u16::from_ne_bytes)
    }

    fn u32(&self, offset: usize) -> Option<u32> {
        self.at(offset).map(u32::from_ne_bytes)
    }

    fn u64(&self, offset: usize) -> Option<u64> {
        self.at(offset).map(u64::from_ne_bytes)
    }

    /// A bit field: low bits first on little-endian machines, high bits first on others.
    fn bits(&self, offset: usize, first: u32, count: u32) -> Option<u8> {
        let byte = self.u8(offset)?;
        let shift = if cfg!(target_endian = "little") {
            first
        } else {
            8 - first - count
        };
        Some((byte >> shift) & ((1 << count) - 1))
    }

    /// A rate for which "all bits set" means that there is no limit.
    fn rate(&self, offset: usize) -> Option<u64> {
        self.u64(offset).filter(|rate| *rate != u64::MAX)
    }
}

impl TcpInfo {
    /// Reads what `getsockopt(TCP_INFO)` returned on this machine: any length, any content.
    pub fn parse(bytes: &[u8]) -> Self {
        let fields = Fields(bytes);
        let mut info = Self::default();
        info.parse_first(&fields);
        info.parse_rates(&fields);
        info
    }

    /// Up to `tcpi_total_retrans`: what every kernel gives.
    fn parse_first(&mut self, fields: &Fields<'_>) {
        self.state = fields.u8(0);
        self.ca_state = fields.u8(1);
        self.retransmits = fields.u8(2);
        self.probes = fields.u8(3);
        self.backoff = fields.u8(4);
        self.snd_wscale = fields.bits(6, 0, 4);
        self.rcv_wscale = fields.bits(6, 4, 4);
        self.delivery_rate_app_limited = fields.bits(7, 0, 1).map(|bit| bit == 1);
        self.rto_us = fields.u32(8);
        self.ato_us = fields.u32(12);
        self.snd_mss_bytes = fields.u32(16);
        self.rcv_mss_bytes = fields.u32(20);
        self.unacked_segments = fields.u32(24);
        self.sacked_segments = fields.u32(28);
        self.lost_segments = fields.u32(32);
        self.retrans_segments = fields.u32(36);
        self.last_data_sent_ms = fields.u32(44);
        self.last_data_recv_ms = fields.u32(52);
        self.last_ack_recv_ms = fields.u32(56);
        self.pmtu_bytes = fields.u32(60);
        self.rcv_ssthresh_bytes = fields.u32(64);
        self.rtt_us = fields.u32(68);
        self.rttvar_us = fields.u32(72);
        self.snd_ssthresh_segments = fields.u32(76).filter(|n| *n < NO_THRESHOLD);
        self.snd_cwnd_segments = fields.u32(80);
        self.advmss_bytes = fields.u32(84);
        self.reordering_segments = fields.u32(88);
        self.rcv_rtt_us = fields.u32(92);
        self.rcv_space_bytes = fields.u32(96);
        self.total_retrans_segments = fields.u32(100);
    }

    /// Reads the fields of Linux 3.15 and later, in the order of their addition.
    fn parse_rates(&mut self, fields: &Fields<'_>) {
        self.pacing_rate_bytes_per_s = fields.rate(104);
        self.max_pacing_rate_bytes_per_s = fields.rate(112);
        self.bytes_acked = fields.u64(120);
        self.bytes_received = fields.u64(128);
        self.segs_out = fields.u32(136);
        self.segs_in = fields.u32(140);
        self.notsent_bytes = fields.u32(144);
        self.min_rtt_us = fields.u32(148).filter(|us| *us != u32::MAX);
        self.data_segs_in = fields.u32(152);
        self.data_segs_out = fields.u32(156);
        self.delivery_rate_bytes_per_s = fields.u64(160);
        self.busy_time_us = fields.u64(168);
        self.rwnd_limited_us = fields.u64(176);
        self.sndbuf_limited_us = fields.u64(184);
        self.delivered_segments = fields.u32(192);
        self.delivered_ce_segments = fields.u32(196);
        self.bytes_sent = fields.u64(200);
        self.bytes_retrans = fields.u64(208);
        self.dsack_dups = fields.u32(216);
        self.reord_seen = fields.u32(220);
        self.rcv_ooopack = fields.u32(224);
        self.snd_wnd_bytes = fields.u32(228);
        self.rcv_wnd_bytes = fields.u32(232);
        self.rehash = fields.u32(236);
        self.total_rto = fields.u16(240);
        self.total_rto_recoveries = fields.u16(242);
        self.total_rto_time_ms = fields.u32(244);
    }
}

/// Reads the state of a connection now.
///
/// Errors: the system's; [`io::ErrorKind::Unsupported`] outside Linux.
pub fn read(stream: &TcpStream) -> io::Result<TcpInfo> {
    let mut room = [0u8; ROOM_BYTES];
    let length = fetch(stream, &mut room)?;
    Ok(TcpInfo::parse(&room[..length]))
}

/// Connections that wait to be accepted from a listening socket, and how many may.
///
/// For a listening socket the kernel keeps both where a connection has its unacknowledged segments
/// (`tcp_get_info`, since Linux 2.6.30).
///
/// Errors: the system's; [`io::ErrorKind::Unsupported`] outside Linux.
pub fn accept_queue(listener: &TcpListener) -> io::Result<(u32, u32)> {
    let mut room = [0u8; ROOM_BYTES];
    let length = fetch(listener, &mut room)?;
    let info = TcpInfo::parse(&room[..length]);
    let both = info.unacked_segments.zip(info.sacked_segments);
    both.ok_or_else(|| io::ErrorKind::Unsupported.into())
}

/// Reads the state of a connection as the kernel wrote it; returns its length in bytes. Room for
/// less than the kernel has is not an error.
#[cfg(target_os = "linux")]
pub fn fetch(stream: &impl AsFd, room: &mut [u8]) -> io::Result<usize> {
    use std::os::fd::AsRawFd as _;
    let mut length = room.len() as libc::socklen_t;
    // SAFETY: the pointer and length describe the live slice; the kernel writes at most `length`.
    let status = unsafe {
        libc::getsockopt(
            stream.as_fd().as_raw_fd(),
            libc::IPPROTO_TCP,
            libc::TCP_INFO,
            room.as_mut_ptr().cast(),
            &mut length,
        )
    };
    if status == 0 {
        Ok((length as usize).min(room.len()))
    } else {
        Err(io::Error::last_os_error())
    }
}

/// Always an error.
#[cfg(not(target_os = "linux"))]
pub fn fetch(_stream: &impl AsFd, _room: &mut [u8]) -> io::Result<usize> {
    Err(crate::absent::unsupported("TCP_INFO"))
}

#[cfg(test)]
mod tests {
    use super::*;

    use proptest::prelude::*;

    proptest! {
        #[test]
        fn any_bytes_are_read_and_more_bytes_change_nothing_before(
            bytes in prop::collection::vec(any::<u8>(), 0..400),
            cut in 0usize..400,
        ) {
            let whole = TcpInfo::parse(&bytes);
            let part = TcpInfo::parse(&bytes[..cut.min(bytes.len())]);
            if part.rtt_us.is_some() {
                prop_assert_eq!(part.rtt_us, whole.rtt_us);
            }
            if part.bytes_sent.is_some() {
                prop_assert_eq!(part.bytes_sent, whole.bytes_sent);
            }
        }
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn the_accept_queue_has_the_connections_that_nobody_took() {
        let listener = TcpListener::bind(("127.0.0.1", 0)).expect("an address");
        socket2::SockRef::from(&listener)
            .listen(7)
            .expect("listens");
        let at = listener.local_addr().expect("an address");
        assert_eq!(accept_queue(&listener).expect("is told"), (0, 7));
        let callers: Vec<_> = (0..3).map(|_| TcpStream::connect(at)).collect();
        assert!(callers.iter().all(Result::is_ok));
        assert_eq!(accept_queue(&listener).expect("is told"), (3, 7));
    }

    /// Captured on Linux 6.18 (x86-64) from the sending end of a loopback connection that had sent
    /// 20 × 50,000 bytes and received 20 × 100 bytes in turn.
    #[cfg(all(target_endian = "little", target_os = "linux"))]
    #[test]
    fn captured_bytes_are_read_as_the_golden_file_says() {
        let hex: String = include_str!("../../testdata/tcp_info_linux_6_18.hex")
            .split_whitespace()
            .collect();
        let byte = |at| u8::from_str_radix(&hex[at..at + 2], 16).unwrap();
        let bytes: Vec<u8> = (0..hex.len()).step_by(2).map(byte).collect();
        let info = TcpInfo::parse(&bytes);
        assert_eq!(info.bytes_sent, Some(1_000_000));
        assert_eq!(info.bytes_received, Some(2_000));
        assert_eq!(info.data_segs_in, Some(20));
        let golden = include_str!("../../testdata/tcp_info_linux_6_18.txt");
        assert_eq!(format!("{info:#?}\n"), golden);
    }

    #[test]
    fn what_an_old_kernel_does_not_give_is_none() {
        // Linux 2.6 ends behind `tcpi_total_retrans`.
        let info = TcpInfo::parse(&[1; 104]);
        assert_eq!(info.total_retrans_segments, Some(0x0101_0101));
        assert_eq!(info.pacing_rate_bytes_per_s, None);
        assert_eq!(TcpInfo::parse(&[]), TcpInfo::default());
    }

    #[test]
    fn values_that_mean_nothing_are_none() {
        let mut bytes = [0u8; 248];
        bytes[76..80].copy_from_slice(&NO_THRESHOLD.to_ne_bytes());
        bytes[104..120].fill(0xff);
        bytes[148..152].fill(0xff);
        let info = TcpInfo::parse(&bytes);
        assert_eq!(info.snd_ssthresh_segments, None);
        assert_eq!(info.pacing_rate_bytes_per_s, None);
        assert_eq!(info.max_pacing_rate_bytes_per_s, None);
        assert_eq!(info.min_rtt_us, None);
    }
}
