//! A sampler as prepared before the test: its timers, listeners, and the parts of an exchange
//! that its elements need. Other parts are not kept.

use super::steps::{Child, ControllerNode};
use crate::jtl::SavedDetails;
use crate::plan::{
    Applies, AssertionKind, ControllerKind, Field, FlowAction, Id, ListenerKind, Plan, PostKind,
    PreKind, Scope, Script,
};

/// Properties of a sampler that are known before it runs.
#[derive(Debug, Default)]
pub(super) struct Program {
    /// An element needs the response body.
    pub needs_body: bool,
    /// Its response may be a page whose resources are fetched.
    pub may_be_page: bool,
    /// An element needs the request.
    pub needs_request: bool,
    /// An element examines sub-results, too.
    pub examines_inner: bool,
    /// A preprocessor reads its name, which is therefore rendered before the preprocessors run.
    pub is_named_first: bool,
    /// Scripts that hear of its result.
    pub listeners: Vec<Id>,
    /// What result status action handlers demand after a failure.
    pub on_error: Vec<FlowAction>,
    /// Listeners that write its result to files, inner ones first; [`super::EVERYONE`] is the last.
    pub savers: Vec<Id>,
    /// Details that those files contain.
    pub holds: SavedDetails,
    /// Its synchronizing timers.
    pub meetings: Vec<Id>,
    /// Its other timers.
    pub pauses: Vec<Id>,
    /// It may use a proxy.
    pub may_be_proxied: bool,
    /// Its target, if nothing can change it.
    pub target: Option<u32>,
}

/// Notes which scripts and result status action handlers hear of the results of the samplers: those in scope but
/// for those that hear of the innermost transaction that replaces its samples.
pub(super) fn note_listeners(programs: &mut [Program], plan: &Plan, nodes: &[ControllerNode]) {
    for index in 0..nodes.len() {
        let (listeners, handlers) = heard_above(nodes, index);
        for child in &nodes[index].children {
            let Child::Sampler(id) = child else {
                continue;
            };
            let scope = &plan.samplers[*id as usize].scope;
            let program = &mut programs[*id as usize];
            let scripts = scope
                .listeners
                .iter()
                .filter(|id| matches!(plan.listeners[**id as usize].kind, ListenerKind::Script(_)));
            let heard = scripts.filter(|id| !listeners.contains(id));
            program.listeners = heard.copied().collect();
            let own = scope.post_processors.iter();
            let own = own.filter(|id| !handlers.contains(id));
            let actions = own.filter_map(|id| match plan.post_processors[*id as usize].kind {
                PostKind::OnError(action) => Some(action),
                _ => None,
            });
            program.on_error = actions.collect();
        }
    }
}

/// What hears of the innermost transaction around and at a controller that replaces its samples: listeners and
/// result status action handlers.
fn heard_above(nodes: &[ControllerNode], mut index: usize) -> (&[Id], &[Id]) {
    loop {
        let node = &nodes[index];
        match &node.kind {
            ControllerKind::Transaction {
                is_parent: true,
                listeners,
                handlers,
                ..
            } => return (listeners, handlers),
            _ if node.parent == index => return (&[], &[]),
            _ => index = node.parent,
        }
    }
}

/// The parts of an exchange that an element needs.
#[derive(Clone, Copy, PartialEq)]
enum PartsNeeded {
    Body,
    Request,
    Both,
    Other,
}

impl Program {
    /// Notes what the elements in a sampler's scope need.
    pub fn note_needs(&mut self, plan: &Plan, scope: &Scope) {
        let posts = scope.post_processors.iter();
        let posts = posts.map(|id| post_needs(&plan.post_processors[*id as usize].kind));
        let asserts = scope.assertions.iter();
        let asserts = asserts.map(|id| assertion_needs(&plan.assertions[*id as usize].kind));
        let listeners = scope.listeners.iter();
        let listeners = listeners.map(|id| listener_needs(&plan.listeners[*id as usize].kind));
        for needs in posts.chain(asserts).chain(listeners) {
            self.needs_body |= matches!(needs, PartsNeeded::Body | PartsNeeded::Both);
            self.needs_request |= matches!(needs, PartsNeeded::Request | PartsNeeded::Both);
        }
        let is_inner =
            |applies: Option<&Applies>| matches!(applies, Some(Applies::Inner | Applies::All));
        let mut posts = scope.post_processors.iter();
        let mut asserts = scope.assertions.iter();
        self.examines_inner = posts
            .any(|id| is_inner(plan.post_processors[*id as usize].kind.applies()))
            || asserts.any(|id| is_inner(plan.assertions[*id as usize].kind.applies()))
            || plan.reads_inner;
        self.needs_body |= self.holds.texts || self.examines_inner || plan.reads_last_text;
        self.needs_body |= plan.reads_previous;
        self.needs_request |= self.holds.texts || plan.reads_previous;
        // What assertions said is kept for the scripts behind them.
        self.holds.assertions |=
            plan.reads_previous || hear_of_assertions(plan, (&scope.assertions, &scope.listeners));
        let mut pres = scope.pre_processors.iter();
        self.is_named_first = pres.any(|id| asks_for_name(&plan.pre_processors[*id as usize].kind));
    }
}

