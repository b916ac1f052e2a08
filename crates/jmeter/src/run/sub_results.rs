//! Sub-results of the result under way: followed redirects and embedded resources.
//!
//! ```text
//! page ─┬─ own replies: the redirects and the page itself
//!       ├─ image
//!       └─ frame ─┬─ own reply
//!                 └─ image
//! ```
//!
//! The sums of a result include its sub-results. Each sub-result has a row of its own below that
//! of the result, with the same label and a number, as JMeter writes them.

use sokudo_model::Spent;

use super::row::{Asserted, Details, RowKind, SampleRow};
use super::test::Test;

/// Begin of a message about resources that could not be fetched.
const INTRO: &str = "Embedded resource download error:";
/// Longest message about resources that could not be fetched, bytes.
const MOST_MESSAGE_BYTES: usize = 16 << 10;

/// One reply, kept until the result is reported.
#[derive(Debug, Clone, Default)]
pub(super) struct SubResult {
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
    /// It is the reply to an HTTP request.
    pub is_http: bool,
    /// Details that only some result files contain.
    pub details: Option<Box<Details>>,
}

/// The sample itself or one of its resources, with the resources below it.
#[derive(Debug, Default)]
struct Resource {
    /// Its replies: redirects, then the last one. Empty: it was not requested.
    replies: Vec<SubResult>,
    /// Numbers of the resources below it.
    below: Vec<usize>,
    /// It has links to resources, whether they are fetched or not.
    is_page: bool,
    /// Number of pages around it.
    depth: u32,
    /// Its failure is not a failure of the sample.
    is_excused: bool,
}

impl Resource {
    /// Its own replies are sub-results.
    fn has_own(&self) -> bool {
        self.is_page || self.replies.len() > 1
    }
}

/// The sample under way, number 0, and its resources.
#[derive(Debug, Default)]
pub(super) struct SubResults {
    resources: Vec<Resource>,
    /// Verdicts of assertions on its direct sub-results, where some examine these.
    judged: Vec<InnerVerdict>,
}

/// Verdicts of assertions on a sub-result.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct InnerVerdict {
    /// One of them failed.
    pub failed: bool,
    /// The outcome of each, if a result file contains them.
    pub asserted: Vec<Asserted>,
}

impl SubResults {
    /// Begins a result without sub-results.
    pub fn clear(&mut self) {
        self.resources.clear();
        self.judged.clear();
    }

    /// The direct sub-results of the sample: its own replies where there are several, then its resources.
    pub fn direct(&self) -> Vec<SubResult> {
        let Some(sample) = self.resources.first() else {
            return Vec::new();
        };
        let own = sample.replies.iter().filter(|_| sample.has_own()).cloned();
        let below = sample.below.iter().filter_map(|number| self.sum(*number));
        own.chain(below).collect()
    }

    /// Keeps what assertions found out about the direct sub-results, in their order.
    pub fn judge(&mut self, judged: Vec<InnerVerdict>) {
        self.judged = judged;
    }

    /// True if the sample has one reply and no resources so far.
    pub fn is_empty(&self) -> bool {
        self.resources.is_empty()
    }

    /// The first of several replies to the sample's own requests.
    pub fn first(&self) -> Option<&SubResult> {
        self.resources
            .first()
            .and_then(|resource| resource.replies.first())
    }

    /// Adds a reply of a resource, or of the sample itself (number 0).
    pub fn answered(&mut self, number: usize, reply: SubResult) {
        if self.resources.is_empty() {
            self.resources.push(Resource::default());
        }
        if let Some(resource) = self.resources.get_mut(number) {
            resource.replies.push(reply);
        }
    }

    /// Adds a resource below `owner`; gives its number.
    pub fn add(&mut self, owner: usize, is_excused: bool) -> usize {
        let number = self.resources.len();
        let depth = self.depth(owner) + 1;
        self.resources.push(Resource {
            depth,
            is_excused,
            ..Resource::default()
        });
        if let Some(resource) = self.resources.get_mut(owner) {
            resource.below.push(number);
        }
        number
    }

    /// Adds a sub-result of the sample that needed no request.
    pub fn show(&mut self, reply: SubResult) {
        if self.resources.is_empty() {
            self.resources.push(Resource::default());
        }
        let number = self.add(0, true);
        self.answered(number, reply);
    }

    /// Notes that a resource has links to others.
    pub fn opened(&mut self, number: usize) {
        if let Some(resource) = self.resources.get_mut(number) {
            resource.is_page = true;
        }
    }

    /// Number of pages around a resource.
    pub fn depth(&self, number: usize) -> u32 {
        self.resources
            .get(number)
            .map_or(0, |resource| resource.depth)
    }

    /// Number of resources, without the sample itself.
    pub fn len(&self) -> usize {
        self.resources.len().saturating_sub(1)
    }

    /// Bytes received and sent, and the last end, of all resources.
    pub fn sums(&self) -> (u64, u64, i64) {
        let below = self
            .resources
            .iter()
            .skip(1)
            .flat_map(|resource| &resource.replies);
        below.fold((0, 0, i64::MIN), |(bytes, sent, end), reply| {
            let sums = (bytes + reply.bytes, sent + reply.sent_bytes);
            (sums.0, sums.1, end.max(reply.end_ns))
        })
    }

