# What metrics and monitors mean. The English texts are those of the catalogue and of the monitors' options:
# crates/sokudo/src/cli/reference/meaning.rs compares.

## selftest
metric-selftest-sent-packets-per-second = datagrams per second that one thread of this host hands to the kernel over loopback; label mode
metric-selftest-delivered-packets-per-second = datagrams per second that arrive meanwhile; label mode

## dns
metric-dns-answers = queries with a response of whatever code, warm-up not counted
metric-dns-answers-per-second = those queries over the time of the load (group.load_seconds); in series: over the interval
metric-dns-asked-per-second = rate that was asked for; absent in a closed loop
metric-dns-best-rate-per-second = highest rate that kept the bounds of --find, confirmed by a fresh run
metric-dns-client-cpu-ratio = CPU time of the busiest asking thread over elapsed time, 1 = one core
metric-dns-client-wait-ratio = share of time that an asking thread was ready to run but had no CPU
metric-dns-connect-seconds = time to connect over TCP, connections made during the load
metric-dns-empty-answers = responses with code NOERROR that hold no record, counted in dns.no_error too
metric-dns-error-ratio = errors, unstarted queries and responses with an error code over all that were due; in series: errors over the queries that ended in the interval
metric-dns-errors = queries without a response in time, those under way when their connection broke, and those that could not be sent
metric-dns-failed-per-second = queries that failed over the interval: without a response, or answered with an error code
metric-dns-late-ratio = share of queries that left more than 1 ms after their intended start although there was room for them
metric-dns-latency-p50-seconds = median of the latency over the interval
metric-dns-latency-p99-seconds = 99th percentile of the latency over the interval
metric-dns-latency-seconds = from the intended start of a query to its response; in the summary with .min, .mean, .p50, .p90, .p99, .p999 and .max
metric-dns-made-connections = connections over TCP made during the load, in place of those that the server closed
metric-dns-no-error = responses with code NOERROR
metric-dns-no-such-name = responses with code NXDOMAIN: the name does not exist
metric-dns-open-connections = sockets, each with a port of its own; over TCP connections
metric-dns-other-codes = responses with any other code
metric-dns-ports-exhausted = connections that could not be made because no local port was left
metric-dns-received-bytes = bytes of their responses, likewise
metric-dns-refused = responses with code REFUSED: the server does not answer this host or this name
metric-dns-round-trip-seconds = latency of each query by itself
metric-dns-sent-bytes = bytes of the answered queries, without the headers of UDP or TCP
metric-dns-server-failures = responses with code SERVFAIL: the server could not find the answer
metric-dns-service-seconds = from the moment that a query really left to its response; equals the latency in a closed loop
metric-dns-start-delay-seconds = from the intended start of a request to its real one, where there was room for it: the generator's own delay, which the latency holds and the service time does not; absent in a closed loop
metric-dns-truncated = responses over UDP that were cut to fit; a resolver would repeat such a query over TCP, this load does not
metric-dns-unexpected-messages = messages that answer no query under way: late, repeated, or from elsewhere
metric-dns-unreachable = times that the server's host said that nothing listens on the port
metric-dns-unstarted-queries = queries whose time came and that were never sent, because as many as allowed were unanswered until the end; without a rate, those that could not be tried in the time in which none was answered, by the pace of the answers
metric-dns-window-full-ratio = share of queries that had to wait because as many as --window allows were unanswered

