//! Tests with a site router between agents and their controller.

use super::*;
use crate::site::Site;

/// A site's router that has joined, and the token as its agents give it.
fn site(lab: &Lab) -> (Membership, SocketAddr, JoinToken) {
    let token = lab.token(&Terms {
        role: MemberRole::Router,
        ..Terms::default()
    });
    let member = join(&token, "tokyo", MemberRole::Router).unwrap();
    let listen = SocketAddr::new(own_address(), PORT);
    let through = JoinToken {
        places: vec![listen.to_string()],
        ..lab.token.clone()
    };
    (member, listen, through)
}

#[test]
fn agents_behind_a_router_join_and_are_commanded() {
    let (lab, alive) = (Lab::new(), Alive::default());
    let (member, listen, token) = site(&lab);
    let _router = Site::open(&member, listen, quiet()).unwrap();
    let _a = serve(join(&token, "a", MemberRole::Agent).unwrap(), &alive);
    let fleet = lab.fleet();
    sees(&fleet, &["a"]);
    let (bus, id) = on_bus(&fleet, "a");
    assert_eq!(bus.ask(id, Ask::Clock, BOUND), Ok(Reply::Clock(42)));
}
