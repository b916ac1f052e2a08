//! Thread groups: JMeter's own and those of widespread plug-ins.

use sokudo_model::Text;

use super::{ElementSpec, Family, Role, element};
use crate::compile::ElementReader;
use crate::plan::schedule;
use crate::plan::{Load, Loops, OnError, RampRow, Stage, SteppedUsers};

/// Most users of one group.
const MOST_USERS: i64 = 10_000_000;

/// Most rows of a table of ramps.
const MOST_ROWS: usize = 1_000;

/// Longest duration that a plan may state: about 31 years.
const MOST_SECONDS: i64 = 1_000_000_000;

pub(super) const ELEMENTS: &[ElementSpec] = &[
    element(
        &["ThreadGroup"],
        Family::Group,
        1,
        Role::Group(Stage::Main, users),
    ),
    element(
        &["SetupThreadGroup"],
        Family::Group,
        2,
        Role::Group(Stage::SetUp, users),
    ),
    element(
        &["PostThreadGroup"],
        Family::Group,
        2,
        Role::Group(Stage::TearDown, users),
    ),
    element(
        &["OpenModelThreadGroup"],
        Family::Group,
        2,
        Role::Group(Stage::Main, open),
    ),
    element(
        &["UltimateThreadGroup"],
        Family::Group,
        2,
        Role::Group(Stage::Main, ramps),
    ),
    element(
        &["SteppingThreadGroup"],
        Family::Group,
        2,
        Role::Group(Stage::Main, stepped),
    ),
    element(
        &["ConcurrencyThreadGroup"],
        Family::Group,
        2,
        Role::Group(Stage::Main, concurrency),
    ),
];

/// The settings that all groups have: the action after an error, and whether a user stays the same.
pub(crate) fn common(reader: &mut ElementReader<'_, '_>) -> (OnError, bool) {
    const WORDS: &[(&str, OnError)] = &[
        ("continue", OnError::Continue),
        ("startnextloop", OnError::StartNextLoop),
        ("stopthread", OnError::StopThread),
        ("stoptest", OnError::StopTest),
        ("stoptestnow", OnError::StopTestNow),
    ];
    let on_error = reader.choice("ThreadGroup.on_sample_error", WORDS);
    let same_user = reader.start_flag("ThreadGroup.same_user_on_next_iteration", true);
    (on_error, same_user)
}

fn users(reader: &mut ElementReader<'_, '_>) -> Load {
    let users = count(reader, "ThreadGroup.num_threads");
    let ramp_ms = seconds(reader, "ThreadGroup.ramp_time");
    let loops = loops(reader);
    // All versions write the dates of the old scheduler, and none uses them.
    reader.ignore(&["ThreadGroup.start_time", "ThreadGroup.end_time"]);
    let scheduled = reader.start_flag("ThreadGroup.scheduler", false);
    let (delay, duration) = ("ThreadGroup.delay", "ThreadGroup.duration");
    let (delay_ms, duration_ms) = match scheduled {
        true => (seconds(reader, delay), Some(seconds(reader, duration))),
        false => {
            reader.ignore(&[delay, duration]);
            (0, None)
        }
    };
    if duration_ms == Some(0) {
        let says = Text::new("jmx-no-duration").word("property", duration);
        let place = reader.place_of(duration);
        reader.compiler.problems.error(place, says);
    }
    Load::Users {
        users,
        ramp_ms,
        loops,
        delay_ms,
        duration_ms,
        delayed_start: reader.start_flag("ThreadGroup.delayedStart", false),
    }
}

fn open(reader: &mut ElementReader<'_, '_>) -> Load {
    const SCHEDULE: &str = "OpenModelThreadGroup.schedule";
    let text = reader.start_text(SCHEDULE);
    let random_seed = reader.start_integer("OpenModelThreadGroup.random_seed");
    let schedule = schedule::parse(&text).unwrap_or_else(|why| {
        let says = Text::new("jmx-bad-schedule").word("why", why);
        let place = reader.place_of(SCHEDULE);
        reader.compiler.problems.error(place, says);
        Vec::new()
    });
    Load::Open {
        schedule,
        random_seed: random_seed.filter(|seed| *seed != 0),
    }
}

