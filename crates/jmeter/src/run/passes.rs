//! Beginning and end of a controller's passes, kind by kind.

use sokudo_pace::Random;

use super::context::View;
use super::controllers::{Advance, Controllers, Effects, REST_NS};
use super::shared::locked;
use super::steps::{Child, ControllerNode};
use crate::expression::{Template, World as _, java_script_holds};
use crate::plan::{ControllerKind, ThroughputLimit, Value};

/// Whether a controller is asked for its next step.
pub(super) enum Entered {
    Go,
    /// It is not, and returns this to its parent.
    Over(Advance),
}

/// Outcome of a pass.
pub(super) enum Pass {
    /// Another one.
    Again,
    /// The controller returns this to its parent.
    Over(Advance),
}

const NOTHING: Entered = Entered::Over(Advance::Nothing);

impl Controllers {
    /// Decides whether a controller is asked for its next step.
    pub(super) fn enter(
        &mut self,
        on: &mut Effects<'_>,
        n: usize,
        node: &ControllerNode,
    ) -> Entered {
        let view = &mut on.view;
        let first = self.positions[n].first;
        match &node.kind {
            ControllerKind::Loop { loops, ends } => {
                if self.is_over(view, n, loops) {
                    self.positions[n].broken = false;
                    if *ends {
                        self.positions[n].done = true;
                        self.positions[n].loops = None;
                    }
                    return NOTHING;
                }
            }
            ControllerKind::While { condition } => {
                if first && !self.goes_on(view, n, condition, false) {
                    self.positions[n].broken = false;
                    self.positions[n].passes = 0;
                    return NOTHING;
                }
            }
            ControllerKind::ForEach { .. } => {
                if self.positions[n].broken
                    || for_each_value(view, node, self.positions[n].passes).is_none()
                {
                    self.positions[n].broken = false;
                    self.restart(view, n);
                    self.positions[n].passes = self.first_pass(view, n);
                    return NOTHING;
                }
            }
            ControllerKind::Runtime { seconds } => {
                if self.positions[n].since_ns == 0 {
                    self.positions[n].since_ns = view.now_ns().max(1);
                }
                if self.time_is_up(view, n, seconds) {
                    self.restart(view, n);
                    self.positions[n].passes = 0;
                    self.positions[n].since_ns = 0;
                    return NOTHING;
                }
            }
            ControllerKind::If {
                condition,
                is_text,
                before_each_step,
            } => {
                if (first || *before_each_step) && !holds(view, condition, *is_text) {
                    self.initialize_below(on, n);
                    self.restart(&mut on.view, n);
                    return NOTHING;
                }
            }
            ControllerKind::Switch { selected } => {
                if first {
                    let selected = view.text(selected);
                    let chosen = self.step_named(view, node, selected.trim());
                    self.positions[n].current = chosen.map_or(u32::MAX, |index| index as u32);
                }
            }
            ControllerKind::Throughput { .. } => {
                if !self.positions[n].due {
                    return NOTHING;
                }
            }
            ControllerKind::Turns { .. } => {
                if self.positions[n].turn.is_over {
                    self.restart(view, n);
                    return NOTHING;
                }
            }
            ControllerKind::CriticalSection { lock } => {
                if first && let Some(until) = self.lock(view, n, lock) {
                    return Entered::Over(Advance::Later(until));
                }
            }
            ControllerKind::Transaction { .. } => {
                if first && !std::mem::replace(&mut self.positions[n].open, true) {
                    on.results.open_transaction(view.test(), view.now_ns(), n);
                }
            }
            ControllerKind::Simple | ControllerKind::OnceOnly | ControllerKind::RandomOrder => {}
        }
        Entered::Go
    }

