//! Test of the path used for a thousand agents, with as many as a test may start.

use sokudo_bus::{Bus, Member, MemberId};
use sokudo_wire::{Ask, Reply};

use super::{Alive, BOUND, Lab, sees};

const AGENTS: usize = 64;

/// Each joins, is seen, reached, asked together with all others, and left.
#[test]
fn many_agents_are_asked_together() {
    let (lab, alive) = (Lab::new(), Alive::default());
    let names: Vec<String> = (0..AGENTS).map(|n| format!("agent{n:02}")).collect();
    let _agents: Vec<_> = names.iter().map(|name| lab.agent(name, &alive)).collect();
    let fleet = lab.fleet();
    sees(
        &fleet,
        &names.iter().map(String::as_str).collect::<Vec<_>>(),
    );
    let bus = Bus::new();
    let reach = |name: &String| -> MemberId {
        let reached = fleet.link(name, "controller", BOUND).unwrap();
        let member = Member {
            name: name.clone(),
            address: reached.address,
        };
        bus.add(member, Box::new(reached.link))
    };
    let members: Vec<MemberId> = names.iter().map(reach).collect();
    alive.reach(AGENTS as i32);
    // Every second agent is asked something else: answers are returned in the order of the agents.
    let ask = |index: usize| match index % 2 {
        0 => Ask::Clock,
        _ => Ask::Describe,
    };
    for (index, answer) in bus.ask_each(&members, ask, BOUND).into_iter().enumerate() {
        let expected = match index % 2 {
            0 => Reply::Clock(42),
            _ => Reply::Offer("controller".into()),
        };
        assert_eq!(answer, Ok(expected), "of agent {index}");
    }
    bus.close();
    alive.reach(0);
}
