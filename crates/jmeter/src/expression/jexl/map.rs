//! A table whose order is that of Java's `HashMap`, so that loops and texts are as in Java.

use super::value::Value;

/// Entries of a map or set, in the order of their insertion.
#[derive(Debug, Clone, Default)]
pub(super) struct HashTable {
    entries: Vec<(Value, Value)>,
    /// Number of buckets; 0: none yet.
    buckets: usize,
}

/// Number of buckets of a table that was made without a size.
const USUAL_BUCKETS: usize = 16;

impl HashTable {
    /// An empty table made for `size` entries.
    pub fn sized(size: usize) -> Self {
        Self {
            entries: Vec::new(),
            buckets: size.max(1).next_power_of_two(),
        }
    }

    /// Number of entries.
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// The value of a key.
    pub fn get(&self, key: &Value) -> Option<&Value> {
        let mut entries = self.entries.iter();
        let found = entries.find(|(known, _)| known.equals(key));
        found.map(|(_, value)| value)
    }

    /// Sets the value of a key; gives the one before.
    pub fn put(&mut self, key: Value, value: Value) -> Option<Value> {
        if let Some(known) = self
            .entries
            .iter_mut()
            .find(|(known, _)| known.equals(&key))
        {
            return Some(std::mem::replace(&mut known.1, value));
        }
        self.entries.push((key, value));
        if self.buckets == 0 {
            self.buckets = USUAL_BUCKETS;
        }
        // It grows when it is three quarters full.
        while self.entries.len() * 4 > self.buckets * 3 {
            self.buckets *= 2;
        }
        None
    }

    /// Removes a key and gives its value.
    pub fn remove(&mut self, key: &Value) -> Option<Value> {
        let found = self
            .entries
            .iter()
            .position(|(known, _)| known.equals(key))?;
        Some(self.entries.remove(found).1)
    }

    /// Removes everything.
    pub fn clear(&mut self) {
        self.entries.clear();
    }

    /// Entries in the order of Java.
    pub fn entries(&self) -> impl Iterator<Item = &(Value, Value)> {
        let bucket = |key: &Value| {
            let hash = key.hash() as u32;
            (hash ^ hash >> 16) as usize & self.buckets.saturating_sub(1)
        };
        let mut sorted: Vec<&(Value, Value)> = self.entries.iter().collect();
        sorted.sort_by_key(|(key, _)| bucket(key));
        sorted.into_iter()
    }

    /// Keys in the order of Java.
    pub fn keys(&self) -> impl Iterator<Item = &Value> {
        self.entries().map(|(key, _)| key)
    }

    /// True if both hold equal entries.
    pub fn equals(&self, other: &Self) -> bool {
        let holds = |(key, value): &(Value, Value)| {
            let found = other.get(key);
            found.is_some_and(|found| found.equals(value))
        };
        self.len() == other.len() && self.entries.iter().all(holds)
    }
}
