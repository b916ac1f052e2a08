//! `sokudo http` and its like: load on a server that takes no part in the run.

use clap::Args;
use sokudo_controller::Knobs;
use sokudo_i18n::Lang;
use sokudo_session::LoadedServer;
use sokudo_workload::Options;

use super::finish::ShowOptions;
use super::live::LiveArgs;
use super::measure::{Generators, MeasureArgs, measure};
use super::observe::ObserveArgs;
use super::observer::Terminal;
use super::out::OutArgs;
use super::target_knobs::TargetKnobs;
use super::web::{WatchArgs, Watched};
use super::workload::{self, Call};
use super::{Exit, Failure};

/// Examples after the help of `http`.
pub const HTTP_EXAMPLES: &str = "\
Examples:
  sokudo http http://hostb:8080/                     64 connections, 10 s, as fast as answers come
  sokudo http hostb:8080/ -c 256 -d 60s -t 2         256 connections on two threads
  sokudo http hostb:8080/ --rate 500/s               open loop: latency from the intended start
  sokudo http hostb:8080/ --rate 500/s --slo 'p95<2s,errors<0.1%'   exit code 1 when broken
  sokudo http hostb:8080/ --find 'p99<50ms'          the highest rate that keeps the bound
  sokudo http hostb:8080/ --sweep rate=100/s..6400/s:x2   latency over load, and its knee
  sokudo http https://hostb/api -X POST -H 'Content-Type: application/json' -b @request.json
  sokudo http hostb:8080/ --on 'lab/*' -c 400        400 connections from all hosts of a group
  sokudo http https://hostb/ --http2 -c 32 -m 100    HTTP/2: 100 requests at a time on each of 32
  sokudo http hostb:8080/ --no-keepalive             a connection for each request
  sokudo http hostb:8080/ -d 60s --web               seen in a browser while it goes on

Without --rate the loop is closed: a server that stalls is asked less, and few requests see it. With
--rate every request that was due meanwhile sees it.";

/// Examples after the help of `dns`.
pub const DNS_EXAMPLES: &str = "\
Examples:
  sokudo dns 192.0.2.53 -q www.example.org           as fast as responses come, 10 s
  sokudo dns ns1.example -Q @queries.txt -d 60s      the queries of a file, as dnsperf takes it
  sokudo dns 192.0.2.53 -q www.example.org --rate 20k/s   open loop: latency from the intended start
  sokudo dns 192.0.2.53 -q www.example.org --find 'p99<5ms,errors<0.1%'   the highest such rate
  sokudo dns 192.0.2.53 -q 'host{n}.example.org'     a new name each time: no cache knows it
  sokudo dns 192.0.2.53 -q example.org --type DNSKEY --dnssec --transport tcp
  sokudo dns 192.0.2.53 -q www.example.org --on 'lab/*' -c 64   from all hosts of a group

Nothing is asked twice: a query that is lost on the way is an error, as one that the server leaves
unanswered is. Names that do not exist (NXDOMAIN) are answers; SERVFAIL and REFUSED are errors.";

/// Examples after the help of `tpcb`.
pub const TPCB_EXAMPLES: &str = "\
Examples:
  sokudo tpcb                                        a SQLite file of its own, one client, 10 s
  sokudo db init --target postgres://bench@hostb/bench --scale 50     the tables, once
  sokudo tpcb --target postgres://bench@hostb/bench -c 16 -d 60s      as fast as it commits
  sokudo tpcb --target postgres://bench@hostb/bench -c 64 --rate 500/s   open loop: latency from the intended start
  sokudo tpcb --target mysql://bench@hostb/bench -c 16 --variant select  only reads
  sokudo tpcb --target postgres://bench@hostb/bench -c 64 --find 'p99<20ms,errors<0.1%'   the highest such rate
  sokudo tpcb --target postgres://bench@hostb/bench --knee clients=1..64   where transactions begin to queue

Afterwards the sums of the tables must agree, and every commit that the server acknowledged must be there.
Passwords: in the DSN, PGPASSWORD or MYSQL_PWD; none of them is recorded.";

/// Examples after the help of `dbt1`.
pub const DBT1_EXAMPLES: &str = "\
Examples:
  sokudo dbt1                                        a shop of 2,880 customers in a SQLite file of its own, 10 s
  sokudo db init --target postgres://bench@hostb/bench --workload dbt1 --scale 10     the tables, once
  sokudo dbt1 --target postgres://bench@hostb/bench -c 16 -d 60s      as fast as it answers
  sokudo dbt1 --target postgres://bench@hostb/bench -c 100 --think 7s -d 20m   visitors who think, as specified
  sokudo dbt1 --target mysql://bench@hostb/bench -c 16 --mix ordering  one interaction in ten buys
  sokudo dbt1 --target mysql://bench@hostb/bench -c 64 --rate 500/s    open loop: latency from the intended start

Afterwards carts, orders, payments and stock must agree, and every order that the server acknowledged must be there.
Passwords: in the DSN, PGPASSWORD or MYSQL_PWD; none of them is recorded.";

/// Examples after the help of `dbt2`.
pub const DBT2_EXAMPLES: &str = "\
Examples:
  sokudo dbt2                                        one warehouse in a SQLite file of its own, 10 s
  sokudo db init --target postgres://bench@hostb/bench --workload dbt2 --scale 10     the tables, once
  sokudo dbt2 --target postgres://bench@hostb/bench -c 16 -d 60s      as fast as it commits
  sokudo dbt2 --target postgres://bench@hostb/bench -c 100 --pace 1 -d 20m   ten users at each warehouse, as specified
  sokudo dbt2 --target mysql://bench@hostb/bench -c 64 --rate 200/s   open loop: latency from the intended start
  sokudo db check --target postgres://bench@hostb/bench --workload dbt2    the 12 conditions, at any time

