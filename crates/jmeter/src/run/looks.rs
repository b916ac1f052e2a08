//! Which parts of an exchange does anything look at? The rest is not kept.

use super::test::Program;
use crate::plan::{AssertionKind, Field, ListenerKind, Plan, PostKind, PreKind, Scope, Script};

/// What an element looks at.
#[derive(Clone, Copy, PartialEq)]
enum Looks {
    Body,
    Request,
    Both,
    Other,
}

impl Program {
    /// Notes what the elements in a sampler's scope look at.
    pub(super) fn look(&mut self, plan: &Plan, scope: &Scope) {
        let posts = scope.post_processors.iter();
        let posts = posts.map(|id| looks_at(&plan.post_processors[*id as usize].kind));
        let asserts = scope.assertions.iter();
        let asserts = asserts.map(|id| asserts_on(&plan.assertions[*id as usize].kind));
        let listeners = scope.listeners.iter();
        let listeners = listeners.map(|id| listens_to(&plan.listeners[*id as usize].kind));
        for look in posts.chain(asserts).chain(listeners) {
            self.needs_body |= matches!(look, Looks::Body | Looks::Both);
            self.needs_request |= matches!(look, Looks::Request | Looks::Both);
        }
        self.needs_body |= self.holds.texts;
        self.needs_request |= self.holds.texts;
        let mut pres = scope.pre_processors.iter();
        self.is_named_first = pres.any(|id| asks_for_name(&plan.pre_processors[*id as usize].kind));
    }
}

/// True when a preprocessor looks at the sampler that is about to run.
fn asks_for_name(kind: &PreKind) -> bool {
    match kind {
        PreKind::Script(held) => {
            let text = held.text.to_string();
            text.contains("sampler.") || text.contains("__samplerName")
        }
        PreKind::UserParameters { values, .. } => values
            .iter()
            .flatten()
            .any(|value| value.to_string().contains("__samplerName")),
        PreKind::Timeout { .. } => false,
    }
}

fn field(field: Field) -> Looks {
    match field {
        Field::Body | Field::BodyUnescaped | Field::BodyAsDocument => Looks::Body,
        Field::RequestHeaders | Field::RequestBody => Looks::Request,
        _ => Looks::Other,
    }
}

fn script(script: &Script) -> Looks {
    const REQUEST: &[&str] = &["getRequestHeaders", "getSamplerData", "getQueryString"];
    let text = script.text.to_string();
    match REQUEST.iter().any(|word| text.contains(word)) {
        true => Looks::Both,
        false => Looks::Body,
    }
}

fn looks_at(kind: &PostKind) -> Looks {
    match kind {
        PostKind::Regex { field: at, .. } | PostKind::Boundary { field: at, .. } => field(*at),
        PostKind::Json { .. }
        | PostKind::JmesPath { .. }
        | PostKind::Css { .. }
        | PostKind::XPath { .. } => Looks::Body,
        PostKind::Script(held) => script(held),
        PostKind::OnError(_) | PostKind::Debug { .. } => Looks::Other,
    }
}

fn asserts_on(kind: &AssertionKind) -> Looks {
    match kind {
        AssertionKind::Response { field: at, .. } => field(*at),
        AssertionKind::Json { .. }
        | AssertionKind::JmesPath { .. }
        | AssertionKind::WellFormedXml
        | AssertionKind::XPath { .. }
        | AssertionKind::Md5 { .. } => Looks::Body,
        AssertionKind::Script(held) => script(held),
        AssertionKind::Size { .. } | AssertionKind::Duration { .. } => Looks::Other,
    }
}

fn listens_to(kind: &ListenerKind) -> Looks {
    match kind {
        ListenerKind::Script(held) => script(held),
        _ => Looks::Other,
    }
}
