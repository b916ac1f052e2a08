//! Reads results of iperf3.

use std::collections::BTreeMap;

use serde_json::Value;
use sokudo_model::kinds::{datagram, stream};
use sokudo_model::metrics::tcp;
use sokudo_model::{
    Batch, FlowPlan, FlowResult, HostEntry, Labels, PhaseRecord, PhaseResult, Problem, RunStatus,
    SeriesKey, Summary, Text,
};

/// Largest file that is read.
pub const MAX_BYTES: usize = 256 << 20;
/// Connections of one result at most.
const MAX_FLOWS: usize = 4096;
/// Rows of connections over all intervals at most.
const MAX_ROWS: usize = 4_000_000;
/// Longest test: above it times would not fit.
const MAX_SECONDS: f64 = 1e8;
/// Longest name that is kept.
const MAX_NAME_CHARS: usize = 253;

/// Reason why a text is not a valid result of iperf3.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Iperf3Error {
    /// Larger than anything that is read.
    #[error("the file has {0} bytes, more than the {MAX_BYTES} that are read")]
    TooLarge(usize),
    /// No JSON object.
    #[error("the text is not a valid JSON object: {0}")]
    NotJson(String),
    /// JSON of something else.
    #[error("the object has no `start` and `end` as iperf3 writes them")]
    NotIperf3,
    /// More connections than a record may hold.
    #[error("the result has more connections than are read")]
    ManyConnections,
    /// The same of intervals.
    #[error("the result has more intervals than are read")]
    ManyIntervals,
    /// It contains nothing that could be shown.
    #[error("the result holds no numbers{0}")]
    Empty(String),
}

impl Iperf3Error {
    /// The sentence for the operator.
    pub fn text(&self) -> Text {
        match self {
            Self::TooLarge(bytes) => Text::new("error-iperf3-large")
                .with("bytes", bytes)
                .with("most", MAX_BYTES),
            Self::NotJson(error) => Text::new("error-iperf3-json").word("error", error),
            Self::NotIperf3 => Text::new("error-iperf3-other"),
            Self::ManyConnections => Text::new("error-iperf3-many-connections"),
            Self::ManyIntervals => Text::new("error-iperf3-many-intervals"),
            Self::Empty(why) => Text::new("error-iperf3-empty").word("why", why),
        }
    }
}

/// A result of iperf3 in the form of a record.
#[derive(Debug, Clone)]
pub struct Imported {
    /// `stream` for TCP, `datagram` for UDP.
    pub workload: &'static str,
    /// iperf3's version, as it calls itself.
    pub version: String,
    /// Start of the test, nanoseconds since the Unix epoch; 0 when unknown.
    pub started_unix_ns: i64,
    /// The same as RFC 3339.
    pub started: String,
    /// Host 0 gave the command.
    pub hosts: Vec<HostEntry>,
    /// The flows, with sender and receiver.
    pub flows: Vec<FlowPlan>,
    /// The one phase.
    pub phase: PhaseRecord,
    /// Its series.
    pub batch: Batch,
    /// The status of the test.
    pub status: RunStatus,
    /// The errors that iperf3 reported.
    pub problems: Vec<Problem>,
}

