//! Which sampler is next?
//!
//! A user's place in its group is one [`Place`] per controller. [`Body::advance`] walks from the
//! group's loop down to the next sampler, as JMeter's controllers hand `next()` on: a controller
//! whose steps are over says `Nothing`, and the one around it goes on.

use super::shared::locked;
use super::steps::{Child, Node};
use super::test::Test;
use super::user::Body;
use crate::expression::World as _;
use crate::plan::{ControllerKind, Id, ThroughputLimit};

/// How often controllers may begin anew without a sampler before the user rests.
pub(super) const FUEL: u32 = 1_000;
/// How long it rests then, and between two looks at a lock.
const REST_NS: i64 = 1_000_000;

/// Where a user stands in one controller.
#[derive(Debug, Clone, Copy)]
pub(super) struct Place {
    /// Its steps are under way.
    pub inside: bool,
    /// The step that is next.
    pub current: u32,
    /// Passes that are over since it began.
    pub passes: u64,
    /// The step that was chosen, or when it began.
    pub chosen: i64,
    /// What stays from one beginning to the next: turn, or that it acted.
    pub kept: u64,
    /// Further such number: executions.
    pub counted: u64,
}

impl Place {
    /// Not begun yet.
    pub const OUTSIDE: Self = Self {
        inside: false,
        current: 0,
        passes: 0,
        chosen: 0,
        kept: 0,
        counted: 0,
    };

    fn leave(&mut self) {
        self.inside = false;
        self.current = 0;
        self.passes = 0;
    }
}

/// What was found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Found {
    /// A sampler, and the controller that it stands in.
    Sampler(Id, usize),
    /// The controller's steps are over.
    Nothing,
    /// Not now; ask again then.
    Later(i64),
    /// The user ends.
    End,
}

/// Whether a controller lets its steps happen.
enum Entry {
    Go,
    Skip,
    Later(i64),
    End,
}

impl Body {
    /// The next sampler below a controller.
    pub(super) fn advance(&mut self, test: &Test, now_ns: i64, n: usize) -> Found {
        let node = &test.nodes[self.person.group][n];
        if !self.places[n].inside {
            match self.enter(test, now_ns, n, node) {
                Entry::Go => {}
                Entry::Skip => {
                    self.places[n].leave();
                    return Found::Nothing;
                }
                Entry::Later(at) => return Found::Later(at),
                Entry::End => return Found::End,
            }
        } else if let ControllerKind::If {
            condition,
            is_text,
            before_each_step: true,
        } = &node.kind
            && !self.holds(test, now_ns, condition, *is_text)
        {
            self.places[n].leave();
            return Found::Nothing;
        }
        loop {
            let found = match self.choose(n, node) {
                Some(Child::Sampler(id)) => Found::Sampler(id, n),
                Some(Child::Node(below)) => self.advance(test, now_ns, below),
                None => match self.pass_over(test, now_ns, n, node) {
                    Ok(()) => continue,
                    Err(over) => return over,
                },
            };
            match found {
                Found::Nothing => self.places[n].current += 1,
                Found::Sampler(_, at) => {
                    // A controller inside goes on by itself, unless one step of it is enough.
                    let one_step = matches!(node.kind, ControllerKind::SubSteps { .. });
                    if at == n || one_step {
                        self.places[n].current += 1;
                    }
                    return found;
                }
                other => return other,
            }
        }
    }

    /// The step that is next; `None` when the pass is over.
    fn choose(&self, n: usize, node: &Node) -> Option<Child> {
        let place = &self.places[n];
        let current = place.current as usize;
        let index = match node.kind {
            ControllerKind::Random
            | ControllerKind::Interleave { .. }
            | ControllerKind::SubSteps { .. }
            | ControllerKind::Switch { .. } => match current {
                0 => usize::try_from(place.chosen).ok()?,
                _ => return None,
            },
            ControllerKind::RandomOrder => {
                let order = self.orders.get(&n)?;
                usize::from(*order.get(current)?)
            }
            _ => current,
        };
        node.children.get(index).copied()
    }

