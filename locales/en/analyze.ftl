# Messages of the diagnosis rules, checks and the verdict.
# Keys: rule-<rule>-says and -next, evidence-<meaning>, check-<name>-held and -failed, verdict-<meaning>.
# Numbers arrive as text with their unit; rates of datagrams as "6.41 M/s".

## Verdict

verdict-best-above = { $flows } carry { $bits } ({ $packets } datagrams/s) { $loss }; above that { $above }.
verdict-best-sender = { $flows } carry { $bits } ({ $packets } datagrams/s) { $loss }; the sending thread on { $host } cannot offer more.
verdict-best = { $flows } carry { $bits } ({ $packets } datagrams/s) { $loss }.
verdict-best-next = No trial of the search shows what happens above that rate. Repeat the search with more streams (--streams) or larger datagrams (--size).
verdict-disturbed = The run that confirmed it was disturbed. { $why }
verdict-paced = { $flows }: { $bits } arrived ({ $packets } of { $asked } datagrams/s asked for) { $loss }.
verdict-unpaced = { $flows }: sending as fast as possible, { $bits } ({ $packets } datagrams/s) arrived { $loss }.
loss-none = without loss (0 of { $sent })
loss-next-to-none = with next to no loss ({ $missing } of { $sent })
loss-some = with { $loss } lost ({ $missing } of { $sent })
loss-ratio = with { $loss } lost
verdict-one-pair = { $from } → { $to }
verdict-many-flows = { $count } flows together
verdict-one-label = “{ $label }”
verdict-many-labels = { $count } kinds of requests together
verdict-whole-run = All flows together
verdict-undetermined = Undetermined: no counter that sokudo read explains what limits this rate.
verdict-undetermined-lacking = Undetermined: no counter that sokudo could read explains what limits this rate. Not available here: { $names }.
verdict-nothing = Nothing was measured: no phase sent anything.
verdict-together = { $count } loads ran at the same moment; each has its own numbers.
verdict-together-failing = { $count } loads ran at the same moment, and not all of them came through.
verdict-together-load = { $load }: { $says }
verdict-together-more = { $more } more { $more ->
        [one] load stands
       *[other] loads stand
    } in the table of phases.
verdict-most-carried = Of { $phases } phases, “{ $phase }” carried most: { $bits }.
verdict-failed = The run failed: { $problem }
verdict-failed-hosts = The run failed because of { $hosts }. First: { $problem }
verdict-failed-unknown = The run failed, and the record does not say why.
verdict-partial = Part of the result is missing: { $problem }
verdict-partial-hosts = Part of the result is missing, because of { $hosts }. First: { $problem }
verdict-partial-unknown = Part of the result is missing, and the record does not say why.
verdict-stopped-tail = Nothing more arrived after { $last } of { $load }.
verdict-stopped-head = Nothing arrived before { $first } of { $load }.
verdict-stopped-both = Nothing arrived before { $first } and after { $last } of { $load }.
verdict-stopped-flows = { $count } of { $flows } flows carried something for a part of the load only, { $from } → { $to } from { $first } to { $last } of { $load }.
verdict-broken-flow = { $from } → { $to } did not complete: { $error }.
verdict-distrust = Do not rely on these numbers: { $check }
verdict-missed = Not kept: { $demands }.
verdict-failing = { $flows }: { $failure }
verdict-phase-failing = “{ $phase }” failed. { $failure }
verdict-phases-failing = “{ $phase }” and { $more } { $more ->
        [one] other phase
       *[other] other phases
    } failed. { $failure }
verdict-paced-losing = { $flows }: { $ratio } of the datagrams were lost ({ $missing } of { $sent }); { $bits } arrived ({ $packets } of { $asked } datagrams/s asked for).
verdict-none-arrived = { $flows }: none of { $sent } datagrams arrived.

## What a search ran into

search-limit-says = Above { $bits } ({ $packets } datagrams/s), the highest rate that holds, { $above }.
search-none-says = No rate that was tried holds: { $above }.
search-above-receiver-buffer = { $host }'s socket buffer overflows (at { $rate }, { $loss } lost, { $part } of it there)
search-above-receiver-host = { $host } drops datagrams before they reach the socket (at { $rate }, { $loss } lost, { $part } of it there)
search-above-path = datagrams vanish between { $from } and { $to } (at { $rate }, { $loss } lost, { $part } of it there)
search-above-sender-refusal = the kernel of { $host } refuses datagrams (at { $rate }, { $loss } lost)
search-above-unreachable = { $to } answers that no process listens there (at { $rate }, { $loss } lost)
search-above-host-busy = { $host } is short of CPU (at { $rate }, { $loss } lost)
search-above-generator = the sender on { $host } does not keep up (at { $rate }, { $loss } lost)
search-above-other = the finding `{ $rule }` explains the loss (at { $rate }, { $loss } lost)
part-all = all
part-share = { $share }

## Checks

check-complete-held = { $phase }: both ends of every flow delivered their numbers (flows: { $flows }).
check-complete-failed = { $phase }: not every flow has the numbers of both ends ({ $complete } of { $flows } have).
check-conditions-held = { $phase }: the { $kept } conditions on the tables hold
check-conditions-failed = { $phase }: { $broken } conditions on the tables do not hold
check-acknowledged-held = { $phase }: all { $all } acknowledged commits are in the database, each once
check-acknowledged-failed = { $phase }: of { $all } acknowledged commits { $lost } are lost and { $twice } are there more than once
check-accounting-held = { $phase }: received and missing datagrams add up to the { $wanted } sent.
check-accounting-failed = { $phase }: received and missing datagrams add up to { $seen }, but { $wanted } were sent; over the flows { $off } are unaccounted for.
check-attribution-held = { $phase }: every missing datagram has a place ({ $wanted } in all).
check-attribution-failed = { $phase }: { $seen } losses have a place, but { $wanted } datagrams are missing; over the flows { $off } do not match.
check-loss-held = { $phase }: { $loss } lost, within the { $bound } that was allowed.
check-loss-failed = { $phase }: { $loss } lost, more than the { $bound } that was allowed.

## What rules have in common

advice-of-command = With sokudo { $command }: { $advice }
next-paced = { $remedy } Or offer a lower rate: --find 'loss<0.1%' searches the highest one that holds.
next-unpaced = A sender without a rate overruns whatever is slower, so loss is normal here. --find 'loss<0.1%' searches the highest rate that holds. To raise it: { $remedy }
next-unpaced-searched = A sender without a rate overruns whatever is slower, so loss is normal here; the search of this run found that { $bits } holds. To raise it: { $remedy }
remedy-receiver-buffer = Give { $host } a larger receive buffer (--rcvbuf).
remedy-receiver-buffer-short = Raise net.core.rmem_max on { $host } to { $bytes } or more.
remedy-receiver-busy = Spread the load over more streams (--streams): the receiving thread on { $host } has no time left.
remedy-receiver-waiting = Free a core for the receiving thread on { $host }, which was kept from running, or bridge the gaps with a larger receive buffer (--rcvbuf).
remedy-receiver-host = Raise net.core.netdev_max_backlog on { $host }, or spread its receive queues over more cores.
remedy-path = Look at the devices between { $from } and { $to }: loss that ends at a lower rate was a full queue, loss that stays is a faulty link.
lost-all = all lost datagrams
lost-share = { $share } of the lost datagrams
path-one = between { $from } and { $to }
path-many = on { $count } paths, most of them between { $from } and { $to }

## Rules

rule-buffer-below-asked-receive-says = { $host } granted a receive buffer of { $granted } instead of { $asked }.
rule-buffer-below-asked-send-says = { $host } granted a send buffer of { $granted } instead of { $asked }.
rule-buffer-below-asked-next = On { $host }, run: sysctl -w { $setting }={ $bytes }

rule-corruption-says = Damaged datagrams arrived ({ $count }), most of them on { $host }; the UDP checksum did not stop them.
rule-corruption-next = Turn checksum offload off on { $host } and repeat; if it ends, the network device or its driver changes the data.

rule-duplicates-says = Some datagrams arrived more than once: { $count } repetitions ({ $share } of those sent), most of them on { $host }.
rule-duplicates-next = Look for a bridge loop, a mirrored port or a bond in broadcast mode in front of { $host }.

rule-generator-limited-short-says = Sender-limited: { $sent } datagrams were sent of the { $asked } asked for; { $host } falls behind most.
rule-generator-limited-late-says = { $host } did not keep the schedule: { $share } of its datagrams left more than 1 ms late.
rule-generator-limited-paced-next = Use larger datagrams (--size) or more streams (--streams) on { $host }, or ask for a lower rate (--rate).
rule-generator-limited-busy-says = Sender-limited: the sending thread on { $host } used { $cpu } of a core and next to nothing was lost, so the network and the receiver carry at least this much.
rule-generator-limited-busy-next = Let { $host } send with more streams (--streams) or larger datagrams (--size) to reach the limit of the network or the receiver.

rule-host-busy-sender-says = { $host } was short of CPU: its sending thread was ready to run but had no CPU for { $share } of the time.
rule-host-busy-receiver-says = { $host } was short of CPU: its receiving thread was ready to run but had no CPU for { $share } of the time.
rule-host-busy-self-says = { $host } was short of CPU: threads of sokudo that were ready to run waited { $seconds } for a CPU in each second, all together.
rule-host-busy-shared-says =
    { $hosts } hosts share { $cores ->
        [one] the one core
       *[other] the { $cores } cores
    } of one machine, and the test has { $threads } threads: the { $thread } was ready to run but had no CPU for { $share } of the time.
rule-host-busy-machine-says = The machine that { $hosts } hosts share was short of CPU: the { $thread } was ready to run but had no CPU for { $share } of the time.
thread-sending = sending thread of { $host }
thread-receiving = receiving thread of { $host }
rule-host-busy-steal-says = { $host } is a virtual machine whose hypervisor gave { $share } of its CPU time to others.
rule-host-busy-pressure-says = { $host } was busy: some task waited for a CPU during { $share } of the time.
rule-host-busy-and-says = { $busy } { $so }
rule-host-busy-so-short = So { $sent } datagrams were sent of the { $asked } asked for, { $host } furthest behind.
rule-host-busy-so-late = So { $share } of the datagrams of { $host } left more than 1 ms late.
rule-host-busy-so-asks-late = So { $share } of the requests left { $host } more than 1 ms late.
rule-generator-limited-stood-says = { $share } of the requests queued up on { $host } for up to { $wait }, although no response took longer than { $service }: the requesting program stalled.
rule-generator-limited-silent-says = { $share } of the requests queued up on { $host } for up to { $wait }, and for { $silent } nothing on { $host } took a sample, its monitors included: the requesting program stalled.
rule-generator-limited-loop-stood-says = For { $silent }, { $share } of the load, nothing on { $host } took a sample, its monitors included, and the longest answer waited { $wait } to be read: the requesting program stood still.
rule-generator-limited-stood-next = Find out what kept the requesting program on { $host } from running; its CPU load over time shows when. Repeat on a less busy host.
rule-host-busy-next = Stop other work on { $host }, or give it more cores than the test has busy threads, and repeat.
rule-host-busy-shared-next = These figures tell what the machine can do, not what a network can. Use fewer hosts or streams, or run `sokudo serve` on machines of their own.
rule-host-busy-steal-next = Repeat when the machine under { $host } is less busy, or on reserved cores, and compare.

rule-low-mtu-says = { $from } → { $to } carries packets of { $mtu } B at most, less than Ethernet's 1500 B, so the same bytes need more datagrams.
rule-low-mtu-next = If no tunnel or VPN explains it, look for an interface with a small MTU on the way.
rule-low-mtu-fragments-says = Datagrams of { $size } do not fit the path MTU of { $mtu } B from { $from } to { $to }: each is cut into { $pieces } fragments, and losing one loses all.
rule-low-mtu-fragments-next = Use --size { $size } or less, or raise the MTU on the whole path.

rule-path-loss-says = Path-limited: { $lost } vanished { $path }; no counter of either host shows them.
rule-path-loss-device-says = Path-limited: { $lost } vanished { $path }; drop counters on that way grew meanwhile.
rule-path-loss-undetermined-says = Undetermined: { $lost } vanished { $path }. Not available here: { $names }.

rule-receiver-buffer-overflow-says = Receiver-limited: { $lost } were dropped in { $host }'s socket buffer.
rule-receiver-buffer-overflow-short-says = Receiver-limited: { $lost } were dropped in { $host }'s socket buffer (granted { $granted }, asked { $asked }).
rule-receiver-buffer-overflow-many-says = Receiver-limited: { $lost } were dropped in the socket buffers of { $hosts } hosts, most of them on { $host }.

rule-receiver-host-drops-says = Receiver-limited: { $lost } were dropped inside { $host } before they reached the socket.
rule-receiver-host-drops-many-says = Receiver-limited: { $lost } were dropped inside { $hosts } hosts, most of them on { $host }, before they reached the socket.

rule-reordering-says = { $share } of the datagrams arrived out of order ({ $count } in all), most of them on { $host }.
rule-reordering-next = Look for several paths or bond members on the way to { $host }, or for receive queues that share one flow.

rule-sender-refusal-says = Sender-limited: the kernel of { $host } refused { $share } of the datagrams offered to it ({ $count } in all); they never left the host.
rule-sender-refusal-waited-says = The kernel of { $host } refused send calls for lack of room ({ $count } in all); no datagram was lost by it.
rule-sender-refusal-next = Give { $host } a larger send buffer (--sndbuf), a longer device queue, or a lower rate.

rule-unreachable-says = Nothing from { $from } arrived: { $to } answered that no process listens there (errors: { $count }). The receiver is gone, its port is closed, or a firewall rejects the datagrams.
rule-unreachable-partly-says = For part of the time { $to } answered { $from } that no process listens there (errors: { $count }): the receiver came late or left early, or a firewall rejects some datagrams.
rule-unreachable-next = See that `sokudo serve` runs on { $to } and that firewalls on the way let UDP through to its port.

## Evidence

evidence-kernel-drops = Packets that the kernel of { $host } dropped meanwhile in { $function }, { $reason }: { $value }
evidence-not-available = Not available here: { $names }.
evidence-also-phases = The same in other phases ({ $count }): { $phases }
evidence-also-phases-and-trials = The same in other phases ({ $count }): { $phases }; and in trials of the search: { $trials }
evidence-also-trials = The same in other trials of the search: { $trials }
evidence-buffer-granted = Socket buffer granted on { $host }: { $value }
evidence-checksum-errors = UDP checksum errors on { $host } meanwhile: { $value }
evidence-corrupted = Damaged datagrams on { $host }: { $value }
evidence-datagram-size = Datagram size sent by { $host }: { $value }
evidence-duplicates = Repeated datagrams on { $host }: { $value }
evidence-late = Sent more than 1 ms late by { $host }: { $value }
evidence-loss-runs = Losses come in runs of { $value } datagrams on average, { $max } at most
evidence-lost-at-receiver-host = Dropped inside { $host } before the socket: { $value }
evidence-lost-at-sender = Datagrams refused by the kernel of { $host }: { $value }
evidence-lost-at-socket = Dropped at the receiving socket on { $host }: { $value }
evidence-lost-on-path = Lost on the path to { $host }, on its worst flow: { $value }
evidence-nic-errors = Device errors on { $host } meanwhile: { $value }
evidence-nic-receive-drops = Packets dropped by the receiving device of { $host } meanwhile: { $value }
evidence-nic-send-drops = Packets dropped by the sending device of { $host } meanwhile: { $value }
evidence-no-port = Datagrams on { $host } for a port without a listener, all programs: { $value }
evidence-out-of-order = Arrivals out of order on { $host }: { $value }
evidence-path-mtu = Path MTU known to { $host }: { $value }
evidence-pressure = Time in which some task on { $host } waited for a CPU: { $value }
evidence-disk-pressure = Time in which some task on { $host } waited for a disk: { $value }
evidence-embedded = { $host }: share of the load threads' time in transactions of the database inside them: { $value }
evidence-reassembly-failures = Fragments that { $host } could not put together meanwhile: { $value }
evidence-received = Datagrams that arrived on { $host }: { $value }
evidence-receiver-cpu = CPU use of the receiving thread on { $host }: { $value } of a core
evidence-receiver-wait = The receiving thread on { $host } waited for a CPU: { $value } of the time
evidence-refused-sends = Send calls refused on { $host }: { $value }
evidence-reordering-extent = Datagrams that overtook a late one on { $host }, mean: { $value }
evidence-latency-longest = Longest wait for an answer on { $host }, from the intended start: { $value }
evidence-service-longest = Longest wait for an answer on { $host }, from the real start: { $value }
evidence-silent = Longest pause of everything that takes samples on { $host }: { $value } more than usual
evidence-tcp-receive-queue = Bytes that lay unread before the program on { $host }, mean: { $value }
evidence-self-wait = Threads `{ $thread }` of sokudo on { $host } waited for a CPU, all together: { $value } in each second
evidence-selftest = Self-test of one thread on { $host } over loopback: { $value }
evidence-sender-cpu = CPU use of the sending thread on { $host }: { $value } of a core
evidence-sender-wait = The sending thread on { $host } waited for a CPU: { $value } of the time
evidence-sent-of-asked = Sent datagrams over all senders ({ $host } furthest behind): { $value } of { $asked } asked for
evidence-setting = { $setting } on { $host }: { $value }
evidence-softnet-drops = Packets dropped from the backlog of a core on { $host } meanwhile: { $value }
evidence-steal = CPU time that the hypervisor took from { $host }: { $value }
evidence-threads-and-cores =
    Threads of the test: { $threads }, on { $cores } { $cores ->
        [one] core
       *[other] cores
    }; together they were ready to run for { $wanted } in each second and ran for { $got }
