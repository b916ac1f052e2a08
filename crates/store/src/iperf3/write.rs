//! Writes the result of a stream as iperf3 would.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};
use sokudo_model::kinds::stream;
use sokudo_model::metrics::tcp;
use sokudo_model::{FlowResult, PhaseRecord, Record, Series};

/// Time that one row of `intervals` covers, as iperf3 does by itself.
const INTERVAL_NS: i64 = 1_000_000_000;
/// Socket number of the first connection, as iperf3 usually has it.
const FIRST_SOCKET: u32 = 5;

/// A record's last stream in the shape of `iperf3 -J` (3.12); `None` when it holds no stream.
///
/// The host that gave the command is the client. What a record does not know is left out; what
/// iperf3 does not know (the receiver's side of each interval) is not in its shape.
pub fn write(record: &Record) -> Option<Value> {
    let phases = record.manifest.phases.iter();
    let phase = phases.rev().find(|phase| phase.workload == "stream")?;
    let out = Export {
        record,
        phase,
        options: serde_json::from_str(&phase.options).unwrap_or(Value::Null),
        client: record.manifest.hosts.first()?.name.as_str(),
    };
    let mut json = json!({
        "start": out.start(),
        "intervals": out.intervals(),
        "end": out.end(),
    });
    let mut errors = phase
        .result
        .flows
        .iter()
        .filter_map(|f| f.labels.get("error"));
    if let Some(error) = errors.next() {
        json["error"] = error.as_str().into();
    }
    Some(json)
}

struct Export<'a> {
    record: &'a Record,
    phase: &'a PhaseRecord,
    options: Value,
    client: &'a str,
}

/// Bytes, time and rate of one row.
fn amounts(start_s: f64, end_s: f64, bytes: f64) -> Map<String, Value> {
    let seconds = end_s - start_s;
    let rate = if seconds > 0.0 {
        bytes * 8.0 / seconds
    } else {
        0.0
    };
    let fields = json!({
        "start": start_s,
        "end": end_s,
        "seconds": seconds,
        "bytes": bytes.round() as u64,
        "bits_per_second": rate,
    });
    match fields {
        Value::Object(fields) => fields,
        _ => Map::new(),
    }
}

impl<'a> Export<'a> {
    fn flows(&self) -> impl Iterator<Item = (u32, &'a FlowResult)> {
        let sockets = (FIRST_SOCKET..).step_by(2);
        sockets.zip(&self.phase.result.flows)
    }

    fn sends(&self, flow: &FlowResult) -> bool {
        flow.from == self.client
    }

