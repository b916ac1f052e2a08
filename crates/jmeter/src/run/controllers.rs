//! Logic controllers: the choice of the next sampler.
//!
//! A user's position in its thread group is one [`ControllerPosition`] per controller.
//! [`Controllers::advance`] descends from the loop of the group to the next sampler, as the
//! `next()` of JMeter's controllers does: a controller whose steps are done returns `Nothing`, and
//! its parent continues.

use std::collections::HashMap;

use sokudo_pace::Random;

use super::config_elements::ConfigElements;
use super::context::View;
use super::http::HttpClient;
use super::results::{Ended, Results};
use super::shared::locked;
use super::steps::{Child, ControllerNode};
use super::test::Test;
use crate::digits::digits;
use crate::expression::{Template, World as _, java_script_holds};
use crate::plan::{ControllerKind, Id, ThroughputLimit};

/// Most passes of controllers without a sampler before the user rests.
const FUEL: u32 = 1_000;
/// Length of a rest, and of the time between two attempts to lock.
const REST_NS: i64 = 1_000_000;

/// A user's state in one controller.
#[derive(Debug, Clone, Copy)]
struct ControllerPosition {
    /// Its steps are under way.
    inside: bool,
    /// Index of the next step.
    current: u32,
    /// Completed passes since it began.
    passes: u64,
    /// The step that was chosen, or when it began.
    chosen: i64,
    /// Kept from one beginning to the next: its turn, passes, or that it acted once.
    kept: u64,
    /// Kept likewise: executions.
    counted: u64,
}

impl ControllerPosition {
    /// Not begun yet.
    const OUTSIDE: Self = Self {
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

/// The result of [`Controllers::advance`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Advance {
    /// A sampler, and the index of the controller that contains it.
    Sampler(Id, usize),
    /// The steps of the controller are done.
    Nothing,
    /// Nothing before this moment.
    Later(i64),
    /// The user ends.
    End,
}

/// Whether a controller executes its steps.
enum Entered {
    Go,
    Skip,
    Later(i64),
    End,
}

/// Positions of one user in the controllers of its thread group.
#[derive(Debug)]
pub(super) struct Controllers {
    /// By index of the controller.
    positions: Box<[ControllerPosition]>,
    /// Orders of random order controllers.
    orders: HashMap<usize, Vec<u16>>,
    /// Locks that the user holds: controller and name.
    held: Vec<(usize, String)>,
    /// Passes that controllers may still make without a sampler.
    fuel: u32,
}

/// The parts of a user that controllers act on.
pub(super) struct Effects<'a> {
    pub view: View<'a>,
    pub elements: &'a mut ConfigElements,
    pub client: &'a mut HttpClient,
    pub results: &'a mut Results,
}

impl<'a> Effects<'a> {
    /// The controllers of the user's thread group.
    fn nodes(&self) -> &'a [ControllerNode] {
        &self.view.test().nodes[self.view.thread.group()]
    }
}

impl Controllers {
    /// Positions in `count` controllers, none of them begun.
    pub fn new(count: usize) -> Self {
        Self {
            positions: vec![ControllerPosition::OUTSIDE; count].into(),
            orders: HashMap::new(),
            held: Vec::new(),
            fuel: FUEL,
        }
    }

    /// Allows the passes of one step of the user.
    pub fn refuel(&mut self) {
        self.fuel = FUEL;
    }

    /// The next sampler of the thread group.
    pub fn next(&mut self, on: &mut Effects<'_>) -> Advance {
        self.advance(on, 0)
    }