fn ramps(reader: &mut ElementReader<'_, '_>) -> Load {
    let table = reader.lists("ultimatethreadgroupdata", |row| row.all_texts());
    let place = reader.place_of("ultimatethreadgroupdata");
    let mut rows = Vec::new();
    if table.len() > MOST_ROWS {
        let says = Text::new("jmx-too-many").word("most", MOST_ROWS.to_string());
        reader.compiler.problems.error(place.clone(), says);
    }
    for row in table.into_iter().take(MOST_ROWS) {
        let numbers: Vec<i64> = row
            .iter()
            .filter_map(|cell| {
                reader
                    .compiler
                    .value_at_start(cell, &place)
                    .trim()
                    .parse()
                    .ok()
            })
            .filter(|number| (0..=MOST_USERS).contains(number))
            .collect();
        let &[users, delay, startup, hold, shutdown] = numbers.as_slice() else {
            let says = Text::new("jmx-bad-row").word("property", "ultimatethreadgroupdata");
            reader.compiler.problems.error(place.clone(), says);
            continue;
        };
        let ms = |seconds: i64| seconds as u64 * 1000;
        rows.push(RampRow {
            users: users as u64,
            delay_ms: ms(delay),
            startup_ms: ms(startup),
            hold_ms: ms(hold),
            shutdown_ms: ms(shutdown),
        });
    }
    Load::Ramps {
        rows,
        loops: loops(reader),
    }
}

fn stepped(reader: &mut ElementReader<'_, '_>) -> Load {
    Load::Stepped {
        steps: SteppedUsers {
            users: count(reader, "ThreadGroup.num_threads"),
            delay_ms: seconds(reader, "Threads initial delay"),
            at_once: count(reader, "Start users count burst"),
            start_at_once: count(reader, "Start users count"),
            start_period_ms: seconds(reader, "Start users period"),
            ramp_ms: seconds(reader, "rampUp"),
            hold_ms: seconds(reader, "flighttime"),
            end_at_once: count(reader, "Stop users count"),
            end_period_ms: seconds(reader, "Stop users period"),
        },
        loops: loops(reader),
    }
}

fn concurrency(reader: &mut ElementReader<'_, '_>) -> Load {
    let unit_ms = match reader.choice("Unit", &[("M", 60_000), ("S", 1_000)]) {
        unit if reader.start_text("Unit").is_empty() => unit / 60,
        unit => unit,
    };
    let time_ms = |reader: &mut ElementReader<'_, '_>, name: &str| {
        let number = reader.start_decimal(name)?;
        let ms = number * f64::from(unit_ms);
        Some(ms.clamp(0.0, MOST_SECONDS as f64 * 1e3) as u64)
    };
    reader.ignore(&["LogFilename"]);
    reader.inner("ThreadGroup.main_controller", |_| ());
    // The plug-in begins a new user for each that has made its iterations, until the time is over.
    if reader
        .start_integer("Iterations")
        .is_some_and(|count| count > 0)
    {
        let says = Text::new("jmx-concurrency-iterations");
        let place = reader.place_of("Iterations");
        reader.compiler.unsupported(&place, says, None);
    }
    Load::Concurrency {
        users: count(reader, "TargetLevel"),
        ramp_ms: time_ms(reader, "RampUp").unwrap_or(0),
        steps: reader.start_integer("Steps").unwrap_or(0).max(0) as u64,
        hold_ms: time_ms(reader, "Hold"),
        loops: Loops::Forever,
    }
}

/// The number of iterations of each user. A group whose controller continues forever starts over
/// after its loops. It does so, too, if the property is missing, as JMeter does with 5.6 plans. Without a
/// controller its users do nothing.
fn loops(reader: &mut ElementReader<'_, '_>) -> Loops {
    let loops = reader.inner("ThreadGroup.main_controller", |controller| {
        let forever = controller.start_flag("LoopController.continue_forever", true);
        let count = controller.start_integer_given("LoopController.loops");
        if !controller.is_given() {
            return Some(0);
        }
        if !forever {
            return count;
        }
        if let Some(count) = count.filter(|count| *count >= 0) {
            let says = Text::new("jmx-continues-forever").word("loops", count.to_string());
            let place = controller.place_of("LoopController.loops");
            controller.compiler.problems.warning(place, says);
        }
        Some(-1)
    });
    match loops {
        Some(count) if count < 0 => Loops::Forever,
        Some(count) => Loops::Count(count as u64),
        None => Loops::Count(1),
    }
}

fn count(reader: &mut ElementReader<'_, '_>, name: &str) -> u64 {
    within(reader, name, MOST_USERS)
}

fn seconds(reader: &mut ElementReader<'_, '_>, name: &str) -> u64 {
    within(reader, name, MOST_SECONDS) * 1000
}

fn within(reader: &mut ElementReader<'_, '_>, name: &str, most: i64) -> u64 {
    let number = reader.start_integer(name).unwrap_or(0);
    if !(0..=most).contains(&number) {
        let says = Text::new("jmx-out-of-range")
            .word("property", name)
            .word("value", number.to_string())
            .word("most", most.to_string());
        let place = reader.place_of(name);
        reader.compiler.problems.error(place, says);
        return 0;
    }
    number as u64
}
