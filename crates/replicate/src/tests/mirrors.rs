//! Mirrors: the target is what the source became, whatever happened in between.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use super::{Copied, Copy, Random, connections, look, open, quick};
use crate::mirror::Mirror;
use crate::receive::{ReceiveTerms, Sink};
use crate::send::SendTerms;
use crate::session::Session;

/// Longest time until both trees are equal.
const BOUND: Duration = Duration::from_secs(120);

/// Follows the source while `change` changes it, until both trees are equal. `change` gets a call that waits
/// for the next round.
fn follow(
    source: &Path,
    target: &Path,
    begin: fn(&Path) -> Mirror,
    change: impl FnOnce(&dyn Fn()) + Send,
) -> (Copied, Mirror, Vec<u64>) {
    let copy = Copy {
        send: SendTerms {
            follows: true,
            ..SendTerms::default()
        },
        receive: ReceiveTerms {
            delete: true,
            ..Copy::default().receive
        },
        ..Copy::default()
    };
    let (mut mirror, mut lags) = (begin(source), Vec::new());
    let (given, is_done) = (AtomicU64::new(0), AtomicBool::new(false));
    let deadline = Instant::now() + BOUND;
    let wait_until = |rounds| {
        while given.load(Ordering::Relaxed) < rounds {
            assert!(Instant::now() < deadline, "the rounds have ended");
            std::thread::yield_now();
        }
    };
    let copied = std::thread::scope(|scope| {
        scope.spawn(|| {
            // The second one is asked for when the first one is complete.
            wait_until(2);
            change(&|| wait_until(given.load(Ordering::Relaxed) + 1));
            is_done.store(true, Ordering::Relaxed);
        });
        let rounds = |session: &Session| {
            let was_done = is_done.load(Ordering::Relaxed);
            let round = mirror.next(session, &mut |lag_ns| lags.push(lag_ns))?;
            given.fetch_add(1, Ordering::Relaxed);
            let is_quiet = was_done && round.directories.is_empty();
            if is_quiet && (look(source) == look(target) || Instant::now() > deadline) {
                return None;
            }
            Some(round)
        };
        let channels = connections(2 + copy.connections);
        copy.as_asked(
            channels,
            copy.tree(source),
            Sink::Tree(open(target)),
            rounds,
        )
    });
    assert_eq!(look(source), look(target));
    (copied, mirror, lags)
}

/// One change of a tree that a seed determines. What it needs may be missing: then nothing changes.
fn change(root: &Path, random: &mut Random) {
    let mut place = |most| {
        let mut path = PathBuf::from(root);
        for _ in 0..=random.below(most) {
            path.push(format!("d{}", random.below(4)));
        }
        path
    };
    let (directory, other) = (place(4), place(3));
    let file = directory.join(format!("f{}", random.below(6)));
    let _ = match random.below(9) {
        0 | 1 => fs::create_dir_all(&directory),
        2 | 3 => fs::write(&file, vec![7; random.below(40_000) as usize]),
        4 => fs::remove_dir_all(&directory),
        5 => fs::rename(&directory, &other),
        6 => fs::remove_file(&file),
        7 => symlink("d0", &file),
        _ => fs::set_permissions(&file, fs::Permissions::from_mode(0o600)),
    };
}

#[test]
fn a_mirror_is_what_its_source_became() {
    for seed in 0..4 {
        let (source, target) = (quick(), quick());
        let mut random = Random(seed);
        for _ in 0..100 {
            change(source.path(), &mut random);
        }
        let (copied, mirror, lags) = follow(source.path(), target.path(), Mirror::begin, |round| {
            for number in 0..400 {
                change(source.path(), &mut random);
                if number % 40 == 0 {
                    round();
                }
            }
        });
        assert_eq!(copied.sent.broken, None);
        assert_eq!(mirror.blind(), None);
        assert!(copied.sent.rounds > 1 && !lags.is_empty(), "{copied:?}");
    }
}

#[test]
fn a_new_tree_is_followed_into_its_depth() {
    let (source, target) = (quick(), quick());
    let (copied, _, _) = follow(source.path(), target.path(), Mirror::begin, |_| {
        for number in 0..50 {
            let deep = source.path().join(format!("{number}/a/b/c/d"));
            fs::create_dir_all(&deep).unwrap();
            fs::write(deep.join("file"), number.to_string()).unwrap();
        }
    });
    copied.fine();
}

#[test]
fn without_watches_everything_is_looked_at_again() {
    let (source, target) = (quick(), quick());
    let begin = Mirror::without_watches;
    let (copied, mirror, lags) = follow(source.path(), target.path(), begin, |_| {
        fs::write(source.path().join("later"), "x").unwrap();
    });
    copied.fine();
    assert_eq!(mirror.blind(), Some("no watches left"));
    assert!(mirror.rescans() > 0 && !lags.is_empty());
}

#[test]
fn events_that_were_lost_make_one_look_at_everything() {
    let (source, target) = (quick(), quick());
    fs::create_dir(source.path().join("unseen")).unwrap();
    let begin = |root: &Path| {
        let mirror = Mirror::begin(root);
        mirror.overflows();
        mirror
    };
    let (copied, mirror, lags) = follow(source.path(), target.path(), begin, |round| round());
    copied.fine();
    assert_eq!((mirror.blind(), mirror.rescans()), (None, 1));
    assert_eq!(lags.len(), 1);
}

#[test]
fn a_file_that_goes_before_it_is_read_is_no_failure_of_a_mirror() {
    let (source, target) = (quick(), quick());
    let (copied, _, _) = follow(source.path(), target.path(), Mirror::begin, |_| {
        for number in 0..2_000 {
            let path = source.path().join(format!("f{}", number % 7));
            fs::write(&path, "x").unwrap();
            fs::remove_file(&path).unwrap();
        }
    });
    copied.fine();
}
