//! Configuration of Zenoh.
//!
//! Nothing is left to its defaults that would open a door: no scouting, no admin space, no plain
//! transport, certificates on both sides, and an access list that denies what it does not name.

use serde_json::{Value, json};
use sokudo_model::Text;
use zenoh::Config;

use crate::error::GroupError;
use crate::group::{Credentials, Role};
use crate::keys::Keys;

/// A silent link is closed after this time, milliseconds. Losses within a run are detected long before,
/// by the leases of the bus: this one informs a waiting agent that its router is lost. Below the 30 s
/// after which QUIC and most address translators forget a silent connection.
const LEASE_MS: u64 = 12_000;
/// Signs of life within that time. One that is lost on the way is sent again by QUIC.
const SIGNS_PER_LEASE: u64 = 2;
/// Longest time to open a link, milliseconds.
const OPEN_MS: u64 = 5000;
/// A link that accepts no further piece for this time is closed, microseconds. Until then all senders
/// to it wait, and at a router also all messages queued behind.
const BLOCK_US: u64 = 3_000_000;
/// Pieces of 64 KiB that may wait for a link, as many as the transport allows: what is sent to many is
/// taken at once, and handed to the network when it has time.
const QUEUE: usize = 16;
/// Longest message: a piece of a frame with everything around it.
const MAX_MESSAGE: usize = 128 * 1024;

/// A router of a group, listening at `listen` (`host:port`). It dials each of `routers` until it is
/// there, and again whenever it is lost.
pub(crate) fn router(
    group_id: &str,
    listen: &str,
    routers: &[String],
    credentials: &Credentials,
) -> Result<Config, GroupError> {
    config(&router_of(group_id, listen, routers, credentials))
}

/// The same as the text of a file that a stock `zenohd` reads; `metadata` describes its origin.
pub(crate) fn foreign_router(
    group_id: &str,
    listen: &str,
    routers: &[String],
    credentials: &Credentials,
    metadata: Value,
) -> Result<Value, GroupError> {
    let mut all = router_of(group_id, listen, routers, credentials);
    all["metadata"] = metadata;
    // `zenohd` opens its admin space whatever its file contains: reading and writing there is denied.
    all["adminspace"]["permissions"] = json!({ "read": false, "write": false });
    config(&all)?;
    Ok(all)
}

fn router_of(group_id: &str, listen: &str, routers: &[String], credentials: &Credentials) -> Value {
    let mut all = common("router", credentials);
    all["listen"] = json!({ "endpoints": [endpoint(listen)], "exit_on_failure": true });
    if !routers.is_empty() {
        all["connect"] = connect(routers, true);
    }
    all["access_control"] = access(group_id);
    all
}

/// A client of one of `routers`. With `waits`, it waits without bound until one answers, and again
/// whenever the connection is lost.
pub(crate) fn client(
    routers: &[String],
    credentials: &Credentials,
    waits: bool,
) -> Result<Config, GroupError> {
    let mut all = common("client", credentials);
    all["connect"] = connect(routers, waits);
    config(&all)
}

fn connect(routers: &[String], waits: bool) -> Value {
    let endpoints: Vec<String> = routers.iter().map(|at| endpoint(at)).collect();
    let timeout_ms: i64 = if waits { -1 } else { OPEN_MS as i64 };
    json!({
        "endpoints": endpoints, "timeout_ms": timeout_ms, "exit_on_failure": !waits,
        "retry": { "period_init_ms": 200, "period_max_ms": 2000, "period_increase_factor": 2.0 },
    })
}

/// One stream for everything, in order. With a stream for each priority an answer may overtake the
/// subscription that was declared before it, and messages sent after the answer would reach no
/// subscriber.
fn endpoint(address: &str) -> String {
    format!("quic/{address}?multistream=0")
}

fn common(mode: &str, credentials: &Credentials) -> Value {
    json!({
        "mode": mode,
        "listen": { "endpoints": [] },
        "scouting": { "multicast": { "enabled": false }, "gossip": { "enabled": false } },
        "adminspace": { "enabled": false },
        "queries_default_timeout": 10000,
        "transport": {
            "unicast": {
                "max_sessions": 20000, "accept_pending": 1000,
                "open_timeout": OPEN_MS, "accept_timeout": OPEN_MS,
                "qos": { "enabled": false },
            },
            "link": {
                "protocols": ["quic"],
                "tx": {
                    "lease": LEASE_MS, "keep_alive": SIGNS_PER_LEASE,
                    "queue": {
                        "size": { "data": QUEUE },
                        "congestion_control": { "block": { "wait_before_close": BLOCK_US } },
                    },
                },
                "rx": { "max_message_size": MAX_MESSAGE },
                "tls": tls(credentials),
            },
        },
    })
}

