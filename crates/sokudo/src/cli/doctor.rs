//! `sokudo doctor`: facilities of this system, and changes that it needs.

use clap::Args;
use sokudo_i18n::I18n;
use sokudo_model::Text;
use sokudo_model::document::{Document, field};
use sokudo_monitors::facilities;

use super::live::status::padded;
use super::screen::escapes;
use super::{Exit, Failure, language};

/// Try every facility that sokudo can use, and say what to change.
#[derive(Debug, Args)]
pub struct DoctorArgs {
    /// One JSON object per line.
    #[arg(long)]
    json: bool,
}

/// Columns of the name of a facility.
const NAME_COLUMNS: usize = 28;

/// Each line of `sokudo doctor --json`.
#[rustfmt::skip]
pub const FACILITIES: Document = Document {
    name: "doctor",
    command: "sokudo doctor --json",
    fields: &[
        field("name", "string", ""),
        field("available", "boolean", ""),
        field("why", "string", ""),
        field("change", "string or null", ""),
    ],
};

/// Carries it out.
pub fn run(args: DoctorArgs) -> Result<Exit, Failure> {
    let mut all = facilities::probe(&sokudo_store::runs_root());
    all.extend(socket_facilities());
    if args.json {
        for facility in &all {
            println!("{}", as_json(facility));
        }
        return Ok(Exit::Fine);
    }
    let (good, caution, plain) = if escapes(&std::io::stdout()) {
        ("\x1b[32m", "\x1b[33m", "\x1b[0m")
    } else {
        ("", "", "")
    };
    let missing = all.iter().filter(|facility| !facility.available).count();
    let i18n = I18n::new(language());
    let says = Text::new("status-facilities").with("n", all.len() - missing);
    println!("{}\n", i18n.text(&says.with("all", all.len())));
    let say = |sentence: &str| i18n.text(&Text::recorded(sentence));
    for facility in &all {
        let mark = if facility.available {
            format!("{good}✓{plain}")
        } else {
            format!("{caution}–{plain}")
        };
        let name = padded(&say(&facility.name), NAME_COLUMNS);
        println!("  {mark} {name} {}", say(&facility.why));
        if let Some(change) = &facility.change {
            println!("    {:NAME_COLUMNS$} → {}", "", say(change));
        }
    }
    Ok(Exit::Fine)
}

/// Facilities of this system's sockets, each tried.
fn socket_facilities() -> Vec<facilities::Facility> {
    use sokudo_net::udp;
    let socket = udp::bind(([127, 0, 0, 1], 0).into());
    let tried = |name: &str, outcome: std::io::Result<()>, use_for: &str| facilities::Facility {
        name: name.into(),
        available: outcome.is_ok(),
        why: match outcome {
            Ok(()) => use_for.into(),
            Err(error) => error.to_string(),
        },
        change: None,
    };
    match socket {
        Ok(socket) => vec![
            tried(
                "UDP segmentation (GSO)",
                udp::segmentation(&socket, 1468),
                "many datagrams per send call",
            ),
            tried(
                "UDP coalescing (GRO)",
                udp::enable_gro(&socket),
                "many datagrams per receive call",
            ),
            tried(
                "drops per socket",
                udp::socket_drops(&socket)
                    .map(|_| ())
                    .ok_or_else(|| std::io::Error::other("the system does not count them")),
                "loss at the receiving socket is told from loss elsewhere",
            ),
        ],
        Err(error) => vec![tried("UDP sockets", Err(error), "")],
    }
}

fn as_json(facility: &facilities::Facility) -> serde_json::Value {
    serde_json::json!({
        "name": facility.name,
        "available": facility.available,
        "why": facility.why,
        "change": facility.change,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A name of one word is the kernel's own.
    #[test]
    fn names_of_several_words_are_told_in_japanese() {
        let place = tempfile::tempdir().expect("a directory");
        let mut all = facilities::probe(place.path());
        all.extend(socket_facilities());
        let japanese = I18n::new(sokudo_i18n::Lang::Ja);
        for name in all.iter().map(|it| &it.name).filter(|it| it.contains(' ')) {
            assert_ne!(&japanese.text(&Text::recorded(name.as_str())), name);
        }
    }

    #[test]
    fn each_line_is_as_it_is_described() {
        let lines: Vec<_> = socket_facilities().iter().map(as_json).collect();
        let differences = sokudo_testkit::document::differences(&FACILITIES, &lines);
        assert!(differences.is_empty(), "{differences:#?}");
    }
}