    fn enter(&mut self, test: &Test, now_ns: i64, n: usize, node: &Node) -> Entry {
        let goes = match &node.kind {
            ControllerKind::Loop { loops } => {
                let loops = self.person.view(test, now_ns).integer(loops);
                for once in &node.once_below {
                    self.places[*once].kept = 0;
                }
                loops != 0
            }
            ControllerKind::If {
                condition, is_text, ..
            } => self.holds(test, now_ns, condition, *is_text),
            ControllerKind::While { .. } => self.goes_on(test, now_ns, node, false),
            ControllerKind::ForEach { .. } => self.next_value(test, now_ns, n, node),
            ControllerKind::OnceOnly => std::mem::replace(&mut self.places[n].kept, 1) == 0,
            ControllerKind::Random | ControllerKind::SubSteps { random: true, .. } => {
                let drawn = self.person.random.below(node.children.len() as u64);
                self.places[n].chosen = drawn as i64;
                true
            }
            ControllerKind::RandomOrder => {
                self.shuffle(n, node.children.len());
                true
            }
            ControllerKind::Interleave { across_users }
            | ControllerKind::SubSteps { across_users, .. } => {
                let turn = self.turn(test, n, *across_users);
                let count = node.children.len().max(1) as u64;
                self.places[n].chosen = (turn % count) as i64;
                true
            }
            ControllerKind::Switch { selected } => {
                let selected = self.person.view(test, now_ns).text(selected);
                let chosen = self.named(test, now_ns, node, selected.trim());
                self.places[n].chosen = chosen.map_or(i64::MAX, |index| index as i64);
                true
            }
            ControllerKind::Throughput { limit, per_user } => {
                self.is_due(test, now_ns, n, limit, *per_user)
            }
            ControllerKind::Runtime { seconds } => {
                self.places[n].chosen = now_ns;
                self.person.view(test, now_ns).integer(seconds) > 0
            }
            ControllerKind::CriticalSection { lock } => {
                let lock = self.person.view(test, now_ns).text(lock);
                let mut locks = locked(&test.shared.locks);
                let holder = *locks.entry(lock.clone()).or_insert(self.number);
                if holder != self.number {
                    return Entry::Later(now_ns + REST_NS);
                }
                self.held.push((n, lock));
                true
            }
            ControllerKind::Simple => true,
            ControllerKind::Transaction { .. } => {
                self.open_transaction(test, now_ns, n);
                true
            }
        };
        if !goes {
            return Entry::Skip;
        }
        self.places[n].inside = true;
        match self.begin_pass(test, now_ns, n, node) {
            true => Entry::Go,
            false => Entry::End,
        }
    }

    /// Moves on what moves on with each pass; false when the user ends with it. JMeter tells the
    /// elements of a controller from the last to the first.
    fn begin_pass(&mut self, test: &Test, now_ns: i64, n: usize, node: &Node) -> bool {
        self.places[n].current = 0;
        if n == 0 {
            self.begin_iteration(test, now_ns);
        }
        let mut steps = node.per_iteration.iter().rev();
        steps.all(|step| self.move_on(test, now_ns, *step))
    }

    /// `Ok`: another pass has begun. `Err`: what the controller says to the one around it.
    fn pass_over(&mut self, test: &Test, now_ns: i64, n: usize, node: &Node) -> Result<(), Found> {
        self.places[n].passes += 1;
        let again = match &node.kind {
            ControllerKind::Loop { loops } => {
                let loops = self.person.view(test, now_ns).integer(loops);
                loops < 0 || self.places[n].passes < loops as u64
            }
            ControllerKind::While { .. } => self.goes_on(test, now_ns, node, true),
            ControllerKind::ForEach { .. } => self.next_value(test, now_ns, n, node),
            ControllerKind::Runtime { seconds } => {
                let most_ns = self
                    .person
                    .view(test, now_ns)
                    .integer(seconds)
                    .saturating_mul(1_000_000_000);
                now_ns - self.places[n].chosen < most_ns
            }
            _ => false,
        };
        if !again {
            self.leave(test, now_ns, n);
            return Err(Found::Nothing);
        }
        if self.fuel == 0 {
            // Nothing in it asks for anything: do not spin, and do not end either.
            self.places[n].passes -= 1;
            return Err(Found::Later(now_ns + REST_NS));
        }
        self.fuel -= 1;
        match self.begin_pass(test, now_ns, n, node) {
            true => Ok(()),
            false => Err(Found::End),
        }
    }

    /// Ends a controller, however far it came.
    pub(super) fn leave(&mut self, test: &Test, now_ns: i64, n: usize) {
        if !self.places[n].inside {
            return;
        }
        self.places[n].leave();
        match &test.nodes[self.person.group][n].kind {
            ControllerKind::Transaction { .. } => self.close_transaction(test, now_ns, n),
            ControllerKind::CriticalSection { .. } => self.release(test, n),
            _ => {}
        }
    }

    fn release(&mut self, test: &Test, n: usize) {
        if let Some(index) = self.held.iter().position(|(node, _)| *node == n) {
            let (_, lock) = self.held.swap_remove(index);
            locked(&test.shared.locks).remove(&lock);
        }
    }

    /// Leaves the controllers from one up to, not including, another around it.
    pub(super) fn leave_up_to(&mut self, test: &Test, now_ns: i64, from: usize, end: usize) {
        let nodes = &test.nodes[self.person.group];
        let mut at = from;
        while at != end && at != 0 {
            self.leave(test, now_ns, at);
            at = nodes[at].parent;
        }
    }

    /// The rest of the iteration of the group is left out.
    pub(super) fn next_iteration(&mut self, test: &Test, now_ns: i64, from: usize) {
        self.leave_up_to(test, now_ns, from, 0);
        self.places[0].current = u32::MAX;
    }