/// True if a script may read or change the current sampler.
pub(super) fn asks_for_sampler(text: &str) -> bool {
    text.contains("ampler")
}

/// True if a script among these assertions and listeners may read the outcomes of assertions.
pub(super) fn hear_of_assertions(plan: &Plan, (assertions, listeners): (&[Id], &[Id])) -> bool {
    let listeners = listeners.iter();
    let listeners = listeners.filter_map(|id| match &plan.listeners[*id as usize].kind {
        ListenerKind::Script(script) => Some(script),
        _ => None,
    });
    let asserts = assertions.iter();
    let asserts = asserts.filter_map(|id| match &plan.assertions[*id as usize].kind {
        AssertionKind::Script(script) => Some(script),
        _ => None,
    });
    listeners.chain(asserts).any(asks_for_assertions)
}

/// True if a script may read the outcomes of assertions.
fn asks_for_assertions(script: &Script) -> bool {
    script.text.to_string().contains("ssertion")
}

/// True if a preprocessor reads the name of the current sampler.
fn asks_for_name(kind: &PreKind) -> bool {
    match kind {
        PreKind::Script(held) => {
            let text = held.text.to_string();
            asks_for_sampler(&text) || text.contains("__samplerName")
        }
        PreKind::UserParameters { values, .. } => values
            .iter()
            .flatten()
            .any(|value| value.to_string().contains("__samplerName")),
        PreKind::Timeout { .. }
        | PreKind::FollowLink
        | PreKind::RegexParameters { .. }
        | PreKind::UrlRewriting(_)
        | PreKind::Database(_) => false,
    }
}

fn field_needs(field: Field) -> PartsNeeded {
    match field {
        Field::Body | Field::BodyUnescaped => PartsNeeded::Body,
        Field::RequestHeaders | Field::RequestBody => PartsNeeded::Request,
        _ => PartsNeeded::Other,
    }
}

/// Names a part of the request as a method, as a property (`prev.samplerData`) and as a variable of BeanShell.
fn script_needs(script: &Script) -> PartsNeeded {
    const REQUEST: &[&str] = &["equestHeaders", "amplerData", "ueryString"];
    let text = script.text.to_string();
    match REQUEST.iter().any(|word| text.contains(word)) {
        true => PartsNeeded::Both,
        false => PartsNeeded::Body,
    }
}

fn post_needs(kind: &PostKind) -> PartsNeeded {
    match kind {
        PostKind::Regex { field: at, .. } | PostKind::Boundary { field: at, .. } => {
            field_needs(*at)
        }
        PostKind::Json { .. }
        | PostKind::JmesPath { .. }
        | PostKind::Css { .. }
        | PostKind::XPath { .. } => PartsNeeded::Body,
        PostKind::Script(held) => script_needs(held),
        PostKind::OnError(_) | PostKind::Debug { .. } | PostKind::Database(_) => PartsNeeded::Other,
    }
}

fn assertion_needs(kind: &AssertionKind) -> PartsNeeded {
    match kind {
        AssertionKind::Response { field: at, .. } => field_needs(*at),
        AssertionKind::Json { .. }
        | AssertionKind::JmesPath { .. }
        | AssertionKind::WellFormedXml
        | AssertionKind::XPath { .. }
        | AssertionKind::XPath2 { .. }
        | AssertionKind::Md5 { .. } => PartsNeeded::Body,
        AssertionKind::Script(held) => script_needs(held),
        AssertionKind::Size { .. } | AssertionKind::Duration { .. } => PartsNeeded::Other,
    }
}

fn listener_needs(kind: &ListenerKind) -> PartsNeeded {
    match kind {
        ListenerKind::Script(held) => script_needs(held),
        _ => PartsNeeded::Other,
    }
}