    /// Ends a pass.
    pub(super) fn end_pass(
        &mut self,
        on: &mut Effects<'_>,
        n: usize,
        node: &ControllerNode,
    ) -> Pass {
        const NOTHING: Pass = Pass::Over(Advance::Nothing);
        let repeats = matches!(
            node.kind,
            ControllerKind::Loop { .. }
                | ControllerKind::While { .. }
                | ControllerKind::ForEach { .. }
                | ControllerKind::Runtime { .. }
        );
        let view = &mut on.view;
        if repeats {
            if self.fuel == 0 {
                // No sampler was found: do not spin, and do not end either.
                return Pass::Over(Advance::Later(view.now_ns() + REST_NS));
            }
            self.fuel -= 1;
        }
        if matches!(node.kind, ControllerKind::OnceOnly) {
            return NOTHING;
        }
        if matches!(node.kind, ControllerKind::Turns { .. }) {
            self.reset_turn(view, n, node);
            return Pass::Again;
        }
        self.restart(view, n);
        let again = match &node.kind {
            ControllerKind::Loop { loops, ends } => {
                let over = self.is_over(view, n, loops);
                if over {
                    let place = &mut self.positions[n];
                    place.loops = None;
                    match *ends {
                        true => (place.done, place.broken) = (true, false),
                        false => place.passes = 0,
                    }
                }
                !over
            }
            // JMeter asks at the end of a pass, and again at the beginning of the next.
            ControllerKind::While { condition } => {
                let again = self.goes_on(view, n, condition, true);
                if !again {
                    self.positions[n].broken = false;
                    self.positions[n].passes = 0;
                }
                again
            }
            ControllerKind::ForEach { end, .. } => {
                let passes = self.positions[n].passes;
                let is_past =
                    |end: &Value<i64>, view: &mut View<'_>| passes as i64 >= view.integer(end);
                let again = !self.positions[n].broken
                    && for_each_value(view, node, passes).is_some()
                    && !end.as_ref().is_some_and(|end| is_past(end, view));
                if !again {
                    self.positions[n].broken = false;
                    self.positions[n].passes = self.first_pass(view, n);
                }
                again
            }
            ControllerKind::Runtime { seconds } => {
                let over = self.time_is_up(view, n, seconds);
                if over {
                    self.positions[n].passes = 0;
                    self.positions[n].since_ns = 0;
                }
                !over
            }
            _ => false,
        };
        if again { Pass::Again } else { NOTHING }
    }

    /// True if a controller has no further steps, now and later. A ForEach controller that is asked sets
    /// its variable, as in JMeter.
    pub(super) fn is_done(&mut self, view: &mut View<'_>, n: usize, node: &ControllerNode) -> bool {
        let place = self.positions[n];
        match &node.kind {
            ControllerKind::If { .. } => false,
            ControllerKind::Runtime { seconds } => {
                view.integer(seconds) <= 0 || self.left(n, node) == 0 || place.done
            }
            ControllerKind::Throughput { limit, per_user } => {
                self.left(n, node) == 0
                    || match limit {
                        ThroughputLimit::Percent(share) => view.decimal(share) == 0.0,
                        ThroughputLimit::Total(total) => {
                            let total = view.integer(total);
                            let executed = self.counted(view, n, *per_user).1;
                            total == 0
                                || i64::try_from(executed).is_ok_and(|executed| executed >= total)
                                    && place.current as usize >= self.left(n, node)
                        }
                    }
            }
            ControllerKind::ForEach { end, output, .. } => {
                if end
                    .as_ref()
                    .is_some_and(|end| place.passes as i64 >= view.integer(end))
                {
                    return true;
                }
                match for_each_value(view, node, place.passes) {
                    Some(value) => {
                        let output = view.text(output);
                        view.thread.set(&output, &value);
                        false
                    }
                    None => place.done,
                }
            }
            _ => place.done,
        }
    }

    /// Begins a controller anew, as JMeter does behind the last step of a pass.
    pub(super) fn restart(&mut self, view: &mut View<'_>, n: usize) {
        let node = &view.test().nodes[view.thread.group()][n];
        let place = &mut self.positions[n];
        place.first = true;
        place.passes += 1;
        match &node.kind {
            // It goes on where it is.
            ControllerKind::Turns { .. } => place.turn.forget(),
            ControllerKind::RandomOrder => {
                place.current = 0;
                self.shuffle(view.thread.random(), n, node);
            }
            ControllerKind::CriticalSection { .. } => {
                place.current = 0;
                self.release(view.test(), n);
            }
            _ => place.current = 0,
        }
    }

