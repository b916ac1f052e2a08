/// <reference path="../../crates/scenario/sokudo.d.ts" />
// Which queue of an application server fills, and what do its sizes change?
//
// Four experiments on one server, whose knobs are changed between them:
//
//   A  25 users on a pool of 10 connections for 50 threads, then on a pool of 50
//   B  users who need CPU, with room everywhere: the rate grows until the cores are used
//   C  60 users on 40 threads and 40 connections: the surplus waits in front of the threads
//   D  60 users on a limit of 40 connections, which resets the surplus; then a short accept queue instead
//
//   sokudo target app                                   in another terminal
//   sokudo run examples/was/study.js
//   sokudo run examples/was/study.js --set seconds=60 --set levels=10,20,40,60,80,120
//
// The report has the rate and the errors of every experiment, and the queues over time.

const folder = parameter("folder", "examples/was");
const port = parameter("port", 9080);
const admin = parameter("admin", "127.0.0.1:9081");
const seconds = parameter("seconds", 15);
// A search and an update of so many milliseconds each.
const hold = parameter("hold", 1000);
// Users of B; none leaves it out.
const levels = parameter("levels", [10, 20, 40, 60]);

monitor(`target:at=${admin},interval=200ms`);
monitor(`listen:port=${port}`);
monitor(`process:port=${port}`);

const users = (name, plan, count, labels) =>
  phase(
    name,
    jmx(1, `${folder}/${plan}.jmx`, {
      property: [`PORT=${port}`, `THREAD_NUMBER=${count}`, `SUSTAIN=${seconds}`, `HOLD=${hold}`],
    }),
    { timeout: `${seconds + 120}s`, labels: { users: count, ...labels } },
  );
const rate = (result) => result.summary["http.requests_per_second"] ?? 0;
const failed = (result) => 100 * (result.summary["http.error_ratio"] ?? 0);

const sizes = (threads, pool) => ({ "workers.core": threads, "workers.max": threads, "pool.max": pool });

knobs({ ...sizes(50, 10), "stress.hold": "sleep" });
const small = users("A, pool of 10", "stress-db", 25, { pool: 10 });
knobs({ "pool.max": 50 });
const large = users("A, pool of 50", "stress-db", 25, { pool: 50 });
say(`A: ${rate(small).toFixed(1)} and ${rate(large).toFixed(1)} requests/s`);

knobs(sizes(300, 300));
for (const count of levels.filter((count) => count > 0)) {
  users(`B, ${count} users`, "stress-cpu", count, { pool: 300 });
}

knobs(sizes(40, 40));
const front = users("C, 40 threads and connections", "stress-db", 60, { pool: 40 });
say(`C: ${rate(front).toFixed(1)} requests/s`);

knobs({ "listen.max_open": 40, "listen.on_full": "reset" });
const reset = users("D, limit of 40 connections", "stress-db", 60, { pool: 40 });
knobs({ "listen.on_full": "pause_accept", "listen.backlog": 4 });
const waits = users("D, accept queue of 4", "stress-db", 60, { pool: 40 });
say(`D: ${failed(reset).toFixed(0)} % of the requests fail with the limit, ${failed(waits).toFixed(0)} % with the queue`);
