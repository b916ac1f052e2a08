//! Choice of the compression level while data flows.
//!
//! Compression pays exactly when the rate of user data with it is higher: `min(c, r·L)` against
//! `min(c₀, L)`, with `c` the speed of the compressor on the CPU that is free, `r` the ratio, and `L`
//! the rate of the link. The ladder is `none, 1, 2, 3`. What was not measured on this data yet is
//! scaled from the neighbour by typical ratios of zstd; a guess that turns out wrong is corrected
//! by the next window: what a level achieved counts more than what the formula promises, because a receiver
//! without CPU time left looks like a slow link, and a higher level only takes more of it.

/// Length of a window, nanoseconds.
const WINDOW_NS: u64 = 200_000_000;
/// Length of the first one: a link far faster than the compressor shows within some frames, and a short
/// replication would be over before a longer window.
const FIRST_WINDOW_NS: u64 = 50_000_000;
/// Share of the time in writes above which the link is what limits.
const LINK_BOUND: f64 = 0.25;
/// A change must promise so much more.
const HYSTERESIS: f64 = 1.06;
/// Windows until a level that lost is tried again.
const FORGET_WINDOWS: u32 = 25;
/// Typical speed of each level of [`crate::codec::LADDER`], relative to level 1.
const SPEED: [f64; 4] = [f64::INFINITY, 1.0, 0.68, 0.58];
/// Typical ratio of each level, relative to level 1, as powers of the ratio of level 1.
const RATIO_POWER: [f64; 4] = [0.0, 1.0, 1.1, 1.13];

/// Result of compressing one frame.
#[derive(Debug, Clone, Copy, Default)]
pub struct FrameCost {
    /// Bytes before compression.
    pub raw: u64,
    /// Bytes on the wire.
    pub wire: u64,
    /// Time of the compressor, nanoseconds; 0 when it was not asked.
    pub pack_ns: u64,
    /// Time until the connection had taken it, nanoseconds.
    pub write_ns: u64,
    /// Time to read and gather it, nanoseconds.
    pub read_ns: u64,
}

/// Sums of a window.
#[derive(Debug, Clone, Copy, Default)]
struct Window {
    begun_ns: u64,
    all: FrameCost,
    packed: FrameCost,
}

/// Measurements of one level on this data.
#[derive(Debug, Clone, Copy, Default)]
struct Known {
    /// Raw bytes per second of the compressor.
    speed: Option<f64>,
    ratio: Option<f64>,
    /// User bytes per second while it was in use.
    achieved: Option<f64>,
    at_window: u32,
}

/// Chooses the level of the next frames.
#[derive(Debug, Clone)]
pub struct Chooser {
    index: usize,
    windows: u32,
    window: Window,
    known: [Known; 4],
    workers: f64,
}

impl Chooser {
    /// For so many connections; begins with level 1.
    pub fn new(workers: usize) -> Self {
        Self {
            index: 1,
            windows: 0,
            window: Window::default(),
            known: [Known::default(); 4],
            workers: workers.max(1) as f64,
        }
    }

    /// The level for the next frame.
    pub fn level(&self) -> i32 {
        crate::codec::LADDER[self.index]
    }

    /// Takes what a frame cost; `now_ns` on any clock that goes forward.
    pub fn note(&mut self, cost: FrameCost, now_ns: u64) {
        let add = |to: &mut FrameCost| {
            to.raw += cost.raw;
            to.wire += cost.wire;
            to.pack_ns += cost.pack_ns;
            to.write_ns += cost.write_ns;
            to.read_ns += cost.read_ns;
        };
        add(&mut self.window.all);
        if cost.pack_ns > 0 {
            add(&mut self.window.packed);
        }
        if self.window.begun_ns == 0 {
            self.window.begun_ns = now_ns.max(1);
        }
        let length_ns = match self.windows {
            0 => FIRST_WINDOW_NS,
            _ => WINDOW_NS,
        };
        if now_ns.saturating_sub(self.window.begun_ns) >= length_ns {
            self.decide(now_ns);
            self.window = Window {
                begun_ns: now_ns,
                ..Window::default()
            };
        }
    }

