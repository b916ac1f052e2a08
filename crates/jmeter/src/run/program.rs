//! A sampler as prepared before the test: its timers, listeners, and the parts of an exchange
//! that its elements need. Other parts are not kept.

use crate::jtl::SavedDetails;
use crate::plan::{
    Applies, AssertionKind, Field, Id, ListenerKind, Plan, PostKind, PreKind, Scope, Script,
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
            || asserts.any(|id| is_inner(plan.assertions[*id as usize].kind.applies()));
        self.needs_body |= self.holds.texts || self.examines_inner || plan.reads_last_text;
        self.needs_body |= plan.reads_previous;
        self.needs_request |= self.holds.texts || plan.reads_previous;
        let mut pres = scope.pre_processors.iter();
        self.is_named_first = pres.any(|id| asks_for_name(&plan.pre_processors[*id as usize].kind));
    }
}

/// True if a script may read or change the current sampler.
pub(super) fn asks_for_sampler(text: &str) -> bool {
    text.contains("ampler")
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

fn script_needs(script: &Script) -> PartsNeeded {
    const REQUEST: &[&str] = &["getRequestHeaders", "getSamplerData", "getQueryString"];
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
