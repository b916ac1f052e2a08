//! Bounds the complaints of each host that a record keeps.
//!
//! A record must not grow without end because one host, or a program that speaks in its name, never
//! stops complaining.

/// Complaints of a host that are kept; of more, their number alone.
const MOST: u64 = 200;
/// Longest word in a complaint, characters.
pub(crate) const MAX_WORD: usize = 2048;

/// Number of complaints of each host.
pub(crate) struct Complaints(Vec<u64>);

impl Complaints {
    pub(crate) fn new(hosts: usize) -> Self {
        Self(vec![0; hosts])
    }

    /// Counts a complaint of a host; false when it is one too many.
    pub(crate) fn is_heard(&mut self, index: usize) -> bool {
        self.0[index] += 1;
        self.0[index] <= MOST
    }

    /// Hosts that complained too often, and how many complaints were left out.
    pub(crate) fn unheard(&self) -> Vec<(usize, u64)> {
        let counts = self.0.iter().enumerate();
        let over = counts.map(|(index, count)| (index, count.saturating_sub(MOST)));
        over.filter(|(_, unheard)| *unheard > 0).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_host_that_never_stops_keeps_no_other_one_from_being_heard() {
        let mut complaints = Complaints::new(3);
        let heard = (0..1000).filter(|_| complaints.is_heard(1)).count() as u64;
        assert_eq!(heard, MOST);
        assert!(complaints.is_heard(0) && complaints.is_heard(2));
        assert_eq!(complaints.unheard(), [(1, 1000 - MOST)]);
    }
}
