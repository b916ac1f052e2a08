//! Which way does a request take: from which address of this host, to which of the server?

use super::test::Test;
use super::user::Body;
use crate::plan::{ConfigKind, HttpRequest, SourceKind};

/// A way that is not the system's.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Route {
    /// Address, name or interface that requests leave from; empty: the system chooses.
    pub source: String,
    /// What that is.
    pub source_kind: SourceKind,
    /// Names and addresses that stand for the called host; none: its own name does.
    pub hosts: Vec<String>,
    /// The certificate that is shown over TLS: its place in [`RunSettings::aliases`]; `None`: none.
    ///
    /// [`RunSettings::aliases`]: super::RunSettings::aliases
    pub identity: Option<u32>,
}

/// True when requests may take a way of their own.
pub(super) fn may_be_routed(request: &HttpRequest) -> bool {
    !request.source.is_empty() || request.dns.is_some()
}

impl Body {
    /// Notes the way of the request under way, whose proxy is chosen.
    pub(super) fn choose_route(&mut self, test: &Test, now_ns: i64, request: &HttpRequest) {
        self.flight.route = None;
        let identity = self.choose_identity(test, now_ns);
        if !may_be_routed(request) && identity.is_none() {
            return;
        }
        let source = self.person.view(test, now_ns).text(&request.source);
        let route = Route {
            source: source.trim().into(),
            source_kind: request.source_kind,
            hosts: self.known_hosts(test, now_ns, request),
            identity,
        };
        if !route.source.is_empty() || !route.hosts.is_empty() || identity.is_some() {
            self.flight.route = Some(Box::new(route));
        }
    }

    /// What a DNS cache manager knows of the host that is called.
    fn known_hosts(&mut self, test: &Test, now_ns: i64, request: &HttpRequest) -> Vec<String> {
        let config = request
            .dns
            .and_then(|id| test.plan.configs.get(id as usize));
        let Some(ConfigKind::Dns {
            is_custom: true,
            hosts,
            ..
        }) = config.map(|config| &config.kind)
        else {
            return Vec::new();
        };
        let called = match &self.flight.through {
            Some(through) => through.host.clone(),
            None => self.flight.address.host.clone(),
        };
        let mut view = self.person.view(test, now_ns);
        for host in hosts {
            if view.text(&host.name).trim().eq_ignore_ascii_case(&called) {
                let addresses = view.text(&host.address);
                let each = addresses.split(',').map(str::trim);
                return each
                    .filter(|each| !each.is_empty())
                    .map(str::to_owned)
                    .collect();
            }
        }
        Vec::new()
    }
}
