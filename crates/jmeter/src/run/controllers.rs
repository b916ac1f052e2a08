//! Logic controllers: the choice of the next sampler.
//!
//! A user's position in its thread group is one [`Position`] per controller.
//! [`Controllers::advance`] descends from the loop of the group to the next sampler, as the
//! `next()` of JMeter's controllers does: a controller whose steps are done returns `Nothing`, and
//! its parent continues. A controller that will never have a step again is done; its parent forgets it.

use std::collections::HashMap;

use super::config_elements::ConfigElements;
use super::context::View;
use super::http::HttpClient;
use super::passes::{Entered, Pass};
use super::results::{Ended, Results};
use super::shared::locked;
use super::steps::{Child, ControllerNode};
use super::test::Test;
use super::turns::Turn;
use crate::digits::digits;
use crate::plan::{ControllerKind, Id};

/// Most passes of controllers without a sampler before the user rests.
const FUEL: u32 = 1_000;
/// Length of a rest, and of the time between two attempts to lock.
pub(super) const REST_NS: i64 = 1_000_000;

/// A user's state in one controller.
#[derive(Debug, Clone, Copy)]
pub(super) struct Position {
    /// The next step begins a pass.
    pub first: bool,
    /// It has no further steps, now and later.
    pub done: bool,
    /// Its parent has forgotten it, as it was done.
    pub gone: bool,
    /// A loop that was broken and has not yet said so to its parent.
    pub broken: bool,
    /// A transaction that is open.
    pub open: bool,
    /// A throughput controller that executes its steps in this pass of its parent.
    pub due: bool,
    /// Index of the next step among those that are left.
    pub current: u32,
    /// Passes so far; loops count those since they began.
    pub passes: u64,
    /// Number of passes of a loop, once it is known.
    pub loops: Option<i64>,
    /// Begin of a runtime controller, monotonic nanoseconds; 0: it has not begun.
    pub since_ns: i64,
    /// Passes and executions of a throughput controller.
    pub counted: (u64, u64),
    /// Turn of a controller that executes one of its steps.
    pub turn: Turn,
}

impl Position {
    const BEGIN: Self = Self {
        first: true,
        done: false,
        gone: false,
        broken: false,
        open: false,
        due: false,
        current: 0,
        passes: 0,
        loops: None,
        since_ns: 0,
        counted: (0, 0),
        turn: Turn::NEW,
    };
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

/// Positions of one user in the controllers of its thread group.
#[derive(Debug)]
pub(super) struct Controllers {
    /// By index of the controller.
    pub(super) positions: Box<[Position]>,
    /// Orders of random order controllers: indexes of their steps.
    pub(super) orders: HashMap<usize, Vec<u16>>,
    /// Locks that the user holds: controller and name.
    pub(super) held: Vec<(usize, String)>,
    /// Passes that controllers may still make without a sampler.
    pub(super) fuel: u32,
    /// True once a controller is gone.
    any_gone: bool,
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
    pub fn nodes(&self) -> &'a [ControllerNode] {
        &self.view.test().nodes[self.view.thread.group()]
    }
}

impl Controllers {
    /// Positions in `count` controllers, none of them begun.
    pub fn new(count: usize) -> Self {
        Self {
            positions: vec![Position::BEGIN; count].into(),
            orders: HashMap::new(),
            held: Vec::new(),
            fuel: FUEL,
            any_gone: false,
        }
    }

    /// Allows the passes of one step of the user.
    pub fn refuel(&mut self) {
        self.fuel = FUEL;
    }

    /// Prepares the controllers before the first step of the user.
    pub fn begin(&mut self, on: &mut Effects<'_>) {
        // JMeter reads the names of transactions once more for each of its threads, which functions that count see.
        for node in on.nodes() {
            if matches!(node.kind, ControllerKind::Transaction { .. })
                && node.name.constant().is_none()
            {
                on.view.text(&node.name);
            }
        }
        self.initialize(on, 0);
    }