/// Reads what `iperf3 -J` wrote, of the client or the server.
pub fn read(bytes: &[u8]) -> Result<Imported, Iperf3Error> {
    if bytes.len() > MAX_BYTES {
        return Err(Iperf3Error::TooLarge(bytes.len()));
    }
    let json: Value =
        serde_json::from_slice(bytes).map_err(|error| Iperf3Error::NotJson(error.to_string()))?;
    let (start, end) = (&json["start"], &json["end"]);
    if !start.is_object() || !end.is_object() {
        return Err(Iperf3Error::NotIperf3);
    }
    let source = Source::of(&json)?;
    let flows: Vec<FlowResult> = source.flows();
    let error = word(&json["error"]);
    if flows.is_empty() {
        let why = error.map_or(String::new(), |error| format!(": {error}"));
        return Err(Iperf3Error::Empty(why));
    }
    let (status, problems) = match error {
        None => (RunStatus::Ok, Vec::new()),
        Some(error) => (RunStatus::Partial, vec![problem(&error)]),
    };
    let batch = source.series(&flows)?;
    let seconds = source.seconds();
    let started_s = started(start);
    let summary = match source.udp {
        true => udp_totals(end),
        false => source.tcp_totals(end, &flows),
    };
    Ok(Imported {
        workload: source.workload(),
        version: word(&start["version"]).unwrap_or_default(),
        started_unix_ns: started_s * 1_000_000_000,
        started: jiff::Timestamp::from_second(started_s)
            .map_or(String::new(), |time| time.to_string()),
        hosts: source.hosts(start),
        flows: source.plans(),
        phase: PhaseRecord {
            name: "measure".into(),
            workload: source.workload().into(),
            options: "{}".into(),
            labels: Labels::new(),
            t0_ns: 0,
            t1_ns: nanoseconds(seconds),
            status,
            result: PhaseResult {
                summary,
                flows,
                histograms: BTreeMap::new(),
            },
        },
        batch,
        status,
        problems,
    })
}

fn problem(error: &str) -> Problem {
    Problem {
        t_ns: 0,
        host: String::new(),
        phase: "measure".into(),
        says: Text::new("import-iperf3-error").word("error", error),
        missing: None,
    }
}

/// A number that a record may hold.
fn number(value: &Value) -> Option<f64> {
    value.as_f64().filter(|v| v.is_finite() && *v >= 0.0)
}

/// A text of reasonable length, without control characters; nothing for an empty one.
fn word(value: &Value) -> Option<String> {
    let text = value.as_str()?;
    let kept = text.chars().filter(|c| !c.is_control());
    let kept: String = kept.take(MAX_NAME_CHARS).collect();
    (!kept.is_empty()).then_some(kept)
}

fn list(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}

fn nanoseconds(seconds: f64) -> i64 {
    (seconds.clamp(0.0, MAX_SECONDS) * 1e9) as i64
}

/// Seconds since the Unix epoch; 0 when unknown.
fn started(start: &Value) -> i64 {
    let seconds = start["timestamp"]["timesecs"].as_i64();
    // Beyond these years the nanoseconds of a record would not fit.
    seconds
        .filter(|seconds| (0..=4_000_000_000).contains(seconds))
        .unwrap_or(0)
}

fn put(metrics: &mut Summary, name: &str, value: Option<f64>) {
    if let Some(value) = value {
        metrics.insert(name.into(), value);
    }
}

/// One result with what is needed to read its parts.
struct Source<'a> {
    json: &'a Value,
    streams: &'a [Value],
    udp: bool,
    /// This host, which wrote the file, and the other.
    names: [String; 2],
    addresses: [String; 2],
}

impl<'a> Source<'a> {
    fn of(json: &'a Value) -> Result<Self, Iperf3Error> {
        let (start, end) = (&json["start"], &json["end"]);
        let streams = list(&end["streams"]);
        if streams.len() > MAX_FLOWS || list(&start["connected"]).len() > MAX_FLOWS {
            return Err(Iperf3Error::ManyConnections);
        }
        let connection = &start["connected"][0];
        let own = word(&connection["local_host"]);
        let peer = ["connecting_to", "accepted_connection"]
            .iter()
            .find_map(|key| word(&start[*key]["host"]))
            .or_else(|| word(&connection["remote_host"]));
        let addresses = [own, peer].map(|host| host.unwrap_or_else(|| "unknown".into()));
        // `Linux NAME 6.1.0 …`, as uname prints it.
        let info = word(&start["system_info"]).unwrap_or_default();
        let named = info.split(' ').nth(1).filter(|name| !name.is_empty());
        let own = named.unwrap_or(&addresses[0]).to_owned();
        let mut peer = addresses[1].clone();
        if peer == own {
            peer += " (far end)";
        }
        Ok(Self {
            json,
            streams,
            udp: word(&start["test_start"]["protocol"]).as_deref() == Some("UDP"),
            names: [own, peer],
            addresses,
        })
    }