/// Both sides show certificates of the group's authority. Which host serves is proven by the usage
/// in its certificate, not by its address: agents hold none that may serve.
fn tls(credentials: &Credentials) -> Value {
    let base64 = |pem: &str| base64_of(pem.as_bytes());
    let (certificate, key) = (
        base64(&credentials.certificate),
        base64(&credentials.private_key),
    );
    json!({
        "enable_mtls": true,
        "verify_name_on_connect": false,
        "close_link_on_expiration": true,
        "root_ca_certificate_base64": base64(&credentials.authority),
        "listen_certificate_base64": certificate, "listen_private_key_base64": key,
        "connect_certificate_base64": certificate, "connect_private_key_base64": key,
    })
}

/// Rights that certificates give at the router. An agent answers, publishes and shows that it is
/// alive; it can neither ask others nor publish orders.
fn access(group_id: &str) -> Value {
    let keys = Keys::new(group_id);
    let controllers = [
        Role::Controller.common_name(group_id),
        Role::Router.common_name(group_id),
    ];
    json!({
        "enabled": true,
        "default_permission": "deny",
        "rules": [
            { "id": "agent-answers", "permission": "allow", "flows": ["ingress"],
              "messages": ["declare_queryable", "reply"], "key_exprs": [keys.open("*")] },
            { "id": "agent-says", "permission": "allow", "flows": ["ingress"],
              "messages": ["put"], "key_exprs": [keys.up("*", "*", "*"), keys.gone("*")] },
            { "id": "agent-hears", "permission": "allow", "flows": ["ingress"],
              "messages": ["declare_subscriber"], "key_exprs": [keys.down("*", "*")] },
            { "id": "agent-lives", "permission": "allow", "flows": ["ingress"],
              "messages": ["liveliness_token"], "key_exprs": [keys.alive("*", "*")] },
            { "id": "agent-watches", "permission": "allow", "flows": ["ingress"],
              "messages": ["declare_liveliness_subscriber", "liveliness_query"],
              "key_exprs": [keys.controller("*")] },
            { "id": "to-agent", "permission": "allow", "flows": ["egress"],
              "messages": ["query"], "key_exprs": [keys.open("*")] },
            { "id": "orders-to-agent", "permission": "allow", "flows": ["egress"],
              "messages": ["put"], "key_exprs": [keys.down("*", "*")] },
            { "id": "controllers-to-agent", "permission": "allow", "flows": ["egress"],
              "messages": ["liveliness_token"], "key_exprs": [keys.controller("*")] },
            { "id": "all", "permission": "allow", "flows": ["ingress", "egress"],
              "messages": ["put", "delete", "declare_subscriber", "query", "reply",
                           "declare_queryable", "liveliness_token", "liveliness_query",
                           "declare_liveliness_subscriber"],
              "key_exprs": [keys.all()] },
        ],
        "subjects": [
            { "id": "agents", "cert_common_names": [Role::Agent.common_name(group_id)] },
            { "id": "controllers", "cert_common_names": controllers },
        ],
        "policies": [
            { "rules": ["agent-answers", "agent-says", "agent-hears", "agent-lives",
                        "agent-watches", "to-agent", "orders-to-agent", "controllers-to-agent"],
              "subjects": ["agents"] },
            { "rules": ["all"], "subjects": ["controllers"] },
        ],
    })
}

fn config(all: &Value) -> Result<Config, GroupError> {
    Config::from_json5(&all.to_string())
        .map_err(|error| GroupError::network(Text::new("error-group-settings"), error))
}

/// RFC 4648 §4, with padding.
fn base64_of(bytes: &[u8]) -> String {
    const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut out = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for group in bytes.chunks(3) {
        let bits =
            group.iter().fold(0u32, |all, &b| all << 8 | u32::from(b)) << (8 * (3 - group.len()));
        for place in 0..4 {
            match place <= group.len() {
                true => out.push(ALPHABET[(bits >> (18 - 6 * place)) as usize & 63] as char),
                false => out.push('='),
            }
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn base64_is_that_of_rfc_4648() {
        for (plain, coded) in [
            ("", ""),
            ("f", "Zg=="),
            ("fo", "Zm8="),
            ("foo", "Zm9v"),
            ("foobar", "Zm9vYmFy"),
        ] {
            assert_eq!(base64_of(plain.as_bytes()), coded);
        }
    }
}
