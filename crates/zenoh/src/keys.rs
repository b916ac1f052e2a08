//! The key expressions that the parts of a group use.
//!
//! ```text
//! sk/G/a/<agent>/open       query: begin a session; answered with a challenge
//! sk/G/down/<agent>/<session>         frames from the controller
//! sk/G/up/<fleet>/<agent>/<session>   frames from the agent
//! sk/G/alive/<agent>/<labels>   token: the agent is connected, and what is said of it
//! sk/G/gone/<agent>         its process has ended without leaving, with the proof of it
//! sk/G/ctl/<fleet>          token: the controller of these sessions is connected
//! ```
//!
//! `<fleet>` is one connection of a controller, with all its sessions. It subscribes to all of
//! `up/<fleet>` at once, so routers search the subscriptions for every frame: no other keys may be
//! below `up`, because they would be searched as well.

/// Makes the keys of one group.
#[derive(Debug, Clone)]
pub(crate) struct Keys {
    group_id: String,
}

impl Keys {
    pub(crate) fn new(group_id: &str) -> Self {
        Self {
            group_id: group_id.to_owned(),
        }
    }

    fn key(&self, rest: &str) -> String {
        format!("sk/{}/{rest}", self.group_id)
    }

    pub(crate) fn all(&self) -> String {
        self.key("**")
    }

    pub(crate) fn open(&self, agent: &str) -> String {
        self.key(&format!("a/{agent}/open"))
    }

    pub(crate) fn down(&self, agent: &str, session: &str) -> String {
        self.key(&format!("down/{agent}/{session}"))
    }

    pub(crate) fn up(&self, fleet: &str, agent: &str, session: &str) -> String {
        self.key(&format!("up/{fleet}/{agent}/{session}"))
    }

    /// `labels` is one part, as `Labels` writes it, or `*`.
    pub(crate) fn alive(&self, agent: &str, labels: &str) -> String {
        self.key(&format!("alive/{agent}/{labels}"))
    }

    pub(crate) fn gone(&self, agent: &str) -> String {
        self.key(&format!("gone/{agent}"))
    }

    pub(crate) fn controller(&self, fleet: &str) -> String {
        self.key(&format!("ctl/{fleet}"))
    }
}

/// The last two parts of a key: an agent's name and its labels, or its session.
pub(crate) fn last_parts(key: &str) -> Option<(&str, &str)> {
    let (rest, labels) = key.rsplit_once('/')?;
    let (_, agent) = rest.rsplit_once('/')?;
    Some((agent, labels))
}
