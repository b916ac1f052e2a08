//! Counts requests one by one without keeping them.

use std::collections::HashMap;

use super::timeline::{Mean, Moment, Timeline};
use super::{FailureCount, Failures, LabelGroup, Request, Settings};

/// Labels that are distinguished; plans that put an id into each label have any number of them.
pub const MOST_LABELS: usize = 1000;
/// The name that stands for all labels beyond those.
const OTHER_LABELS: &str = "(other labels)";
/// Response codes that are distinguished over time.
const MOST_CODES: usize = 24;
/// Name of the codes beyond those.
const OTHER_CODES: &str = "…";
/// Longest code, bytes.
const LONGEST_CODE: usize = 80;
/// Longest label and name of a host, bytes. Labels that begin alike count together beyond it: a thousand of them as long
/// as rows may be would fill the memory and the page.
const LONGEST_NAME: usize = 1000;
/// Hosts whose users are added up; further ones count as the last.
const MOST_HOSTS: usize = 256;
/// Numbers of users that are distinguished.
const MOST_THREADS: usize = 4096;
/// A row this far from the first one has a broken time stamp, milliseconds: a year.
const FAR_MS: i64 = 366 * 86_400_000;

/// Response times at one number of users.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct AtThreads {
    /// Requests.
    pub n: u64,
    /// Sum of their response times, milliseconds.
    pub sum_ms: u64,
}

/// The statistics of all rows together.
#[derive(Debug, Clone)]
pub struct Requests {
    /// The options of counting.
    pub settings: Settings,
    /// All requests; transactions are not among them.
    pub total: LabelGroup,
    /// Per label, in the order of their names.
    pub labels: Vec<LabelGroup>,
    /// Per sending host, in the order of their first rows; empty unless the rows name two or more.
    pub hosts: Vec<LabelGroup>,
    /// True when there were too many labels, and the last one stands for many.
    pub labels_joined: bool,
    /// Ways of failing, in the order of their first appearance.
    pub failures: Vec<FailureCount>,
    /// Course of all requests together; transactions are counted apart.
    pub timeline: Timeline<Moment>,
    /// Response codes, in the order in which each step of the timeline counts them.
    pub codes: Vec<String>,
    /// Response times by number of users, those of all hosts together.
    pub by_threads: Vec<(u32, AtThreads)>,
    /// Rows left out because their time is a year or more away from the first row's.
    pub far: u64,
    /// Rows of transactions in which nothing was requested; they count nowhere.
    pub empty_transactions: u64,
}

impl Requests {
    /// True when no request was counted at all.
    pub fn is_empty(&self) -> bool {
        self.total.n == 0 && self.labels.is_empty()
    }

    /// Users alive on all hosts together, in each step of the timeline; `None` where no row reports it.
    ///
    /// A host of which no request ended in a step has as many as in the one before, unless no later row
    /// of it follows.
    pub fn users(&self) -> Vec<Option<f64>> {
        let steps: Vec<&[Mean]> = self.timeline.steps().map(|(_, m)| &m.threads[..]).collect();
        let hosts = steps.iter().map(|threads| threads.len()).max().unwrap_or(0);
        let told = |step: usize, host: usize| steps[step].get(host).and_then(Mean::value);
        let last = |host| {
            (0..steps.len())
                .rev()
                .find(|step| told(*step, host).is_some())
        };
        let last: Vec<Option<usize>> = (0..hosts).map(last).collect();
        let mut known: Vec<Option<f64>> = vec![None; hosts];
        let each = (0..steps.len()).map(|step| {
            for (host, known) in known.iter_mut().enumerate() {
                let is_over = last[host].is_none_or(|last| last < step);
                *known = told(step, host).or(known.filter(|_| !is_over));
            }
            let any = steps[step].iter().any(|mean| mean.value().is_some());
            any.then(|| known.iter().flatten().sum())
        });
        each.collect()
    }
}

