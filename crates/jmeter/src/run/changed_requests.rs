//! Requests of HTTP samplers as scripts and modifiers of one user changed them.
//!
//! ```text
//! the plan's request ─► lasting changes of this user ─► changes of this sample ─► sent
//! ```
//!
//! As in JMeter, texts that a script sets and arguments that it adds end with the sample. What it
//! removes of the arguments, and what it adds to or removes from the only header manager in scope,
//! lasts: for all samplers of the user that have this manager.

use std::collections::HashMap;
use std::ops::Deref;
use std::sync::Arc;

use super::test::Test;
use crate::plan::{HttpHeader, HttpRequest, Id, SamplerKind, merge_headers};
use crate::script::{LentRequest, RunNames};

/// Changes of one user.
#[derive(Debug, Default)]
pub(super) struct ChangedRequests {
    /// The request of the current sampler; `None`: as in the plan.
    current: Option<Arc<LentRequest>>,
    /// Numbers of the arguments that a sampler has left.
    arguments: HashMap<Id, Vec<u32>>,
    /// Headers of managers, with their numbers in the plan.
    headers: HashMap<Id, Vec<(Option<u32>, HttpHeader)>>,
}

/// The request of a sampler.
pub(super) enum CurrentRequest<'a> {
    /// As in the plan.
    Plans(&'a HttpRequest),
    /// Changed.
    Changed(Arc<LentRequest>),
}

impl Deref for CurrentRequest<'_> {
    type Target = HttpRequest;

    fn deref(&self) -> &HttpRequest {
        match self {
            Self::Plans(request) => request,
            Self::Changed(changed) => &changed.request,
        }
    }
}

/// The request of a sampler in the plan; `None`: it is not an HTTP sampler.
pub(super) fn planned(test: &Test, sampler: Id) -> Option<&HttpRequest> {
    match &test.plan.samplers[sampler as usize].kind {
        SamplerKind::Http(request) => Some(request),
        _ => None,
    }
}

impl ChangedRequests {
    /// Begins a sample: only lasting changes are left.
    pub fn begin(&mut self, test: &Test, sampler: Id) {
        self.current = None;
        if self.arguments.is_empty() && self.headers.is_empty() {
            return;
        }
        let Some(request) = planned(test, sampler) else {
            return;
        };
        let managers = request.header_managers.iter();
        let has_changes = self.arguments.contains_key(&sampler)
            || managers.clone().any(|id| self.headers.contains_key(id));
        if has_changes {
            self.current = Some(Arc::new(self.lent(test, sampler, request)));
        }
    }

    /// The request of the current sampler.
    pub fn current<'a>(&self, test: &'a Test, sampler: Id) -> Option<CurrentRequest<'a>> {
        if let Some(changed) = &self.current {
            return Some(CurrentRequest::Changed(Arc::clone(changed)));
        }
        planned(test, sampler).map(CurrentRequest::Plans)
    }

    /// True if the current request is not the plan's.
    pub fn is_changed(&self) -> bool {
        self.current.is_some()
    }

    /// The request of the current sampler, to be changed; `None`: it is not an HTTP sampler.
    pub fn lend(&self, test: &Test, sampler: Id) -> Option<LentRequest> {
        let request = planned(test, sampler)?;
        Some(match &self.current {
            Some(changed) => LentRequest::clone(changed),
            None => self.lent(test, sampler, request),
        })
    }

    /// Takes the request of the current sampler back.
    pub fn take_back(&mut self, test: &Test, sampler: Id, lent: LentRequest) {
        if !lent.is_changed {
            return;
        }
        let arguments: Vec<u32> = lent.arguments.iter().flatten().copied().collect();
        let planned = planned(test, sampler).map_or(0, |request| request.arguments.len());
        if lent.has_own_arguments && arguments.len() < planned {
            self.arguments.insert(sampler, arguments);
        }
        if let Some(manager) = lent.manager {
            let planned = &test.plan.header_managers[manager as usize];
            let is_planned = (0..)
                .map(Some)
                .take(planned.len())
                .eq(lent.headers.iter().copied());
            if is_planned && !self.headers.contains_key(&manager) {
                self.current = Some(Arc::new(lent));
                return;
            }
            let headers = lent.headers.iter().copied();
            let headers = headers.zip(lent.request.headers.iter().cloned()).collect();
            self.headers.insert(manager, headers);
        }
        self.current = Some(Arc::new(lent));
    }

    /// The request of a sampler with lasting changes.
    fn lent(&self, test: &Test, sampler: Id, planned: &HttpRequest) -> LentRequest {
        let mut request = planned.clone();
        let all = 0..u32::try_from(request.arguments.len()).unwrap_or(0);
        let arguments: Vec<u32> = match self.arguments.get(&sampler) {
            Some(left) => left.clone(),
            None => all.collect(),
        };
        let kept = arguments
            .iter()
            .filter_map(|number| planned.arguments.get(*number as usize));
        request.arguments = kept.cloned().collect();
        let mut merged = Vec::new();
        for (place, id) in planned.header_managers.iter().enumerate() {
            let headers = self.manager(test, *id);
            let manager = (place == 0, headers.as_slice());
            merge_headers(&mut merged, manager, |(_, header)| header);
        }
        request.headers = merged.iter().map(|(_, header)| header.clone()).collect();
        let settings = &test.settings;
        LentRequest {
            request,
            arguments: arguments.into_iter().map(Some).collect(),
            headers: merged.iter().map(|(number, _)| *number).collect(),
            manager: match planned.header_managers.as_slice() {
                [only] => Some(*only),
                _ => None,
            },
            is_managed: !planned.header_managers.is_empty(),
            has_own_arguments: true,
            is_changed: false,
            names: RunNames {
                plan: settings.plan_name.clone(),
                host: settings.host_name.clone(),
                address: settings.host_address.clone(),
            },
        }
    }

    /// The headers of a manager. A text that a script set in a header of the plan does not last.
    fn manager(&self, test: &Test, id: Id) -> Vec<(Option<u32>, HttpHeader)> {
        let planned = &test.plan.header_managers[id as usize];
        match self.headers.get(&id) {
            Some(changed) => changed
                .iter()
                .map(|(number, header)| {
                    let of_plan = number.and_then(|number| planned.get(number as usize));
                    (*number, of_plan.unwrap_or(header).clone())
                })
                .collect(),
            None => (0..).map(Some).zip(planned.iter().cloned()).collect(),
        }
    }
}
