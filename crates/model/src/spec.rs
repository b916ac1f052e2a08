//! The description of a phase that one agent is sent, and its encoding.
//!
//! An agent is sent its own flows, the hosts at their other ends, and the total number of both. In memory
//! every flow and host keeps its index; those that the agent does not need are empty and are not encoded,
//! so that the bytes for all agents grow with the number of hosts, not with its square.

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::manifest::RunId;
use crate::plan::{FlowPlan, PhasePlan};

/// Most hosts of a phase.
const MAX_HOSTS: u32 = 100_000;
/// Most flows of a phase.
const MAX_FLOWS: u32 = 1_000_000;

/// The description of a phase for one agent.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(into = "Told", try_from = "Told")]
pub struct PhaseSpec {
    /// Run it belongs to.
    pub run: RunId,
    /// The phase. Flows between other hosts keep their places, with empty hosts at their ends.
    pub phase: PhasePlan,
    /// Hosts by index; empty where the agent has no flow with one.
    pub hosts: Vec<HostSpec>,
    /// Index of the agent's own host.
    pub me: u32,
    /// Seed of the run's random choices.
    pub seed: u64,
    /// One secret number per flow, by flow id: a receiver counts only datagrams that carry it. Zero for
    /// flows of others.
    pub tickets: Vec<u64>,
}

/// A host of a phase as the others see it.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct HostSpec {
    /// Name, unique within the run.
    pub name: String,
    /// Address that the receiver of this message reaches it by: a host name or IP address without
    /// a port; for the host itself, the address that the others use.
    pub address: String,
}

/// Whether the agent of host `me` needs to know each host of a phase: its own, and those it has a flow with.
pub fn needed_by(me: u32, flows: &[FlowPlan], hosts: usize) -> Vec<bool> {
    let mut needed = vec![false; hosts];
    let own = flows.iter().filter(|flow| flow.touches(me));
    for index in own.flat_map(|flow| [flow.from, flow.to]).chain([me]) {
        if let Some(host) = needed.get_mut(index as usize) {
            *host = true;
        }
    }
    needed
}

/// The encoded form.
#[derive(Serialize, Deserialize)]
struct Told {
    run: RunId,
    /// With the agent's own flows alone.
    phase: PhasePlan,
    flows: u32,
    /// The highest stream number of other flows: series are named alike on all hosts.
    others_stream: u32,
    hosts: u32,
    known: Vec<(u32, HostSpec)>,
    me: u32,
    seed: u64,
    /// By flow id.
    tickets: Vec<(u32, u64)>,
}

fn number(count: usize) -> u32 {
    u32::try_from(count).unwrap_or(u32::MAX)
}

impl From<PhaseSpec> for Told {
    fn from(spec: PhaseSpec) -> Self {
        let PhaseSpec {
            run,
            mut phase,
            hosts,
            me,
            seed,
            tickets,
        } = spec;
        let (flows, of) = (number(phase.flows.len()), number(hosts.len()));
        let others = phase.flows.iter().filter(|flow| !flow.touches(me));
        let others_stream = others.map(|flow| flow.stream).max().unwrap_or(0);
        phase.flows.retain(|flow| flow.touches(me));
        let needed = needed_by(me, &phase.flows, hosts.len());
        let known = (0..).zip(hosts).zip(needed);
        let known = known.filter(|(_, needed)| *needed).map(|(host, _)| host);
        let ticket = |flow: &FlowPlan| Some((flow.id, *tickets.get(flow.id as usize)?));
        Self {
            run,
            flows,
            others_stream,
            hosts: of,
            known: known.collect(),
            me,
            seed,
            tickets: phase.flows.iter().filter_map(ticket).collect(),
            phase,
        }
    }
}

impl TryFrom<Told> for PhaseSpec {
    type Error = &'static str;

