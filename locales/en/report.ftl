# Messages of the report: report-<section>-<meaning>.

## Sections
report-why = Why
report-search = Search for the best rate
report-phases = What was measured
report-over-time = Over time
report-labels = By label
report-statements = Statements on the server
report-failures = Failures
report-flows = Flows
report-pairs = Many flows at once
report-distributions = Distributions
report-environment = Conditions
report-rerun = Run it again

## Header, tools, footer
report-header-hosts =
    { $n } { $n ->
        [one] host
       *[other] hosts
    }
report-tool-theme = Light or dark
report-tool-print = Print
report-tool-copy = Copy
report-tool-copy-csv = Copy as CSV
report-tool-log = Log
report-footer = Run { $run }, made with sokudo { $version }. Everything on this page comes from the record; nothing is loaded from anywhere.

## What the page's script says
report-script-copied = Copied
report-script-no-data = no data
report-script-clock = clocks agree within ±
report-script-start = after the start
report-script-reset = Drag over a chart to zoom all of them, double-click to return. With the keyboard: arrows move the cursor, + and − zoom, Home returns.

## Weight
report-severity-info = Note
report-severity-caution = Caution
report-terminal-same = … and { $n } more like it, all of them in the report.
report-severity-bad = Warning
report-demand-kept = kept:
report-demand-missed = not kept:
report-demand-unmeasured = not measured
report-count-samples = n = { $n }

## Verdict
report-verdict-none = The record holds no result that a verdict could rest on.
report-verdict-problem = At { $time }: { $says }
report-verdict-problem-missing = At { $time }: { $says } Missing because of it: { $missing }
report-verdict-check-failed = Check “{ $name }” failed: { $says }
report-status-running = The run has not ended, or the program died before it could say so.
report-status-ok = The run is complete.
report-status-partial = The run is partial: what is here was measured, something is missing.
report-status-failed = The run failed: nothing usable came out.

## Numbers
report-number-best = best rate that holds
report-number-best-loss = { $loss } lost in the confirming run
report-number-delivered = delivered
report-number-of-load = { $load }: { $label }
report-number-flows = { $n } flows together
report-number-lost = lost
report-number-lost-of = { $missing } of { $sent } sent
report-lost-sender = refused at the sender { $n }
report-lost-path = on the path { $n }
report-lost-host = in the receiving host { $n }
report-lost-socket = receiver's socket { $n }
report-number-order = out of order
report-number-duplicates = duplicates { $n }
report-number-jitter = jitter { $jitter }
report-number-cost = CPU per datagram
report-number-sender = sender { $value }
report-number-receiver = receiver { $value }
report-number-settings = database settings
report-number-settings-more = { $n } more in the report
report-number-settings-at-risk = a crash may lose acknowledged commits
report-number-generator = load generator
report-number-generator-cpu = sending thread { $cpu } of a core
report-number-clock = clocks ± { $error }
report-number-one-clock = one clock
report-number-placement = threads on cores: { $cores }
report-number-sent = sent
report-number-size = datagram size
report-number-size-asked = as asked
report-number-size-mtu = fits the path MTU of { $mtu } B
report-number-size-ethernet = fits Ethernet's MTU, 1500 B
report-number-io = sent by { $io }
report-number-buffer = receive buffer
report-number-buffer-asked = asked { $asked }
report-generator-valid = valid
report-generator-limit = the limit
report-generator-disturbed = disturbed
report-generator-unknown = unknown
report-datagrams-per-second = { $rate } datagrams

## Why
report-why-none = No rule found anything that limited or disturbed the measurement.
report-why-next = Next:
report-why-more =
    { $n } { $n ->
        [one] more finding
       *[other] more findings
    }, the same in other phases
report-why-peak = peak { $peak }

## Search
report-search-title-best = Up to { $rate } the loss stays within the bound
report-search-title-none = No rate held
report-search-note = Each point is one trial: above, what arrived of what was sent; below, what was lost. On the dashed diagonal everything arrives. Filled: the confirming run.
report-search-trials = Trials
report-search-offered = offered
report-search-delivered = delivered
report-search-lost = lost
report-search-ideal = everything arrives
report-search-bound = allowed { $bound }
report-search-best = { $rate }
report-search-confirm = confirms
report-search-probe = tries
report-search-unlimited = as fast as possible
report-search-outline = { $trial }: offered { $offered }, delivered { $delivered }, lost { $loss }

## Phases
report-phases-selftest = Self-test: one thread of a host sends up to { $best } over loopback
report-phase-named = { $name }: { $help }
report-phase-plain = { $name }
report-phase-ended = { $phase } ({ $how })
report-phase-running = not ended
report-phase-partial = partial
report-phase-failed = failed
report-phase-p2p = one pair, one direction
report-phase-both-ways = one pair, both directions at once
report-phase-mesh = every host to every other
report-phase-best = the best rate, run again
report-phase-selftest = what the generators can do

