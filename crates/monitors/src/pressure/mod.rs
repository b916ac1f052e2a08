//! `pressure`: time that tasks were stalled for want of CPU, memory or I/O.
//!
//! Source: the totals of `/proc/pressure/*` (Linux 4.20 with PSI on), not the kernel's ready-made
//! averages, which look back ten seconds. `full` of the CPU means nothing for a whole machine (the
//! kernel writes zero) and is left out.

mod parse;

use sokudo_model::metrics::host;
use sokudo_model::{Batch, SeriesKey};

use crate::emit::{Emit, Interval, SOURCE_HOST, Total, key};
use crate::reread::Reread;
use crate::{Context, Monitor, NoOptions, Sampler, Unavailable, whole_machine};

const METRICS: &[&str] = &[host::PRESSURE_RATIO.name];

const RESOURCES: [&str; 3] = ["cpu", "memory", "io"];

/// Monitor of stalled time.
pub(crate) struct Pressure;

impl Monitor for Pressure {
    type Options = NoOptions;

    fn name(&self) -> &'static str {
        "pressure"
    }

    fn help(&self) -> &'static str {
        "share of time that tasks stalled for want of CPU, memory or I/O"
    }

    fn metrics(&self) -> &'static [&'static str] {
        METRICS
    }

    fn open(&self, _: NoOptions, ctx: &Context) -> Result<Box<dyn Sampler>, Unavailable> {
        whole_machine(ctx)?;
        let mut resources = Vec::with_capacity(RESOURCES.len());
        for resource in RESOURCES {
            resources.push(open_resource(ctx, resource)?);
        }
        Ok(Box::new(PressureSampler {
            host: ctx.host.clone(),
            interval: Interval::default(),
            resources,
        }))
    }
}

struct PressureSampler {
    host: String,
    interval: Interval,
    resources: Vec<Resource>,
}

struct Resource {
    file: Reread,
    some: (SeriesKey, Total),
    full: Option<(SeriesKey, Total)>,
}

fn open_resource(ctx: &Context, resource: &str) -> Result<Resource, Unavailable> {
    let counter = |kind| {
        let labels = [("resource", resource), ("kind", kind)];
        let key = key(&ctx.host, SOURCE_HOST, METRICS[0], &labels);
        (key, Total::default())
    };
    Ok(Resource {
        file: Reread::open_readable(&ctx.proc_path("pressure").join(resource))?,
        some: counter("some"),
        full: (resource != "cpu").then(|| counter("full")),
    })
}

impl Sampler for PressureSampler {
    fn sample(&mut self, t_ns: i64, out: &mut Batch) {
        let elapsed_s = self.interval.step(t_ns);
        let mut emit = Emit::new(out, t_ns, &self.host, METRICS);
        for resource in &mut self.resources {
            let text = resource.file.text();
            let Some(now) = text.and_then(|text| parse::pressure(text).ok()) else {
                continue;
            };
            let some = Some((&mut resource.some, now.some_us));
            let full = resource.full.as_mut().zip(now.full_us);
            for ((key, total), now_us) in some.into_iter().chain(full) {
                if let (Some(grown_us), Some(elapsed_s)) = (total.step(now_us), elapsed_s) {
                    // The kernel folds its books in at reading time, so an interval may seem to
                    // hold a little more stalled time than time.
                    emit.put(key, (grown_us as f64 / 1e6 / elapsed_s).min(1.0));
                }
            }
        }
    }
}
