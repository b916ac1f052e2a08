//! Collection of what the agents of a group still hold of a run whose controller died.

use std::collections::BTreeSet;
use std::path::Path;

use sokudo_bus::{Bus, Member, MemberId};
use sokudo_controller::collect::{self, Known};
use sokudo_controller::host_name;
use sokudo_model::{Manifest, RunStatus, Text};
use sokudo_zenoh::Group;

use super::super::{Failure, config};
use super::{ANSWER_BOUND, is_known};
use crate::cli::screen::tell_status;

/// Runs that have been collected for a record, to be forgotten by the agents once the record is
/// complete.
pub struct Collected {
    bus: Bus,
    agents: Vec<MemberId>,
    manifest: Manifest,
}

/// The group whose agents took part in a run, as far as its command line names one of this host.
pub fn group_of(manifest: &Manifest) -> Option<String> {
    let words = manifest.command.iter().skip(1);
    let mut names = words.map(|word| word.split_once('/').map_or(word.as_str(), |(name, _)| name));
    names.find(|name| is_known(name)).map(str::to_owned)
}

/// Adds to the spool of a run that was never closed what its agents kept of it; `None` when the record
/// is complete.
///
/// Errors: an agent of the run is not there, or does not answer.
pub fn collect(record: &Path, group: &str) -> Result<Option<Collected>, Failure> {
    let manifest = sokudo_store::read_manifest(record)?;
    if manifest.status != RunStatus::Running {
        return Ok(None);
    }
    let held = Group::load(&config(), group)?;
    let fleet = super::fleet(&held)?;
    let present: BTreeSet<String> = fleet
        .agents(ANSWER_BOUND)?
        .into_iter()
        .map(|agent| agent.name)
        .collect();
    let known = sokudo_store::spooled(record)?;
    let known = Known::of(&known);
    let (bus, mut agents, mut points) = (Bus::new(), Vec::new(), 0);
    // The controller's own host has died with it.
    for host in manifest.hosts.iter().skip(1) {
        // One whose process was killed is seen for a while longer.
        let reached = match present.contains(&host.name) {
            true => fleet.link(&host.name, &host_name(), ANSWER_BOUND).ok(),
            false => None,
        };
        let reached = reached.ok_or_else(|| absent(&host.name))?;
        let member = Member {
            name: host.name.clone(),
            address: reached.address,
        };
        let agent = bus.add(member, Box::new(reached.link));
        points += collect::complete(record, &known, &bus, agent, &manifest.id)?;
        agents.push(agent);
    }
    let says = Text::new("status-collected").with("agents", agents.len());
    tell_status(&says.word("group", group).with("points", points));
    Ok(Some(Collected {
        bus,
        agents,
        manifest,
    }))
}

fn absent(host: &str) -> Failure {
    let says = Text::new("error-collect-absent").word("host", host);
    Failure::run(says, Text::new("error-collect-absent-hint"))
}

impl Collected {
    /// The record is complete: agents need not hold it any longer.
    pub fn forget(self) {
        for agent in self.agents {
            // One that does not hear it lets its oldest runs give way.
            let _ = collect::discard(&self.bus, agent, &self.manifest.id);
        }
    }
}
