//! Definition of a group: its authority, its keys and its certificates.
//!
//! ```text
//! <config>/groups/<name>/group.json     the founder's: authority, keys of those who command
//! ```
//!
//! A group has an authority (ECDSA P-256), which signs certificates whose common name is the role:
//! `ctl.G` and `rtr.G` may serve and call, `agent.G` may only call (extended key usage). Commands are
//! signed with an Ed25519 key that never leaves the founder's folder.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use rcgen::{
    BasicConstraints, CertificateParams, DistinguishedName, DnType, ExtendedKeyUsagePurpose, IsCa,
    Issuer, KeyPair, KeyUsagePurpose, PKCS_ECDSA_P256_SHA256, PublicKeyData, SanType,
    SignatureAlgorithm,
};
use ring::hmac;
use ring::rand::{SecureRandom, SystemRandom};
use ring::signature::{Ed25519KeyPair, KeyPair as _};
use serde::{Deserialize, Serialize};
use sokudo_model::Text;
use sokudo_wire::Key;
use sokudo_wire::join::{Admission, JoinRequest, JoinToken, MemberRole, is_agent_name};
use sokudo_wire::life::Life;
use sokudo_wire::order::Secret;

use crate::error::GroupError;
use crate::files::{file, read, write_secret};
use crate::tokens::{Terms, Tokens};

/// Validity of a member's certificate.
const VALID: Duration = Duration::from_secs(90 * 24 * 3600);
/// Validity of the authority.
const AUTHORITY_VALID: Duration = Duration::from_secs(10 * 365 * 24 * 3600);
/// Validity of the certificates that the founder's processes draw for themselves when they start.
/// They never leave the process, and who could read its memory could read the authority.
pub(crate) const OWN_VALID: Duration = AUTHORITY_VALID;

/// The uses that a certificate permits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    /// Commands agents; may run the router.
    Controller,
    /// Carries messages.
    Router,
    /// Obeys.
    Agent,
}

impl From<MemberRole> for Role {
    fn from(role: MemberRole) -> Self {
        match role {
            MemberRole::Agent => Role::Agent,
            MemberRole::Router => Role::Router,
        }
    }
}

impl Role {
    /// The common name in certificates of group `id`.
    pub(crate) fn common_name(self, id: &str) -> String {
        let role = match self {
            Role::Controller => "ctl",
            Role::Router => "rtr",
            Role::Agent => "agent",
        };
        format!("{role}.{id}")
    }
}

/// A certificate with its key, and the authorities it trusts; all PEM.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Credentials {
    pub(crate) authority: String,
    pub(crate) certificate: String,
    pub(crate) private_key: String,
}

/// A group as its founder holds it. Secret.
#[derive(Serialize, Deserialize)]
pub struct Group {
    /// Name as people call it.
    pub name: String,
    /// Identity: 16 hexadecimal digits, drawn when the group was made.
    pub id: String,
    authority_key: String,
    authority: String,
    commander_seed: [u8; 32],
    /// Of the door's certificate.
    door_seed: [u8; 32],
    /// The key from which the secrets of the members are derived.
    member_seed: [u8; 32],
}

impl Group {
    /// Makes a group.
    ///
    /// Errors: a name that cannot be one, no randomness.
    pub fn found(name: &str) -> Result<Self, GroupError> {
        if !is_agent_name(name) {
            return Err(GroupError::Name(name.into()));
        }
        let id = hex(&random::<8>()?);
        let key = new_key()?;
        let authority = authority_params(&id)
            .self_signed(&key)
            .map_err(certificate)?;
        Ok(Self {
            name: name.into(),
            id,
            authority_key: key.serialize_pem(),
            authority: authority.pem(),
            commander_seed: random()?,
            door_seed: random()?,
            member_seed: random()?,
        })
    }

    /// Keeps a new group; nothing is overwritten.
    pub fn save(&self, config: &Path) -> Result<(), GroupError> {
        let path = group_file(config, &self.name);
        match write_secret(&path, self, true) {
            Err(GroupError::File { why, .. }) if why.kind() == io::ErrorKind::AlreadyExists => {
                Err(GroupError::Exists(self.name.clone()))
            }
            done => done,
        }
    }

    /// Reads a group of this host.
    pub fn load(config: &Path, name: &str) -> Result<Self, GroupError> {
        read(config, &group_file(config, name), name)
    }

