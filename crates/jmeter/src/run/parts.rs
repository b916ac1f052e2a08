//! Which parts does a result have: redirects that were followed, and what belongs to a page?
//!
//! ```text
//! page ─┬─ own answers: the redirects and the page itself
//!       ├─ image
//!       └─ frame ─┬─ own answer
//!                 └─ image
//! ```
//!
//! Sums of a result go over its parts; each part has a row of its own below that of the result, named
//! after it with a number, as JMeter writes them.

use sokudo_model::Spent;

use super::row::{Details, RowKind, SampleRow};
use super::test::Test;
use super::user::Body;

/// Longest sentence about what could not be fetched, bytes.
const MOST_MESSAGE_BYTES: usize = 16 << 10;

/// One answer, kept until the result is told.
#[derive(Debug, Clone, Default)]
pub(super) struct Leaf {
    pub code: String,
    pub message: String,
    pub url: String,
    pub encoding: String,
    pub data_type: &'static str,
    pub success: bool,
    pub bytes: u64,
    pub sent_bytes: u64,
    pub latency_ms: u64,
    pub connect_ms: u64,
    pub start_ns: i64,
    pub sent_ns: i64,
    pub end_ns: i64,
    pub errno: i32,
    pub phase: &'static str,
    pub failure: String,
    /// It is the answer to an HTTP request.
    pub is_http: bool,
    /// What only some files hold.
    pub details: Option<Box<Details>>,
}

/// Something that was asked for, with what belongs to it.
#[derive(Debug, Default)]
pub(super) struct Asked {
    /// Its answers: redirects, the last one behind. None: it was not asked for after all.
    pub answers: Vec<Leaf>,
    /// What belongs to it, by number.
    pub below: Vec<usize>,
    /// It names things that belong to it, whether they are fetched or not.
    pub is_page: bool,
    /// How many pages it is in.
    pub depth: u32,
    /// Its failure is none of what it belongs to.
    pub is_excused: bool,
}

/// The parts of the result under way: the first is the result itself.
#[derive(Debug, Default)]
pub(super) struct Parts(Vec<Asked>);

impl Parts {
    /// Begins a result without parts.
    pub fn clear(&mut self) {
        self.0.clear();
    }

    /// True as long as there is nothing but the one answer.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The first answer to the request itself, where there are several.
    pub fn first(&self) -> Option<&Leaf> {
        self.0.first().and_then(|asked| asked.answers.first())
    }

    /// Notes an answer of something; the result itself is number 0.
    pub fn answered(&mut self, number: usize, leaf: Leaf) {
        if self.0.is_empty() {
            self.0.push(Asked::default());
        }
        if let Some(asked) = self.0.get_mut(number) {
            asked.answers.push(leaf);
        }
    }

    /// Something belongs to `owner`; gives its number.
    pub fn add(&mut self, owner: usize, is_excused: bool) -> usize {
        let number = self.0.len();
        let depth = self.depth(owner) + 1;
        self.0.push(Asked {
            depth,
            is_excused,
            ..Asked::default()
        });
        if let Some(asked) = self.0.get_mut(owner) {
            asked.below.push(number);
        }
        number
    }

    /// Adds something that belongs to the result although nobody asked a server for it.
    pub fn show(&mut self, leaf: Leaf) {
        if self.0.is_empty() {
            self.0.push(Asked::default());
        }
        let number = self.add(0, true);
        self.answered(number, leaf);
    }

    /// Something names what belongs to it.
    pub fn opened(&mut self, number: usize) {
        if let Some(asked) = self.0.get_mut(number) {
            asked.is_page = true;
        }
    }

    /// How many pages something is in.
    pub fn depth(&self, number: usize) -> u32 {
        self.0.get(number).map_or(0, |asked| asked.depth)
    }

    /// Parts, the result itself not counted.
    pub fn len(&self) -> usize {
        self.0.len().saturating_sub(1)
    }

    /// Bytes received and sent, and the last end, of everything that belongs to the result.
    pub fn sums(&self) -> (u64, u64, i64) {
        let below = self.0.iter().skip(1).flat_map(|asked| &asked.answers);
        below.fold((0, 0, i64::MIN), |(bytes, sent, end), leaf| {
            let sums = (bytes + leaf.bytes, sent + leaf.sent_bytes);
            (sums.0, sums.1, end.max(leaf.end_ns))
        })
    }

    /// What JMeter says when something that belongs to it failed; `None`: nothing did.
    pub fn failure(&self, number: usize) -> Option<String> {
        let mut says = String::from("Embedded resource download error:");
        let intro = says.len();
        for below in &self.0.get(number)?.below {
            let Some(row) = self.row(*below).filter(|_| !self.0[*below].is_excused) else {
                continue;
            };
            if row.success || says.len() > MOST_MESSAGE_BYTES {
                continue;
            }
            let (url, code, message) = (&row.url, &row.code, &row.message);
            says.extend([url, " code:", code, " message:", message, ", "]);
        }
        (says.len() > intro).then_some(says)
    }

