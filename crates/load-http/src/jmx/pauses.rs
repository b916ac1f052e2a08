//! Time that the users of an event loop spend in pauses of the plan.

/// Pauses that go on, and those that are over; nanoseconds of one clock.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Pauses {
    under_way: i128,
    /// Sum of the begins of those that go on.
    begins_ns: i128,
    /// Time of those that are over.
    over_ns: i128,
}

impl Pauses {
    /// A user begins to pause.
    pub fn begins(&mut self, at_ns: i64) {
        self.under_way += 1;
        self.begins_ns += i128::from(at_ns);
    }

    /// A pause that began then is over.
    pub fn ends(&mut self, began_ns: i64, at_ns: i64) {
        self.under_way -= 1;
        self.begins_ns -= i128::from(began_ns);
        self.over_ns += i128::from(at_ns - began_ns);
    }

    /// Time of all users in pauses until now.
    pub fn until(&self, at_ns: i64) -> i128 {
        self.over_ns + self.under_way * i128::from(at_ns) - self.begins_ns
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_that_go_on_count_until_now() {
        let mut pauses = Pauses::default();
        assert_eq!(pauses.until(7), 0);
        pauses.begins(10);
        pauses.begins(20);
        assert_eq!(pauses.until(30), 20 + 10);
        pauses.ends(10, 40);
        assert_eq!(pauses.until(40), 30 + 20);
        pauses.ends(20, 40);
        assert_eq!(pauses.until(1_000), 50);
    }
}