    /// Says where this group's router is: `router` for the commands of this host, `place` for others,
    /// and which `others` it links with.
    pub fn save_router(
        &self,
        config: &Path,
        router: &str,
        place: &str,
        others: &[String],
    ) -> Result<(), GroupError> {
        let path = router_file(config, &self.name);
        let lines: String = others.iter().map(|other| format!("{other}\n")).collect();
        fs::write(&path, format!("{router}\n{place}\n{lines}")).map_err(|why| file(&path, why))
    }

    /// Address of the router for commands on this host, as the controller announced it when it started.
    ///
    /// Errors: it never did on this host.
    pub fn router(&self, config: &Path) -> Result<String, GroupError> {
        self.router_lines(config).map(|lines| lines[0].clone())
    }

    /// Address at which agents reach the controller.
    ///
    /// Errors: it was never started on this host.
    pub fn place(&self, config: &Path) -> Result<String, GroupError> {
        self.router_lines(config).map(|lines| lines[1].clone())
    }

    /// The routers that the controller's own links with, which hosts of this group dial instead of it.
    ///
    /// Errors: it was never started on this host.
    pub fn other_routers(&self, config: &Path) -> Result<Vec<String>, GroupError> {
        self.router_lines(config).map(|lines| lines[2..].to_vec())
    }

    /// Lines that [`Group::save_router`] wrote: two at least.
    fn router_lines(&self, config: &Path) -> Result<Vec<String>, GroupError> {
        let path = router_file(config, &self.name);
        let none = || GroupError::NoRouter {
            group: self.name.clone(),
        };
        let text = fs::read_to_string(&path).map_err(|why| match why.kind() {
            io::ErrorKind::NotFound => none(),
            _ => file(&path, why),
        })?;
        let lines: Vec<String> = text.lines().map(str::to_owned).collect();
        match lines.len() >= 2 {
            true => Ok(lines),
            false => Err(none()),
        }
    }

    /// A token that lets hosts in at `places`, kept with its terms.
    ///
    /// Errors: the file of the tokens cannot be used, no randomness.
    pub fn token(
        &self,
        config: &Path,
        terms: &Terms,
        places: Vec<String>,
    ) -> Result<JoinToken, GroupError> {
        let secret = Tokens::of(config, &self.name).mint(terms)?;
        Ok(JoinToken {
            door: public_half(&self.door_seed)?,
            secret,
            places,
        })
    }

    /// Seed of the key that the door shows.
    pub(crate) fn door_seed(&self) -> &[u8; 32] {
        &self.door_seed
    }

    /// The secret shared by the agent of this name and the holders of the commanding key.
    pub(crate) fn agent_secret(&self, agent: &str) -> Secret {
        self.derived(&format!("sokudo member {agent}"))
    }

    /// The key of the tickets with which members renew their certificates.
    pub(crate) fn renewal_key(&self) -> Key {
        Key::from_random(self.derived("sokudo renewal"))
    }

    fn derived(&self, purpose: &str) -> [u8; 32] {
        let key = hmac::Key::new(hmac::HMAC_SHA256, &self.member_seed);
        let mut secret = [0; 32];
        secret.copy_from_slice(hmac::sign(&key, purpose.as_bytes()).as_ref());
        secret
    }

    /// Ed25519 public key of those who may command.
    pub fn commander(&self) -> Result<[u8; 32], GroupError> {
        public_half(&self.commander_seed)
    }

    pub(crate) fn commander_pair(&self) -> Result<Ed25519KeyPair, GroupError> {
        key_pair(&self.commander_seed)
    }

    /// Signs commands with another key, as an attacker with only the authority's key would.
    #[cfg(test)]
    pub(crate) fn change_commander(&mut self, seed: [u8; 32]) {
        self.commander_seed = seed;
    }

    /// A certificate of this group for `role`, good for `valid`, with a fresh key.
    pub(crate) fn credentials(
        &self,
        role: Role,
        name: &str,
        valid: Duration,
    ) -> Result<Credentials, GroupError> {
        let key = new_key()?;
        Ok(Credentials {
            authority: self.authority.clone(),
            certificate: self.sign(role, name, &key, valid)?,
            private_key: key.serialize_pem(),
        })
    }