## Over time
report-over-time-how = One time axis for all charts: the cursor reads every one of them at the same moment.
report-over-time-throughput = How much arrived, and when?
report-over-time-throughput-note = Solid: arrived at the host. Dashed: sent by the host.
report-over-time-to = → { $host }
report-over-time-from = { $host } →
report-over-time-loss = When was it lost?
report-over-time-loss-note = Share of the datagrams lost per receiving host; the stronger the colour, the more, on a logarithmic scale.
report-over-time-drops = Where did hosts throw datagrams away?
report-over-time-drops-note = Growth per second of the kernel's own drop counters. Counters that stayed at zero are not shown.
report-drop-udp-receive-buffer-errors = { $host } socket full
report-drop-udp-send-buffer-errors = { $host } send buffer
report-drop-softnet-drops = { $host } backlog
report-drop-nic-receive-drops = { $host } NIC receive
report-drop-nic-send-drops = { $host } NIC send
report-drop-nic-errors = { $host } NIC errors
report-drop-udp-checksum-errors = { $host } checksum
report-drop-ip-reassembly-failures = { $host } fragments
report-over-time-cpu = What did the CPUs of { $host } do?
report-cpu-user = programs
report-cpu-nice = low priority
report-cpu-system = kernel
report-cpu-irq = interrupts
report-cpu-softirq = soft interrupts
report-cpu-steal = stolen
report-cpu-iowait = waits for I/O
report-over-time-cores = Was one core of { $host } busier than the rest?
report-over-time-cores-cut = The { $shown } busiest of { $n } cores.
report-over-time-threads-cpu = How busy were sokudo's own threads?
report-over-time-threads-wait = Did sokudo's threads wait for a CPU?
report-over-time-nic = What went over the interfaces?
report-over-time-nic-note = Solid: received. Dashed: sent.
report-over-time-in = { $device } in
report-over-time-out = { $device } out
report-over-time-pressure = Did anything wait for a resource?
report-over-time-metric = { $help } ({ $metric })
report-over-time-metric-cut = { $help } ({ $metric }); the { $shown } largest of { $n } series
report-over-time-more = { $n } more series that moved
report-chart-outline = { $low } to { $high }, mean { $mean }, n = { $n }
report-chart-strip = The stronger the colour, the larger the value.

## Flows
report-flows-of = { $phase } · flows: { $n }
report-flows-table = Flows of { $phase }
report-flows-incomplete = { $flow } (one end did not deliver its numbers)
report-flows-from-to = from ↓ to →
report-flows-matrix-rate = Who reached whom how fast?
report-flows-matrix-loss = Between whom was how much lost?

## Distributions
report-distributions-all = all flows
report-distributions-table = { $metric }: percentiles of { $phase }
report-distributions-heat = { $metric }: how it changed
report-distributions-heat-note = { $help }. Cells: how many values; lines: percentiles of each moment.

## Conditions
report-environment-hosts = Hosts and their clocks
report-environment-grants = Asked of the kernel, and granted
report-environment-receive-buffer = receive buffer
report-environment-send-buffer = send buffer
report-environment-facts =
    { $section }: { $n } { $n ->
        [one] fact
       *[other] facts
    }
report-environment-not-available = not available
report-environment-settings = Settings of the database in force
report-environment-commits = acknowledged commits
report-environment-commits-kept = outlive a crash
report-environment-commits-at-risk = a crash may lose them

## Run it again
report-rerun-how = The same command with the same seed offers the same load.
report-rerun-hidden = Secrets were not recorded: give the value again wherever the command says (hidden).
report-rerun-identity = What this run is
report-rerun-run = run
report-rerun-started = started
report-rerun-length = length
report-rerun-seed = seed
report-rerun-plan = plan, SHA-256
report-rerun-version = sokudo
report-rerun-checks = What had to hold
report-check-held = held
report-check-failed = failed

## Columns
report-column-address = address
report-column-arrived = arrived
report-column-asked = asked
report-column-check = check
report-column-clock-error = clock error
report-column-clock-offset = clock offset
report-column-cpu = CPU
report-column-cpu-receive = CPU receiving
report-column-cpu-send = CPU sending
report-column-datagrams = datagrams
report-column-delivered = delivered
report-column-fact = fact
report-column-flow = flow
report-column-flows = flows
report-column-granted = granted
report-column-host = host
report-column-lost = lost
report-column-mode = mode
report-column-order = out of order
report-column-os = system
report-column-phase = phase
report-column-purpose = purpose
report-column-result = result
report-column-says = in words
report-column-sent = sent
report-column-setting = setting
report-column-database = database
report-column-source = read from
report-column-value = value
report-column-version = sokudo
report-column-what = what

## Metrics
report-metric-datagram-ack-rtt-seconds = round trip
report-metric-datagram-delivered-bits-per-second = delivered
report-metric-datagram-delivered-bytes-per-second = delivered
report-metric-datagram-delivered-packets-per-second = delivered datagrams
report-metric-datagram-duplicate-packets = duplicates
report-metric-datagram-interarrival-seconds = time between arrivals
report-metric-datagram-jitter-seconds = jitter
report-metric-datagram-lateness-seconds = lateness of sends
report-metric-datagram-loss-ratio = lost
report-metric-datagram-loss-run-packets = losses in a row
report-metric-datagram-lost-at-receiver-host-packets = lost in receiving host
report-metric-datagram-lost-at-receiver-socket-packets = lost at receiver's socket
report-metric-datagram-lost-at-sender-packets = refused at sender
report-metric-datagram-lost-on-path-packets = lost on path
report-metric-datagram-missing-packets = missing
report-metric-datagram-out-of-order-packets = out of order
report-metric-datagram-received-packets = received
report-metric-datagram-receiver-cpu-ratio = receiving thread
report-metric-datagram-receiver-cpu-seconds-per-packet = CPU per received datagram
report-metric-datagram-reordering-extent-packets = reordering extent
report-metric-datagram-sender-cpu-ratio = sending thread
report-metric-datagram-sender-cpu-seconds-per-packet = CPU per sent datagram
report-metric-datagram-sent-bytes-per-second = sent
report-metric-datagram-sent-packets = sent
report-metric-datagram-sent-packets-per-second = sent datagrams

## What a distribution holds
report-help-datagram-ack-rtt-seconds = Round trip of sampled datagrams, the peer's holding time taken off
report-help-datagram-interarrival-seconds = Time between receive calls that returned datagrams
report-help-datagram-lateness-seconds = Real minus intended send time of paced datagrams
report-help-datagram-loss-run-packets = Length of each run of consecutive missing sequence numbers
report-help-datagram-reordering-extent-packets = How many positions late each out-of-order arrival came (RFC 4737)

