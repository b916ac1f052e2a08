//! Rows of `pg_stat_activity` as what sessions do.

use sokudo_model::metrics::postgres::CLASSES;

use super::CHECKPOINTER;
use crate::database::Seen;

/// Adds so many sessions in one wait event.
pub(super) fn take(seen: &mut Seen, class: &str, event: &str, sessions: f64) {
    if class == CHECKPOINTER {
        // Between checkpoints it waits for its next turn.
        seen.is_checkpointing = Some(event != "CheckpointerMain");
        return;
    }
    let known = CLASSES.iter().find(|known| **known == class);
    let known = known.copied().unwrap_or("other");
    if (class, event) == ("Client", "ClientRead") {
        seen.of_client += sessions;
    }
    let event = match event {
        "" => String::new(),
        event => format!("{class}/{event}"),
    };
    seen.groups.push((known, event, sessions));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waits_fall_into_their_classes_and_the_checkpointer_is_no_session() {
        let mut seen = Seen::default();
        for (class, event, sessions) in [
            ("CPU", "", 2.0),
            ("Client", "ClientRead", 3.0),
            ("Client", "ClientWrite", 1.0),
            ("Extension", "Extension", 1.0),
            ("checkpointer", "CheckpointWriteDelay", 1.0),
        ] {
            take(&mut seen, class, event, sessions);
        }
        assert_eq!(seen.of_client, 3.0);
        assert_eq!(seen.is_checkpointing, Some(true));
        let classes: Vec<_> = seen.groups.iter().map(|group| group.0).collect();
        assert_eq!(classes, ["CPU", "Client", "Client", "other"]);
        assert_eq!(seen.groups[1].1, "Client/ClientRead");
        take(&mut seen, "checkpointer", "CheckpointerMain", 1.0);
        assert_eq!(seen.is_checkpointing, Some(false));
    }
}