    /// Admits a host whose key stays where it is; its certificate begins at `now_unix_s`.
    ///
    /// Errors: a key that is none, a name that cannot be one.
    pub fn admit(
        &self,
        request: &JoinRequest,
        routers: Vec<String>,
        now_unix_s: u64,
    ) -> Result<Admission, GroupError> {
        let JoinRequest {
            name,
            role,
            public_key,
            ..
        } = request;
        if !is_agent_name(name) {
            return Err(GroupError::Name(name.into()));
        }
        // Uncompressed point of P-256 (SEC 1, 2.3.3).
        if public_key.len() != 65 || public_key[0] != 4 {
            return Err(GroupError::Certificate(Text::new("error-group-public-key")));
        }
        Ok(Admission {
            group: self.name.clone(),
            group_id: self.id.clone(),
            agent: name.into(),
            role: *role,
            certificate: self.sign((*role).into(), name, &ForeignKey(public_key), VALID)?,
            life: Life::new(now_unix_s, VALID.as_secs()),
            renewal: self.derived("sokudo renewal"),
            authority: self.authority.clone(),
            commander: self.commander()?,
            secret: match role {
                MemberRole::Agent => self.agent_secret(name),
                MemberRole::Router => random()?,
            },
            routers,
        })
    }

    fn sign(
        &self,
        role: Role,
        name: &str,
        key: &impl PublicKeyData,
        valid: Duration,
    ) -> Result<String, GroupError> {
        let authority_key = KeyPair::from_pem(&self.authority_key).map_err(certificate)?;
        let issuer = Issuer::new(authority_params(&self.id), authority_key);
        let mut params = CertificateParams::default();
        params.distinguished_name = common_name(&role.common_name(&self.id));
        params.not_after = (SystemTime::now() + valid).into();
        params.key_usages = vec![KeyUsagePurpose::DigitalSignature];
        params.extended_key_usages = vec![ExtendedKeyUsagePurpose::ClientAuth];
        if role != Role::Agent {
            let serves = ExtendedKeyUsagePurpose::ServerAuth;
            params.extended_key_usages.push(serves);
        }
        let uri = format!("sokudo:{}/{name}", self.id);
        let uri = uri.try_into().map_err(certificate)?;
        params.subject_alt_names = vec![SanType::URI(uri)];
        let signed = params.signed_by(key, &issuer).map_err(certificate)?;
        Ok(signed.pem())
    }
}

/// A public key whose private half is elsewhere.
struct ForeignKey<'a>(&'a [u8]);

impl PublicKeyData for ForeignKey<'_> {
    fn der_bytes(&self) -> &[u8] {
        self.0
    }

    fn algorithm(&self) -> &'static SignatureAlgorithm {
        &PKCS_ECDSA_P256_SHA256
    }
}

fn key_pair(seed: &[u8; 32]) -> Result<Ed25519KeyPair, GroupError> {
    Ed25519KeyPair::from_seed_unchecked(seed)
        .map_err(|error| GroupError::Certificate(Text::words(error.to_string())))
}

/// Ed25519 public key of a seed (RFC 8032).
fn public_half(seed: &[u8; 32]) -> Result<[u8; 32], GroupError> {
    let mut public = [0; 32];
    public.copy_from_slice(key_pair(seed)?.public_key().as_ref());
    Ok(public)
}

/// A fresh key for a certificate.
pub(crate) fn new_key() -> Result<KeyPair, GroupError> {
    KeyPair::generate_for(&PKCS_ECDSA_P256_SHA256).map_err(certificate)
}

pub(crate) fn random<const N: usize>() -> Result<[u8; N], GroupError> {
    let mut bytes = [0; N];
    let filled = SystemRandom::new().fill(&mut bytes);
    filled.map_err(|_| GroupError::Randomness)?;
    Ok(bytes)
}

pub(crate) fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

pub(crate) fn certificate(error: rcgen::Error) -> GroupError {
    GroupError::Certificate(Text::words(error.to_string()))
}

fn common_name(name: &str) -> DistinguishedName {
    let mut subject = DistinguishedName::new();
    subject.push(DnType::CommonName, name);
    subject
}

fn authority_params(id: &str) -> CertificateParams {
    let mut params = CertificateParams::default();
    params.distinguished_name = common_name(&format!("sokudo group {id}"));
    params.not_after = (SystemTime::now() + AUTHORITY_VALID).into();
    params.is_ca = IsCa::Ca(BasicConstraints::Constrained(0));
    params.key_usages = vec![KeyUsagePurpose::KeyCertSign];
    params
}

pub(crate) fn group_folder(config: &Path, name: &str) -> PathBuf {
    config.join("groups").join(name)
}

fn group_file(config: &Path, name: &str) -> PathBuf {
    group_folder(config, name).join("group.json")
}

fn router_file(config: &Path, name: &str) -> PathBuf {
    group_folder(config, name).join("router")
}