    fn try_from(told: Told) -> Result<Self, Self::Error> {
        if told.hosts > MAX_HOSTS || told.flows > MAX_FLOWS {
            return Err("a phase of too many hosts or flows");
        }
        let within = |flow: &FlowPlan| flow.from.max(flow.to) < told.hosts;
        if !told.phase.flows.iter().all(within) {
            return Err("a flow of a host beyond the last");
        }
        if !told.phase.flows.iter().all(|flow| flow.touches(told.me)) {
            return Err("a flow of others");
        }
        let needed = needed_by(told.me, &told.phase.flows, told.hosts as usize);
        let mut hosts = vec![HostSpec::default(); told.hosts as usize];
        for (index, host) in told.known {
            let place = hosts.get_mut(index as usize);
            match needed.get(index as usize) {
                Some(false) => return Err("a host of no concern"),
                _ => *place.ok_or("a host beyond the last")? = host,
            }
        }
        // A flow between other hosts: this agent does not need it.
        let other = u32::from(told.me == 0);
        let unknown = |id: u32| FlowPlan {
            id,
            from: other,
            to: other,
            stream: told.others_stream,
        };
        let mut flows: Vec<FlowPlan> = (0..told.flows).map(unknown).collect();
        for flow in told.phase.flows {
            let place = flows.get_mut(flow.id as usize);
            *place.ok_or("a flow beyond the last")? = flow;
        }
        let mut tickets = vec![0; told.flows as usize];
        for (id, ticket) in told.tickets {
            let flow = flows.get(id as usize).ok_or("a ticket for no flow")?;
            match flow.touches(told.me) {
                true => tickets[id as usize] = ticket,
                false => return Err("a ticket for a flow of others"),
            }
        }
        let phase = PhasePlan {
            flows,
            ..told.phase
        };
        Ok(Self {
            run: told.run,
            phase,
            hosts,
            me: told.me,
            seed: told.seed,
            tickets,
        })
    }
}

/// Values of some of many hosts, by index: how many there are in all, and those that are given.
///
/// For `#[serde(with = "…")]`.
pub mod by_host {
    use super::{Deserialize, Deserializer, MAX_HOSTS, Serialize, Serializer, number};

    /// Writes what is there.
    pub fn serialize<T: Serialize, S: Serializer>(
        values: &[Option<T>],
        to: S,
    ) -> Result<S::Ok, S::Error> {
        let given = (0u32..).zip(values);
        let given: Vec<(u32, &T)> = given
            .filter_map(|(index, value)| Some((index, value.as_ref()?)))
            .collect();
        (number(values.len()), given).serialize(to)
    }

