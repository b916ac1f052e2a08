//! Which proxy does a request go through, and what does that change of it?
//!
//! A request over TLS goes through a tunnel and stays as it is; another one is handed to the proxy
//! with its whole address.

use super::encode;
use super::request::line;
use super::test::{Targets, Test};
use super::user::{Body, Flight};
use crate::plan::{HttpProxy, HttpRequest};

/// A proxy on the way of one request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Through {
    /// Its name or address.
    pub host: String,
    /// Its port.
    pub port: u16,
    /// Value of `Proxy-Authorization`; empty: none is sent.
    pub authorization: String,
}

impl Through {
    fn new(host: &str, port: u16, user: &str, password: &str) -> Self {
        let mut authorization = Vec::new();
        if !user.is_empty() {
            authorization.extend_from_slice(b"Basic ");
            encode::base64(format!("{user}:{password}").as_bytes(), &mut authorization);
        }
        Self {
            host: host.into(),
            port,
            authorization: String::from_utf8_lossy(&authorization).into_owned(),
        }
    }
}

impl Body {
    /// Notes the proxy of the request under way: its sampler's own, or that of all requests.
    pub(super) fn choose_proxy(&mut self, test: &Test, now_ns: i64, request: &HttpRequest) {
        if !test.programs[self.flight.sampler as usize].may_be_proxied {
            self.flight.through = None;
            return;
        }
        let own = self.own_proxy(test, now_ns, &request.proxy);
        let shared = || {
            let proxy = test.settings.proxy.as_ref()?;
            let spared = proxy.spares(&self.flight.address.host);
            (!spared).then(|| Through::new(&proxy.host, proxy.port, &proxy.user, &proxy.password))
        };
        self.flight.through = own.or_else(shared);
    }

    fn own_proxy(&mut self, test: &Test, now_ns: i64, proxy: &HttpProxy) -> Option<Through> {
        let mut view = self.person.view(test, now_ns);
        let host = view.text(&proxy.host);
        // As JMeter: without a usable port there is no proxy.
        let port = view.text(&proxy.port).trim().parse().ok()?;
        let (user, password) = (view.text(&proxy.user), view.text(&proxy.password));
        (!host.trim().is_empty()).then(|| Through::new(host.trim(), port, &user, &password))
    }
}

impl Flight {
    /// The proxy itself is asked for the address.
    pub(super) fn is_forwarded(&self) -> bool {
        self.through.is_some() && !self.address.tls
    }

    /// What only a proxy needs to know.
    pub(super) fn write_proxy_headers(&self, out: &mut Vec<u8>) {
        let Some(through) = self.through.as_ref().filter(|_| self.is_forwarded()) else {
            return;
        };
        line(out, "Proxy-Connection", "Keep-Alive");
        if !through.authorization.is_empty() {
            line(out, "Proxy-Authorization", &through.authorization);
        }
    }

    /// The number of whom the request is handed to.
    pub(super) fn target(&self, targets: &dyn Targets) -> u32 {
        let address = &self.address;
        if let Some(route) = &self.route {
            let to = (address.tls, address.host.as_str(), address.port);
            return match &self.through {
                Some(through) if !address.tls => {
                    targets.routed((false, &through.host, through.port), None, route)
                }
                through => targets.routed(to, through.as_ref(), route),
            };
        }
        match &self.through {
            Some(through) if address.tls => targets.tunnel(&address.host, address.port, through),
            Some(through) => targets.target(false, &through.host, through.port),
            None => targets.target(address.tls, &address.host, address.port),
        }
    }
}