/// Counts rows.
#[derive(Debug)]
pub struct Tally {
    settings: Settings,
    total: LabelGroup,
    labels: Vec<LabelGroup>,
    by_label: HashMap<Vec<u8>, usize>,
    failures: Failures,
    timeline: Timeline<Moment>,
    codes: Vec<Vec<u8>>,
    hosts: Vec<Vec<u8>>,
    /// Requests of each of these hosts, where the rows name hosts.
    of_hosts: Vec<LabelGroup>,
    /// Users of each host as its last row reported them, and their sum.
    alive: (Vec<u32>, u64),
    by_threads: Vec<AtThreads>,
    first_ms: Option<i64>,
    far: u64,
    empty_transactions: u64,
}

impl Tally {
    /// Nothing counted yet.
    pub fn new(settings: Settings) -> Self {
        Self {
            settings,
            total: LabelGroup::new(String::new(), false),
            labels: Vec::new(),
            by_label: HashMap::new(),
            failures: Failures::default(),
            timeline: Timeline::default(),
            codes: Vec::new(),
            hosts: Vec::new(),
            of_hosts: Vec::new(),
            alive: (Vec::new(), 0),
            by_threads: Vec::new(),
            first_ms: None,
            far: 0,
            empty_transactions: 0,
        }
    }

    /// Counts one row.
    pub fn add(&mut self, request: &Request) {
        if request.is_empty_transaction() {
            self.empty_transactions += 1;
            return;
        }
        let first_ms = *self.first_ms.get_or_insert(request.start_ms);
        let away = |t: i64| t.saturating_sub(first_ms).saturating_abs() > FAR_MS;
        if away(request.start_ms) || away(request.end_ms()) {
            self.far += 1;
            return;
        }
        let is_transaction = request.is_transaction();
        let label = self.label(cut(request.label, LONGEST_NAME), is_transaction);
        let group = &mut self.labels[label];
        group.add(request, &self.settings);
        let slot = group.timeline.at(request.end_ms());
        slot.n = slot.n.saturating_add(1);
        slot.errors = slot.errors.saturating_add(u32::from(!request.success));
        slot.sum_ms = slot.sum_ms.saturating_add(request.elapsed_ms);
        if is_transaction {
            self.timeline.at(request.end_ms()).transactions += 1;
            return;
        }
        self.total.add(request, &self.settings);
        if !request.success {
            let kind = self.failures.add(request);
            self.labels[label].failed_as(kind);
        }
        let named = cut(request.host, LONGEST_NAME);
        let host = place_of(&mut self.hosts, named, MOST_HOSTS, "…");
        if !request.host.is_empty() {
            self.of_host(request, host);
        }
        self.over_time(request, host);
        self.under_load(request, host);
    }

    /// The statistics of all rows.
    pub fn finish(mut self) -> Requests {
        let width_ms = self.timeline.suitable_ms();
        self.timeline.widen(width_ms);
        self.labels.sort_by(|a, b| a.label.cmp(&b.label));
        for label in &mut self.labels {
            label.timeline.widen(width_ms);
            label
                .failures
                .sort_by_key(|(kind, n)| (u64::MAX - n, *kind));
        }
        let lossy = |code: Vec<u8>| String::from_utf8_lossy(&code).into_owned();
        let threads = self.by_threads.into_iter().enumerate();
        Requests {
            labels_joined: self.labels.len() > MOST_LABELS,
            settings: self.settings,
            total: self.total,
            labels: self.labels,
            hosts: match self.of_hosts.len() {
                0 | 1 => Vec::new(),
                _ => self.of_hosts,
            },
            failures: self.failures.into_kinds(),
            timeline: self.timeline,
            codes: self.codes.into_iter().map(lossy).collect(),
            by_threads: threads
                .filter(|(_, at)| at.n > 0)
                .map(|(threads, at)| (threads as u32, at))
                .collect(),
            far: self.far,
            empty_transactions: self.empty_transactions,
        }
    }

