//! Tracks whether a member is alive, and when to probe it again.
//!
//! ```text
//! heard ──────── 1 lease ──────── 2 leases
//!        ready            suspect          lost
//! ```
//!
//! A member that can be reached over a new connection is given up after 5 leases: the first attempt
//! begins when it becomes suspect.
//!
//! Every message of a member counts as a heartbeat; a member that sends nothing else answers a lease.
//! Pure: time is an argument, counted from any moment.

use std::time::Duration;

use sokudo_wire::Health;

/// Leases sent per lease duration: the answer of a live member arrives before it becomes suspect.
const SENT_PER_LEASE: u32 = 2;
/// A check that runs later than this part of a lease is not counted against the member, because the
/// checking process itself was stopped.
const LATE_PER_LEASE: u32 = 4;

/// Leases of silence after which a member is lost.
pub(crate) const LOST_LEASES: u32 = 2;
/// The same of one that a new connection may reach.
pub(crate) const LOST_LEASES_RENEWED: u32 = 5;

/// The result of a check.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Look {
    /// True when a lease is due now.
    pub(crate) send: bool,
    /// Only when it is another than before.
    pub(crate) health: Option<Health>,
}

/// The heartbeat state of one member.
#[derive(Debug, Clone)]
pub(crate) struct Pulse {
    lease: Duration,
    /// Silence after which the member is lost.
    lost: Duration,
    /// Lead of the second lease.
    earlier: Duration,
    /// Time of the last message of the member, or of the first check.
    heard: Duration,
    /// Time of the next lease.
    due: Duration,
    /// Time of the next check.
    expected: Duration,
    health: Health,
}

impl Pulse {
    /// Starts checking. The first lease is due at once, because it informs the member of its timeout.
    /// The second one is sent earlier by `share`, 0 to 1, of the pause between two, so that leases to
    /// members with different shares are spread over time.
    pub(crate) fn new(lease: Duration, lost: Duration, now: Duration, share: f64) -> Self {
        Self {
            lease,
            lost,
            earlier: (lease / SENT_PER_LEASE).mul_f64(share.clamp(0.0, 1.0)),
            heard: now,
            due: now,
            expected: now,
            health: Health::Ready,
        }
    }

    /// Starts checking again after a quiet phase. The member still has a valid lease: members with
    /// different shares are not all sent one at once.
    pub(crate) fn again(lease: Duration, lost: Duration, now: Duration, share: f64) -> Self {
        let mut pulse = Self::new(lease, lost, now, share);
        let earlier = std::mem::take(&mut pulse.earlier);
        pulse.due = now + lease / SENT_PER_LEASE - earlier;
        pulse
    }

    /// Checks the member, whose last message arrived `silent` ago.
    pub(crate) fn look(&mut self, now: Duration, silent: Duration) -> Look {
        self.heard = self.heard.max(now.saturating_sub(silent));
        let late = now.saturating_sub(self.expected);
        if late > self.lease / LATE_PER_LEASE {
            self.heard = (self.heard + late).min(now);
        }
        let before = self.health;
        if before != Health::Lost {
            let silent = now.saturating_sub(self.heard);
            self.health = match silent {
                silent if silent >= self.lost => Health::Lost,
                silent if silent >= self.lease => Health::Suspect,
                _ => Health::Ready,
            };
        }
        let send = now >= self.due && self.health != Health::Lost;
        if send {
            let earlier = std::mem::take(&mut self.earlier);
            self.due = now + self.lease / SENT_PER_LEASE - earlier;
        }
        self.expected = self.next(now);
        let health = (self.health != before).then_some(self.health);
        Look { send, health }
    }

    /// Time until the next check is due.
    pub(crate) fn pause(&self, now: Duration) -> Duration {
        self.expected.saturating_sub(now)
    }

