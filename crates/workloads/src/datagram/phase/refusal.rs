//! How does a host say that its part cannot be done?

use std::io;
use std::net::SocketAddr;

use sokudo_model::Refusal;

pub(super) fn operator(says: impl Into<String>, hint: impl Into<String>) -> Refusal {
    Refusal {
        operator_error: true,
        says: says.into(),
        hint: Some(hint.into()),
    }
}

pub(super) fn failed(says: impl Into<String>, hint: Option<String>) -> Refusal {
    Refusal {
        operator_error: false,
        says: says.into(),
        hint,
    }
}

pub(super) fn cannot_bind(address: SocketAddr, error: &io::Error) -> Refusal {
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