    fn address(&self, host: &str) -> &'a str {
        let hosts = &self.record.manifest.hosts;
        let known = hosts.iter().find(|entry| entry.name == host);
        known.map_or("", |entry| entry.address.as_str())
    }

    fn metric(flow: &FlowResult, name: &str) -> Option<f64> {
        flow.metrics.get(&format!("stream.{name}")).copied()
    }

    fn total(&self, name: &str) -> Option<f64> {
        let summary = &self.phase.result.summary;
        summary.get(&format!("stream.{name}")).copied()
    }

    fn start(&self) -> Value {
        let manifest = &self.record.manifest;
        let far = |flow: &'a FlowResult| match self.sends(flow) {
            true => flow.to.as_str(),
            false => flow.from.as_str(),
        };
        let connected = self.flows().map(|(socket, flow)| {
            json!({
                "socket": socket,
                "local_host": self.address(self.client),
                "remote_host": self.address(far(flow)),
            })
        });
        let peer = self.flows().next().map(|(_, flow)| self.address(far(flow)));
        let seconds = manifest.started_unix_ns / 1_000_000_000;
        let mut start = json!({
            "connected": connected.collect::<Vec<_>>(),
            "version": format!("sokudo {} (as iperf 3.12)", manifest.version),
            "system_info": self.system(),
            "timestamp": {"time": http_date(seconds), "timesecs": seconds},
            "connecting_to": {"host": peer.unwrap_or_default()},
            "target_bitrate": self.rate_per_flow(),
            "test_start": self.test_start(),
        });
        if let Some(bytes) = self.total("segment_bytes") {
            start["tcp_mss_default"] = (bytes as u64).into();
        }
        start
    }

    fn system(&self) -> String {
        let hosts = &self.record.manifest.hosts;
        let os = hosts.first().map_or("", |host| host.os.as_str());
        let mut letters = os.chars();
        let os: String = letters
            .next()
            .into_iter()
            .flat_map(char::to_uppercase)
            .chain(letters)
            .collect();
        let environment = self.record.environments.get(self.client);
        let kernel = environment.and_then(|facts| facts.value("kernel release"));
        let words = [os.as_str(), self.client, kernel.unwrap_or_default()];
        let words: Vec<&str> = words.into_iter().filter(|word| !word.is_empty()).collect();
        words.join(" ")
    }

    fn rate_per_flow(&self) -> u64 {
        let flows = self.phase.result.flows.len().max(1) as f64;
        let asked = self.total("asked_bits_per_second");
        asked.map_or(0, |bits| (bits / flows) as u64)
    }

    fn test_start(&self) -> Value {
        let number = |name: &str| self.options[name].as_u64().unwrap_or(0);
        let reverse = self.flows().all(|(_, flow)| !self.sends(flow));
        let span = |name: &str| {
            let text = self.options[name].as_str().unwrap_or("0ns");
            text.parse::<sokudo_model::Nanos>()
                .map_or(0.0, |n| n.seconds())
        };
        let bytes = self.options["bytes"].as_str().unwrap_or("0");
        let bytes = bytes.parse::<sokudo_model::Bytes>().map_or(0, |b| b.0);
        let elapsed = self.total("elapsed_seconds").unwrap_or(0.0);
        let duration = match span("duration") {
            0.0 => (elapsed - span("warmup")).max(0.0),
            asked => asked,
        };
        json!({
            "protocol": "TCP",
            "num_streams": number("streams").max(1),
            "blksize": self.total("write_size_bytes").unwrap_or(0.0) as u64,
            "omit": span("warmup").round() as u64,
            "duration": duration.round() as u64,
            "bytes": bytes,
            "blocks": 0,
            "reverse": u64::from(reverse),
            "tos": number("dscp") << 2,
            "target_bitrate": self.rate_per_flow(),
        })
    }

    /// The bins that the client itself counted, and the state of its connections, per second.
    fn intervals(&self) -> Vec<Value> {
        let mut rows: BTreeMap<i64, Vec<(bool, Value)>> = BTreeMap::new();
        for (place, (socket, flow)) in self.flows().enumerate() {
            for (number, row) in self.rows(place, socket, flow) {
                rows.entry(number)
                    .or_default()
                    .push((self.sends(flow), row));
            }
        }
        rows.into_values().map(|rows| interval(&rows)).collect()
    }

    fn rows(&self, place: usize, socket: u32, flow: &FlowResult) -> Vec<(i64, Value)> {
        let sends = self.sends(flow);
        let rate = match sends {
            true => stream::SENT_BITS_PER_SECOND.name,
            false => stream::GOODPUT_BITS_PER_SECOND.name,
        };
        let label = self.label(place, flow);
        let Some(series) = self.series(rate, &label) else {
            return Vec::new();
        };
        let mut bytes: BTreeMap<i64, (f64, i64)> = BTreeMap::new();
        let mut before_ns = self.phase.t0_ns;
        for (t_ns, bits) in &series.points {
            let number = (before_ns - self.phase.t0_ns).max(0) / INTERVAL_NS;
            let (sum, end_ns) = bytes.entry(number).or_default();
            *sum += bits / 8.0 * (t_ns - before_ns).max(0) as f64 / 1e9;
            *end_ns = *t_ns;
            before_ns = *t_ns;
        }
        let state = State::of(self, &label, flow);
        let warmup = self.options["warmup"].as_str().unwrap_or("0ns");
        let omit_ns = warmup
            .parse::<sokudo_model::Nanos>()
            .map_or(0, |n| n.0 as i64);
        let row = |(number, (bytes, end_ns)): (i64, (f64, i64))| {
            let start_ns = number * INTERVAL_NS;
            let end_s = (end_ns - self.phase.t0_ns) as f64 / 1e9;
            let mut row = amounts(start_ns as f64 / 1e9, end_s, bytes);
            row.insert("socket".into(), socket.into());
            if sends {
                state.put(&mut row, self.phase.t0_ns + start_ns, end_ns);
            }
            row.insert(
                "omitted".into(),
                (end_ns - self.phase.t0_ns <= omit_ns).into(),
            );
            row.insert("sender".into(), sends.into());
            (number, Value::Object(row))
        };
        bytes.into_iter().map(row).collect()
    }

    fn label(&self, place: usize, flow: &FlowResult) -> String {
        let pair = format!("{}→{}", flow.from, flow.to);
        let number = flow.labels.get("stream").cloned();
        let several = self
            .phase
            .result
            .flows
            .iter()
            .any(|f| f.labels.contains_key("stream"));
        match several {
            true => format!("{pair} #{}", number.unwrap_or((place + 1).to_string())),
            false => pair,
        }
    }

    fn series(&self, metric: &'a str, label: &str) -> Option<&'a Series> {
        let mut all = self.record.series_of(metric);
        all.find(|series| {
            let of = series.key.labels.get("flow").map(String::as_str);
            let end = series.key.labels.get("end").map(String::as_str);
            of == Some(label) && series.key.host == self.client && end != Some("receiver")
        })
    }

    fn end(&self) -> Value {
        let mut end = Map::new();
        let streams: Vec<Value> = self.flows().map(|(s, flow)| self.stream(s, flow)).collect();
        end.insert("streams".into(), streams.into());
        let (forward, reverse): (Vec<&FlowResult>, Vec<&FlowResult>) = self
            .phase
            .result
            .flows
            .iter()
            .partition(|flow| self.sends(flow));
        let ways = match (forward.is_empty(), reverse.is_empty()) {
            (true, _) => vec![("", reverse)],
            (_, true) => vec![("", forward)],
            _ => vec![("", forward), ("_bidir_reverse", reverse)],
        };
        for (suffix, flows) in ways {
            let sends = flows.first().is_some_and(|flow| self.sends(flow));
            end.insert(format!("sum_sent{suffix}"), sum(&flows, "sent", sends));
            end.insert(
                format!("sum_received{suffix}"),
                sum(&flows, "received", sends),
            );
        }
        end.insert("cpu_utilization_percent".into(), self.cpu());
        let cc = self.flows().find_map(|(_, flow)| flow.labels.get("cc"));
        if let Some(cc) = cc {
            for name in ["sender_tcp_congestion", "receiver_tcp_congestion"] {
                end.insert(name.into(), cc.as_str().into());
            }
        }
        Value::Object(end)
    }

    fn stream(&self, socket: u32, flow: &FlowResult) -> Value {
        let sender = self.sends(flow);
        let side = |what: &str| {
            let mut row = total(&[flow], what, sender);
            row.insert("socket".into(), socket.into());
            row
        };
        let (mut sent, received) = (side("sent"), side("received"));
        let micros = |name: &str| Self::metric(flow, name).map(|s| (s * 1e6).round() as u64);
        let trips = [
            ("mean_rtt", micros("smoothed_rtt_seconds")),
            ("min_rtt", micros("min_rtt_seconds")),
        ];
        for (name, value) in trips {
            sent.extend(value.map(|us| (name.to_owned(), us.into())));
        }
        json!({"sender": sent, "receiver": received})
    }

    /// Each host's threads together, in per cent of one core.
    fn cpu(&self) -> Value {
        let used = |host: &str| {
            let of = |flow: &FlowResult, end: &str, what: &str, bytes: &str| {
                let cost = Self::metric(flow, &format!("{what}_cpu_seconds_per_gigabyte"))?;
                (end == host).then_some(cost * Self::metric(flow, bytes)? / 1e9)
            };
            let flows = self.phase.result.flows.iter();
            flows
                .flat_map(|flow| {
                    [
                        of(flow, &flow.from, "sender", "sent_bytes"),
                        of(flow, &flow.to, "receiver", "received_bytes"),
                    ]
                })
                .flatten()
                .sum::<f64>()
        };
        let elapsed = self.total("elapsed_seconds").filter(|s| *s > 0.0);
        let far = self.flows().next().map(|(_, flow)| match self.sends(flow) {
            true => flow.to.as_str(),
            false => flow.from.as_str(),
        });
        let percent = |host: &str| elapsed.map_or(0.0, |s| used(host) / s * 100.0);
        json!({
            "host_total": percent(self.client),
            "remote_total": far.map_or(0.0, percent),
        })
    }
}

