//! The addresses that the server answers, and the methods that each accepts.
//!
//! | address | answer |
//! |---|---|
//! | `GET /` | the page; with `?token=…` the cookie first |
//! | `GET /ui/web.js`, `/ui/web.css` | its script and style |
//! | `GET /api/events` | a snapshot, then what changes, as server-sent events |
//! | `POST /api/order` | 202, or 409 with the reason |
//! | `POST /api/script` | a script for the hosts that are known |
//! | `POST /api/check` | what is wrong with a script |
//! | `POST /api/steer` | 202: other load from now on |
//! | `POST /api/stop` | 202: what is under way ends |
//! | `GET /api/records`, `/api/records/{id}/tracks` | the newest records; the tracks of one |
//! | `GET /api/records/{id}/order` | the order that a record came of |
//! | `GET /records/{id}/report` | its report, in an origin of its own |

use std::fs::File;
use std::io::Read as _;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use axum::body::{Body, Bytes, to_bytes};
use axum::extract::{Path, Request, State};
use axum::http::header::{
    CACHE_CONTROL, CONNECTION, CONTENT_LENGTH, CONTENT_SECURITY_POLICY, CONTENT_TYPE, LOCATION,
    REFERRER_POLICY, SET_COOKIE, X_CONTENT_TYPE_OPTIONS, X_FRAME_OPTIONS,
};
use axum::http::{HeaderName, HeaderValue, StatusCode};
use axum::middleware::{self, Next};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use axum::{Extension, Router};
use futures_util::stream;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::json;
use sokudo_model::{Change, Refusal, Text};
use tokio::sync::Semaphore;

use crate::desk::{Desk, Emit, Language, NotTaken, Order, refusal};
use crate::feed::Feed;
use crate::guard::{Denied, Guard};
use crate::places::{Places, WAITING_MAX};
use crate::records::{self, NotShown};
use crate::seats::Seat;
use crate::uploads::{SMALL_BYTES, Upload, Uploads};
use crate::{events, page};

/// Largest body of an order, bytes: the longest script.
const BODY_BYTES_MAX: usize = 11 << 20;
/// Time for the body of an order, so that a caller that never ends one does not occupy a place for long.
const BODY_BOUND: Duration = Duration::from_secs(30);
/// Bytes of a report that are read at a time.
const PIECE_BYTES: usize = 256 << 10;
/// Pages that may listen at a time.
const LISTENERS_MAX: usize = 32;
/// Records that are read at a time.
const READERS_MAX: usize = 2;
/// Scripts that are read at a time.
const CHECKERS_MAX: usize = 1;
/// Orders that are read at a time.
const TAKERS_MAX: usize = 1;
/// Connections that hold their place at a time: pages that listen, work under way, and who waits for it.
pub(crate) const HOLDING_MAX: usize =
    LISTENERS_MAX + READERS_MAX + CHECKERS_MAX + TAKERS_MAX + 3 * WAITING_MAX;

/// Context of every answer.
#[derive(Clone)]
pub struct Serving {
    pub feed: Feed,
    pub desk: Arc<dyn Desk>,
    /// Directory of the records.
    pub runs: Arc<PathBuf>,
    document: Arc<String>,
    listeners: Arc<Semaphore>,
    readers: Places,
    checkers: Places,
    takers: Places,
    uploads: Arc<Uploads>,
}

impl Serving {
    pub fn new(feed: Feed, desk: Arc<dyn Desk>, runs: PathBuf) -> Self {
        Self {
            feed,
            desk,
            runs: Arc::new(runs),
            document: Arc::new(page::document()),
            listeners: Arc::new(Semaphore::new(LISTENERS_MAX)),
            readers: Places::new(READERS_MAX),
            checkers: Places::new(CHECKERS_MAX),
            takers: Places::new(TAKERS_MAX),
            uploads: Arc::default(),
        }
    }
}

/// Everything that is answered.
pub fn router(serving: Serving) -> Router {
    Router::new()
        .route("/", get(document))
        .route("/ui/web.js", get(script))
        .route("/ui/web.css", get(style))
        .route("/api/events", get(listen))
        .route("/api/order", post(order))
        .route("/api/script", post(emit))
        .route("/api/check", post(check))
        .route("/api/steer", post(steer))
        .route("/api/stop", post(stop))
        .route("/api/records", get(list))
        .route("/api/records/{id}/tracks", get(tracks))
        .route("/api/records/{id}/order", get(order_of))
        .route("/records/{id}/report", get(report))
        .fallback(nothing)
        .with_state(serving)
}

/// An app that only those reach whom the guard lets in.
pub fn behind(guard: Guard, app: Router) -> Router {
    app.layer(middleware::from_fn_with_state(Arc::new(guard), guarded))
}

