//! Refusals: how a host says that its part cannot be done.

use std::io;
use std::net::SocketAddr;
use std::thread::JoinHandle;

use sokudo_model::Refusal;

/// A refusal for the operator: the order cannot be carried out as it is.
pub fn operator(says: impl Into<String>, hint: impl Into<String>) -> Refusal {
    Refusal {
        operator_error: true,
        says: says.into(),
        hint: Some(hint.into()),
    }
}

/// A refusal of something possible that failed on this host.
pub fn failed(says: impl Into<String>, hint: Option<String>) -> Refusal {
    Refusal {
        operator_error: false,
        says: says.into(),
        hint,
    }
}

/// An address on which this host cannot listen, with a hint by kind of failure.
pub fn cannot_bind(address: SocketAddr, error: &io::Error) -> Refusal {
    let hint = match error.kind() {
        io::ErrorKind::AddrInUse => {
            "another program uses the port: choose another with --bind, or end that program"
        }
        io::ErrorKind::AddrNotAvailable => {
            "the address does not belong to this host: see `ip addr`"
        }
        io::ErrorKind::PermissionDenied => "ports below 1024 need root: choose a higher one",
        _ => "choose another address with --bind",
    };
    operator(format!("cannot listen on {address}: {error}"), hint)
}

/// Options as another host, or this one, wrote them.
///
/// Errors: name the field that cannot be read.
pub fn read_options<T: serde::de::DeserializeOwned>(name: &str, text: &str) -> Result<T, Refusal> {
    let mut reader = serde_json::Deserializer::from_str(text);
    serde_path_to_error::deserialize(&mut reader).map_err(|error| {
        operator(
            format!("the options of `{name}` cannot be read: {error}"),
            "install the same version of sokudo on all hosts",
        )
    })
}

/// Starts a thread; refuses when the system has none to give.
pub fn spawn<T: Send + 'static>(
    name: &str,
    run: impl FnOnce() -> T + Send + 'static,
) -> Result<JoinHandle<T>, Refusal> {
    std::thread::Builder::new()
        .name(name.into())
        .spawn(run)
        .map_err(|error| {
            failed(
                format!("no thread could be started: {error}"),
                Some("raise the limit on threads (ulimit -u)".into()),
            )
        })
}