    fn decide(&mut self, now_ns: u64) {
        self.windows += 1;
        let Window {
            begun_ns,
            all,
            packed,
        } = self.window;
        let length_s = now_ns.saturating_sub(begun_ns) as f64 / 1e9;
        if packed.raw == 0 && self.index > 0 {
            // All of it was stored without asking the compressor: nothing to choose by.
            return;
        }
        let before = self.fresh(self.index).and_then(|known| known.achieved);
        let achieved = all.raw as f64 / length_s.max(1e-3);
        let known = &mut self.known[self.index];
        known.achieved = Some(before.map_or(achieved, |before| (before + achieved) / 2.0));
        known.at_window = self.windows;
        if packed.raw > 0 {
            known.speed = Some(packed.raw as f64 / (packed.pack_ns as f64 / 1e9));
            known.ratio = Some(packed.raw as f64 / packed.wire.max(1) as f64);
        }
        let busy_ns = (all.pack_ns + all.write_ns + all.read_ns).max(1) as f64;
        let write_share = all.write_ns as f64 / busy_ns;
        let wire_per_s = all.wire as f64 / length_s.max(1e-3);
        // A link that never made the sender wait may carry any multiple of what it got.
        let link_per_s = match write_share > LINK_BOUND {
            true => wire_per_s,
            false => wire_per_s / write_share.max(0.01),
        };
        let path_s_per_byte = all.read_ns as f64 / 1e9 / all.raw.max(1) as f64;
        let rates = [0, 1, 2, 3].map(|index| self.rate(index, link_per_s, path_s_per_byte));
        let best = (0..4).fold(self.index, |best, index| match rates[index] > rates[best] {
            true => index,
            false => best,
        });
        if rates[best] > rates[self.index] * HYSTERESIS {
            self.index = best;
        }
    }

    /// Measurements of a level, unless they are too old.
    fn fresh(&self, index: usize) -> Option<&Known> {
        let known = &self.known[index];
        let is_fresh = self.windows - known.at_window <= FORGET_WINDOWS;
        is_fresh.then_some(known)
    }

    /// User bytes per second with a level: as achieved, or by the formula.
    fn rate(&self, index: usize, link_per_s: f64, path_s_per_byte: f64) -> f64 {
        if let Some(achieved) = self.fresh(index).and_then(|known| known.achieved) {
            return achieved;
        }
        let (speed, ratio) = self.cost(index);
        let cpu_s = path_s_per_byte + if speed.is_finite() { 1.0 / speed } else { 0.0 };
        (self.workers / cpu_s.max(1e-12)).min(link_per_s * ratio)
    }