evidence-time-squeezes = Times that a receive loop of { $host } ran out of budget meanwhile: { $value }
evidence-udp-in = Datagrams that the kernel of { $host } delivered to all sockets: { $value }
evidence-udp-receive-errors = Datagrams that found a full socket on { $host }, all programs: { $value }
evidence-udp-send-errors = UDP send buffer errors on { $host } meanwhile: { $value }
evidence-unreachable = Errors "unreachable" that came back to { $host }: { $value }

## Requests and responses

verdict-exchange-none =
    { $flows }: { $what ->
        [transactions] no transaction was carried out
       *[other] 0 requests were answered
    }.
verdict-exchange-untimed = { $flows }: { $rate } responses/s; their latency was not recorded.
verdict-own = { $name } { $value }
verdict-own-and = { $before }, { $own }
verdict-own-first = { $own }. { $rest }
verdict-rr-closed =
    { $flows }: { $rate } { $what ->
        [transactions] transactions
       *[other] requests
    }/s in a closed loop, median { $p50 }, p99 { $p99 }, maximum { $max }.
verdict-rr-open =
    { $flows }: { $rate } of { $asked } { $what ->
        [transactions] transactions
       *[other] requests
    }/s, median { $p50 }, p99 { $p99 }, maximum { $max }, counted from the intended start.
verdict-jmx-open = { $flows }: { $rate } requests/s at { $asked } arrivals/s asked for, median { $p50 }, p99 { $p99 }, maximum { $max }, counted from the intended start.
verdict-rr-best =
    { $flows }: up to { $rate } { $what ->
        [transactions] transactions
       *[other] requests
    }/s within the bounds, median { $p50 }, p99 { $p99 }, maximum { $max }.
verdict-crr-closed = { $flows }: { $rate } connections/s with one request each in a closed loop, median { $p50 }, p99 { $p99 }, maximum { $max }.
verdict-crr-open = { $flows }: { $rate } of { $asked } connections/s with one request each, median { $p50 }, p99 { $p99 }, maximum { $max }, counted from the intended start.
verdict-crr-best = { $flows }: up to { $rate } connections/s within the bounds, median { $p50 }, p99 { $p99 }, maximum { $max }.
verdict-exchange-errors =
    { $what ->
        [transactions]
            { $errors } { $errors ->
                [one] transaction
               *[other] transactions
            } ({ $ratio }) failed.
       *[other]
            { $errors } { $errors ->
                [one] request
               *[other] requests
            } ({ $ratio }) got no answer.
    } { $why }
verdict-exchange-untried =
    { $what ->
        [transactions]
            { $errors } { $errors ->
                [one] transaction
               *[other] transactions
            } failed, and by the pace of the others about { $untried } more could not be tried: { $ratio } of all.
       *[other]
            { $errors } { $errors ->
                [one] request
               *[other] requests
            } got no answer, and by the pace of the others about { $untried } more could not be tried: { $ratio } of all.
    } { $why }
verdict-exchange-ports = No local port was left for further connections: each is kept for a minute after it is closed. Widen net.ipv4.ip_local_port_range, set net.ipv4.tcp_tw_reuse to 1, or lower the rate.
verdict-exchange-why = First error: { $error }.
verdict-exchange-unstarted =
    { $what ->
        [transactions] None of them began: all sessions were busy.
       *[other] None of them was sent: as many as may be under way at a time were waiting for their answers.
    }
verdict-exchange-unknown = The record does not say why.
rule-generator-limited-asks-late-says =
    { $what ->
        [transactions] { $share } of the transactions began on { $host } more than 1 ms late although a session was free: the thread of the load had no CPU in time.
       *[other] { $share } of the requests left { $host } more than 1 ms late although there was room for them: the requesting thread had no CPU in time.
    }
rule-generator-limited-asks-late-next = Give the asking threads of { $host } CPU: less other work there, fewer --threads, --wait block; or ask for a lower rate (--rate).
rule-generator-limited-asks-late-loop-next = Give the event loops of { $host } CPU: less other work there, or let several hosts generate the load.
rule-generator-limited-loop-says = An event loop on { $host } used { $cpu } of a core: the generator was the limit, and the server may carry more.
rule-generator-limited-loop-next = Give { $host } more event loops (--threads) where cores are free, let several hosts generate load, or ask for less (--rate).
rule-generator-limited-loop-plan-next = Give { $host } more event loops (--threads) where cores are free, or let several hosts generate the load.
verdict-errors-and-bad-status =
    { $ratio } of the requests failed: { $errors } got no whole response, { $bad ->
        [one] one was answered
       *[other] { $bad } were answered
    } with a status of 400 or above. { $why }
verdict-judged = { $ratio } of the samples failed although all were answered: what came did not pass their assertions, or a part of a page was missing.
verdict-errors-and-bad-code =
    { $ratio } of the queries failed: { $errors } got no response, { $bad ->
        [one] one was answered
       *[other] { $bad } were answered
    } with an error code. { $why }
verdict-bad-code =
    { $ratio } of the queries failed: { $bad ->
        [one] one was answered
       *[other] { $bad } were answered
    } with an error code.
verdict-bad-status =
    { $ratio } of the requests failed: { $bad ->
        [one] one was answered
       *[other] { $bad } were answered
    } with a status of 400 or above.