## Terminal
report-terminal-next = Next:
report-terminal-lost = { $loss } lost

## Requests and responses
report-number-latency = time to an answer, median
report-number-latency-sql = time to the commit, median
report-number-latency-crr = time to connect and be answered, median
report-number-p99 = 99 % { $value }
report-number-p999 = 99.9 % { $value }
report-number-max = slowest { $value }
report-number-between = between { $low } and { $high }
report-number-ranged = { $figure } ({ $low } to { $high })
report-number-ranges = Ranges hold the true value under the conditions of this run with 95 % confidence. Other runs may differ by more.
report-number-ranges-repeat = Repeated runs (--repeat) show how much other runs differ.
report-number-ranges-independent = Ranges hold the true value under the conditions of this run with 95 % confidence, if its samples do not depend on each other: the run was too short to tell. Other runs may differ by more.
report-number-service = 99 % { $value } from the real start
report-number-start-delay = own delay of the generator 99 % { $value }
report-number-transactions = answers per second
report-number-transactions-sql = transactions per second
report-number-sql-serialization-failures =
    { $n } serialization { $n ->
        [1] failure
       *[other] failures
    }
report-number-sql-deadlocks =
    { $n } { $n ->
        [1] deadlock
       *[other] deadlocks
    }
report-number-sql-lock-timeouts =
    { $n } { $n ->
        [1] lock
       *[other] locks
    } not free in time
report-number-sql-constraint-violations =
    { $n } { $n ->
        [1] broken constraint
       *[other] broken constraints
    }
report-number-sql-denied-statements =
    { $n } { $n ->
        [1] statement without a right
       *[other] statements without a right
    }
report-number-sql-wrong-statements =
    { $n } { $n ->
        [1] wrong statement
       *[other] wrong statements
    }
report-number-sql-cancelled-statements =
    { $n } { $n ->
        [1] cancelled statement
       *[other] cancelled statements
    }
report-number-sql-resource-failures =
    { $n } { $n ->
        [1] try without room
       *[other] tries without room
    }
report-number-sql-lost-sessions =
    { $n } lost { $n ->
        [1] session
       *[other] sessions
    }
report-number-not-tpc = not a TPC result
report-number-part = { $name }, median
report-number-part-count = { $n } carried out
report-number-connections = connections per second
report-number-asked = asked { $asked }
report-number-arrivals = asked { $asked } arrivals
report-number-closed = closed loop
report-number-open-connections =
    { $n } { $n ->
        [one] connection
       *[other] connections
    }