    /// Everything of one part together; `None`: it was not asked for. The depth of pages bounds the
    /// recursion.
    fn row(&self, number: usize) -> Option<Leaf> {
        let asked = self.0.get(number)?;
        let (first, last) = (asked.answers.first()?, asked.answers.last()?);
        let mut row = Leaf {
            start_ns: first.start_ns,
            sent_ns: first.sent_ns,
            latency_ms: first.latency_ms,
            connect_ms: first.connect_ms,
            ..last.clone()
        };
        for leaf in &asked.answers[..asked.answers.len() - 1] {
            row.bytes += leaf.bytes;
            row.sent_bytes += leaf.sent_bytes;
        }
        for below in asked.below.iter().filter_map(|below| self.row(*below)) {
            row.bytes += below.bytes;
            row.sent_bytes += below.sent_bytes;
            row.end_ns = row.end_ns.max(below.end_ns);
        }
        if let Some(says) = self.failure(number) {
            row.message = says;
            row.success = false;
        }
        Some(row)
    }

    /// What is below a part of the result `told`, as results.
    fn rows(
        &self,
        (number, depth): (usize, u32),
        test: &Test,
        told: &SampleRow<'_>,
    ) -> Vec<SampleRow<'static>> {
        let Some(asked) = self.0.get(number) else {
            return Vec::new();
        };
        let mut place = Place {
            number: 0,
            depth,
            is_own: true,
        };
        let mut rows = Vec::new();
        let has_own = asked.is_page || asked.answers.len() > 1;
        for leaf in asked.answers.iter().filter(|_| has_own) {
            rows.push(part_row(test, told, &place, leaf));
            place.number += 1;
        }
        place.is_own = false;
        for number in &asked.below {
            if let Some(leaf) = self.row(*number) {
                let mut row = part_row(test, told, &place, &leaf);
                row.below = self.rows((*number, depth + 1), test, told);
                rows.push(row);
                place.number += 1;
            }
        }
        rows
    }
}

/// Where a part stands.
struct Place {
    /// Among those beside it, from 0.
    number: usize,
    /// How deep below the result, from 1.
    depth: u32,
    /// It is an answer of what it belongs to.
    is_own: bool,
}

fn part_row(test: &Test, told: &SampleRow<'_>, place: &Place, leaf: &Leaf) -> SampleRow<'static> {
    let (start_ms, end_ms) = (test.wall_ms(leaf.start_ns), test.wall_ms(leaf.end_ns));
    // JMeter knows who it was and how many there were only of what is below the result.
    let is_near = place.depth == 1;
    let has_name = is_near || !(place.is_own && place.number == 0);
    let thread_name = if has_name { &*told.thread_name } else { "" };
    SampleRow {
        kind: RowKind::Part,
        is_http: leaf.is_http,
        is_inner: true,
        start_ms,
        elapsed_ms: u64::try_from(end_ms - start_ms).unwrap_or(0),
        label: format!("{}-{}", told.label, place.number).into(),
        code: leaf.code.clone().into(),
        message: leaf.message.clone().into(),
        thread_name: thread_name.to_owned().into(),
        data_type: leaf.data_type,
        success: leaf.success,
        failure_message: "".into(),
        bytes: leaf.bytes,
        sent_bytes: leaf.sent_bytes,
        group_threads: if is_near { told.group_threads } else { 0 },
        all_threads: if is_near { told.all_threads } else { 0 },
        url: leaf.url.clone().into(),
        latency_ms: leaf.latency_ms,
        idle_ms: 0,
        connect_ms: leaf.connect_ms,
        encoding: leaf.encoding.clone().into(),
        intended_ns: leaf.start_ns,
        start_ns: leaf.start_ns,
        sent_ns: leaf.sent_ns,
        end_ns: leaf.end_ns,
        errno: leaf.errno,
        // The whole has it.
        spent: Spent::default(),
        phase: leaf.phase,
        failure: leaf.failure.clone().into(),
        variables: told.variables.clone(),
        details: leaf.details.clone(),
        below: Vec::new(),
    }
}

impl Body {
    /// The parts of the result that is about to be told.
    pub(super) fn told_parts(&self, test: &Test, told: &SampleRow<'_>) -> Vec<SampleRow<'static>> {
        match self.parts.is_empty() {
            true => Vec::new(),
            false => self.parts.rows((0, 1), test, told),
        }
    }
}