    /// Prepares a controller and those below before their first step.
    pub(super) fn initialize(&mut self, on: &mut Effects<'_>, n: usize) {
        let node = &on.nodes()[n];
        let view = &mut on.view;
        let begin = self.first_pass(view, n);
        let place = &mut self.positions[n];
        (place.done, place.first, place.current) = (false, true, 0);
        match &node.kind {
            // Its number of passes stays.
            ControllerKind::Loop { .. } | ControllerKind::Runtime { .. } => {}
            _ => place.passes = begin,
        }
        match &node.kind {
            ControllerKind::Turns { across_users, .. } => {
                self.reset_turn(view, n, node);
                let left = self.left(n, node);
                if *across_users && left > 0 {
                    let user = view.thread.number().saturating_sub(1) as usize;
                    self.positions[n].current = (user % left) as u32;
                }
            }
            ControllerKind::RandomOrder => self.shuffle(view.thread.random(), n, node),
            _ => {}
        }
        self.initialize_below(on, n);
    }

    fn initialize_below(&mut self, on: &mut Effects<'_>, n: usize) {
        for child in &on.nodes()[n].children {
            if let Child::Controller(below) = child
                && !self.positions[*below].gone
            {
                self.initialize(on, *below);
            }
        }
    }

    /// Ends a controller before its last step.
    pub(super) fn cut_short(&mut self, on: &mut Effects<'_>, n: usize) {
        let node = &on.nodes()[n];
        if matches!(node.kind, ControllerKind::If { .. }) {
            self.initialize_below(on, n);
        }
        let view = &mut on.view;
        self.restart(view, n);
        if let ControllerKind::While { condition } = &node.kind {
            // JMeter evaluates it, whatever comes of it.
            self.goes_on(view, n, condition, true);
        }
        self.begin_counting(view, n, node);
    }

    /// Lets a loop count its passes from the first again.
    fn begin_counting(&mut self, view: &mut View<'_>, n: usize, node: &ControllerNode) {
        let begin = self.first_pass(view, n);
        let place = &mut self.positions[n];
        match &node.kind {
            ControllerKind::Loop { .. } => (place.passes, place.loops) = (0, None),
            ControllerKind::While { .. } | ControllerKind::ForEach { .. } => place.passes = begin,
            ControllerKind::Runtime { .. } => (place.passes, place.since_ns) = (0, 0),
            _ => {}
        }
    }

    /// Tells a controller that a pass of its parent begins: loops begin anew, throughput controllers
    /// decide. `is_first`: it is the parent's first.
    pub(super) fn hear_of_pass(&mut self, view: &mut View<'_>, n: usize, is_first: bool) {
        let node = &view.test().nodes[view.thread.group()][n];
        match &node.kind {
            ControllerKind::Loop { .. }
            | ControllerKind::While { .. }
            | ControllerKind::ForEach { .. } => {
                self.restart(view, n);
                self.begin_counting(view, n, node);
            }
            ControllerKind::OnceOnly if is_first => self.restart(view, n),
            ControllerKind::Throughput { limit, per_user } => {
                self.positions[n].due = self.decide(view, n, limit, *per_user);
            }
            _ => {}
        }
    }

    /// Number of the pass with which a controller begins.
    pub(super) fn first_pass(&self, view: &mut View<'_>, n: usize) -> u64 {
        let node = &view.test().nodes[view.thread.group()][n];
        match &node.kind {
            ControllerKind::ForEach { start, .. } => view.integer(start).max(0) as u64,
            _ => 0,
        }
    }

    /// True if a loop has made its passes, or was broken.
    fn is_over(&mut self, view: &mut View<'_>, n: usize, loops: &Value<i64>) -> bool {
        let place = &mut self.positions[n];
        // JMeter evaluates the number once, unless it is none or forever.
        let loops = match place.loops {
            Some(known) if known != 0 && known != -1 => known,
            _ => *place.loops.insert(view.integer(loops)),
        };
        place.broken || loops > -1 && place.passes >= loops as u64
    }

