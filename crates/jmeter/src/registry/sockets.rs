//! Requests over plain TCP, and their defaults.

use super::{DefaultsOf, ElementSpec, Family, Role, element};
use crate::compile::ElementReader;
use crate::node::{ElementNode, PropertyValue, find};
use crate::plan::{SamplerKind, TcpForm, TcpRequest};

/// The class of a TCP request's element.
pub(super) const TCP: &str = "TCPSampler";

const CLASS: &str = "TCPSampler.classname";

/// The clients that come with JMeter.
const CLIENTS: [(&str, TcpForm); 3] = [
    ("TCPClientImpl", TcpForm::Text),
    ("BinaryTCPClientImpl", TcpForm::Binary),
    ("LengthPrefixedBinaryTCPClientImpl", TcpForm::LengthPrefixed),
];

pub(super) const ELEMENTS: &[ElementSpec] = &[
    element(&[TCP], Family::Sampler, 3, Role::Sampler(tcp)),
    ElementSpec {
        classes: &["ConfigTestElement"],
        gui: Some("TCPConfigGui"),
        family: Family::Config,
        tier: 3,
        role: Role::Defaults(DefaultsOf::Tcp),
    },
];

/// The client of a name, with or without its package; no name: text.
fn client(name: &str) -> Option<TcpForm> {
    let name = name.trim();
    let short = name.strip_prefix("org.apache.jmeter.protocol.tcp.sampler.");
    let short = short.unwrap_or(name);
    let mut known = CLIENTS.iter();
    match short {
        "" => Some(TcpForm::Text),
        short => Some(known.find(|(client, _)| *client == short)?.1),
    }
}

/// The client of a TCP request that is not supported; `None`: the element is another kind of request.
pub(super) fn foreign_client(node: &ElementNode) -> Option<String> {
    if node.class != TCP {
        return None;
    }
    let given = find(&node.properties, CLASS).map(|property| &property.value);
    let Some(PropertyValue::Scalar { text, .. }) = given else {
        return None;
    };
    client(text).is_none().then(|| text.trim().to_owned())
}

/// A TCP request.
pub(crate) fn tcp(reader: &mut ElementReader<'_, '_>) -> SamplerKind {
    // JMeter reads no file for it either.
    reader.ignore(&["TCPSampler.filename"]);
    let client = client(&reader.start_text(CLASS));
    SamplerKind::Tcp(Box::new(TcpRequest {
        server: reader.text("TCPSampler.server"),
        port: reader.integer("TCPSampler.port", 0),
        text: reader.text("TCPSampler.request"),
        form: client.unwrap_or(TcpForm::Text),
        reuses: reader.flag("TCPSampler.reUseConnection", true),
        closes: reader.flag("TCPSampler.closeConnection", false),
        no_delay: reader.flag("TCPSampler.nodelay", false),
        connect_timeout_ms: reader.integer("TCPSampler.ctimeout", 0),
        response_timeout_ms: reader.integer("TCPSampler.timeout", 0),
        linger_s: reader.integer_if("TCPSampler.soLinger"),
        end_byte: reader.integer_if("TCPSampler.EolByte"),
        login: [
            reader.text("ConfigTestElement.username"),
            reader.text("ConfigTestElement.password"),
        ],
    }))
}
