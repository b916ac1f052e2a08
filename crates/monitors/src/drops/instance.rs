//! A trace instance: a folder in tracefs with a ring buffer of its own.

use std::fs::{self, File};
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};

use sokudo_model::Text;

use crate::reread::cannot_open;
use crate::{Context, Unavailable};

/// Places where tracefs may be mounted, below `/sys`.
const PLACES: [&str; 2] = ["kernel/tracing", "kernel/debug/tracing"];
/// Begin of the names of our instances; the number of the process follows.
const NAME: &str = "sokudo-";
/// Ring buffer of each core: some 20,000 events.
const BUFFER_KIB: &str = "1024";
/// Most bytes of text that one sample reads, about 12,000 events: what is left is read, or lost and counted, at the
/// next.
const MOST_BYTES: usize = 2 << 20;
const PIECE_BYTES: usize = 64 << 10;

/// An instance that traces dropped packets. It is removed when it is dropped.
pub(super) struct Instance {
    /// Closed before the folder is removed: an open file keeps it.
    pipe: Option<File>,
    folder: PathBuf,
    text: Vec<u8>,
}

impl Instance {
    /// Errors: tracefs is not there, or this user may not trace.
    pub(super) fn open(ctx: &Context) -> Result<Self, Unavailable> {
        let places = PLACES.iter().map(|place| ctx.sys_path(place));
        let found = places
            .map(|place| place.join("instances"))
            .find(|it| it.is_dir());
        let Some(instances) = found else {
            return Err(Unavailable::System(Text::new("error-monitor-tracefs")));
        };
        remove_abandoned(&instances, ctx);
        let folder = instances.join(format!("{NAME}{}-{}", std::process::id(), number()));
        let failed = |error: io::Error| cannot_open(&folder, &error);
        fs::create_dir(&folder).map_err(failed)?;
        let mut made = Self {
            pipe: None,
            folder: folder.clone(),
            text: Vec::new(),
        };
        made.begin().map_err(failed)?;
        Ok(made)
    }

    fn begin(&mut self) -> io::Result<()> {
        fs::write(self.folder.join("buffer_size_kb"), BUFFER_KIB)?;
        self.pipe = Some(open_without_waiting(&self.folder.join("trace_pipe"))?);
        fs::write(self.switch(), "1")
    }

    fn switch(&self) -> PathBuf {
        self.folder.join("events/skb/kfree_skb/enable")
    }

    /// Reads the lines that came since the last time, up to a bound.
    pub(super) fn read(&mut self, mut each: impl FnMut(&str)) {
        let Some(pipe) = &mut self.pipe else {
            return;
        };
        let (mut piece, mut total) = (vec![0; PIECE_BYTES], 0);
        // An error says that there is no more for now.
        while total < MOST_BYTES
            && let Ok(count @ 1..) = pipe.read(&mut piece)
        {
            total += count;
            self.text.extend_from_slice(&piece[..count]);
            let whole = self.text.iter().rposition(|byte| *byte == b'\n');
            let whole = whole.map_or(0, |at| at + 1);
            for line in self.text[..whole].split(|byte| *byte == b'\n') {
                each(&String::from_utf8_lossy(line));
            }
            self.text.drain(..whole);
            if self.text.len() > PIECE_BYTES {
                self.text.clear();
            }
        }
    }
}

impl Drop for Instance {
    fn drop(&mut self) {
        // What cannot be undone here is undone by the next run: `remove_abandoned`.
        let _ = fs::write(self.switch(), "0");
        self.pipe = None;
        let _ = fs::remove_dir(&self.folder);
    }
}

/// Removes instances of processes that ended without doing so.
fn remove_abandoned(instances: &Path, ctx: &Context) {
    let entries = fs::read_dir(instances).into_iter().flatten().flatten();
    for entry in entries {
        let name = entry.file_name();
        let process = name.to_str().and_then(|name| name.strip_prefix(NAME));
        let process = process.and_then(|rest| rest.split('-').next());
        if let Some(process) = process
            && !ctx.proc_path(process).exists()
        {
            let _ = fs::write(entry.path().join("events/skb/kfree_skb/enable"), "0");
            let _ = fs::remove_dir(entry.path());
        }
    }
}

/// Number of the next instance of this process.
fn number() -> u32 {
    use std::sync::atomic::{AtomicU32, Ordering};
    static NEXT: AtomicU32 = AtomicU32::new(0);
    NEXT.fetch_add(1, Ordering::Relaxed)
}

#[cfg(target_os = "linux")]
fn open_without_waiting(path: &Path) -> io::Result<File> {
    use rustix::fs::{Mode, OFlags, open};
    let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::CLOEXEC;
    Ok(open(path, flags, Mode::empty())?.into())
}

#[cfg(not(target_os = "linux"))]
fn open_without_waiting(_path: &Path) -> io::Result<File> {
    Err(io::ErrorKind::Unsupported.into())
}
