//! Rows of the process list as what sessions do.

use crate::database::Seen;

/// State of a session whose statement has ended but for its log: from MariaDB 10.6 on it waits there until the log is on its
/// disk, without the locks of its rows. What the state is named for takes no time.
const AFTER_COMMIT: &str = "updating status";

/// Adds so many sessions with this command, in this state.
pub(super) fn take(seen: &mut Seen, command: &str, state: &str, sessions: f64) {
    let small = state.to_ascii_lowercase();
    let class = match command {
        "Sleep" => "Client",
        "Query" | "Execute" | "Prepare" | "Close stmt" | "Quit" | "Connect" => {
            if small.contains("lock") {
                "Lock"
            } else if small.contains("commit") || small == AFTER_COMMIT {
                "Commit"
            } else if small.contains("net") || small.contains("client") {
                "Client"
            } else {
                "CPU"
            }
        }
        _ => "other",
    };
    if command == "Sleep" {
        seen.of_client += sessions;
    }
    let event = match (command, state) {
        ("Sleep", _) => "Sleep".to_owned(),
        (_, state) => state.to_owned(),
    };
    seen.groups.push((class, event, sessions));
}

/// Moves so many sessions from work to waits: the server shows who waits for a row as if it worked on its statement.
pub(super) fn wait_for_rows(seen: &mut Seen, mut waiting: f64) {
    let mut moved = 0.0;
    for (class, _, sessions) in &mut seen.groups {
        if *class == "CPU" {
            let these = sessions.min(waiting);
            *sessions -= these;
            waiting -= these;
            moved += these;
        }
    }
    if moved > 0.0 {
        seen.groups.push(("Lock", "row lock".into(), moved));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn by_class(seen: &Seen, class: &str) -> f64 {
        let groups = seen.groups.iter().filter(|group| group.0 == class);
        groups.map(|group| group.2).sum()
    }

    #[test]
    fn states_fall_into_classes_and_row_waits_are_no_work() {
        let mut seen = Seen::default();
        for (command, state, sessions) in [
            ("Sleep", "", 3.0),
            ("Execute", "Updating", 4.0),
            ("Query", "Commit", 1.0),
            ("Query", "Updating status", 1.0),
            ("Query", "Waiting for table metadata lock", 1.0),
            ("Binlog Dump", "Master has sent all binlog to slave", 1.0),
        ] {
            take(&mut seen, command, state, sessions);
        }
        wait_for_rows(&mut seen, 3.0);
        let classes = ["CPU", "Client", "Commit", "Lock", "other"];
        let sums = classes.map(|class| by_class(&seen, class));
        assert_eq!(sums, [1.0, 3.0, 2.0, 4.0, 1.0]);
        assert_eq!(seen.of_client, 3.0);
    }
}
