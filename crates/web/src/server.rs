//! Accepts connections and bounds the resources of each.
//!
//! One thread with a small event loop serves all pages. The time for a request and the number of
//! connections are bounded. When all places are taken, the oldest connection that is not being answered
//! makes room for a new one: nobody can lock others out, and an order to stop always gets in.

use std::io;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use axum::Extension;
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use sokudo_model::Text;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::oneshot;

use crate::api::{HOLDING_MAX, Serving, behind, router};
use crate::desk::Desk;
use crate::feed::Feed;
use crate::guard::{Guard, new_token};
use crate::seats::Seats;

/// Connections at a time. Fewer than those can hold their place, so that others, such as one that brings the
/// order to stop, always find one.
const CONNECTIONS_MAX: usize = 128;
const _: () = assert!(HOLDING_MAX < CONNECTIONS_MAX);
/// Time to send the head of a request.
const HEAD_BOUND: Duration = Duration::from_secs(10);
/// Largest head of a request, bytes.
const HEAD_BYTES_MAX: usize = 32 << 10;
/// Headers of a request.
const HEADERS_MAX: usize = 64;
/// Pause after an error of the listening socket, such as too many open files.
const ACCEPT_PAUSE: Duration = Duration::from_millis(100);

/// The error when the page cannot be served.
#[derive(Debug, thiserror::Error)]
pub enum WebError {
    /// The address cannot be listened on.
    #[error("the page cannot be served on `{at}`: {error}")]
    Listen {
        /// Address.
        at: SocketAddr,
        /// The system's error.
        error: io::Error,
    },
    /// The system gives no threads or no randomness.
    #[error("the page cannot be served: {0}")]
    System(io::Error),
}

impl WebError {
    /// The sentence for the operator.
    pub fn text(&self) -> Text {
        match self {
            Self::Listen { at, error } => Text::new("error-web-listen")
                .with("at", at)
                .with("error", error),
            Self::System(error) => Text::new("error-web-system").with("error", error),
        }
    }
}

/// For what callers need a key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Keyed {
    /// For everything.
    All,
    /// For what changes something.
    Orders,
    /// For nothing: only loopback may be served so.
    Nothing,
}

/// A page that is being served; it ends when this is dropped.
#[derive(Debug)]
pub struct Server {
    at: SocketAddr,
    token: Option<String>,
    stop: Option<oneshot::Sender<()>>,
    thread: Option<std::thread::JoinHandle<()>>,
}

/// Serves the page `at` an address, port 0 for any; a token is required beyond loopback, and on it
/// when `token` is true. `name` is this host's own name.
///
/// Errors: the address is taken or not this host's.
pub fn open(
    at: SocketAddr,
    token: bool,
    name: &str,
    (feed, desk): (Feed, Arc<dyn Desk>),
    runs: PathBuf,
) -> Result<Server, WebError> {
    let keyed = match token || !at.ip().is_loopback() {
        true => Keyed::All,
        false => Keyed::Nothing,
    };
    let app = router(Serving::new(feed, desk, runs));
    serve_app(at, keyed, name, app)
}

/// Serves an app `at` an address, port 0 for any, to those who have the key where one is required.
/// `name` is this host's own name.
///
/// Errors: the address is taken or not this host's.
pub fn serve_app(
    at: SocketAddr,
    keyed: Keyed,
    name: &str,
    app: axum::Router,
) -> Result<Server, WebError> {
    let listen = |error| WebError::Listen { at, error };
    let listener = std::net::TcpListener::bind(at).map_err(listen)?;
    listener.set_nonblocking(true).map_err(listen)?;
    let at = listener.local_addr().map_err(listen)?;
    let token = match keyed {
        Keyed::All | Keyed::Orders => {
            Some(new_token().map_err(|_| WebError::System(io::Error::other("no randomness")))?)
        }
        Keyed::Nothing => None,
    };
    let guard = Guard::new(at, token.clone(), vec![name.to_owned()]);
    let guard = match keyed {
        Keyed::Orders => guard.for_orders(),
        Keyed::All | Keyed::Nothing => guard,
    };
    let app = behind(guard, app);
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_io()
        .enable_time()
        .max_blocking_threads(4)
        .build()
        .map_err(WebError::System)?;
    let (stop, stopped) = oneshot::channel();
    let thread = std::thread::Builder::new()
        .name("sokudo-web".into())
        .spawn(move || {
            runtime.block_on(async move {
                let Ok(listener) = TcpListener::from_std(listener) else {
                    return;
                };
                tokio::select! {
                    () = accept(listener, app) => {}
                    _ = stopped => {}
                }
            });
        })
        .map_err(WebError::System)?;
    Ok(Server {
        at,
        token,
        stop: Some(stop),
        thread: Some(thread),
    })
}

impl Server {
    /// Address that is listened on.
    pub fn at(&self) -> SocketAddr {
        self.at
    }

    /// Token that callers must show where a key is required.
    pub fn token(&self) -> Option<&str> {
        self.token.as_deref()
    }

    /// Address to open in a browser; contains the token where one is required. `host` stands in for an
    /// unspecified address.
    pub fn url(&self, host: &str) -> String {
        let place = match (self.at.ip().is_unspecified(), host.contains(':')) {
            (true, true) => format!("[{host}]:{}", self.at.port()),
            (true, false) => format!("{host}:{}", self.at.port()),
            (false, _) => self.at.to_string(),
        };
        match &self.token {
            Some(token) => format!("http://{place}/?token={token}"),
            None => format!("http://{place}/"),
        }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // Both ends of the channel may be gone when the thread has ended by itself.
        let _ = self.stop.take().map(|stop| stop.send(()));
        let _ = self.thread.take().map(std::thread::JoinHandle::join);
    }
}

async fn accept(listener: TcpListener, app: axum::Router) {
    let seats = Arc::new(Seats::new(CONNECTIONS_MAX));
    loop {
        let Ok((stream, from)) = listener.accept().await else {
            tokio::time::sleep(ACCEPT_PAUSE).await;
            continue;
        };
        // All others are being answered: this one is hung up on.
        let Some(seat) = Seats::take(&seats, from.ip()) else {
            continue;
        };
        let service = TowerToHyperService::new(app.clone().layer(Extension(seat.clone())));
        tokio::spawn(async move {
            tokio::select! {
                () = serve(stream, service) => {}
                () = seat.taken_away() => {}
            }
        });
    }
}

async fn serve(stream: TcpStream, service: TowerToHyperService<axum::Router>) {
    // Small answers must not wait for the next ones.
    let _ = stream.set_nodelay(true);
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(HEAD_BOUND)
        .max_buf_size(HEAD_BYTES_MAX)
        .max_headers(HEADERS_MAX)
        .serve_connection(TokioIo::new(stream), service);
    // A caller that disconnects or violates HTTP has been answered as far as possible.
    let _ = connection.await;
}
