# Messages of the diagnosis rules, checks and the verdict.
# Keys: rule-<rule>-says and -next, evidence-<meaning>, check-<name>-held and -failed, verdict-<meaning>.
# Numbers arrive as text with their unit; rates of datagrams as "6.41 M/s".

## Verdict

verdict-best = { $flows }: { $bits } is the highest rate that holds (datagrams: { $packets }), with { $loss } lost in the run that confirmed it.
verdict-paced-loss = { $flows }: { $bits } arrived (datagrams: { $packets } of { $asked } asked for); { $loss } of { $sent } datagrams were lost.
verdict-paced-lossless = { $flows }: { $bits } arrived (datagrams: { $packets } of { $asked } asked for); none of { $sent } datagrams was lost.
verdict-unlimited-loss = { $flows }: sending as fast as possible, { $bits } arrived (datagrams: { $packets }); { $loss } of { $sent } datagrams were lost.
verdict-unlimited-lossless = { $flows }: sending as fast as possible, { $bits } arrived (datagrams: { $packets }); none of { $sent } datagrams was lost.
verdict-one-pair = { $from } → { $to }
verdict-many-flows = { $count } flows together
verdict-whole-run = whole run
verdict-not-reached = The rate that was asked for was held, so the limit was not reached. Ask for a higher rate, or for none, to find it.
verdict-undetermined = Undetermined: no counter that sokudo read explains what limits this rate.
verdict-undetermined-lacking = Undetermined: no counter that sokudo could read explains what limits this rate. Not available here: { $names }.
verdict-nothing = Nothing was measured: no phase sent a datagram.
verdict-failed = The run failed: { $problem }
verdict-failed-unknown = The run failed, and the record does not say why.
verdict-partial = Part of the result is missing: { $problem }
verdict-partial-unknown = Part of the result is missing, and the record does not say why.
verdict-distrust = Do not rely on these numbers: { $check }

## Checks

check-complete-held = { $phase }: both ends of every flow delivered their numbers (flows: { $flows }).
check-complete-failed = { $phase }: not every flow has the numbers of both ends ({ $complete } of { $flows } have).
check-accounting-held = { $phase }: received and missing datagrams add up to the { $wanted } sent.
check-accounting-failed = { $phase }: received and missing datagrams add up to { $seen }, but { $wanted } were sent; over the flows { $off } are unaccounted for.
check-attribution-held = { $phase }: every missing datagram has a place ({ $wanted } in all).
check-attribution-failed = { $phase }: { $seen } losses have a place, but { $wanted } datagrams are missing; over the flows { $off } do not match.

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
rule-generator-limited-paced-next = Offer a lower rate, use larger datagrams, or let { $host } send with more streams (--streams).
rule-generator-limited-busy-says = Sender-limited: the sending thread on { $host } used { $cpu } of a core and next to nothing was lost, so the network and the receiver can carry at least this much.
rule-generator-limited-busy-next = Let { $host } send with more streams (--streams) or larger datagrams to reach the limit of the network or the receiver.

rule-host-busy-wait-says = { $host } was busy: a thread of the test was ready to run but had no CPU for { $share } of the time.
rule-host-busy-steal-says = { $host } is a virtual machine whose hypervisor gave { $share } of its CPU time to others.
rule-host-busy-pressure-says = { $host } was busy: some task waited for a CPU during { $share } of the time.
rule-host-busy-next = Stop other work on { $host }, or give it more cores than the test has busy threads, and repeat.
rule-host-busy-steal-next = Repeat when the machine under { $host } is less busy, or on reserved cores, and compare.

rule-low-mtu-says = { $from } → { $to } carries packets of { $mtu } B at most, less than Ethernet's 1500 B, so the same bytes need more datagrams.
rule-low-mtu-next = If no tunnel or VPN explains it, look for an interface with a small MTU on the way.
rule-low-mtu-fragments-says = Datagrams of { $size } do not fit the path MTU of { $mtu } B from { $from } to { $to }: each is cut into { $pieces } fragments, and losing one loses all.
rule-low-mtu-fragments-next = Use --size { $size } or less, or raise the MTU on the whole path.

