//! Scrapes what another program tells of itself: any Prometheus or OpenMetrics endpoint over HTTP.
//!
//! One `GET` per sample, bounded in time and bytes; redirects are not followed. Counters become rates,
//! gauges stay; a mapping chooses and names them. Names that the endpoint chose are in no catalogue: they
//! stand under [`sokudo_model::metric::SCRAPED`], and their unit is what they end with. An endpoint that
//! is silent, broken or not HTTP gives `openmetrics.up` 0 and an event with the reason.

mod answer;
mod line;
mod mapping;
mod other;
mod parse;
mod scrape;
mod series;

use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use sokudo_model::metrics::openmetrics;
use sokudo_model::{Batch, On, SeriesKey, Text};

pub(crate) use self::line::Line;
use self::mapping::{MAX_FILE, Mapping};
pub(crate) use self::parse::{Exposition, one_sample};
pub(crate) use self::scrape::{Body, Url};
use self::series::Book;
use crate::contract::{Files, Monitor, Reach, Sampler, most_wrong};
use crate::emit::Emit;
use crate::reread::read_bounded;
use crate::{Context, Time, Unavailable};

/// Name of the source of its series.
const SOURCE: &str = "openmetrics";
/// Longest wait for an answer that can be asked for.
const MAX_TIMEOUT: Duration = Duration::from_secs(60);
/// Shortest time between two scrapes where no option says otherwise.
const USUAL: Duration = Duration::from_secs(1);
/// Most series of one endpoint that can be asked for.
const MOST: u32 = 20_000;

const METRICS: &[&str] = &[
    openmetrics::UP.name,
    openmetrics::SCRAPE_SECONDS.name,
    openmetrics::SAMPLES.name,
    openmetrics::LEFT_OUT_SAMPLES.name,
];

/// Which endpoint is scraped, and what of it is kept.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct OpenMetricsOptions {
    /// Address of the endpoint: `http://HOST:PORT/metrics`.
    url: String,
    /// Longest wait for an answer, 100ms to 60s.
    #[serde(default = "usual_timeout")]
    timeout: Time,
    /// Most series, 1 to 20000; what finds no room is counted.
    #[serde(default = "usual_most")]
    most: u32,
    /// File (TOML) that says which metrics become which series; without it every counter and gauge.
    #[serde(default)]
    mapping: Option<Mapping>,
}

fn usual_timeout() -> Time {
    Time::from_ms(5000)
}

fn usual_most() -> u32 {
    1000
}

impl OpenMetricsOptions {
    fn timeout(&self) -> Duration {
        Duration::from_nanos(self.timeout.0.0)
    }
}

/// Monitor of endpoints that tell metrics.
pub(crate) struct OpenMetrics;

impl Monitor for OpenMetrics {
    type Options = OpenMetricsOptions;

    fn name(&self) -> &'static str {
        "openmetrics"
    }

    fn help(&self) -> &'static str {
        "what a Prometheus or OpenMetrics endpoint tells, as series named scraped.…"
    }

    fn metrics(&self) -> &'static [&'static str] {
        METRICS
    }

    fn is_standing(&self) -> bool {
        false
    }

    fn may_block(&self) -> bool {
        true
    }

    fn cadence(&self, interval: Duration) -> Duration {
        interval.max(USUAL)
    }

    fn observers(&self) -> On {
        On::First
    }

    fn word(&self, key: &str, word: &str, files: Files) -> Result<Value, Text> {
        if key != "mapping" {
            return Ok(word.into());
        }
        mapping_file(word, files, Mapping::parse)
    }

    fn check(&self, options: &OpenMetricsOptions) -> Result<(), Text> {
        Url::parse(&options.url)?;
        if !(Duration::from_millis(100)..=MAX_TIMEOUT).contains(&options.timeout()) {
            return Err(Text::new("error-monitor-timeout"));
        }
        if !(1..=MOST).contains(&options.most) {
            return Err(most_wrong(options.most, MOST));
        }
        options.mapping.as_ref().map_or(Ok(()), Mapping::check)
    }

    fn reaches(&self, options: &OpenMetricsOptions) -> Vec<Reach> {
        // Options whose address cannot be read are refused by `check` before.
        let url = Url::parse(&options.url).into_iter();
        url.map(|url| Reach::Address {
            host: url.host,
            port: url.port,
        })
        .collect()
    }

    fn open(
        &self,
        options: OpenMetricsOptions,
        ctx: &Context,
    ) -> Result<Box<dyn Sampler>, Unavailable> {
        let url = Url::parse(&options.url).map_err(Unavailable::System)?;
        let timeout = options.timeout();
        let book = Book::new(
            &ctx.host,
            &url.endpoint(),
            options.mapping,
            options.most as usize,
        );
        Ok(Box::new(ScrapeSampler {
            keys: std::array::from_fn(|at| book.own_key(METRICS[at])),
            host: ctx.host.clone(),
            line: Line::new(&ctx.host, SOURCE, (url, Body::Exposition), timeout, None),
            book,
            number: 0,
        }))
    }
}

