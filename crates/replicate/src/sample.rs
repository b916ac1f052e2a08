//! Looks at a source before it is replicated: how many files of which sizes, and how well it compresses.
//!
//! The walk is the sender's own. On the way some places are drawn by their bytes, with the neighbours that
//! would share a frame with them; their frames are compressed with each level, as a sender would.

use std::collections::VecDeque;
use std::io;
use std::sync::Arc;
use std::time::Instant;

use crate::codec::{LADDER, Packer, Unpacker, is_incompressible};
use crate::frame::Codec;
use crate::message::EntryKind;
use crate::path::RelPath;
use crate::predict::{CLASSES, LevelCost, Sample, SizeClass, Tree};
use crate::session::{Session, thread_cpu_s};
use crate::source::{Event, Source, wall_clock_ns};

/// Places that are drawn.
const PLACES: usize = 24;
/// Bytes of a frame.
const FRAME_BYTES: usize = 1 << 20;
/// Neighbours that are read for a frame at most.
const TOGETHER: usize = 512;
/// A place that was drawn: a file, where in it, and the files after it that would travel with it.
#[derive(Debug, Clone, Default)]
struct SamplePoint {
    files: Vec<(Arc<RelPath>, Vec<u8>)>,
    offset: u64,
    bytes: u64,
}

impl SamplePoint {
    fn is_full(&self) -> bool {
        self.bytes >= FRAME_BYTES as u64 || self.files.len() >= TOGETHER
    }
}

/// Small pseudo-random numbers: the same places for the same tree.
struct Draw(u64);

impl Draw {
    fn unit(&mut self) -> f64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) as f64 / (1_u64 << 53) as f64
    }
}

/// Walks the source and samples it.
///
/// Errors: the root cannot be read, or the session is over. What else cannot be read is left out.
pub fn sample(source: &Source, session: &Session) -> io::Result<Sample> {
    let mut walk = Walk {
        places: vec![SamplePoint::default(); PLACES],
        draw: Draw(0x5eed_0f5e),
        classes: [SizeClass::default(); CLASSES],
        entries: 0.0,
        bytes: 0.0,
    };
    let begun = Instant::now();
    let mut to_list = VecDeque::from([Arc::new(RelPath::root())]);
    while let Some(directory) = to_list.pop_front() {
        if session.is_over() {
            return Err(session.over());
        }
        let listed = source.list(&directory, wall_clock_ns(), &mut |event| {
            if let Event::Found(found) = event {
                walk.entries += 1.0;
                match found.entry.kind {
                    EntryKind::Directory => {
                        let inside = directory.join(&found.entry.name);
                        to_list.extend(inside.map(Arc::new));
                    }
                    EntryKind::File { size, .. } => walk.file(&directory, &found.entry.name, size),
                    _ => {}
                }
            }
            Ok(())
        });
        if let Err(error) = listed
            && directory.is_root()
        {
            return Err(error);
        }
    }
    let walk_s = begun.elapsed().as_secs_f64() / f64::max(walk.entries, 1.0);
    let read = Frames::read(source, &walk.places)?;
    Ok(Sample {
        tree: read.tree(&walk)?,
        classes: walk.classes,
        walk_s,
        file_s: read.file_s,
        read_bytes_per_s: read.bytes_per_s,
    })
}

struct Walk {
    places: Vec<SamplePoint>,
    draw: Draw,
    classes: [SizeClass; CLASSES],
    entries: f64,
    bytes: f64,
}

impl Walk {
    fn file(&mut self, directory: &Arc<RelPath>, name: &[u8], size: u64) {
        let class = &mut self.classes[size.max(1).ilog2() as usize % CLASSES];
        class.files += 1.0;
        class.bytes += size as f64;
        self.bytes += size as f64;
        if size == 0 {
            return;
        }
        // Each place is drawn anew with the share that the file has of all bytes so far.
        let share = size as f64 / self.bytes;
        for place in &mut self.places {
            let is_small = size < FRAME_BYTES as u64;
            if self.draw.unit() < share {
                let frames = size / FRAME_BYTES as u64;
                let offset = (self.draw.unit() * frames as f64) as u64 * FRAME_BYTES as u64;
                *place = SamplePoint {
                    files: vec![(Arc::clone(directory), name.to_vec())],
                    offset: if is_small { 0 } else { offset },
                    bytes: size,
                };
            } else if is_small && !place.files.is_empty() && !place.is_full() {
                place.files.push((Arc::clone(directory), name.to_vec()));
                place.bytes += size;
            }
        }
    }
}

/// The content of the places.
struct Frames {
    /// Content that may be compressed, per place.
    packed: Vec<Vec<u8>>,
    packed_bytes: f64,
    dense_bytes: f64,
    file_s: f64,
    bytes_per_s: f64,
}

impl Frames {
    fn read(source: &Source, places: &[SamplePoint]) -> io::Result<Self> {
        let mut handles = source.handles();
        let mut frames = Self {
            packed: Vec::new(),
            packed_bytes: 0.0,
            dense_bytes: 0.0,
            file_s: 0.0,
            bytes_per_s: f64::INFINITY,
        };
        let (mut files, mut small_s, mut small_bytes) = (0.0, 0.0, 0.0);
        let mut read_s = 0.0;
        let mut data = vec![0; FRAME_BYTES];
        for place in places {
            let mut frame = Vec::new();
            for (directory, name) in &place.files {
                let (begun, cpu_s) = (Instant::now(), thread_cpu_s());
                // What vanished or may not be read is left out.
                let Ok(opened) = source.open(handles.as_mut(), directory, name) else {
                    continue;
                };
                let room = FRAME_BYTES - frame.len().min(FRAME_BYTES);
                let Ok(count) = source.read(&opened, place.offset, &mut data[..room]) else {
                    continue;
                };
                read_s += begun.elapsed().as_secs_f64();
                if opened.size() < (64 << 10) {
                    files += 1.0;
                    small_s += thread_cpu_s() - cpu_s;
                    small_bytes += count as f64;
                }
                let content = &data[..count];
                if is_incompressible(content) {
                    frames.dense_bytes += count as f64;
                } else {
                    frame.extend_from_slice(content);
                }
            }
            frames.packed_bytes += frame.len() as f64;
            if !frame.is_empty() {
                frames.packed.push(frame);
            }
        }
        let all = frames.packed_bytes + frames.dense_bytes;
        if read_s > 0.0 && all > 0.0 {
            frames.bytes_per_s = all / read_s;
        }
        if files > 0.0 {
            // Copying costs next to nothing beside opening.
            frames.file_s = (small_s - small_bytes * 1e-10).max(0.0) / files;
        }
        Ok(frames)
    }

