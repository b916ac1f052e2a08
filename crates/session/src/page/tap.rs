//! Tells the page what happens in a run, without waiting for it.

use sokudo_controller::{Observer, Progress};
use sokudo_model::Text;
use sokudo_model::settings::Setting;
use sokudo_web::feed::{SentenceKind, Told};
use sokudo_web::{Feed, failures, mix, tracks};
use sokudo_wire::Health;

/// Shortest time between two words about how much of a phase is over, nanoseconds.
const ELAPSED_NS: u64 = 200_000_000;

/// Watches a run for the page.
pub struct Tap {
    feed: Feed,
    told_ns: u64,
}

impl Tap {
    /// Tells this feed.
    pub fn new(feed: Feed) -> Self {
        Self { feed, told_ns: 0 }
    }
}

impl Observer for Tap {
    fn note(&mut self, progress: &Progress<'_>) {
        match progress {
            Progress::Doing(what) => self.feed.offer(Told::Doing((*what).clone())),
            // The page says itself what it waits for.
            Progress::Ready => {}
            Progress::Says(what) => self
                .feed
                .offer(Told::Says(SentenceKind::Answer, (*what).clone())),
            Progress::PhaseBegins(plan) => {
                self.told_ns = 0;
                let (name, of_ns) = (plan.name.clone(), plan.duration_ns);
                self.feed.offer(Told::PhaseBegins(name, of_ns));
            }
            Progress::Batch(batch) => {
                let drawn = tracks::pick(batch);
                if !drawn.is_empty() {
                    self.feed.offer(Told::Samples(drawn));
                }
                let failed = failures::pick(batch);
                if !failed.is_empty() {
                    self.feed.offer(Told::Failures(failed));
                }
                let rows = mix::pick(batch);
                if !rows.is_empty() {
                    self.feed.offer(Told::Mix(rows));
                }
                let series = batch.series.iter();
                let in_force: Vec<Setting> = series.filter_map(|it| Setting::of(&it.key)).collect();
                if !in_force.is_empty() {
                    self.feed.offer(Told::Settings(in_force));
                }
            }
            Progress::Elapsed { elapsed_ns, .. } => {
                if elapsed_ns.saturating_sub(self.told_ns) >= ELAPSED_NS {
                    self.told_ns = *elapsed_ns;
                    self.feed.offer(Told::Elapsed(*elapsed_ns));
                }
            }
            Progress::PhaseEnds(moment) => {
                if let Some(phase) = moment.first() {
                    let name = phase.moment().to_owned();
                    let ends = Told::PhaseEnds(name, phase.t0_ns, phase.t1_ns);
                    self.feed.offer(ends);
                }
            }
            Progress::Health { host, health, says } => {
                let (host, word) = ((*host).to_owned(), health.word());
                self.feed.offer(Told::Health(host, word));
                // That it is lost is said as a problem.
                if *health != Health::Lost {
                    self.feed
                        .offer(Told::Says(SentenceKind::Answer, (*says).clone()));
                }
            }
            Progress::Problem(problem) => {
                let says: Text = problem.says.clone();
                self.feed.offer(Told::Says(SentenceKind::Problem, says));
            }
        }
    }
}