rule-answer-wait-distance-says = A request takes { $mean }, of which the round trip to { $host } takes { $lowest } at least: the distance and the number of requests under way set the rate of a closed loop.
rule-answer-wait-distance-next = Allow more requests under way, or make fewer round trips.
rule-answer-wait-distance-trips-says = A transaction takes { $mean }, of which its { $trips } round trips to { $host } take { $share } at least, { $lowest } each: the distance and the number of clients set the rate of a closed loop.
rule-answer-wait-distance-trips-next = Make fewer round trips: several statements in one call (pipelining, batches, procedures on the server), or the program nearer to the database. More clients carry more and answer no sooner.
rule-answer-wait-serial-says = Requests wait for one another at { $host }: the shortest takes { $shortest }, the mean { $mean }, { $under } are under way and about { $worked } is worked on at a time.
rule-answer-wait-serial-next = Find what serves the requests of { $host } one by one: a single thread, a lock, or one full core.
rule-answer-wait-pool-says = Requests wait for one another at { $host }: the shortest takes { $shortest }, the mean { $mean }, { $under } are under way and about { $worked } are worked on at a time.
rule-answer-wait-pool-next = Find the pool of { $host } that has so many places, or its CPU.
rule-answer-wait-way-says = A request takes { $mean }, and the round trips of its connection take { $trip } each although { $lowest } is possible: a queue on the way to { $host } or back holds requests up, and not { $host } itself.
rule-answer-wait-way-next = Find the narrowest link of the way and what fills its queue; `sokudo stream` and `sokudo probe` between the hosts measure both. Fetch fewer bytes for each request.
rule-answer-wait-wait-says = A request takes { $mean }, the shortest { $shortest }, on the way to { $host } or in its work, while the threads of this load are idle: that time and the number of requests under way set the rate of a closed loop.
rule-answer-wait-wait-next = Shorten what { $host } does for a request or the way to it, or allow more requests under way.
evidence-service-mean = { $host } answered after { $value } on average
evidence-service-shortest = { $host } answered after { $value } at best
evidence-first-error = { $host }: the first failure says: { $error }
rule-delayed-ack-behind-says = { $from } held small messages back at { $share } of the readings until { $to } had acknowledged the one before, although its windows had room (Nagle's algorithm).
finding-answer_wait-means = In a closed loop the time of an answer and the number of requests under way set the rate. Where that time passes is named: the distance, a queue at the far end, or its work.
finding-answer_wait-signs = The threads of both ends want a CPU for less than { $idle } of the time, and a request takes at least { $clear }. The distance is the reason when the lowest round trip, times the segments that a session sends in a transaction, makes up { $way } of it; requests wait for one another when the mean is at least { $queued } times the shortest. Where the mean round trip is at least { $grown } times the lowest and as large a part, a queue on the way is the reason when it is more than { $delayed } longer; with less, delayed acknowledgements may be.
finding-answer_wait-try = Allow more requests under way (--window, --connections), or shorten what the far end does for each.

rule-window-full-says =
    { $what ->
        [transactions] { $share } of the transactions had to wait for a session that was free: { $host } carried them out more slowly than they were due.
       *[other] { $share } of the requests had to wait for earlier answers from { $host }: answers came more slowly than requests were due.
    }
rule-window-full-next = Lower the rate, or allow more unanswered requests (--window, --connections); if { $host } stood still for a moment, its load over time shows when.
rule-window-full-connections-next = Lower the rate, or use more connections (--connections); if { $host } stood still for a moment, its load over time shows when.
rule-window-full-clients-next = Lower the rate, or use more sessions (--clients); if { $host } stood still for a moment, its load over time shows when.
rule-window-full-threads-next = Lower the rate, or ask with more threads (--threads); if { $host } stood still for a moment, its load over time shows when.
rule-window-full-receipts-says = Limited by the window of messages under way: for { $share } of the time they waited for receipts from { $host }, which read everything at once.
rule-window-full-receipts-next = Allow more under way (--inflight): it must hold the rate times the round-trip time. Latency grows with whatever is more than that.
rule-spinning-says = { $cpu } of a core on { $host } was used for waiting: with --wait spin a thread polls without sleeping, so its CPU time does not indicate a limit.
rule-spinning-next = Compare with --wait block, and give the spinning threads cores of their own.
evidence-asks-late = { $host }: { $value } of the requests left late
evidence-window-full = { $host }: { $value } of the requests found no room
evidence-window-waited = { $host } waited for room in its window of messages under way: { $value } of the time
evidence-latency-p99 = 99 % of the answers of { $host } within { $value }, from the intended start
evidence-service-p99 = 99 % of the answers of { $host } within { $value }, from the real start
evidence-client-cpu = { $host }: the busiest asking thread used { $value } of a core
evidence-client-wait = { $host }: an asking thread was ready but had no CPU for { $value } of the time
evidence-server-cpu = { $host }: the busiest answering thread used { $value } of a core

## What limits a connection

rule-receive-window-says = { $from } waited for { $share } of the time because the receive window of { $to } was full, although { $to } read everything at once: the window is the limit.
rule-receive-window-next = Leave the receive buffer on { $host } to the system, or make it larger (--rcvbuf, --window-clamp; net.ipv4.tcp_rmem and net.core.rmem_max): it must hold the rate times the round-trip time.
rule-receive-window-system-next = Allow larger receive buffers on { $host } (net.ipv4.tcp_rmem): they must hold the rate times the round-trip time.
rule-send-buffer-says = The send buffer of { $host } was full for { $share } of the time although the connection to { $to } could carry more: the buffer is the limit.
rule-send-buffer-next = Leave the send buffer on { $host } to the system, or make it larger (--sndbuf; net.ipv4.tcp_wmem and net.core.wmem_max): it must hold the rate times the round-trip time.
rule-send-buffer-system-next = Allow larger send buffers on { $host } (net.ipv4.tcp_wmem): they must hold the rate times the round-trip time.
rule-loss-limited-says = Loss-limited: { $share } of the segments from { $from } to { $to } had to be sent again, and each loss makes TCP send less.
rule-loss-limited-tail-says = Loss shows in the slowest answers: segments between { $from } and { $to } had to be sent again, and waiting for that took up to { $max }.
rule-loss-limited-next = Look for what loses packets between { $from } and { $to } (`sokudo datagram` tells where), or compare another congestion control (--cc bbr) that does not take each loss for a full link.
rule-loss-limited-place-next = Look for what loses packets between { $from } and { $to }: `sokudo datagram` tells where.
rule-path-limited-says = Path-limited: the way between { $from } and { $to } carries { $bits } of this load; a queue of { $queue } stands on it, there or back, while both ends wait for it.
rule-path-limited-next = Compare with the rate of the links between { $from } and { $to } and with what else they carry. More streams or larger buffers only lengthen the queue; --pacing just below this rate shortens it.
rule-path-limited-compare-next = Compare with the rate of the links between { $from } and { $to } and with what else they carry.
rule-sender-cpu-says = Sender-limited: the sending thread on { $host } used { $cpu } of a core and { $waited } for room, so the way and the receiver carry at least this much.
waited-never = never waited
waited-some = waited only { $share } of the time
rule-receiver-cpu-says = Receiver-limited: the receiving thread on { $host } used { $cpu } of a core and { $waited } for data, so the sender and the way carry at least this much.
rule-asking-cpu-says = The requesting thread on { $host } used { $cpu } of a core: its CPU time is the limit.
rule-answering-cpu-says = The answering thread on { $host } used { $cpu } of a core: its CPU time is the limit.
rule-sender-cpu-next = Share the load among more streams (--streams) on { $host }, use larger writes (--size), or spare it the copying (--io auto).
rule-sender-cpu-bus-next = Share the load among more threads (--tx-threads) on { $host }, or use larger messages (--size).
rule-receiver-cpu-bus-next = Hand the messages to more threads (--rx queue --rx-threads) on { $host }, or send over more connections (--tx-threads).
rule-receiver-cpu-next = Share the load among more streams (--streams), so that several threads receive on { $host }.
rule-cpu-encrypted-next = Encryption costs CPU time: use more streams (--streams), so that several cores of { $host } share it, and compare with --transport tcp.
rule-cpu-encrypted-threads-next = Encryption costs CPU time: use more threads (--tx-threads), so that several cores of { $host } share it, and compare with --transport tcp.
rule-exchange-cpu-next = Use more threads (--threads) for { $host }, or ask for less.
rule-application-asked-says = The load asked for was carried: { $asked }, offered by { $host }. Nothing limits more than that request.
rule-application-asked-next = Leave --rate out to see what limits more than that.
rule-application-limit-next = Leave --limit out to see what limits more than that.
rule-application-pauses-says = The users on { $host } spent { $share } of their time in pauses, as the load asks for: their number and their pauses set the rate.
rule-application-pauses-next = Raise the number of users, or shorten their pauses, to see what limits more than that.
rule-application-paced-says = Limited as asked: { $host } was told to send { $asked } at most (--pacing).
rule-application-paced-next = Leave --pacing out to see what else limits the rate.
rule-application-reader-says = The program on { $host } slept for { $share } of the time although data had arrived: the reader is the limit.
rule-application-reader-next = Let the program on { $host } read sooner (--read-rate slows it down on purpose). No buffer and no window mends this.
rule-application-consumer-next = Let the program on { $host } take messages sooner (--consume-rate slows it down on purpose). No buffer and no window mends this.
rule-application-writer-says = The program on { $host } slept for { $share } of the time although there was room: the writer is the limit.
rule-application-writer-next = Let the program on { $host } offer more: a higher --rate, more messages at a time, more threads.
rule-delayed-ack-step-says = Small messages wait for held-back acknowledgements: { $share } of the answers between { $from } and { $to } took the 40 ms of a delayed acknowledgement longer.
rule-delayed-ack-still-says = Small writes wait for held-back acknowledgements: for { $share } of the time { $from } had bytes for { $to }, every window was open, and next to nothing was under way.
rule-delayed-ack-next = Turn Nagle's algorithm off (leave --nagle out: TCP_NODELAY), or hand over whole messages in one write.
rule-delayed-ack-server-next = Turn Nagle's algorithm off in the program that writes (TCP_NODELAY), or hand over whole messages in one write.
rule-device-queue-says = The queue of { $device } on { $host } ({ $kind }) bounds what leaves that host: packets stood in it in { $share } of the samples, and { $drops } were dropped there.
rule-device-queue-short-says = The queue of { $device } on { $host } ({ $kind }) was too short: it dropped { $drops } before they left that host.
rule-device-queue-entrance-says = A traffic rule at the entrance of { $device } on { $host } dropped { $drops } that this host had received.
rule-device-queue-next = Look at `tc -s qdisc show dev { $device }` on { $host }: raise or remove its rate and its limit, or ask for less than that rate.
evidence-queue-backlog = Mean backlog in the queue of { $device } on { $host }: { $value }
evidence-queue-held-back = Times that the queue of { $device } on { $host } held a packet back or dropped it because its rate was used up: { $value }
evidence-queue-drops = Packets that the queue of { $device } on { $host } dropped: { $value }
evidence-device-rate = Mean rate at which { $device } on { $host } sent: { $value }
rule-softirq-core-says = Core { $core } of { $host } spent { $share } of its time on received packets (softirq) and had none left.
rule-softirq-core-next = Spread the receive queues of { $host } over more cores (RSS, RPS, irqbalance), turn receive offload (GRO) on, and keep the threads of the test off that core.
rule-neighbour-says =
    Other programs used { $others } { $others ->
        [one] core
       *[other] cores
    } of { $host } while a thread of the test was ready to run and had no CPU for { $share } of the time: the figures are theirs, too.
rule-neighbour-steal-says = The hypervisor gave { $steal } of the CPU time of { $host } to others while a thread of the test was ready to run and had no CPU for { $share } of the time.
rule-neighbour-next = Stop other work on { $host }, or reserve cores for the test, and repeat.
evidence-write-blocked = The sending program on { $host } waited for room to write into: { $value } of the time
evidence-read-idle = The receiving program on { $host } waited for data: { $value } of the time
evidence-users-pause = Time that the users on { $host } spent in pauses: { $value }
evidence-sender-slept = The sending thread on { $host } slept without waiting for the peer: { $value } of the time (on a CPU: { $cpu })
evidence-receiver-slept = The receiving thread on { $host } slept without waiting for the peer: { $value } of the time (on a CPU: { $cpu })
evidence-tcp-receive-window = The kernel of { $host } could not send because the peer's receive window was full: { $value } of the time
evidence-tcp-send-buffer = The kernel of { $host } could not send because the send buffer was too small: { $value } of the time
evidence-tcp-busy = The kernel of { $host } had data to send or under way: { $value } of the time
evidence-tcp-window = Largest receive window that { $host } was offered: { $value }
evidence-tcp-cwnd = Congestion window of { $host }, mean: { $value } segments
evidence-tcp-round-trips = Round trips seen by { $host }: { $value } on average, { $lowest } at best
evidence-tcp-retransmitted = Segments that { $host } sent again: { $value } ({ $share } of those sent)
evidence-tcp-not-sent = Readings at which bytes that { $host } had written were not sent yet: { $value }
evidence-tcp-even = Spread of the rate at which the peer of { $host } acknowledged: { $value }
evidence-tcp-delivery = Rate at which the peer of { $host } acknowledged: { $value }, spread { $spread }
evidence-tcp-under-way = Segments of { $host } under way, mean: { $value }, of { $window } that the congestion window allows
evidence-tcp-delayed-ack = { $host } holds acknowledgements back for up to { $value }
evidence-host-retransmits = Segments that { $host } sent again meanwhile, all programs: { $value }
evidence-latency-max = Slowest answer of { $host }: { $value }
evidence-latency-step = Answers of { $host } that took 36 to 54 ms, more than slower and faster ones beside them: { $value }
evidence-nagle = Nagle's algorithm was on, as asked (--nagle)
evidence-softirq = Time that core { $core } of { $host } spent in interrupts: { $value }
evidence-cores-idle = Idle time of all cores of { $host } together meanwhile: { $value }
evidence-busiest-core = Core { $core } of { $host }, the busiest one, was in use for { $value } of the time
evidence-others-cpu = CPU time that other programs used on { $host }: { $value } cores
evidence-server-wait = { $host }: an answering thread was ready but had no CPU for { $value } of the time

## Bytes and messages

verdict-stream = { $flows }: { $rate } of payload received.
verdict-stream-asked = { $flows }: { $rate } of payload received, { $asked } requested.
verdict-stream-missing = { $missing } sent were not received. { $why }
verdict-bus = { $flows }: { $rate } messages/s received{ $answers }.
verdict-bus-asked = { $flows }: { $rate } of { $asked } messages/s received{ $answers }.
verdict-bus-missing = Messages sent but not received: { $missing }. { $why }
answers-told = , response median { $p50 }, p99 { $p99 }, maximum { $max }
answers-untold = , responses not timed
## Repeated runs
verdict-repeat = Median of { $numbers } runs: { $median }, between { $low } and { $high } with { $confidence } confidence; single runs { $min } to { $max }.
verdict-repeat-few = Median of { $numbers } runs: { $median }, between { $low } and { $high } with { $confidence } confidence only; at least six runs are needed for 95 %.
verdict-repeat-one = Only one of { $runs } runs gave numbers: { $median }.
verdict-repeat-apart = The fastest run is { $factor } times as fast as the slowest: a single run says little here.
verdict-repeat-middle = The run in the middle: { $says }
verdict-search-range = { $held } of { $trials } trials held the rate that was found; they carried between { $low } and { $high } ({ $confidence } confidence in the median){ $above }.
search-range-above = , and { $above } broke a bound
search-range-open = , and no higher rate broke a bound
## Sweeps
verdict-sweep-knee = The knee lies at { $offered } offered: there { $delivered } was carried{ $latency }. At the next step, { $next-offered } offered, { $next-delivered } was carried{ $next-latency }.
verdict-sweep-knee-option = The knee lies at --{ $option } { $value }: there { $delivered } was carried{ $latency }. The next step, { $next }, brings { $next-delivered }{ $next-latency }.
verdict-sweep-above = No knee in the range: even the step that carried most, { $offered } offered, was carried with { $delivered }{ $latency }.
verdict-sweep-below = No knee in the range: already the lowest step, { $low-offered } offered, was more than could be carried ({ $low-delivered }{ $low-latency }).
verdict-sweep-unknown = Too few steps gave numbers for a knee; { $delivered } was carried at most, with { $offered } offered{ $latency }.
verdict-sweep-most = No knee in the range: --{ $option } { $value } carried most, { $delivered }{ $latency }.
sweep-latency = , p99 { $p99 }
sweep-no-latency = { "" }
verdict-sweep-next-finer = Take finer steps around the knee, or let --find 'p99<1ms' search the highest rate that keeps a bound.
verdict-sweep-next-keep = Keep the value at the knee: more of it costs latency or CPU and brings little.
verdict-sweep-next-lower = Begin the range at a lower rate.
verdict-sweep-next-higher = Raise the end of the range until a step is no longer carried.
verdict-sweep-next-more = At least four values that are numbers are needed to see a knee; a wider range may show one.

## Demands
check-bound-held = { $phase }: { $what } is { $measured }, within the { $bound } that was allowed.
check-bound-failed = { $phase }: { $what } is { $measured }, more than the { $bound } that was allowed.
check-bound-unmeasured = { $phase }: { $what } could not be measured, so nothing says that it kept { $bound }.
check-rate-held = { $phase }: { $measured } was reached, at least { $bound } was asked for.
check-rate-failed = { $phase }: { $measured } was reached, less than the { $bound } that was asked for.
check-errors-held =
    { $phase }: { $failed } of the { $what ->
        [transactions] transactions
       *[other] requests
    } failed, at most { $bound } may.
check-errors-failed =
    { $phase }: { $failed } of the { $what ->
        [transactions] transactions
       *[other] requests
    } failed, more than the { $bound } up to which the figures stand for all of them.

## Probes

verdict-probe = { $flows }: round trip median { $p50 }, p99 { $p99 }, maximum { $max }. { $ways }
verdict-probe-ways = One-way delay: median { $up } up, { $down } down.
verdict-probe-no-ways = One-way delays are not shown: the clock offset between the hosts is not known precisely enough.
verdict-probe-none-lost =
    { $sent ->
        [one] The one probe was not lost.
       *[other] None of { $sent } probes was lost.
    }
verdict-probe-lost = Of { $sent } probes { $up } were lost on the way up, { $down } answers on the way down, and { $late } came late.
verdict-probe-lost-somewhere = Of { $sent } probes { $lost } got no answer.
verdict-probe-unsent =
    { $unsent ->
        [one] One of { $all } probes was
       *[other] { $unsent } of { $all } probes were
    } left out because the sending thread woke up too late: this host is too busy for the interval, or --every is too short for it.
check-knee-failed = The lowest number of users gave no numbers, or broke the demands.
check-found-failed = No rate that was tried kept the bounds: { $bounds }.

## Pairs of a group

verdict-pairs-hold = All { $pairs } directed pairs of { $hosts } hosts keep { $expected }.
verdict-pairs-through = Every layer comes through between all { $hosts } hosts ({ $pairs } directed pairs).
verdict-pairs-through-some = Every layer comes through for the { $pairs } of { $all } directed pairs of { $hosts } hosts that met; the others were not tried.
verdict-pairs-hold-some = The { $pairs } of { $all } directed pairs of { $hosts } hosts that met keep { $expected }; the others were not tried.
verdict-pairs-fail =
    { $failed } of { $pairs } directed pairs of { $hosts } hosts { $failed ->
        [one] does not keep
       *[other] do not keep
    } { $expected }: { $names }.
verdict-pairs-dead =
    { $failed } of { $pairs } directed pairs of { $hosts } hosts { $failed ->
        [one] fails, without any way through
       *[other] fail, some of them without any way through
    }: { $names }.
verdict-pairs-worst = { $from } → { $to }: { $what }.
verdict-mesh = All hosts at once, each to every other one, carry { $bits } together (fairness { $fairness }; 1 = all alike).
verdict-pairs-speeds = The slowest pair, { $from } → { $to }, carries { $slowest } over one connection, the pair in the middle { $middle }.
pair-names = { $names }
pair-names-more = { $names } and { $more } more
pair-and = { $first }; { $rest }
pair-dead = nothing comes through ({ $layers })
pair-dead-why = nothing comes through ({ $layers }: { $why })
pair-broken-payload = { $layer } carries { $measured } instead of at least { $limit }
pair-broken-bound = { $what } of { $layer } is { $measured }, more than { $limit }
pair-broken-unknown = { $layer } has no number for { $what }
pair-broken-alone = { $broken } ({ $alone } while all others were quiet)
check-pair-held = { $from } → { $to }: keeps { $expected }.
check-pair-through = { $from } → { $to }: every layer comes through.
check-pair-failed = { $from } → { $to }: { $what }.
check-expect-held = { $asked }: all { $pairs } directed pairs that were measured keep it.
check-expect-failed = { $asked }: { $missed } of { $pairs } directed pairs that were measured do not keep it.
rule-hot_link-in = All { $count } of { $pairs } directed pairs that stand out send to { $host }: the way into it is slow or broken, not a single pair.
rule-hot_link-out = All { $count } of { $pairs } directed pairs that stand out are sent by { $host }: the way out of it is slow or broken, not a single pair.
rule-hot_link-both = All { $count } of { $pairs } directed pairs that stand out have { $host } at one end: its link or the host itself is slow or broken, not a single pair.
rule-hot_link-next = Look at the link of { $host }: speed and duplex of its port (`ethtool`), errors on the interface, the cable, and what else runs on the host.
evidence-pair-carries = { $from } → { $to } carries { $bits } over one connection.
check-skew-held = { $phase }: the flows began within { $spread } of each other, { $most } were allowed.
check-skew-failed = { $phase }: the flows began { $spread } apart, more than the { $most } that were allowed, also when it was repeated.

## Layers of a check

verdict-layers = { $from } → { $to }: { $layers }.
verdict-layers-messages = Programs at both ends: { $layers }.
verdict-layers-services = Services: { $layers }.
layer-probe = { $p50 } there and back, { $loss } lost
layer-rr = an answer after { $p50 }, 99 % within { $p99 }
layer-crr = { $rate } new connections/s
layer-stream = { $bits } over one connection
layer-bus = { $rate } messages/s
layer-http = { $rate } web requests/s, 99 % answered within { $p99 }
layer-target = { $rate } requests/s to an application server, 99 % answered within { $p99 }, waits of { $queue } for a thread and { $pool } for a database connection
layer-replicate = { $bytes } of files, { $files } files/s
layer-tpcb = { $rate } transfers/s in an embedded database

## Flows that stood still

rule-uneven-start-says = The flows started { $spread } apart, more than the { $most } that were allowed, also after a repetition; { $from } → { $to } started last. Totals over the flows do not describe what they carry together.
rule-uneven-start-next = Find out what delayed the start on { $host }: other work on its cores, or too few cores for its flows. Or allow more with `--max-skew`.
rule-uneven-start-plan-next = Find out what delayed the start on { $host }: other work on its cores, or too few cores for its users.
evidence-start-first = The first flow began this long after the agreed moment, on { $host }: { $value }
evidence-start-last = The last flow began this long after it, on { $host }: { $value }
rule-stalled-says = { $from } → { $to } stood still for { $seconds }, from { $begin } after the start on: { $near } had bytes to send, and sent none.
rule-stalled-unacknowledged =
    { $from } → { $to } stood still for { $seconds }, from { $begin } after the start on: what { $near } had sent was not acknowledged, and was sent again { $again ->
        [one] once
       *[other] { $again } times
    }. Nothing came through to { $far }, or nothing back.
rule-stalled-unread = { $from } → { $to } stood still for { $seconds }, from { $begin } after the start on: { $far } had bytes that its program did not read.
rule-stalled-next-path = Look at the way between { $near } and { $far } at that time: link state and errors of both interfaces (`ip -s link`), the switch's log, firewalls that forget connections.
rule-stalled-next-lost = Find out why sokudo on { $far } ended: what it printed last, and whether the system killed it (`dmesg`).
rule-stalled-next-program = Look at what { $far } did at that time: a program that was stopped, starved of CPU, or waited for something else.
evidence-stall-send-queue = Bytes that waited in the send queue of { $host } at the end of it: { $value }
evidence-stall-again = Segments that { $host } sent again meanwhile: { $value }
evidence-stall-window = Receive window that { $host } was offered: { $value }
evidence-stall-receive-queue = Bytes that { $host } had received and no program had read: { $value }
evidence-stall-far-queue = Bytes that waited in the send queue of { $host }, the other end: { $value }
evidence-stall-nic-received = Packets that interfaces of { $host } received and dropped during the phase: { $value }
evidence-stall-nic-sent = Packets that interfaces of { $host } were to send and dropped during the phase: { $value }
evidence-stall-nic-broken = Packets that interfaces of { $host } found broken during the phase: { $value }
rule-hot_link-incast = All { $count } of { $pairs } flows that are slow send to { $host } at the same moment, { $bits } together: they meet at its link, or in the buffer of the port before it (incast).
evidence-flow-carries = { $from } → { $to } carries { $bits }.
rule-name-server-errors-failures-says =
    { $count ->
        [one] One query was
       *[other] { $count } queries were
    } answered with SERVFAIL, { $share } of all: { $server } could not find the answer.
rule-name-server-errors-failures-next = See the server's log: the servers that it asks may not answer it, or signatures (DNSSEC) may not hold.
rule-name-server-errors-refused-says =
    { $count ->
        [one] One query was
       *[other] { $count } queries were
    } answered with REFUSED, { $share } of all: { $server } does not answer this host, or not for these names.
rule-name-server-errors-refused-next = Compare the server's access list with this host's address; a server that only knows its own zones refuses to ask others.
rule-name-server-errors-others-says =
    { $count ->
        [one] One query was
       *[other] { $count } queries were
    } answered with another error code, { $share } of all: { $server } could not read the query, or does not implement it.
rule-name-server-errors-others-next = Ask once with a diagnostic tool, as `dig @SERVER NAME TYPE`, and leave EDNS out for a trial (--udp-bytes 0).
rule-lost-queries-nobody-says =
    { $count ->
        [one] One query
       *[other] { $count } queries
    } to { $server } got no response, { $share } of all: its host said that nothing listens on the port.
rule-lost-queries-nobody-next = See whether the server runs and on which address and port it listens; a server that restarts is away for a moment.
rule-lost-queries-own-says =
    { $count ->
        [one] One query
       *[other] { $count } queries
    } to { $server } got no response, { $share } of all, while about as many datagrams found a full socket on { $host }: the generator did not read in time.
rule-lost-queries-own-next = Give { $host } more threads (--threads) or fewer queries under way (--window), and raise net.core.rmem_default.
rule-lost-queries-unknown-says =
    { $count ->
        [one] One query
       *[other] { $count } queries
    } to { $server } got no response in time, { $share } of all: lost on the way, dropped at a full socket of the server, or left unanswered on purpose.
rule-lost-queries-unknown-next = On the server, look at UDP RcvbufErrors (`nstat -az UdpRcvbufErrors`) and at its rate limiting; compare with --transport tcp, which loses nothing silently.
rule-lost-queries-requests-says =
    { $count ->
        [one] One request
       *[other] { $count } requests
    } to { $server } got no answer in time, { $share } of all: the datagram or its answer was lost on the way, or found a full socket. In a closed loop each keeps its place until the timeout.
rule-lost-queries-requests-next = `sokudo probe` between the hosts shows how much is lost and in which direction; compare with --transport tcp, which sends again what is lost.
rule-truncated-responses-says =
    { $count ->
        [one] One response
       *[other] { $count } responses
    } of { $server } did not fit into a datagram and came truncated, { $share } of all: a resolver would repeat these queries over TCP.
rule-truncated-responses-next = Allow larger responses (--udp-bytes), as far as the path carries them in one piece, or measure them over TCP (--transport tcp).
evidence-error-codes = Responses with this error code at { $host }: { $value }
evidence-whole-answers = Responses with code NOERROR at { $host }: { $value }
evidence-lost-queries = Queries of { $host } without a response: { $value }
evidence-lost-requests = Requests of { $host } without an answer: { $value }
evidence-own-socket-full = UDP datagrams that found a full socket on { $host }: { $value }
evidence-truncated = Truncated responses at { $host }: { $value }
rule-request-failures-refused-says =
    { $count ->
        [one] One connection was refused
       *[other] { $count } connections were refused
    }, { $share } of the requests failed: no process listens there, or the server turns callers away.
rule-request-failures-refused-next = See whether the server runs and on which port it listens; a server that restarts refuses for a moment.
rule-request-failures-resets-says =
    { $count ->
        [one] One connection was accepted and then reset
       *[other] { $count } connections were accepted and then reset
    }, { $share } of the requests failed: that is how a server behaves beyond its bound on open connections.
rule-request-failures-resets-next = Raise the server's bound on open connections, or let it make callers wait; its log names the bound.
rule-request-failures-closed-says =
    The server closed { $count ->
        [one] one connection before it
       *[other] { $count } connections before it
    } had answered, { $share } of the requests failed: it drops idle or surplus connections, or it restarted.
rule-request-failures-closed-next = Compare the server's keep-alive time with the users' pauses, and look for restarts in its log.
rule-request-failures-unanswered-says =
    { $count ->
        [one] One call was never answered in time
       *[other] { $count } calls were never answered in time
    }, { $share } of the requests failed: the queue of connections not yet accepted is full, or packets are dropped on the way.
rule-request-failures-unanswered-next = On the server, look at `ss -ltn` (Recv-Q near Send-Q) and at ListenOverflows; raise its backlog and net.core.somaxconn.
rule-request-failures-timeouts-says =
    { $count ->
        [one] One answer did not come in time
       *[other] { $count } answers did not come in time
    }, { $share } of the requests failed: connections are accepted and not served.
rule-request-failures-timeouts-next = Look at the server's threads and at what they wait for: a pool of connections, a lock, a database.
rule-request-failures-plain-says = The server answers in plain HTTP on this port, and https was asked of it: { $share } of the requests failed.
rule-request-failures-plain-next = Use http://, or the port on which the server speaks TLS.
rule-request-failures-malformed-says =
    { $count ->
        [one] One answer was no HTTP, or not what it said it was;
       *[other] { $count } answers were no HTTP, or not what they said they were;
    } { $share } of the requests failed.
rule-request-failures-malformed-next = See what listens on that port, and whether something on the way changes answers.
rule-connection-churn-says = { $connections } connections were made for { $requests } requests: the load is one of connections as much as of requests.
rule-connection-churn-time-says = { $connections } connections were made for { $requests } requests, and making them takes { $share } of a request's time, TLS included: new connections limit the rate.
rule-connection-churn-cheap-says = { $connections } connections were made for { $requests } requests, which are answered in { $mean } each: so short a request costs its server and the generator no more than the connection that is made for it.
rule-connection-churn-busy-says = { $connections } connections were made for { $requests } requests, and the asking thread was busy or waiting for a CPU for { $share } of the time: new connections limit the rate.
rule-connection-churn-next = Keep connections: see whether the server answers `Connection: close` or closes after a number of requests, and whether the load asks for it (in a test plan: “Use KeepAlive”). If real users connect each time, use more generators and a wide net.ipv4.ip_local_port_range.
rule-dropped-calls-says = Connecting to { $to } took up to { $connect }, the time after which a call is made again: calls were dropped.
rule-dropped-calls-next = On the server, look at ListenOverflows (`nstat -az TcpExtListenOverflows`) and raise its backlog; when it does not rise, look for loss on the way.
rule-dropped-calls-queue-says = Connecting to { $to } took up to { $connect }, the time after which a call is made again: { $host } dropped calls because a queue of connections was full.
rule-dropped-calls-queue-next = Raise the backlog of the server and net.core.somaxconn (`ss -ltn` shows both as Send-Q), or let it accept faster.
rule-server-stalls-once-says = All requests stood still from { $begin } to { $end }: the server, or the way to it, paused as a whole.
rule-server-stalls-once-next = Look in the server's log and monitoring for what happened { $begin } after the first request: a collection of garbage, a checkpoint, a restart, a link that was down.
rule-server-stalls-even-says = All requests stood still { $count } times for { $mean } on average, every { $period }: the server pauses as a whole, as for garbage collection, checkpoints or snapshots. It takes { $share } of the time.
rule-server-stalls-says = All requests stood still { $count } times for { $mean } on average, at uneven distances, up to { $longest }: the server pauses as a whole. It takes { $share } of the time.
rule-server-stalls-stopped-says =
    All requests stood still { $count ->
        [one] once
       *[other] { $count } times
    }, up to { $longest }, and a process of the server was seen stopped (state T): a signal or a debugger stopped it.
rule-server-stalls-quota-says = All requests stood still { $count } times for { $mean } on average, every { $period }, the period of the kernel's quotas of CPU time: the server has used up its quota each time. It takes { $share } of the time.
rule-server-stalls-quota-next = Look at nr_throttled in cpu.stat of the server's control group, and raise its quota (cpu.max, the CPU limit of its container) or let it compute less.
rule-server-stalls-next = Compare these times with the server's log of garbage collections, checkpoints and jobs; a larger heap, a concurrent collector or smaller checkpoints shorten them.
rule-uneven-service-users-says = { $slow } of { $users } connections are slow: their answers take { $long }, those of the others { $usual }. One worker, thread or backend that serves them is slow.
rule-uneven-service-users-next = Find out which worker or backend serves these connections, and compare its CPU, locks and disk with those of the others.
rule-uneven-service-requests-says = { $share } of the requests take { $long }, the others { $usual }, and next to none lie between: a part of the server that some requests meet is slow. They make up { $time } of all response time.
rule-uneven-service-requests-next = Look for what these requests meet: one backend or worker of several, a cache that misses, a lock that is held long, a second database.
rule-turned-away-limit-says = { $share } of the answers are { $code }: the server limits the rate and serves { $served } requests/s.
rule-turned-away-limit-next = Ask for no more than { $served } requests/s, or raise the rate limit of the server or of the gateway in front of it.
rule-turned-away-says = { $share } of the answers are { $code }, after { $quick } each: the server is at its limit and turns requests away. It serves { $served } requests/s in { $long } each; the { $rate } answers/s are no speed.
rule-turned-away-untimed-says = { $share } of the answers are { $code }: the server is at its limit and turns requests away. It serves { $served } requests/s; the { $rate } answers/s are no speed.
rule-turned-away-all-says = All { $rate } answers/s are errors, { $share } of them { $code }: the server serves nothing.
rule-turned-away-next = See what the server refuses for: a full queue or pool, a backend that is down, a circuit breaker. What it can serve is { $served } requests/s.
rule-redirected-says = { $share } of the answers are redirects, which this load does not follow: the figures are those of redirects.
rule-redirected-next = Ask the address that they lead to; `curl -sI` shows it. Often it is https instead of http, or another host name.
rule-error-answers-says = { $share } of the answers are errors, most of status { $code }: { $why }. The others, { $served }/s, are what the server serves.
rule-error-answers-all-says = All answers are errors, most of status { $code }: { $why }. The server serves nothing.
error-answers-request = the server takes the request for a wrong one
error-answers-credentials = the server asks for credentials, or does not allow it
error-answers-path = the server has nothing at this path
error-answers-application = the application failed
error-answers-backend = the gateway cannot reach the server behind it, or gets no valid answer from it
error-answers-slow = the gateway gave up waiting for the server behind it
error-answers-refused = the server refuses the request
error-answers-server = the server failed
rule-error-answers-request-next = See what it misses: the method, a header, the body; the server's log says.
rule-error-answers-credentials-next = Give the credentials (as a header or cookie), or ask for something that is allowed without.
rule-error-answers-path-next = Check the path, and the host name that the server is asked for.
rule-error-answers-application-next = The application's log says what failed; these answers are no measure of its speed.
rule-error-answers-backend-next = See whether the server behind the gateway runs, where it listens, and whether it takes all connections.
rule-error-answers-slow-next = Measure the server behind the gateway by itself; the gateway's timeout is the time that these answers took.
rule-error-answers-refused-next = The server's log says why it refuses these requests.
rule-error-answers-server-next = The server's log says what failed; these answers are no measure of its speed.
rule-unserved-connections-says = { $unserved } connections to { $to } were accepted by its system and never served, while { $served } others were: its program does not accept them.
rule-unserved-connections-all-says = { $unserved } connections to { $to } were accepted by its system, and no answer came on any: its program hangs or accepts nothing, or its answers do not arrive.
rule-unserved-connections-files-says = { $unserved } connections to { $to } were accepted by its system and never served: its program has as many files open as it may, and cannot accept more.
rule-unserved-connections-files-next = Raise the limit of open files of the server (LimitNOFILE, ulimit -n), and see that it closes what it no longer needs.
rule-unserved-connections-next = On the server, compare its open files with their limit (/proc/PID/limits), its threads with their maximum, and see Recv-Q of the listening socket (`ss -ltn`).
rule-unserved-connections-all-next = On the server, compare its open files with their limit (/proc/PID/limits), its threads with their maximum, and see Recv-Q of the listening socket (`ss -ltn`). If it answers there, large packets may be lost on the way back: `ping -M do -s 1400` from the server shows it.
rule-server-cpu-thread-says = The server has no CPU time left in one thread: it uses { $thread } of a core{ $work }.
rule-server-cpu-thread-next = Use more threads or processes in the server, or less work per request: a profile of that thread (`perf top -t`) shows where the time goes.
rule-server-cpu-cores-says = The server uses { $cores } cores and may use { $allowed }: its CPU time is the limit{ $work }.
rule-server-cpu-cores-next = Let the server use more cores (`taskset`, the set of CPUs of its container), or give it less work per request.
rule-server-cpu-single-says = The server works on one core at a time: its threads use { $cores } cores together, and requests wait for one another, { $under } of them{ $work }.
rule-server-cpu-single-next = Use more processes in the server where its threads take turns on one core (a single thread, an event loop, a global interpreter lock), or less work per request.
rule-server-cpu-machine-says = The server uses { $cores } cores of { $host }, which has none left: its CPU time is the limit{ $work }.
rule-server-cpu-machine-next = Generate the load from another machine than { $host }: the generator takes CPU time from the server. Then give the server more cores, or less work per request.
rule-server-cpu-quota-says = The CPU quota of the server's control group keeps it from running for { $throttled } of the time; it uses { $cores } cores.
rule-server-cpu-quota-next = Raise the quota (cpu.max of its control group, the CPU limit of its container), or lower the load.
server-work-requests = { "" }
server-work-tls = { "" }. Of a request, { $share } passes in the TLS handshake
server-work-connections = { "" }. Of a request, { $share } passes in connecting anew
rule-replication-stage-read-says = The sending threads on { $host } spend { $share } of their time reading files: the source cannot deliver more than { $bytes }.
rule-replication-stage-read-next = Look at the disk of { $host } (monitor `disk`: utilisation, wait); several connections (--connections) read several files at a time.
rule-replication-stage-make-says = The sending threads on { $host } spend { $share } of their time making the data set: the generator is the limit, not the copy.
rule-replication-stage-make-next = Use more connections (--connections), or a real tree as source.
rule-replication-stage-pack-says = The sending threads on { $host } spend { $share } of their time compressing, { $ratio } to 1: the compressor is slower than the way.
rule-replication-stage-pack-next = Lower the level (--level 1 or none), or share the work among more threads (--connections).
rule-replication-stage-dense-says = The sending threads on { $host } spend { $share } of their time compressing what cannot be compressed ({ $ratio } to 1).
rule-replication-stage-dense-next = Leave compression out: --level none, or auto, which senses such content.
rule-replication-stage-walk-says = The sending threads on { $host } have nothing to send for { $share } of the time: walking both trees and comparing them takes longer than the copy.
rule-replication-stage-walk-next = Few files differ, or directories are read slowly: look at the disks of both ends. With --checksum every file is read to compare it.
rule-replication-stage-write-says = The receiving threads on { $host } spend { $share } of their time writing files: its disk takes no more than { $bytes }.
rule-replication-stage-write-next = Look at the disk of { $host } (monitor `disk`: utilisation, wait), and compare with a target in memory or `null`.
rule-replication-stage-create-says = The receiving threads on { $host } spend { $share } of their time creating and renaming small files, { $files }: the file system is the limit, not the way.
rule-replication-stage-create-next = Use more connections (--connections), so that several files are created at a time; a faster file system for small files helps most.
rule-replication-stage-sync-says = The receiving threads on { $host } spend { $share } of their time in files, most of it making them durable: each sync waits for the device.
rule-replication-stage-sync-part-says = The receiving threads on { $host } spend { $share } of their time in files, { $files }: { $syncs } of all making them durable, the rest creating, writing and renaming them.
rule-replication-stage-sync-next = Sync many files at a time (--durability batch), or leave it to the system (--durability none) where the source can be copied again.
rule-replication-stage-unpack-says = The receiving threads on { $host } spend { $share } of their time unpacking and verifying: its CPU takes no more than { $bytes }.
rule-replication-stage-unpack-next = Lower the level (--level 1 or none), or share the work among more threads (--connections).
rule-request-stage-distance-says = The round trip takes { $lowest } of the { $mean } that a request waits: the distance to the server sets the rate of so many connections.
rule-request-stage-distance-next = More connections carry more; fewer round trips per request (kept connections, HTTP/2) answer sooner.
rule-request-stage-way-says = Requests wait { $mean } for the first byte, and the round trip of their connections is as long although { $lowest } is possible: a queue on the way holds them up.
rule-request-stage-way-next = Find the narrowest link of the way and what fills its queue; `sokudo stream` and `sokudo probe` between the hosts measure both.
rule-request-stage-part-says = Requests wait for one another in the server: the shortest takes { $shortest }, the mean { $mean }, { $under } are under way and { $worked } is worked on at a time, less than one: for a part of the time the server answers none of them. Its CPU time is bounded, other programs use its cores, it pauses, or few requests hold it far longer than the others.
rule-request-stage-part-next = Look at the CPU quota of the server's control group (`cpu.stat`, nr_throttled), at other programs on its cores, and at its pauses (garbage collection); the monitor `process:port=…` on its host observes it.
rule-request-stage-paced-says = The server hands out its answers at an even pace: the shortest takes { $shortest }, the mean { $mean }, { $under } are under way, and less than one is worked on at a time. A limit on the rate of requests holds them back, as that of a web server or a gateway.
rule-request-stage-paced-next = Raise that limit, or ask for no more than it lets through: more connections wait longer and carry no more.
rule-request-stage-queue-says = Requests wait for one another in the server: the shortest takes { $shortest }, the mean { $mean }, and nearly all wait about as long; { $under } are under way. Their own times vary, so how many it works on at a time cannot be told from here.
rule-request-stage-queue-next = See the CPU of the server's process (the monitor `process:port=…` on its host): near a core or all of them it is its work, else a lock, a pool or what stands behind it.
rule-request-stage-serial-says = Requests wait for one another in the server: the shortest takes { $shortest }, the mean { $mean }, { $under } are under way and about { $worked } is worked on at a time. A lock, a single worker, one full core or a limit on their rate serves them one by one.
rule-request-stage-serial-next = See the CPU of the server's process: near one core it is its work (the monitor `process:port=…` observes it there), else a lock, a single worker or a limit on the rate.
rule-request-stage-serial-idle-says = Requests wait for one another in the server: the shortest takes { $shortest }, the mean { $mean }, { $under } are under way and about { $worked } is worked on at a time, although the server has CPU time left. A lock, a single worker or a limit on their rate serves them one by one.
rule-request-stage-serial-idle-next = Find the lock, the only worker or the limit: stacks of the server's threads while the load runs show where they wait, its configuration whether it bounds a rate.
rule-request-stage-pool-says = Requests wait for one another in the server: the shortest takes { $shortest }, the mean { $mean }, { $under } are under way and at least { $worked } are worked on at a time. A pool of threads or connections, or its CPU, is the limit.
rule-request-stage-pool-next = See the CPU of the server's process (monitor `process:port=…`): with time left, raise its threads or its pool of connections.
rule-request-stage-pool-idle-says = Requests wait for one another in the server: the shortest takes { $shortest }, the mean { $mean }, { $under } are under way and at least { $worked } are worked on at a time, although the server has CPU time left. A pool of threads or connections is the limit.
rule-request-stage-pool-idle-next = Raise the pool that is full: worker threads, connections to a database or to another service.
request-stage-best = { "" }, { $shortest } at best
request-stage-best-unknown = { "" }
rule-request-stage-taken-says = { $share } of a request passes before the first byte of its answer, { $mean } on average, and for { $window } of the time with something to send the server's receive window was full: it takes the bodies of requests slowly.
rule-request-stage-taken-next = Look at what the server does with bodies while they arrive; over a long way, at its receive buffers, too (net.ipv4.tcp_rmem): they need room for rate × round trip.
rule-request-stage-buffer-says = { $share } of a request passes before the first byte of its answer, { $mean } on average, and for { $buffer } of the time with something to send the send buffer of this host was too small for the way: it holds a body until the server has confirmed it.
rule-request-stage-buffer-next = Raise the third number of net.ipv4.tcp_wmem on this host to the wanted bytes per second times the round trip.
evidence-path-window = { $host }: with something to send, the server's receive window was full for { $value } of the time
evidence-path-buffer = { $host }: with something to send, the own send buffer was too small for { $value } of the time
rule-request-stage-wait-says = { $share } of a request passes between its last byte and the first of the answer, { $mean } at the server{ $best }. In a closed loop this time and the number of connections set the rate; more connections show whether requests wait for one another there.
rule-request-stage-wait-next = Look at the server while the load runs (the monitor `process:port=…` on its host): with CPU time left, its requests wait for something else, such as a disk, another service or a timer. With twice as many under way, twice the rate says that each takes this long by itself, the same rate that they wait for one another.
rule-request-stage-either-says = { $share } of a request passes between its last byte and the first of the answer: { $mean }{ $best }. The round trips of the connections vary as much, { $trip } on average and { $lowest } at best: from here it cannot be told whether that is the server or the way.
rule-request-stage-either-next = `sokudo probe` between the hosts tells what the way takes; the monitor `process:port=…` on the server's host tells whether it works.
rule-request-stage-read-says = { $share } of a request passes between the first and the last byte of its answer, { $mean } for { $bytes }: the server sends the body slowly, the way is narrow or loses segments, or a small window (of this host's receive buffer or the server's send buffer) lets little travel in a round trip.
rule-request-stage-read-next = Fetch the same body on the server itself: as slow there, the server makes it slowly.
rule-request-stage-read-server-says = The server sends its answers' bodies slowly: the first byte comes early, the last { $mean } later for { $bytes }, many times the round trip of { $lowest }. That is { $share } of a request.
rule-request-stage-read-server-next = See how the server makes the body: it is written in pieces with pauses between, from a slow source, or through a throttle.
rule-request-stage-read-way-says = { $share } of a request passes between the first and the last byte of its answer, { $mean } for { $bytes }, and a queue on the way makes the round trip much longer than { $lowest }: the way back is narrow.
rule-request-stage-read-way-next = Measure the way with `sokudo stream` from the server's host, or ask for smaller or compressed answers.
rule-request-stage-read-start-says = { $share } of a request passes between the first and the last byte of its answer: { $bytes } take { $mean }, a few round trips of { $lowest }, as a connection that has to find its speed takes.
rule-request-stage-read-start-next = Keep connections open between requests, and let the server keep their windows (net.ipv4.tcp_slow_start_after_idle=0).
rule-request-stage-read-delayed-says = The rest of each answer comes { $mean } after its first bytes, the length of a delayed acknowledgement: the server writes an answer in small pieces, and Nagle's algorithm holds the later ones back.
rule-request-stage-read-delayed-next = Let the server write head and body at once, or set TCP_NODELAY on its connections.
rule-request-stage-connect-says = { $share } of the time of a request passes in connecting, { $mean } on average: calls wait or are dropped before the server accepts them.
rule-request-stage-connect-next = Look at the queue of the listening socket (`ss -ltn`, Recv-Q) and at ListenOverflows on the server, then for loss on the way.
rule-request-stage-tls-says = { $share } of the time of a request passes in the TLS handshake, { $mean } on average: keys are made anew for each connection, and the server's CPU makes them.
rule-request-stage-tls-next = Keep connections, allow sessions to be resumed, or use ECDSA keys, which cost the server less than RSA keys.
rule-request-stage-resolve-says = { $share } of the time of a request passes in looking up the server's name, { $mean } on average: the name server is slow.
rule-request-stage-resolve-next = Measure the name server with `sokudo dns`, look at the first one in /etc/resolv.conf, or look names up once.
rule-request-stage-send-says = { $share } of the time of a request passes in sending it, { $mean } on average: the server does not read it as fast, the way there is narrow or loses segments, or a small window (of this host's send buffer or the server's receive buffer) lets little travel in a round trip.
rule-request-stage-send-next = Measure the way with `sokudo stream` to the server's host; when it carries more, the server reads slowly.
rule-request-stage-streams-says = The server grants { $granted } requests at a time on a connection of HTTP/2: others wait { $mean } to be sent, { $share } of a request.
rule-request-stage-streams-next = Use more connections, or raise that number in the server (nginx: http2_max_concurrent_streams).
rule-request-path-there-says = { $resent } of the segments to the server were sent again, and { $slow } of the requests took as long as a retransmission timeout: segments are lost on the way.
rule-request-path-back-says = { $disordered } of the segments from the server came out of order, and { $slow } of the requests took as long as a retransmission timeout: segments are lost or reordered on the way back.
rule-request-path-both-says = { $resent } of the segments to the server were sent again, { $disordered } of those from it came out of order, and { $slow } of the requests took as long as a retransmission timeout: segments are lost on the way in both directions.
rule-request-path-next = `sokudo probe` between the hosts shows how much is lost and when; look at drops of the interfaces on the way.
evidence-stalls = { $host }: all requests stood still { $value } times
evidence-stall-longest = { $host }: the longest of these times lasted { $value }
evidence-stalled-requests = { $host }: { $value } requests were under way when they ended
evidence-process-stopped = { $host }: a process of the server was stopped for { $value } of the time
evidence-slow-users = { $host }: { $value } connections were slow
evidence-usual-user = { $host }: the connection in the middle took { $value } for an answer
evidence-slow-part = { $host }: { $share } of the requests took { $value } on average, apart from the others
evidence-turned-away = { $host }: { $value } answers of status { $code }
evidence-even-gaps = { $host }: { $value } of the times between answers are about as long as the mean one
evidence-close-gaps = { $host }: { $value } of the times between answers are shorter than half of the shortest wait
evidence-long-gaps = { $host }: { $value } of the time passed in long gaps between answers
evidence-mean-bad = { $host }: an answer of status 400 and above took { $value } on average
evidence-mean-good = { $host }: an answer of another status took { $value } on average
evidence-unserved = { $host }: { $value } connections stood, and their first request was never answered
evidence-failed-connect = { $host }: { $value } requests failed while connecting
evidence-replication-reading = { $host }: share of the sending threads' time in reading files: { $value }
evidence-replication-packing = { $host }: share of the sending threads' time in compressing: { $value }
evidence-replication-idle = { $host }: share of the sending threads' time without anything to send: { $value }
evidence-replication-writing = { $host }: share of the receiving threads' time in creating, writing, renaming and syncing files: { $value }
evidence-replication-syncing = { $host }: share of the receiving threads' time in syncing: { $value }
evidence-replication-unpacking = { $host }: share of the receiving threads' time in unpacking and verifying: { $value }
evidence-open-files-full = { $host }: a process of the server had { $value } files open of { $limit } that it may have
evidence-accept-queue = { $host }: { $value } connections waited to be accepted at port { $port }, on average
evidence-server-sessions-cpu = { $host }: the sessions on the database used { $value } cores
evidence-server-process-cpu = { $host }: the processes of the server's port and their children used { $value } cores
evidence-process-throttled = { $host }: its quota kept the server from running for { $value } of the time
evidence-process-cores = The server may use { $value } cores (its affinity)
evidence-process-thread = { $host }: the busiest thread of the server used { $value } of a core
evidence-machine-full = { $host }: { $value } of its { $cores } cores was used, { $server } cores by the server and { $own } by sokudo
evidence-shortest = { $host }: the shortest wait for an answer took { $value }
evidence-held = { $host }: { $value } requests waited until the server granted them a stream
evidence-path-lowest = { $host }: lowest round trip of the connections { $value }
evidence-path-mean = { $host }: mean round trip of the connections { $value }, delayed acknowledgements included
evidence-path-resent = { $host }: { $value } of the segments of the connections were sent again
evidence-path-disordered = { $host }: { $value } of the segments that came were out of order
evidence-host-resent = { $host }: the host sent { $value } segments again
evidence-slow-by-timeout = { $host }: { $value } of the requests took as long as a retransmission timeout
evidence-stage-resolve = { $host }: looking up the name took { $value } of a request on average, { $share } of its time
evidence-stage-connect = { $host }: connecting took { $value } of a request on average, { $share } of its time
evidence-stage-tls = { $host }: the TLS handshake took { $value } of a request on average, { $share } of its time
evidence-stage-send = { $host }: sending the request took { $value } of a request on average, { $share } of its time
evidence-stage-wait = { $host }: the wait for the first byte took { $value } of a request on average, { $share } of its time
evidence-stage-read = { $host }: reading the answer took { $value } of a request on average, { $share } of its time
rule-slow-label-says = “{ $label }” takes { $mean } in the mean, the others { $usual }: it has { $share } of all response time.
rule-slow-label-next = Look at “{ $label }” by itself before anything else is tuned.
rule-hidden-stall-says = “{ $label }” stood still for { $stall } although its 99th percentile is { $p99 }: the users waited and asked nothing. Callers who come at the same mean rate would have been { $late }, each late by { $wait } in the mean.
rule-hidden-stall-next = Repeat it with arrivals at a rate, `--model open:RATE`: its percentiles count every visitor who would have come.
rule-hidden-stall-rate-next = Repeat it at a rate (--rate): its percentiles count every request that would have come.
evidence-failed-requests = Requests that failed so at { $host }: { $value }
evidence-error-ratio = { $host }: { $value } of the requests failed or were answered with an error
evidence-made-connections = Connections that { $host } made: { $value }
evidence-longest-connect = Longest connect of { $host }: { $value }
evidence-calls-made-again = Calls for a connection that { $host } made again meanwhile, all programs: { $value }
evidence-queue-of-calls-full = Calls that { $host } dropped meanwhile because a queue of connections was full: { $value }
evidence-mean-service = Mean response at { $host }: { $value }

rule-generator-limited-files-says = { $host } could not open connections, because this process may not have more files open: { $count } requests failed, { $share } of all, and most of them by that. What was measured is that limit and not the server.
rule-generator-limited-files-next = Raise the limit on { $host } (`ulimit -n`, LimitNOFILE of a systemd unit), or ask for fewer connections.
rule-generator-limited-ports-says =
    { $host } had no local port left for { $count } { $count ->
        [one] connection
       *[other] connections
    }, { $share } of all requests: what was measured is this host's supply of ports, not the server.
rule-generator-limited-ports-next = If real users keep their connections, switch keep-alive on; else widen net.ipv4.ip_local_port_range on { $host }, set net.ipv4.tcp_tw_reuse to 1, or let several hosts generate the load.
rule-generator-limited-ports-each-next = Widen net.ipv4.ip_local_port_range on { $host }, set net.ipv4.tcp_tw_reuse to 1, or let several hosts ask; `sokudo rr` keeps its connections.
evidence-ports-exhausted = { $host }: connections for which no local port was left: { $value }
evidence-time-wait = { $host }: up to { $value } connections that were over still kept their ports
evidence-local-ports = { $host }: the system gives { $value } ports to outgoing connections
check-generator-held =
    { $phase }: the generator kept its schedule: { $late } of the { $what ->
        [transactions] transactions
       *[other] requests
    } left late, at most { $bound } may.
check-generator-failed =
    { $phase }: the generator did not keep its schedule: { $late } of the { $what ->
        [transactions] transactions
       *[other] requests
    } left late, more than the { $bound } up to which the figures are about the server.
check-generator-unstarted = { $phase }: { $share } of the arrivals were not begun, because as many users as may be under way at a time (--max-inflight) were; the figures are about a lower rate.
check-generator-unstarted-connections = { $phase }: { $share } of the requests were not begun, because all connections (--connections) were busy when they were due; the figures are about a lower rate.
check-generator-unstarted-clients = { $phase }: { $share } of the transactions were not begun, because all sessions (--clients) were busy when they were due; the figures are about a lower rate.
check-generator-ports = { $phase }: { $host } had no local port left for { $share } of the requests; the figures are about the generator.
rule-error-burst-says = { $share } of the { $count } failed requests failed within { $length }, beginning { $begin } after the start: something happened then, and the rest of the time hardly any failed.
rule-error-burst-next = Look at what the servers did { $begin } after the start: a restart, a deployment, a pool or a disk that was full, a path that was cut. The charts over time show what else moved at that moment.
evidence-failed-peak = At { $host } up to { $value } requests failed
evidence-failed-outside = At { $host } in the rest of the time { $value } of them in the mean

## What each finding means, the signs by which it is recognised, and what to try
# Numbers are the bounds of the rule.

finding-application_limited-means = A program at one end held the load back by its own choice: the requested rate was kept, users paused as the load asks for, the reader left data unread, or the writer paused although there was room.
finding-application_limited-signs = At least { $kept } of the requested rate arrived. Or users spent at least { $pausing } of their time in pauses of the load. Or the delivery rate reached { $paced } of the pacing rate. Or a thread slept for at least { $shapes } of the time, waited for the other end for at most { $never } and used less than { $busy } of a core.
finding-application_limited-try = Request a higher rate, or none; more users, or shorter pauses. Otherwise find out what the sleeping program does between its calls.

finding-buffer_below_asked-means = The system granted a smaller socket buffer than was requested, without reporting an error.
finding-buffer_below_asked-signs = `getsockopt` reports less than { $enough } of the requested size. The severity is higher when datagrams were lost at that end.
finding-buffer_below_asked-try = Raise net.core.rmem_max (receive) or net.core.wmem_max (send) with sysctl.

finding-connection_churn-means = Nearly every request used a new connection, so the load consists of connections as much as of requests. Where making them takes much of the time, they limit the rate.
finding-connection_churn-signs = New connections amount to at least { $churn } of the requests, in a phase of at least { $few } requests, and { $each } for each connection that could be kept. They limit the rate when connecting and the TLS handshake take at least { $costs } of a request's time, or the asking thread was on a CPU or ready for one for at least { $busy } of the time, or requests take at most { $short } each and { $cheap } of the load's time; not when a requested rate was kept, when pauses of users set it, or when dropped calls make connecting long.
finding-connection_churn-try = Keep connections if real users do: look for `Connection: close` from the server, and switch keep-alive on in the load. Otherwise widen net.ipv4.ip_local_port_range or use more generators.

finding-corruption-means = Datagrams arrived with changed bytes that the UDP checksum did not detect.
finding-corruption-signs = The receiver found a wrong header or payload in at least one datagram.
finding-corruption-try = Turn checksum offload off on the receiving host and repeat. If the damage ends, the network device or its driver changes the data.

finding-delayed_ack-means = Small writes waited for delayed acknowledgements: Nagle's algorithm holds a small segment back until the previous one is acknowledged, and the peer delays that acknowledgement by about 40 ms.
finding-delayed_ack-signs = Nagle's algorithm is on. The lowest round-trip time is below { $rtt } and at least { $some } of the responses took 36 to 54 ms, more than took slightly less or slightly more. Or a stream had data to send for at least { $busy } of the time with open windows, few segments in flight, and a peer that delays acknowledgements by { $delayed } or more.
finding-delayed_ack-try = Turn Nagle's algorithm off (TCP_NODELAY; do not pass --nagle), or pass each message to the kernel in one write.
finding-device_queue-means = The queue of a host's own device bounds what leaves the host, or drops it. A connection sees this as longer round trips or loss, which look like the path; datagrams are missing without a trace at the receiver. A rule at the entrance of a device drops what was already received.
finding-device_queue-signs = The queueing discipline of a device held packets back or dropped them at least { $often } times during the phase, and packets stood in it in at least { $stands } of the samples, or were dropped.
finding-device_queue-try = Look at `tc -s qdisc` on that host, and raise or remove the rate and the limit of the queue, or send less than that rate.

finding-dropped_calls-means = Connection attempts were dropped and repeated by the calling host. The usual cause is a full queue of connections that the server has not accepted yet.
finding-dropped_calls-signs = The longest connect took about 1, 2, 3, 4, 5, 7, 11 or 15 s, the times of a repeated SYN, and more than { $times } times the median, or the shortest connect where the median itself is such a time. Repeated SYNs on the calling host and overflowed listen queues on a host of the run support it.
finding-dropped_calls-try = Raise the backlog of the server and net.core.somaxconn, or accept connections faster. If ListenOverflows does not grow, look for packet loss on the path.

finding-duplicates-means = Datagrams arrived more than once. Sockets do not duplicate datagrams; a bridge loop, a mirrored port or a bond does.
finding-duplicates-signs = The receiver counted at least one repeated sequence number. The severity is higher above { $many } of the datagrams sent.
finding-duplicates-try = Look for a bridge loop, a mirrored port or a bond in broadcast mode in front of the receiving host.

finding-error_burst-means = Most failed requests failed within a short part of the phase: a restart, an exhausted pool or an interrupted path, not a constant error rate.
finding-error_burst-signs = At least { $most } of the failures lie within { $short } of the phase's duration, with at least { $few } failures in all.
finding-error_burst-try = Find out what the servers did at that time: restart, deployment, exhausted pool, full disk, interrupted path.

finding-generator_limited-means = The load generator was the limit: it did not offer the requested load, offered it late, or had no CPU time or no local port left. The figures describe the generator, not the system under test.
finding-generator_limited-signs = More than { $short } of the requested datagrams were not sent, or more than { $late } of the datagrams or requests left more than 1 ms late. Without a requested rate: the sending thread used at least { $thread } of a core and at most { $lossless } was lost, or an event loop used at least { $loop } of a core; or nothing on the asking host ran for at least { $hole } of a closed loop. Or connections failed because no local port was left.
finding-generator_limited-try = Use more streams, threads or generating hosts, larger datagrams, or a lower rate. If ports are exhausted, switch keep-alive on or widen net.ipv4.ip_local_port_range.

finding-hidden_stall-means = The server stalled, and the percentiles do not show it: in a closed loop each user waits and sends nothing during the stall, so that only one request per user is late (coordinated omission).
finding-hidden_stall-signs = No rate was requested, and the longest response took at least { $shortest }, more than { $median } times the median and more than { $p99 } times the 99th percentile.
finding-hidden_stall-try = Repeat with arrivals at a rate (--model open:RATE): its percentiles include every request that would have arrived during the stall.

finding-host_busy-means = A host was short of CPU, so its figures are lower than they would be on an idle or larger host. Network namespaces and loopback addresses share the cores of one machine.
finding-host_busy-signs = A thread of the test was runnable without a CPU for at least { $waiting } of the time, or the hypervisor took at least { $stolen } of the CPU time. Where nothing is known about the threads: some task waited for a CPU during at least { $pressed } of the time.
finding-host_busy-try = Stop other work on the host, use fewer threads or hosts per machine, or use reserved cores, and repeat.

finding-hot_link-means = All flows or pairs that are slow or fail have one host in common, so its link, or the switch port in front of it, is the likely cause (incast when they send to it at the same time).
finding-hot_link-signs = One flow, or at least two with one host in common, carry less than { $slow } of the median; or at least two pairs fail, and exactly one host is an end of all of them.
finding-hot_link-try = Check the link of that host: speed and duplex of its port, interface errors, the cable, and other traffic.

finding-loss_limited-means = Packet loss limited a TCP connection: each loss makes the sender reduce its congestion window, or delays a response until the segment has been sent again.
finding-loss_limited-signs = The congestion window limited the rate for at least { $shapes } of the time, at least { $some } of the segments were sent again, and round trips show no queue. Losses that all fall into the first half do not count: TCP made them until it had found its rate. From { $many } on, time with a full send buffer counts, too: it keeps what was lost. Or the slowest response took at least { $timeout } on a connection with retransmissions, or the hosts sent more segments again than calls for connections.
finding-loss_limited-try = Find the place of the loss with `sokudo datagram`, or compare a congestion control that does not treat every loss as congestion (--cc bbr).

finding-lost_queries-means = Queries to a name server, or requests over UDP, stayed without a response. Over UDP the asking end sees the reason only when the server's host says that nothing listens, or when its own sockets were full.
finding-lost_queries-signs = At least { $some } of the queries, or of the requests over UDP, have no response; from { $grave } on the figures are about the losses. Full sockets on the generator's host count as the reason when they dropped at least { $most } as many datagrams.
finding-lost_queries-try = See whether the server listens, whether its UDP sockets overflow (RcvbufErrors) and whether it limits rates; compare with --transport tcp.

finding-low_mtu-means = The path MTU is below that of Ethernet, or datagrams are larger than the path MTU and are sent in fragments. The loss of one fragment loses the whole datagram.
finding-low_mtu-signs = The path MTU is below the 1500 bytes of Ethernet, or the datagram and its headers do not fit into it.
finding-low_mtu-try = Use smaller datagrams (--size), or look for an interface with a small MTU on the path; tunnels and VPNs reduce it.

finding-name_server_errors-means = A name server answered queries with an error code: it could not find the answer (SERVFAIL), does not answer this host or these names (REFUSED), or could not read the query.
finding-name_server_errors-signs = At least { $some } of the responses have the most frequent of these codes; from { $grave } on the figures are about errors. A name that does not exist (NXDOMAIN) is an answer.
finding-name_server_errors-try = Look at the server's log, its access list and the servers that it asks itself.

finding-neighbour_interference-means = Other programs, or other virtual machines, used the CPU time that threads of the test were ready to use.
finding-neighbour_interference-signs = A thread of the test was runnable without a CPU for at least { $waiting } of the time, while other programs used at least { $others } cores of its machine or the hypervisor took at least { $stolen } of the CPU time.
finding-neighbour_interference-try = Stop other work on the machine, or reserve cores for the test, and repeat.

finding-path_limited-means = The connection fills the path: a queue stands in front of the narrowest link, and both ends wait for it.
finding-path_limited-signs = The congestion window limited the rate for at least { $shapes } of the time while both ends waited, and the mean round trip is at least { $grown } times the lowest one and { $queue } longer, as are at least { $stands } of the readings; on a long way { $far } times and { $long } longer, where bytes arrive with a spread of at most { $even } and some wait unsent at { $stands } of the readings. For requests and answers: such round trips, and bytes that were written and not sent yet at { $stands } of the readings, without Nagle's algorithm.
finding-path_limited-try = Compare with the speed of the links on the path and their other traffic. More streams or larger buffers only make the queue longer.

finding-path_loss-means = Datagrams were lost between the hosts: the sending kernel accepted them, and no counter of the receiving host shows them.
finding-path_loss-signs = At least { $share } of the missing datagrams have no other place. The finding says which counters grew and which could not be read.
finding-path_loss-try = Check the devices on the path. Loss that ends at a lower rate was a full queue; loss that stays points to a faulty link.

finding-receive_window_limited-means = The receive window was smaller than the bandwidth-delay product, so that the sender waited although the receiver read everything at once.
finding-receive_window_limited-signs = The window was full for at least { $shapes } of the time while the receiving program waited for data.
finding-receive_window_limited-try = Leave the receive buffer to the system's auto-tuning, or make it larger (--rcvbuf, net.ipv4.tcp_rmem, net.core.rmem_max): it must hold rate times round-trip time.

finding-receiver_buffer_overflow-means = Datagrams were dropped at a full receive buffer: the receiving program did not empty its socket in time, because its thread had no CPU or needed more than one core.
finding-receiver_buffer_overflow-signs = At least { $share } of the missing datagrams were dropped at the receiving socket. Of requests without a connection: full sockets explain at least { $requests } of those that failed.
finding-receiver_buffer_overflow-try = Enlarge the receive buffer (--rcvbuf, net.core.rmem_max), spread the load over more streams, or free a core for the receiving thread.

finding-receiver_cpu_limited-means = The receiving or answering thread had no CPU time left; the sender and the path could carry more.
finding-receiver_cpu_limited-signs = The thread used at least { $whole } of a core, waited for data for at most { $never } of the time, and does not spin.
finding-receiver_cpu_limited-try = Use more streams or threads so that several cores share the work.

finding-receiver_host_drops-means = The receiving host dropped datagrams between its network device and the socket, usually at a full backlog queue of one core.
finding-receiver_host_drops-signs = At least { $share } of the missing datagrams were dropped inside the receiving host.
finding-receiver_host_drops-try = Raise net.core.netdev_max_backlog, or spread the receive queues over more cores.

finding-reordering-means = Datagrams arrived out of order (RFC 4737). Typical causes are several paths, bond members or receive queues that share one flow.
finding-reordering-signs = More than { $some } of the received datagrams arrived out of order. The severity is higher above { $many }. Of a connection: the peer had at least { $needless } of the segments that were sent again, and { $few } of them, or the kernel counted as large a share of overtaken segments and sent at most { $waited } of them again. They limit the rate in full from { $shapes } sent again needlessly.
finding-reordering-try = Look for several paths or bond members on the way, or for receive queues that share one flow.

finding-request_failures-means = Requests failed, and the kind of failure points to the cause: refused (no listener), reset (limit on open connections), closed before the response (keep-alive or restart), connect timeout (full accept queue), response timeout (accepted but not served), malformed response (another service or a proxy).
finding-request_failures-signs = At least { $some } of the requests failed, and one kind accounts for at least { $most } of the failures. The severity is highest from { $grave } on.
finding-request_failures-try = Refused: check the listener. Reset: raise the limit on connections. Closed: compare keep-alive times. Connect timeout: raise the backlog. Response timeout: look at threads, pools and locks. Malformed: find out what listens on the port.

finding-send_buffer_limited-means = The send buffer was smaller than the bandwidth-delay product, so that the program waited for room while the connection could carry more.
finding-send_buffer_limited-signs = The send buffer was full for at least { $shapes } of the time while both ends waited; or the program waited for room for at least { $sent } of the time, at as many readings nothing was unsent, and no queue stood on the way.
finding-send_buffer_limited-try = Leave the send buffer to the system's auto-tuning, or make it larger (--sndbuf, net.ipv4.tcp_wmem, net.core.wmem_max): it must hold rate times round-trip time.

finding-sender_cpu_limited-means = The sending or requesting thread had no CPU time left; the path and the receiver can carry at least this much.
finding-sender_cpu_limited-signs = The thread used at least { $whole } of a core, waited for room for at most { $never } of the time, and does not spin.
finding-sender_cpu_limited-try = Use more streams or threads, or larger writes.

finding-sender_refusal-means = The sender's own kernel refused datagrams: the device queue was full (ENOBUFS) or the socket's send buffer was (EAGAIN). They never left the host and are not counted as sent.
finding-sender_refusal-signs = At least one send call was refused. The severity is higher above { $many } of the datagrams.
finding-sender_refusal-try = Use a larger send buffer (--sndbuf), a longer device queue, or a lower rate.

finding-server_stalls-means = All requests stood still at once, once or again and again: the server as a whole, or the way to it, pauses.
finding-server_stalls-signs = For at least { $median } times the median request no request ended although some were under way and no quota stopped sokudo for { $stopped } of the periods, together for at least { $shapes } of the time; no more silences of a shorter kind exist than of this one (up to { $few } beside one or two of at least { $long }), and the generator's own host went on. Slow requests took no longer than { $longer } times the mean silence, of up to { $few } the longest, and the queue behind it, { $queue } times the median. With a deviation of at most { $even } their distances are a period; they last at least { $shortest } then, else { $uneven }. At least { $periods } of them, whose period is { $quota } within { $about }, are a quota of CPU time.
finding-server_stalls-try = Compare the times with the server's log of garbage collections, checkpoints and jobs.

finding-uneven_service-means = A part of the requests, or of the connections, takes many times as long as the rest: one worker, backend or cache among several is slow.
finding-uneven_service-signs = The slow ones are at most { $minority } of all. Either users have a mean service time of 4 times that of the user in the middle and { $least } more; or the service times fall into two parts with next to nothing between them, { $least } apart, and the slow one makes up at least { $shapes } of all response time. Lost segments, stalls of all requests, bodies that come through a queue on the way, and a client whose thread waited for a CPU for { $starved } of the time are excluded.
finding-uneven_service-try = Find out what only the slow ones meet: a worker, a backend, a cache that misses, a lock.

finding-turned_away-means = The server answers requests with 429 or 503 instead of serving them: a rate limit, or a server at its limit. Such answers are quick and look like speed.
finding-turned_away-signs = At least { $some } of the answers have status 429 or 503; from { $grave } on the figures are about them.
finding-turned_away-try = Hold the load below what is served, raise the limit, or see what the server refuses for.
finding-redirected-means = The server answers with redirects (status 300 to 399). This load asks one address and does not follow them, so its figures say nothing of the page behind.
finding-redirected-signs = At least { $most } of the answers are redirects. Test plans, which follow where they are told to, are left out.
finding-redirected-try = Load the address that the redirect leads to.
finding-error_answers-means = The server answers requests with errors: the figures are those of error pages, not of the service.
finding-error_answers-signs = At least { $some } of the answers have status 400 or above, without 429 and 503; one status is named where it has { $most } of them. From { $grave } on the figures are about them.
finding-error_answers-try = See what the status says: the request, credentials, the path, the application, or what stands behind a gateway.

finding-unserved_connections-means = Connections stand and are never served: the system of the server accepts them, its program does not.
finding-unserved_connections-signs = A first request on a connection was given up after more than 0.5 s without any response. Where the server's process is observed and had at least { $full } of the files open that it may have, that is the reason.
finding-unserved_connections-try = Raise the limit of open files or of threads of the server, or find out what it hangs in.

finding-server_cpu_limited-means = The processes that hold the server's port have no CPU time left: one thread, the machine, or the quota of their control group.
finding-server_cpu_limited-signs = The busiest thread of such a process uses at least { $core } of a core; or a process uses at least { $bound } of the cores that it may use, fewer than the machine has; or at least { $full } of the machine is used, at least { $most } of it by the server and most of what sokudo does not use, while no quota stops sokudo for { $stopped } of the periods; or a quota keeps it from running for at least { $throttled } of the time. A rate that was asked for was not carried.
finding-server_cpu_limited-try = Give the server more cores or a larger quota, or less work per request; load it from another machine.

finding-replication_stage-means = Most of the time of a replication's threads passes in one stage, which is named: walking, reading, compressing, unpacking, creating, writing or syncing files.
finding-replication_stage-signs = One stage holds at least { $most } of the time of the data threads of one end. Of the time in the target's files, syncing is the reason when it makes up at least { $syncing }, and is told beside the rest from { $beside } on; creating and renaming when files have at most { $small } on average, else writing. Compression that shrinks by less than { $poor } to 1 is called useless.
finding-replication_stage-try = Mend the stage that is named: level, durability and connections are options of the replication, disks and file systems are not.
finding-request_stage-means = Most of the time of a request passes in one stage, which is named: name, connection, TLS, sending, the server's work and queues, or the body.
finding-request_stage-signs = One stage holds at least { $most } of the time of a request (sending it, where at least { $held } of the requests waited for a stream of HTTP/2: the number that the server grants) while the asking thread is busy or ready for less than { $busy } of the time. Requests wait for one another when the mean wait is at least { $queued } times the shortest, all of one label, and the answers show it: { $paced } of the times between them are even and fewer than { $part } are worked on at a time (a limit on the rate); { $paused } of the time passes in long gaps (the server stands still); fewer than { $several } follow each other closely (one by one); or the 90th percentile is no more than { $alike } times the median (a pool). The way is the reason when its round trip makes up at least { $way } of the wait, and a queue on it when the mean round trip is at least { $grown } times the lowest and more than { $delayed } longer, which no delayed acknowledgement explains; with less, and a lowest round trip of at least { $short } of the shortest wait, it may be either; the server takes bodies slowly when its receive window was full for { $taken } of the time with something to send, and the own send buffer is too small when it was so for { $buffered } of it; where connections gave few samples, what the smoothing hides of it is added.
finding-request_stage-try = Mend the stage that is named; the finding says how to tell its causes apart.

finding-request_path-means = Requests are held up because segments of their connections are lost, or come in another order.
finding-request_path-signs = At least { $lossy } of the segments that were observed were sent again or came out of order. Requests that took { $timeout } and more waited for a retransmission timeout. Not where a queue stands on the way (the mean round trip at least { $grown } times the lowest and more than { $delayed } longer): loss belongs to it.
finding-request_path-try = Measure the way with `sokudo probe`, and look at drops of the interfaces on it.

finding-slow_label-means = One kind of request of a test plan is much slower than the others. A mean over all requests hides it.
finding-slow_label-signs = Its mean response time is at least { $times } times that of the median label and { $least } longer; labels with fewer than { $few } samples do not count. It sets the rate where it takes at least { $most } of the time of users who ask without pauses.
finding-slow_label-try = Examine that request by itself before tuning anything else.

finding-softirq_core-means = One core spent all its time on interrupt work for received packets. Packets wait or are dropped although other cores are idle.
finding-softirq_core-signs = One core spent at least { $full } of its time in softirq and irq.
finding-softirq_core-try = Spread the receive queues over more cores (RSS, RPS, irqbalance), turn receive offload (GRO) on, and keep threads of the test off that core.

finding-spinning-means = A thread waits by polling without sleeping, so its CPU time does not indicate a limit. On a host with few cores it takes CPU from the other end.
finding-spinning-signs = The option --wait spin is set and the requesting thread used at least { $whole } of a core.
finding-spinning-try = Compare with --wait block, and give spinning threads cores of their own.

finding-stalled_flow-means = A connection carried nothing new for a while although one end had data to send. The kernel counters of both ends show at which end, or between them, the cause lies.
finding-stalled_flow-signs = Data waited in the send queue for at least { $shortest } without a new segment. Retransmissions meanwhile point to the path; unread data at the peer points to its program.
finding-stalled_flow-try = Path: check link state, interface errors, the switch log and stateful firewalls at that time. Program: find out what it waited for.

finding-uneven_start-means = The flows of a phase started further apart than was allowed. Totals over such flows do not describe what they carry together.
finding-uneven_start-signs = The difference between the first and the last start exceeds --max-skew, also after the phase was repeated.
finding-uneven_start-try = Find out what delayed the last host: other work on its cores, or too few of them for its flows. Or allow more with --max-skew.

finding-truncated_responses-means = Responses over UDP were truncated because they did not fit. A resolver repeats such queries over TCP, and this load does not: its figures lack that cost.
finding-truncated_responses-signs = At least { $some } of the responses are truncated.
finding-truncated_responses-try = Allow larger responses with --udp-bytes, or measure with --transport tcp.

finding-unreachable-means = The receiving host answered that no program listens on the port (ICMP port unreachable): the receiver is not running, its port is closed, or a firewall rejects the datagrams.
finding-unreachable-signs = At least one such error came back. It is informational while less than { $little } of the datagrams were lost: the last datagrams of a run may find the socket closed.
finding-unreachable-try = Check that `sokudo serve` runs on the receiving host and that firewalls on the path let UDP through to its port.

finding-window_full-means = Requests or messages waited because as many as the window allows were unanswered: the far end or the path is slower than the requested rate, or it stalled.
finding-window_full-signs = More than { $many } of the requests of an open loop found the window full, and the responses, not the requesting end, took the time. For messages: the window was full for at least { $shapes } of the time while the receiver waited for data.
finding-window_full-try = Lower the rate, or allow more unanswered requests (--window, --connections) or messages (--inflight).

## Search for the knee
verdict-knee = Requests begin to queue at { $option } = { $users } (95 % interval { $low } to { $high }, rule { $rule }): one alone takes { $alone }, and { $most } is the most that is carried.
verdict-knee-slo = The demands are kept up to { $option } = { $users } and broken at { $high }: { $rate } with a mean of { $response } there.
verdict-knee-slo-never = The demands are broken already at the lowest { $option }: { $rate } with a mean of { $response }.
verdict-knee-cpu-below = The server's CPU was full already at the lowest { $option }, so the rule { $rule } has no answer: something else uses it. { $most } is the most that was carried.
verdict-knee-none = No knee by the rule { $rule } up to { $option } = { $highest }: { $most } is the most that was carried, with a mean of { $response }.
verdict-knee-no-cpu = Nobody observed the server's CPU, so the rule { $rule } has no answer; { $most } is the most that was carried up to { $option } = { $highest }.
verdict-knee-others = { $first }. { $second }.
verdict-knee-other = { $first }.
knee-by-bound = Bounds say { $users } ({ $low } to { $high })
knee-by-kneedle = The throughput bends at { $users } ({ $low } to { $high })
knee-by-cpu = The server's CPU is full at { $users } ({ $low } to { $high })
verdict-knee-residual = Little's law is off by { $residual } at one level: the runs were too short, or requests were lost from sight.
verdict-knee-hysteresis = On the way down levels carried { $lost } less than on the way up: the system does not recover at once.
proof-says = { $effect } times as much is carried with { $option } = { $value } ({ $low } to { $high } over the runs of { $run }): { $rule } is { $outcome }.
proof-confirmed = confirmed
proof-refuted = refuted
proof-undetermined = neither confirmed nor refuted, the runs differ too much
verdict-protect = { $rate } ({ $kept } of the most carried) with { $users } users, workers = pool = { $workers } and at most { $open } connections: mean response { $response }, { $expected } expected. { $cause }
protect-threads = { $queued } requests wait for a thread, { $pool } for a database connection: the surplus waits in front of the threads.
protect-accept = { $accept } connections wait to be accepted, { $pool } requests for a database connection: the surplus waits in the accept queue.
protect-pool = { $pool } requests wait for a database connection: the limits do not hold the surplus in front of the threads.
protect-nowhere = No queue of the server fills: the users pause long enough, or the server itself is slower than the threads.
protect-unknown = Where the surplus waits is not known: the server's queues were not observed.
protect-throughput = The limits cost throughput: they lie too low.
protect-errors = { $errors } of the requests fail: the connection limit turns users away.
protect-response = Responses take longer than the queue in front explains ({ $expected }): the limits lie too high.
verdict-protect-without = Without the limits: { $rate }, mean response { $response }; a thread needs { $before } for a request, with them { $after }.

# How a cause is weighed.
verdict-suspected = Undetermined. One kind of observation only suggests: { $says }
verdict-beside = { $says } A second cause beside it: { $other }
verdict-against = { $says } Against that: { $against }.
suspect-raise = a larger { $option } carries more, when this is right
suspect-leave-out = without { $option } it goes faster, when this is right
suspect-set = with { $option } more is carried, when this is right
suspect-set-at-risk = with { $option } more is carried, when this is right; only where a crash of the server may lose the last commits of the test
suspect-tighten = a lower { $option } removes the signs, and what is carried follows it, when this is right
evidence-counted-of-due = Counted on { $host } until the planned end: { $value } of { $due } that were due
evidence-wanted-cpu = The threads of the test at { $host } and its peer wanted a CPU for { $value } of the time only
evidence-tcp-needless = Segments that { $host } sent again although its peer had them: { $value }
evidence-missing = Datagrams sent and never received, by their sequence numbers: { $value }
against-carried-signs = At least { $kept } of what was due until the planned end of the load got through, and at most { $failed } failed or found no room: the load asked for was carried.
against-idle_thread-signs = The thread that is named was on a CPU or ready for one for less than { $idle } of the time, waited for a CPU for less than { $waiting }, and its host did not stand still for { $still } of the phase.
against-needless_repeats-signs = The peer had already received at least { $needless } of the segments that were sent again.
against-seldom_ready-signs = The threads of the test were on a CPU or ready for one for less than { $wanted } of the time, so that other programs could take little from them.

## With and without a change
verdict-rrul = Bufferbloat grade { $grade }: load adds { $added } to the median round trip of { $idle } ({ $up } with { $streams } TCP streams up, { $down } with { $streams } down).
verdict-rrul-both = With load both ways the median is { $p50 } and p99 { $p99 }, at { $up } up and { $down } down.
verdict-rrul-lost = Up to { $lost } of the datagrams were lost under load: the grade is of those that arrived, and a queue that drops so many is too short, or refills too fast.
verdict-rrul-next-up = The queue that fills first is on the way up: give the sending side of the slowest link there fq_codel or cake, at a rate just below the link's.
verdict-rrul-next-down = The queue that fills first is on the way down: give the sending side of the slowest link there fq_codel or cake, at a rate just below the link's.
verdict-rrul-undetermined = Bufferbloat grade undetermined: it needs round trips while idle, under load up and under load down, and a load that carried something each way.
verdict-rrul-definition = Grade: the mean of what load up and load down add to the median round trip of datagrams: { $grades }, F beyond (thresholds of the DSLReports speed test, dslreports.com/faq/17930; there of means, here of medians).
verdict-versus-more = { $change } { $with } is carried, without it { $without }: { $ratio } times as much ({ $low } to { $high } over { $runs } runs).
verdict-versus-less = { $change } only { $with } is carried, without it { $without }: { $ratio } times as much ({ $low } to { $high } over { $runs } runs).
verdict-versus-same = { $change } { $with } is carried, without it { $without }: no difference shown ({ $low } to { $high } times as much over { $runs } runs).
versus-set = With --{ $option } { $setting }
versus-left-out = Without --{ $option }, which is the change,
evidence-refuted = A test changed --{ $option } to { $setting }: { $effect } times as much was carried, which is not what this cause predicts
against-proof-signs = A later run changed the option that was suspected, and what was carried did not change as this cause predicts.

# What a host dropped of its own accord.
evidence-counter = `{ $counter }` of { $host } meanwhile: { $value }
evidence-conntrack-drops = Packets that the connection tracking of { $host } dropped: { $value }
evidence-conntrack-entries = Connections that { $host } tracked at most: { $value }
evidence-conntrack-limit = Connections that { $host } may track: { $value }
evidence-send-refused = The kernel of { $host } answered a send call with "operation not permitted"
rule-checksum-errors-says = { $host } threw away { $count } because their checksums were wrong: { $share } of what did not arrive the first time.
rule-checksum-errors-next = Look for a device, a driver's checksum offload (`ethtool -k`) or a program on the way to { $host } that changes bytes.
finding-checksum_errors-means = Packets arrived with a wrong checksum, and the receiving host threw them away. Datagrams are missing, segments are sent again.
finding-checksum_errors-signs = The counters of wrong checksums of one host grew by at least { $often }, and explain at least { $share } of the missing datagrams or repeated segments.
finding-checksum_errors-try = Look for what changes bytes: a device, checksum offload, a program on the way. Switch offloads off one by one.
rule-filter-drops-in-says = { $host } dropped { $count } that had reached it: its packet filter (nftables, iptables) let them not through. They are { $share } of what did not arrive the first time.
rule-filter-drops-out-says = { $host } dropped { $count } that it was to send: its packet filter (nftables, iptables) let them not out. They are { $share } of what did not arrive the first time.
rule-filter-drops-late-says = { $host } dropped { $count } that had reached it, { $share } of what arrived: its packet filter (nftables, iptables) let them not through. The far end sends them again, and answers are late by that.
rule-filter-drops-refused-says = The packet filter of { $host } refuses to send: the kernel answered "operation not permitted".
rule-filter-drops-next = List the rules of { $host } with their counters: `nft list ruleset`, `iptables -L -v -n`.
finding-filter_drops-means = The packet filter of a host (firewall) dropped what reached it, or what it was to send.
finding-filter_drops-signs = Between the kernel's counters before and behind the filter at least { $often } packets of one host are missing, at least { $share } of what did not arrive the first time; or, where answers over TCP are waited for and none failed, at least { $late } of what arrived. Or the kernel refused a send call as not permitted.
finding-filter_drops-try = List the filter's rules with their counters on that host, and let this traffic through.
rule-conntrack-full-says = The connection tracking of { $host } dropped { $count }: its table is full, or could not take a connection.
rule-conntrack-full-next = Raise net.netfilter.nf_conntrack_max on { $host }, exempt this traffic from tracking (notrack), or make fewer connections.
finding-conntrack_full-means = The connection tracking of a host dropped packets because its table was full or a connection could not be entered.
finding-conntrack_full-signs = The counters of connection tracking (drop, insert_failed, early_drop) of one host grew by at least { $often }.
finding-conntrack_full-try = Raise the size of the table, shorten its timeouts, or exempt the traffic from tracking.
# Interruptions.
rule-interrupted-unobserved-says = Nothing arrived from { $begin } to { $end } ({ $from } → { $to }): the server stood still, or the way to it did. { $from } went on meanwhile.
rule-interrupted-unobserved-next = See what { $to } and the way to it did at that time: restarts, pauses, the switch's log. Numbers over the whole load include the hole.
rule-interrupted-says = Nothing arrived from { $begin } to { $end } ({ $from } → { $to }); both ends went on meanwhile.
rule-interrupted-interface-says = Nothing arrived from { $begin } to { $end } ({ $from } → { $to }): the interface { $device } of { $host } was down.
rule-interrupted-program-says = Nothing arrived from { $begin } to { $end } ({ $from } → { $to }): everything on { $host } stood still.
rule-interrupted-next = Look at the way between { $from } and { $to } at that time: routes, the switch's log, firewalls. Numbers over the whole load include the hole.
rule-interrupted-interface-next = Find out why the link of { $host } went down: cable, switch port, who switched it off. Numbers over the whole load include the hole.
rule-interrupted-program-next = Find out what stopped sokudo on { $host }: a debugger, the system's freezer, a suspended machine. Numbers over the whole load include the hole.
evidence-hole = Longest time without an arrival at { $host }: { $value }
evidence-hole-sent = Fewest packets that an interface of { $host } sent meanwhile: { $value }
evidence-hole-received = Fewest packets that an interface of { $host } received meanwhile: { $value }
evidence-interface-down = Interface { $device } of { $host } was down, or had no link
finding-interrupted-means = Nothing got through for a while in the middle of the load. A mean over the whole load describes neither the hole nor the time beside it.
finding-interrupted-signs = For at least { $share } of the load at most { $quiet } of the usual rate got through, where usually at least { $usual } things do in each interval; at most twice in the load. Where nothing observes the far end, at least { $unobserved } of the load. Not where a thread was ready and had no CPU for { $starved } of that time.
finding-interrupted-try = Look at what the finding names: an interface, a host, or the way between the hosts at that time.
# Other causes.
rule-slow-start-says = The transfer { $from } → { $to } took { $seconds }, { $trips } round trips: it was over before TCP had found out what the way carries (slow start).
rule-slow-start-next = Measure for longer to see what the way carries. For short transfers shorten the round trip, keep connections, or raise the initial window (`ip route … initcwnd`).
evidence-load-seconds = Length of the load of { $host }: { $value }
evidence-tcp-cwnd-highest = Largest congestion window of { $host }: { $value } segments
finding-slow_start-means = A transfer of a few round trips is limited by the beginning of TCP, which starts with ten segments and doubles them with each round trip.
finding-slow_start-signs = The load lasted for at most { $trips } round trips, the connection never left slow start, and both ends waited for at least { $shapes } of the time.
finding-slow_start-try = Measure for longer, or keep connections open between transfers.
rule-cpu-quota-says = A quota of CPU time kept sokudo on { $host } from running: it was used up in { $share } of the periods.
rule-cpu-quota-next = Raise the quota of the control group on { $host } (cpu.max, a container's CPU limit), or ask for less.
evidence-throttled = Periods in which the CPU quota of { $host } was used up: { $value }
evidence-self-cpu = Busiest thread of sokudo on { $host }: { $value } of a core
finding-cpu_quota-means = A control group bounds the CPU time of sokudo on a host, and its threads stood still whenever the quota was used up.
finding-cpu_quota-signs = The quota was used up in at least { $shapes } of the periods (nr_throttled of cpu.stat).
finding-cpu_quota-try = Raise the quota (cpu.max, CPU limit of the container), or use fewer threads.
rule-reordering-waited-says = Segments from { $from } to { $to } were overtaken { $count } times, { $share } of those sent; the kernel waited for them and sent next to none again.
rule-reordering-segments-says = Segments from { $from } to { $to } were overtaken and taken for lost: { $share } were sent again, { $count } of them needlessly.
evidence-tcp-reorderings = Times that { $host } saw acknowledgements out of order: { $value }
rule-hot_link-pair = Of { $pairs } flows one is slow: { $from } → { $to } carries { $bits }, the middle one { $middle }.
evidence-device-received = Mean rate at which the busiest interface of { $host } received: { $value }
against-no_full_buffer-signs = Less than { $full } of the datagrams that the sockets dropped found a full buffer by the host's counters, and wrong checksums explain at least as many.
rule-receiver-buffer-overflow-requests-says = { $count } found a full socket on { $host } and were dropped; { $failed } requests got no answer.
rule-receiver-buffer-overflow-requests-next = Allow fewer requests at a time, raise net.core.rmem_default on { $host }, or free a core for its program.

# A full queue of an application server.
rule-session-pool-says = The clients' own pool is the limit: { $used } of { $size } sessions are in use and { $waiting } clients wait for one, { $wait } of the { $latency } that a transaction takes.
rule-session-pool-next = Raise it, if the database grants so many sessions (--pool { $wanted }), and measure again; a search for the knee over pool=1..{ $wanted } finds the size from which it brings no more.
evidence-pool-used = Sessions of the pool in use, on average: { $value }
evidence-pool-size = Sessions of the pool: { $value }
evidence-pool-waiting = Clients that wait for one, on average: { $value }
evidence-pool-wait = Wait for a session, mean: { $value }
rule-repeated-transactions-says = { $share } of { $attempts } tries were ended by the database because of others ({ $serialization } serialization failures, { $deadlocks } deadlocks, { $locks } waits for a lock that were too long): { $transactions } transactions came of them.
rule-repeated-transactions-serialization-next = Let fewer transactions read and write the same rows, keep them short, or use a weaker isolation where the application allows it.
rule-repeated-transactions-deadlock-next = Let all transactions take their locks in the same order, for example by key, and take the strongest lock that a row needs first.
rule-repeated-transactions-lock-next = Keep transactions short that hold locks, and spread them over more rows; look at who holds the lock that is waited for.
rule-transaction-failures-constraint-says = { $share } of the transactions failed, { $count } tries because they broke a constraint of the database. It serves the others, { $served }/s.
rule-transaction-failures-constraint-next = The first error names the constraint: make the tables anew, or let each run use keys of its own.
rule-transaction-failures-denied-says = { $share } of the transactions failed, { $count } tries because the user has no right to what they do. The database serves the others, { $served }/s.
rule-transaction-failures-denied-next = Grant the user what the first error names, or give another user in the data source name.
rule-transaction-failures-wrong-says = { $share } of the transactions failed, { $count } tries because a statement is wrong or names what does not exist. The database serves the others, { $served }/s.
rule-transaction-failures-wrong-next = The first error names the statement: mend it, or make the tables that it needs.
rule-transaction-failures-cancelled-says = { $share } of the transactions failed, { $count } tries because the database cancelled their statements, as a timeout does. It serves the others, { $served }/s.
rule-transaction-failures-cancelled-next = See the settings that end statements (statement_timeout, max_statement_time), and why the statements take so long.
rule-transaction-failures-unanswered-says = { $share } of the transactions failed, { $count } tries because no answer came in the time that the load waits for one. Whether the database, the way or what stands between them kept the answers is not told by that. Served were { $served }/s.
rule-transaction-failures-unanswered-next = See on the server whether its sessions still work on these statements (pg_stat_activity, SHOW PROCESSLIST): then they take this long. Where they wait for the client, answers are lost on the way: try one that is smaller than a packet.
rule-transaction-failures-resources-says = { $share } of the transactions failed, { $count } tries because the database had no room for them. It serves the others, { $served }/s.
rule-transaction-failures-resources-next = The first error says what is full: the disk, the memory, or the sessions that the server grants.
rule-transaction-failures-vain-says = { $share } of the transactions failed for good, { $count }: others changed or held the same rows at each of their tries. The database serves { $served }/s.
rule-transaction-failures-vain-next = Let fewer clients change the same rows, keep transactions short, and take locks in one order.
evidence-tries = Tries: { $value }
evidence-vain-tries = Tries that were ended: { $value }
evidence-failed-transactions = Transactions that failed for good at { $host }: { $value }
evidence-tries-of-a-kind = Tries that failed in this way: { $value }
rule-target-queue-pool-says = The connection pool is the limit: { $used } of { $size } connections are in use and { $waiting } requests wait for one{ $wait }.
rule-target-queue-pool-next = Raise the pool to { $servers } connections, if the database grants them: { $factor } times as much is predicted{ $limit }.
rule-target-queue-pool-raise = Raise the pool, if the database grants it, and measure again.
rule-target-queue-workers-says = The worker threads are the limit: { $used } of { $size } are busy and { $waiting } requests wait for one{ $wait }.
rule-target-queue-workers-next = Raise the threads to { $servers }: { $factor } times as much is predicted{ $limit }.
rule-target-queue-workers-raise = Raise the threads, and measure again.
rule-target-queue-wait = , { $seconds } per request
rule-target-queue-next-cpu = ; the next limit is the CPU, at about { $users } users
rule-target-queue-next-unknown = , until the CPU or another stage is full
rule-target-queue-connections-says = The connection limit is the limit: { $used } of { $size } connections are open, and further ones wait or are turned away.
rule-target-queue-connections-raise = Raise the limit on connections, or let fewer users come.
evidence-target-used = In use, on average: { $value }
evidence-target-size = There are at most: { $value }
evidence-target-waiting = Waiting, on average: { $value }
evidence-resets = Requests whose connection was reset: { $value }
finding-session_pool-means = Clients of a database wait for the sessions that they share (--pool), as those of an application wait for the connection pool of its server.
finding-session_pool-signs = At least { $full } of the pool are in use on average, and at least { $waiting } clients wait for a session.
finding-session_pool-try = Raise --pool as far as the database grants sessions; when that brings no more, the database itself is the limit.
finding-repeated_transactions-means = The database ended tries of transactions because of others: it could not put them in order, they waited for each other, or a lock was not free in time. The load tried them again; what was asked of the database and what came of it differ.
finding-repeated_transactions-signs = At least { $some } of the tries were ended so; from { $many } on the database does much of its work in vain.
finding-repeated_transactions-try = Take locks in the same order, keep transactions short, and spread them over more rows.
finding-transaction_failures-means = Transactions failed for good in one way: a constraint, a missing right, a wrong statement, a timeout of the server, no room, or others in their way at each try. The figures are those of the transactions that were left.
finding-transaction_failures-signs = At least { $some } of the transactions failed, and at least { $most } of the failures are of one kind; from { $grave } on the figures are about them.
finding-transaction_failures-try = See the first error; it names the statement and the reason.
finding-target_queue-means = One of the queues of an application server fills, as the server itself counts: connections, worker threads or the connection pool. The last full stage is the limit; it fills those before it.
finding-target_queue-signs = At least { $full } of a stage are in use at no less than { $most } of the samples, and at least { $waiting } requests wait for it then on average, or connections are turned away.
finding-target_queue-try = Raise the stage that is named and measure again; `sokudo target set` changes it while the load runs.

rule-black-hole-says =
    Segments of { $segment } never came through from { $near } to { $far }, although small ones did: the first was sent again { $again ->
        [one] once
       *[other] { $again } times
    } in { $seconds }, until the end. So it is where packets larger than the path MTU vanish and no “packet too big” comes back (RFC 2923).
rule-black-hole-next = Find the largest packet that passes (`ping -M do -s SIZE { $far }` on { $near }) and the link with the smaller MTU: let its ICMP errors pass, clamp the MSS there, set that MTU on the interface, or set net.ipv4.tcp_mtu_probing to 1.
evidence-segment-bytes = Payload of a full segment of { $host }: { $value }
evidence-none-through = Counted at { $host } in the whole load: { $value }

finding-black_hole-means = Full segments of a connection vanish on the path while small ones pass: the path MTU is smaller than both ends believe, and no ICMP error says so.
finding-black_hole-signs = The connection stood and its peer's window was open, but nothing was carried in the whole load. A full segment waited in the send queue for at least { $shortest }, until the end, and was sent again at least { $again } times; no new one followed, and the peer had nothing unread.
finding-black_hole-try = Let ICMP errors (“fragmentation needed”, “packet too big”) pass, clamp the MSS or set the MTU of the interfaces to what the path carries, or set net.ipv4.tcp_mtu_probing to 1.

rule-far-end-lost-says = { $host } was lost { $after } after the start of a load of { $planned }: its control connection ended, and the load with it.
rule-far-end-lost-unfinished-says = { $host } was lost { $after } after the start, before the work was done: its control connection ended, and the load with it.
rule-far-end-lost-next = Find out why sokudo on { $host } ended, or why nothing reaches that host any more: what it printed last, whether the system killed it (`dmesg`), whether the host answers.
evidence-host-lost = The control connection to { $host } ended { $value } after the start: { $why }
evidence-last-through = Last answer or arrival of its flow, by the clock of the end that is left ({ $host } was lost): { $value } after the start
evidence-last-sample = Last sample of anything that is observed on { $host }: { $value } after the start

finding-far_end_lost-means = A host of the run was lost while the load ran: its program ended, or the host cannot be reached any more. Its numbers are missing.
finding-far_end_lost-signs = The control connection to a host of the load ended before { $before } of the planned time had passed, and could not be taken up again.
finding-far_end_lost-try = Find out why sokudo ended there (its last output, `dmesg`), and whether the host and the way to it still work.

## Files

verdict-files = { $flows }: { $written } files ({ $bytes }) replicated in { $elapsed }, { $rate } of content; { $wire } on the wire.
verdict-files-nothing = { $flows }: { $files } files compared in { $elapsed }; all of them were equal.
verdict-files-unfinished = { $flows }: it broke off after { $elapsed }, before the counts of both ends were there; { $wire } went over the wire.
verdict-files-would = { $flows }: { $written } of { $files } files ({ $bytes }) would be replicated. Nothing was changed.
verdict-files-same = { $flows }: { $files } files compared in { $elapsed }; nothing needs to be replicated.
verdict-files-failed = Not replicated: { $failed } names. { $why }
verdict-files-followed = Followed in { $rounds } rounds: from a change to its replication { $median } in the median, p99 { $p99 }, at most { $max }. The changes at the source set the pace.
verdict-files-unchanged = Followed: nothing changed at the source.
rule-files-cpu-next = Lower the compression level (--level none or 1), use more connections (--connections) so that several cores of { $host } share the work, or compare with --transport tcp.

# Predictions of replications and the choice of their settings.
advice-stage-link = the line
advice-stage-window = the window of each connection
advice-stage-turns = a round trip per file
advice-stage-sender = the sender's CPU
advice-stage-receiver = the receiver's CPU
advice-stage-cpu = the CPU that both ends share
advice-stage-read = reading the source
advice-stage-write = writing to the target
advice-stage-walk = listing the source
advice-rule-holds = Holds here: “{ $rule }” Predicted { $with } so, { $without } otherwise.
advice-rule-fails = Does not hold here: “{ $rule }” Predicted { $with } so, { $without } otherwise.
advice-rule-untold = Not tested by this source and this line: “{ $rule }”
advice-rule-fast-plain = On a fast line (1 Gb/s) send without compression.
advice-rule-slow-packed = On a slow line (100 Mb/s) compress with level 1 to 3.
advice-rule-large-few = Large files: few connections.
advice-rule-small-many = Small files: about eight connections.
verdict-advice-choice = Choose --level { $level } --connections { $connections } --batch { $batch }: { $seconds } are predicted for all of the source ({ $low } to { $high }).
verdict-advice-packed = Compress only while compression outruns the line: one core compresses { $speed } at level 1 ({ $ratio } times smaller), the line carries { $way }. The pace is set by { $stage }.
verdict-advice-plain = Compress only while compression outruns the line: one core compresses { $speed } at level 1, { $cores } cores are free, and the line carries { $way }. The pace is set by { $stage }.
verdict-advice-dense = Compression gains nothing: { $dense } of the bytes look compressed already. The pace is set by { $stage }.
verdict-advice-proof = Proven by { $trials } trials in turns: { $rate } of content, { $usual } with the default settings; measured times are { $off } off the predicted ones (median).
verdict-advice-would = It would take about { $seconds } ({ $low } to { $high }), limited by { $stage }.
verdict-advice-would-guess = It would take about { $seconds } ({ $low } to { $high }), limited by { $stage }; a dry run writes nothing, so the target's disk is a guess.
verdict-advice-within = { $seconds } ({ $low } to { $high }) were predicted, { $elapsed } were measured: { $off } apart. { $why }
verdict-advice-longer = { $seconds } ({ $low } to { $high }) were predicted, { $elapsed } were measured: { $off } more. { $why }
verdict-advice-shorter = { $seconds } ({ $low } to { $high }) were predicted, { $elapsed } were measured: { $off } less. { $why }
verdict-advice-gap-wire = On the wire went { $measured } instead of { $expected }.
verdict-advice-gap-cpu = CPU time of both ends was { $measured } instead of { $expected }.
verdict-advice-gap-rate = The connections carried { $measured } instead of { $expected }.

## Database servers
rule-fsync-bound-says = { $waiting } of { $sessions } sessions on { $server } wait until the log is on its disk: the synchronization of commits is the limit.
rule-fsync-bound-next = Use a disk that synchronizes faster (a cache protected against power loss), commit more per transaction, or let more clients commit at once: they share a synchronization. Where the last commits may be lost in a crash, synchronous_commit=off (MariaDB: innodb_flush_log_at_trx_commit=2) shows what it costs.
rule-embedded-database-computes-says = { $database } runs in the threads of this load on { $host }: its transactions take { $busy } of their time, one after the other in each thread. The busiest thread computes for { $cpu } of the time and waits for the disk or a lock for { $waits }.
rule-embedded-database-computes-next = More threads (--threads) read at the same time; writing is done by one at a time. A server has CPU time of its own.
rule-embedded-database-waits-says = { $database } runs in the threads of this load on { $host }: its transactions take { $busy } of their time, one after the other in each thread. The busiest thread waits for the disk or a lock for { $waits } of the time and computes for { $cpu }.
rule-embedded-database-waits-next = Commit more per transaction, or use a disk that synchronizes faster. Where the last commits may be lost in a crash, `--commit async` shows what waiting for the disk costs.
rule-database-cpu-machine-says = { $working } of { $sessions } sessions on { $server } compute, and its machine has no CPU time left.
rule-database-cpu-machine-next = Generate the load from another machine where it shares this one; then look at the plans of the statements that take the most time, or give the server more cores.
rule-database-cpu-quota-says = The CPU quota of its control group keeps { $server } from running for { $throttled } of the time.
rule-database-cpu-quota-next = Raise the quota (cpu.max of its control group, the CPU limit of its container), or lower the load.
evidence-database-working = { $host }: { $value } of { $sessions } sessions on { $server } are at work
evidence-database-statement = { $host }: `{ $statement }` took { $value } of the { $all } of all statements on { $server }
evidence-database-scan = { $host }: `{ $statement }` took { $value } of the { $all } of all statements on { $server }, by { $step }
evidence-database-cores = { $host }: the sessions on { $server } used { $value } cores
rule-database-lost-says = { $server } did not answer from { $begin } on: { $broken } sessions broke, and what comes after is not about its speed.
rule-database-lost-back-says = { $server } did not answer from { $begin } to { $end }: { $broken } sessions broke, and means over that time are not about its speed.
rule-database-lost-next = Look in the log of { $server } why it ended, and measure again.
evidence-database-up = { $host }: { $server } answered its monitor for { $value } of the time
evidence-lost-sessions = { $host }: { $value } sessions of the load broke
rule-lock-chain-row-says = { $waiting } of { $sessions } sessions on { $server } wait for locks, { $queue } of them at { $relation } behind { $holders } transactions: those that change the same row go one after the other.
rule-lock-chain-row-next = Spread the changes over more rows (tpcb: as many branches as clients, made by sokudo db init), or change that row last in each transaction, so that its lock is held for a shorter time.
rule-lock-chain-says = { $waiting } of { $sessions } sessions on { $server } wait for locks of other transactions.
rule-lock-chain-next = Shorten the transactions that hold the locks, take locks in one order, or let fewer clients change the same rows.
rule-cache-miss-says = { $waiting } of { $sessions } sessions on { $server } wait for data that its cache does not hold: { $reads } reads.
rule-cache-miss-next = Give the database a larger cache (shared_buffers; MariaDB: innodb_buffer_pool_size), touch less data, or use a faster disk. Measure again when the cache is warm.
rule-client-bound-says = { $idle } of the sessions on { $server } wait for their next statement while the load thread on { $host } is busy { $busy } of the time: the generator is the limit, not the database.
rule-client-bound-next = Give the load more threads (--threads), or let more hosts load.
rule-plan-change-says = The plans of { $changed } of { $all } statements are others after the load than before. `{ $statement }`: before { $before }, after { $after }.
evidence-plans-asked = { $host }: { $value } statements of the load were planned before and after it
rule-plan-change-next = Repeat the load with the tables as they are now, after ANALYZE: times from before and after a change belong to two plans. Where the new plan is the slower one, look at the statistics and indexes of its tables.
evidence-plan-change = `{ $statement }`: { $before } became { $after }
rule-checkpoint-dip-says = { $low } transactions while a checkpoint of { $server } was under way ({ $share } of the time), { $usual } otherwise.
rule-checkpoint-dip-next = Let checkpoints come more rarely and spread their writes: raise max_wal_size until none is requested, checkpoint_timeout, checkpoint_completion_target=0.9; put the log on a disk of its own.
evidence-database-on-log = { $host }: { $value } of { $sessions } sessions on { $server } wait for the log
evidence-database-syncs = { $host }: { $server } synchronizes its log { $value }
evidence-database-sync-time = { $host }: one synchronization of the log of { $server } takes { $value }
evidence-database-log-io = { $host }: threads of { $server } are in I/O of the log for { $value } of the time
evidence-database-commits = { $host }: { $server } commits { $value }
evidence-database-locked = { $host }: { $value } of { $sessions } sessions on { $server } wait for locks
evidence-database-queue = { $host }: { $value } sessions on { $server } wait for rows of { $relation }, behind { $holders } transactions
evidence-database-lock-waits = { $host }: transactions on { $server } begin to wait for a row { $value }
evidence-database-lock-time = { $host }: one wait for a row on { $server } takes { $value }
evidence-database-holder = { $host }: of those that hold up the others on { $server }, most are in { $event }: { $value } of { $sessions } sessions
evidence-database-on-reads = { $host }: { $value } of { $sessions } sessions on { $server } wait for data from the disk
evidence-database-data-io = { $host }: threads of { $server } are in I/O of data files for { $value } of the time
evidence-database-reads = { $host }: { $server } reads what its cache does not hold { $value }
evidence-database-hits = { $host }: the cache of { $server } holds { $value } of what is asked
evidence-database-idle = { $host }: { $value } of the sessions on { $server } wait for their client
evidence-driver-cpu = { $host }: the load thread uses { $value } of a core
evidence-driver-wait = { $host }: the load thread is ready without a CPU for { $value } of the time
evidence-transactions = { $host }: { $value } as the generator counts transactions
evidence-checkpointing = { $host }: a checkpoint of { $server } was under way for { $value } of the time
evidence-checkpoint-rate = { $host }: { $value } meanwhile, { $usual } otherwise
evidence-checkpoints-requested = { $host }: { $value } checkpoints of { $server } were requested before their time
evidence-full-pages = { $host }: { $server } writes whole pages into its log { $value }
finding-fsync_bound-means = Commits wait until the database's log is on its disk. The log is synchronized by one session at a time; those that come meanwhile share the next synchronization.
finding-fsync_bound-signs = At least { $server } of the sessions in the server, and { $all } of all, wait for the log (PostgreSQL: WALSync, WALWrite; MariaDB: state Commit), and the server counts its synchronizations.
finding-fsync_bound-try = A faster disk, more work per commit, more clients at once; synchronous_commit=off where the last commits may be lost.
finding-embedded_database-means = The database runs inside the load, as SQLite does: what its transactions compute and wait for is done by the load's own threads, one transaction after the other in each. No server could carry more.
finding-embedded_database-signs = The transactions take at least { $busy } of the threads' time, the threads compute or wait for the disk for at least { $own }, and no rate was asked for that was kept.
finding-embedded_database-try = More threads for reading; more work per commit, or a faster disk, for writing; a server for clients that write at the same time.
finding-database_cpu-means = The sessions of a database compute, and no CPU time is left for them: the machine's cores are used up, or a quota is.
finding-database_cpu-signs = At least { $server } of the sessions in the server, and { $all } of all, are at work, and at least { $full } of the machine's cores is used, { $most } of them by the server; or its control group is kept from running for { $throttled } of the time, and the rate is not the one asked for.
finding-database_cpu-try = Cheaper plans (indexes, fewer rows), another machine for the generator, more cores, a higher quota.
finding-database_lost-means = The database server went away while transactions were sent to it: it ended, was started anew, or was cut off.
finding-database_lost-signs = The monitor of the server had no answer, and at least { $least } session of the load broke.
finding-database_lost-try = The server's log; memory (the kernel may have ended it), a supervisor that restarts it, the way to it.
finding-lock_chain-means = Transactions wait for rows that others have changed and not committed. A row that all of them change is a hot spot: they go through it one after the other.
finding-lock_chain-signs = At least { $least } sessions and { $all } of all wait for locks on average. With { $row } or more of them per transaction that holds rows, the table is named.
finding-lock_chain-try = More rows, shorter transactions, the contended row changed last.
finding-cache_miss-means = Transactions wait for data that the database's cache does not hold.
finding-cache_miss-signs = At least { $server } of the sessions in the server, and { $all } of all, wait for reads of data files, and the server counts reads that missed its cache.
finding-cache_miss-try = A larger cache, less data, a faster disk.
finding-client_bound-means = The database waits for the program that drives it: its number is a bound of the generator.
finding-client_bound-signs = In a closed loop at least { $idle } of the sessions wait for their client, and a load thread runs, or is ready to, at least { $busy } of the time.
finding-client_bound-try = More load threads, or more hosts that load.
finding-plan_change-means = The server carries out a statement of the load by another plan than when the load began: statistics that it gathered meanwhile, an index that came or went, or a setting changed what it takes for the cheapest way.
finding-plan_change-signs = The shape of the plan of a prepared statement, asked for before and after the load, is not the same. PostgreSQL plans it without values; MariaDB and MySQL with 1 in place of each parameter, and a plan for a row that is not there counts for nothing.
finding-plan_change-try = ANALYZE after the tables were filled and before the load; then measure again.
finding-checkpoint_dip-means = Fewer transactions were carried out while a checkpoint was under way: it writes to the same disks, and after it began each changed page goes whole into the log.
finding-checkpoint_dip-signs = In at least { $least } seconds with a checkpoint the rate is below { $dip } of that in at least as many without one, and the difference is larger than the spread of both.
finding-checkpoint_dip-try = Checkpoints that come more rarely and spread their writes; a disk of its own for the log.