/// Refuses callers without permission, and adds the headers that bound what a page may do.
async fn guarded(
    State(guard): State<Arc<Guard>>,
    Extension(seat): Extension<Seat>,
    request: Request,
    next: Next,
) -> Response {
    let (method, headers) = (request.method(), request.headers());
    let token = (request.uri().path() == "/")
        .then(|| token_of(request.uri().query()))
        .flatten();
    let mut response = match token {
        Some(token) => match guard.check_place(method, headers) {
            Ok(()) if guard.opens(token) => enter(&guard, token),
            Ok(()) => denied(Denied::Token),
            Err(why) => denied(why),
        },
        None => match guard.check(method, headers) {
            Ok(()) => {
                let _answering = seat.answering();
                let request = request.map(|body| Body::new(seat.arriving(body)));
                next.run(request).await
            }
            Err(why) => denied(why),
        },
    };
    protect(&mut response);
    response
}

fn token_of(query: Option<&str>) -> Option<&str> {
    let mut pairs = query?.split('&').filter_map(|pair| pair.split_once('='));
    pairs.find_map(|(name, value)| (name == "token").then_some(value))
}

/// Puts the token into a cookie that no script can read, and out of the address.
fn enter(guard: &Guard, token: &str) -> Response {
    let name = guard.cookie_name();
    let cookie = format!("{name}={token}; Path=/; HttpOnly; SameSite=Strict");
    let Ok(cookie) = HeaderValue::from_str(&cookie) else {
        return denied(Denied::Token);
    };
    let to = HeaderValue::from_static("/");
    (
        StatusCode::SEE_OTHER,
        [(SET_COOKIE, cookie), (LOCATION, to)],
    )
        .into_response()
}

/// A refusal; who may not ask keeps no place by waiting.
fn denied(why: Denied) -> Response {
    let close = [(CONNECTION, HeaderValue::from_static("close"))];
    (why.status(), close, format!("{}\n", why.says())).into_response()
}