rule-path-loss-says = Path-limited: { $share } of the lost datagrams vanished between { $from } and { $to }; no counter of either host shows them.
rule-path-loss-device-says = Path-limited: { $share } of the lost datagrams vanished between the sockets of { $from } and { $to }; drop counters on that way grew meanwhile.
rule-path-loss-undetermined-says = Undetermined: { $share } of the lost datagrams vanished between { $from } and { $to }. Not available here: { $names }.
rule-path-loss-next = Offer a lower rate from { $from } to { $to }: loss that stays points to the link, loss that ends to a full queue on the way.

rule-receiver-buffer-overflow-says = Receiver-limited: { $share } of the lost datagrams were dropped in { $host }'s socket buffer.
rule-receiver-buffer-overflow-short-says = Receiver-limited: { $share } of the lost datagrams were dropped in { $host }'s socket buffer (granted { $granted }, asked { $asked }).
rule-receiver-buffer-overflow-next = Give { $host } a larger receive buffer (--rcvbuf), or offer a lower rate.
rule-receiver-buffer-overflow-short-next = Raise net.core.rmem_max on { $host } to { $bytes } or more, or offer a lower rate.
rule-receiver-buffer-overflow-busy-next = The receiving thread on { $host } has no time left: spread the load over more streams (--streams), or offer a lower rate.
rule-receiver-buffer-overflow-search-next = Sending as fast as possible overruns the receiving thread on { $host }: search the highest rate that holds, or use more streams (--streams).
rule-receiver-buffer-overflow-waiting-next = The receiving thread on { $host } was kept from running: free a core for it, or give it a larger buffer (--rcvbuf) to bridge the gaps.

rule-receiver-host-drops-says = Receiver-limited: { $share } of the lost datagrams were dropped inside { $host } before they reached the socket.
rule-receiver-host-drops-next = Raise net.core.netdev_max_backlog on { $host }, or spread its receive queues over more cores.

rule-reordering-says = { $share } of the datagrams arrived out of order ({ $count } in all), most of them on { $host }.
rule-reordering-next = Look for several paths or bond members on the way to { $host }, or for receive queues that share one flow.

rule-sender-refusal-says = Sender-limited: the kernel of { $host } refused { $share } of the datagrams offered to it ({ $count } in all); they never left the host.
rule-sender-refusal-waited-says = The kernel of { $host } refused send calls for lack of room ({ $count } in all); no datagram was lost by it.
rule-sender-refusal-next = Give { $host } a larger send buffer (--sndbuf), a longer device queue, or a lower rate.

## Evidence

evidence-not-available = Not available here: { $names }.
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
evidence-out-of-order = Arrivals out of order on { $host }: { $value }
evidence-path-mtu = Path MTU known to { $host }: { $value }
evidence-pressure = Time in which some task on { $host } waited for a CPU: { $value }
evidence-reassembly-failures = Fragments that { $host } could not put together meanwhile: { $value }
evidence-receiver-cpu = CPU use of the receiving thread on { $host }: { $value } of a core
evidence-receiver-wait = The receiving thread on { $host } waited for a CPU: { $value } of the time
evidence-refused-sends = Send calls refused on { $host }: { $value }
evidence-reordering-extent = Datagrams that overtook a late one on { $host }, mean: { $value }
evidence-self-wait = A thread of sokudo on { $host } waited for a CPU: { $value } of the time
evidence-selftest = Self-test of one thread on { $host } over loopback: { $value }
evidence-sender-cpu = CPU use of the sending thread on { $host }: { $value } of a core
evidence-sender-wait = The sending thread on { $host } waited for a CPU: { $value } of the time
evidence-sent-of-asked = Sent datagrams over all senders ({ $host } furthest behind): { $value } of { $asked } asked for
evidence-setting = { $setting } on { $host }: { $value }
evidence-softnet-drops = Packets dropped from the backlog of a core on { $host } meanwhile: { $value }
evidence-steal = CPU time that the hypervisor took from { $host }: { $value }
evidence-time-squeezes = Times that a receive loop of { $host } ran out of budget meanwhile: { $value }
evidence-udp-in = Datagrams that the kernel of { $host } delivered to all sockets: { $value }
evidence-udp-receive-errors = Datagrams that found a full socket on { $host }, all programs: { $value }
evidence-udp-send-errors = UDP send buffer errors on { $host } meanwhile: { $value }
