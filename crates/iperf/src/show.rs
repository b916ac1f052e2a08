//! Output of the tool: lines per interval and sums, or one JSON object.

use std::fmt::Write as _;
use std::io::Write;

use serde_json::{Value, json};

use crate::IperfError;
use crate::flow::Flow;
use crate::proto::{Params, StreamResult};

/// Prints a text at once.
pub fn print(out: &mut dyn Write, text: &str) -> Result<(), IperfError> {
    out.write_all(text.as_bytes())
        .and_then(|()| out.flush())
        .map_err(IperfError::io("writing the results"))
}

/// Intervals of a test, as they are told.
pub struct Told {
    params: Params,
    json: bool,
    /// The test itself has not begun.
    is_omitted: bool,
    before: Vec<StreamResult>,
    intervals: Vec<Value>,
}

/// Number that the tool gives the first stream in its lines.
const FIRST_SOCKET: u64 = 4;

impl Told {
    /// Nothing told so far.
    pub fn new(params: &Params, json: bool) -> Self {
        Self {
            params: params.clone(),
            json,
            is_omitted: params.omit > 0,
            before: Vec::new(),
            intervals: Vec::new(),
        }
    }

    /// The lines that stand before the first interval; empty for JSON.
    pub fn begin(&self, flows: &[Flow]) -> String {
        let mut text = String::new();
        if self.json {
            return text;
        }
        for flow in flows {
            if let Some((own, far)) = flow.addresses {
                let _ = writeln!(
                    text,
                    "[{:3}] local {} port {} connected to {} port {}",
                    flow.id + FIRST_SOCKET,
                    own.ip(),
                    own.port(),
                    far.ip(),
                    far.port()
                );
            }
        }
        text.push_str("[ ID] Interval           Transfer     Bitrate\n");
        text
    }

    /// The test itself begins: its time starts anew.
    pub fn omit(&mut self) {
        self.is_omitted = false;
        self.before.clear();
    }

    /// An interval is over at this time, seconds: its lines; empty for JSON.
    pub fn interval(&mut self, flows: &[Flow], until_s: f64) -> String {
        let now: Vec<StreamResult> = flows.iter().map(|flow| flow.so_far(until_s)).collect();
        let from_s = self.before.first().map_or(0.0, |it| it.seconds);
        let omitted = if self.is_omitted { "  (omitted)" } else { "" };
        let mut text = String::new();
        let mut streams = Vec::new();
        for (at, (flow, now)) in flows.iter().zip(&now).enumerate() {
            let before = self.before.get(at).copied().unwrap_or_default();
            let bytes = now.bytes - before.bytes;
            let end = format!("{}{omitted}", way(flow));
            let span = (from_s, until_s);
            text.push_str(&line(flow.id + FIRST_SOCKET, span, bytes, &end));
            let mut told = amounts(span, bytes, flow.sends);
            told["omitted"] = self.is_omitted.into();
            streams.push(told);
        }
        for sends in [true, false] {
            let of = |all: &[StreamResult]| {
                let own = flows
                    .iter()
                    .zip(all)
                    .filter(|(flow, _)| flow.sends == sends);
                own.map(|(_, it)| it.bytes).sum::<u64>()
            };
            if flows.iter().filter(|flow| flow.sends == sends).count() > 1 {
                let bytes = of(&now) - of(&self.before);
                let way = if sends { "TX" } else { "RX" };
                let end = format!("{way}{omitted}");
                text.push_str(&sum_line((from_s, until_s), bytes, &end));
            }
        }
        if self.json {
            self.intervals.push(json!({ "streams": streams }));
            text.clear();
        }
        self.before = now;
        text
    }

    /// The test is over: sums of both ends, by what each of them counted.
    pub fn end(self, flows: &[Flow], own: &[StreamResult], far: &[StreamResult]) -> String {
        let far_of = |id: u64| far.iter().find(|it| it.id == id).copied();
        let mut both = Vec::new();
        for (flow, own) in flows.iter().zip(own) {
            let far = far_of(flow.id);
            let (sent, received) = match flow.sends {
                true => (Some(*own), far),
                false => (far, Some(*own)),
            };
            both.push((flow.id, flow.sends, sent, received));
        }
        if self.json {
            let value = self.to_json(&both);
            return format!("{value:#}\n");
        }
        let mut text = "- ".repeat(25);
        text.push('\n');
        let mut sums = [(0u64, 0.0f64, 0u32); 2];
        for (id, _, sent, received) in &both {
            for (at, (one, role)) in [(sent, "sender"), (received, "receiver")]
                .into_iter()
                .enumerate()
            {
                let Some(one) = one else {
                    continue;
                };
                sums[at].0 += one.bytes;
                sums[at].1 = sums[at].1.max(one.seconds);
                sums[at].2 += 1;
                let losses = match (self.params.udp, role) {
                    (true, "receiver") => format!(
                        "  {:.3} ms  {}/{} ({:.2}%)",
                        one.jitter_s * 1e3,
                        one.lost,
                        one.packets,
                        percent(one)
                    ),
                    _ => String::new(),
                };
                let end = format!("{losses}  {role}");
                text.push_str(&line(
                    id + FIRST_SOCKET,
                    (0.0, one.seconds),
                    one.bytes,
                    &end,
                ));
            }
        }
        for ((bytes, seconds, count), role) in sums.into_iter().zip(["sender", "receiver"]) {
            if count > 1 {
                text.push_str(&sum_line((0.0, seconds), bytes, role));
            }
        }
        text
    }