## sql
metric-sql-acknowledged = commits of transactions with a mark that the server acknowledged, warm-up included
metric-sql-asked-per-second = rate that was asked for; absent in a closed loop
metric-sql-attempts = tries of transactions, successful or not
metric-sql-best-rate-per-second = highest rate that kept the bounds of --find, confirmed by a fresh run
metric-sql-broken-conditions = conditions on the tables that do not hold at the end
metric-sql-cancelled-at-end = transactions under way when the load was ended; they are neither counted nor errors
metric-sql-client-cpu-ratio = CPU time of the busiest load thread over elapsed time, 1 = one core
metric-sql-client-cpu-seconds-per-transaction = CPU time of the load's threads over the transactions that they carried out, warm-up included
metric-sql-client-wait-ratio = share of time that a load thread was ready to run but had no CPU
metric-sql-connect-seconds = time to connect again and prepare the statements, sessions made during the load
metric-sql-deadlocks = tries that the server ended to resolve a deadlock (SQLSTATE 40P01, MySQL 1213)
metric-sql-duplicated-marks = marks that are in the database more than once at the end
metric-sql-error-ratio = errors and unstarted transactions over all that were due; in series: errors over the transactions that ended in the interval
metric-sql-errors = transactions that failed for good: refused by the server, without an answer in time, or whose session broke
metric-sql-kept-conditions = conditions on the tables that hold at the end
metric-sql-late-ratio = share of transactions that began more than 1 ms after their intended start although a session was free
metric-sql-latency-p50-seconds = median of the latency over the interval
metric-sql-latency-p99-seconds = 99th percentile of the latency over the interval
metric-sql-latency-seconds = from the intended start of a transaction to the answer to its last statement, further tries included; in the summary with .min, .mean, .p50, .p90, .p99, .p999 and .max
metric-sql-lock-timeouts = tries that got no lock in time (SQLSTATE 55P03, MySQL 1205, SQLite's busy)
metric-sql-lost-acknowledged = acknowledged commits whose marks are not in the database at the end: 0 on a server that keeps what it acknowledges
metric-sql-lost-sessions = sessions that ended during the load
metric-sql-made-connections = sessions made during the load, in place of those that were lost
metric-sql-open-connections = sessions on the database
metric-sql-pool-max = sessions of the pool; absent without --pool
metric-sql-pool-timeouts = transactions that failed because no session of the pool was free in time
metric-sql-pool-used = sessions of the pool that clients have, on average over the interval; in the result: over the load; absent without --pool
metric-sql-pool-wait-seconds = wait of a transaction for a session of the pool, which the latency holds; absent without --pool
metric-sql-pool-wait-mean-seconds = mean wait for a session of the pool over the interval, of those who got one
metric-sql-pool-waiting = clients that wait for a session of the pool, on average over the interval; in the result: over the load; absent without --pool
metric-sql-ports-exhausted = sessions that could not be made because no local port was left
metric-sql-round-trip-seconds = latency of each transaction by itself
metric-sql-serialization-failures = tries that the server could not put in order with others (SQLSTATE 40001)
metric-sql-service-seconds = from the moment that a transaction really began to its end; equals the latency in a closed loop
metric-sql-setting = 1 for each setting of the database in force when the load begins; labels name and value, and commits (kept, at-risk) for those that decide whether an acknowledged commit outlives a crash
metric-sql-start-delay-seconds = from the intended start of a transaction to its real one, where a session was free: the generator's own delay, which the latency holds and the service time does not; absent in a closed loop
metric-sql-transactions = transactions that the server acknowledged, warm-up not counted
metric-sql-transactions-per-second = those transactions over the time of the load (group.load_seconds), connecting not counted; in series: over the interval
metric-sql-unstarted-transactions = transactions whose time came and that never began, because all sessions were busy until the end; without a rate, those that could not be tried in the time in which none succeeded, by the pace of the others
metric-sql-window-full-ratio = share of transactions that had to wait for a free session

## dbt1
metric-dbt1-admin-confirm = Admin Confirm interactions that were carried out
metric-dbt1-admin-confirm-seconds = latency of Admin Confirm interactions
metric-dbt1-admin-request = Admin Request interactions that were carried out
metric-dbt1-admin-request-seconds = latency of Admin Request interactions
metric-dbt1-best-sellers = Best Sellers interactions that were carried out
metric-dbt1-best-sellers-seconds = latency of Best Sellers interactions
metric-dbt1-bt-per-second = interactions per second that succeeded, of all kinds
metric-dbt1-buy-confirm = Buy Confirm interactions that were carried out
metric-dbt1-buy-confirm-seconds = latency of Buy Confirm interactions
metric-dbt1-buy-request = Buy Request interactions that were carried out
metric-dbt1-buy-request-seconds = latency of Buy Request interactions
metric-dbt1-customer-registration = Customer Registration interactions that were carried out
metric-dbt1-customer-registration-seconds = latency of Customer Registration interactions
metric-dbt1-customers = customers of the shop before the load
metric-dbt1-home = Home interactions that were carried out
metric-dbt1-home-seconds = latency of Home interactions
metric-dbt1-mix-off-ratio = largest difference between the share of an interaction and that of its mix
metric-dbt1-new-products = New Products interactions that were carried out
metric-dbt1-new-products-seconds = latency of New Products interactions
metric-dbt1-order-display = Order Display interactions that were carried out
metric-dbt1-order-display-seconds = latency of Order Display interactions
metric-dbt1-order-inquiry = Order Inquiry interactions that were carried out
metric-dbt1-order-inquiry-seconds = latency of Order Inquiry interactions
metric-dbt1-product-detail = Product Detail interactions that were carried out
metric-dbt1-product-detail-seconds = latency of Product Detail interactions
metric-dbt1-search-request = Search Request interactions that were carried out
metric-dbt1-search-request-seconds = latency of Search Request interactions
metric-dbt1-search-results = Search Results interactions that were carried out
metric-dbt1-search-results-seconds = latency of Search Results interactions
metric-dbt1-shopping-cart = Shopping Cart interactions that were carried out
metric-dbt1-shopping-cart-seconds = latency of Shopping Cart interactions

## dbt2
metric-dbt2-deliveries = Delivery transactions that were carried out
metric-dbt2-delivery-seconds = latency of Delivery transactions
metric-dbt2-new-order-seconds = latency of New-Order transactions
metric-dbt2-new-orders = New-Order transactions that were carried out, those that were rolled back as planned included
metric-dbt2-new-orders-per-minute = New-Order transactions per minute of the load, those that were rolled back as planned included
metric-dbt2-order-status-seconds = latency of Order-Status transactions
metric-dbt2-order-statuses = Order-Status transactions that were carried out
metric-dbt2-pace-ratio = new orders per minute over the most that the terminals could give at their pace; absent without one
metric-dbt2-payment-seconds = latency of Payment transactions
metric-dbt2-payments = Payment transactions that were carried out
metric-dbt2-rolled-back = New-Order transactions that were rolled back as planned: 1 % name an item that does not exist
metric-dbt2-skipped-districts = districts in which a Delivery found no order to deliver
metric-dbt2-stock-level-seconds = latency of Stock-Level transactions
metric-dbt2-stock-levels = Stock-Level transactions that were carried out
metric-dbt2-warehouses = warehouses in the database: each has 10 districts, 30,000 customers and 100,000 items in stock

## dbt3
metric-dbt3-composite = geometric mean of power and throughput
metric-dbt3-power = queries per hour of one stream, times the scale factor: 3600 over the geometric mean of the seconds of 22 queries and two refreshes; absent when one of them failed
metric-dbt3-query01 = answers to query 1: totals of all lines shipped until a day
metric-dbt3-query01-seconds = time of query 1: totals of all lines shipped until a day
metric-dbt3-query02 = answers to query 2: who sells a part at a region's lowest price
metric-dbt3-query02-seconds = time of query 2: who sells a part at a region's lowest price
metric-dbt3-query03 = answers to query 3: the most valuable orders that were not shipped on a day
metric-dbt3-query03-seconds = time of query 3: the most valuable orders that were not shipped on a day
metric-dbt3-query04 = answers to query 4: orders with a line that came too late
metric-dbt3-query04-seconds = time of query 4: orders with a line that came too late
metric-dbt3-query05 = answers to query 5: what suppliers sold to customers of their own nation
metric-dbt3-query05-seconds = time of query 5: what suppliers sold to customers of their own nation
metric-dbt3-query06 = answers to query 6: what small discounts cost in a year
metric-dbt3-query06-seconds = time of query 6: what small discounts cost in a year
metric-dbt3-query07 = answers to query 7: what two nations sold to each other
metric-dbt3-query07-seconds = time of query 7: what two nations sold to each other
metric-dbt3-query08 = answers to query 8: a nation's share of a region's purchases
metric-dbt3-query08-seconds = time of query 8: a nation's share of a region's purchases
metric-dbt3-query09 = answers to query 9: profit with parts of some name
metric-dbt3-query09-seconds = time of query 9: profit with parts of some name
metric-dbt3-query10 = answers to query 10: customers who returned the most
metric-dbt3-query10-seconds = time of query 10: customers who returned the most
metric-dbt3-query11 = answers to query 11: parts that make up a notable share of a nation's stock
metric-dbt3-query11-seconds = time of query 11: parts that make up a notable share of a nation's stock
metric-dbt3-query12 = answers to query 12: late lines of two ways of shipping
metric-dbt3-query12-seconds = time of query 12: late lines of two ways of shipping
metric-dbt3-query13 = answers to query 13: how many customers have so many orders
metric-dbt3-query13-seconds = time of query 13: how many customers have so many orders
metric-dbt3-query14 = answers to query 14: share of bargains in what was shipped in a month
metric-dbt3-query14-seconds = time of query 14: share of bargains in what was shipped in a month
metric-dbt3-query15 = answers to query 15: the supplier who shipped the most in a quarter
metric-dbt3-query15-seconds = time of query 15: the supplier who shipped the most in a quarter
metric-dbt3-query16 = answers to query 16: suppliers without complaints per kind of part
metric-dbt3-query16-seconds = time of query 16: suppliers without complaints per kind of part
metric-dbt3-query17 = answers to query 17: a year's revenue of small orders
metric-dbt3-query17-seconds = time of query 17: a year's revenue of small orders
metric-dbt3-query18 = answers to query 18: the largest orders
metric-dbt3-query18-seconds = time of query 18: the largest orders
metric-dbt3-query19 = answers to query 19: revenue of three kinds of parts that were handed over
metric-dbt3-query19-seconds = time of query 19: revenue of three kinds of parts that were handed over
metric-dbt3-query20 = answers to query 20: who has more in stock than half of a year's shipments
metric-dbt3-query20-seconds = time of query 20: who has more in stock than half of a year's shipments
metric-dbt3-query21 = answers to query 21: suppliers who alone kept orders waiting
metric-dbt3-query21-seconds = time of query 21: suppliers who alone kept orders waiting
metric-dbt3-query22 = answers to query 22: customers with money who never ordered
metric-dbt3-query22-seconds = time of query 22: customers with money who never ordered
metric-dbt3-refresh-in = times that it was carried out, first refresh: new orders come in
metric-dbt3-refresh-in-seconds = time of first refresh: new orders come in
metric-dbt3-refresh-out = times that it was carried out, second refresh: the same orders go
metric-dbt3-refresh-out-seconds = time of second refresh: the same orders go
metric-dbt3-scale-factor = scale factor of the database: 1 has 6,000,000 lines of 1,500,000 orders
metric-dbt3-streams = streams of queries in the throughput test
metric-dbt3-throughput = queries per hour of all streams together, times the scale factor; absent when one of them failed
metric-dbt3-throughput-seconds = from the first begin to the last end of a query or refresh in the throughput test

## sqlmix
metric-sqlmix-errors = transactions of one name that failed for good
metric-sqlmix-errors-per-second = those failures over the interval
metric-sqlmix-latency-p50-seconds = median of that latency over the interval
metric-sqlmix-latency-p99-seconds = 99th percentile of that latency over the interval
metric-sqlmix-latency-seconds = from the intended start of a transaction of one name to the answer to its last statement, further tries included
metric-sqlmix-transactions = transactions of one name that the server acknowledged, warm-up not counted
metric-sqlmix-transactions-per-second = those transactions over the time of the load; in series: over the interval

## tpcb
metric-tpcb-scale = branches in the database: each has 10 tellers and 100,000 accounts
metric-tpcb-tps = transactions per second, connecting not counted: the number that pgbench calls tps

## group
metric-group-start-late-seconds = first send of a flow minus the agreed start, on the sender's own clock
metric-group-load-seconds = time over which the rates of a flow are counted: from its first intended start after the warm-up to the end of the load as planned, or as an amount or the operator ended it; longer where what had queued up went on after that
metric-group-first-through-seconds = from the same start to the first answer or arrival of a flow
metric-group-last-through-seconds = from the same start to the last answer or arrival of a flow
metric-group-failures = requests of a load that failed so far, each reason by itself: its labels say flow, code and message; in series alone
metric-group-hosts = hosts of the run, the one that gives the commands included when it takes part
metric-group-start-lead-seconds = how far ahead of the order the start lay, in the phase with the longest lead: 100 ms, twice what a command to all took just before, and four times the largest clock error
metric-group-start-spread-seconds = how much later each flow began than the first one of its phase; in the summary with .p50 and .max
metric-group-pairs = directed pairs of hosts that met in a check of a group
metric-group-failed-pairs = pairs of them that did not keep what was expected, or of which nothing came through
metric-group-dead-pairs = pairs of them of which nothing came through in at least one layer
metric-group-slowest-pair-bits-per-second = payload per second that one connection of the slowest pair carried
metric-group-median-pair-bits-per-second = the same of the pair in the middle
metric-group-worst-pair-latency-seconds = time within which the pair with the latest answers got 99 % of them
metric-group-worst-pair-loss-ratio = share of the datagrams that the pair with the largest loss lost
metric-group-mesh-bits-per-second = payload per second that all hosts of a group carried together when each sent to every other one at once
metric-group-mesh-fairness-ratio = Jain's fairness index of the speeds of those connections: 1 when all are equal
metric-group-mesh-loss-ratio = share of the datagrams lost when each host sent to every other one at once
metric-group-clock-drift-ratio = seconds per second that a host's clock gains or loses against the controller's; in the summary with .max
metric-group-clock-drift-error-ratio = that drift is right within this
metric-group-clock-error-seconds = how far the offset of a host's clock may be wrong; in the summary with .max

## host
metric-host-cpu-ratio = share of each core's time by state; labels core (all, 0, 1, …) and state (user, nice, system, irq, softirq, steal, iowait, idle)
metric-host-cpu-frequency-hertz = current clock of each core; label core
metric-host-context-switches-per-second = context switches on the whole host
metric-host-dropped-packets = packets that the kernel dropped since the run's start, as its trace point kfree_skb tells them; labels reason (NETFILTER_DROP, SOCKET_RCVBUFF, …, unread: without reason) and function, of all namespaces
metric-host-interrupts-per-second = interrupts on the whole host
metric-host-runnable-threads = threads running or waiting for a CPU
metric-host-load-1min = load average over one minute
metric-host-memory-available-bytes = memory that can be used without swapping (MemAvailable)
metric-host-memory-total-bytes = memory of the host
metric-host-swap-used-bytes = swap in use
metric-host-pressure-ratio = share of time that some or all tasks stalled; labels resource (cpu, memory, io) and kind (some, full)
metric-host-nic-receive-bytes-per-second = bytes received; label device
metric-host-nic-send-bytes-per-second = bytes sent; label device
metric-host-nic-receive-packets-per-second = packets received; label device
metric-host-nic-send-packets-per-second = packets sent; label device
metric-host-nic-up = 1 while an interface is switched on and its link is there, else 0; label device
metric-host-nic-receive-drops = packets dropped on receive since the run's start; label device
metric-host-nic-send-drops = packets dropped on send since the run's start; label device
metric-host-nic-errors = receive and send errors since the run's start; label device
metric-host-udp-receive-buffer-errors = UDP RcvbufErrors since the run's start: datagrams that found a full socket
metric-host-udp-send-buffer-errors = UDP SndbufErrors since the run's start
metric-host-udp-no-port = UDP NoPorts since the run's start: datagrams for a port on which no socket is open
metric-host-udp-checksum-errors = UDP InCsumErrors since the run's start
metric-host-udp-in-per-second = datagrams delivered to sockets
metric-host-udp-out-per-second = datagrams sent by sockets
metric-host-ip-reassembly-failures = IP fragments that could not be put together since the run's start
metric-host-tcp-segments-in-per-second = TCP segments received
metric-host-tcp-segments-out-per-second = TCP segments sent
metric-host-tcp-retransmits = TCP segments retransmitted since the run's start
metric-host-tcp-listen-overflows = connections dropped because an accept queue was full, since the run's start
metric-host-tcp-listen-drops = connections dropped before they were accepted, for any reason, since the run's start
metric-host-listen-queue-depth = connections that wait to be accepted from a listening TCP socket; labels address and port
metric-host-listen-queue-limit = connections that may wait to be accepted from a listening TCP socket; labels address and port
metric-host-tcp-syn-retransmits = TCP SYN segments retransmitted because no answer came, since the run's start
metric-host-protocol-events = events that the kernel's IP, ICMP, UDP and TCP counted since the run's start, of each counter that grew; label counter (UdpInErrors, TcpExtTCPTimeouts, …), as nstat names it
metric-host-conntrack-entries = connections that the kernel's connection tracking knows
metric-host-conntrack-limit = connections that it may know (net.netfilter.nf_conntrack_max)
metric-host-conntrack-drops = packets dropped, and connections forgotten before their time, by the kernel's connection tracking since the run's start; label reason (insert_failed, drop, early_drop)
metric-host-tcp-connections = TCP sockets with a local port, listening ones included
metric-host-tcp-time-wait-connections = TCP connections that are over and keep their local port for a minute
metric-host-tcp-local-ports = local ports that the system may give to outgoing connections (net.ipv4.ip_local_port_range)
metric-host-softnet-drops = packets dropped because a core's backlog queue was full, since the run's start; label core
metric-host-softnet-time-squeezes = times that a core's receive loop ran out of budget, since the run's start; label core
metric-host-qdisc-backlog-bytes = bytes that wait in the queueing discipline of a device; labels device and kind
metric-host-qdisc-backlog-packets = packets that wait in the queueing discipline of a device; labels device and kind
metric-host-qdisc-drops = packets that the queueing discipline of a device dropped since the run's start; labels device and kind
metric-host-qdisc-overlimits = times that the queueing discipline of a device held a packet back or dropped it because its rate was used up, since the run's start; labels device and kind
metric-host-qdisc-requeues = packets that the queueing discipline of a device took back because the device had no room, since the run's start; labels device and kind
metric-host-disk-read-bytes-per-second = bytes read; label device
metric-host-disk-write-bytes-per-second = bytes written; label device
metric-host-disk-queue-depth = mean requests in flight over the interval; label device

## self
metric-self-cpu-ratio = CPU time of each thread of sokudo over elapsed time, 1 = one core; label thread
metric-self-wait-ratio = time that each thread was runnable but had no CPU, over elapsed time; label thread
metric-self-throttled-ratio = share of the periods in which a quota of CPU time of sokudo's control groups was used up; of the group where it is highest
metric-self-core = number of the core that each thread of sokudo ran on last, where one thread has that name; label thread
metric-self-resident-bytes = resident memory of the process

## process
metric-process-cores = CPUs that the process may run on (its affinity)
metric-process-cpu-ratio = CPU time of the process over elapsed time, 1 = one core; label mode (user, system)
metric-process-resident-bytes = resident memory of the process
metric-process-threads = threads of the process
metric-process-open-files = file descriptors that the process has open
metric-process-context-switches-per-second = context switches of the process's threads; label kind (voluntary, involuntary)
metric-process-read-bytes-per-second = bytes that storage had to be read for the process
metric-process-write-bytes-per-second = bytes that the process had written to storage
metric-process-open-files-limit = file descriptors that the process may have open (RLIMIT_NOFILE)
metric-process-busiest-thread-ratio = CPU time of the thread of the process that used most over elapsed time, 1 = one core
metric-process-wait-ratio = time that threads of the process were ready to run but had no CPU over elapsed time, all threads together
metric-process-throttled-ratio = share of time in which the CPU quota of the process's control group, or of one above it, kept it from running
metric-process-stopped-ratio = 1 while the process is stopped by a signal or a debugger (states T and t), else 0
metric-process-matches = processes that are what was asked for; 0 when there is none; label by

## openmetrics
metric-openmetrics-up = 1 when the endpoint answered with metrics, 0 when it did not
metric-openmetrics-scrape-seconds = time until the endpoint had answered, or was given up
metric-openmetrics-samples = samples in the endpoint's answer
metric-openmetrics-left-out-samples = samples of the answer that found no room among the series

## target
metric-target-up = 1 when the target's admin port answered, 0 when it did not
metric-target-accept-queue-depth = completed connections that the server has not accepted
metric-target-accept-queue-limit = completed connections that may wait to be accepted
metric-target-connections-open = connections that the server has open
metric-target-connections-max = connections that it opens at most
metric-target-connections-turned-away = connections that were reset or refused because there was no room, since the run's start
metric-target-connections-accept-errors = times that a connection could not be accepted, as with too many open files, since the run's start
metric-target-workers-active = threads that carry a request out
metric-target-workers-size = worker threads
metric-target-workers-max = worker threads at most
metric-target-workers-queued = requests that wait for a thread
metric-target-workers-rejected = requests that found the dispatch queue full, since the run's start
metric-target-workers-timeouts = requests that waited too long for a thread, since the run's start
metric-target-workers-wait-seconds-mean = mean wait for a thread, over the requests that got one in the interval
metric-target-workers-service-seconds-mean = mean time of a thread for a request, over the requests that ended in the interval
metric-target-workers-done-per-second = requests that were answered
metric-target-pool-used = connections to the database in use
metric-target-pool-size = connections to the database that are open
metric-target-pool-max = connections to the database at most
metric-target-pool-waiting = requests that wait for a connection to the database
metric-target-pool-timeouts = waits for a connection to the database that were given up, since the run's start
metric-target-pool-errors = connections that the database did not give, or that broke, since the run's start
metric-target-pool-wait-seconds-mean = mean wait for a connection to the database, over the acquisitions of the interval
metric-target-pool-hold-seconds-mean = mean time that a connection to the database was held, over those given back in the interval

## postgres
metric-postgres-up = 1 when the server told its state, 0 when it did not
metric-postgres-sessions = sessions by what they do or wait for, mean over about ten looks a second; label class: CPU (at work), Client, IO, Lock, LWLock, IPC, Timeout, other. Sessions idle for more than 5 s are left out
metric-postgres-wait-sessions = sessions in each wait event, mean over the looks of the interval; label event, such as IO/WALSync
metric-postgres-client-read-ratio = share of the sessions that wait for the next statement of their client (ClientRead)
metric-postgres-checkpointing-ratio = share of the looks at which a checkpoint was under way; absent where the user may not see the checkpointer
metric-postgres-row-queue-sessions = sessions that wait for rows that others have changed, by the table that their statement names, mean over the looks; label relation
metric-postgres-row-queue-holders = transactions that those sessions wait for, mean over the looks; label relation
metric-postgres-cpu-cores = cores that the sessions used, 1 = one core; only where the server runs on the observing machine
metric-postgres-locks-waiting = locks that are waited for, on the whole server
metric-postgres-commits-per-second = transactions committed on the database, the monitor's own not counted
metric-postgres-rollbacks-per-second = transactions rolled back on the database
metric-postgres-blocks-hit-per-second = blocks found in shared buffers
metric-postgres-blocks-read-per-second = blocks read into shared buffers, from the system's cache or the disk
metric-postgres-hit-ratio = share of the blocks that were found in shared buffers
metric-postgres-temp-bytes-per-second = written to temporary files
metric-postgres-deadlocks = deadlocks on the database, since the run's start
metric-postgres-checkpoints = checkpoints that were completed, since the run's start
metric-postgres-checkpoints-requested = checkpoints that were requested, as by WAL above max_wal_size, since the run's start
metric-postgres-checkpoint-buffers-per-second = buffers written by checkpoints
metric-postgres-backend-buffers-per-second = buffers that sessions had to write themselves
metric-postgres-wal-bytes-per-second = written to the log, on the whole server; from version 14 on
metric-postgres-wal-full-pages-per-second = full page images in the log, of pages changed for the first time since a checkpoint
metric-postgres-wal-syncs-per-second = times that the log was synchronized with its disk
metric-postgres-wal-sync-seconds-mean = mean time of one of them in the interval; only with track_wal_io_timing
metric-postgres-io-reads-per-second = reads of data files by sessions; from version 16 on
metric-postgres-io-writes-per-second = writes of data files by all processes; from version 16 on
metric-postgres-io-fsyncs-per-second = synchronizations of data files by all processes; from version 16 on

## mariadb
metric-mariadb-up = 1 when the server told its state, 0 when it did not
metric-mariadb-sessions = sessions by what they do or wait for, mean over about ten looks a second; label class: CPU (at work), Client, Commit, Lock, other. Sessions idle for more than 5 s are left out
metric-mariadb-state-sessions = sessions in each state of the process list, mean over the looks of the interval; label state
metric-mariadb-client-wait-ratio = share of the sessions that wait for the next statement of their client (Sleep)
metric-mariadb-statements-per-second = statements of clients (Questions)
metric-mariadb-commits-per-second = COMMIT statements (Com_commit)
metric-mariadb-rollbacks-per-second = ROLLBACK statements (Com_rollback)
metric-mariadb-threads-running = threads that are not asleep
metric-mariadb-pool-requests-per-second = pages asked of the buffer pool
metric-mariadb-pool-reads-per-second = of those, pages that had to be read from the disk
metric-mariadb-hit-ratio = share of the pages that were found in the buffer pool
metric-mariadb-row-locks-waiting = transactions that wait for a row at this moment
metric-mariadb-row-lock-waits-per-second = times that a transaction had to wait for a row
metric-mariadb-row-lock-wait-seconds-mean = mean wait for a row, over the waits that ended in the interval
metric-mariadb-deadlocks = deadlocks of InnoDB, since the run's start
metric-mariadb-log-bytes-per-second = written to the redo log
metric-mariadb-log-syncs-per-second = times that the redo log was synchronized with its disk
metric-mariadb-log-waits = waits because the log buffer was too small, since the run's start
metric-mariadb-checkpoint-age-bytes = redo log written since the last checkpoint
metric-mariadb-disk-tables-per-second = temporary tables made on disk
metric-mariadb-log-io-ratio = time of all threads in reads, writes and synchronizations of the redo log over elapsed time, 1 = one thread all the time; only with performance_schema
metric-mariadb-data-io-ratio = the same of InnoDB's data files; only with performance_schema

## clock
metric-clock-offset-seconds = host clock minus controller clock
metric-clock-drift-ratio = seconds that the host's clock gains per second of the controller's, by the line through all comparisons
metric-clock-drift-error-ratio = the drift is right within this
metric-clock-error-seconds = half of the smallest round trip: the offset is right within this

## knee
metric-knee-users = users (connections, streams, or the value of the option that was raised) up to which requests do not queue, by the rule that was asked for; absent when there is no knee in the range
metric-knee-users-low = lower end of the 95 % interval of knee.users
metric-knee-users-high = upper end of the 95 % interval of knee.users
metric-knee-most-per-second = highest throughput that lasts: the mean of the saturated levels
metric-knee-alone-seconds = mean response time at the lowest level
metric-knee-think-seconds = pause between two requests of a user, which Little's law leaves at the lowest level
metric-knee-residual-ratio = largest distance from Little's law over the levels: throughput times (response time + pause) over users, minus 1; far from 0 the runs were too short or requests were lost from sight
metric-knee-hysteresis-ratio = share by which at least two levels carried less on the way down than on the way up, beyond the spread of their runs
metric-knee-levels = different numbers of users that were tried

## sweep
metric-sweep-steps = steps of the sweep
metric-sweep-failed-steps = steps of the sweep that gave no numbers
metric-sweep-knee-step = number of the step at the knee, by rising load from 1; absent when the range has no knee
metric-sweep-knee-value = value of the swept option at the knee, in its base unit (events, bits or bytes per second, bytes, nanoseconds)

## repeat
metric-repeat-runs = runs of the measurement
metric-repeat-failed-runs = runs of the measurement that gave no rate

## tcp
metric-tcp-congestion-window-segments = segments that may be unacknowledged (tcpi_snd_cwnd)
metric-tcp-congestion-window-bytes = the same in bytes, as other tools report it (imports)
metric-tcp-slow-start-threshold-segments = congestion window at which slow start ends; absent before the first loss
metric-tcp-smoothed-rtt-seconds = round-trip time as the kernel smooths it (tcpi_rtt)
metric-tcp-rtt-variation-seconds = mean deviation of the round-trip time (tcpi_rttvar)
metric-tcp-retransmitted-segments = segments retransmitted since the connection began
metric-tcp-needless-segments = retransmitted segments of which the peer says that it had them already (tcpi_dsack_dups)
metric-tcp-reorderings = times that the kernel saw acknowledgements of segments out of order (tcpi_reord_seen)
metric-tcp-unacknowledged-segments = segments sent and not acknowledged yet
metric-tcp-delivery-rate-bytes-per-second = latest rate at which the peer acknowledged bytes
metric-tcp-pacing-rate-bytes-per-second = rate at which the kernel paces sending; absent without pacing
metric-tcp-busy-seconds = time with data to send or under way
metric-tcp-receive-window-limited-seconds = part of it in which the peer's receive window was full
metric-tcp-send-buffer-limited-seconds = part of it in which the own send buffer was too small
metric-tcp-min-rtt-seconds = lowest round-trip time lately, as the kernel keeps it (tcpi_min_rtt)
metric-tcp-lost-segments = segments that the kernel takes for lost now
metric-tcp-sent-segments = segments with data sent since the connection began, retransmitted ones included
metric-tcp-segment-bytes = payload of a full segment (tcpi_snd_mss)
metric-tcp-not-sent-bytes = bytes written and not sent yet
metric-tcp-peer-window-bytes = receive window that the peer offers (tcpi_snd_wnd)
metric-tcp-own-window-bytes = receive window that this end offers (tcpi_rcv_wnd)
metric-tcp-receive-queue-bytes = bytes that have arrived and that the program has not read yet (SIOCINQ)
metric-tcp-send-queue-bytes = bytes that the program has written and that are not acknowledged yet (SIOCOUTQ)
metric-tcp-delayed-ack-seconds = how long this end holds back an acknowledgement at most (tcpi_ato); absent before it held one back

## datagram
metric-datagram-sent-packets = datagrams that the kernel accepted from the sender
metric-datagram-received-packets = distinct datagrams that reached the receiving program, intact
metric-datagram-delivered-bits-per-second = delivered_bytes_per_second in bits; in series: over the interval
metric-datagram-loss-ratio = missing over sent; in series: over the interval, from the sequence numbers seen
metric-datagram-lost-at-sender-packets = refused by the sender's kernel (ENOBUFS, EAGAIN), not counted as sent
metric-datagram-lost-on-path-packets = missing datagrams that no counter of either host explains
metric-datagram-lost-at-receiver-host-packets = missing datagrams explained by drops elsewhere in the receiving host (softnet backlog, UDP errors without a socket drop)
metric-datagram-lost-at-receiver-socket-packets = missing datagrams explained by drops at the receiving socket
metric-datagram-out-of-order-packets = arrivals with a sequence number below one that arrived earlier (RFC 4737 type-P-reordered)
metric-datagram-duplicate-packets = arrivals of a sequence number that had arrived before
metric-datagram-jitter-seconds = interarrival jitter as in RFC 3550 section 6.4.1, at the end of the run
metric-datagram-sender-cpu-ratio = CPU time of the sending thread over elapsed time
metric-datagram-receiver-cpu-ratio = CPU time of the receiving thread over elapsed time
metric-datagram-sent-bytes = bytes of sent datagrams without IP and UDP headers
metric-datagram-received-bytes = bytes of received datagrams without IP and UDP headers
metric-datagram-missing-packets = sent and never received; head and tail of the run included
metric-datagram-corrupted-packets = arrivals whose header check or verified bytes were wrong
metric-datagram-foreign-packets = arrivals on the test's port that belong to no flow of it
metric-datagram-success-ratio = received_packets / sent_packets
metric-datagram-sent-packets-per-second = sent datagrams over the time of the load (group.load_seconds)
metric-datagram-sent-bytes-per-second = bytes of sent datagrams, IP and UDP headers not counted, over the same time
metric-datagram-delivered-packets-per-second = received datagrams over the time of the load (group.load_seconds)
metric-datagram-delivered-bytes-per-second = bytes of received datagrams, IP and UDP headers not counted, over the same time
metric-datagram-goodput-bytes-per-second = payload bytes of received datagrams (see --payload) over the same time
metric-datagram-sent-wire-bits-per-second = sent datagrams as frames of Ethernet, over the same time: each fragment with its Ethernet, IP and UDP headers, 14 B of Ethernet included, preamble, checksum and gap not; UDP only
metric-datagram-delivered-wire-bits-per-second = the same of received datagrams
metric-datagram-asked-packets-per-second = rate that was asked for; absent when unlimited
metric-datagram-best-rate-bytes-per-second = highest delivered rate that kept loss within the bound, confirmed by a fresh run
metric-datagram-best-rate-packets-per-second = the same in datagrams
metric-datagram-best-rate-loss-ratio = loss in the run that confirmed the best rate
metric-datagram-refused-sends = send calls that the kernel refused with ENOBUFS or EAGAIN
metric-datagram-unreachable-errors = port-unreachable or host-unreachable errors that came back to the sender
metric-datagram-mean-send-batch-packets = datagrams per send call
metric-datagram-mean-receive-batch-packets = datagrams per receive call that returned any
metric-datagram-reordering-extent-mean-packets = mean RFC 4737 reordering extent of the out-of-order arrivals
metric-datagram-vendor-mean-offset-packets = mean distance between arrival position and sequence position of out-of-order arrivals, as the datagram test prints it
metric-datagram-gaps = runs of numbers that were jumped over, those before the first and behind the last arrival included
metric-datagram-gap-mean-packets = numbers per gap, mean
metric-datagram-gap-max-packets = numbers in the largest gap
metric-datagram-gap-mean-seconds = time between the arrivals on both sides of a gap, mean; absent where no gap lies between two arrivals
metric-datagram-gap-max-seconds = the same, largest
metric-datagram-sender-cpu-seconds-per-packet = CPU time of the sending thread per sent datagram
metric-datagram-receiver-cpu-seconds-per-packet = CPU time of the receiving thread per received datagram
metric-datagram-sender-wait-ratio = time that the sending thread was runnable but had no CPU, over elapsed time
metric-datagram-receiver-wait-ratio = time that the receiving thread was runnable but had no CPU, over elapsed time
metric-datagram-late-ratio = datagrams sent more than 1 ms after their intended time, over those sent; absent when unlimited
metric-datagram-receive-buffer-asked-bytes = receive buffer asked for
metric-datagram-receive-buffer-granted-bytes = receive buffer that the kernel granted (Linux reports twice the usable size; halved here)
metric-datagram-send-buffer-asked-bytes = send buffer asked for
metric-datagram-send-buffer-granted-bytes = send buffer that the kernel granted (halved on Linux as above)
metric-datagram-size-bytes = mean datagram size without IP and UDP headers
metric-datagram-path-mtu-bytes = MTU of the interface towards the peer, or of the path where the kernel knows it
metric-datagram-processed-bytes = bytes of each datagram that the receiver verified
metric-datagram-elapsed-seconds = receiver's time from the first to the last arrival
metric-datagram-interarrival-seconds = time between receive calls that returned datagrams
metric-datagram-ack-rtt-seconds = round trip of sampled datagrams, the peer's holding time taken off
metric-datagram-lateness-seconds = real minus intended send time of paced datagrams
metric-datagram-reordering-extent-packets = RFC 4737 reordering extent of each out-of-order arrival
metric-datagram-loss-run-packets = length of each run of consecutive missing sequence numbers
metric-datagram-sent-bits-per-second = sent_bytes_per_second in bits; in series: over the interval

## probe
metric-probe-sent-packets = probes that the kernel accepted
metric-probe-answered-packets = probes whose answer came within the timeout
metric-probe-loss-up-ratio = lost on the way up over sent
metric-probe-loss-down-ratio = lost on the way down over answers sent
metric-probe-late-packets = probes whose answer came after the timeout: not lost, and not in any distribution
metric-probe-unsent-packets = probes left out because the sending thread woke up after the next one was due
metric-probe-jitter-up-seconds = jitter of the way up as in RFC 3550 section 6.4.1; needs no common clock
metric-probe-jitter-down-seconds = jitter of the way down as in RFC 3550 section 6.4.1; needs no common clock
metric-probe-clock-error-seconds = the difference of the two hosts' clocks is known within this; 0 = one clock; one-way delays below it are not shown
metric-probe-sender-cpu-ratio = CPU time of the sending thread over elapsed time
metric-probe-server-cpu-ratio = CPU time of the answering thread over elapsed time
metric-probe-lost-packets = probes without an answer
metric-probe-lost-up-packets = probes that never reached the far end
metric-probe-lost-down-packets = answers that never came back
metric-probe-answers-sent-packets = answers that the far end sent, one per arrival of a probe
metric-probe-answer-refused-packets = answers that the far end's kernel did not take
metric-probe-refused-packets = probes that the kernel did not take
metric-probe-duplicate-up-packets = arrivals at the far end of a probe that had arrived before
metric-probe-duplicate-down-packets = arrivals of an answer that had arrived before
metric-probe-out-of-order-up-packets = arrivals at the far end behind a later probe
metric-probe-out-of-order-down-packets = arrivals of an answer behind a later one
metric-probe-foreign-packets = arrivals on either end that are not a probe or answer of the flow
metric-probe-loss-ratio = lost over sent; in series: of the probes that left in the interval, without an answer in time
metric-probe-asked-packets-per-second = probes per second asked for
metric-probe-answered-packets-per-second = answered probes over the time of the load (group.load_seconds)
metric-probe-best-rate-packets-per-second = highest rate that kept the bounds of --find, confirmed by a fresh run
metric-probe-jitter-seconds = jitter of the round trips as in RFC 3550 section 6.4.1, at the end of the run; of several flows the largest
metric-probe-clock-drift-ratio = change of that difference per time, between before and after the load
metric-probe-sender-wait-ratio = time that the sending thread was runnable but had no CPU, over elapsed time
metric-probe-rtt-p50-seconds = median round trip of each interval
metric-probe-rtt-p99-seconds = 99th percentile of the round trips of each interval
metric-probe-each-rtt-seconds = round trips one by one, at the moment of departure (see --keep)
metric-probe-each-owd-up-seconds = delays up one by one; absent when half of them are below the clock error
metric-probe-each-owd-down-seconds = delays down one by one; absent when half of them are below the clock error
metric-probe-rtt-seconds = round trip, the far end's turn-around taken off
metric-probe-owd-seconds = one-way delay, both ways together; numbers below the clock error are left out
metric-probe-owd-up-seconds = one-way delay of the probes; numbers below the clock error are left out
metric-probe-owd-down-seconds = one-way delay of the answers; numbers below the clock error are left out
metric-probe-ipdv-seconds = difference of the round trips of consecutive probes, without sign (RFC 3393)
metric-probe-ipdv-up-seconds = difference of the delays up of consecutive probes, without sign; needs no common clock
metric-probe-ipdv-down-seconds = difference of the delays down of consecutive answers, without sign; needs no common clock
metric-probe-turnaround-seconds = time between a probe's arrival at the far end and its answer's departure
metric-probe-timer-error-seconds = departure of each probe behind its moment in the schedule
metric-probe-send-call-seconds = length of the send call
metric-probe-loss-run-up-packets = length of each run of consecutive probes lost on the way up
metric-probe-loss-run-down-packets = length of each run of consecutive answers lost on the way down

## bus
metric-bus-messages = messages that arrived where they were to go, warm-up not counted
metric-bus-messages-per-second = those messages over the time of the load (group.load_seconds); in series: over the interval
metric-bus-bytes-per-second = their bytes, headers of the messages included
metric-bus-bits-per-second = bytes_per_second in bits
metric-bus-sent-messages = messages handed over for sending, warm-up not counted
metric-bus-sent-bytes = their bytes, headers of the messages included
metric-bus-sent-per-second = messages handed over for sending, over the interval
metric-bus-sent-bytes-per-second = their bytes, over the interval
metric-bus-asked-per-second = rate that was asked for; absent without --rate
metric-bus-best-rate-per-second = highest rate that kept the bounds of --find, confirmed by a fresh run
metric-bus-answers = answers that came back
metric-bus-answers-per-second = answers that came back, over the interval
metric-bus-missing-messages = messages sent that did not arrive, warm-up included: their connection broke
metric-bus-unacknowledged-messages = messages sent whose arrival was not acknowledged
metric-bus-unanswered-messages = messages that asked for an answer and got none
metric-bus-unstarted-messages = messages whose time came and that were never sent; without a rate, those that could not be tried after the connection had broken, by the pace until then
metric-bus-relayed-messages = messages that a host of a chain handed on, warm-up included
metric-bus-errors = messages that failed without being meant to, and connections that failed before any message
metric-bus-error-ratio = errors over all messages that were due
metric-bus-connections = connections that were used
metric-bus-closed-connections = connections that the far end closed before the test was over
metric-bus-reset-connections = connections that were reset
metric-bus-silent-connections = connections on which nothing came back for longer than --timeout
metric-bus-undrained-connections = connections whose backlog did not drain at the end
metric-bus-foreign-connections = connections that brought something else than messages of this test
metric-bus-other-errors = connections that ended for another reason
metric-bus-response-latency-seconds = from the intended time of a measured message to its answer; in the summary with .min, .mean, .p50, .p90, .p99, .p999 and .max
metric-bus-response-p50-seconds = median of the response latency over the interval
metric-bus-response-p99-seconds = 99th percentile of the response latency over the interval
metric-bus-response-min-seconds = smallest response latency of the interval
metric-bus-response-mean-seconds = mean response latency of the interval
metric-bus-response-max-seconds = largest response latency of the interval
metric-bus-service-seconds = from the moment that a measured message was composed to its answer; equals the response latency without --rate
metric-bus-receipt-latency-seconds = from the moment that a measured message was composed to the receipt that covers it
metric-bus-receipt-mean-seconds = mean receipt latency of the interval
metric-bus-relay-delay-seconds = how long a host of a chain kept a message: from its last byte's arrival until the next connection had taken it
metric-bus-backlog-bytes = bytes under way without a receipt
metric-bus-backlog-peak-bytes = most bytes that were under way without a receipt, all flows together
metric-bus-backlog-peak-messages = most messages that were under way on one connection
metric-bus-backlog-ratio = share of time in which a sender waited for room in its window
metric-bus-backlog-events = how often a sender had to wait for room in its window
metric-bus-backlog-events-per-second = how often a sender had to wait for room in its window, over the interval
metric-bus-queue-bytes = bytes read that waited for a handling thread
metric-bus-queue-peak-bytes = most bytes that waited for handling threads, all flows together
metric-bus-queue-full-ratio = share of time in which a receiver stopped reading because too much waited to be handled
metric-bus-queue-full-events-per-second = how often a receiver stopped reading for that, over the interval
metric-bus-late-ratio = share of messages that left more than 1 ms after their intended time although there was room for them
metric-bus-window-full-ratio = share of messages that had to wait for room in the window
metric-bus-write-blocked-ratio = share of time in which the sender could not go on, its connection or its window being full
metric-bus-read-idle-ratio = share of time in which the receiving thread waited for data
metric-bus-sender-cpu-ratio = CPU time of the busiest sending thread over elapsed time, 1 = one core
metric-bus-sender-wait-ratio = share of time that a sending thread was ready to run but had no CPU
metric-bus-receiver-cpu-ratio = CPU time of the busiest receiving thread over elapsed time, 1 = one core
metric-bus-receiver-wait-ratio = share of time that a receiving thread was ready to run but had no CPU

## http
metric-http-requests = requests with a whole response of whatever status, warm-up not counted
metric-http-requests-per-second = those requests over the time of the load (group.load_seconds); in series: over the interval
metric-http-asked-per-second = rate that was asked for, on average over a schedule; absent in a closed loop
metric-http-best-rate-per-second = highest rate that kept the bounds of --find, confirmed by a fresh run
metric-http-latency-seconds = from the intended start of a request to the last byte of its response; in the summary with .min, .mean, .p50, .p90, .p95, .p99, .p999 and .max
metric-http-latency-p50-seconds = median of the latency over the interval
metric-http-latency-p99-seconds = 99th percentile of the latency over the interval
metric-http-service-seconds = from the moment that a request's turn really came to the last byte of its response; equals the latency in a closed loop
metric-http-start-delay-seconds = from the intended start of a request to its real one, where there was room for it: the generator's own delay, which the latency holds and the service time does not; absent in a closed loop
metric-http-round-trip-seconds = latency of each request by itself
metric-http-connect-seconds = time to connect, without looking up the name and without TLS
metric-http-handshake-seconds = time of the TLS handshake
metric-http-wait-seconds = from the last byte of a request to the first of its response
metric-http-read-seconds = from the first byte of a response to its last
metric-http-mean-queue-seconds = mean time between the intended and the real start of a request; this and the six that follow add up to the latency, in series over the interval
metric-http-mean-resolve-seconds = mean time that looking up the server's name took, over all requests
metric-http-mean-connect-seconds = mean time that connecting took, over all requests, also those on kept connections
metric-http-mean-tls-seconds = mean time that TLS handshakes took, over all requests, also those on kept connections
metric-http-mean-send-seconds = mean time to send a request
metric-http-mean-wait-seconds = mean time between the last byte of a request and the first of its response
metric-http-mean-read-seconds = mean time between the first byte of a response and its last
metric-http-errors = requests without a whole response
metric-http-failed-per-second = requests that failed over the interval: without a whole response, of status 400 and above, or against what the plan demands
metric-http-error-ratio = errors, unstarted requests and responses of status 400 and above over all requests that were due; in series: failed over ended ones of the interval
metric-http-unstarted-requests = requests whose time came and that were never sent, because no connection was free until the end; without a rate, those that could not be tried in the time in which none was answered, by the pace of the answers
metric-http-late-starts = requests that left more than 1 ms after their intended start although a connection was free: the generator's own lateness
metric-http-late-ratio = share of such requests
metric-http-window-full-ratio = share of requests that had to wait because every connection was busy
metric-http-active-users = users of a test plan that had begun and not ended; of a load on one URL the connections, times the streams of each, that had come and not left
metric-http-open-connections = connections; the most requests under way at a time are as many, times the streams of each
metric-http-rows = rows about single requests that a generator handed over for the file of results
metric-http-made-connections = connections that were made and served a request
metric-http-ports-exhausted = connections that could not be made because no local port was left
metric-http-sent-bytes = bytes of requests, head and body, before TLS
metric-http-head-bytes = bytes of the responses' heads, before TLS
metric-http-body-bytes = bytes of the responses' bodies, without the framing of chunks, as the server encoded them
metric-http-status-1xx = responses of status 101
metric-http-status-2xx = responses of status 200 to 299
metric-http-status-3xx = responses of status 300 to 399
metric-http-status-4xx = responses of status 400 to 499
metric-http-status-5xx = responses of status 500 to 599
metric-http-status-other = responses of other statuses
metric-http-failed-resolve = requests that failed while the server's name was looked up
metric-http-failed-connect = requests that failed while connecting
metric-http-failed-tls = requests that failed in the TLS handshake
metric-http-failed-send = requests that failed while they were sent
metric-http-failed-wait = requests that failed before the first byte of a response
metric-http-failed-read = requests that failed within the response
metric-http-refused = requests whose connection was refused: no program listens, or the server refuses callers
metric-http-resets = requests whose connection was reset
metric-http-timeouts = requests that were given up, in whatever stage
metric-http-closed-early = requests whose connection the server closed before the response was whole
metric-http-malformed = requests whose response broke the rules of HTTP, or our bounds on heads and trailers
metric-http-given-up = requests of HTTP/2 that the server gave up, alone or with their connection
metric-http-resent-requests = requests of HTTP/2 that were sent again because the server said that it had not begun them; latency counts from the first time
metric-http-status-429 = responses of status 429 (too many requests), the warm-up included
metric-http-status-503 = responses of status 503 (service unavailable), the warm-up included
metric-http-shortest-wait-seconds = shortest time from the begin of a request, on a connection that stood, to the first byte of its response of status below 400, the warm-up included
metric-http-mean-good-seconds = mean service time of responses of status below 400, the warm-up included; absent where all are
metric-http-mean-bad-seconds = mean service time of responses of status 400 and above, the warm-up included; absent where there is none
metric-http-unserved-connections = connections that the server's system accepted and whose first request was given up after more than 0.5 s without any response
metric-http-stalls = times that all requests stood still: requests were under way, and for at least 20 ms and a third of the longest such time none ended
metric-http-mean-stall-seconds = mean length of those times, without the time in which the generator itself did not run
metric-http-longest-stall-seconds = longest of those times
metric-http-stall-period-seconds = mean distance between the begins of two of them; absent where there is one only
metric-http-stall-irregularity-ratio = standard deviation of that distance over its mean: 0 = at even distances, about 1 = at random
metric-http-first-stall-seconds = begin of the first of them, from the first request on
metric-http-shorter-silences = times of at least 20 ms and a ninth of the longest in which no request ended, and which are not counted as stalls
metric-http-stalled-requests = requests that were under way when those times ended, all of them together
metric-http-compared-users = users whose mean service times on kept connections were compared; absent where none is slow
metric-http-slow-users = of them, users whose mean is at least 4 times that of the user in the middle, and 5 ms more
metric-http-slow-user-seconds = mean service time of the slow users
metric-http-usual-user-seconds = mean service time of the user in the middle
metric-http-path-lowest-seconds = lowest round trip of the connections that were read (tcpi_min_rtt): one of them every 10 ms
metric-http-path-mean-seconds = mean of their smoothed round trips (tcpi_rtt)
metric-http-path-sent-segments = segments with data that they sent, as far as they were read
metric-http-path-resent-ratio = share of these that were retransmissions
metric-http-path-received-segments = segments with data that they received, as far as they were read
metric-http-path-out-of-order-ratio = share of these that came out of order (tcpi_rcv_ooopack): after a lost one, or on another way
metric-http-path-window-ratio = share of the time with requests to send in which the server's receive window was full
metric-http-path-buffer-ratio = share of the time with requests to send in which the own send buffer was too small
metric-http-requests-per-cpu-second = responses, warm-up included, per second of CPU time that the event loops used
metric-http-client-cpu-ratio = CPU time of the busiest event loop over elapsed time, 1 = one core
metric-http-client-wait-ratio = share of time that an event loop was ready to run but had no CPU

## rr
metric-rr-transactions = requests that were answered, warm-up not counted
metric-rr-transactions-per-second = answered requests over the time of the load (group.load_seconds); in series: over the interval
metric-rr-errors = requests without an answer in time, and those under way when their connection broke
metric-rr-window-full-ratio = share of requests that had to wait because as many as --window allows were unanswered
metric-rr-late-ratio = share of requests that left more than 1 ms after their intended start although there was room for them
metric-rr-latency-sd-seconds = standard deviation of the latency
metric-rr-client-cpu-ratio = CPU time of the busiest asking thread over elapsed time, 1 = one core
metric-rr-server-cpu-ratio = CPU time of the busiest answering thread over elapsed time, 1 = one core
metric-rr-asked-per-second = rate that was asked for; absent in a closed loop
metric-rr-best-rate-per-second = highest rate that kept the bounds of --find, confirmed by a fresh run
metric-rr-latency-seconds = from the intended start of a request to its answer; in the summary with .min, .mean, .p50, .p90, .p99, .p999 and .max
metric-rr-latency-p50-seconds = median of the latency over the interval
metric-rr-latency-p99-seconds = 99th percentile of the latency over the interval
metric-rr-service-seconds = from the moment that a request really left to its answer; equals the latency in a closed loop
metric-rr-start-delay-seconds = from the intended start of a request to its real one, where there was room for it: the generator's own delay, which the latency holds and the service time does not; absent in a closed loop
metric-rr-round-trip-seconds = latency of each request by itself, at the time of its answer (see --keep)
metric-rr-connect-seconds = time to connect, without the TLS handshake
metric-rr-handshake-seconds = time of the TLS handshake
metric-rr-request-bytes = size of each request, without the headers of the transport
metric-rr-response-bytes = size of each response, likewise
metric-rr-one-way-bytes-per-second = bytes of request and response over the mean latency
metric-rr-error-ratio = errors and unstarted requests over all that were due; in series: errors over the requests that ended in the interval
metric-rr-unstarted-requests = requests whose time came and that were never sent, because none of those before was answered; without a rate, those that could not be tried in the time in which none was answered, by the pace of the answers
metric-rr-open-connections = connections that were held; one per thread at a time for crr
metric-rr-lost-connections = connections that ended before the test did
metric-rr-ports-exhausted = connections that could not be made because no local port was left
metric-rr-answered-requests = requests that the answering end saw and answered, warm-up included
metric-rr-foreign-messages = connections and datagrams at the answering end that brought something else than requests of this test
metric-rr-client-wait-ratio = share of time that the asking thread was ready to run but had no CPU
metric-rr-server-wait-ratio = share of time that the answering thread was ready to run but had no CPU

## crr
metric-crr-connections = connections that were made, asked one thing and answered, warm-up not counted
metric-crr-connections-per-second = those connections over the time of the load (group.load_seconds); in series: over the interval
metric-crr-errors = requests without an answer in time, and those under way when their connection broke
metric-crr-window-full-ratio = share of requests that had to wait because as many as --window allows were unanswered
metric-crr-late-ratio = share of requests that left more than 1 ms after their intended start although there was room for them
metric-crr-latency-sd-seconds = standard deviation of the latency
metric-crr-client-cpu-ratio = CPU time of the busiest asking thread over elapsed time, 1 = one core
metric-crr-server-cpu-ratio = CPU time of the busiest answering thread over elapsed time, 1 = one core
metric-crr-asked-per-second = rate that was asked for; absent in a closed loop
metric-crr-best-rate-per-second = highest rate that kept the bounds of --find, confirmed by a fresh run
metric-crr-latency-seconds = from the intended start of a request to its answer; in the summary with .min, .mean, .p50, .p90, .p99, .p999 and .max
metric-crr-latency-p50-seconds = median of the latency over the interval
metric-crr-latency-p99-seconds = 99th percentile of the latency over the interval
metric-crr-service-seconds = from the moment that a request really left to its answer; equals the latency in a closed loop
metric-crr-start-delay-seconds = from the intended start of a request to its real one, where there was room for it: the generator's own delay, which the latency holds and the service time does not; absent in a closed loop
metric-crr-round-trip-seconds = latency of each request by itself, at the time of its answer (see --keep)
metric-crr-connect-seconds = time to connect, without the TLS handshake
metric-crr-handshake-seconds = time of the TLS handshake
metric-crr-request-bytes = size of each request, without the headers of the transport
metric-crr-response-bytes = size of each response, likewise
metric-crr-one-way-bytes-per-second = bytes of request and response over the mean latency
metric-crr-error-ratio = errors and unstarted requests over all that were due; in series: errors over the requests that ended in the interval
metric-crr-unstarted-requests = requests whose time came and that were never sent, because none of those before was answered; without a rate, those that could not be tried in the time in which none was answered, by the pace of the answers
metric-crr-open-connections = connections that were held; one per thread at a time for crr
metric-crr-lost-connections = connections that ended before the test did
metric-crr-ports-exhausted = connections that could not be made because no local port was left
metric-crr-answered-requests = requests that the answering end saw and answered, warm-up included
metric-crr-foreign-messages = connections and datagrams at the answering end that brought something else than requests of this test
metric-crr-client-wait-ratio = share of time that the asking thread was ready to run but had no CPU
metric-crr-server-wait-ratio = share of time that the answering thread was ready to run but had no CPU

## stream
metric-stream-goodput-bits-per-second = payload that reached the receiving program, over the time of the load (group.load_seconds); in series: over the bin
metric-stream-received-bytes = payload that reached the receiving program, warm-up included
metric-stream-missing-bytes = sent_bytes minus received_bytes; anything but 0 has its reason in the flow's label error
metric-stream-retransmitted-segments = TCP segments with payload that were retransmitted while it counted
metric-stream-smoothed-rtt-seconds = round-trip time as the sender's kernel smooths it, at the end
metric-stream-write-blocked-ratio = share of time that the sending thread slept in a write because the connection took nothing
metric-stream-read-idle-ratio = share of time that the receiving thread slept because nothing had arrived
metric-stream-receive-window-limited-ratio = share of time in which the receiver's window was full (TCP)
metric-stream-send-buffer-limited-ratio = share of time in which the send buffer was too small for the way (TCP)
metric-stream-sender-cpu-ratio = CPU time of the busiest sending thread over elapsed time, 1 = one core; in series: of the flow's thread
metric-stream-receiver-cpu-ratio = CPU time of the busiest receiving thread over elapsed time, 1 = one core; in series: of the flow's thread
metric-stream-sent-bits-per-second = payload that the sender's system took, over the time of the load (group.load_seconds); in series: over the bin
metric-stream-sent-bytes = payload that the sender's system took, warm-up included
metric-stream-elapsed-seconds = from the start of the load to the end of the stream at the receiver
metric-stream-asked-bits-per-second = rate that was asked for; absent when unlimited
metric-stream-best-rate-per-second = writes per second at the highest rate that kept the bounds of --find, confirmed by a fresh run; goodput is that of the confirming run
metric-stream-late-ratio = share of writes that began more than 1 ms after their intended time although the write before was done; absent when unlimited
metric-stream-write-size-bytes = bytes offered per write
metric-stream-mean-write-bytes = bytes that a write took, mean
metric-stream-mean-read-bytes = bytes that a read gave, mean
metric-stream-fairness-index = Jain's index of the flows' goodput: 1 = all alike, 1/n = one has everything; absent for one flow
metric-stream-zerocopy-copied-ratio = share of the zero-copy writes that the kernel copied after all
metric-stream-sender-wait-ratio = share of time that the sending thread was ready to run but had no CPU
metric-stream-receiver-wait-ratio = share of time that the receiving thread was ready to run but had no CPU
metric-stream-sender-cpu-seconds-per-gigabyte = CPU time of the sending thread per 10⁹ bytes
metric-stream-receiver-cpu-seconds-per-gigabyte = CPU time of the receiving thread per 10⁹ bytes
metric-stream-sent-segments = TCP segments with payload that left while it counted, retransmitted ones included
metric-stream-retransmitted-ratio = retransmitted_segments / sent_segments
metric-stream-busy-ratio = share of time with data to send or under way (TCP)
metric-stream-min-rtt-seconds = lowest round-trip time that the sender's kernel saw lately, at the end
metric-stream-congestion-window-segments = congestion window at the end
metric-stream-segment-bytes = payload of a full segment
metric-stream-send-buffer-asked-bytes = send buffer asked for; absent when the system tunes it
metric-stream-send-buffer-granted-bytes = send buffer at the end (halved on Linux, which reports twice the usable size)
metric-stream-receive-buffer-asked-bytes = receive buffer asked for; absent when the system tunes it
metric-stream-receive-buffer-granted-bytes = receive buffer at the end (halved as above)

## Monitors
monitor-any--interval = time between two samples, such as `500ms`; without it the run's interval, or what the monitor needs
monitor-any--on = host of the run that observes: its name, `*` for every host, or `first` for the first one
monitor-cpu = time of each core by state, clock, context switches, interrupts, load
monitor-disk = bytes read and written by each disk, mean requests in flight
monitor-drops = packets that the kernel dropped, by its reason and the function that did it
monitor-listen = accept queue of each listening TCP socket: connections that wait, and how many may
monitor-listen--port = Listeners on this TCP port, also while nothing waits for them; without it, all at which something waited.

monitor-mariadb = a MariaDB or MySQL server: what its sessions do, commits, buffer pool, row locks, redo log
monitor-mariadb--dsn = The database, as the load's `--target`: its sessions are observed, and the counters of its server. The password may be in PGPASSWORD or MYSQL_PWD instead.
monitor-mariadb--timeout = Longest wait for an answer, 100ms to 60s.
monitor-memory = memory available without swapping, swap in use
monitor-network = traffic and drops of each interface, UDP, TCP and backlog counters
monitor-nstat = every counter of IP, ICMP, UDP and TCP that grows, as nstat names it
monitor-openmetrics = what a Prometheus or OpenMetrics endpoint tells, as series named scraped.…
monitor-openmetrics--mapping = File (TOML) that says which metrics become which series; without it every counter and gauge.
monitor-openmetrics--most = Most series, 1 to 20000; what finds no room is counted.
monitor-openmetrics--timeout = Longest wait for an answer, 100ms to 60s.
monitor-openmetrics--url = Address of the endpoint: `http://HOST:PORT/metrics`.
monitor-postgres = a PostgreSQL server: what its sessions wait for, commits, cache, checkpoints, log, locks
monitor-postgres--dsn = The database, as the load's `--target`: its sessions are observed, and the counters of its server. The password may be in PGPASSWORD or MYSQL_PWD instead.
monitor-postgres--timeout = Longest wait for an answer, 100ms to 60s.
monitor-pressure = share of time that tasks stalled for want of CPU, memory or I/O
monitor-process = CPU, memory, threads, open files, context switches and storage of single processes
monitor-process--address = Beside port: the address of a server in another network namespace of this machine, as that of a container.
monitor-process--most = Processes that are observed at a time, 1 to 64; of more, those with the lowest numbers.
monitor-process--name = Every process of this name: the kernel's name of it, or its program's path or file name.
monitor-process--pid = The process of this number.
monitor-process--port = Every process that listens on this TCP or UDP port.
monitor-qdisc = queue of each device: backlog, drops, packets held back by a rate; state of its link
monitor-self-threads = CPU time, wait for a CPU and core of each of sokudo's own threads, resident memory, quota of CPU time
monitor-sockets = TCP connections in use and waiting out their end, range of local ports

monitor-target = queues of an application server: connections, threads, pool
monitor-target--at = Admin port of a target of sokudo: ADDR:PORT.
monitor-target--kind = What the server is: sokudo, liberty, tomcat, jetty, hikari, spring, nginx, haproxy.
monitor-target--mapping = File (TOML) that says which samples become which metrics, instead of that of the kind.
monitor-target--timeout = Longest wait for an answer, 100ms to 60s.
monitor-target--url = Where another server tells its state: http://HOST:PORT[/PATH].

## rrul
metric-rrul-idle-rtt-seconds = median round trip of datagrams while nothing else was sent
metric-rrul-added-up-seconds = median round trip of datagrams under load on the way up, less the idle one
metric-rrul-added-down-seconds = median round trip of datagrams under load on the way down, less the idle one
metric-rrul-added-both-seconds = median round trip of datagrams under load both ways, less the idle one
metric-rrul-added-seconds = mean of what load up and load down add to the median round trip: the grade is this time's

## versus
metric-versus-effect = what was carried with the change over what was carried without it, of the medians
metric-versus-effect-low = the lowest run with the change over the highest without it
metric-versus-effect-high = the highest run with the change over the lowest without it

## replicate
metric-replicate-files = regular files that the source has
metric-replicate-files-written = files whose content was sent and published; in a dry run, those that would be
metric-replicate-user-bytes-per-second = content of the files that were written, before compression, over the elapsed time; in series: published in the interval
metric-replicate-wire-bits-per-second = bits of all frames on the connections over the elapsed time; in series: over the interval
metric-replicate-elapsed-seconds = from the start to the receiver's counts: all content is published and as durable as was asked for
metric-replicate-compression-ratio = bytes of content that travelled over bytes on the connections
metric-replicate-cpu-seconds = CPU time of all threads of both ends
metric-replicate-failed = names that could not be replicated
metric-replicate-rounds = rounds that are complete: one for a full or incremental replication
metric-replicate-source-bytes = content of the files that the source has
metric-replicate-received-bytes = content that travelled, before compression; in a dry run, what would
metric-replicate-kept-bytes = content of written files that stood at the target already: equal blocks, holes, parts of an earlier run
metric-replicate-wire-bytes = bytes of all frames on the connections
metric-replicate-files-equal = files that were equal at both ends
metric-replicate-metadata-set = equal files of which mode, owner, time or attributes were set
metric-replicate-directories-made = directories that were made
metric-replicate-links-made = symbolic and hard links that were made
metric-replicate-removed = names that were removed because the source does not have them
metric-replicate-extra = names that the source does not have and that were kept
metric-replicate-files-per-second = written files over the elapsed time; in series: published in the interval
metric-replicate-dense-bytes = content that was sent as it is because it looks compressed
metric-replicate-predicted-seconds = elapsed time that was predicted before the start; absent without a prediction
metric-replicate-sender-cpu-ratio = CPU time of the busiest sending thread over elapsed time, 1 = one core
metric-replicate-receiver-cpu-ratio = CPU time of the busiest receiving thread over elapsed time, 1 = one core
metric-replicate-sender-wire-ratio = share of the time of sending threads that the connection took them: the way or the receiver is slower
metric-replicate-sender-file-ratio = share of the time of sending threads that reading the source's files took
metric-replicate-sender-pack-ratio = share of the time of sending threads that compression took
metric-replicate-sender-idle-ratio = share of the time of sending threads in which nothing was wanted
metric-replicate-receiver-wire-ratio = share of the time of receiving threads in which they waited for data
metric-replicate-receiver-file-ratio = share of the time of receiving threads that writing, renaming and syncing took
metric-replicate-receiver-pack-ratio = share of the time of receiving threads that unpacking and verifying took
metric-replicate-receiver-sync-ratio = share of the time of receiving threads that making content durable took
metric-replicate-lag-seconds = of a mirror: from the first change of a round that was seen at the source to the receiver's counts of that round; in the summary with .min, .mean, .p50, .p90, .p99, .p999 and .max
metric-replicate-asked-bits-per-second = limit on the bits of all frames; absent without one
metric-replicate-last-lag-seconds = of a mirror: lag of the last round
metric-replicate-moved-bytes-per-second = content that was handed to the connections in the interval, before compression
metric-replicate-queued-bytes = content that is known to differ and is not sent yet
metric-replicate-queued-files = files that are known to differ and are not published yet
metric-replicate-listed = 1 when the source has been looked at whole, so that what is queued is all there is; else 0
metric-replicate-rescans = of a mirror: looks at the whole source because changes were not told, the first one left out
metric-replicate-round-trip-seconds = shortest round trip of a connection for content, by the sender's TCP; absent where the system does not say
metric-replicate-sender-cores = of a trial: cores of the sending host that were free, found by keeping all of them busy for a moment
metric-replicate-receiver-cores = of a trial: cores of the receiving host that were free
metric-replicate-sender-cpu-seconds = CPU time of all threads of the sender
metric-replicate-receiver-cpu-seconds = CPU time of all threads of the receiver