    /// The next sampler of the thread group.
    pub fn next(&mut self, on: &mut Effects<'_>) -> Advance {
        self.advance(on, 0)
    }

    /// The next sampler below a controller.
    fn advance(&mut self, on: &mut Effects<'_>, n: usize) -> Advance {
        let node = &on.nodes()[n];
        // Controllers below that had no more: JMeter asks the controller anew after each.
        let mut ended_below = 0;
        let found = loop {
            self.show_index(&mut on.view, n, node);
            match self.enter(on, n, node) {
                Entered::Go => {}
                Entered::Over(over) => break over,
            }
            if std::mem::replace(&mut self.positions[n].first, false)
                && !self.begin_pass(on, n, node)
            {
                break Advance::End;
            }
            if self.is_done(&mut on.view, n, node) {
                break Advance::Nothing;
            }
            let Some(child) = self.child(n, node) else {
                if self.left(n, node) == 0 {
                    self.positions[n].done = true;
                    break Advance::Nothing;
                }
                match self.end_pass(on, n, node) {
                    Pass::Again => continue,
                    Pass::Over(over) => break over,
                }
            };
            if !self.is_its_turn(n, node, child) {
                break Advance::Nothing;
            }
            let below = match child {
                Child::Sampler(id) => {
                    self.positions[n].turn.is_over = true;
                    self.step_on(&mut on.view, n, node);
                    break Advance::Sampler(id, n);
                }
                Child::Controller(below) => below,
            };
            match self.advance(on, below) {
                Advance::Nothing => {
                    ended_below += 1;
                    let is_gone = self.forget_if_done(on, (n, node), below);
                    if let Some(over) = self.ended_below(on, (n, node), is_gone) {
                        break over;
                    }
                }
                found @ Advance::Sampler(..) => {
                    self.stepped_below(&mut on.view, n, node);
                    break found;
                }
                other => break other,
            }
        };
        match found {
            Advance::Sampler(..) => {
                if matches!(node.kind, ControllerKind::Transaction { .. }) {
                    on.results.called(n, 1 + ended_below);
                }
            }
            Advance::Nothing => self.close(on, n, Ended::Done),
            Advance::Later(_) | Advance::End => {}
        }
        self.show_index(&mut on.view, n, node);
        found
    }

    /// The current step; `None`: the pass is over.
    fn child(&self, n: usize, node: &ControllerNode) -> Option<Child> {
        let current = self.positions[n].current as usize;
        if let Some(order) = self.orders.get(&n) {
            let index = usize::from(*order.get(current)?);
            return node.children.get(index).copied();
        }
        if !self.any_gone {
            return node.children.get(current).copied();
        }
        self.steps_left(node).nth(current)
    }