/// One direction's bytes over several flows; `what` is `sent` or `received`.
fn total(flows: &[&FlowResult], what: &str, sender: bool) -> Map<String, Value> {
    let rate = match what {
        "sent" => "sent_bits_per_second",
        _ => "goodput_bits_per_second",
    };
    let add = |name: &str| -> f64 {
        let values = flows.iter().filter_map(|flow| Export::metric(flow, name));
        values.sum()
    };
    let most = |name: &str| -> f64 {
        let values = flows.iter().filter_map(|flow| Export::metric(flow, name));
        values.fold(0.0, f64::max)
    };
    let mut row = amounts(0.0, most("elapsed_seconds"), add(&format!("{what}_bytes")));
    // The warm-up is in the bytes and not in the rate.
    row.insert("bits_per_second".into(), add(rate).into());
    let again: Vec<f64> = flows
        .iter()
        .filter_map(|flow| Export::metric(flow, "retransmitted_segments"))
        .collect();
    if what == "sent" && !again.is_empty() {
        let again = again.iter().sum::<f64>() as u64;
        row.insert("retransmits".into(), again.into());
    }
    row.insert("sender".into(), sender.into());
    row
}

fn sum(flows: &[&FlowResult], what: &str, sender: bool) -> Value {
    Value::Object(total(flows, what, sender))
}