    #[inline]
    fn label(&mut self, label: &[u8], is_transaction: bool) -> usize {
        match self.by_label.get(label) {
            Some(place) => *place,
            None => self.new_label(label, is_transaction),
        }
    }

    fn new_label(&mut self, label: &[u8], is_transaction: bool) -> usize {
        if self.labels.len() < MOST_LABELS {
            let name = String::from_utf8_lossy(label).into_owned();
            self.labels.push(LabelGroup::new(name, is_transaction));
            self.by_label.insert(label.to_vec(), self.labels.len() - 1);
        } else if self.labels.len() == MOST_LABELS {
            self.labels
                .push(LabelGroup::new(OTHER_LABELS.into(), false));
        }
        self.labels.len() - 1
    }

    fn of_host(&mut self, request: &Request, host: usize) {
        while self.of_hosts.len() <= host {
            let name = &self.hosts[self.of_hosts.len()];
            let name = String::from_utf8_lossy(name).into_owned();
            self.of_hosts.push(LabelGroup::new(name, false));
        }
        self.of_hosts[host].add(request, &self.settings);
    }

    fn over_time(&mut self, request: &Request, host: usize) {
        self.timeline.at(request.start_ms).started += 1;
        let code = place_of(
            &mut self.codes,
            cut(request.code, LONGEST_CODE),
            MOST_CODES,
            OTHER_CODES,
        );
        let moment = self.timeline.at(request.end_ms());
        moment.ended += 1;
        moment.errors += u64::from(!request.success);
        moment.bytes = moment.bytes.saturating_add(request.bytes);
        moment.sent_bytes = moment.sent_bytes.saturating_add(request.sent_bytes);
        moment.took(request.elapsed_ms);
        moment.spent.add(request);
        if let Some(latency_ms) = request.latency_ms.filter(|_| request.success) {
            moment.latency_ms.add(latency_ms);
        }
        if let Some(connect_ms) = request.connect_ms.filter(|ms| *ms > 0) {
            moment.connect_ms.add(connect_ms);
        }
        if moment.codes.len() <= code {
            moment.codes.resize(code + 1, 0);
        }
        moment.codes[code] = moment.codes[code].saturating_add(1);
        if let Some(threads) = request.threads {
            if moment.threads.len() <= host {
                moment.threads.resize(host + 1, Mean::default());
            }
            moment.threads[host].add(u64::from(threads));
        }
    }

    /// A row reports the users of its own host: those of all others are as their last rows reported.
    fn under_load(&mut self, request: &Request, host: usize) {
        let Some(threads) = request.threads else {
            return;
        };
        let (each, all) = &mut self.alive;
        if each.len() <= host {
            each.resize(host + 1, 0);
        }
        *all = *all - u64::from(each[host]) + u64::from(threads);
        each[host] = threads;
        let place = (*all).min(MOST_THREADS as u64 - 1) as usize;
        if self.by_threads.len() <= place {
            self.by_threads.resize(place + 1, AtThreads::default());
        }
        let at = &mut self.by_threads[place];
        at.n += 1;
        at.sum_ms = at.sum_ms.saturating_add(request.elapsed_ms);
    }
}

/// The begin of a name, of whole characters.
fn cut(name: &[u8], most: usize) -> &[u8] {
    if name.len() <= most {
        return name;
    }
    let is_inside = |at: &usize| name[*at] & 0xc0 == 0x80;
    let end = (0..=most).rev().find(|at| !is_inside(at));
    &name[..end.unwrap_or(0)]
}

/// Place of a name in a short list; names beyond `most` share the last place.
fn place_of(list: &mut Vec<Vec<u8>>, name: &[u8], most: usize, others: &str) -> usize {
    if let Some(place) = list.iter().position(|known| known == name) {
        return place;
    }
    match list.len() {
        n if n + 1 < most => list.push(name.to_vec()),
        n if n + 1 == most => list.push(others.as_bytes().to_vec()),
        _ => {}
    }
    list.len() - 1
}
