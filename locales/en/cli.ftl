# Messages of the command line. Keys: cli-<place>-<meaning>.

cli-phase-datagram = { $rate } delivered ({ $bits }), { $loss } lost
cli-interim =
    { $delivered } { $delivered ->
        [one] datagram
       *[other] datagrams
    } delivered, now { $bits }

## Sweeps
cli-knee =
    { $option } from { $first } to { $last } and down again: at most { $n } runs, { $total }
cli-knee-counted =
    { $option } from { $first } to { $last } and down again: at most { $n } runs
cli-prove = testing { $rule }: four runs with --{ $option } { $setting } and four without
cli-sweep =
    sweep of { $n } { $n ->
        [one] step
       *[other] steps
    }, { $option } from { $first } to { $last }: about { $total }
cli-sweep-counted =
    sweep of { $n } { $n ->
        [one] step
       *[other] steps
    }, { $option } from { $first } to { $last }: until each has reached its count
cli-repeat = { $n } runs, one after the other: about { $total }
cli-rehearsed-results = From line { $line } on the script reads results, which a rehearsal does not have: what it decides by them was rehearsed with made-up ones.
cli-rehearsed-long = The script computes for longer than a rehearsal may: what stands behind that was not rehearsed.
cli-repeat-counted = { $n } runs, one after the other: until each has reached its count

## Console
console-said = { $text }
console-host =
    { $number }  { $name } { $address } { $os }, { $cores } { $cores ->
        [one] core
       *[other] cores
    }
console-clock = { $number }  { $name } clock offset { $offset } ± { $error }
console-clock-same = { $number }  { $name } the same clock as this host
console-flow = { $begin } ms  { $from } → { $to }  { $bytes } in { $time }, { $speed }
console-flow-connected = { $begin } ms  { $from } → { $to }  connected in { $time }
console-flow-answered =
    { $begin } ms  { $from } → { $to }  { $requests } { $requests ->
        [one] request
       *[other] requests
    } in { $time }, { $rate }, p99 { $p99 }
console-flow-probed =
    { $begin } ms  { $from } → { $to }  { $probes } { $probes ->
        [one] probe
       *[other] probes
    }, { $loss } lost, median round trip { $p50 }
console-flow-done = { $begin } ms  { $from } → { $to }  done
console-flow-dead = { $begin } ms  { $from } → { $to }  no result: { $why }
console-flow-silent = { $begin } ms  { $from } → { $to }  no complete result
console-stall-evidence = { "" }    { $says }
console-flow-lost = { $from } → { $to } was left out: one of them was lost
console-flows-more =
    and { $n } { $n ->
        [one] more flow, which the record has
       *[other] more flows, all of them in the record
    }
console-stopped = stopped; what was measured until then is kept
console-results = hosts with results: { $n }
console-results-missing = hosts with results: { $n } of { $wanted }; none of { $flows }
console-results-never-asked = hosts with results: { $n } of { $wanted }: no more had anything to do
console-help-hosts = hosts                                who takes part: number, name, address
console-help-synctime = syncTime [ERROR]                     compare all clocks with this host's; go on only if known within ERROR
console-help-all = all COMMAND                          every host does it
console-help-node = node N COMMAND                       host N does it; also 1,3,5-8
console-help-stage = stage N|all COMMAND                  the same as `node N set COMMAND`
console-help-fire = fire                                 the same as `all enter`
console-help-autopairs = autopairs [N]                        the first N hosts connect to N others, as many as there are
console-help-waittime = waittime MS                          do nothing for so many milliseconds
console-help-sleep = sleep TIME                           the same: 500ms, 2s
console-help-monitor = monitor NAME[:KEY=VALUE,…]           observe with this monitor, too: process:port=8080
console-help-waitallresults = waitallresults [N] [TIMEOUT]         until N hosts have results; who has none is named
console-help-help = help [WORD]                          this
console-help-quit = quit                                 end; the record is kept
console-help-connect = … connect HOST                       take the time to connect; later loads go there
console-help-connectnode = … connectnode N                      the same, by number
console-help-disconnect = … disconnect                         forget the connection
console-help-sendreceive-n = … sendreceive-n SIZE TIMES [OPTIONS]  send SIZE and get it back, TIMES times; --duplex both ways at once
console-help-set = … set COMMAND                        put a command into the input field
console-help-enter = … enter                              enter what stands in the input field
console-help-clr = … clr                                empty the input field
console-help-also = { "" }                                     also written { $also }
console-help-load = … { $word } [PEER…] [OPTIONS]  { $question }
console-help-load-url = … { $word } ADDRESS [OPTIONS]      { $question }
console-help-unknown = there is no word `{ $word }`; `help` lists all
console-asks-bus = how many messages per second does a bus carry, and how long do they take?
console-asks-crr = how long does it take to connect, ask once and be answered?
console-asks-datagram = how many datagrams per second get from here to there, and where are the others lost?
console-asks-dns = how many queries per second does a name server answer, and how long does each take?
console-asks-dbt1 = how many interactions per second does a web shop's database carry, and do its orders add up?
console-asks-dbt2 = how many orders per minute does a database take in a mix of business transactions, and do the books agree?
console-asks-dbt3 = how many analytical queries per hour does a database answer, one after the other and at a time?
console-asks-sqlmix = how many transactions of one's own mix does a database carry out per second, and what do conflicts cost?
console-asks-tpcb = how many transfers per second does a database commit, and does it keep every one of them?
console-asks-http = how many requests per second does a web server answer, and how long does each take?
console-asks-probe = how long does a datagram take, each way, and how evenly?
console-asks-rr = how long does an answer take, and how many requests per second get one?
console-asks-stream = how many bytes per second does a connection carry, and what holds it back?