    fn workload(&self) -> &'static str {
        if self.udp { "datagram" } else { "stream" }
    }

    fn hosts(&self, start: &Value) -> Vec<HostEntry> {
        let info = word(&start["system_info"]).unwrap_or_default();
        let os = info.split(' ').next().unwrap_or_default().to_lowercase();
        let entry = |index: usize, os: &str| HostEntry {
            name: self.names[index].clone(),
            address: self.addresses[index].clone(),
            os: os.into(),
            version: word(&start["version"]).unwrap_or_default(),
            clock_offset_ns: 0,
            clock_error_ns: 0,
            machine: None,
        };
        vec![entry(0, &os), entry(1, "")]
    }

    /// Whether the host that wrote the file sends this flow.
    fn sends(&self, index: usize) -> bool {
        let stream = &self.streams[index];
        let either = ["sender", "receiver", "udp"]
            .iter()
            .find_map(|end| stream[*end]["sender"].as_bool());
        let reverse = self.json["start"]["test_start"]["reverse"].as_i64();
        either.unwrap_or(reverse != Some(1))
    }

    fn ends(&self, index: usize) -> (usize, usize) {
        if self.sends(index) { (0, 1) } else { (1, 0) }
    }

    fn plans(&self) -> Vec<FlowPlan> {
        let each = (0..self.streams.len()).zip(0u32..);
        each.map(|(index, id)| {
            let (from, to) = self.ends(index);
            FlowPlan {
                id,
                from: from as u32,
                to: to as u32,
                stream: id,
            }
        })
        .collect()
    }

    fn flows(&self) -> Vec<FlowResult> {
        let each = (0..self.streams.len()).zip(0u32..);
        let read = each.map(|(index, id)| {
            let (from, to) = self.ends(index);
            let mut flow = FlowResult {
                id,
                from: self.names[from].clone(),
                to: self.names[to].clone(),
                ..FlowResult::default()
            };
            let transport = if self.udp { "udp" } else { "tcp" };
            flow.labels.insert("transport".into(), transport.into());
            flow.labels.insert("tool".into(), "iperf3".into());
            if self.streams.len() > 1 {
                flow.labels.insert("stream".into(), (id + 1).to_string());
            }
            match self.udp {
                true => udp_flow(&mut flow, &self.streams[index]["udp"]),
                false => self.tcp_flow(&mut flow, &self.streams[index]),
            }
            flow
        });
        read.filter(|flow| !flow.metrics.is_empty()).collect()
    }

    fn tcp_flow(&self, flow: &mut FlowResult, stream: &Value) {
        let (sent, received) = (&stream["sender"], &stream["receiver"]);
        let micros = |value: &Value| number(value).filter(|us| *us > 0.0).map(|us| us * 1e-6);
        let again = number(&sent["retransmits"]);
        for (name, value) in [
            (stream::SENT_BYTES.name, number(&sent["bytes"])),
            (
                stream::SENT_BITS_PER_SECOND.name,
                number(&sent["bits_per_second"]),
            ),
            (stream::RECEIVED_BYTES.name, number(&received["bytes"])),
            (
                stream::GOODPUT_BITS_PER_SECOND.name,
                number(&received["bits_per_second"]),
            ),
            (stream::ELAPSED_SECONDS.name, number(&received["end"])),
            (stream::RETRANSMITTED_SEGMENTS.name, again),
            (stream::SMOOTHED_RTT_SECONDS.name, micros(&sent["mean_rtt"])),
            (stream::MIN_RTT_SECONDS.name, micros(&sent["min_rtt"])),
        ] {
            put(&mut flow.metrics, name, value);
        }
        let cc = word(&self.json["end"]["sender_tcp_congestion"]);
        flow.labels.extend(cc.map(|cc| ("cc".into(), cc)));
        flow.complete = sent.is_object() && received.is_object();
    }

    fn tcp_totals(&self, end: &Value, flows: &[FlowResult]) -> Summary {
        let mut summary = Summary::new();
        // Both ways at once: the totals of the other direction stand apart.
        let sum = |total: &str, field: &str| {
            let ways = [total.to_owned(), format!("{total}_bidir_reverse")];
            let values = ways
                .iter()
                .filter_map(|way| number(&end[way.as_str()][field]));
            values.reduce(|a, b| a + b)
        };
        for (name, value) in [
            (stream::SENT_BYTES.name, sum("sum_sent", "bytes")),
            (
                stream::SENT_BITS_PER_SECOND.name,
                sum("sum_sent", "bits_per_second"),
            ),
            (stream::RECEIVED_BYTES.name, sum("sum_received", "bytes")),
            (
                stream::GOODPUT_BITS_PER_SECOND.name,
                sum("sum_received", "bits_per_second"),
            ),
            (
                stream::RETRANSMITTED_SEGMENTS.name,
                sum("sum_sent", "retransmits"),
            ),
            (
                stream::ELAPSED_SECONDS.name,
                number(&end["sum_received"]["end"]),
            ),
        ] {
            put(&mut summary, name, value);
        }
        let test = &self.json["start"]["test_start"];
        put(
            &mut summary,
            stream::WRITE_SIZE_BYTES.name,
            number(&test["blksize"]),
        );
        let rate = number(&test["target_bitrate"]).filter(|rate| *rate > 0.0);
        let rate = rate.map(|rate| rate * flows.len() as f64);
        put(&mut summary, stream::ASKED_BITS_PER_SECOND.name, rate);
        self.cpu(end, &mut summary);
        summary
    }

    /// CPU time of the two programs over elapsed time, where each is a sender or a receiver only.
    fn cpu(&self, end: &Value, summary: &mut Summary) {
        let cpu = &end["cpu_utilization_percent"];
        let share = |name: &str| number(&cpu[name]).map(|percent| percent / 100.0);
        let (own, peer) = (share("host_total"), share("remote_total"));
        let sends = (0..self.streams.len()).filter(|index| self.sends(*index));
        let (sender, receiver) = match sends.count() {
            0 => (peer, own),
            all if all == self.streams.len() => (own, peer),
            _ => return,
        };
        put(summary, stream::SENDER_CPU_RATIO.name, sender);
        put(summary, stream::RECEIVER_CPU_RATIO.name, receiver);
    }

    fn seconds(&self) -> f64 {
        let end = &self.json["end"];
        let totals = ["sum_sent", "sum_received", "sum"];
        let ends = totals.iter().filter_map(|sum| number(&end[*sum]["end"]));
        ends.fold(0.0, f64::max)
    }

    /// Socket number in the file → flow.
    fn by_socket(&self, flows: &[FlowResult]) -> BTreeMap<i64, usize> {
        let sockets = flows.iter().enumerate().filter_map(|(place, flow)| {
            let stream = &self.streams[flow.id as usize];
            let ends = ["sender", "receiver", "udp"];
            let mut socket = ends
                .iter()
                .filter_map(|end| stream[*end]["socket"].as_i64());
            Some((socket.next()?, place))
        });
        sockets.collect()
    }

    fn series(&self, flows: &[FlowResult]) -> Result<Batch, Iperf3Error> {
        let sockets = self.by_socket(flows);
        let mut batch = Batch::default();
        let mut rows = 0usize;
        let mut again = vec![0.0; flows.len()];
        for interval in list(&self.json["intervals"]) {
            for row in list(&interval["streams"]) {
                rows += 1;
                if rows > MAX_ROWS {
                    return Err(Iperf3Error::ManyIntervals);
                }
                let socket = row["socket"].as_i64();
                let Some(place) = socket.and_then(|socket| sockets.get(&socket)) else {
                    continue;
                };
                self.add(
                    &mut batch,
                    &flows[*place],
                    &mut again[*place],
                    row,
                    flows.len(),
                );
            }
        }
        Ok(batch)
    }

    /// Adds one row of one connection. Only the host that wrote the file reports intervals.
    fn add(
        &self,
        batch: &mut Batch,
        flow: &FlowResult,
        again: &mut f64,
        row: &Value,
        flows: usize,
    ) {
        let Some(at_ns) = number(&row["end"]).map(nanoseconds) else {
            return;
        };
        let sends = flow.from == self.names[0];
        let mut label = format!("{}→{}", flow.from, flow.to);
        if flows > 1 {
            label += &format!(" #{}", flow.id + 1);
        }
        let rate = match (self.udp, sends) {
            (true, true) => datagram::SENT_BITS_PER_SECOND.name,
            (true, false) => datagram::DELIVERED_BITS_PER_SECOND.name,
            (false, true) => stream::SENT_BITS_PER_SECOND.name,
            (false, false) => stream::GOODPUT_BITS_PER_SECOND.name,
        };
        let mut push = |metric: &str, value: Option<f64>, end: Option<&str>| {
            let mut labels: Labels = [("flow".to_owned(), label.clone())].into();
            labels.extend(end.map(|end| ("end".to_owned(), end.to_owned())));
            let key = SeriesKey {
                host: self.names[0].clone(),
                source: self.workload().into(),
                metric: metric.into(),
                labels,
            };
            if let Some(value) = value {
                batch.push(&key, at_ns, value);
            }
        };
        push(rate, number(&row["bits_per_second"]), None);
        let micros = |value: &Value| number(value).map(|us| us * 1e-6);
        let end = Some("sender").filter(|_| sends && !self.udp);
        if end.is_none() {
            return;
        }
        if let Some(more) = number(&row["retransmits"]) {
            *again += more;
            push(tcp::RETRANSMITTED_SEGMENTS.name, Some(*again), end);
        }
        push(tcp::SMOOTHED_RTT_SECONDS.name, micros(&row["rtt"]), end);
        push(tcp::RTT_VARIATION_SECONDS.name, micros(&row["rttvar"]), end);
        push(tcp::PEER_WINDOW_BYTES.name, number(&row["snd_wnd"]), end);
        push(
            tcp::CONGESTION_WINDOW_BYTES.name,
            number(&row["snd_cwnd"]),
            end,
        );
    }
}