    /// The next lease, or the moment at which more silence would mean more, whichever is first.
    fn next(&self, now: Duration) -> Duration {
        let worse = [self.heard + self.lease, self.heard + self.lost];
        let worse = worse.into_iter().find(|at| *at > now);
        worse.map_or(self.due, |at| at.min(self.due))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const LEASE: Duration = Duration::from_secs(3);

    #[test]
    fn after_a_silence_members_are_spoken_to_one_after_another() {
        for (share, due_ms) in [(0.0, 1500), (0.5, 750), (1.0, 0)] {
            let mut pulse = Pulse::again(LEASE, 2 * LEASE, ms(60_000), share);
            // The checks were interrupted, so the silence says nothing about the member.
            let mut look = |now: u64| pulse.look(ms(now), ms(now));
            let health = None;
            if due_ms > 0 {
                let send = false;
                assert_eq!(look(60_000), Look { send, health });
            }
            let send = true;
            assert_eq!(look(60_000 + due_ms), Look { send, health });
        }
    }

    fn ms(ms: u64) -> Duration {
        Duration::from_millis(ms)
    }

    /// Checks whenever it is due until `end`; the member answers each lease until `dies`, and again
    /// from `wakes` on. Returns the reports with their times.
    fn watched(dies: Duration, wakes: Duration, end: Duration) -> Vec<(u128, Health)> {
        let mut pulse = Pulse::new(LEASE, 2 * LEASE, ms(0), 0.0);
        let (mut now, mut heard, mut told) = (ms(0), ms(0), Vec::new());
        while now < end {
            let look = pulse.look(now, now - heard);
            told.extend(look.health.map(|health| (now.as_millis(), health)));
            if look.send && (now < dies || now >= wakes) {
                heard = now;
            }
            now += pulse.pause(now).max(ms(1));
        }
        told
    }

    #[test]
    fn who_answers_is_never_suspected() {
        assert_eq!(watched(ms(60_000), ms(60_000), ms(60_000)), []);
    }

    /// Frozen just after an answer at 4.5 s, so that the whole silence counts.
    #[test]
    fn silence_makes_suspect_after_3_s_and_lost_after_6_s() {
        let told = watched(ms(4501), ms(60_000), ms(60_000));
        assert_eq!(told, [(7500, Health::Suspect), (10_500, Health::Lost)]);
    }

    #[test]
    fn who_wakes_in_time_is_ready_again() {
        let told = watched(ms(4501), ms(8500), ms(60_000));
        assert_eq!(told.len(), 2, "{told:?}");
        assert_eq!(told[0], (7500, Health::Suspect));
        assert_eq!(told[1].1, Health::Ready);
    }

    #[test]
    fn members_with_other_shares_are_spoken_to_at_other_times() {
        let first_four = |share: f64| {
            let mut pulse = Pulse::new(LEASE, 2 * LEASE, ms(0), share);
            let (mut now, mut sent) = (ms(0), Vec::new());
            while sent.len() < 4 {
                if pulse.look(now, ms(0)).send {
                    sent.push(now.as_millis());
                }
                now += pulse.pause(now).max(ms(1));
            }
            sent
        };
        assert_eq!(first_four(0.0), [0, 1500, 3000, 4500]);
        assert_eq!(first_four(0.5), [0, 750, 2250, 3750]);
        assert_eq!(first_four(0.9), [0, 150, 1650, 3150]);
    }

    /// A suspended laptop, a stopped controller or an overloaded machine: the member was not silent.
    #[test]
    fn a_looker_that_stood_still_blames_nobody() {
        let mut pulse = Pulse::new(LEASE, 2 * LEASE, ms(0), 0.0);
        assert!(pulse.look(ms(0), ms(0)).send);
        let look = pulse.look(ms(100_000), ms(100_000));
        let ready = Look {
            send: true,
            health: None,
        };
        assert_eq!(look, ready);
        // But silence from here on counts.
        let mut now = ms(100_000);
        let mut told = Vec::new();
        while told.len() < 2 {
            now += pulse.pause(now);
            let look = pulse.look(now, now);
            told.extend(look.health.map(|health| (now, health)));
        }
        let lost_after = told[1].0 - ms(100_000);
        assert_eq!(told[1].1, Health::Lost);
        assert!(lost_after <= 2 * LEASE, "{lost_after:?}");
    }

    proptest! {
        /// For any order of checks and heartbeats: ready, suspect and lost follow each other, and lost
        /// is final.
        #[test]
        fn health_changes_one_step_at_a_time(
            steps in prop::collection::vec((1u64..1500, any::<bool>()), 1..200),
        ) {
            let mut pulse = Pulse::new(LEASE, 2 * LEASE, ms(0), 0.0);
            let (mut now, mut heard, mut health) = (ms(0), ms(0), Health::Ready);
            for (pause, answers) in steps {
                now += ms(pause).min(pulse.pause(now).max(ms(1)));
                if answers {
                    heard = now;
                }
                let before = health;
                health = pulse.look(now, now - heard).health.unwrap_or(health);
                let steps = [
                    (Health::Ready, Health::Suspect),
                    (Health::Suspect, Health::Ready),
                    (Health::Suspect, Health::Lost),
                ];
                prop_assert!(before == health || steps.contains(&(before, health)));
                let is_lost_now = before != health && health == Health::Lost;
                prop_assert!(!is_lost_now || now - heard >= 2 * LEASE);
            }
        }
    }
}
