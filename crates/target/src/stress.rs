//! `/stress/…`: takes a connection, multiplies large probable primes, takes a connection again.
//!
//! ```text
//! search: connection held searchTime ─► 2 primes of `bit` bits, multiplied `duration` times with
//! `interval` after each ─► update: connection held updateTime
//! ```

use std::hint::black_box;
use std::io::Write as _;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use sokudo_net::clock::thread_cpu_ns;
use sokudo_pace::Random;

use crate::pool::{Held, NoSession, Pool, Statement};
use crate::prime::probable_prime;
use crate::request::parameter;
use crate::respond::Answer;
use crate::settings::{Fault, Hold, Stress, ms};
use crate::stop::Stop;

/// Parameters of a request: name, and the largest value that it may have.
const PARAMETERS: [(&str, u64); 5] = [
    ("searchTime", 3_600_000),
    ("interval", 3_600_000),
    ("duration", 1_000_000),
    ("bit", 8192),
    ("updateTime", 3_600_000),
];
/// The last one as a defective servlet reads it.
const MISSPELT: &str = "updatTime";

/// Parameters in the order of [`PARAMETERS`].
type Values = [u64; 5];

/// Parameters that all requests share, as instance fields of a servlet.
#[derive(Default)]
pub(crate) struct SharedValues([AtomicU64; 5]);

impl SharedValues {
    /// As a servlet that has just been made.
    pub(crate) fn set(&self, stress: &Stress) {
        for (field, value) in self.0.iter().zip(defaults(stress)) {
            field.store(value, Ordering::Relaxed);
        }
    }

    fn get(&self) -> Values {
        std::array::from_fn(|at| self.0[at].load(Ordering::Relaxed))
    }
}

/// Everything that a request needs.
pub(crate) struct Stage<'a> {
    pub(crate) stress: &'a Stress,
    pub(crate) fault: &'a Fault,
    pub(crate) pool: &'a Pool,
    pub(crate) shared: &'a SharedValues,
    pub(crate) stop: &'a Stop,
    pub(crate) random: &'a mut Random,
}

/// Time of a request, by stage.
#[derive(Debug, Default)]
struct Spent {
    pool: Duration,
    hold: Duration,
    work: Duration,
}

