//! Tests of certificate renewal by members that run longer than their certificates are valid.

use super::*;
use crate::enrol::renew;
use crate::members::Members;
use crate::site::Site;
use crate::tokens::now_s;
use crate::upkeep::Upkeep;

const DAY_S: u64 = 24 * 3600;

fn refusal(renewed: Result<Membership, GroupError>) -> (String, String) {
    match renewed {
        Err(GroupError::Refused { says, hint }) => (english(&says), english(&hint)),
        Err(other) => panic!("{other}"),
        Ok(_) => panic!("it is renewed"),
    }
}

/// Another certificate for the same key, and nothing else changes.
#[test]
fn a_member_renews_its_certificate_and_goes_on() {
    let (lab, alive) = (Lab::new(), Alive::default());
    let mut member = lab.member("a");
    member.set_labels(&"site=tokyo".parse().unwrap());
    let renewed = renew(&member).unwrap();
    let (before, after) = (member.credentials(), renewed.credentials());
    assert_ne!(after.certificate, before.certificate);
    assert_eq!(after.private_key, before.private_key);
    assert_eq!(renewed.labels(), member.labels());
    // A minute of patience with a busy machine.
    assert_eq!(renewed.life().days_left(now_s() - 60), 90);
    let _a = serve(renewed, &alive);
    let fleet = lab.fleet();
    sees(&fleet, &["a"]);
    let (bus, id) = on_bus(&fleet, "a");
    assert_eq!(bus.ask(id, Ask::Clock, BOUND), Ok(Reply::Clock(42)));
}

/// The secret shared by all members is enough for being answered, and for nothing more.
#[test]
fn a_certificate_is_renewed_for_its_owner_only() {
    let lab = Lab::new();
    let (a, b) = (lab.member("a"), lab.member("b"));
    let mut thief = b.clone();
    thief.admission.agent = "a".into();
    let (says, hint) = refusal(renew(&thief));
    assert_eq!(says, "the group has no agent called `a` with this key");
    assert!(hint.contains("sokudo group token lab"), "{hint}");
    let mut climber = b.clone();
    climber.admission.role = MemberRole::Router;
    let (says, _) = refusal(renew(&climber));
    assert_eq!(says, "the group has no router called `b` with this key");
    // A removed member stays excluded.
    let members = Members::of(lab.config.path(), "lab");
    assert!(members.remove("a").unwrap());
    let (says, _) = refusal(renew(&a));
    assert_eq!(says, "the group has no agent called `a` with this key");
    let mut stranger = b.clone();
    stranger.admission.renewal = [7; 32];
    let (says, _) = refusal(renew(&stranger));
    assert_eq!(says, "the door does not know the members of this group");
    assert!(renew(&b).is_ok());
}

/// The log lines of an upkeep.
fn heard() -> (Log, Arc<Mutex<Vec<String>>>) {
    let said: Arc<Mutex<Vec<String>>> = Arc::default();
    let told = Arc::clone(&said);
    let log: Log = Arc::new(move |line: &Text| told.lock().unwrap().push(english(line)));
    (log, said)
}

/// It asks when it is time to, and keeps what it gets.
#[test]
fn a_certificate_is_looked_after() {
    let lab = Lab::new();
    let home = tempfile::tempdir().unwrap();
    let member = lab.member("a");
    let (log, said) = heard();
    let begun_s = member.life().from_unix_s;
    let mut upkeep = Upkeep::new(home.path().into(), log);
    assert!(upkeep.look(&member, begun_s + 59 * DAY_S).is_none());
    assert!(said.lock().unwrap().is_empty());
    let renewed = upkeep.look(&member, begun_s + 61 * DAY_S);
    let renewed = renewed.expect("it is time").credentials();
    let kept = Membership::load(home.path(), "lab", MemberRole::Agent).unwrap();
    assert_eq!(kept.credentials().certificate, renewed.certificate);
    assert_eq!(said.lock().unwrap().len(), 1);
}

/// Without an answer of the door it asks every hour, and logs once a day that the end is near.
#[test]
fn an_end_that_comes_near_is_told() {
    let (member, home) = (Lab::new().member("a"), tempfile::tempdir().unwrap());
    let (log, said) = heard();
    let begun_s = member.life().from_unix_s;
    let mut upkeep = Upkeep::new(home.path().into(), log);
    assert!(upkeep.look(&member, begun_s + 65 * DAY_S).is_none());
    assert!(said.lock().unwrap().is_empty(), "there is time left");
    for hour in 0..48 {
        let now_s = begun_s + 80 * DAY_S + hour * 3600;
        assert!(upkeep.look(&member, now_s).is_none());
    }
    let said = said.lock().unwrap();
    assert_eq!(said.len(), 4, "{said:?}");
    let begins = |line: usize, with: &str| assert!(said[line].starts_with(with), "{said:?}");
    begins(
        0,
        "the certificate ends in 10 days, and cannot be renewed: ",
    );
    begins(
        1,
        "join again, under the same name: `sokudo group token lab`",
    );
    begins(2, "the certificate ends in 9 days, and cannot be renewed: ");
}

/// A member under load is not disconnected to show another certificate.
#[test]
fn who_serves_a_controller_is_not_idle() {
    let (lab, alive) = (Lab::new(), Alive::default());
    let a = lab.agent("a", &alive);
    let token = lab.token(&Terms {
        role: MemberRole::Router,
        ..Terms::default()
    });
    // A site's router renews its certificate, too.
    let router = renew(&join(&token, "tokyo", MemberRole::Router).unwrap()).unwrap();
    let listen = SocketAddr::new(own_address(), PORT);
    let site = Site::open(&router, listen, quiet()).unwrap();
    let fleet = lab.fleet();
    sees(&fleet, &["a"]);
    assert!(a.is_idle() && site.is_idle());
    let (bus, id) = on_bus(&fleet, "a");
    assert_eq!(bus.ask(id, Ask::Clock, BOUND), Ok(Reply::Clock(42)));
    assert!(!a.is_idle());
    until(|| !site.is_idle());
    bus.close();
    drop(bus);
    until(|| a.is_idle() && site.is_idle());
}

fn until(holds: impl Fn() -> bool) {
    let deadline = Instant::now() + BOUND;
    while !holds() {
        assert!(Instant::now() < deadline, "it does not come about");
        std::thread::yield_now();
    }
}