report-number-connect = time to connect, median
report-number-handshake = TLS handshake { $value }
report-number-errors = without an answer
report-number-untried = about { $n } more not tried
report-number-errors-sql = failed
report-number-error-ratio = { $ratio } of all
report-number-lost-connections = connections lost { $n }
report-labels-table = How many requests of each label, and how long they took
report-labels-users = Do answers slow down with more users?
report-labels-users-note = Each dot is a second: how many users there were, and the response time meanwhile.
report-over-time-users = How many users were there?
report-over-time-users-note = Users that had begun and not ended, per host that makes the load.
report-over-time-failed = How many requests failed?
report-over-time-failed-note = Per second and host: no whole answer, a status of 400 and above, or against what the plan demands.
report-over-time-answers = How much came through, and when?
report-over-time-answers-note = Answers per asking host, messages per receiving host; all flows together.
report-number-dns-no-such-name = NXDOMAIN { $n }
report-number-dns-server-failures = SERVFAIL { $n }
report-number-dns-refused = REFUSED { $n }
report-number-dns-other-codes = other codes { $n }
report-number-dns-empty-answers = without a record { $n }
report-number-dns-truncated = truncated { $n }
report-number-http-status-3xx = 3xx { $n }
report-number-http-status-4xx = 4xx { $n }
report-number-http-status-5xx = 5xx { $n }
report-number-http-status-other = other statuses { $n }
report-over-time-latency = How long did answers take, and when?
report-over-time-latency-note = Of each interval: 99 % solid, median dashed. With a rate, from the intended start.
report-over-time-p50 = { $flow } 50 %
report-over-time-p99 = { $flow } 99 %
report-metric-rr-latency-seconds = time to an answer
report-metric-rr-service-seconds = time to an answer, from the real start
report-metric-rr-start-delay-seconds = generator's own delay
report-metric-crr-latency-seconds = time to connect and be answered
report-metric-crr-service-seconds = time to connect and be answered, from the real start
report-metric-crr-start-delay-seconds = generator's own delay
report-metric-rr-connect-seconds = time to connect
report-metric-rr-handshake-seconds = time of the TLS handshake
report-metric-crr-connect-seconds = time to connect
report-metric-crr-handshake-seconds = time of the TLS handshake
report-metric-rr-transactions = answers
report-metric-rr-transactions-per-second = answers per second
report-metric-rr-errors = without an answer
report-metric-rr-late-ratio = left late
report-metric-rr-window-full-ratio = had to wait
report-metric-rr-latency-sd-seconds = standard deviation
report-metric-rr-client-cpu-ratio = CPU asking
report-metric-rr-server-cpu-ratio = CPU answering
report-metric-crr-connections = connections
report-metric-crr-connections-per-second = connections per second
report-metric-crr-errors = without an answer
report-metric-crr-late-ratio = left late
report-metric-crr-window-full-ratio = had to wait
report-metric-crr-latency-sd-seconds = standard deviation
report-metric-crr-client-cpu-ratio = CPU asking
report-metric-dns-answers = responses
report-metric-dns-answers-per-second = responses per second
report-metric-dns-latency-seconds = time to the response
report-metric-dns-service-seconds = time to the response, from the real start
report-metric-dns-start-delay-seconds = generator's own delay
report-metric-dns-connect-seconds = time to connect
report-metric-dns-errors = without a response
report-metric-dns-late-ratio = left late
report-metric-dns-window-full-ratio = had to wait
report-metric-dns-client-cpu-ratio = CPU asking
report-metric-sql-transactions = transactions
report-metric-sql-transactions-per-second = transactions per second
report-metric-sql-latency-seconds = time to the commit
report-metric-sql-service-seconds = time to the commit, from the real start
report-metric-sql-start-delay-seconds = generator's own delay
report-metric-sql-connect-seconds = time to connect again
report-metric-sql-errors = failed
report-metric-sql-late-ratio = began late
report-metric-sql-window-full-ratio = waited for a session
report-metric-sql-client-cpu-seconds-per-transaction = client CPU per transaction
report-metric-sql-lost-acknowledged = lost acknowledged commits
report-metric-sql-duplicated-marks = duplicated commits
report-metric-sql-broken-conditions = broken conditions
report-metric-sql-client-cpu-ratio = CPU of the load
report-metric-dbt1-bt-per-second = interactions per second (BT/s)
report-metric-dbt1-customers = customers
report-metric-dbt1-home-seconds = Home
report-metric-dbt1-new-products-seconds = New Products
report-metric-dbt1-best-sellers-seconds = Best Sellers
report-metric-dbt1-product-detail-seconds = Product Detail
report-metric-dbt1-search-request-seconds = Search Request
report-metric-dbt1-search-results-seconds = Search Results
report-metric-dbt1-shopping-cart-seconds = Shopping Cart
report-metric-dbt1-customer-registration-seconds = Customer Registration
report-metric-dbt1-buy-request-seconds = Buy Request
report-metric-dbt1-buy-confirm-seconds = Buy Confirm
report-metric-dbt1-order-inquiry-seconds = Order Inquiry
report-metric-dbt1-order-display-seconds = Order Display
report-metric-dbt1-admin-request-seconds = Admin Request
report-metric-dbt1-admin-confirm-seconds = Admin Confirm
report-metric-sql-pool-waiting = waiting for the pool
report-metric-sql-pool-wait-seconds = wait for the pool
report-metric-sqlmix-latency-seconds = time to the commit, by transaction
report-metric-sqlmix-transactions-per-second = transactions per second, by name
report-metric-dbt2-new-orders-per-minute = new orders per minute
report-metric-dbt2-warehouses = warehouses
report-metric-dbt2-pace-ratio = of what the pace allows
report-metric-dbt2-rolled-back = rolled back as planned
report-metric-dbt2-new-order-seconds = New-Order
report-metric-dbt2-payment-seconds = Payment
report-metric-dbt2-order-status-seconds = Order-Status
report-metric-dbt2-delivery-seconds = Delivery
report-metric-dbt2-stock-level-seconds = Stock-Level
report-metric-dbt3-composite = composite
report-metric-dbt3-power = power
report-metric-dbt3-throughput = throughput
report-metric-dbt3-throughput-seconds = time of the throughput test
report-metric-dbt3-scale-factor = scale factor
report-metric-dbt3-streams = streams
report-metric-dbt3-query01-seconds = Query 1, pricing summary
report-metric-dbt3-query02-seconds = Query 2, cheapest supplier
report-metric-dbt3-query03-seconds = Query 3, open orders
report-metric-dbt3-query04-seconds = Query 4, late orders by priority
report-metric-dbt3-query05-seconds = Query 5, sales within nations
report-metric-dbt3-query06-seconds = Query 6, cost of small discounts
report-metric-dbt3-query07-seconds = Query 7, trade of two nations
report-metric-dbt3-query08-seconds = Query 8, market share
report-metric-dbt3-query09-seconds = Query 9, profit by nation and year
report-metric-dbt3-query10-seconds = Query 10, returned goods
report-metric-dbt3-query11-seconds = Query 11, notable stock
report-metric-dbt3-query12-seconds = Query 12, late lines by way of shipping
report-metric-dbt3-query13-seconds = Query 13, orders per customer
report-metric-dbt3-query14-seconds = Query 14, share of bargains
report-metric-dbt3-query15-seconds = Query 15, top supplier
report-metric-dbt3-query16-seconds = Query 16, suppliers by kind of part
report-metric-dbt3-query17-seconds = Query 17, small orders
report-metric-dbt3-query18-seconds = Query 18, largest orders
report-metric-dbt3-query19-seconds = Query 19, handed-over parts
report-metric-dbt3-query20-seconds = Query 20, surplus stock
report-metric-dbt3-query21-seconds = Query 21, suppliers kept waiting for
report-metric-dbt3-query22-seconds = Query 22, idle customers
report-metric-dbt3-refresh-in-seconds = First refresh
report-metric-dbt3-refresh-out-seconds = Second refresh
report-metric-tpcb-tps = tps
report-metric-tpcb-scale = branches
report-metric-http-requests = responses
report-metric-http-requests-per-second = responses per second
report-metric-http-latency-seconds = time to the last byte
report-metric-http-service-seconds = time to the last byte, from the real start
report-metric-http-start-delay-seconds = generator's own delay
report-metric-http-connect-seconds = time to connect
report-metric-http-handshake-seconds = time of the TLS handshake
report-metric-http-wait-seconds = wait for the first byte
report-metric-http-read-seconds = time to read the response
report-metric-http-errors = without a whole response
report-metric-http-late-ratio = left late
report-metric-http-window-full-ratio = had to wait
report-metric-http-client-cpu-ratio = CPU asking
report-metric-group-start-late-seconds = began late by
report-metric-crr-server-cpu-ratio = CPU answering

