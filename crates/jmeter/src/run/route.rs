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
    /// Name servers that are asked for the called host; none: the system is.
    pub servers: Vec<String>,
    /// The certificate that is shown over TLS: its place in [`RunSettings::aliases`]; `None`: none.
    ///
    /// [`RunSettings::aliases`]: super::RunSettings::aliases
    pub identity: Option<u32>,
}

/// How long the system's answers are not asked for again at the least: Java keeps them that long.
const SYSTEM_KNOWS_NS: u64 = 30_000_000_000;

/// True when requests may take a way of their own.
pub(super) fn may_be_routed(request: &HttpRequest) -> bool {
    !request.source.is_empty() || request.dns.is_some()
}

/// The DNS cache manager of a request.
fn dns_of<'a>(test: &'a Test, request: &HttpRequest) -> Option<&'a ConfigKind> {
    let config = test.plan.configs.get(request.dns? as usize)?;
    Some(&config.kind)
}

impl Body {
    /// Notes the way of the request under way, whose proxy is chosen.
    pub(super) fn choose_route(&mut self, test: &Test, now_ns: i64, request: &HttpRequest) {
        (self.flight.route, self.flight.names) = (None, None);
        let identity = self.choose_identity(test, now_ns);
        if !may_be_routed(request) && identity.is_none() {
            return;
        }
        let source = self.person.view(test, now_ns).text(&request.source);
        let route = Route {
            source: source.trim().into(),
            source_kind: request.source_kind,
            hosts: self.known_hosts(test, now_ns, request),
            servers: Vec::new(),
            identity,
        };
        let route = self.choose_names(test, now_ns, request, route);
        let Route {
            source,
            hosts,
            servers,
            ..
        } = &route;
        if !source.is_empty() || !hosts.is_empty() || !servers.is_empty() || identity.is_some() {
            self.flight.route = Some(Box::new(route));
        }
    }

    /// Notes who is asked for the host's name, unless its place is known: with a DNS cache manager, each
    /// user asks by itself, and again with each iteration if the element says so.
    fn choose_names(
        &mut self,
        test: &Test,
        now_ns: i64,
        request: &HttpRequest,
        route: Route,
    ) -> Route {
        let Some(ConfigKind::Dns {
            is_custom,
            servers,
            clear_each_iteration,
            ..
        }) = dns_of(test, request)
        else {
            return route;
        };
        if !route.hosts.is_empty() {
            return route;
        }
        let mut view = self.person.view(test, now_ns);
        let servers = servers.iter().filter(|_| *is_custom);
        let servers = servers.map(|server| view.text(server).trim().to_owned());
        let servers: Vec<String> = servers.filter(|server| !server.is_empty()).collect();
        let round = match (clear_each_iteration, servers.is_empty()) {
            (false, _) => 0,
            (true, false) => self.person.iteration,
            (true, true) => now_ns.unsigned_abs() / SYSTEM_KNOWS_NS,
        };
        self.flight.names = Some(round as u32);
        Route { servers, ..route }
    }

    /// What a DNS cache manager knows of the host that is called.
    fn known_hosts(&mut self, test: &Test, now_ns: i64, request: &HttpRequest) -> Vec<String> {
        let Some(ConfigKind::Dns {
            is_custom: true,
            hosts,
            ..
        }) = dns_of(test, request)
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