fn protect(response: &mut Response) {
    let headers = response.headers_mut();
    let fixed: [(HeaderName, &'static str); 4] = [
        (X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (REFERRER_POLICY, "no-referrer"),
        (CACHE_CONTROL, "no-store"),
        (
            HeaderName::from_static("cross-origin-opener-policy"),
            "same-origin",
        ),
    ];
    for (name, value) in fixed {
        headers.insert(name, HeaderValue::from_static(value));
    }
    if !headers.contains_key(CONTENT_SECURITY_POLICY) {
        let policy = HeaderValue::from_static(page::POLICY);
        headers.insert(CONTENT_SECURITY_POLICY, policy);
        headers.insert(X_FRAME_OPTIONS, HeaderValue::from_static("DENY"));
    }
}

fn typed(content: impl Into<Body>, kind: &'static str) -> Response {
    ([(CONTENT_TYPE, kind)], content.into()).into_response()
}

async fn document(State(serving): State<Serving>) -> Response {
    typed(
        serving.document.as_str().to_owned(),
        "text/html; charset=utf-8",
    )
}

async fn script() -> Response {
    typed(page::SCRIPT, "text/javascript; charset=utf-8")
}

async fn style() -> Response {
    typed(page::STYLE, "text/css; charset=utf-8")
}

async fn nothing(State(serving): State<Serving>) -> Response {
    let why = refusal(
        Text::new("error-web-nothing-here"),
        Text::new("error-web-nothing-here-hint"),
    );
    answer_refusal(&serving, StatusCode::NOT_FOUND, &why)
}

async fn listen(State(serving): State<Serving>, Extension(seat): Extension<Seat>) -> Response {
    match Arc::clone(&serving.listeners).try_acquire_owned() {
        Ok(place) => events::listen(serving.feed, (place, seat.answering())).into_response(),
        Err(_) => {
            let says = Text::new("error-web-pages").with("most", LISTENERS_MAX);
            let why = refusal(says, Text::new("error-web-pages-hint"));
            answer_refusal(&serving, StatusCode::SERVICE_UNAVAILABLE, &why)
        }
    }
}

async fn order(State(serving): State<Serving>, request: Request) -> Response {
    let (order, upload): (Order, _) = match read(&serving, request).await {
        Ok(read) => read,
        Err(response) => return response,
    };
    let Some(place) = serving.takers.take().await else {
        return busy(&serving);
    };
    // Plans may be long: they are read beside the thread that answers.
    let desk = Arc::clone(&serving.desk);
    let taken = tokio::task::spawn_blocking(move || {
        // A long order holds its place also while it waits to be read.
        let _places = (place, upload);
        desk.order(order)
    });
    match taken.await {
        Ok(Ok(())) => StatusCode::ACCEPTED.into_response(),
        Ok(Err(not)) => answer_not_taken(&serving, &not),
        Err(_) => StatusCode::INTERNAL_SERVER_ERROR.into_response(),
    }
}

async fn emit(State(serving): State<Serving>, request: Request) -> Response {
    let asked: Emit = match read(&serving, request).await {
        Ok((asked, _)) => asked,
        Err(response) => return response,
    };
    match serving.desk.emit(&asked) {
        Ok(text) => axum::Json(json!({ "text": text })).into_response(),
        Err(why) => answer_refusal(&serving, StatusCode::CONFLICT, &why),
    }
}

/// A script that is to be read.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Script {
    language: Language,
    text: String,
}

async fn check(State(serving): State<Serving>, request: Request) -> Response {
    let (script, upload): (Script, _) = match read(&serving, request).await {
        Ok(read) => read,
        Err(response) => return response,
    };
    // A long script takes seconds: one is read at a time, beside the thread that answers.
    let Some(place) = serving.checkers.take().await else {
        return busy(&serving);
    };
    let desk = Arc::clone(&serving.desk);
    let checked = tokio::task::spawn_blocking(move || {
        // A long script holds its place also while it waits to be read.
        let _places = (place, upload);
        desk.check(script.language, &script.text)
    });
    match checked.await {
        Ok(mistakes) => axum::Json(json!({ "mistakes": mistakes })).into_response(),
        Err(_) => StatusCode::INTERNAL_SERVER_ERROR.into_response(),
    }
}

async fn steer(State(serving): State<Serving>, request: Request) -> Response {
    let change: Change = match read(&serving, request).await {
        Ok((change, _)) => change,
        Err(response) => return response,
    };
    match serving.desk.steer(change) {
        Ok(()) => StatusCode::ACCEPTED.into_response(),
        Err(why) => answer_refusal(&serving, StatusCode::CONFLICT, &why),
    }
}

async fn stop(State(serving): State<Serving>) -> Response {
    match serving.desk.stop() {
        true => StatusCode::ACCEPTED.into_response(),
        false => {
            let why = refusal(
                Text::new("error-web-idle"),
                Text::new("error-web-idle-hint"),
            );
            answer_refusal(&serving, StatusCode::CONFLICT, &why)
        }
    }
}

async fn list(State(serving): State<Serving>) -> Response {
    let rows = from_store(&serving, records::list).await;
    rows.map_or_else(|response| response, |rows| axum::Json(rows).into_response())
}

async fn tracks(State(serving): State<Serving>, Path(id): Path<String>) -> Response {
    let lines = from_store(&serving, move |runs| records::tracks(runs, &id)).await;
    lines.map_or_else(
        |response| response,
        |lines| axum::Json(lines).into_response(),
    )
}

async fn order_of(State(serving): State<Serving>, Path(id): Path<String>) -> Response {
    let order = from_store(&serving, move |runs| records::order(runs, &id)).await;
    order.map_or_else(
        |response| response,
        |order| axum::Json(order).into_response(),
    )
}

async fn report(State(serving): State<Serving>, Path(id): Path<String>) -> Response {
    let (file, length) = match from_store(&serving, move |runs| records::report(runs, &id)).await {
        Ok(found) => found,
        Err(response) => return response,
    };
    let mut response = typed(in_pieces(file), "text/html; charset=utf-8");
    let length = HeaderValue::from(length);
    response.headers_mut().insert(CONTENT_LENGTH, length);
    let policy = HeaderValue::from_static(page::REPORT_POLICY);
    response
        .headers_mut()
        .insert(CONTENT_SECURITY_POLICY, policy);
    response
}

/// A file as a body, of which one piece is in memory at a time.
fn in_pieces(file: File) -> Body {
    let piece = |mut file: File| {
        let mut piece = vec![0; PIECE_BYTES];
        let length = file.read(&mut piece)?;
        piece.truncate(length);
        Ok((length > 0).then(|| (Bytes::from(piece), file)))
    };
    Body::from_stream(stream::try_unfold(file, move |file| async move {
        let read = tokio::task::spawn_blocking(move || piece(file));
        read.await
            .unwrap_or_else(|error| Err(std::io::Error::other(error)))
    }))
}

/// Reads from disk beside the threads that answer, a few readers at a time.
async fn from_store<T: Send + 'static>(
    serving: &Serving,
    read: impl FnOnce(&std::path::Path) -> Result<T, NotShown> + Send + 'static,
) -> Result<T, Response> {
    let broken = |says: Text| {
        let why = refusal(says, Text::new("error-web-record-hint"));
        answer_refusal(serving, StatusCode::INTERNAL_SERVER_ERROR, &why)
    };
    let Some(place) = serving.readers.take().await else {
        return Err(busy(serving));
    };
    let runs = Arc::clone(&serving.runs);
    let done = tokio::task::spawn_blocking(move || {
        let _place = place;
        read(&runs)
    });
    match done.await {
        Ok(Ok(value)) => Ok(value),
        Ok(Err(NotShown::Unknown { id })) => {
            let says = Text::new("error-web-no-record").word("id", id);
            let why = refusal(says, Text::new("error-web-no-record-hint"));
            Err(answer_refusal(serving, StatusCode::NOT_FOUND, &why))
        }
        Ok(Err(NotShown::Store(error))) => Err(broken(error.says())),
        Err(_) => Err(broken(Text::new("error-web-record"))),
    }
}

