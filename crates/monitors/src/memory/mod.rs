//! `memory`: use of the machine's memory.
//!
//! Source: `/proc/meminfo`. `MemAvailable`, not `MemFree`: the cache can be given up.

mod parse;

use sokudo_model::metrics::host;
use sokudo_model::{Batch, SeriesKey};

use crate::emit::{Emit, SOURCE_HOST, key};
use crate::reread::Reread;
use crate::{Context, Monitor, NoOptions, Sampler, Unavailable, whole_machine};

pub(crate) use self::parse::meminfo;

const METRICS: &[&str] = &[
    host::MEMORY_AVAILABLE_BYTES.name,
    host::MEMORY_TOTAL_BYTES.name,
    host::SWAP_USED_BYTES.name,
];

/// Monitor of the machine's memory.
pub(crate) struct Memory;

impl Monitor for Memory {
    type Options = NoOptions;

    fn name(&self) -> &'static str {
        "memory"
    }

    fn help(&self) -> &'static str {
        "memory available without swapping, swap in use"
    }

    fn metrics(&self) -> &'static [&'static str] {
        METRICS
    }

    fn open(&self, _: NoOptions, ctx: &Context) -> Result<Box<dyn Sampler>, Unavailable> {
        whole_machine(ctx)?;
        let host = |metric| key(&ctx.host, SOURCE_HOST, metric, &[]);
        Ok(Box::new(MemorySampler {
            meminfo: Reread::open_readable(&ctx.proc_path("meminfo"))?,
            available: host(host::MEMORY_AVAILABLE_BYTES.name),
            total: host(host::MEMORY_TOTAL_BYTES.name),
            swap_used: host(host::SWAP_USED_BYTES.name),
            host: ctx.host.clone(),
        }))
    }
}

struct MemorySampler {
    host: String,
    meminfo: Reread,
    available: SeriesKey,
    total: SeriesKey,
    swap_used: SeriesKey,
}

impl Sampler for MemorySampler {
    fn sample(&mut self, t_ns: i64, out: &mut Batch) {
        let Some(now) = self.meminfo.text().and_then(|text| meminfo(text).ok()) else {
            return;
        };
        let mut emit = Emit::new(out, t_ns, &self.host, METRICS);
        emit.put(&self.total, now.total_bytes as f64);
        for (key, bytes) in [
            (&self.available, now.available_bytes),
            (&self.swap_used, now.swap_used_bytes),
        ] {
            if let Some(bytes) = bytes {
                emit.put(key, bytes as f64);
            }
        }
    }
}
