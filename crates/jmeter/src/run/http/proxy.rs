//! The proxy of one request.
//!
//! A request over TLS goes through a `CONNECT` tunnel unchanged; any other request is sent to the
//! proxy with its absolute URL.

use crate::plan::{HttpProxy, HttpRequest};
use crate::run::context::View;
use crate::run::encode;

/// A proxy between a user and a server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Through {
    /// Name or address.
    pub host: String,
    /// Port.
    pub port: u16,
    /// Value of `Proxy-Authorization`; empty: not sent.
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

/// The proxy for a request to `host`: the sampler's own, or that of the whole test.
pub(super) fn proxy_of(view: &mut View<'_>, request: &HttpRequest, host: &str) -> Option<Through> {
    let test = view.test();
    if !test.programs[view.thread.sampler() as usize].may_be_proxied {
        return None;
    }
    own_proxy(view, &request.proxy).or_else(|| {
        let proxy = test.settings.proxy.as_ref()?;
        let spared = proxy.spares(host);
        (!spared).then(|| Through::new(&proxy.host, proxy.port, &proxy.user, &proxy.password))
    })
}

fn own_proxy(view: &mut View<'_>, proxy: &HttpProxy) -> Option<Through> {
    let host = view.text(&proxy.host);
    // As in JMeter: without a valid port there is no proxy.
    let port = view.text(&proxy.port).trim().parse().ok()?;
    let (user, password) = (view.text(&proxy.user), view.text(&proxy.password));
    (!host.trim().is_empty()).then(|| Through::new(host.trim(), port, &user, &password))
}
