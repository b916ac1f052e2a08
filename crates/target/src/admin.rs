//! The admin port: tells the state of all stages, and changes knobs.
//!
//! | address | answer |
//! |---|---|
//! | `GET /stats` | all stages as JSON |
//! | `GET /metrics` | the same for Prometheus |
//! | `GET /knobs` | all settings, and the changes that can be undone |
//! | `POST /set` | `{"pool.max": "50"}`: the changes, with old and new values; 409 with the reason |
//! | `POST /restore` | `{"to": 0}`: undoes all changes after that number |
//! | `POST /hold` | `{"by": "knee"}`: begins a hold and tells its number; 409 when another one goes on |
//! | `POST /held/set` | `{"hold": 1, "knobs": {"pool.max": "50"}}`: as `/set`, and renews the hold |
//! | `POST /held/release` | `{"hold": 1}`: ends it and undoes its changes |
//!
//! It has a thread of its own and shares nothing with the threads that carry requests out but the locks
//! of their counters, so that it answers when all of them are busy.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::sync::Arc;

use axum::extract::State;
use axum::http::StatusCode;
use axum::http::header::CONTENT_TYPE;
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use axum::{Json, Router};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use sokudo_model::Text;
use sokudo_web::{Keyed, Server, WebError};

use crate::journal::{Change, typed};
use crate::metrics;
use crate::pool::shown;
use crate::server::Core;
use crate::settings::BadSetting;

/// All settings, and what can be undone.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Knobs {
    /// Every setting by name.
    pub settings: BTreeMap<String, Value>,
    /// Changes since the start that were not undone.
    pub changes: Vec<Change>,
}

/// A refusal.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Refused {
    /// Error message.
    pub says: Text,
    /// Hint for mending it.
    pub hint: Text,
}

/// Up to which change all is undone.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct To {
    /// Number of the last change that stays.
    pub(crate) to: u64,
}

/// Applicant for the knobs.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct By {
    /// Name, for those who find them held.
    pub(crate) by: String,
}

/// A hold, and what is to change under it.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Held {
    /// Its number.
    pub(crate) hold: u64,
    /// Knobs and their values; none only renews it.
    #[serde(default)]
    pub(crate) knobs: serde_json::Map<String, Value>,
}

/// Serves the admin port; returns it with the key that changes need.
pub(crate) fn open(core: &Arc<Core>, at: SocketAddr) -> Result<(Server, String), WebError> {
    let app = Router::new()
        .route("/stats", get(stats))
        .route("/metrics", get(exposition))
        .route("/knobs", get(knobs))
        .route("/set", post(set))
        .route("/restore", post(restore))
        .route("/hold", post(hold))
        .route("/held/set", post(set_held))
        .route("/held/release", post(release))
        .with_state(Arc::clone(core));
    let keyed = match at.ip().is_loopback() {
        true => Keyed::Orders,
        false => Keyed::All,
    };
    let server = sokudo_web::serve_app(at, keyed, "localhost", app)?;
    let token = server.token().unwrap_or_default().to_owned();
    Ok((server, token))
}

async fn stats(State(core): State<Arc<Core>>) -> Response {
    Json(core.stats().0).into_response()
}

async fn exposition(State(core): State<Arc<Core>>) -> Response {
    let (stats, distributions) = core.stats();
    let text = metrics::text(&stats, &distributions);
    ([(CONTENT_TYPE, metrics::KIND)], text).into_response()
}

async fn knobs(State(core): State<Arc<Core>>) -> Response {
    let live = core.live.get();
    let mut settings: BTreeMap<String, Value> = live.all().into_iter().collect();
    settings.insert("pool.url".into(), shown(&live.pool.url).into());
    let changes = core.changes();
    Json(Knobs { settings, changes }).into_response()
}

async fn set(
    State(core): State<Arc<Core>>,
    Json(wanted): Json<serde_json::Map<String, Value>>,
) -> Response {
    answer(core.change(&pairs(&wanted), None))
}

fn pairs(wanted: &serde_json::Map<String, Value>) -> Vec<(String, String)> {
    let pairs = wanted.iter();
    pairs
        .map(|(key, value)| (key.clone(), typed(value)))
        .collect()
}

async fn hold(State(core): State<Arc<Core>>, Json(By { by }): Json<By>) -> Response {
    answer(core.hold(&by))
}

async fn set_held(State(core): State<Arc<Core>>, Json(held): Json<Held>) -> Response {
    answer(core.change_held(held.hold, &pairs(&held.knobs)))
}

async fn release(State(core): State<Arc<Core>>, Json(held): Json<Held>) -> Response {
    answer(core.release(held.hold))
}

async fn restore(State(core): State<Arc<Core>>, Json(To { to }): Json<To>) -> Response {
    answer(core.restore(to))
}

fn answer(done: Result<impl Serialize, BadSetting>) -> Response {
    match done {
        Ok(done) => Json(done).into_response(),
        Err(bad) => {
            let (says, hint) = (bad.text(), bad.hint());
            (StatusCode::CONFLICT, Json(Refused { says, hint })).into_response()
        }
    }
}
