//! The network route of one request: proxy, source address, server addresses and certificate.

use super::identity::certificate_of;
use super::proxy::{Through, proxy_of};
use super::request::line;
use crate::plan::{ConfigKind, HttpRequest, SourceKind};
use crate::run::address::Address;
use crate::run::context::View;
use crate::run::test::{Targets, Test};

/// Sources, servers and certificate that differ from the system's defaults.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Route {
    /// Address, name or interface that requests leave from; empty: the system chooses.
    pub source: String,
    /// Kind of `source`.
    pub source_kind: SourceKind,
    /// Names and addresses that replace the called host; empty: its own name is looked up.
    pub hosts: Vec<String>,
    /// Name servers that are asked for the called host; empty: those of the system.
    pub servers: Vec<String>,
    /// The client certificate: its index in [`RunSettings::aliases`]; `None`: none.
    ///
    /// [`RunSettings::aliases`]: crate::run::RunSettings::aliases
    pub identity: Option<u32>,
}

/// Shortest time that the system's answers are cached: Java caches them that long.
const SYSTEM_CACHE_NS: u64 = 30_000_000_000;

/// True if requests may need a [`Route`].
pub(in crate::run) fn may_be_routed(request: &HttpRequest) -> bool {
    !request.source.is_empty() || request.dns.is_some()
}

/// The DNS cache manager of a request.
fn dns_of<'a>(test: &'a Test, request: &HttpRequest) -> Option<&'a ConfigKind> {
    let config = test.plan.configs.get(request.dns? as usize)?;
    Some(&config.kind)
}

/// Path of one request to its server.
#[derive(Debug, Default)]
pub(super) struct NetworkPath {
    proxy: Option<Through>,
    /// `None`: the system's defaults.
    route: Option<Box<Route>>,
    /// See [`Request::names`](crate::run::user::Request::names).
    names: Option<u32>,
}

impl NetworkPath {
    /// Chooses proxy, route and certificate of a request to an address.
    pub fn choose(&mut self, view: &mut View<'_>, request: &HttpRequest, address: &Address) {
        self.proxy = proxy_of(view, request, &address.host);
        (self.route, self.names) = (None, None);
        let identity = certificate_of(view, address.tls);
        if !may_be_routed(request) && identity.is_none() {
            return;
        }
        let source = view.text(&request.source);
        let called = match &self.proxy {
            Some(proxy) => proxy.host.as_str(),
            None => address.host.as_str(),
        };
        let hosts = static_hosts(view, request, called);
        let (servers, names) = match hosts.is_empty() {
            true => name_servers(view, request),
            false => (Vec::new(), None),
        };
        self.names = names;
        let route = Route {
            source: source.trim().into(),
            source_kind: request.source_kind,
            hosts,
            servers,
            identity,
        };
        let is_default =
            route.source.is_empty() && route.hosts.is_empty() && route.servers.is_empty();
        if !is_default || identity.is_some() {
            self.route = Some(Box::new(route));
        }
    }

    /// True if the request is sent to a proxy with its absolute URL.
    pub fn is_forwarded(&self, address: &Address) -> bool {
        self.proxy.is_some() && !address.tls
    }

    /// Appends the headers that are meant for the proxy.
    pub fn write_proxy_headers(&self, address: &Address, out: &mut Vec<u8>) {
        let Some(proxy) = self.proxy.as_ref().filter(|_| self.is_forwarded(address)) else {
            return;
        };
        line(out, "Proxy-Connection", "Keep-Alive");
        if !proxy.authorization.is_empty() {
            line(out, "Proxy-Authorization", &proxy.authorization);
        }
    }

    /// Number of the target that the request is sent to.
    pub fn target(&self, address: &Address, targets: &dyn Targets) -> u32 {
        if let Some(route) = &self.route {
            let to = (address.tls, address.host.as_str(), address.port);
            return match &self.proxy {
                Some(proxy) if !address.tls => {
                    targets.routed((false, &proxy.host, proxy.port), None, route)
                }
                proxy => targets.routed(to, proxy.as_ref(), route),
            };
        }
        match &self.proxy {
            Some(proxy) if address.tls => targets.tunnel(&address.host, address.port, proxy),
            Some(proxy) => targets.target(false, &proxy.host, proxy.port),
            None => targets.target(address.tls, &address.host, address.port),
        }
    }

    /// See [`Request::names`](crate::run::user::Request::names).
    pub fn names(&self) -> Option<u32> {
        self.names
    }
}

/// Name servers for the host of a request, and the number whose change asks them again. With a
/// DNS cache manager each user resolves by itself, and again with each iteration if the element
/// says so.
fn name_servers(view: &mut View<'_>, request: &HttpRequest) -> (Vec<String>, Option<u32>) {
    let Some(ConfigKind::Dns {
        is_custom,
        servers,
        clear_each_iteration,
        ..
    }) = dns_of(view.test(), request)
    else {
        return (Vec::new(), None);
    };
    let servers = servers.iter().filter(|_| *is_custom);
    let servers = servers.map(|server| view.text(server).trim().to_owned());
    let servers: Vec<String> = servers.filter(|server| !server.is_empty()).collect();
    let round = match (clear_each_iteration, servers.is_empty()) {
        (false, _) => 0,
        (true, false) => view.thread.iteration(),
        (true, true) => view.now_ns().unsigned_abs() / SYSTEM_CACHE_NS,
    };
    (servers, Some(round as u32))
}

/// Addresses that a DNS cache manager states for a host.
fn static_hosts(view: &mut View<'_>, request: &HttpRequest, called: &str) -> Vec<String> {
    let Some(ConfigKind::Dns {
        is_custom: true,
        hosts,
        ..
    }) = dns_of(view.test(), request)
    else {
        return Vec::new();
    };
    for host in hosts {
        if view.text(&host.name).trim().eq_ignore_ascii_case(called) {
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
