//! Tests with a stock `zenohd` between agents and their controller.

use std::path::PathBuf;

use sokudo_testkit::program::Running;
use sokudo_testkit::zenohd;
use zenoh::Wait;

use super::attacks::{asks_in_vain, connection_at};
use super::*;
use crate::foreign::Foreign;

/// Its address, and its configuration file.
fn settings(lab: &Lab, dials: &[String]) -> (String, PathBuf) {
    let listen = format!("{}:{PORT}", own_address());
    let foreign = Foreign {
        listen: listen.clone(),
        routers: dials.to_vec(),
        valid: Duration::from_secs(3600),
    };
    let path = lab.config.path().join("zenohd.json5");
    foreign.write(&lab.group, &path).unwrap();
    (listen, path)
}

/// A `zenohd` that dials the lab's router; `None` where there is none.
fn linked(lab: &Lab) -> Option<(String, Running)> {
    let (listen, path) = settings(lab, &[lab.router()]);
    Some((listen, zenohd::start(&path)?))
}

fn member_behind(lab: &Lab, name: &str, router: &str) -> Membership {
    let mut member = lab.member(name);
    member.set_routers(vec![router.to_owned()]);
    member
}

/// The file configures the same as sokudo's own routers.
#[test]
fn its_file_opens_no_door() {
    let lab = Lab::new();
    let (listen, path) = settings(&lab, &[lab.router()]);
    let config = zenoh::Config::from_file(&path).expect("as zenohd reads it");
    let says = |key: &str| config.get_json(key).unwrap();
    assert_eq!(says("mode"), r#""router""#);
    assert_eq!(
        says("listen/endpoints"),
        format!(r#"["quic/{listen}?multistream=0"]"#)
    );
    assert_eq!(
        says("connect/endpoints"),
        format!(r#"["quic/{}?multistream=0"]"#, lab.router())
    );
    assert_eq!(says("transport/link/protocols"), r#"["quic"]"#);
    assert_eq!(says("scouting/multicast/enabled"), "false");
    assert_eq!(says("scouting/gossip/enabled"), "false");
    assert_eq!(
        says("adminspace/permissions"),
        r#"{"read":false,"write":false}"#
    );
    assert_eq!(says("transport/link/tls/enable_mtls"), "true");
    assert_eq!(says("access_control/enabled"), "true");
    assert_eq!(says("access_control/default_permission"), r#""deny""#);
    // Its log contains no key.
    assert!(!config.to_string().contains("_base64\":\""));
    // Nothing is written over.
    let again = Foreign {
        listen,
        routers: Vec::new(),
        valid: Duration::ZERO,
    };
    let refused = again.write(&lab.group, &path);
    assert!(matches!(refused, Err(GroupError::Occupied(_))));
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        let mode = path.metadata().unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
    }
}

#[test]
fn agents_behind_it_are_commanded() {
    let (lab, alive) = (Lab::new(), Alive::default());
    let Some((router, _zenohd)) = linked(&lab) else {
        return;
    };
    let _a = serve(member_behind(&lab, "a", &router), &alive);
    let fleet = lab.fleet();
    sees(&fleet, &["a"]);
    let (bus, id) = on_bus(&fleet, "a");
    assert_eq!(bus.ask(id, Ask::Clock, BOUND), Ok(Reply::Clock(42)));
}

/// It denies what the own routers deny.
#[test]
fn an_agent_commands_nobody_through_it() {
    let (lab, alive) = (Lab::new(), Alive::default());
    let Some((router, _zenohd)) = linked(&lab) else {
        return;
    };
    let _a = serve(member_behind(&lab, "a", &router), &alive);
    sees(&lab.fleet(), &["a"]);
    let credentials = lab.member("b").credentials();
    asks_in_vain(&lab, &connection_at(&router, &credentials), "a");
    // It refuses members of another group as well.
    let foreign = Group::found("lab").unwrap();
    assert!(Fleet::connect(&foreign, &router).is_err());
    // And its admin space, which `zenohd` always opens, answers no query from outside. The asking
    // session has one of its own.
    let session = connection_at(&router, &credentials);
    let asked = session.get("@/**").timeout(Duration::from_secs(2));
    let answers = asked.wait().unwrap().into_iter();
    let told: Vec<String> = answers
        .filter_map(|reply| reply.into_result().ok())
        .map(|sample| sample.key_expr().to_string())
        .filter(|key| !key.contains(&session.zid().to_string()))
        .collect();
    assert!(told.is_empty(), "{told:?}");
}

/// The opposite direction: it dials nothing, and the controller's router dials it.
#[test]
fn the_controllers_router_dials_one_that_stands_alone() {
    let (mut lab, alive) = (Lab::new(), Alive::default());
    let (router, path) = settings(&lab, &[]);
    let Some(_zenohd) = zenohd::start(&path) else {
        return;
    };
    lab.router = None;
    let others = [router.clone()];
    lab.router = Some(again(|| Router::open(&lab.group, &lab.router(), &others)));
    let _a = serve(member_behind(&lab, "a", &router), &alive);
    let fleet = lab.fleet();
    sees(&fleet, &["a"]);
    let (bus, id) = on_bus(&fleet, "a");
    assert_eq!(bus.ask(id, Ask::Clock, BOUND), Ok(Reply::Clock(42)));
}
