//! The files that make a host a member of a group.
//!
//! ```text
//! <config>/members/<name>/member.json   an agent's: its certificate and key, whom to believe
//! <config>/members/<name>/router.json   a site router's: the same
//! ```
//!
//! The private key is made where it stays.

use std::fs;
use std::path::{Path, PathBuf};

use rcgen::KeyPair;
use serde::{Deserialize, Serialize};
use sokudo_wire::join::{Admission, JoinToken, MemberRole};
use sokudo_wire::label::Labels;
use sokudo_wire::life::Life;

use crate::error::GroupError;
use crate::files::{read, write_secret};
use crate::group::{Credentials, certificate};

/// The keys and certificates that an agent or a site's router holds of its group. Secret.
#[derive(Clone, Serialize, Deserialize)]
pub struct Membership {
    pub(crate) admission: Admission,
    private_key: String,
    /// The labels that its owner gave it, as [`Labels`] parses them.
    labels: String,
    pub(crate) door: KnownDoor,
}

/// The door through which a member was admitted, where it renews its certificate.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct KnownDoor {
    /// Ed25519 public key; a server with another key is refused.
    pub(crate) key: [u8; 32],
    /// Its address, `host:port`: the one at which the member was first admitted.
    pub(crate) places: Vec<String>,
}

impl Membership {
    /// A membership with the key that was admitted.
    pub(crate) fn new(admission: Admission, key: &KeyPair, door: KnownDoor) -> Self {
        Self {
            admission,
            private_key: key.serialize_pem(),
            labels: Labels::default().to_string(),
            door,
        }
    }

    /// The same with another certificate; all else stays what its owner made of it.
    pub(crate) fn renewed(&self, again: Admission) -> Self {
        let mut renewed = self.clone();
        renewed.admission.certificate = again.certificate;
        renewed.admission.authority = again.authority;
        renewed.admission.life = again.life;
        renewed
    }

    /// Validity of its certificate.
    pub fn life(&self) -> Life {
        self.admission.life
    }

    /// Sets its labels, in place of earlier ones.
    pub fn set_labels(&mut self, labels: &Labels) {
        self.labels = labels.to_string();
    }

    /// Its labels. A text that was changed by hand and cannot be parsed counts as none.
    pub fn labels(&self) -> Labels {
        self.labels.parse().unwrap_or_default()
    }

    /// Says where the routers are that it dials, in place of what the controller or an earlier word
    /// said: `host:port`, at least one.
    pub fn set_routers(&mut self, routers: Vec<String>) {
        self.admission.routers = routers;
    }

    /// The group's name.
    pub fn group(&self) -> &str {
        &self.admission.group
    }

    /// The agent's own name.
    pub fn agent(&self) -> &str {
        &self.admission.agent
    }

    /// Its role.
    pub fn role(&self) -> MemberRole {
        self.admission.role
    }

    /// Its own key.
    pub(crate) fn key(&self) -> Result<KeyPair, GroupError> {
        KeyPair::from_pem(&self.private_key).map_err(certificate)
    }

    /// The membership of this host, in whatever group, that such a token would renew: of this name, and
    /// with a router or door where the token says.
    pub fn renewed_by(
        config: &Path,
        token: &JoinToken,
        name: &str,
        role: MemberRole,
    ) -> Option<Self> {
        let folders = fs::read_dir(config.join("members")).ok()?;
        let mut all = folders.flatten().filter_map(|folder| {
            // A file that cannot be read is not a membership.
            Self::load(config, folder.file_name().to_str()?, role).ok()
        });
        all.find(|member| {
            let known = |place| {
                member.admission.routers.contains(place) || member.door.places.contains(place)
            };
            member.agent() == name && token.places.iter().any(known)
        })
    }

    pub(crate) fn credentials(&self) -> Credentials {
        Credentials {
            authority: self.admission.authority.clone(),
            certificate: self.admission.certificate.clone(),
            private_key: self.private_key.clone(),
        }
    }

    /// Writes it; an older one of the same group is replaced.
    pub fn save(&self, config: &Path) -> Result<(), GroupError> {
        let path = member_file(config, self.group(), self.admission.role);
        write_secret(&path, self, false)
    }

    /// Reads the membership of this host in a group.
    pub fn load(config: &Path, group: &str, role: MemberRole) -> Result<Self, GroupError> {
        read(config, &member_file(config, group, role), group)
    }
}

fn member_file(config: &Path, name: &str, role: MemberRole) -> PathBuf {
    let file = match role {
        MemberRole::Agent => "member.json",
        MemberRole::Router => "router.json",
    };
    config.join("members").join(name).join(file)
}
