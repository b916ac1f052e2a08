//! `--out`: the samples of a run for other systems while it goes on.
//!
//! ```text
//! notes of the controller ─► Beside ─► a queue per sink (never waited for)
//!                               └────► the terminal
//! ```

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use clap::Args;
use sokudo_controller::{Observer, Progress};
use sokudo_i18n::{I18n, Lang};
use sokudo_model::secrets::hidden;
use sokudo_model::{Batch, Manifest, Text, Unit};
use sokudo_out::{Delivered, Outs, Point, SinkAddress, Trouble};
use sokudo_session::page::Onward;

use super::Failure;
use super::screen::tell;

/// Where samples go while a run goes on.
#[derive(Debug, Clone, Default, Args)]
pub struct OutArgs {
    /// Hand every sample on while the run goes on: `openmetrics=127.0.0.1:9464` serves the newest values,
    /// `prometheus=http://HOST:9090/api/v1/write`, `influx=http://HOST:8086/write?db=load`,
    /// `influx=udp://HOST:8089` and `otlp=http://HOST:4318/v1/metrics` send them. May be given several
    /// times. The load never waits for a sink.
    #[arg(long, value_name = "KIND=PLACE")]
    out: Vec<String>,
}

impl OutArgs {
    /// Opens the sinks. Errors: a text that names none, or an address that cannot be served.
    pub fn open(&self, lang: Lang) -> Result<Sinks, Failure> {
        let places = self.out.iter().map(|text| {
            text.parse::<SinkAddress>().map_err(|bad| {
                Failure::operator(
                    Text::new("error-out-place").with("text", hidden(&bad.0)),
                    Text::new("error-out-place-hint"),
                )
            })
        });
        let places: Vec<SinkAddress> = places.collect::<Result<_, _>>()?;
        let outs = Outs::open(&places).map_err(|trouble| {
            Failure::operator(
                Text::new("error-out-listen")
                    .with("place", trouble.place)
                    .with("why", trouble.why),
                Text::new("error-out-listen-hint"),
            )
        })?;
        let state = State {
            outs,
            begin: None,
            run: String::new(),
        };
        Ok(Sinks {
            state: Arc::new(Mutex::new(state)),
            lang,
        })
    }
}

/// The sinks of one run.
pub struct Sinks {
    state: Arc<Mutex<State>>,
    lang: Lang,
}

struct State {
    outs: Outs,
    /// Start of the run, nanoseconds since the Unix epoch; unknown until it begins.
    begin: Option<i64>,
    run: String,
}

impl Sinks {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// An observer that hands samples on and passes everything to `inner`.
    pub fn around(&self, inner: Box<dyn Observer>) -> Box<dyn Observer> {
        if self.state().outs.is_empty() {
            return inner;
        }
        Box::new(Beside {
            sinks: Self {
                state: Arc::clone(&self.state),
                lang: self.lang,
            },
            inner,
        })
    }

    /// Samples from now on have a moment.
    pub fn begins(&self, manifest: &Manifest) {
        let mut state = self.state();
        state.begin = Some(manifest.started_unix_ns);
        state.run = manifest.id.0.clone();
    }

    /// Ends the sinks; says of those that did not get everything what they lack.
    pub fn close(&self) -> Vec<Text> {
        let outs = std::mem::take(&mut self.state().outs);
        let delivered = outs.close().into_iter();
        delivered.filter(|it| it.lost > 0).map(lost).collect()
    }
}

impl Onward for Sinks {
    fn around(&self, page: Box<dyn Observer>) -> Box<dyn Observer> {
        Sinks::around(self, page)
    }

    fn begins(&self, manifest: &Manifest) {
        Sinks::begins(self, manifest);
    }
}

fn lost(delivered: Delivered) -> Text {
    let key = match delivered.why.is_empty() {
        true => "out-queue-full",
        false => "out-lost",
    };
    let all = delivered.sent + delivered.lost;
    Text::new(key)
        .word("place", hidden(&delivered.place))
        .word("why", delivered.why)
        .number("lost", delivered.lost as f64, Unit::One)
        .number("all", all as f64, Unit::One)
}

/// The sentence about a sink that takes no samples. Terminals are kept too, so that it holds no secrets.
fn down(trouble: &Trouble) -> Text {
    Text::new("out-down")
        .word("place", hidden(&trouble.place))
        .word("why", &*trouble.why)
}

struct Beside {
    sinks: Sinks,
    inner: Box<dyn Observer>,
}

impl Observer for Beside {
    fn note(&mut self, progress: &Progress<'_>) {
        if let Progress::Batch(batch) = progress {
            let state = self.sinks.state();
            if let Some(begin) = state.begin {
                state.outs.offer(points(batch, begin, &state.run));
            }
            for trouble in state.outs.news() {
                tell(&I18n::new(self.sinks.lang).text(&down(&trouble)));
            }
        }
        self.inner.note(progress);
    }
}

/// The samples of a batch. Single requests that are kept one by one do not make a series of a dashboard.
fn points(batch: &Batch, begin: i64, run: &str) -> Vec<Point> {
    let kept = batch.series.iter().filter(|series| {
        let own = series.key.metric.rsplit('.').next();
        own.is_none_or(|own| !own.starts_with("each_"))
    });
    let points = kept.flat_map(|series| {
        let key = &series.key;
        let mut labels = key.labels.clone();
        labels.insert("host".into(), key.host.clone());
        labels.insert("run".into(), run.to_owned());
        let finite = series.points.iter().filter(|(_, value)| value.is_finite());
        finite.map(move |(t_ns, value)| Point {
            metric: key.metric.clone(),
            labels: labels.clone(),
            unix_ns: begin.saturating_add(*t_ns),
            value: *value,
        })
    });
    points.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_in_the_address_of_a_sink_are_not_printed() {
        let place = "influx=http://h:8086/write?db=a&token=geheim";
        let trouble = Trouble {
            place: place.into(),
            why: "nobody listens".into(),
        };
        let says = I18n::new(Lang::En).text(&down(&trouble));
        assert!(says.contains("db=a&token=(hidden)"), "{says}");
        let wrong = OutArgs {
            out: vec!["influxx=http://me:geheim@h/?token=geheim".into()],
        };
        let refused = wrong.open(Lang::En).err().expect("no such sink");
        assert!(!format!("{refused:?}").contains("geheim"), "{refused:?}");
    }
}