    /// True if a While controller begins another pass.
    fn goes_on(&self, view: &mut View<'_>, n: usize, condition: &Template, at_end: bool) -> bool {
        if self.positions[n].broken {
            return false;
        }
        let text = view.text(condition);
        let text = text.trim();
        if text.eq_ignore_ascii_case("LAST") || at_end && text.is_empty() {
            return view.thread.last_ok();
        }
        !text.eq_ignore_ascii_case("false")
    }

    fn time_is_up(&self, view: &mut View<'_>, n: usize, seconds: &Value<i64>) -> bool {
        let passed_s = (view.now_ns() - self.positions[n].since_ns) / 1_000_000_000;
        passed_s >= view.integer(seconds)
    }

    /// Takes a lock; otherwise when to try again. JMeter locks nothing under an empty name.
    fn lock(&mut self, view: &mut View<'_>, n: usize, lock: &Template) -> Option<i64> {
        let lock = view.text(lock);
        if lock.is_empty() || self.held.iter().any(|(node, _)| *node == n) {
            return None;
        }
        let user = view.thread.serial();
        let mut locks = locked(&view.test().shared.locks);
        let holder = *locks.entry(lock.clone()).or_insert(user);
        if holder != user {
            return Some(view.now_ns() + REST_NS);
        }
        self.held.push((n, lock));
        None
    }

    fn shuffle(&mut self, random: &mut Random, n: usize, node: &ControllerNode) {
        let mut order: Vec<u16> = Vec::with_capacity(node.children.len());
        for (index, child) in node.children.iter().enumerate() {
            let is_left = match child {
                Child::Sampler(_) => true,
                Child::Controller(below) => !self.positions[*below].gone,
            };
            if is_left {
                order.push(u16::try_from(index).unwrap_or(u16::MAX));
            }
        }
        for last in (1..order.len()).rev() {
            order.swap(last, random.below(last as u64 + 1) as usize);
        }
        self.orders.insert(n, order);
    }

    /// Passes and executions of a throughput controller, of the user or of all users.
    fn counted(&self, view: &View<'_>, n: usize, per_user: bool) -> (u64, u64) {
        match per_user {
            true => self.positions[n].counted,
            false => *locked(&view.test().shared.passes)
                .entry((view.thread.group(), n))
                .or_default(),
        }
    }

    /// True if a throughput controller executes its steps this time.
    fn decide(
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
        let decide = |(passes, executions): &mut (u64, u64)| {
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
            true => decide(&mut self.positions[n].counted),
            false => {
                let mut all = locked(&view.test().shared.passes);
                decide(all.entry((view.thread.group(), n)).or_default())
            }
        }
    }

    /// Index of the step with this number or name, otherwise of the step named "default".
    fn step_named(
        &self,
        view: &mut View<'_>,
        node: &ControllerNode,
        selected: &str,
    ) -> Option<usize> {
        let test = view.test();
        let nodes = &test.nodes[view.thread.group()];
        if selected.is_empty() {
            return Some(0);
        }
        if let Ok(index) = selected.parse::<usize>() {
            let is_there = self.steps_left(node).nth(index).is_some();
            return Some(if is_there { index } else { 0 });
        }
        let names: Vec<String> = self
            .steps_left(node)
            .map(|child| match child {
                Child::Sampler(id) => &test.plan.samplers[id as usize].name,
                Child::Controller(below) => &nodes[below].name,
            })
            .map(|name| view.text(name))
            .collect();
        let named = names.iter().position(|name| name == selected);
        let usual = |name: &String| name.eq_ignore_ascii_case("default");
        named.or_else(|| names.iter().rposition(usual))
    }
}

/// Value of the variable that a ForEach controller reads in a pass; `None`: there is none.
fn for_each_value(view: &mut View<'_>, node: &ControllerNode, passes: u64) -> Option<String> {
    let ControllerKind::ForEach {
        input, separator, ..
    } = &node.kind
    else {
        return None;
    };
    let separator = if *separator { "_" } else { "" };
    let name = format!("{}{separator}{}", view.text(input), passes + 1);
    view.variable(&name).map(str::to_owned)
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