/// Reads a body of JSON; a large one holds its place as long as what is returned beside it.
async fn read<T: DeserializeOwned>(
    serving: &Serving,
    request: Request,
) -> Result<(T, Option<Upload>), Response> {
    let bad = |status, says: Text| {
        let why = refusal(says, Text::new("error-web-order-hint"));
        answer_refusal(serving, status, &why)
    };
    let is_json = |value: &HeaderValue| value.as_bytes().starts_with(b"application/json");
    if !request.headers().get(CONTENT_TYPE).is_some_and(is_json) {
        let says = Text::new("error-web-order-json");
        return Err(bad(StatusCode::UNSUPPORTED_MEDIA_TYPE, says));
    }
    let too_large = || {
        let says = Text::new("error-web-order-long").with("mib", BODY_BYTES_MAX >> 20);
        bad(StatusCode::PAYLOAD_TOO_LARGE, says)
    };
    let said = request.headers().get(CONTENT_LENGTH);
    let said = said.and_then(|value| value.to_str().ok()?.parse::<usize>().ok());
    if said.is_some_and(|said| said > BODY_BYTES_MAX) {
        return Err(too_large());
    }
    // Without a length it may become a large one.
    let place = match said.is_some_and(|said| said <= SMALL_BYTES) {
        true => None,
        false => {
            let from = request.extensions().get::<Seat>().map(Seat::from);
            let place = from.and_then(|from| Uploads::begin(&serving.uploads, from));
            Some(place.ok_or_else(|| {
                let says = Text::new("error-web-orders");
                bad(StatusCode::SERVICE_UNAVAILABLE, says)
            })?)
        }
    };
    let body = match within(BODY_BOUND, request.into_body()).await {
        Some(body) => body.map_err(|_| too_large())?,
        None => {
            let says = Text::new("error-web-order-cut");
            return Err(bad(StatusCode::REQUEST_TIMEOUT, says));
        }
    };
    let read = serde_json::from_slice(&body).map_err(|error| {
        let says = Text::new("error-web-order").with("error", error);
        bad(StatusCode::BAD_REQUEST, says)
    });
    Ok((read?, place))
}

/// A whole body; `None` when it takes longer than `bound`.
async fn within(bound: Duration, body: Body) -> Option<Result<Bytes, axum::Error>> {
    let whole = to_bytes(body, BODY_BYTES_MAX);
    tokio::time::timeout(bound, whole).await.ok()
}

/// As many requests of this kind wait as may.
fn busy(serving: &Serving) -> Response {
    let why = refusal(
        Text::new("error-web-busy"),
        Text::new("error-web-busy-hint"),
    );
    answer_refusal(serving, StatusCode::SERVICE_UNAVAILABLE, &why)
}

fn answer_refusal(serving: &Serving, status: StatusCode, why: &Refusal) -> Response {
    let both = |text| serving.feed.both(text);
    let body = json!({ "says": both(&why.says), "hint": why.hint.as_ref().map(both) });
    (status, axum::Json(body)).into_response()
}

/// Also says which field was wrong, and where in it.
fn answer_not_taken(serving: &Serving, not: &NotTaken) -> Response {
    let both = |text| serving.feed.both(text);
    let body = json!({
        "says": both(&not.why.says),
        "hint": not.why.hint.as_ref().map(both),
        "field": not.field,
        "mistakes": not.mistakes,
    });
    (StatusCode::CONFLICT, axum::Json(body)).into_response()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A body that never arrives.
    struct Never;

    impl axum::body::HttpBody for Never {
        type Data = Bytes;
        type Error = std::convert::Infallible;

        fn poll_frame(
            self: std::pin::Pin<&mut Self>,
            _: &mut std::task::Context<'_>,
        ) -> std::task::Poll<Option<Result<hyper::body::Frame<Bytes>, Self::Error>>> {
            std::task::Poll::Pending
        }
    }

    #[test]
    fn a_body_that_does_not_end_is_not_waited_for() {
        let mut runtime = tokio::runtime::Builder::new_current_thread();
        let runtime = runtime.enable_time().build().expect("a runtime");
        let bound = Duration::from_millis(10);
        runtime.block_on(async {
            assert!(within(bound, Body::new(Never)).await.is_none());
            let whole = within(Duration::MAX, Body::from("{}")).await;
            assert_eq!(whole.expect("in time").expect("a body"), "{}");
        });
    }
}
