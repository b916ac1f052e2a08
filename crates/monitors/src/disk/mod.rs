//! `disk`: load of the machine's disks.
//!
//! Source: `/proc/diskstats`, whole devices only. Mean queue depth is the growth of the requests'
//! summed time over elapsed time (Little's law); the kernel's share of busy time is not shown, since
//! a device that serves many requests at once is "busy" long before it is full. A device that was
//! never used is not shown either.

mod parse;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use sokudo_model::metrics::host;
use sokudo_model::{Batch, SeriesKey};

use crate::emit::{Emit, Interval, SOURCE_HOST, Total, key};
use crate::reread::Reread;
use crate::{Context, Monitor, NoOptions, Sampler, Unavailable, whole_machine};

/// Unit of the sector columns, whatever the device's own block size.
const SECTOR_BYTES: f64 = 512.0;

/// More devices than this are not shown.
const MAX_SHOWN: usize = 64;

const METRICS: &[&str] = &[
    host::DISK_READ_BYTES_PER_SECOND.name,
    host::DISK_WRITE_BYTES_PER_SECOND.name,
    host::DISK_QUEUE_DEPTH.name,
];

/// Monitor of block devices.
pub(crate) struct Disk;

impl Monitor for Disk {
    type Options = NoOptions;

    fn name(&self) -> &'static str {
        "disk"
    }

    fn help(&self) -> &'static str {
        "bytes read and written by each disk, mean requests in flight"
    }

    fn metrics(&self) -> &'static [&'static str] {
        METRICS
    }

    fn open(&self, _: NoOptions, ctx: &Context) -> Result<Box<dyn Sampler>, Unavailable> {
        whole_machine(ctx)?;
        Ok(Box::new(DiskSampler {
            diskstats: Reread::open_readable(&ctx.proc_path("diskstats"))?,
            sys_block: ctx.sys_path("block"),
            interval: Interval::default(),
            devices: BTreeMap::new(),
            host: ctx.host.clone(),
        }))
    }
}

struct DiskSampler {
    host: String,
    diskstats: Reread,
    sys_block: PathBuf,
    interval: Interval,
    /// `None`: seen, and not to be shown.
    devices: BTreeMap<String, Option<DeviceState>>,
}

struct DeviceState {
    read: (SeriesKey, Total),
    written: (SeriesKey, Total),
    weighted: (SeriesKey, Total),
}

impl Sampler for DiskSampler {
    fn sample(&mut self, t_ns: i64, out: &mut Batch) {
        let elapsed_s = self.interval.step(t_ns);
        let Some(text) = self.diskstats.text() else {
            return;
        };
        let mut emit = Emit::new(out, t_ns, &self.host, METRICS);
        let mut shown = self.devices.values().flatten().count();
        for device in parse::diskstats(text) {
            if !self.devices.contains_key(device.name) {
                let state = (shown < MAX_SHOWN && is_whole_device(&self.sys_block, device.name))
                    .then(|| DeviceState::new(&self.host, device.name));
                shown += usize::from(state.is_some());
                if self.devices.len() < parse::MAX_DEVICES {
                    self.devices.insert(device.name.to_owned(), state);
                }
            }
            if let Some(Some(state)) = self.devices.get_mut(device.name) {
                state.step(&device, elapsed_s, &mut emit);
            }
        }
    }
}

impl DeviceState {
    fn new(host: &str, device: &str) -> Self {
        let counter = |metric| {
            let key = key(host, SOURCE_HOST, metric, &[("device", device)]);
            (key, Total::default())
        };
        Self {
            read: counter(METRICS[0]),
            written: counter(METRICS[1]),
            weighted: counter(METRICS[2]),
        }
    }

    fn step(&mut self, now: &parse::Device<'_>, elapsed_s: Option<f64>, emit: &mut Emit<'_>) {
        let read = self.read.1.step(now.read_sectors);
        let written = self.written.1.step(now.written_sectors);
        let weighted_ms = self.weighted.1.step_wrapping_32(now.weighted_ms);
        let Some(elapsed_s) = elapsed_s else {
            return;
        };
        if now.read_sectors == 0 && now.written_sectors == 0 {
            return;
        }
        for (key, growth, unit) in [
            (&self.read.0, read, SECTOR_BYTES),
            (&self.written.0, written, SECTOR_BYTES),
            (&self.weighted.0, weighted_ms, 1e-3),
        ] {
            if let Some(growth) = growth {
                emit.put(key, growth as f64 * unit / elapsed_s);
            }
        }
    }
}

/// `/sys/block` lists whole devices, not partitions; where it cannot be read all are shown.
fn is_whole_device(sys_block: &Path, name: &str) -> bool {
    // The kernel writes `!` where a device's name has a slash.
    let entry = name.replace('/', "!");
    !sys_block.is_dir() || sys_block.join(entry).exists()
}