impl Stage<'_> {
    /// Carries a request out. `forms` are its query and its body, `queued` the time that it waited for
    /// its thread.
    pub(crate) fn serve(
        &mut self,
        forms: [&[u8]; 2],
        wants_json: bool,
        queued: Duration,
    ) -> Answer {
        let values = match self.read(forms) {
            Ok(values) => values,
            Err(why) => return Answer::plain(400, format!("{why}\n").into_bytes()),
        };
        let begun = Instant::now();
        let mut spent = Spent::default();
        if let Err(why) = self.carry_out(values, &mut spent) {
            return Answer::plain(503, format!("{why}\n").into_bytes());
        }
        answer(
            self.now(values),
            &spent,
            begun.elapsed(),
            queued,
            wants_json,
        )
    }

    fn read(&self, forms: [&[u8]; 2]) -> Result<Values, String> {
        let given = |name| forms.iter().find_map(|form| parameter(form, name));
        let mut values = defaults(self.stress);
        for (at, (name, most)) in PARAMETERS.into_iter().enumerate() {
            let name = match at == 4 && self.stress.seed_bugs {
                true => MISSPELT,
                false => name,
            };
            let Some(text) = given(name) else { continue };
            match text.parse::<u64>() {
                Ok(value) if value <= most => {
                    values[at] = value;
                    self.shared.0[at].store(value, Ordering::Relaxed);
                }
                _ if self.stress.seed_bugs => {}
                _ => return Err(format!("{name} is not a number up to {most}")),
            }
        }
        Ok(values)
    }

    /// The parameters at this moment, which other requests may have changed.
    fn now(&self, own: Values) -> Values {
        match self.stress.seed_bugs {
            true => self.shared.get(),
            false => own,
        }
    }

    fn carry_out(&mut self, own: Values, spent: &mut Spent) -> Result<(), String> {
        let search = self.now(own)[0];
        self.hold(search, Statement::Search, spent)?;
        let begun = Instant::now();
        self.multiply(own);
        self.spin();
        spent.work = begun.elapsed();
        let update = self.now(own)[4];
        self.hold(update, Statement::Update, spent)
    }

    /// Takes a connection, uses it, and gives it back `hold_ms` after it had it.
    fn hold(&self, hold_ms: u64, statement: Statement, spent: &mut Spent) -> Result<(), String> {
        let asked = Instant::now();
        let held = self.pool.acquire();
        let since = Instant::now();
        spent.pool += since - asked;
        let mut held = held.map_err(|why: NoSession| why.to_string())?;
        let done = self.execute(&mut held, statement);
        if done.is_err() {
            held.is_broken();
        } else {
            let hold = Duration::from_millis(hold_ms);
            self.stop.rest(hold.saturating_sub(since.elapsed()));
        }
        spent.hold += since.elapsed();
        done
    }

    fn execute(&self, held: &mut Held<'_>, statement: Statement) -> Result<(), String> {
        if self.fault.db_down {
            return Err("the database is down".into());
        }
        self.stop.rest(ms(self.fault.db_ms));
        match self.stress.hold {
            Hold::Statement => held.execute(statement),
            Hold::Sleep => Ok(()),
        }
    }

    fn multiply(&mut self, own: Values) {
        let [_, _, _, bit, _] = self.now(own);
        let pair = (bit > 0).then(|| {
            let first = probable_prime(bit, self.random);
            (first, probable_prime(bit, self.random))
        });
        let mut done = 0;
        loop {
            let [_, interval, duration, ..] = self.now(own);
            if done >= duration || self.stop.is_asked() {
                return;
            }
            if let Some((first, second)) = &pair {
                black_box(first * second);
            }
            self.stop.rest(Duration::from_millis(interval));
            done += 1;
        }
    }

    /// Uses CPU time, whatever else runs on this core.
    fn spin(&self) {
        let wanted_ns = self.stress.spin_us * 1000;
        if wanted_ns == 0 {
            return;
        }
        let begun = Instant::now();
        let clock = || thread_cpu_ns().unwrap_or_else(|| begun.elapsed().as_nanos() as u64);
        let until = clock() + wanted_ns;
        while clock() < until {
            for _ in 0..64 {
                std::hint::spin_loop();
            }
        }
    }
}

fn defaults(stress: &Stress) -> Values {
    [
        stress.search_ms,
        stress.interval_ms,
        stress.duration,
        stress.bit,
        stress.update_ms,
    ]
}

fn answer(
    values: Values,
    spent: &Spent,
    elapsed: Duration,
    queued: Duration,
    wants_json: bool,
) -> Answer {
    let ms = |time: Duration| time.as_secs_f64() * 1e3;
    let parts = [
        ("queue", ms(queued)),
        ("pool", ms(spent.pool)),
        ("hold", ms(spent.hold)),
        ("work", ms(spent.work)),
    ];
    let timing = parts
        .map(|(name, ms)| format!("{name};dur={ms:.3}"))
        .join(", ");
    let mut body = Vec::with_capacity(256);
    let named = PARAMETERS.iter().zip(values);
    // Writing into memory does not fail.
    if wants_json {
        for ((name, _), value) in named {
            let _ = write!(
                body,
                "{}\"{name}\":{value}",
                if body.is_empty() { '{' } else { ',' }
            );
        }
        for (name, ms) in parts.into_iter().chain([("elapsed", ms(elapsed))]) {
            let _ = write!(body, ",\"{name}_ms\":{ms:.3}");
        }
        body.extend_from_slice(b"}\n");
    } else {
        body.extend_from_slice(b"<pre>\n");
        let units = ["msec", "msec", "times", "bit", "msec"];
        for (((name, _), value), unit) in named.zip(units) {
            let _ = writeln!(body, "{name}: {value}{unit}");
        }
        let _ = writeln!(
            body,
            "total elapsed time: {}msec\n</pre>",
            elapsed.as_millis()
        );
    }
    Answer {
        status: 200,
        kind: match wants_json {
            true => "application/json",
            false => "text/html; charset=utf-8",
        },
        body: body.into(),
        timing,
    }
}
