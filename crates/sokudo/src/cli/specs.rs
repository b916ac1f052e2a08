//! `sokudo replicate --specs`: carries out what a file of specifications says, a row for each.

use std::io::Read as _;
use std::path::Path;
use std::sync::{Mutex, PoisonError};

use indicatif::{MultiProgress, ProgressBar, ProgressStyle};
use serde_json::json;
use sokudo_i18n::I18n;
use sokudo_model::{Refusal, Text, harmless};
use sokudo_session::specs::file::{self, Spec, SpecFile};
use sokudo_session::specs::keeper::{Keeping, keep};
use sokudo_session::specs::preset::Preset;
use sokudo_session::specs::row::{Doing, Light, Row};
use sokudo_session::specs::words::Words;
use sokudo_wire::Key;

use super::screen::{bar_target, escapes, tell};
use super::web::WatchArgs;
use super::workload::{CallArgs, reach};
use super::{Exit, Failure, command_for_record, key, stop_flag};

/// Largest file, bytes.
const FILE_BYTES_MAX: u64 = 4 << 20;

/// Carries out the specifications of a file.
pub fn run(
    path: &Path,
    once: bool,
    preset: Option<Preset>,
    typed: &Words,
    call: &CallArgs,
    page: &WatchArgs,
) -> Result<Exit, Failure> {
    let mut words = preset.map_or_else(Words::default, Words::of);
    words.set_all(typed);
    let specs = read(path, &words)?;
    let general = call.key()?;
    let key = |host: &str| key_of(&specs, host, general.as_ref());
    for spec in &specs.specs {
        spec.legs
            .iter()
            .try_for_each(|leg| key(&leg.host).map(drop))?;
    }
    let lang = call.show.lang();
    let page = page.open("specs")?;
    let rows = Rows::new(I18n::new(lang), &specs.specs);
    let keeping = Keeping {
        specs: &specs.specs,
        key: &key,
        reach: &|hosts, host, key| reach(hosts, host, key).map_err(Refusal::from),
        board: &|place, row| {
            rows.show(place, row);
            if let Some(page) = &page {
                page.row(place, row);
            }
        },
        command: command_for_record(),
        lang,
        once,
        stop: stop_flag()?,
    };
    let ended = keep(&keeping);
    rows.clear();
    if let Some(page) = &page {
        page.close_rows(&ended);
    }
    if call.show.json {
        let rows: Vec<_> = ended.iter().map(Row::to_json).collect();
        println!("{:#}", json!({ "schema": "sokudo.specs/1", "specs": rows }));
    } else {
        ended.iter().for_each(|row| println!("{}", rows.line(row)));
    }
    Ok(match ended.iter().any(|row| row.light == Light::Red) {
        true => Exit::RunFailed,
        false => Exit::Fine,
    })
}

fn read(path: &Path, typed: &Words) -> Result<SpecFile, Failure> {
    let cannot = |why: &dyn std::fmt::Display| {
        Failure::operator(
            Text::new("error-specs-file")
                .with("path", path.display())
                .with("why", why),
            Text::new("error-specs-wrong-hint"),
        )
    };
    let file = std::fs::File::open(path).map_err(|error| cannot(&error))?;
    let mut text = String::new();
    let read = file.take(FILE_BYTES_MAX + 1).read_to_string(&mut text);
    read.map_err(|error| cannot(&error))?;
    if text.len() as u64 > FILE_BYTES_MAX {
        return Err(cannot(&"it is too large"));
    }
    Ok(file::read(&text, typed)?)
}

/// The key that the file names for a host, else the general one.
fn key_of(specs: &SpecFile, host: &str, general: Option<&Key>) -> Result<Option<Key>, Refusal> {
    match specs.keys.get(host) {
        Some(text) => Ok(key::parse(Some(&key::KeyText::typed(text)))?),
        None => Ok(general.cloned()),
    }
}

/// The rows: lines that are drawn again on a terminal, else a line whenever something changes.
struct Rows {
    i18n: I18n,
    bars: Option<(MultiProgress, Vec<ProgressBar>)>,
    /// Last message of each row.
    said: Mutex<Vec<Option<(Light, String)>>>,
}

impl Rows {
    fn new(i18n: I18n, specs: &[Spec]) -> Self {
        let all = MultiProgress::with_draw_target(bar_target());
        let bars = (!all.is_hidden()).then(|| {
            let style = ProgressStyle::with_template("{wide_msg}");
            let bar = |_: &Spec| {
                let bar = all.add(ProgressBar::new_spinner());
                if let Ok(style) = &style {
                    bar.set_style(style.clone());
                }
                bar
            };
            let bars = specs.iter().map(bar).collect();
            (all.clone(), bars)
        });
        Self {
            i18n,
            bars,
            said: Mutex::new(vec![None; specs.len()]),
        }
    }

    fn show(&self, place: usize, row: &Row) {
        if let Some((_, bars)) = &self.bars {
            bars[place].set_message(self.line(row));
            return;
        }
        let what = match row.doing {
            Doing::Waits(_) => "waits",
            Doing::Calls => "calls",
            Doing::Copies => "copies",
            Doing::Follows => "follows",
            Doing::Ended => "ended",
        };
        let why = row.why.as_ref().map(|(host, why)| format!("{host}{why:?}"));
        let now = (row.light, format!("{what}{}", why.unwrap_or_default()));
        let mut said = self.said.lock().unwrap_or_else(PoisonError::into_inner);
        if said[place].as_ref() != Some(&now) {
            said[place] = Some(now);
            tell(&self.line(row));
        }
    }

    fn clear(&self) {
        if let Some((all, _)) = &self.bars {
            // The rows are printed once more below.
            let _ = all.clear();
        }
    }

    /// A row: light, name, and what is told of it.
    fn line(&self, row: &Row) -> String {
        let (color, plain) = match escapes(&std::io::stderr()) {
            true => (color(row.light), "\x1b[0m"),
            false => ("", ""),
        };
        let light = self
            .i18n
            .message(&format!("specs-{}", row.light.name()), &[]);
        let parts = row.parts();
        let parts: Vec<String> = parts.iter().map(|part| self.i18n.text(part)).collect();
        let name = harmless(&row.name);
        format!(
            "{color}●{plain} {light}  {name}  {}",
            harmless(&parts.join(" · "))
        )
    }
}

fn color(light: Light) -> &'static str {
    match light {
        Light::Green => "\x1b[32m",
        Light::Yellow => "\x1b[33m",
        Light::Red => "\x1b[31m",
    }
}