    /// The next sampler below a controller.
    fn advance(&mut self, on: &mut Effects<'_>, n: usize) -> Advance {
        let node = &on.nodes()[n];
        if node.children.is_empty() && self.is_used_up(n, node) {
            return Advance::Nothing;
        }
        if !self.positions[n].inside {
            match self.enter(on, n, node) {
                Entered::Go => {}
                Entered::Skip => {
                    self.positions[n].leave();
                    return Advance::Nothing;
                }
                Entered::Later(at) => return Advance::Later(at),
                Entered::End => return Advance::End,
            }
        } else if let ControllerKind::If {
            condition,
            is_text,
            before_each_step: true,
        } = &node.kind
            && !holds(&mut on.view, condition, *is_text)
        {
            self.positions[n].leave();
            return Advance::Nothing;
        }
        let mut ended_below = 0;
        loop {
            let found = match self.choose(n, node) {
                Some(Child::Sampler(id)) => Advance::Sampler(id, n),
                Some(Child::Controller(below)) => self.advance(on, below),
                None => match self.end_pass(on, n, node) {
                    Ok(()) => continue,
                    Err(over) => return over,
                },
            };
            match found {
                Advance::Nothing => {
                    self.positions[n].current += 1;
                    ended_below += 1;
                }
                Advance::Sampler(_, at) => {
                    if matches!(node.kind, ControllerKind::Transaction { .. }) {
                        // JMeter asks anew after each controller that has no more.
                        on.results.called(n, 1 + ended_below);
                    }
                    // A nested controller keeps its own position, unless one step of it is enough.
                    let one_step = matches!(node.kind, ControllerKind::SubSteps { .. });
                    if at == n || one_step {
                        self.positions[n].current += 1;
                    }
                    return found;
                }
                other => return other,
            }
        }
    }

    /// True for a controller without steps. As in JMeter, one of a transaction acts once.
    fn is_used_up(&mut self, n: usize, node: &ControllerNode) -> bool {
        match node.kind {
            // The loop of the group ends the user.
            _ if n == 0 => false,
            ControllerKind::Transaction { .. } => {
                std::mem::replace(&mut self.positions[n].kept, 1) == 1
            }
            _ => true,
        }
    }

