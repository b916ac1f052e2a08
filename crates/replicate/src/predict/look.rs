//! Properties of a source, as [`crate::sample`] finds them.

use super::Tree;

/// Classes of sizes: powers of two.
pub(crate) const CLASSES: usize = 64;
/// Least bytes of a file that a trial takes, where it has them.
const FRAME_BYTES: f64 = super::FRAME_BYTES;

/// Files of one class of sizes.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct SizeClass {
    /// Files of 2^n to 2^(n+1) bytes.
    pub files: f64,
    /// Their bytes.
    pub bytes: f64,
}

/// Properties of a source.
#[derive(Debug, Clone, PartialEq)]
pub struct Sample {
    /// All of it.
    pub tree: Tree,
    /// By logarithm of the size.
    pub classes: [SizeClass; CLASSES],
    /// Time of the walk per entry.
    pub walk_s: f64,
    /// CPU time to open, read and close a small file, beside its bytes.
    pub file_s: f64,
    /// Bytes per second that reading gave.
    pub read_bytes_per_s: f64,
}

impl Sample {
    /// The part of the source that a trial of about `bytes` takes: the share of its files, and most bytes of
    /// each, so that no single file is the whole trial.
    pub fn part(&self, bytes: f64) -> (f64, u64) {
        if self.tree.bytes <= bytes {
            return (1.0, u64::MAX);
        }
        let most = (bytes / 4.0).max(FRAME_BYTES);
        let taken = |class: &SizeClass| match class.files > 0.0 {
            true => class.files * (class.bytes / class.files).min(most),
            false => 0.0,
        };
        let all: f64 = self.classes.iter().map(taken).sum();
        // So few files that a share of them may be none: all of them, less of each.
        if self.tree.files < 64.0 {
            let most = (bytes / self.tree.files.max(1.0)).max(FRAME_BYTES);
            return (1.0, most as u64);
        }
        ((bytes / all).min(1.0), most as u64)
    }
}
