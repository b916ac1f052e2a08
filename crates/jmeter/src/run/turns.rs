//! Controllers that execute one of their steps per turn: interleave and random controllers.
//!
//! As JMeter does it: a step that has nothing to execute leaves its turn to the next one, until all had
//! their chance.

use super::context::View;
use super::controllers::{Advance, Controllers, Effects};
use super::steps::{Child, ControllerNode};
use crate::plan::ControllerKind;

/// Most controllers in sequence that have nothing to execute.
const MOST_TRIES: u16 = 1_000;

/// State of a turn.
#[derive(Debug, Clone, Copy)]
pub(super) struct Turn {
    /// A step was executed: the turn ends.
    pub is_over: bool,
    /// The step at which the search for one to execute began.
    began_at: Option<Child>,
    /// The search has gone on from there.
    moved: bool,
    /// A controller had something to execute.
    found: bool,
    /// Controllers in sequence that had nothing to execute.
    tries: u16,
}

impl Turn {
    pub const NEW: Self = Self {
        is_over: false,
        began_at: None,
        moved: false,
        found: false,
        tries: 0,
    };

    pub fn forget(&mut self) {
        *self = Self::NEW;
    }
}

impl Controllers {
    /// True unless a search for a step to execute is back where it began.
    pub(super) fn is_its_turn(&mut self, n: usize, node: &ControllerNode, child: Child) -> bool {
        if !matches!(node.kind, ControllerKind::Turns { .. }) {
            return true;
        }
        let place = &mut self.positions[n];
        let turn = &mut place.turn;
        match turn.began_at {
            None => turn.began_at = Some(child),
            Some(began_at) if began_at == child && turn.moved => {
                turn.forget();
                place.first = true;
                place.passes += 1;
                return false;
            }
            Some(_) => {}
        }
        true
    }

    /// Goes on to the next step.
    pub(super) fn step_on(&mut self, view: &mut View<'_>, n: usize, node: &ControllerNode) {
        let left = self.left(n, node);
        let place = &mut self.positions[n];
        match &node.kind {
            ControllerKind::Turns { random, .. } => {
                place.turn.is_over |= place.turn.found;
                place.turn.moved = true;
                place.current += 1;
                if *random && left > 0 {
                    place.current = view.thread.random().below(left as u64) as u32;
                }
            }
            ControllerKind::Switch { .. } => place.current = u32::MAX,
            _ => place.current = place.current.saturating_add(1),
        }
    }

    /// Takes note that a controller below has executed a step.
    pub(super) fn stepped_below(&mut self, view: &mut View<'_>, n: usize, node: &ControllerNode) {
        let ControllerKind::Turns { whole, .. } = node.kind else {
            return;
        };
        let turn = &mut self.positions[n].turn;
        turn.found = true;
        turn.tries = 0;
        match whole {
            true => turn.began_at = None,
            false => {
                turn.is_over = true;
                self.step_on(view, n, node);
            }
        }
    }

    /// Goes on behind a controller below that had nothing to execute, and stays or is gone. `Some`: the
    /// user ends, as nothing would ever be found: JMeter's thread dies of a stack overflow.
    pub(super) fn ended_below(
        &mut self,
        on: &mut Effects<'_>,
        (n, node): (usize, &ControllerNode),
        is_gone: bool,
    ) -> Option<Advance> {
        let turns = match node.kind {
            ControllerKind::Turns { whole, .. } => Some(whole),
            _ => None,
        };
        if !is_gone && turns != Some(false) {
            self.step_on(&mut on.view, n, node);
        }
        let turn = &mut self.positions[n].turn;
        turn.tries += u16::from(turns.is_some());
        if turn.tries < MOST_TRIES {
            return None;
        }
        let name = on.view.text(&node.name);
        let why = format!("the steps of `{name}` have nothing to execute: the user ends");
        on.view.test().sink.trouble(&why);
        Some(Advance::End)
    }

    /// Goes back to the first step, or to any.
    pub(super) fn reset_turn(&mut self, view: &mut View<'_>, n: usize, node: &ControllerNode) {
        let left = self.left(n, node);
        self.positions[n].current = match node.kind {
            ControllerKind::Turns { random: true, .. } if left > 0 => {
                view.thread.random().below(left as u64) as u32
            }
            _ => 0,
        };
    }
}