    fn cost(&self, index: usize) -> (f64, f64) {
        if index == 0 {
            return (f64::INFINITY, 1.0);
        }
        if let Some(of) = self.fresh(index)
            && let (Some(speed), Some(ratio)) = (of.speed, of.ratio)
        {
            return (speed, ratio);
        }
        // The nearest level that was measured, scaled.
        let measured = (1..4).filter(|other| self.known[*other].speed.is_some());
        let nearest = measured.min_by_key(|other| other.abs_diff(index));
        let Some(other) = nearest else {
            return (3.0e8 * SPEED[index], 2_f64.powf(RATIO_POWER[index]));
        };
        let from = &self.known[other];
        let speed = from.speed.unwrap_or(3.0e8) * SPEED[index] / SPEED[other];
        let ratio = from.ratio.unwrap_or(1.0);
        (speed, ratio.powf(RATIO_POWER[index] / RATIO_POWER[other]))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A link and a compressor: rates in bytes per second, ratios and speeds by level.
    struct World {
        link: f64,
        speed: [f64; 4],
        ratio: [f64; 4],
        read: f64,
        /// User bytes per second that both ends together have CPU time for.
        ends: [f64; 4],
    }

    /// Level that a sender with so many threads uses most of the time, after a while.
    fn settles(world: &World, workers: usize) -> i32 {
        let mut chooser = Chooser::new(workers);
        let mut used_s = [0.0; 4];
        let mut now_s = 1.0;
        // When the link has carried what was written; the socket takes half a MiB beforehand.
        let mut link_free_s = now_s;
        for _ in 0..20_000 {
            let raw = f64::from(1 << 20);
            let index = chooser.level() as usize;
            let read_s = raw / world.read;
            // The threads take turns: a frame leaves as often as all of them together make one.
            let pack_s = match index {
                0 => 0.0,
                _ => raw / world.speed[index] / workers as f64,
            };
            let wire = raw / world.ratio[index];
            now_s += read_s + pack_s;
            let wait_s = (link_free_s - now_s - 0.5e6 / world.link).max(0.0);
            let carried_s = (wire / world.link).max(raw / world.ends[index]);
            link_free_s = link_free_s.max(now_s + wait_s) + carried_s;
            let write_s = wait_s + raw / 4e9;
            now_s += write_s;
            used_s[index] += if now_s > 10.0 {
                read_s + pack_s + write_s
            } else {
                0.0
            };
            chooser.note(
                FrameCost {
                    raw: raw as u64,
                    wire: wire as u64,
                    pack_ns: (pack_s * 1e9) as u64,
                    write_ns: (write_s * 1e9) as u64,
                    read_ns: (read_s * 1e9) as u64,
                },
                (now_s * 1e9) as u64,
            );
            if now_s > 60.0 {
                break;
            }
        }
        (0..4)
            .max_by(|a, b| used_s[*a].total_cmp(&used_s[*b]))
            .map_or(0, |index| crate::codec::LADDER[index])
    }

    fn text(link: f64) -> World {
        World {
            link,
            speed: [f64::INFINITY, 374e6, 247e6, 215e6],
            ratio: [1.0, 2.46, 2.71, 2.76],
            read: 2e9,
            ends: [f64::INFINITY; 4],
        }
    }

    #[test]
    fn compression_is_chosen_while_it_outruns_the_link() {
        // 100 Mb/s: the highest level of the ladder; 1 Gb/s: level 1; faster than zstd: none.
        assert!(settles(&text(11.95e6), 1) >= 2);
        assert_eq!(settles(&text(119.5e6), 1), 1);
        assert_eq!(settles(&text(1.2e9), 1), 0);
    }

    #[test]
    fn a_link_that_never_waits_is_seen_within_a_short_replication() {
        let mut chooser = Chooser::new(2);
        let (mut now_ns, mut sent) = (1, 0_u64);
        while chooser.level() > 0 && sent < 192 << 20 {
            now_ns += 1_400_000;
            sent += 1 << 20;
            let cost = FrameCost {
                raw: 1 << 20,
                wire: 430 << 10,
                pack_ns: 2_600_000,
                write_ns: 60_000,
                read_ns: 200_000,
            };
            chooser.note(cost, now_ns);
        }
        assert!(sent < 64 << 20, "{sent} bytes were compressed");
    }

    #[test]
    fn a_slow_compressor_is_left_out() {
        let mut starved = text(119.5e6);
        starved.speed = [f64::INFINITY, 90e6, 60e6, 50e6];
        assert_eq!(settles(&starved, 1), 0);
    }

    #[test]
    fn ends_without_cpu_time_are_no_slow_link() {
        // Both ends on two cores: what a level costs the receiver's CPU, too.
        let mut crowded = text(119.5e6);
        crowded.ends = [1.0e9, 250e6, 190e6, 160e6];
        assert_eq!(settles(&crowded, 2), 1);
    }
}