## Probes
report-number-rtt = round trip, median
report-number-owd-up = one way up, median
report-number-owd-down = one way down, median
report-number-way-up = up { $value }
report-number-way-down = down { $value }
report-number-give-or-take = clocks ± { $value }
report-number-jitter-up = jitter up
report-number-probes-lost = probes lost
report-number-probes-late = late { $n }
report-number-probes-unsent = not sent { $n }
report-metric-probe-answered-packets = answered
report-metric-probe-clock-error-seconds = clock error
report-metric-probe-ipdv-down-seconds = variation on the way down, probe to probe
report-metric-probe-ipdv-seconds = variation of the round trip, probe to probe
report-metric-probe-ipdv-up-seconds = variation on the way up, probe to probe
report-metric-probe-jitter-down-seconds = jitter down
report-metric-probe-jitter-up-seconds = jitter up
report-metric-probe-late-packets = late
report-metric-probe-loss-down-ratio = lost down
report-metric-probe-loss-run-down-packets = answers lost in a row
report-metric-probe-loss-run-up-packets = probes lost in a row
report-metric-probe-loss-up-ratio = lost up
report-metric-probe-owd-down-seconds = one-way delay down
report-metric-probe-owd-seconds = one-way delay, both ways
report-metric-probe-owd-up-seconds = one-way delay up
report-metric-probe-rtt-seconds = round trip
report-metric-probe-send-call-seconds = length of the send call
report-metric-probe-sender-cpu-ratio = CPU sending
report-metric-probe-sent-packets = sent
report-metric-probe-server-cpu-ratio = CPU answering
report-metric-probe-timer-error-seconds = behind the schedule
report-metric-probe-turnaround-seconds = turn-around at the far end
report-metric-probe-unsent-packets = not sent
## Bulk bytes
report-number-goodput = payload that arrived
report-number-received = { $value } in all
report-number-fairness = fairness index { $value }
report-number-not-arrived = did not arrive
report-number-retransmitted = segments sent again
report-number-of-segments = { $value } of all
report-number-round-trip = round trip { $value }
report-number-write-blocked = writes blocked
report-number-read-idle = reads idle { $value }
report-number-cost-gigabyte = CPU per GB
report-metric-stream-goodput-bits-per-second = payload that arrived
report-metric-stream-sent-bits-per-second = payload sent
report-metric-stream-received-bytes = arrived
report-metric-stream-missing-bytes = did not arrive
report-metric-stream-retransmitted-segments = segments sent again
report-metric-stream-smoothed-rtt-seconds = round trip
report-metric-stream-write-blocked-ratio = writes blocked
report-metric-stream-read-idle-ratio = reads idle
report-metric-stream-receive-window-limited-ratio = limited by receive window
report-metric-stream-send-buffer-limited-ratio = limited by send buffer
report-metric-stream-sender-cpu-ratio = CPU sending
report-metric-stream-receiver-cpu-ratio = CPU receiving
## Repeated runs
report-profiles = Settings of the server, measured in turns
report-statements-seen = The server counts no executions of some statements: their time is that in which sessions were seen to execute them, ten times a second.
report-statements-table = Statements while the load went on, by the time that the server took for them
report-statements-statement = Statement
report-statements-time = Time
report-statements-share = Share
report-statements-calls = Calls
report-statements-mean = Mean
report-statements-rows = Rows
report-statements-examined = Rows read in tables
report-statements-hit = Blocks from the cache
report-statements-read = Blocks read
report-statements-plans = Plans of { $n } statements, the same before and after the load
report-statements-plan = Plan
report-statements-before = Plan before the load
report-statements-after = Plan after the load
report-statements-uncounted = The statements could not be counted: { $why }.
report-statements-unplanned = The plans could not be asked for: { $why }.
report-repeats = Repeated runs
report-repeats-note = The interval holds the true median of such runs with the confidence beside it, whatever their distribution: its ends are two of the runs' values. From six runs on the confidence is at least 95 %. All other numbers are of the run in the middle, by its rate.
report-repeats-medians = Medians over the runs
report-repeats-figure = figure
report-repeats-layer = layer
report-repeats-layers = Layers of the check, each measured several times
report-repeats-median = median
report-repeats-low = from
report-repeats-high = to
report-repeats-confidence = confidence
report-repeats-min = smallest
report-repeats-max = largest
report-repeats-rate = rate
report-repeats-runs = runs
report-repeats-each = Every run
report-repeats-run = run
report-repeats-cores = threads on cores
report-repeats-middle = middle

## Latency under load
report-rrul = Latency under load
report-rrul-parts = Round trips idle and under load
report-rrul-load = Load
report-rrul-idle = none
report-rrul-up = up
report-rrul-down = down
report-rrul-both = both ways
report-rrul-udp-p50 = UDP p50
report-rrul-udp-p99 = UDP p99
report-rrul-added = Added
report-rrul-tcp-p50 = TCP p50
report-rrul-tcp-p99 = TCP p99
report-rrul-lost = Lost
report-rrul-goodput-up = Up
report-rrul-goodput-down = Down
report-rrul-grade = bufferbloat grade
report-rrul-adds = load adds { $value }
report-rrul-median-idle = round trip, idle
report-rrul-median-up = round trip, load up
report-rrul-median-down = round trip, load down
report-rrul-median-both = round trip, load both ways
report-rrul-within = 99 % within { $value }
report-rrul-lost-of-it = { $value } lost
report-rrul-title = How much longer does a datagram take under load?
report-rrul-note = Share of the datagrams whose round trip took at most so long, by the direction of the load. A line far to the right of the idle one stands in a queue.
report-rrul-rtt = Round trip
report-rrul-share = Share of datagrams