## A test link
link-way = { $from } → { $to } ({ $address }): { $properties }
link-rate = { $value }
link-no-rate = no rate
link-queue = queue { $value }
link-delay = delay { $value }
link-jitter = jitter up to { $value }
link-loss = loss { $value }
link-by-kernel = carried by the kernel: { $kinds }
link-by-tun = carried by this program, between two TUN devices
link-by-tun-because = carried by this program, between two TUN devices: { $why }
link-fast = this program may not carry { $rate }: it carried { $ease } with ease where it was measured
link-silent = `{ $command }` listens on nothing yet; going on
link-counted = { $from } → { $to }: { $packets } packets, { $bytes } · dropped by the queue { $queue }, lost { $loss } · queue at most { $most }
link-overflowed = host { $to } did not take { $packets } packets: its own queue was full
link-late = delivered at most { $late } late
link-unknown = unknown

## Target
target-stress = stress: http://{ $at }/stress/x?searchTime=20&interval=500&duration=2&bit=1024&updateTime=20
target-stat = look at its queues: sokudo target stat --watch
target-set = change a knob: sokudo target set pool.max=50
target-monitor = record its queues with a load: sokudo http http://{ $at }/stress/x --monitor target:at={ $admin }
target-key = from another host: { $variable }={ $key }
target-few-files = the system grants { $files } open files; listen.max_open and fault.leak_fds need { $wanted }
target-left = the target before this one was killed with changed knobs, which ended with it: { $changes }
target-put-back = { $by } held the knobs and has not been heard for 5 s; put back: { $changes }
target-recovered = { $by } was killed while it held the knobs of { $at }; put back: { $changes }
target-recovered-itself = { $by } was killed while it held the knobs of { $at }; the target has put them back itself, or is gone
target-stopping = stopping
target-line-front = accept queue { $queue }/{ $limit }   connections { $open }/{ $max }   turned away { $away }
target-line-workers = dispatch queue { $queued }   workers { $active }/{ $max }   wait { $wait }   service { $service }
target-line-pool = pool queue { $waiting }   connections { $used }/{ $max }   wait { $wait }   hold { $hold }
cli-copies = { $rate } · { $files } files, { $bytes } queued
cli-copies-left = { $rate } · { $files } files, { $bytes } left · about { $time }
cli-copies-left-least = { $rate } · { $files } files, { $bytes } queued · at least { $time }, still looking
console-asks-replicate = how long does a tree of files take to another host, and what holds it back?

## A load while it goes on
live-progress = { $elapsed } of { $of }, { $left } left
live-elapsed = { $elapsed } so far
live-users = { $n } { $n ->
        [one] user
       *[other] users
    }
live-errors = errors { $n }
live-lost = errors or losses { $share }
live-rate = rate
live-latency = latency
live-distribution = latencies so far
live-answers = answers and failures
live-labels = labels and flows
live-hosts = hosts
live-share = share
live-waits = what sessions wait for
live-settings = settings in force
live-failed = failed
live-keys = q stops the load and keeps what was measured · Ctrl-C twice ends at once
live-too-small = `--live` needs { $columns } columns and { $lines } lines; this terminal has { $has }
live-no-screen = `--live` needs a terminal that takes escape codes; the load is shown in lines
live-http-status-1xx = of status 1xx
live-http-status-2xx = of status 2xx
live-http-status-3xx = of status 3xx
live-http-status-4xx = of status 4xx
live-http-status-5xx = of status 5xx
live-http-status-other = of other statuses
live-http-refused = refused
live-http-resets = reset
live-http-timeouts = timed out
live-http-closed-early = closed early
live-http-malformed = malformed
live-http-given-up = given up by the server
live-dns-no-error = NOERROR
live-dns-no-such-name = NXDOMAIN
live-dns-server-failures = SERVFAIL
live-dns-refused = REFUSED
live-dns-other-codes = other codes

## Specifications
specs-green = green
specs-yellow = yellow
specs-red = red
specs-calls = calls
specs-copies = copies, { $rate }
specs-ended = ended after { $runs } runs
specs-failed = { $failed } of { $legs } fail: { $host }: { $why }
specs-follows = follows
specs-lag = lag { $time }
specs-left = about { $time } left
specs-left-least = at least { $time } left, the source is still being looked at
specs-note = specification { $name }
specs-over = { $failed } of { $all } specifications failed.
specs-preset = preset: { $settings }
specs-queue = { $files } files, { $bytes } queued
specs-waits = waits { $time }
advise-doing-probe = measuring: { $step }
advise-doing-trial = trying: { $trial }
## Demo
demo-begins =
    demo server on { $url }
    In another terminal:
demo-plan = a JMeter plan that visits it: sokudo demo --plan demo.jmx
demo-ends = Ctrl-C ends it.

## sokudo db

db-init-done = { $target }: { $rows } rows in { $seconds } ({ $rate })
db-ops-done = { $target }: { $op } in { $seconds }
db-ops-dump = { $target }: dump in { $seconds }, { $bytes }
db-ops-restore = { $target }: restore in { $seconds }, { $rows } rows of { $tables } tables
db-ops-restore-same = every restored table has the rows of the source
db-ops-restore-different = a restored table differs from the source: the restore is wrong, or the source was written to after the dump. Stop its loads and try again
db-ops-restore-table = { $table }: { $rows } rows with the checksum { $sum } were restored, the source has { $source-rows } with { $source-sum }
db-check-broken = { $condition } does not hold: { $left } and { $right }
db-check-broken-rows =
    { $condition } does not hold in { $rows } { $rows ->
        [one] row
       *[other] rows
    }
db-check-done = { $kept } conditions hold, { $broken } do not

## Profiles of settings
compare-profiles-again = { $profile } (again)
compare-profiles-applied = { $profile }: { $settings }
compare-profiles-back = The settings of the server are put back.
compare-profiles-not-recovered = A killed run had changed the settings of { $server }, and they cannot be put back: { $why }
compare-profiles-recovered = A killed run had changed the settings of { $server }; they are put back.
compare-profiles-run = round { $round } of { $rounds }: { $profile }, { $rate }
compare-profiles-same = `{ $profile }` measured twice (A and B) differs from itself by { $change } (between { $low } and { $high }): no smaller difference of the others is told.
compare-profiles-unsure = With less than { $enough } rounds nothing is told: it is not known what one profile differs from itself.

# Status of commands that serve others.
status-serving = serving on { $address }
status-key = key { $key }
status-other-host = on the other host: { $command }
status-key-only = only who has the key { $id } may come in
status-open = open: every client that reaches this port may send load through this host
status-local = this machine only; `--new-key` serves other hosts
status-stopping = stopping
status-agent = { $name } is an agent of { $group }
status-connected = connected
status-leaving = leaving { $group }
status-controller = controller of { $group } on { $place }
status-each-host = on each host: { $command }
status-each-site-host = on each host of this site: { $command }
status-valid = good for { $time }; another one: { $command }
status-router = router of { $group } on { $place }
status-no-watchdog = no watchdog for this process: { $error }
status-holds-key = { $file } holds a key: let nobody else read it
status-on-router = on the router: { $command }
status-here = here: { $command }
status-group-made = group { $name } is made; next: { $command }
status-name-free = the name { $name } is free; the next host that joins may have it
status-page = page on { $url }
status-page-of = page of { $name } on { $url }
status-target = target app on { $url }
status-admin = admin port on { $url }
status-lines = Each line on standard input (Enter) sends a message; its end ends the test.
status-complete = nothing to recover: the record is complete
status-recovered = recovered { $batches } reports with { $points } points; { $bytes } bytes in { $gaps } places could not be read
status-no-runs = No runs yet in { $path }. `sokudo check` makes the first in a minute.
status-policy = policy { $file }
status-no-policy = no policy at { $file }: the default
status-noted = noted in { $file }
status-facilities = { $n } of { $all } facilities are available.
status-collected = { $agents ->
    [1] one agent
   *[other] { $agents } agents
  } of { $group } held { $points } points that the record lacked

# What a policy allows.
policy-no-workload = no workload is carried out
policy-workloads = workloads: { $list }
policy-reach = loads reach: { $list }
policy-reach-nothing = nothing
policy-reach-and = { $list }, { $next }
policy-sends-nothing = nothing is sent anywhere
policy-sends = sends to: { $list }
policy-sends-to-hosts = sends to: the other hosts of a run, each by a ticket of its own
policy-longest = longest phase: { $time }
policy-longest-default = longest phase: 1 h, and 30 days where files are replicated
policy-rate = highest rate: { $rate } each way, all sessions together; a rate must be asked for
policy-rate-any = highest rate: as much as this host can
policy-connections = connections: { $n } at a time, all sessions together
policy-programs = programs: none are started, and no shell
policy-files-of-plans = files: those that a test plan's own options name
policy-files-none = files: none are read or written outside of sokudo's own
policy-read = directories that may be read: { $list }
policy-written = directories that may be written: { $list }
policy-no-monitors = monitors: none
policy-monitors = monitors: { $list }
policy-monitors-own = monitors: those that read this host's own tables; others must be named
policy-monitors-nowhere = monitors connect to: nothing
policy-monitors-reach = monitors connect to: { $list }

# `sokudo runs`: how a run ended, and its line.
run-ok = ok
run-missed = missed
run-partial = partial
run-failed = failed
run-running = running
run-broken = broken
headline-lost = { $share } lost
headline-sent-again = { $share } sent again
headline-failed = { $share } failed
headline-knee = knee at { $n }
headline-rrul = load adds { $n }
headline-dbt3 = composite { $n }