    fn tree(&self, walk: &Walk) -> io::Result<Tree> {
        let mut levels = [LevelCost::NONE; LADDER.len()];
        let mut wire_at_1 = 0.0;
        for (level, cost) in LADDER.into_iter().zip(&mut levels).skip(1) {
            let (found, wire) = self.cost(level, FRAME_BYTES)?;
            *cost = found;
            if level == 1 {
                wire_at_1 = wire;
            }
        }
        let mut short_frames = [1.0; 2];
        for (bytes, ratio) in [64 << 10, 8 << 10].into_iter().zip(&mut short_frames) {
            let (_, wire) = self.cost(1, bytes)?;
            if wire > 0.0 {
                *ratio = (wire_at_1 / wire).clamp(0.1, 1.0);
            }
        }
        let files = walk.classes.iter().map(|class| class.files).sum();
        let all = self.packed_bytes + self.dense_bytes;
        Ok(Tree {
            files,
            bytes: walk.bytes,
            entries: walk.entries,
            dense_ratio: if all > 0.0 {
                self.dense_bytes / all
            } else {
                0.0
            },
            levels,
            short_frames,
        })
    }

    /// Cost of a level in frames of so many bytes, and what is left of the content.
    fn cost(&self, level: i32, frame_bytes: usize) -> io::Result<(LevelCost, f64)> {
        let (mut packer, mut unpacker) = (Packer::new()?, Unpacker::new()?);
        let (mut wire_bytes, mut pack_s, mut unpack_s) = (0.0, 0.0, 0.0);
        for frame in self
            .packed
            .iter()
            .flat_map(|frame| frame.chunks(frame_bytes))
        {
            let begun_s = thread_cpu_s();
            let (codec, wire) = packer.pack(frame, level);
            let packed_s = thread_cpu_s();
            pack_s += packed_s - begun_s;
            wire_bytes += wire.len() as f64;
            if codec == Codec::Zstd {
                unpacker
                    .unpack(wire, frame.len())
                    .map_err(io::Error::other)?;
                unpack_s += thread_cpu_s() - packed_s;
            }
        }
        if wire_bytes <= 0.0 {
            return Ok((LevelCost::NONE, 0.0));
        }
        let cost = LevelCost {
            ratio: self.packed_bytes / wire_bytes,
            pack_s: pack_s / self.packed_bytes,
            unpack_s: unpack_s / self.packed_bytes,
        };
        Ok((cost, wire_bytes))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dataset::{Class, Content, DataSet};

    fn of(classes: Vec<Class>, content: Content) -> Sample {
        let source = Source::Set(DataSet::new(classes, content, 3));
        sample(&source, &Session::new()).unwrap()
    }

    #[test]
    fn files_and_compressibility_are_found() {
        let classes = vec![
            Class {
                files: 400,
                bytes: 10_000,
            },
            Class {
                files: 4,
                bytes: 6_000_000,
            },
        ];
        let text = of(classes.clone(), Content::Text);
        assert_eq!(text.tree.files, 404.0);
        assert_eq!(text.tree.bytes, 28e6);
        let [none, one, _, three] = text.tree.levels;
        assert_eq!(none, LevelCost::NONE);
        assert!((1.8..3.6).contains(&one.ratio), "{one:?}");
        assert!(three.ratio > one.ratio, "{one:?} {three:?}");
        assert_eq!(text.tree.dense_ratio, 0.0);
        assert!(text.tree.short_frames[1] < text.tree.short_frames[0]);
        assert_eq!(of(classes, Content::Random).tree.dense_ratio, 1.0);
    }

    #[test]
    fn the_share_of_dense_bytes_is_that_of_the_bytes() {
        // One file in five holds random bytes.
        let classes = vec![Class {
            files: 2_000,
            bytes: 20_000,
        }];
        let mixed = of(classes, Content::Mixed { random_percent: 20 });
        assert!(
            (0.1..0.3).contains(&mixed.tree.dense_ratio),
            "{}",
            mixed.tree.dense_ratio
        );
    }

    #[test]
    fn a_part_holds_about_the_bytes_that_were_asked_for() {
        let many = of(
            vec![Class {
                files: 10_000,
                bytes: 10_000,
            }],
            Content::Random,
        );
        assert_eq!(many.part(1e9), (1.0, u64::MAX));
        let (share, _) = many.part(10e6);
        assert!((0.09..0.11).contains(&share), "{share}");
        let one = of(
            vec![Class {
                files: 1,
                bytes: 40_000_000,
            }],
            Content::Text,
        );
        assert_eq!(one.part(8e6), (1.0, 8_000_000));
    }

    #[test]
    fn an_empty_source_is_no_error() {
        let none = of(vec![Class { files: 1, bytes: 0 }], Content::Text);
        assert_eq!((none.tree.files, none.tree.bytes), (1.0, 0.0));
    }
}