/// One element of `intervals`.
fn interval(rows: &[(bool, Value)]) -> Value {
    let streams: Vec<&Value> = rows.iter().map(|(_, row)| row).collect();
    let mut out = json!({"streams": streams});
    let first = rows.first().is_some_and(|(sends, _)| *sends);
    for (name, direction) in [("sum", first), ("sum_bidir_reverse", !first)] {
        let own = rows.iter().filter(|(sends, _)| *sends == direction);
        let own: Vec<&Value> = own.map(|(_, row)| row).collect();
        let Some(any) = own.first() else { continue };
        let add = |field: &str| -> f64 { own.iter().filter_map(|row| row[field].as_f64()).sum() };
        let mut sum = amounts(
            any["start"].as_f64().unwrap_or(0.0),
            any["end"].as_f64().unwrap_or(0.0),
            add("bytes"),
        );
        if any["retransmits"].is_number() {
            sum.insert("retransmits".into(), (add("retransmits") as u64).into());
        }
        sum.insert("omitted".into(), any["omitted"].clone());
        sum.insert("sender".into(), direction.into());
        out[name] = Value::Object(sum);
    }
    out
}

/// The sending side's connection over time.
struct State<'a> {
    again: Option<&'a Series>,
    gauges: Vec<(&'static str, f64, &'a Series)>,
}

impl<'a> State<'a> {
    fn of(export: &Export<'a>, label: &str, flow: &FlowResult) -> Self {
        let segment = Export::metric(flow, "segment_bytes");
        let known = [
            ("snd_cwnd", segment, tcp::CONGESTION_WINDOW_SEGMENTS.name),
            ("snd_cwnd", Some(1.0), tcp::CONGESTION_WINDOW_BYTES.name),
            ("snd_wnd", Some(1.0), tcp::PEER_WINDOW_BYTES.name),
            ("rtt", Some(1e6), tcp::SMOOTHED_RTT_SECONDS.name),
            ("rttvar", Some(1e6), tcp::RTT_VARIATION_SECONDS.name),
        ];
        let gauges = known.into_iter().filter_map(|(name, factor, metric)| {
            Some((name, factor?, export.series(metric, label)?))
        });
        Self {
            again: export.series(tcp::RETRANSMITTED_SEGMENTS.name, label),
            gauges: gauges.collect(),
        }
    }

    /// Adds what was known at the end of an interval.
    fn put(&self, row: &mut Map<String, Value>, start_ns: i64, end_ns: i64) {
        let at = |series: &Series, t_ns: i64| {
            let points = series.points.iter().take_while(|(t, _)| *t <= t_ns);
            points.last().map(|(_, value)| *value)
        };
        if let Some(series) = self.again {
            let begun = at(series, start_ns).unwrap_or(0.0);
            let ended = at(series, end_ns).unwrap_or(begun);
            let again = (ended - begun).max(0.0) as u64;
            row.insert("retransmits".into(), again.into());
        }
        for (name, factor, series) in &self.gauges {
            let value = at(series, end_ns).map(|value| (value * factor).round() as u64);
            row.extend(value.map(|value| ((*name).to_owned(), value.into())));
        }
    }
}

/// `Sat, 21 Nov 2026 12:17:31 GMT`; empty for times that no calendar names.
fn http_date(seconds: i64) -> String {
    let time = jiff::Timestamp::from_second(seconds);
    time.map_or(String::new(), |time| {
        time.strftime("%a, %d %b %Y %H:%M:%S GMT").to_string()
    })
}