Afterwards the 12 conditions on the tables must hold, and every New-Order and Payment that the server acknowledged
must be there. Passwords: in the DSN, PGPASSWORD or MYSQL_PWD; none of them is recorded.";

/// Examples after the help of `dbt3`.
pub const DBT3_EXAMPLES: &str = "\
Examples:
  sokudo dbt3                                        scale factor 0.01 in a SQLite file of its own
  sokudo db init --target postgres://bench@hostb/bench --workload dbt3 --scale 1      the tables, once
  sokudo dbt3 --target postgres://bench@hostb/bench --streams 4       power, then four streams at a time
  sokudo dbt3 --target mysql://bench@hostb/bench --test power         one stream only
  sokudo db check --target postgres://bench@hostb/bench --workload dbt3    rows, relations and a checksum per table

The label `answers` is a digest of the answers of the power test: the same scale and --query-seed give the same one
on every engine. Passwords: in the DSN, PGPASSWORD or MYSQL_PWD; none of them is recorded.";

/// Examples after the help of `sqlmix`.
pub const SQLMIX_EXAMPLES: &str = "\
Examples:
  sokudo sqlmix --file examples/sql/point-select.sql     on a SQLite file of its own, with the tables of tpcb
  sokudo sqlmix --target postgres://bench@hostb/bench --file read.sql@9 --file write.sql -c 16 -d 60s
  sokudo sqlmix --target postgres://bench@hostb/bench --file book.toml -c 64 --rate 500/s   open loop
  sokudo sqlmix --target mysql://bench@hostb/bench --file book.toml -c 64 --pool 10   64 users share 10 sessions
  sokudo sqlmix --target postgres://bench@hostb/bench --file pgbench.sql --scale 50 -D pause=10

A file is a script of pgbench, or a mix in TOML (.toml). A transaction that the server ended because of others is
tried again (--retries); tries and transactions are counted apart.
Passwords: in the DSN, PGPASSWORD or MYSQL_PWD; none of them is recorded.";

/// Arguments of these commands.
#[derive(Debug, Args)]
pub struct OnServerArgs<O: Args> {
    #[command(flatten)]
    options: O,

    #[command(flatten)]
    measure: MeasureArgs,

    #[command(flatten)]
    generators: Generators,

    #[command(flatten)]
    watch: WatchArgs,

    #[command(flatten)]
    live: LiveArgs,

    /// Seed of every random choice. Default: drawn, and recorded.
    #[arg(long, value_name = "N")]
    seed: Option<u64>,

    #[command(flatten)]
    observe: ObserveArgs,

    #[command(flatten)]
    out: OutArgs,

    #[command(flatten)]
    show: ShowOptions,
}

/// Carries one of them out.
pub fn run<O: Options>(mut args: OnServerArgs<O>) -> Result<Exit, Failure> {
    args.options.read_files()?;
    let planned = args.measure.plan(&args.options)?;
    let lang = args.show.lang();
    let server = loaded(&args);
    let knobs = knobs(&args, &server, lang)?;
    let (knobs, with_target) = knobs.unzip();
    let call = Call {
        workload: O::NAME,
        hosts: &args.generators.on,
        key: args.generators.key.as_ref(),
        seed: args.seed,
        interval_ns: args.options.interval_ns(),
        observe: with_target.as_ref().unwrap_or(&args.observe),
        out: &args.out,
        may_miss: false,
        show: &args.show,
        server,
    };
    let page = args.watch.open(O::NAME)?;
    let beside = page.as_ref().map(Watched::observer);
    workload::carry_out(
        &call,
        Terminal::new(lang, None, None)
            .sampling_every(call.interval_ns)
            .live(args.live)
            .beside(beside),
        |run| {
            if let Some(page) = &page {
                page.begins(run);
            }
            if let Some(knobs) = knobs {
                run.take_knobs(knobs);
            }
            measure(planned, run, lang)?;
            if !args.generators.on.is_empty() {
                run.group_numbers();
            }
            Ok(())
        },
        |record| {
            if let Some(page) = &page {
                page.close(record);
            }
            Ok(())
        },
    )
}

/// What changes the loaded server, and how that is observed.
type Changed = (Box<dyn Knobs>, ObserveArgs);

/// What the measurement changes of the loaded server; `None` where it changes nothing.
fn knobs<O: Options>(
    args: &OnServerArgs<O>,
    server: &LoadedServer,
    lang: Lang,
) -> Result<Option<Changed>, Failure> {
    if let Some(knobs) = args.measure.changed_setting(&args.options, lang)? {
        return Ok(Some((Box::new(knobs), args.observe.clone())));
    }
    if !args.measure.changes_knobs() {
        return Ok(None);
    }
    let (knobs, observe) = TargetKnobs::of(O::NAME, &args.observe, server.at.as_ref())?;
    Ok(Some((Box::new(knobs), observe)))
}

/// The server that is loaded. Other hosts that generate the load may not, and need not, ask it about itself.
fn loaded<O: Options>(args: &OnServerArgs<O>) -> LoadedServer {
    let server = LoadedServer::of(&args.options);
    let is_own_load = args.generators.on.is_empty();
    LoadedServer {
        own: server.own.filter(|_| is_own_load),
        ..server
    }
}
