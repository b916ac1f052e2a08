//! Knobs of a sokudo target that a load changes for a time.

use sokudo_controller::{ControlError, Knobs};
use sokudo_model::Text;
use sokudo_target::{Change, HeldKnobs, KeyFile, Remote};

use super::Failure;
use super::observe::ObserveArgs;
use super::target::{self, folder, listed};

/// Time between two looks at the target's queues: runs may be short.
const LOOK: &str = "200ms";

/// Knobs of a target that are held from the first change on.
pub struct TargetKnobs {
    remote: Remote,
    by: &'static str,
    held: Option<HeldKnobs>,
}

impl TargetKnobs {
    /// The knobs of the target that a load is for, and how its queues are observed: the target of
    /// `--monitor target`, else the one at `server`, else the one that was started last on this host.
    ///
    /// Errors: there is none, or it does not answer.
    pub fn of(
        by: &'static str,
        observe: &ObserveArgs,
        server: Option<&(String, u16)>,
    ) -> Result<(Self, ObserveArgs), Failure> {
        let known = KeyFile::all(&folder());
        let at_server = |file: &&KeyFile| {
            server.is_some_and(|(host, port)| {
                let is_host =
                    sokudo_session::is_here(host) || *host == file.server.ip().to_string();
                is_host && *port == file.server.port()
            })
        };
        let named = observe.target_admin()?;
        let meant = named.or_else(|| known.iter().find(at_server).map(|file| file.admin));
        // Nobody's knobs are changed but those of the server that is loaded.
        let remote = match (meant, server) {
            (None, Some((host, port))) => {
                return Err(Failure::operator(
                    Text::new("error-knobs-no-target").word("server", format!("{host}:{port}")),
                    Text::new("error-no-knobs-hint"),
                ));
            }
            (meant, _) => target::remote(meant)?,
        };
        remote.knobs()?;
        let observed = match named {
            Some(_) => observe.clone(),
            None => observe.and(format!("target:at={},interval={LOOK}", remote.at())),
        };
        let knobs = Self {
            remote,
            by,
            held: None,
        };
        Ok((knobs, observed))
    }

    fn changed(&self, pairs: &[(String, String)]) -> Result<Vec<Change>, Failure> {
        let Some(held) = &self.held else {
            return Ok(Vec::new());
        };
        let mut pairs = pairs.to_vec();
        // Connections that are opened at the start are at most as many as the pool has.
        let settings = self.remote.knobs()?.settings;
        let least = settings.get("pool.min").and_then(serde_json::Value::as_u64);
        let most = pairs.iter().find(|(key, _)| key == "pool.max");
        let most: Option<u64> = most.and_then(|(_, value)| value.parse().ok());
        if let (Some(least), Some(most)) = (least, most)
            && least > most
        {
            pairs.push(("pool.min".into(), most.to_string()));
        }
        Ok(held.set(&pairs)?)
    }
}

impl Knobs for TargetKnobs {
    fn set(&mut self, pairs: &[(String, String)]) -> Result<Text, ControlError> {
        if self.held.is_none() {
            let by = format!("{} ({})", self.by, std::process::id());
            let held = HeldKnobs::hold(self.remote.clone(), &by, &folder());
            self.held = Some(held.map_err(|error| refused(error.into()))?);
        }
        let changes = self.changed(pairs).map_err(refused)?;
        Ok(Text::new("engine-knobs-set").word("changes", listed(&changes)))
    }

    fn put_back(&mut self) -> Result<Text, ControlError> {
        let changes = match self.held.take() {
            Some(held) => held.release().map_err(|error| refused(error.into()))?,
            None => Vec::new(),
        };
        Ok(Text::new("engine-knobs-put-back").word("changes", listed(&changes)))
    }

    fn not_put_back(&self) -> &'static str {
        "engine-knobs-not-put-back"
    }
}

fn refused(failure: Failure) -> ControlError {
    ControlError::Operator {
        says: failure.says().clone(),
        hint: failure.hint().cloned(),
    }
}