    fn to_json(&self, both: &[(u64, bool, Option<StreamResult>, Option<StreamResult>)]) -> Value {
        let one = |it: &Option<StreamResult>, sends: bool| match it {
            None => Value::Null,
            Some(it) => {
                let mut value = amounts((0.0, it.seconds), it.bytes, sends);
                if self.params.udp {
                    value["jitter_ms"] = json!(it.jitter_s * 1e3);
                    value["lost_packets"] = json!(it.lost);
                    value["packets"] = json!(it.packets);
                    value["lost_percent"] = json!(percent(it));
                }
                value
            }
        };
        let sum = |results: Vec<&StreamResult>| {
            let seconds = results.iter().map(|it| it.seconds).fold(0.0, f64::max);
            amounts(
                (0.0, seconds),
                results.iter().map(|it| it.bytes).sum(),
                true,
            )
        };
        let sent = both
            .iter()
            .filter_map(|(_, _, sent, _)| sent.as_ref())
            .collect();
        let received = both
            .iter()
            .filter_map(|(_, _, _, received)| received.as_ref())
            .collect();
        let streams = both.iter().map(|(_, sends, sent, received)| {
            json!({ "sender": one(sent, *sends), "receiver": one(received, *sends) })
        });
        json!({
            "start": {
                "version": format!("sokudo {}", env!("CARGO_PKG_VERSION")),
                "test_start": {
                    "protocol": if self.params.udp { "UDP" } else { "TCP" },
                    "num_streams": self.params.parallel,
                    "blksize": self.params.block,
                    "duration": self.params.seconds,
                    "omit": self.params.omit,
                    "bytes": self.params.bytes,
                    "reverse": i32::from(self.params.reverse),
                    "bidir": i32::from(self.params.bidir),
                    "target_bitrate": self.params.bits_per_s,
                },
            },
            "intervals": self.intervals,
            "end": {
                "streams": streams.collect::<Vec<_>>(),
                "sum_sent": sum(sent),
                "sum_received": sum(received),
            },
        })
    }
}

fn percent(one: &StreamResult) -> f64 {
    match one.packets {
        0 => 0.0,
        packets => one.lost as f64 / packets as f64 * 100.0,
    }
}

fn amounts((from_s, to_s): (f64, f64), bytes: u64, sends: bool) -> Value {
    let seconds = to_s - from_s;
    let bits = if seconds > 0.0 {
        bytes as f64 * 8.0 / seconds
    } else {
        0.0
    };
    json!({ "start": from_s, "end": to_s, "seconds": seconds, "bytes": bytes, "bits_per_second": bits, "sender": sends })
}

fn way(flow: &Flow) -> &'static str {
    if flow.sends { "  TX" } else { "  RX" }
}

fn line(id: u64, span: (f64, f64), bytes: u64, end: &str) -> String {
    format!("[{id:3}] {}{end}\n", numbers(span, bytes))
}

fn sum_line(span: (f64, f64), bytes: u64, role: &str) -> String {
    format!("[SUM] {}  {role}\n", numbers(span, bytes))
}

/// Bytes count in powers of 1024 and bits in powers of 1000, as the tool has it.
fn numbers((from_s, to_s): (f64, f64), bytes: u64) -> String {
    let bits = bytes as f64 * 8.0 / (to_s - from_s).max(1e-9);
    let span = format!("{from_s:.2}-{to_s:.2}");
    format!(
        "{span:>12} sec  {}ytes  {}its/sec",
        scaled(bytes as f64, 1024.0, 'B'),
        scaled(bits, 1000.0, 'b')
    )
}

fn scaled(value: f64, base: f64, unit: char) -> String {
    let mut value = value;
    let mut sign = ' ';
    for next in ['K', 'M', 'G', 'T'] {
        if value < base {
            break;
        }
        value /= base;
        sign = next;
    }
    let unit = if unit == 'b' { 'b' } else { 'B' };
    let digits = if value < 9.995 {
        2
    } else {
        usize::from(value < 99.95)
    };
    format!("{value:>4.digits$} {sign}{unit}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_stand_as_in_the_tool() {
        let text = line(5, (0.0, 1.0), 4_831_838_208, "");
        assert_eq!(
            text,
            "[  5]    0.00-1.00 sec  4.50 GBytes  38.7 Gbits/sec\n"
        );
    }
}