    /// The steps of a controller without those that are gone.
    pub(super) fn steps_left<'n>(
        &self,
        node: &'n ControllerNode,
    ) -> impl Iterator<Item = Child> + use<'_, 'n> {
        let steps = node.children.iter().copied();
        steps.filter(|step| match step {
            Child::Sampler(_) => true,
            Child::Controller(below) => !self.positions[*below].gone,
        })
    }

    /// Number of steps that are left.
    pub(super) fn left(&self, n: usize, node: &ControllerNode) -> usize {
        match self.orders.get(&n) {
            Some(order) => order.len(),
            None if !self.any_gone => node.children.len(),
            None => self.steps_left(node).count(),
        }
    }

    /// Forgets a controller below if it is done. True: it was.
    fn forget_if_done(
        &mut self,
        on: &mut Effects<'_>,
        (n, node): (usize, &ControllerNode),
        below: usize,
    ) -> bool {
        let ended = &on.nodes()[below];
        if !self.is_done(&mut on.view, below, ended) {
            return false;
        }
        self.positions[below].gone = true;
        self.any_gone = true;
        let current = self.positions[n].current as usize;
        if matches!(node.kind, ControllerKind::RandomOrder)
            && let Some(order) = self.orders.get_mut(&n)
            && current < order.len()
        {
            order.remove(current);
        }
        true
    }

    /// Sets the variable with the number of a loop's pass, from 0.
    fn show_index(&self, view: &mut View<'_>, n: usize, node: &ControllerNode) {
        if let Some(variable) = &node.index {
            let mut index = String::new();
            digits(self.positions[n].passes, &mut index);
            view.thread.set(variable, &index);
        }
    }

    /// Executes what acts once per pass; false if the user ends with one of them. JMeter notifies the
    /// elements of a controller from the last to the first.
    fn begin_pass(&mut self, on: &mut Effects<'_>, n: usize, node: &ControllerNode) -> bool {
        if n == 0 {
            let is_first = on.view.thread.next_iteration();
            on.client.begin_iteration(&mut on.view, is_first);
        }
        // JMeter counts the passes of these from 1, and those of others from 0.
        let counts_from_one = matches!(
            node.kind,
            ControllerKind::ForEach { .. } | ControllerKind::Runtime { .. }
        );
        let is_first = self.positions[n].passes == 0 && !counts_from_one;
        for child in node.children.iter().rev() {
            if let Child::Controller(below) = child {
                self.hear_of_pass(&mut on.view, *below, is_first);
            }
        }
        let mut steps = node.per_iteration.iter().rev();
        steps.all(|step| on.elements.iterate(&mut on.view, *step))
    }

    /// Reports a transaction that is open.
    pub(super) fn close(&mut self, on: &mut Effects<'_>, n: usize, how: Ended) {
        if std::mem::take(&mut self.positions[n].open) {
            on.results.close_transaction(&mut on.view, n, how);
        }
    }

    /// Unlocks all locks, when the user ends.
    pub fn release_all(&mut self, test: &Test) {
        let mut locks = locked(&test.shared.locks);
        for (_, lock) in self.held.drain(..) {
            locks.remove(&lock);
        }
    }

    pub(super) fn release(&mut self, test: &Test, n: usize) {
        if let Some(index) = self.held.iter().position(|(node, _)| *node == n) {
            let (_, lock) = self.held.swap_remove(index);
            locked(&test.shared.locks).remove(&lock);
        }
    }

    /// Skips the rest of the iteration of the thread group.
    pub fn next_iteration(&mut self, on: &mut Effects<'_>) {
        let from = on.view.thread.node();
        self.leave_up_to(on, from, 0);
        self.restart(&mut on.view, 0);
    }

    /// Continues the innermost loop with its next pass.
    pub fn next_pass(&mut self, on: &mut Effects<'_>) {
        let innermost = self.leave_up_to_loop(on);
        self.restart(&mut on.view, innermost);
        on.results.report_early(&mut on.view);
    }

    /// Ends the innermost loop; that of the thread group ends with all of its passes.
    pub fn break_loop(&mut self, on: &mut Effects<'_>) {
        let innermost = self.leave_up_to_loop(on);
        let begin = self.first_pass(&mut on.view, innermost);
        let place = &mut self.positions[innermost];
        place.broken = true;
        place.first = true;
        place.current = 0;
        place.passes = begin;
        place.loops = None;
        if innermost != 0 {
            on.results.report_early(&mut on.view);
        }
    }

    /// Ends the controllers from one up to, not including, another around it.
    fn leave_up_to(&mut self, on: &mut Effects<'_>, from: usize, end: usize) {
        let nodes = on.nodes();
        let mut at = from;
        while at != end && at != 0 {
            self.close(on, at, Ended::Left);
            self.cut_short(on, at);
            at = nodes[at].parent;
        }
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
            )
        };
        while at != 0 && !repeats(&nodes[at].kind) {
            at = nodes[at].parent;
        }
        self.leave_up_to(on, from, at);
        at
    }
}