## Curve of a sweep
report-curve = Curve of the sweep
report-curve-title = Up to the knee the load is carried
report-curve-title-none = No knee in the range
report-curve-note = Above, what was carried; below, on a logarithmic axis, how long it took. Each point is one step of the sweep.
report-curve-steps = Steps
report-curve-offered = offered
report-curve-option = --{ $option }
report-curve-carried = carried
report-curve-p50 = median
report-curve-p99 = p99
report-curve-lost = lost or failed
report-curve-ideal = everything
report-curve-knee = knee { $value }
report-terminal-knee = knee

## Messages
report-number-messages = messages that arrived per second
report-number-bits = { $value } with headers
report-number-response = time to a response, median
report-number-under-way = most under way
report-number-waited-for-room = sender waited for room { $value }
report-number-came-to-nothing = failed messages

## Finished requests (JTL)
jtl-footer = Made of { $name } with sokudo { $version }. Everything on this page comes from the rows of that file; nothing is loaded from anywhere.
jtl-verdict-nothing = The file holds no finished request.
jtl-verdict-fine =
    { $rate } answered, { $percent } % of them within { $time }; { $n ->
        [one] the one request did not fail.
       *[other] none of { $n } requests failed.
    }
jtl-verdict-none = { $n ->
        [one] The one request failed
       *[other] All { $n } requests failed
    } ({ $errors }): { $rate } ended, { $percent } % of them within { $time }.
jtl-verdict-failing = { $errors } of { $n } requests failed. { $rate } ended, well or not, { $percent } % of them within { $time }.
jtl-verdict-failed = { $rate } ended, { $percent } % of them within { $time }; { $errors } of { $n } requests failed.
jtl-verdict-main-failure = { $share } of the failures ({ $n }) are “{ $failure }”; most of them, { $of_label }, with “{ $label }”.
jtl-verdict-flattered = The mean of { $mean } looks better than what users got: good answers took { $good }, failures { $failed }.
jtl-verdict-compared = Against { $name }: p{ $percent } { $time }, throughput { $rate }, failures { $errors } (before: { $before }).
jtl-remark-broken =
    { $n ->
        [one] One row could not be read and is
       *[other] { $n } rows could not be read and are
    } not counted. The first: line { $line }, { $why }.
jtl-remark-cut = The file ends in the middle of a row: the program that wrote it was stopped. The rows before are counted.
jtl-remark-far =
    { $n ->
        [one] One row is not counted: its
       *[other] { $n } rows are not counted: their
    } time is a year or more away from the first row's.
jtl-remark-labels = There are more than { $most } labels; the others are counted together. A label that holds an id should not.
jtl-remark-inner =
    { $n ->
        [one] One request inside another (a redirect, an embedded resource) is part of its parent
       *[other] { $n } requests inside others (redirects, embedded resources) are part of their parents
    } and not counted again.
jtl-number-rate = requests per second
jtl-number-percentile = p{ $percent } of the response time
jtl-number-failed = failed
jtl-number-failed-of = { $n } of { $all }
jtl-number-apdex = APDEX
jtl-number-apdex-limits = satisfied up to { $satisfied }, tolerated up to { $tolerated }
jtl-number-users = users at most
jtl-number-bytes = received { $received }, sent { $sent }
jtl-number-received = received
jtl-number-sent = sent { $sent }
jtl-goal-reached = { $asked }: { $measured }.
jtl-goal-unmeasured = { $asked }: no finished request.
jtl-over-time-how = All charts share one time axis and one cursor. A request counts when it ends.
jtl-more-charts = By label, waiting and bytes
jtl-chart-times = How long did answers take?
jtl-chart-times-note = The darker a cell, the more requests took that long. Lines are percentiles of each step, not means of percentiles.
jtl-chart-compared = p95 of the response time, now and earlier
jtl-chart-rates = How many requests per second?
jtl-chart-failed = How many failed?
jtl-chart-users = How many users were there?
jtl-chart-codes = Which response codes came back?
jtl-chart-label-times = Mean response time by label
jtl-chart-label-rates = Requests per second by label
jtl-chart-waiting = Mean time to connect and to the first byte of the answer
jtl-chart-bytes = Bytes received and sent
jtl-line-started = started
jtl-line-ended = ended
jtl-line-transactions = transactions
jtl-line-failed = failed
jtl-line-users = users
jtl-line-first-byte = first byte
jtl-line-connect = connected
jtl-line-received = received
jtl-line-sent = sent
jtl-statistics = Statistics
jtl-statistics-how = Percentiles are those of all requests, to three digits. Transactions are sums of requests and not part of the total.
jtl-statistics-title = By label
jtl-statistics-more =
    { $n } { $n ->
        [one] more label is
       *[other] more labels are
    } in statistics.json.
