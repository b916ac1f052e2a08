//! Data sets that are made, not read: so many files of so many bytes, the same for the same seed.
//!
//! They take the source's disk out of a measurement. Content comes from a pool of 16 MiB, in slices
//! whose order depends on the file: faster than any link, and without repetition within a frame.

use std::sync::Arc;

use crate::message::Meta;
use crate::path::RelPath;

/// Bytes of a pool and of its slices.
const POOL_BYTES: usize = 16 << 20;
const SLICE_BYTES: usize = 64 << 10;
const SLICES: u64 = (POOL_BYTES / SLICE_BYTES) as u64;
/// Files per directory.
const PER_DIRECTORY: u64 = 1_000;
/// Time stamp of every file: 2020-01-01.
const MTIME_NS: i64 = 1_577_836_800_000_000_000;

/// Content of files.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Content {
    /// Words, frequent ones more often: zstd level 1 makes it 2.4 times smaller.
    Text,
    /// Bytes that no compressor makes smaller.
    Random,
    /// So many files of a hundred hold random bytes, the others text.
    Mixed {
        /// Percent of the files.
        random_percent: u8,
    },
}

/// Files of one size.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Class {
    /// Number of files.
    pub files: u64,
    /// Bytes of each.
    pub bytes: u64,
}

/// The generator of pseudo-random numbers SplitMix64.
#[derive(Debug, Clone, Copy)]
struct SplitMix(u64);

impl SplitMix {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// From 0 to 1.
    fn unit(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1_u64 << 53) as f64
    }
}

/// Bytes to fill files with.
pub struct Pool {
    text: Vec<u8>,
    random: Vec<u8>,
    content: Content,
    seed: u64,
}

impl Pool {
    /// The pool of a seed.
    pub fn new(content: Content, seed: u64) -> Self {
        let wants_text = content != Content::Random;
        let wants_random = content != Content::Text;
        Self {
            text: if wants_text { words(seed) } else { Vec::new() },
            random: if wants_random {
                noise(seed)
            } else {
                Vec::new()
            },
            content,
            seed,
        }
    }

    /// True when a file holds random bytes.
    fn is_random(&self, file: u64) -> bool {
        match self.content {
            Content::Text => false,
            Content::Random => true,
            Content::Mixed { random_percent } => {
                SplitMix(self.seed ^ file).next() % 100 < u64::from(random_percent)
            }
        }
    }

    /// The bytes of a file from an offset on.
    pub fn fill(&self, file: u64, offset: u64, out: &mut [u8]) {
        let pool = match self.is_random(file) {
            true => &self.random,
            false => &self.text,
        };
        let mut mix = SplitMix(self.seed ^ file.rotate_left(17));
        // An odd step visits every slice once before any comes again.
        let (first, step) = (mix.next(), mix.next() | 1);
        let mut at = offset;
        let mut rest = out;
        while !rest.is_empty() {
            let slice = first.wrapping_add(step.wrapping_mul(at / SLICE_BYTES as u64)) % SLICES;
            let within = (at % SLICE_BYTES as u64) as usize;
            let count = (SLICE_BYTES - within).min(rest.len());
            let begin = slice as usize * SLICE_BYTES + within;
            let (part, left) = rest.split_at_mut(count);
            part.copy_from_slice(&pool[begin..begin + count]);
            rest = left;
            at += count as u64;
        }
    }
}

fn noise(seed: u64) -> Vec<u8> {
    let mut mix = SplitMix(seed ^ 0x5eed);
    let words = std::iter::repeat_with(|| mix.next().to_le_bytes());
    words.take(POOL_BYTES / 8).flatten().collect()
}

/// Words of a vocabulary of 8,000, the n-th with a frequency like 1/n.
fn words(seed: u64) -> Vec<u8> {
    let mut mix = SplitMix(seed ^ 0x7e47);
    let vocabulary: Vec<Vec<u8>> = (0..8_000)
        .map(|_| {
            let letters = 2 + mix.next() % 9;
            (0..letters)
                .map(|_| b'a' + (mix.next() % 26) as u8)
                .collect()
        })
        .collect();
    let most = (vocabulary.len() as f64).ln();
    let mut out = Vec::with_capacity(POOL_BYTES + 16);
    while out.len() < POOL_BYTES {
        let rank = (mix.unit() * most).exp() as usize;
        out.extend_from_slice(&vocabulary[rank.min(vocabulary.len()) - 1]);
        out.push(if mix.next().is_multiple_of(12) {
            b'\n'
        } else {
            b' '
        });
    }
    out.truncate(POOL_BYTES);
    out
}

