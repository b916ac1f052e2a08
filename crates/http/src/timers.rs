//! Timers of users: one per user, in a heap ordered by time.
//!
//! One time per user, in a heap that knows where each user's entry is: setting and clearing cost a
//! few steps, times are exact to the nanosecond, and nothing is allocated once all users have room.
//! (A wheel would round times to its ticks, which an open-loop schedule would show as lateness.)

/// No entry.
const NONE: u32 = u32::MAX;
/// Children of a node: four share a cache line.
const WIDTH: usize = 4;

#[derive(Debug, Clone, Copy)]
struct Entry {
    at_ns: i64,
    user: u32,
}

/// Times by user.
#[derive(Debug, Default)]
pub(crate) struct Timers {
    heap: Vec<Entry>,
    /// User → index in the heap.
    place: Vec<u32>,
}

impl Timers {
    /// Makes room for users below `users`.
    pub(crate) fn make_room(&mut self, users: usize) {
        if self.place.len() < users {
            self.place.resize(users, NONE);
            self.heap.reserve(users - self.heap.len());
        }
    }

    /// The earliest time and its user.
    #[inline]
    pub(crate) fn first(&self) -> Option<(i64, u32)> {
        self.heap.first().map(|entry| (entry.at_ns, entry.user))
    }

    /// A user's time.
    #[inline]
    pub(crate) fn at(&self, user: u32) -> Option<i64> {
        let place = self.place[user as usize];
        (place != NONE).then(|| self.heap[place as usize].at_ns)
    }

    /// Sets a user's time, whatever it was before.
    pub(crate) fn set(&mut self, user: u32, at_ns: i64) {
        let place = self.place[user as usize];
        let entry = Entry { at_ns, user };
        if place == NONE {
            self.heap.push(entry);
            self.rise(self.heap.len() - 1, entry);
            return;
        }
        self.settle(place as usize, entry);
    }

    /// Forgets a user's time.
    pub(crate) fn clear(&mut self, user: u32) {
        let place = std::mem::replace(&mut self.place[user as usize], NONE);
        if place == NONE {
            return;
        }
        let Some(last) = self.heap.pop() else { return };
        if (place as usize) < self.heap.len() {
            self.settle(place as usize, last);
        }
    }

    /// Puts an entry where `place` is vacant, and moves it to where it belongs.
    fn settle(&mut self, place: usize, entry: Entry) {
        let parent = place.saturating_sub(1) / WIDTH;
        match place > 0 && entry.at_ns < self.heap[parent].at_ns {
            true => self.rise(place, entry),
            false => self.sink(place, entry),
        }
    }

    fn rise(&mut self, mut place: usize, entry: Entry) {
        while place > 0 {
            let parent = (place - 1) / WIDTH;
            if self.heap[parent].at_ns <= entry.at_ns {
                break;
            }
            self.put(place, self.heap[parent]);
            place = parent;
        }
        self.put(place, entry);
    }

    fn sink(&mut self, mut place: usize, entry: Entry) {
        loop {
            let from = place * WIDTH + 1;
            let until = (from + WIDTH).min(self.heap.len());
            let children = from..until.max(from);
            let Some(child) = children.min_by_key(|child| self.heap[*child].at_ns) else {
                break;
            };
            if entry.at_ns <= self.heap[child].at_ns {
                break;
            }
            self.put(place, self.heap[child]);
            place = child;
        }
        self.put(place, entry);
    }

    fn put(&mut self, place: usize, entry: Entry) {
        self.heap[place] = entry;
        self.place[entry.user as usize] = place as u32;
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn times_come_in_order(steps in prop::collection::vec((0u32..20, 0i64..50, any::<bool>()), 0..200)) {
            let mut timers = Timers::default();
            timers.make_room(20);
            let mut known = BTreeMap::new();
            for (user, at_ns, is_set) in steps {
                match is_set {
                    true => { timers.set(user, at_ns); known.insert(user, at_ns); }
                    false => { timers.clear(user); known.remove(&user); }
                }
                prop_assert_eq!(timers.first().map(|(at_ns, _)| at_ns), known.values().min().copied());
                prop_assert_eq!(timers.at(user), known.get(&user).copied());
            }
            let mut last = i64::MIN;
            while let Some((at_ns, user)) = timers.first() {
                prop_assert!(at_ns >= last);
                prop_assert_eq!(known.remove(&user), Some(at_ns));
                last = at_ns;
                timers.clear(user);
            }
            prop_assert!(known.is_empty());
        }
    }
}