jtl-hosts-title = By generator
jtl-host = Host
jtl-label = Label
jtl-total = All requests
jtl-transaction = { $label } (transaction)
jtl-requests = Requests
jtl-failed = Failed
jtl-failed-share = Failed
jtl-mean = Mean
jtl-min = Shortest
jtl-max = Longest
jtl-rate = Throughput
jtl-received = Received
jtl-sent = Sent
jtl-apdex = APDEX
jtl-failures = Failures
jtl-failures-how = A failure is named by its response code and message; where the code is good, by the assertion that failed.
jtl-failures-kinds = Kinds of failure
jtl-failures-by-label = The five most common failures of each label
jtl-failure = Failure
jtl-of-failures = Of all failures
jtl-of-all = Of all requests
jtl-rank = Rank
jtl-shape = Spread and load
jtl-shape-how = What a mean cannot tell: how response times are spread, and what load does to them.
jtl-plane-distribution = How many requests took how long?
jtl-plane-distribution-note = Up to the 99.5th percentile; the rest is in the table above.
jtl-plane-percentiles = Which share of the requests was answered within which time?
jtl-plane-percentiles-note = A line that turns up at the right end is a tail: few requests that took much longer than the rest.
jtl-plane-rate = Do answers slow down when there are more of them?
jtl-plane-rate-note = Dots for each step of time: requests that ended per second, and p50, p95 and the mean time to the first byte meanwhile.
jtl-plane-users = Do answers slow down with more users?
jtl-plane-users-note = Mean response time of the requests that ended while so many users were there.
jtl-axis-time = response time
jtl-axis-share = share of requests
jtl-axis-percent = share of requests, fastest first
jtl-axis-rate = requests per second
jtl-axis-users = users
jtl-axis-mean = mean response time
jtl-comparison = Comparison
jtl-comparison-how = Each value beside that of the earlier test. Whether a change is more than chance, only repeated tests tell.
jtl-comparison-title = Earlier: { $name }
jtl-earlier = Earlier
jtl-change = Change
jtl-conditions = Made of the rows of { $name }. First start { $started }; steps of time of { $width }. Percentiles are the smallest value that so many of all requests do not exceed. Throughput is the number of requests over the time from the first start to the last end, so requests that were under way at the end dilute it.
jtl-empty-transactions =
    { $n } { $n ->
        [one] transaction in which nothing was requested is
       *[other] transactions in which nothing was requested are
    } not counted.
## Many flows at once
report-pairs-curve = Throughput over the volume that all flows carried together
report-pairs-note = A dot for each phase, the line through their means.
report-pairs-table = Each phase: its volume over the mean time of a flow
report-pairs-phase = phase
report-pairs-flows = flows
report-pairs-volume = volume
report-pairs-time = mean time
report-pairs-speed = throughput
report-pairs-fairness = fairness
report-pairs-dead = no result

## The pairs of a group

report-group = Every pair of hosts
report-group-table = Each pair, those that fail first
report-group-pair = from → to
report-group-outcome = outcome
report-group-holds = ✓ holds
report-group-fails = ✗ { $what }
report-group-of = { $n } of { $all }
report-group-held = pairs that hold
report-group-slowest = slowest pair
report-group-middle = in the middle { $value }
report-group-latest = latest answers (99 %)
report-group-worst-loss = largest loss
report-group-spread = starts apart
report-group-probe-rtt-seconds-p50 = round trip
report-group-probe-loss-ratio = probes lost
report-group-rr-latency-seconds-p50 = answer
report-group-rr-latency-seconds-p99 = answer 99 %
report-group-crr-connections-per-second = connects
report-group-stream-goodput-bits-per-second = one stream
report-group-bus-messages-per-second = messages
report-group-datagram-loss-ratio = datagrams lost
report-group-dns-answers-per-second = name server queries
report-group-sql-transactions-per-second = transactions
report-group-http-requests-per-second = web requests
report-group-mesh = all at once
report-group-mesh-fairness = fairness { $value }
report-group-mesh-loss = datagrams lost { $value }
report-terminal-more =
    … and { $n } { $n ->
        [one] more pair
       *[other] more pairs
    } in the report
report-column-per-second = per second
report-column-p50 = median
report-column-p99 = 99 %
report-phases-layer = { $name }: { $says }

report-budget = Where the time of a request goes
report-budget-title = Which stage takes the time?
report-budget-note = Mean over the answered requests; the stages add up to the latency. Waiting for the first byte is the way there and back and all of the server's work.
report-budget-note-rows = Mean over the requests with an answer, from the times that the file has: until connected (look-up and TLS included), until the first byte, until the last.
report-budget-table = Mean time by stage
report-budget-whole = whole
report-number-budget = mean time of a request
report-over-time-budget = Where did the time of a request go, and when?
report-stage-queue = waiting for a turn
report-stage-queue-of = turn { $value }
report-stage-resolve = look-up
report-stage-resolve-of = look-up { $value }
report-stage-connect = connecting
report-stage-connect-of = connecting { $value }
report-stage-tls = TLS
report-stage-tls-of = TLS { $value }
report-stage-send = sending
report-stage-send-of = sending { $value }
report-stage-wait = first byte
report-stage-wait-of = first byte { $value }
report-stage-read = receiving
report-stage-read-of = receiving { $value }
jtl-felt = How it was felt
jtl-felt-title = How many were answered soon enough?
jtl-felt-note = Shares of all requests. Satisfied: answered within { $satisfied }. Tolerated: within { $tolerated }. APDEX counts the first whole and the second half.
jtl-felt-satisfied = satisfied
jtl-felt-tolerated = tolerated
jtl-felt-slower = slower
jtl-felt-failed = failed

## Generators
report-generators = Generators
report-generators-host = Host
report-generators-answers = answers
report-generators-rate = rate
report-generators-failed = failed
report-generators-late = late starts
report-generators-unstarted = not begun
report-generators-cpu = CPU
report-generators-began = began late
report-generators-table = What each generator did in { $phase }

## Search for the knee
report-capacity = Where requests begin to queue
report-capacity-answers = The knee by every rule
report-capacity-answer = answer
report-capacity-rule = Rule
report-capacity-users = Users
report-capacity-bound = Bounds: throughput without queues meets the highest
report-capacity-kneedle = Kneedle: the throughput bends
report-capacity-cpu = Server's CPU reaches { $percent } %
report-capacity-slo = The demands are kept
report-capacity-levels = Levels
report-capacity-runs = Runs
report-capacity-throughput = Throughput
report-capacity-range = Of the runs
report-capacity-response = Mean response
report-capacity-residual = Off Little's law
report-capacity-server-cpu = Server's CPU
report-capacity-measured = measured
report-capacity-bounds = bounds
report-capacity-full = full
report-capacity-throughput-title = How much is carried with more users?
report-capacity-throughput-note = The bound rises as if no request waited, then stays at the highest throughput that lasts; where it bends is the knee by bounds.
report-capacity-response-title = How long does a request take with more users?
report-capacity-response-note = Below the bound no closed system can be. The distance from it is time in queues that are not at the bottleneck.
report-capacity-cpu-title = How busy is the server?
report-capacity-cpu-note = Share of all CPUs of the host that answers, over each run. The line is the share that counts as full.
report-protect-title = Limits in front of the knee, with { $users } users
report-protect-limits = Limits
report-protect-with = workers = pool = { $workers }, connections ≤ { $open }
report-protect-without = none
report-protect-mark = recommended
report-protect-errors = Errors
report-protect-accept = Wait to be accepted
report-protect-queued = Wait for a thread
report-protect-service = Time of a thread
report-protect-pool = Wait for the database

