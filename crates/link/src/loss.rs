//! Loss of packets: each for itself, or in bursts.

use sokudo_pace::Random;

/// Pattern of packet loss. All shares are from 0 to 1.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub enum Loss {
    /// No packet is lost.
    #[default]
    None,
    /// Each with the same probability, whatever became of the others (Bernoulli).
    Share(f64),
    /// In bursts (Gilbert and Elliott): the link is good or bad, and may change before each packet.
    Bursts {
        /// Probability that a good link becomes bad.
        to_bad: f64,
        /// Probability that a bad link becomes good: its inverse is the mean length of a bad time, in
        /// packets.
        to_good: f64,
        /// Probability that a packet is lost while the link is bad.
        in_bad: f64,
        /// The same while it is good.
        in_good: f64,
    },
}

impl Loss {
    /// Bursts that lose this share of all packets, `mean_packets` in a row on average.
    ///
    /// `None` for a share or a length that no such link has: a share from 0 to below 1, and at least one
    /// packet in a row; of a high share, also enough of them (`share / (1 - share)`).
    pub fn bursts(share: f64, mean_packets: f64) -> Option<Self> {
        if !(0.0..1.0).contains(&share) || !mean_packets.is_finite() || mean_packets < 1.0 {
            return None;
        }
        let to_good = 1.0 / mean_packets;
        // In balance as many changes lead into the bad state as out of it.
        let to_bad = share * to_good / (1.0 - share);
        (to_bad <= 1.0).then_some(Self::Bursts {
            to_bad,
            to_good,
            in_bad: 1.0,
            in_good: 0.0,
        })
    }

    /// Share of all packets that is lost in the long run.
    pub fn share(&self) -> f64 {
        match *self {
            Self::None => 0.0,
            Self::Share(share) => share,
            Self::Bursts {
                to_bad,
                to_good,
                in_bad,
                in_good,
            } => {
                let changes = to_bad + to_good;
                // A link that never changes stays good.
                let bad = if changes > 0.0 { to_bad / changes } else { 0.0 };
                bad * in_bad + (1.0 - bad) * in_good
            }
        }
    }

    /// True when no packet can be lost.
    pub fn is_none(&self) -> bool {
        self.share() == 0.0
    }
}

/// The fate of each packet of one direction, one after the other.
#[derive(Debug, Clone)]
pub struct Losses {
    loss: Loss,
    random: Random,
    is_bad: bool,
}

impl Losses {
    /// Begins with a good link.
    pub fn new(loss: Loss, random: Random) -> Self {
        Self {
            loss,
            random,
            is_bad: false,
        }
    }

    /// True when the next packet is lost.
    pub fn next_is_lost(&mut self) -> bool {
        let probability = match self.loss {
            Loss::None => return false,
            Loss::Share(share) => share,
            Loss::Bursts {
                to_bad,
                to_good,
                in_bad,
                in_good,
            } => {
                let change = if self.is_bad { to_good } else { to_bad };
                self.is_bad ^= self.random.unit() < change;
                if self.is_bad { in_bad } else { in_good }
            }
        };
        self.random.unit() < probability
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PACKETS: u32 = 400_000;

    fn fates(loss: Loss) -> Vec<bool> {
        let mut losses = Losses::new(loss, Random::new(7, 0));
        (0..PACKETS).map(|_| losses.next_is_lost()).collect()
    }

    fn lost(fates: &[bool]) -> f64 {
        fates.iter().filter(|lost| **lost).count() as f64 / f64::from(PACKETS)
    }

    /// Mean number of packets that are lost in a row.
    fn mean_run(fates: &[bool]) -> f64 {
        let runs = fates.split(|lost| !lost).filter(|run| !run.is_empty());
        let lengths: Vec<usize> = runs.map(<[bool]>::len).collect();
        lengths.iter().sum::<usize>() as f64 / lengths.len() as f64
    }

    #[test]
    fn a_share_is_kept_and_packets_are_lost_one_by_one() {
        let fates = fates(Loss::Share(0.02));
        assert!((0.019..0.021).contains(&lost(&fates)), "{}", lost(&fates));
        let run = mean_run(&fates);
        assert!((1.0..1.05).contains(&run), "{run}");
    }

    #[test]
    fn bursts_have_the_share_and_the_length_asked_for() {
        let loss = Loss::bursts(0.02, 8.0).expect("such a link exists");
        assert!((loss.share() - 0.02).abs() < 1e-12, "{}", loss.share());
        let fates = fates(loss);
        assert!((0.018..0.022).contains(&lost(&fates)), "{}", lost(&fates));
        let run = mean_run(&fates);
        assert!((7.5..8.5).contains(&run), "{run}");
    }

    #[test]
    fn a_bad_link_may_also_let_packets_through() {
        let loss = Loss::Bursts {
            to_bad: 0.1,
            to_good: 0.3,
            in_bad: 0.5,
            in_good: 0.01,
        };
        let long_run = loss.share();
        assert!((long_run - 0.1325).abs() < 1e-12, "{long_run}");
        let seen = lost(&fates(loss));
        assert!((0.128..0.137).contains(&seen), "{seen}");
    }

    #[test]
    fn what_no_link_does_is_refused() {
        for (share, run) in [
            (1.0, 2.0),
            (-0.1, 2.0),
            (0.1, 0.5),
            (0.1, f64::NAN),
            (0.9, 2.0),
        ] {
            assert_eq!(Loss::bursts(share, run), None, "{share} {run}");
        }
        assert!(Loss::bursts(0.9, 9.5).is_some());
        assert!(Loss::bursts(0.0, 3.0).is_some_and(|loss| loss.is_none()));
    }

    #[test]
    fn without_loss_nothing_is_lost() {
        assert_eq!(lost(&fates(Loss::None)), 0.0);
        assert_eq!(lost(&fates(Loss::Share(0.0))), 0.0);
        assert_eq!(lost(&fates(Loss::Share(1.0))), 1.0);
    }
}