    /// The nearest loop goes on with its next pass, or ends.
    pub(super) fn next_loop(&mut self, test: &Test, now_ns: i64, from: usize, ends: bool) {
        let nodes = &test.nodes[self.person.group];
        let mut at = from;
        let repeats = |kind: &ControllerKind| {
            matches!(
                kind,
                ControllerKind::Loop { .. }
                    | ControllerKind::While { .. }
                    | ControllerKind::ForEach { .. }
                    | ControllerKind::Runtime { .. }
            )
        };
        while at != 0 && !repeats(&nodes[at].kind) {
            at = nodes[at].parent;
        }
        self.leave_up_to(test, now_ns, from, at);
        match ends && at != 0 {
            true => {
                self.leave(test, now_ns, at);
                self.places[nodes[at].parent].current += 1;
            }
            false => self.places[at].current = u32::MAX,
        }
    }

    fn holds(
        &mut self,
        test: &Test,
        now_ns: i64,
        condition: &crate::expression::Template,
        is_text: bool,
    ) -> bool {
        let mut view = self.person.view(test, now_ns);
        let text = view.text(condition);
        if is_text {
            return text.trim().eq_ignore_ascii_case("true");
        }
        crate::expression::condition_holds(&text, &view).unwrap_or_else(|why| {
            test.sink.trouble(&why);
            false
        })
    }

    fn goes_on(&mut self, test: &Test, now_ns: i64, node: &Node, at_end: bool) -> bool {
        let ControllerKind::While { condition } = &node.kind else {
            return false;
        };
        let text = self.person.view(test, now_ns).text(condition);
        let text = text.trim();
        if text.eq_ignore_ascii_case("LAST") || at_end && text.is_empty() {
            return self.person.last_ok;
        }
        !text.eq_ignore_ascii_case("false")
    }

    /// Sets the next of the variables of a ForEach; false when there is none.
    fn next_value(&mut self, test: &Test, now_ns: i64, n: usize, node: &Node) -> bool {
        let ControllerKind::ForEach {
            input,
            output,
            separator,
            start,
            end,
        } = &node.kind
        else {
            return false;
        };
        let passes = self.places[n].passes as i64;
        let mut view = self.person.view(test, now_ns);
        let number = view.integer(start).saturating_add(1 + passes);
        if end.as_ref().is_some_and(|end| number > view.integer(end)) {
            return false;
        }
        let (input, output) = (view.text(input), view.text(output));
        let separator = if *separator { "_" } else { "" };
        let name = format!("{input}{separator}{number}");
        let Some(value) = view.variable(&name).map(str::to_owned) else {
            return false;
        };
        self.person.set(&output, &value);
        true
    }

    fn shuffle(&mut self, n: usize, count: usize) {
        let order = self.orders.entry(n).or_default();
        order.clear();
        order.extend(0..u16::try_from(count).unwrap_or(u16::MAX));
        for last in (1..order.len()).rev() {
            order.swap(last, self.person.random.below(last as u64 + 1) as usize);
        }
    }

    fn turn(&mut self, test: &Test, n: usize, across_users: bool) -> u64 {
        let turn = |counter: &mut u64| {
            let turn = *counter;
            *counter += 1;
            turn
        };
        match across_users {
            false => turn(&mut self.places[n].kept),
            true => turn(
                &mut locked(&test.shared.passes)
                    .entry((self.person.group, n))
                    .or_default()
                    .0,
            ),
        }
    }

    /// The step of this number or name; "default" otherwise.
    fn named(&mut self, test: &Test, now_ns: i64, node: &Node, selected: &str) -> Option<usize> {
        if selected.is_empty() {
            return Some(0);
        }
        if let Ok(index) = selected.parse::<usize>() {
            return Some(if index < node.children.len() {
                index
            } else {
                0
            });
        }
        let mut find = |wanted: &str| {
            node.children.iter().position(|child| {
                let name = match child {
                    Child::Sampler(id) => &test.plan.samplers[*id as usize].name,
                    Child::Node(below) => &test.nodes[self.person.group][*below].name,
                };
                self.person.view(test, now_ns).text(name) == wanted
            })
        };
        find(selected).or_else(|| find("default"))
    }

    fn is_due(
        &mut self,
        test: &Test,
        now_ns: i64,
        n: usize,
        limit: &ThroughputLimit,
        per_user: bool,
    ) -> bool {
        let mut view = self.person.view(test, now_ns);
        let (percent, total) = match limit {
            ThroughputLimit::Percent(share) => (view.decimal(share), None),
            ThroughputLimit::Total(total) => (0.0, Some(view.integer(total))),
        };
        let decide = |(passes, executions): (&mut u64, &mut u64)| {
            let due = match total {
                Some(total) => {
                    i64::try_from(*executions).is_ok_and(|executions| executions < total)
                }
                // As JMeter rounds: half an execution ahead.
                None => (100.0 * *executions as f64 + 50.0) / (*passes as f64 + 1.0) < percent,
            };
            *passes += 1;
            *executions += u64::from(due);
            due
        };
        match per_user {
            true => {
                let place = &mut self.places[n];
                decide((&mut place.kept, &mut place.counted))
            }
            false => {
                let mut all = locked(&test.shared.passes);
                let (passes, executions) = all.entry((self.person.group, n)).or_default();
                decide((passes, executions))
            }
        }
    }
}