    /// The next step; `None` at the end of the pass.
    fn choose(&self, n: usize, node: &ControllerNode) -> Option<Child> {
        let place = &self.positions[n];
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

    /// Begins a controller.
    fn enter(&mut self, on: &mut Effects<'_>, n: usize, node: &ControllerNode) -> Entered {
        let view = &mut on.view;
        let (test, now_ns) = (view.test(), view.now_ns());
        let goes = match &node.kind {
            ControllerKind::Loop { loops } => {
                let loops = view.integer(loops);
                for once in &node.once_below {
                    self.positions[*once].kept = 0;
                }
                loops != 0
            }
            ControllerKind::If {
                condition, is_text, ..
            } => holds(view, condition, *is_text),
            ControllerKind::While { .. } => goes_on(view, node, false),
            ControllerKind::ForEach { .. } => self.next_value(view, n, node),
            ControllerKind::OnceOnly => std::mem::replace(&mut self.positions[n].kept, 1) == 0,
            ControllerKind::Random | ControllerKind::SubSteps { random: true, .. } => {
                let drawn = view.thread.random().below(node.children.len() as u64);
                self.positions[n].chosen = drawn as i64;
                true
            }
            ControllerKind::RandomOrder => {
                self.shuffle(view.thread.random(), n, node.children.len());
                true
            }
            ControllerKind::Interleave { across_users }
            | ControllerKind::SubSteps { across_users, .. } => {
                let turn = self.turn(view, n, *across_users);
                let count = node.children.len().max(1) as u64;
                self.positions[n].chosen = (turn % count) as i64;
                true
            }
            ControllerKind::Switch { selected } => {
                let selected = view.text(selected);
                let chosen = step_named(view, node, selected.trim());
                self.positions[n].chosen = chosen.map_or(i64::MAX, |index| index as i64);
                true
            }
            ControllerKind::Throughput { limit, per_user } => {
                self.is_due(view, n, limit, *per_user)
            }
            ControllerKind::Runtime { seconds } => {
                self.positions[n].chosen = now_ns;
                view.integer(seconds) > 0
            }
            ControllerKind::CriticalSection { lock } => {
                let lock = view.text(lock);
                let user = view.thread.serial();
                let mut locks = locked(&test.shared.locks);
                let holder = *locks.entry(lock.clone()).or_insert(user);
                if holder != user {
                    return Entered::Later(now_ns + REST_NS);
                }
                self.held.push((n, lock));
                true
            }
            ControllerKind::Simple => true,
            ControllerKind::Transaction { .. } => {
                on.results.open_transaction(test, now_ns, n);
                true
            }
        };
        if !goes {
            return Entered::Skip;
        }
        self.positions[n].inside = true;
        self.show_index(&mut on.view, n, node);
        match self.begin_pass(on, n, node) {
            true => Entered::Go,
            false => Entered::End,
        }
    }

    /// Sets the variable with the number of a loop's pass, from 0.
    fn show_index(&self, view: &mut View<'_>, n: usize, node: &ControllerNode) {
        if let Some(variable) = &node.index {
            let mut index = String::new();
            digits(self.positions[n].passes, &mut index);
            view.thread.set(variable, &index);
        }
    }

    /// Executes the elements that act once per pass; false if the user ends with one of them.
    /// JMeter notifies the elements of a controller from the last to the first.
    fn begin_pass(&mut self, on: &mut Effects<'_>, n: usize, node: &ControllerNode) -> bool {
        self.positions[n].current = 0;
        if n == 0 {
            let is_first = on.view.thread.next_iteration();
            on.client.begin_iteration(&mut on.view, is_first);
        }
        let mut steps = node.per_iteration.iter().rev();
        steps.all(|step| on.elements.iterate(&mut on.view, *step))
    }

    /// Ends a pass. `Ok`: another one has begun. `Err`: what the controller returns to its parent.
    fn end_pass(
        &mut self,
        on: &mut Effects<'_>,
        n: usize,
        node: &ControllerNode,
    ) -> Result<(), Advance> {
        let now_ns = on.view.now_ns();
        self.positions[n].passes += 1;
        let view = &mut on.view;
        let again = match &node.kind {
            ControllerKind::Loop { loops } => {
                let loops = view.integer(loops);
                let is_broken = n == 0 && self.positions[n].kept == 1;
                !is_broken && (loops < 0 || self.positions[n].passes < loops as u64)
            }
            // JMeter asks at the end of a pass, and again at the beginning of the next.
            ControllerKind::While { .. } => goes_on(view, node, true) && goes_on(view, node, false),
            ControllerKind::ForEach { .. } => self.next_value(view, n, node),
            ControllerKind::Runtime { seconds } => {
                let most_ns = view.integer(seconds).saturating_mul(1_000_000_000);
                now_ns - self.positions[n].chosen < most_ns
            }
            _ => false,
        };
        if !again {
            self.leave(on, n, Ended::Done);
            self.show_index(&mut on.view, n, node);
            return Err(Advance::Nothing);
        }
        self.show_index(&mut on.view, n, node);
        if self.fuel == 0 {
            // No sampler was found: do not spin, and do not end either.
            self.positions[n].passes -= 1;
            return Err(Advance::Later(now_ns + REST_NS));
        }
        self.fuel -= 1;
        match self.begin_pass(on, n, node) {
            true => Ok(()),
            false => Err(Advance::End),
        }
    }

    /// Ends a controller, whatever its position.
    fn leave(&mut self, on: &mut Effects<'_>, n: usize, how: Ended) {
        if !self.positions[n].inside {
            return;
        }
        self.positions[n].leave();
        match &on.nodes()[n].kind {
            ControllerKind::Transaction { .. } => {
                on.results.close_transaction(&mut on.view, n, how);
            }
            ControllerKind::CriticalSection { .. } => self.release(on.view.test(), n),
            _ => {}
        }
    }

    /// Unlocks all locks, when the user ends.
    pub fn release_all(&mut self, test: &Test) {
        let mut locks = locked(&test.shared.locks);
        for (_, lock) in self.held.drain(..) {
            locks.remove(&lock);
        }
    }

    fn release(&mut self, test: &Test, n: usize) {
        if let Some(index) = self.held.iter().position(|(node, _)| *node == n) {
            let (_, lock) = self.held.swap_remove(index);
            locked(&test.shared.locks).remove(&lock);
        }
    }

    /// Ends the controllers from one up to, not including, another around it.
    fn leave_up_to(&mut self, on: &mut Effects<'_>, from: usize, end: usize) {
        let nodes = on.nodes();
        let mut at = from;
        while at != end && at != 0 {
            self.leave(on, at, Ended::Left);
            at = nodes[at].parent;
        }
    }

    /// Skips the rest of the iteration of the thread group.
    pub fn next_iteration(&mut self, on: &mut Effects<'_>) {
        let from = on.view.thread.node();
        self.leave_up_to(on, from, 0);
        self.positions[0].current = u32::MAX;
    }

    /// Continues the innermost loop with its next pass.
    pub fn next_pass(&mut self, on: &mut Effects<'_>) {
        let innermost = self.leave_up_to_loop(on);
        self.positions[innermost].current = u32::MAX;
        on.results.report_early(&mut on.view);
    }

    /// Ends the innermost loop; that of the thread group ends with all of its passes.
    pub fn break_loop(&mut self, on: &mut Effects<'_>) {
        let innermost = self.leave_up_to_loop(on);
        if innermost == 0 {
            self.positions[0].current = u32::MAX;
            self.positions[0].kept = 1;
            return;
        }
        on.results.report_early(&mut on.view);
        self.leave(on, innermost, Ended::Left);
        self.positions[on.nodes()[innermost].parent].current += 1;
    }

    /// Ends the controllers inside the innermost loop around the current sampler; gives the loop.
    fn leave_up_to_loop(&mut self, on: &mut Effects<'_>) -> usize {
        let nodes = on.nodes();
        let from = on.view.thread.node();
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
        self.leave_up_to(on, from, at);
        at
    }

    /// Sets the output variable of a ForEach controller; false if there is no further value.
    fn next_value(&mut self, view: &mut View<'_>, n: usize, node: &ControllerNode) -> bool {
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
        let passes = self.positions[n].passes as i64;
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
        view.thread.set(&output, &value);
        true
    }

    fn shuffle(&mut self, random: &mut Random, n: usize, count: usize) {
        let order = self.orders.entry(n).or_default();
        order.clear();
        order.extend(0..u16::try_from(count).unwrap_or(u16::MAX));
        for last in (1..order.len()).rev() {
            order.swap(last, random.below(last as u64 + 1) as usize);
        }
    }

    /// Number of the controller's turns before this one, of the user or of all users.
    fn turn(&mut self, view: &View<'_>, n: usize, across_users: bool) -> u64 {
        let turn = |counter: &mut u64| {
            let turn = *counter;
            *counter += 1;
            turn
        };
        match across_users {
            false => turn(&mut self.positions[n].kept),
            true => turn(
                &mut locked(&view.test().shared.passes)
                    .entry((view.thread.group(), n))
                    .or_default()
                    .0,
            ),
        }
    }

    /// True if a throughput controller executes its steps this time.
    fn is_due(
        &mut self,
        view: &mut View<'_>,
        n: usize,
        limit: &ThroughputLimit,
        per_user: bool,
    ) -> bool {
        let (percent, total) = match limit {
            ThroughputLimit::Percent(share) => (view.decimal(share), None),
            ThroughputLimit::Total(total) => (0.0, Some(view.integer(total))),
        };
        let decide = |(passes, executions): (&mut u64, &mut u64)| {
            let due = match total {
                Some(total) => {
                    i64::try_from(*executions).is_ok_and(|executions| executions < total)
                }
                // JMeter rounds half an execution up.
                None => (100.0 * *executions as f64 + 50.0) / (*passes as f64 + 1.0) < percent,
            };
            *passes += 1;
            *executions += u64::from(due);
            due
        };
        match per_user {
            true => {
                let place = &mut self.positions[n];
                decide((&mut place.kept, &mut place.counted))
            }
            false => {
                let mut all = locked(&view.test().shared.passes);
                let (passes, executions) = all.entry((view.thread.group(), n)).or_default();
                decide((passes, executions))
            }
        }
    }
}

/// True if the condition of an If controller holds.
fn holds(view: &mut View<'_>, condition: &Template, is_text: bool) -> bool {
    let text = view.text(condition);
    if is_text {
        return text.trim().eq_ignore_ascii_case("true");
    }
    java_script_holds(&text, view).unwrap_or_else(|why| {
        view.test().sink.trouble(&why);
        false
    })
}

/// True if a While controller begins another pass.
fn goes_on(view: &mut View<'_>, node: &ControllerNode, at_end: bool) -> bool {
    let ControllerKind::While { condition } = &node.kind else {
        return false;
    };
    let text = view.text(condition);
    let text = text.trim();
    if text.eq_ignore_ascii_case("LAST") || at_end && text.is_empty() {
        return view.thread.last_ok();
    }
    !text.eq_ignore_ascii_case("false")
}

/// Index of the step with this number or name, otherwise of the step named "default".
fn step_named(view: &mut View<'_>, node: &ControllerNode, selected: &str) -> Option<usize> {
    let test = view.test();
    let nodes = &test.nodes[view.thread.group()];
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
                Child::Controller(below) => &nodes[*below].name,
            };
            view.text(name) == wanted
        })
    };
    find(selected).or_else(|| find("default"))
}