fn udp_flow(flow: &mut FlowResult, udp: &Value) {
    udp_numbers(&mut flow.metrics, udp);
    put(
        &mut flow.metrics,
        datagram::OUT_OF_ORDER_PACKETS.name,
        number(&udp["out_of_order"]),
    );
    flow.complete = !flow.metrics.is_empty();
}

/// The sum over the flows as the receiver counted.
fn udp_totals(end: &Value) -> Summary {
    let mut summary = Summary::new();
    udp_numbers(&mut summary, &end["sum"]);
    let sent = &end["sum_sent"];
    let bits = number(&sent["bits_per_second"]);
    put(
        &mut summary,
        datagram::SENT_BYTES_PER_SECOND.name,
        bits.map(|bits| bits / 8.0),
    );
    summary
}

fn udp_numbers(metrics: &mut Summary, udp: &Value) {
    let (packets, lost) = (number(&udp["packets"]), number(&udp["lost_packets"]));
    let seconds = number(&udp["seconds"]).filter(|seconds| *seconds > 0.0);
    let arrived = packets
        .zip(lost)
        .map(|(packets, lost)| (packets - lost).max(0.0));
    let per_s = |amount: Option<f64>| Some(amount? / seconds?);
    let size = number(&udp["bytes"])
        .zip(packets.filter(|packets| *packets > 0.0))
        .map(|(bytes, packets)| bytes / packets);
    let bytes = arrived.zip(size).map(|(arrived, size)| arrived * size);
    for (name, value) in [
        (datagram::SENT_PACKETS.name, packets),
        (datagram::RECEIVED_PACKETS.name, arrived),
        (datagram::MISSING_PACKETS.name, lost),
        (
            datagram::LOSS_RATIO.name,
            number(&udp["lost_percent"]).map(|percent| percent / 100.0),
        ),
        (
            datagram::JITTER_SECONDS.name,
            number(&udp["jitter_ms"]).map(|ms| ms / 1e3),
        ),
        (datagram::DELIVERED_PACKETS_PER_SECOND.name, per_s(arrived)),
        (datagram::DELIVERED_BYTES_PER_SECOND.name, per_s(bytes)),
        (datagram::SIZE_BYTES.name, size),
        (datagram::ELAPSED_SECONDS.name, seconds),
    ] {
        put(metrics, name, value);
    }
}
