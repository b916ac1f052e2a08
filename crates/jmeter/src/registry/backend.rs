//! Backend listeners.

use std::collections::HashMap;

use crate::compile::ElementReader;
use crate::plan::{Backend, Chosen, Destination, Influx, ListenerKind};

const GRAPHITE: &str = "GraphiteBackendListenerClient";
const INFLUX: &str = "InfluxdbBackendListenerClient";
/// Ports of Graphite: for lines, and for pickled messages.
const GRAPHITE_PORTS: (u16, u16) = (2003, 2004);
/// Default window size, and that of windows that are reset after each message.
const WINDOWS: (f64, f64) = (100.0, 5_000.0);
/// Largest window size.
const MOST_WINDOW: f64 = 100_000.0;
/// Prefix of arguments that are additional tags.
const TAG: &str = "TAG_";

pub(super) fn backend(reader: &mut ElementReader<'_, '_>) -> ListenerKind {
    reader.ignore(&["QUEUE_SIZE"]);
    let class = reader.start_text("classname");
    let class = class.rsplit('.').next().unwrap_or_default().to_owned();
    let arguments = reader.inner("arguments", |inner| {
        inner.each("Arguments.arguments", |argument| {
            let name = argument.start_text("Argument.name").trim().to_owned();
            (name, argument.start_text("Argument.value"))
        })
    });
    let arguments = Arguments(arguments.into_iter().collect());
    let (to, labels, send_interval, summary_only) = match class.as_str() {
        GRAPHITE => (
            graphite(&arguments),
            listed(&arguments),
            ("backend_graphite.send_interval", 1),
            true,
        ),
        INFLUX => (
            Destination::Influx(influx(&arguments)),
            Chosen::Containing(arguments.text("samplersRegex")),
            ("backend_influxdb.send_interval", 5),
            false,
        ),
        _ => (
            Destination::Nobody(class.clone()),
            Chosen::Listed(Vec::new()),
            ("", 5),
            false,
        ),
    };
    let properties = reader.compiler.settings.properties.clone();
    let number = |name: &str, otherwise: f64| properties.number(name).unwrap_or(otherwise);
    let begins_anew = properties
        .get("backend_metrics_window_mode")
        .is_some_and(|mode| mode.trim().eq_ignore_ascii_case("timed"));
    let window = match begins_anew {
        true => number("backend_metrics_large_window", WINDOWS.1),
        false => number("backend_metrics_window", WINDOWS.0),
    };
    let interval = properties.get(send_interval.0);
    let interval = interval.and_then(|seconds| seconds.trim().parse().ok());
    ListenerKind::Backend(Box::new(Backend {
        to,
        summary_only: arguments.flag("summaryOnly", summary_only),
        labels,
        percentiles: percentiles(&arguments.text("percentiles")),
        interval_s: interval.unwrap_or(send_interval.1).max(1),
        window: window.clamp(1.0, MOST_WINDOW) as usize,
        begins_anew,
    }))
}

/// The arguments of a client by name.
struct Arguments(HashMap<String, String>);

impl Arguments {
    fn text(&self, name: &str) -> String {
        self.0
            .get(name)
            .map(|value| value.trim().into())
            .unwrap_or_default()
    }

    fn text_or(&self, name: &str, otherwise: &str) -> String {
        let value = self.0.get(name).cloned();
        value.unwrap_or_else(|| otherwise.into())
    }

    fn flag(&self, name: &str, otherwise: bool) -> bool {
        match self.text(name).as_str() {
            "" => otherwise,
            value => value.eq_ignore_ascii_case("true"),
        }
    }
}

fn graphite(arguments: &Arguments) -> Destination {
    let pickled = arguments
        .text("graphiteMetricsSender")
        .ends_with(".PickleGraphiteMetricsSender");
    let port = if pickled {
        GRAPHITE_PORTS.1
    } else {
        GRAPHITE_PORTS.0
    };
    Destination::Graphite {
        host: arguments.text("graphiteHost"),
        port: arguments.text("graphitePort").parse().unwrap_or(port),
        prefix: arguments.text_or("rootMetricsPrefix", "jmeter."),
        pickled,
    }
}

fn listed(arguments: &Arguments) -> Chosen {
    let labels = arguments.text("samplersList");
    match arguments.flag("useRegexpForSamplersList", false) {
        true => Chosen::Matching(labels),
        false => Chosen::Listed(labels.split(';').map(str::to_owned).collect()),
    }
}

fn influx(arguments: &Arguments) -> Influx {
    let own = arguments.0.iter().filter_map(|(name, value)| {
        let (name, value) = (name.strip_prefix(TAG)?, value.trim());
        (!value.is_empty()).then(|| (name.to_owned(), value.to_owned()))
    });
    let mut tags: Vec<_> = own.collect();
    tags.sort();
    Influx {
        url: arguments.text("influxdbUrl"),
        datagrams: arguments
            .text("influxdbMetricsSender")
            .ends_with(".UdpMetricsSender"),
        token: arguments.text("influxdbToken"),
        application: arguments.text("application"),
        measurement: arguments.text_or("measurement", "jmeter"),
        title: arguments.text_or("testTitle", "Test"),
        event_tags: arguments.text("eventTags"),
        tags,
    }
}

/// The percentiles of a list; invalid ones are left out.
fn percentiles(text: &str) -> Vec<f32> {
    let all = text.split(';').filter_map(|one| one.trim().parse().ok());
    let mut found = Vec::new();
    for one in all.filter(|one| *one > 0.0 && *one <= 100.0) {
        if !found.contains(&one) {
            found.push(one);
        }
    }
    found
}
