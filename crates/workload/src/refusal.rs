//! Refusals: how a host says that its part cannot be done.

use std::io;
use std::net::SocketAddr;
use std::thread::JoinHandle;

use sokudo_model::{Refusal, Text};

/// A refusal for the operator: the order cannot be carried out as it is.
pub fn operator(says: impl Into<Text>, hint: impl Into<Text>) -> Refusal {
    Refusal {
        operator_error: true,
        says: says.into(),
        hint: Some(hint.into()),
    }
}

/// A refusal of something possible that failed on this host.
pub fn failed(says: impl Into<Text>, hint: Option<Text>) -> Refusal {
    Refusal {
        operator_error: false,
        says: says.into(),
        hint,
    }
}

/// The end of something that had not begun when the operator ended it.
pub fn interrupted() -> Refusal {
    failed(Text::new("error-interrupted"), None)
}

/// An address that did not prove, before any load, that it takes part in the run.
pub fn unproven(peer: &str, error: &io::Error) -> Refusal {
    failed(
        Text::new("error-unproven")
            .with("peer", peer)
            .with("why", error),
        Some(Text::new("error-unproven-hint")),
    )
}

/// An address on which this host cannot listen, with a hint by kind of failure.
pub fn cannot_bind(address: SocketAddr, error: &io::Error) -> Refusal {
    let hint = match error.kind() {
        io::ErrorKind::AddrInUse => Text::new("error-cannot-listen-hint-in-use"),
        io::ErrorKind::AddrNotAvailable => Text::new("error-cannot-listen-hint-foreign"),
        io::ErrorKind::PermissionDenied => Text::new("error-cannot-listen-hint-root"),
        _ => Text::new("error-cannot-listen-hint"),
    };
    let says = Text::new("error-cannot-listen");
    operator(says.with("address", address).with("error", error), hint)
}

/// Options as another host, or this one, wrote them.
///
/// Errors: name the field that cannot be read, or say that they are no object.
pub fn read_options<T: serde::de::DeserializeOwned>(name: &str, text: &str) -> Result<T, Refusal> {
    // Values without their names would be read in the order of the fields, and pass the check of ranges, which goes
    // by names.
    let begun = text.trim_start();
    let read = match begun.starts_with('{') {
        true => crate::json::read(text),
        false => {
            let before = &text[..text.len() - begun.len()];
            let line = 1 + before.matches('\n').count();
            Err(format!("expected an object at line {line}"))
        }
    };
    read.map_err(|error| {
        let says = Text::new("error-options-unreadable");
        operator(
            says.word("workload", name).with("error", error),
            Text::new("error-hint-same-version"),
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
                Text::new("error-no-thread").with("error", error),
                Some(Text::new("error-no-thread-hint")),
            )
        })
}
