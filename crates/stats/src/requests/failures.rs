//! Groups failed requests by kind of failure.

use std::collections::HashMap;

use super::Request;

/// Kinds of failure that are distinguished.
const MOST_KINDS: usize = 500;
/// Longest name of a kind, bytes; a failed assertion may quote a whole page.
const LONGEST_NAME: usize = 300;
/// The name that stands for all kinds beyond those.
const OTHERS: &str = "(other failures)";

/// One way of failing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FailureCount {
    /// Code and message, or the assertion that failed, as JMeter's report names it; foreign text.
    pub says: String,
    /// Requests that failed in this way.
    pub n: u64,
}

/// All ways of failing, in the order of their first appearance.
#[derive(Debug, Default)]
pub struct Failures {
    by_name: HashMap<Vec<u8>, usize>,
    kinds: Vec<FailureCount>,
    name: Vec<u8>,
}

impl Failures {
    /// Counts a failed request; gives the index of its kind.
    pub(super) fn add(&mut self, request: &Request) -> usize {
        name_of(request, &mut self.name);
        let kind = match self.by_name.get(&self.name) {
            Some(kind) => *kind,
            None => self.new_kind(),
        };
        self.kinds[kind].n += 1;
        kind
    }

    fn new_kind(&mut self) -> usize {
        let (name, says) = match self.kinds.len() < MOST_KINDS {
            true => (
                self.name.clone(),
                String::from_utf8_lossy(&self.name).into(),
            ),
            // Its name is one that no request can have: it is longer than every cut name.
            false => (vec![0; LONGEST_NAME + 2], OTHERS.to_owned()),
        };
        if let Some(known) = self.by_name.get(&name) {
            return *known;
        }
        self.kinds.push(FailureCount { says, n: 0 });
        self.by_name.insert(name, self.kinds.len() - 1);
        self.kinds.len() - 1
    }

    /// The kinds.
    pub fn into_kinds(self) -> Vec<FailureCount> {
        self.kinds
    }
}

/// Code and message; for a good code, or none, what the assertion said.
fn name_of(request: &Request, out: &mut Vec<u8>) {
    out.clear();
    let good = matches!(request.code.first(), Some(b'2' | b'3')) && request.code.len() == 3;
    if good || (request.code.is_empty() && !request.failure.is_empty()) {
        match request.failure.is_empty() {
            true => out.extend(b"Assertion failed"),
            false => out.extend(request.failure),
        }
    } else {
        out.extend(request.code);
        if !request.message.is_empty() {
            out.push(b'/');
            out.extend(request.message);
        }
    }
    if out.is_empty() {
        out.extend(b"(no reason given)");
    }
    if out.len() > LONGEST_NAME {
        out.truncate(LONGEST_NAME - 3);
        // A character is not cut in half.
        while out.last().is_some_and(|b| b & 0xc0 == 0x80) {
            out.pop();
        }
        if out.last().is_some_and(|b| *b >= 0xc0) {
            out.pop();
        }
        out.extend("…".as_bytes());
    }
}
