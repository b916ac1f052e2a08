/// <reference path="../../crates/scenario/sokudo.d.ts" />
// Is a tuned PostgreSQL faster, by more than it differs from itself?
//
// Transfers with the server as it is, with settings that guides for tuning name, and with commits that are
// acknowledged before they are on the disk. Every round measures each of them once and the first one twice, in an
// order that is drawn. Settings that need a restart are left out: their effect would be mixed with that of an empty
// cache. Afterwards the server has the settings that it had.
//
//   sokudo db init --target DSN --workload tpcb --scale 10
//   sokudo run examples/sql/settings.js --set dsn=DSN
//   sokudo run examples/sql/settings.js --set dsn=DSN --set lazy=true --allow-unsafe

const dsn = parameter("dsn", "postgres://bench@127.0.0.1/bench");
const seconds = parameter("seconds", 8);
const rounds = parameter("rounds", 8);
const clients = parameter("clients", 8);
// With it a crash of the server may lose acknowledged commits.
const lazy = parameter("lazy", false);
// Smaller differences do not matter.
const least = parameter("least", "5%");

const compared = {
  default: {},
  tuned: {
    max_wal_size: "8GB",
    checkpoint_timeout: "15min",
    wal_compression: true,
    commit_delay: 200,
    bgwriter_delay: "50ms",
    random_page_cost: 1.1,
    effective_io_concurrency: 200,
    work_mem: "16MB",
  },
  ...(lazy ? { lazy: { synchronous_commit: false } } : {}),
};

profiles(
  dsn,
  compared,
  ({ profile, round }) => {
    const { summary } = phase("tpcb", tpcb(1, dsn, { clients, duration: `${seconds}s` }), { timeout: `${seconds + 60}s` });
    say(`round ${round} of ${rounds}, ${profile}: ${(summary["tpcb.tps"] ?? 0).toFixed(0)} transactions/s`);
  },
  { rounds, minEffect: least },
);
