//! Timers.

use sokudo_model::Text;

use super::{ElementSpec, Family, Role, element};
use crate::compile::ElementReader;
use crate::plan::{Over, ShapeRow, TimerKind, Value};

const fn timer(
    classes: &'static [&'static str],
    tier: u8,
    read: fn(&mut ElementReader<'_, '_>) -> TimerKind,
) -> ElementSpec {
    element(classes, Family::Timer, tier, Role::Timer(read))
}

pub(super) const ELEMENTS: &[ElementSpec] = &[
    timer(&["ConstantTimer"], 1, |r| TimerKind::Constant {
        delay_ms: delay(r),
    }),
    timer(&["UniformRandomTimer"], 1, |r| TimerKind::Uniform {
        offset_ms: delay(r),
        range_ms: range(r),
    }),
    timer(&["GaussianRandomTimer"], 1, |r| TimerKind::Gaussian {
        offset_ms: delay(r),
        deviation_ms: range(r),
    }),
    timer(&["PoissonRandomTimer"], 2, |r| TimerKind::Poisson {
        offset_ms: delay(r),
        lambda_ms: range(r),
    }),
    timer(&["ConstantThroughputTimer"], 2, constant_throughput),
    timer(&["PreciseThroughputTimer"], 2, precise_throughput),
    timer(&["VariableThroughputTimer"], 2, shaping),
    timer(&["SyncTimer"], 2, synchronizing),
];

fn delay(reader: &mut ElementReader<'_, '_>) -> Value<f64> {
    reader.decimal("ConstantTimer.delay", 0.0)
}

fn range(reader: &mut ElementReader<'_, '_>) -> Value<f64> {
    reader.decimal("RandomTimer.range", 0.0)
}

fn constant_throughput(reader: &mut ElementReader<'_, '_>) -> TimerKind {
    const MODES: [Over; 5] = [
        Over::ThisUser,
        Over::AllUsers,
        Over::Group,
        Over::AllUsersShared,
        Over::GroupShared,
    ];
    const MODE: &str = "calcMode";
    // Old versions wrote the texts of the editor's language here.
    let word = reader.start_text(MODE);
    let number = match word.trim() {
        "" | "this thread only" => Some(0),
        "all active threads" => Some(1),
        "all active threads in current thread group" => Some(2),
        "all active threads (shared)" => Some(3),
        "all active threads in current thread group (shared)" => Some(4),
        word => word.parse::<usize>().ok(),
    };
    let over = number.and_then(|number| MODES.get(number)).copied();
    if over.is_none() {
        let says = Text::new("jmx-unknown-word")
            .word("property", MODE)
            .word("word", word)
            .word("known", "0 … 4");
        let place = reader.place_of(MODE);
        reader.compiler.problems.error(place, says);
    }
    TimerKind::ConstantThroughput {
        per_minute: reader.decimal("throughput", 0.0),
        over: over.unwrap_or(Over::ThisUser),
    }
}

fn precise_throughput(reader: &mut ElementReader<'_, '_>) -> TimerKind {
    // Both tune the approximation of the number; here it is always exact.
    reader.ignore(&["exactLimit", "allowedThroughputSurplus"]);
    TimerKind::PreciseThroughput {
        throughput: reader.decimal("throughput", 0.0),
        period_s: reader.integer("throughputPeriod", 3600),
        duration_s: reader.integer("duration", 3600),
        batch: reader.integer("batchSize", 1),
        batch_gap_ms: reader.integer("batchThreadDelay", 0),
        seed: reader.integer("randomSeed", 0),
    }
}

fn shaping(reader: &mut ElementReader<'_, '_>) -> TimerKind {
    let place = reader.place_of("load_profile");
    let table = reader.lists("load_profile", |row| row.all_texts());
    let mut rows = Vec::new();
    for row in table {
        let mut cells =
            row.into_iter()
                .map(|cell| match cell.constant().map(|c| c.trim().parse()) {
                    Some(parsed) => parsed.ok().map(Value::Fixed),
                    None => Some(Value::Live(cell)),
                });
        let mut cell = || cells.next().flatten();
        match (cell(), cell(), cell()) {
            (Some(start_per_s), Some(end_per_s), Some(duration_s)) => rows.push(ShapeRow {
                start_per_s,
                end_per_s,
                duration_s,
            }),
            _ => {
                let says = Text::new("jmx-bad-row").word("property", "load_profile");
                reader.compiler.problems.error(place.clone(), says);
            }
        }
    }
    TimerKind::ThroughputShaping { rows }
}

fn synchronizing(reader: &mut ElementReader<'_, '_>) -> TimerKind {
    TimerKind::Synchronizing {
        users: reader.integer("groupSize", 0),
        timeout_ms: reader.integer("timeoutInMs", 0),
    }
}