    /// Reads it back. Errors: too many hosts, a value of none of them.
    pub fn deserialize<'de, T: Deserialize<'de>, D: Deserializer<'de>>(
        from: D,
    ) -> Result<Vec<Option<T>>, D::Error> {
        use serde::de::Error;
        let (of, given) = <(u32, Vec<(u32, T)>)>::deserialize(from)?;
        if of > MAX_HOSTS {
            return Err(D::Error::custom("values of too many hosts"));
        }
        let mut values: Vec<Option<T>> = (0..of).map(|_| None).collect();
        for (index, value) in given {
            let place = values.get_mut(index as usize);
            *place.ok_or_else(|| D::Error::custom("a value of no host"))? = Some(value);
        }
        Ok(values)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    /// Hosts of which each sends to the next one of its pair, as host `me` is told.
    fn pairs(hosts: u32, me: u32) -> PhaseSpec {
        let flow = |id: u32| FlowPlan {
            id,
            from: 2 * id,
            to: 2 * id + 1,
            stream: 0,
        };
        let host = |index: u32| HostSpec {
            name: format!("agent{index:05}"),
            address: "192.0.2.10".into(),
        };
        PhaseSpec {
            run: RunId("2026-01-02T03-04-05-rr-0a0b".into()),
            phase: PhasePlan {
                name: "pairs".into(),
                workload: "rr".into(),
                options: "{}".into(),
                flows: (0..hosts / 2).map(flow).collect(),
                duration_ns: 1,
                bound_ns: 2,
                labels: Default::default(),
            },
            hosts: (0..hosts).map(host).collect(),
            me,
            seed: 7,
            tickets: (0..u64::from(hosts / 2)).map(|n| !n).collect(),
        }
    }

    fn travelled(spec: &PhaseSpec) -> (usize, PhaseSpec) {
        let text = serde_json::to_string(spec).unwrap();
        (text.len(), serde_json::from_str(&text).unwrap())
    }

    /// The message to one agent is as long with 10,000 hosts as with 10, except for digits.
    #[test]
    fn what_is_told_does_not_grow_with_the_hosts() {
        let bytes = |hosts| travelled(&pairs(hosts, 2)).0;
        let (few, more, many) = (bytes(10), bytes(100), bytes(10_000));
        eprintln!("told to each agent: 10 hosts {few} B, 100 {more} B, 10,000 {many} B");
        assert!(many <= few + 16 && more <= many, "{few} {more} {many}");
    }

    #[test]
    fn what_an_agent_needs_arrives_in_its_place() {
        let whole = pairs(8, 5);
        let (_, told) = travelled(&whole);
        assert_eq!(told.hosts[4..6], whole.hosts[4..6]);
        assert_eq!(told.hosts[0], HostSpec::default());
        assert_eq!(told.phase.flows[2], whole.phase.flows[2]);
        assert_eq!((told.tickets[2], told.tickets[1]), (whole.tickets[2], 0));
        assert_eq!((told.hosts.len(), told.phase.flows.len()), (8, 4));
        let in_order = |(flow, id): (&FlowPlan, u32)| flow.id == id;
        assert!(told.phase.flows.iter().zip(0..).all(in_order));
        assert!(told.phase.flows.iter().filter(|f| f.touches(5)).count() == 1);
        // Encoded a second time, it is the same.
        assert_eq!(travelled(&told).1, told);
    }

    #[test]
    fn what_leads_beyond_the_tables_is_refused() {
        let mut value = serde_json::to_value(pairs(4, 1)).unwrap();
        for (key, wrong) in [
            ("hosts", 1),
            ("flows", 0),
            ("hosts", MAX_HOSTS + 1),
            ("flows", MAX_FLOWS + 1),
        ] {
            let right = std::mem::replace(&mut value[key], wrong.into());
            assert!(serde_json::from_value::<PhaseSpec>(value.clone()).is_err());
            value[key] = right;
        }
        assert!(serde_json::from_value::<PhaseSpec>(value).is_ok());
    }

    /// A message that holds more than the agent's own part is refused: controllers do not send it.
    #[test]
    fn what_concerns_others_is_refused() {
        // Host 1 of four, whose own flow has number 0.
        let value = serde_json::to_value(pairs(4, 1)).unwrap();
        let other_flow = json!({ "id": 1, "from": 2, "to": 3, "stream": 0 });
        let far_flow = json!({ "id": 0, "from": 1, "to": 4, "stream": 0 });
        let other_host = json!([3, { "name": "x", "address": "y" }]);
        for (at, more) in [
            ("/tickets", json!([1, 17])),
            ("/known", other_host),
            ("/phase/flows", other_flow),
            ("/phase/flows", far_flow),
        ] {
            let mut value = value.clone();
            let list = value.pointer_mut(at).unwrap().as_array_mut().unwrap();
            list.push(more);
            assert!(serde_json::from_value::<PhaseSpec>(value).is_err(), "{at}");
        }
    }

    #[derive(Debug, PartialEq, Serialize, Deserialize)]
    struct Said(#[serde(with = "by_host")] Vec<Option<String>>);

    proptest! {
        #[test]
        fn values_of_some_hosts_come_back(
            said in prop::collection::vec(prop::option::of("[a-z]{0,3}"), 0..40),
        ) {
            let said = Said(said);
            let text = serde_json::to_string(&said).unwrap();
            prop_assert_eq!(serde_json::from_str::<Said>(&text).unwrap(), said);
        }

        #[test]
        fn any_numbers_are_read_or_refused(of in any::<u32>(), index in any::<u32>()) {
            let text = format!("[{of},[[{index},\"x\"]]]");
            let read = serde_json::from_str::<Said>(&text);
            prop_assert_eq!(read.is_ok(), of <= MAX_HOSTS && index < of);
        }
    }
}