# Lines of `sokudo why`.
why-limit = The limit
why-unknown = The limit is not known
why-beside = Beside it
why-suspected = Suspected: one kind of observation only
why-refuted = Refuted
why-missing = Not available here
why-tested = Put to the test
why-for = For it:
why-for-none = For it: nothing
why-against = Against it:
why-against-none = Against it: nothing
why-test = How to test it: { $suspect }
why-contradictions = What refutes conclusions
why-about-all = Concerns every cause
why-about = Concerns: { $rules }
why-rule-describes = describes what happened
why-rule-limit = says what limited the rate
why-rule-loss = says where datagrams were lost

## Comparison of runs
compare-worse = { $after } is worse than { $before } in { $count } of { $of } figures, first of all { $figure }: { $change }.
compare-better = { $after } is better than { $before } in { $count } of { $of } figures, first of all { $figure }: { $change }.
compare-none = No difference of at least { $least } is shown between { $before } and { $after }.
compare-few = The smaller side has { $runs } { $runs ->
        [one] run
       *[other] runs
    }: { $enough } of each are needed to tell a difference from what runs differ by anyway. Repeat each with --repeat { $enough } or more.
compare-few-rounds = { $runs } { $runs ->
        [one] round was
       *[other] rounds were
    } measured: { $enough } are needed to tell a difference from what runs differ by anyway.
compare-conditions = { $count } { $count ->
        [one] condition differs
       *[other] conditions differ
    }, too: { $names }.
compare-alone = Only one side has { $loads }.
compare-sides = { $one } is { $before }, { $other } is { $after }.
compare-plain = { $name }
compare-stat = { $name }, { $stat }
compare-change-between = { $name } (between { $low } and { $high }, confidence { $confidence })
compare-figure = Figure
compare-change = change
compare-from = from
compare-to = to
compare-confidence = confidence
compare-verdict = verdict
compare-is-better = better
compare-is-worse = worse
compare-is-not-shown = no difference shown
compare-title = { $load }: medians of the runs and their difference
compare-condition = Condition
compare-conditions-title = What else was different
compare-curves = { $load }: the rate over time, both sides over each other
compare-curves-note = The last run of each side, all hosts added up.
compare-curves-latency = { $load }: the 99th percentile of the response time over time, both sides over each other
compare-curves-failed = { $load }: failures per second over time, both sides over each other
compare-curves-users = { $load }: users over time, both sides over each other
compare-curves-worst-note = The last run of each side; at each moment the slowest label or flow.
compare-latency = response time
compare-failed = failures
compare-users = users
compare-time = since the start
compare-rate = rate
compare-footer = sokudo { $version }

report-number-user-bytes = content replicated
report-number-elapsed = in { $value }
report-number-predicted = predicted { $value }
report-number-files-written = files written
report-number-files-equal = { $value } equal
report-number-lag = lag of the mirror, median
report-number-lag-max = at most { $value }
report-number-removed = { $value } removed
report-number-on-the-wire = on the wire
report-number-content = of { $value } of content
report-number-cpu-both-ends = CPU time of both ends
report-number-not-replicated = not replicated

report-metric-replicate-files = files
report-metric-replicate-files-written = written
report-metric-replicate-user-bytes-per-second = content
report-metric-replicate-wire-bits-per-second = on the wire
report-metric-replicate-elapsed-seconds = elapsed
report-metric-replicate-compression-ratio = ratio
report-metric-replicate-cpu-seconds = CPU time
report-metric-replicate-failed = not replicated
report-metric-replicate-files-per-second = files per second
report-metric-replicate-lag-seconds = lag of the mirror
report-group-replicate-user-bytes-per-second = one replication

# Predictions of replications.
report-advice = Prediction and choice of settings
report-advice-settings = Settings
report-advice-chosen = chosen
report-advice-level = level
report-advice-usual = { $level } (default)
report-advice-connections = connections
report-advice-batch = batch
report-advice-predicted = predicted
report-advice-range = range
report-advice-rate = content
report-advice-stage = pace set by
report-advice-measured = in trials
report-advice-error = prediction off
report-advice-note = Predicted for all of the source; where there were trials, corrected by what they took. “In trials” is the median content per second of a part of the source, “prediction off” how far the model's own rate for that part was from it.
report-advice-rules = Rules of thumb
report-advice-basis = What the predictions rest on
report-advice-quantity = quantity
report-advice-value = value
report-advice-guess = a guess: nothing was written
report-advice-basis-files = files whose content travels
report-advice-basis-bytes = their bytes
report-advice-basis-dense = of them look compressed
report-advice-basis-ratios = ratio of levels 1, 2, 3 on the rest
report-advice-basis-speeds = speed of levels 1, 2, 3 on one core
report-advice-basis-way = the line carries
report-advice-basis-connection = one connection carries at most
report-advice-basis-rtt = round trip
report-advice-basis-sender = free cores of the sender
report-advice-basis-receiver = free cores of the receiver
report-advice-basis-create = time to create and rename a file