/// A data set: classes of files and what they hold.
#[derive(Clone)]
pub struct DataSet {
    classes: Vec<Class>,
    pool: Arc<Pool>,
}

impl DataSet {
    /// A data set of a seed.
    pub fn new(classes: Vec<Class>, content: Content, seed: u64) -> Self {
        Self {
            classes,
            pool: Arc::new(Pool::new(content, seed)),
        }
    }

    /// Classes that stand for a file server's mixture: sizes spread log-normally from 0.5 KB to 20 MB
    /// around 40 KB, 700 files times `scale`.
    pub fn mixed(scale: f64, seed: u64) -> Vec<Class> {
        let mut mix = SplitMix(seed);
        let files = (700.0 * scale).round().max(1.0) as u64;
        let one = |mix: &mut SplitMix| {
            let normal = (-2.0 * mix.unit().max(1e-12).ln()).sqrt()
                * (std::f64::consts::TAU * mix.unit()).cos();
            (40e3 * (1.7 * normal).exp()).clamp(500.0, 20e6) as u64
        };
        (0..files)
            .map(|_| Class {
                files: 1,
                bytes: one(&mut mix),
            })
            .collect()
    }

    /// Files and bytes of all classes.
    pub fn totals(&self) -> (u64, u64) {
        let files = self.classes.iter().map(|class| class.files).sum();
        let bytes = self.classes.iter().map(|class| class.files * class.bytes);
        (files, bytes.sum())
    }

    /// Bytes of a file.
    pub fn size(&self, file: u64) -> Option<u64> {
        let mut first = 0;
        for class in &self.classes {
            if file < first + class.files {
                return Some(class.bytes);
            }
            first += class.files;
        }
        None
    }

    /// The bytes of a file from an offset on.
    pub fn fill(&self, file: u64, offset: u64, out: &mut [u8]) {
        self.pool.fill(file, offset, out);
    }

    /// Directories, in the order in which they are listed.
    pub fn directories(&self) -> Vec<RelPath> {
        let count = self.totals().0.div_ceil(PER_DIRECTORY);
        let names = (0..count).map(|number| format!("d{number:05}"));
        names
            .filter_map(|name| RelPath::parse(name.as_bytes()).ok())
            .collect()
    }

    /// Names, numbers and sizes of the files of the n-th directory.
    pub fn files(&self, directory: usize) -> impl Iterator<Item = (String, u64, u64)> {
        let first = directory as u64 * PER_DIRECTORY;
        let mut classes = self.classes.iter();
        let mut class = classes.next();
        let mut class_end = class.map_or(0, |class| class.files);
        let last = (first + PER_DIRECTORY).min(self.totals().0);
        (first..last).filter_map(move |file| {
            while file >= class_end {
                class = classes.next();
                class_end += class?.files;
            }
            Some((format!("f{file:07}"), file, class?.bytes))
        })
    }

    /// Number of a file by its name.
    pub fn number(name: &[u8]) -> Option<u64> {
        std::str::from_utf8(name.strip_prefix(b"f")?)
            .ok()?
            .parse()
            .ok()
    }

    /// Common properties of all files.
    pub fn meta(mode: u32) -> Meta {
        Meta {
            mode,
            mtime_ns: MTIME_NS,
            ..Meta::default()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_of_a_file_are_parts_of_the_whole() {
        let set = DataSet::new(
            vec![Class {
                files: 2,
                bytes: 300_000,
            }],
            Content::Text,
            5,
        );
        let mut whole = vec![0; 300_000];
        set.fill(1, 0, &mut whole);
        for (begin, end) in [(0, 1), (65_535, 65_537), (100_000, 299_999)] {
            let mut part = vec![0; end - begin];
            set.fill(1, begin as u64, &mut part);
            assert!(part == whole[begin..end]);
        }
        let mut other = vec![0; 300_000];
        set.fill(0, 0, &mut other);
        assert!(other != whole);
    }

    #[test]
    fn every_file_is_listed_once() {
        let classes = vec![
            Class {
                files: 1_500,
                bytes: 10,
            },
            Class {
                files: 700,
                bytes: 20,
            },
        ];
        let set = DataSet::new(classes, Content::Random, 1);
        let listed: Vec<(String, u64, u64)> = (0..set.directories().len())
            .flat_map(|directory| set.files(directory).collect::<Vec<_>>())
            .collect();
        assert_eq!(listed.len(), 2_200);
        for (place, (name, number, size)) in listed.iter().enumerate() {
            assert_eq!(*number, place as u64);
            assert_eq!(DataSet::number(name.as_bytes()), Some(*number));
            assert_eq!(set.size(*number), Some(*size));
        }
    }
}