struct ScrapeSampler {
    host: String,
    line: Line,
    book: Book,
    /// Keys of [`METRICS`].
    keys: [SeriesKey; 4],
    /// Answers so far.
    number: u64,
}

impl Sampler for ScrapeSampler {
    fn sample(&mut self, t_ns: i64, out: &mut Batch) {
        let (read, took) = self.line.scrape(t_ns, &mut out.events);
        let [up, seconds, samples, left_out] = &self.keys;
        let mut emit = Emit::new(out, t_ns, &self.host, METRICS);
        emit.put(up, f64::from(u8::from(read.is_some())));
        emit.put(seconds, took.as_secs_f64());
        let Some(read) = read else { return };
        self.number += 1;
        emit.put(samples, read.samples.len() as f64);
        let count = self.book.take(t_ns, self.number, &read, &mut emit);
        emit.put(left_out, count as f64);
    }
}

/// Reads the file of a mapping, and what it says as JSON. Errors: why that cannot be.
pub(crate) fn mapping_file<M: Serialize>(
    file: &str,
    files: Files,
    parse: impl Fn(&str) -> Result<M, Text>,
) -> Result<Value, Text> {
    if files == Files::Refused {
        return Err(Text::new("error-monitor-file-place"));
    }
    let about = |key: &str| Text::new(key).word("file", file);
    let cannot = |error: std::io::Error| about("error-monitor-file").with("error", error);
    let text = read_bounded(file.as_ref(), MAX_FILE + 1).map_err(cannot)?;
    if text.len() as u64 > MAX_FILE {
        return Err(about("error-monitor-file-long").with("most", MAX_FILE));
    }
    let wrong = |why| about("error-monitor-mapping").text("why", why);
    let mapping = parse(&text).map_err(wrong)?;
    serde_json::to_value(mapping).map_err(|error| Text::words(error.to_string()))
}

/// Reads any bytes as an answer and as metrics, and asserts what holds of whatever is read.
///
/// Panics: a promise is broken.
pub fn any_bytes(bytes: &[u8]) {
    for is_closed in [false, true] {
        if let answer::Answer::Whole { body, .. } = answer::answer(bytes, is_closed) {
            assert!(body.len() <= bytes.len());
            assert!(is_closed || answer::may_be_whole(bytes) || body.is_empty());
        }
    }
    let text = String::from_utf8_lossy(bytes);
    for read in [other::stub_status(&text), other::jolokia(&text)] {
        assert!(read.is_err() || read.is_ok_and(|read| read.samples.len() <= parse::MAX_SAMPLES));
    }
    let Ok(read) = parse::exposition(&text) else {
        return;
    };
    assert!(read.samples.len() <= parse::MAX_SAMPLES);
    let mut book = Book::new("hosta", "hostb:80", None, 10);
    let mut batch = Batch::default();
    for number in 1..=2 {
        let t_ns = number as i64 * 1_000_000_000;
        let mut emit = Emit::new(&mut batch, t_ns, "hosta", &[]);
        book.take(t_ns, number, &read, &mut emit);
    }
    assert!(batch.series.len() <= 10);
    for series in &batch.series {
        assert!(series.key.metric.starts_with(sokudo_model::metric::SCRAPED));
        assert!(series.points.iter().all(|(_, value)| value.is_finite()));
    }
}

#[cfg(test)]
mod tests;
