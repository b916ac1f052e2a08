//! Substitute for systems without network namespaces: none can be created or entered.

use std::convert::Infallible;
use std::io;
use std::net::IpAddr;
use std::process::{Child, Command};
use std::thread::JoinHandle;
use std::time::Duration;

use sokudo_model::Text;

use super::NetnsError;

/// A namespace that cannot exist here.
#[derive(Debug)]
pub struct Namespace(Infallible);

impl Namespace {
    /// Always an error: this system has no network namespaces.
    pub fn new() -> Result<Self, NetnsError> {
        Err(none())
    }

    /// Never called: there is no value to call it on.
    pub fn spawn<T, F>(&self, _name: &str, _f: F) -> Result<JoinHandle<T>, NetnsError>
    where
        T: Send + 'static,
        F: FnOnce() -> T + Send + 'static,
    {
        match self.0 {}
    }

    /// Never called: there is no value to call it on.
    pub fn run(
        &self,
        _program: &'static str,
        _options: &'static [&'static str],
        _batch: String,
    ) -> Result<String, NetnsError> {
        match self.0 {}
    }
}

fn none() -> NetnsError {
    NetnsError::new(
        Text::new("error-netns-absent"),
        Text::new("error-netns-absent-hint"),
    )
}

/// A starter of programs that cannot exist here.
#[derive(Debug)]
pub struct Starter(Infallible);

impl Starter {
    /// Never called: there is no host to call it with.
    pub fn new(
        host: &Namespace,
        _name: &str,
        _known: &[(IpAddr, &str)],
    ) -> Result<Self, NetnsError> {
        match host.0 {}
    }

    /// Never called: there is no value to call it on.
    pub fn start(&self, _command: Command) -> io::Result<Child> {
        match self.0 {}
    }
}

/// Always an error: no process of this system has local hosts.
pub fn become_program(_process: u32, _starter: &str, _command: Command) -> NetnsError {
    none()
}

/// Never called: there is no value to call it with.
pub fn join(hub: &Namespace, _hosts: &[Namespace], _mtu: Option<u32>) -> Result<(), NetnsError> {
    match hub.0 {}
}

/// A link that cannot exist here.
#[derive(Debug)]
pub struct Carried(Infallible);

impl Carried {
    /// Always an error: this system has no such links.
    pub fn new(_name: &str) -> io::Result<Self> {
        Err(io::ErrorKind::Unsupported.into())
    }

    /// Never called: there is no value to call it on.
    pub fn read(&self, _buffer: &mut [u8], _patience: Duration) -> io::Result<Option<usize>> {
        match self.0 {}
    }

    /// Never called: there is no value to call it on.
    pub fn write(&self, _packet: &[u8]) -> io::Result<usize> {
        match self.0 {}
    }
}