    /// JMeter's message if a resource below failed; `None`: none failed.
    pub fn failure(&self, number: usize) -> Option<String> {
        let mut says = String::new();
        for below in &self.resources.get(number)?.below {
            let Some(row) = self
                .sum(*below)
                .filter(|_| !self.resources[*below].is_excused)
            else {
                continue;
            };
            if row.success || says.len() > MOST_MESSAGE_BYTES {
                continue;
            }
            if says.is_empty() {
                says.push_str(INTRO);
            }
            let (url, code, message) = (&row.url, &row.code, &row.message);
            says.extend([url, " code:", code, " message:", message, ", "]);
        }
        (!says.is_empty()).then_some(says)
    }

    /// The sum of one resource; `None`: it was not requested. The depth of pages bounds the
    /// recursion.
    fn sum(&self, number: usize) -> Option<SubResult> {
        let resource = self.resources.get(number)?;
        let (first, last) = (resource.replies.first()?, resource.replies.last()?);
        let mut row = SubResult {
            start_ns: first.start_ns,
            sent_ns: first.sent_ns,
            latency_ms: first.latency_ms,
            connect_ms: first.connect_ms,
            ..last.clone()
        };
        for reply in &resource.replies[..resource.replies.len() - 1] {
            row.bytes += reply.bytes;
            row.sent_bytes += reply.sent_bytes;
        }
        for below in resource.below.iter().filter_map(|below| self.sum(*below)) {
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

    /// The rows below the row of the sample.
    pub fn rows(&self, test: &Test, sample: &SampleRow<'_>) -> Vec<SampleRow<'static>> {
        let mut rows = self.rows_below((0, 1), test, sample);
        for (row, judged) in rows.iter_mut().zip(&self.judged) {
            row.success &= !judged.failed;
            if !judged.asserted.is_empty() {
                let details = row.details.get_or_insert_default();
                details.assertions.clone_from(&judged.asserted);
            }
        }
        rows
    }

    /// The rows below a resource of the sample.
    fn rows_below(
        &self,
        (number, depth): (usize, u32),
        test: &Test,
        sample: &SampleRow<'_>,
    ) -> Vec<SampleRow<'static>> {
        let Some(resource) = self.resources.get(number) else {
            return Vec::new();
        };
        let mut place = SubResultPosition {
            number: 0,
            depth,
            is_own: true,
        };
        let mut rows = Vec::new();
        for reply in resource.replies.iter().filter(|_| resource.has_own()) {
            rows.push(sub_row(test, sample, &place, reply));
            place.number += 1;
        }
        place.is_own = false;
        for number in &resource.below {
            if let Some(reply) = self.sum(*number) {
                let mut row = sub_row(test, sample, &place, &reply);
                row.below = self.rows_below((*number, depth + 1), test, sample);
                rows.push(row);
                place.number += 1;
            }
        }
        rows
    }
}

/// Position of a sub-result below the sample.
struct SubResultPosition {
    /// Among its siblings, from 0.
    number: usize,
    /// Depth below the sample, from 1.
    depth: u32,
    /// It is a reply of the row above.
    is_own: bool,
}

fn sub_row(
    test: &Test,
    sample: &SampleRow<'_>,
    place: &SubResultPosition,
    reply: &SubResult,
) -> SampleRow<'static> {
    let (start_ms, end_ms) = (test.wall_ms(reply.start_ns), test.wall_ms(reply.end_ns));
    // JMeter states thread name and counts only for the first level.
    let is_near = place.depth == 1;
    let has_name = is_near || !(place.is_own && place.number == 0);
    let thread_name = if has_name { &*sample.thread_name } else { "" };
    SampleRow {
        kind: RowKind::Part,
        is_http: reply.is_http,
        is_inner: true,
        start_ms,
        elapsed_ms: u64::try_from(end_ms - start_ms).unwrap_or(0),
        label: format!("{}-{}", sample.label, place.number).into(),
        code: reply.code.clone().into(),
        message: reply.message.clone().into(),
        thread_name: thread_name.to_owned().into(),
        data_type: reply.data_type,
        success: reply.success,
        failure_message: "".into(),
        bytes: reply.bytes,
        sent_bytes: reply.sent_bytes,
        group_threads: if is_near { sample.group_threads } else { 0 },
        all_threads: if is_near { sample.all_threads } else { 0 },
        url: reply.url.clone().into(),
        latency_ms: reply.latency_ms,
        idle_ms: 0,
        connect_ms: reply.connect_ms,
        encoding: reply.encoding.clone().into(),
        intended_ns: reply.start_ns,
        is_due: false,
        start_ns: reply.start_ns,
        sent_ns: reply.sent_ns,
        end_ns: reply.end_ns,
        errno: reply.errno,
        // The row of the sample has it.
        spent: Spent::default(),
        phase: reply.phase,
        failure: reply.failure.clone().into(),
        variables: sample.variables.clone(),
        details: reply.details.clone(),
        below: Vec::new(),
    }
}
