# Texts of `--help`. The English ones are the doc comments of commands and options: crates/sokudo/src/cli/help.rs.

## Headings and notes
help-heading-usage = Usage:
help-heading-commands = Commands
help-heading-arguments = Arguments
help-heading-options = Options
help-note-default = [default: { $value }]
help-note-env = [env: { $value }]
help-note-values = [possible values: { $value }]
help-advise =
    Find the settings with which a tree of files is replicated fastest, and tell how long it will take.

    Start `sokudo serve --path DIR` on the other host first. A part of the source is read and compressed, the way, the free CPU of both ends and the target's file system are measured, all settings are predicted, and the best three are tried beside the usual ones, in turns. Trials write to a directory of their own in the target, which is removed.
help-advise-after =
    Examples:
      sokudo advise /srv/data hostb:/srv/data                how, and how long?
      sokudo advise /srv/data hostb                          the way alone: nothing is written there
      sokudo advise /srv/data hostb:/srv/data --apply copy.toml
      sokudo replicate --specs copy.toml                     do so
help-advise--apply = Write the chosen settings as a specification for `sokudo replicate --specs FILE`
help-advise--from = Directory of this host, or dataset:NxSIZE
help-advise--rounds = Trials of each of the settings
help-advise--to = HOST:/DIR, or HOST, whose disk is then left alone
help-advise--transport = What carries the content
help-advise--transport-tcp = TCP without encryption, after both ends have proven themselves
help-advise--transport-tls = TLS 1.3 over TCP; the receiver's key is pinned
help-help = Print the help of commands
help-any--allow-unsafe = Allow a setting of --versus with which a crash of the server may lose commits or damage data, such as `setting.innodb_flush_log_at_trx_commit=2`
help-any--at = Admin port of the target. Default: the target that was started last on this host
help-any--clients = Clients, each with a session of its own; over all threads
help-any--commit = When the load's own sessions have a commit acknowledged; the server's settings stay as they are
help-any--commit-async = Before that: a crash of the server may lose the last ones (PostgreSQL: synchronous_commit=off; SQLite: synchronous=normal)
help-any--commit-sync = As the database is set up: usually once it is on the disk
help-any--pool = Sessions that all clients share, as those of an application share the pool of its server; over all threads. A client waits for one before each transaction. Default: each client has its own
help-any--data-ports = Receive load on these ports alone, UDP and TCP: `5000-5010`. Default: the system chooses
help-any--help = Print help
help-any--knee = Raise an option from LOW to HIGH, such as `connections=1..200`, up and down again, and find the knee: the number from which requests queue. See `sokudo knee --help`
help-any--retries = Further tries of a transaction that the server ended because of others: serialization failure, deadlock, a lock that was not free in time
help-any--rule = What the answer of --knee is: `bound` (where the throughput without queues meets the highest), `kneedle` (where it bends), `cpu80` (where the server's CPU reaches so many percent), `slo` (the most with which --slo is kept)
help-any--no-server-stats = Do not observe the server itself over one session more
help-any--protect = Set limits in front of the knee on a sokudo target: threads = pool = the users of the knee, twice as many connections. Then check them with 1.5 times the users, and put the old values back
help-any--version = Print version

## Commands and options
help-agent = Join a group and carry out the orders of its controller, until Ctrl-C
help-agent--group = Group that this host has joined before
help-agent--join = Line that `sokudo controller` printed. Other users of a host can read command lines: the environment variable keeps it from them
help-agent--label = What this host may be chosen by, as often as needed: `site=tokyo`. Kept until others are given
help-agent--name = Name in the group. Default: this host's own
help-agent--router = Router to dial for messages when it is neither the controller's nor a `sokudo router`: a `zenohd` that was set up by `sokudo group zenohd`. As often as there are routers to choose from; kept until others are given
help-agent--via = Where this site's `sokudo router` listens, in place of the controller that the line names
help-agent-after =
    Examples:
      sokudo agent --join sj1-…@192.0.2.10:7412     join, and stay
      SOKUDO_JOIN=sj1-… sokudo agent                the same, the line unseen in lists of processes
      sokudo agent --join sj1-… --label site=tokyo  be chosen as lab/site=tokyo, too
      sokudo agent lab                              come back later, without the token
      sokudo agent --print-policy                   what would controllers be allowed to do here?

    Policy, a TOML file; what is left out is not bounded, but for a phase's length:
      workloads = ["rr", "stream"]
      reach = ["hosts", "strangers"]
      destinations = ["192.0.2.0/24"]
      max_duration = "10min"
      max_rate = "1Gb/s"
      max_flows = 64

    `sokudo serve` holds to the same file, and notes in the same log.
help-any--args = The tool's arguments
help-any--back = What is different on the way back, from b to a: `rate=2Mb/s,queue=64KiB,delay=5ms,jitter=1ms,loss=1%,burst=4`
help-any--burst = Lose packets in bursts of this length on average (Gilbert-Elliott). Default: each by itself
help-any--carrier = Who carries the packets
help-any--carrier-auto = The kernel for a rate and a delay where it has both, otherwise this program
help-any--carrier-kernel = The kernel: tbf and netem
help-any--carrier-tun = This program, between two TUN devices
help-any--content = What the files of a data set hold: `text`, `random`, `mixed:60` (percent random)
help-any--count = Measure exactly so many transactions; without --duration it also ends when requests fail and none is answered for 10 s and three times --timeout
help-any--delay = Time from one host to the other, each way: a round trip takes twice as long
help-any--direction = Who asks whom
help-any--direction-mesh = Every host asks all others
help-any--direction-up = This host asks each of its peers
help-any--durability = When content is on the receiver's device
help-any--durability-batch = Many files at a time, before they are published: a power cut leaves old or new files
help-any--durability-file = Each file and its directory before the next
help-any--durability-none = When the system likes
help-any--duration = How long to measure. Default: 10 s
help-any--exclude = Neither sent nor removed: `*.tmp`, `cache/**`. Repeatable
help-any--find = Search the highest rate that keeps bounds, and confirm it by a fresh run: `p99<1ms`, `p99<1ms,errors<0.1%`, `loss<0.1%`
help-any--global = Set a property on the generators, or a whole file of them; wins over -J
help-any--home = Directory of a JMeter: its bin/jmeter.properties, bin/user.properties and bin/system.properties are read before all others
help-any--hosts = Hosts on which `sokudo serve` runs: HOST or HOST:PORT
help-any--include = Only files that fit the glob, below the source: `*.rs`, `docs/**`. Repeatable
help-any--interval = Time between two samples of the series
help-any--jitter = Greatest additional delay; that of each packet is drawn evenly from 0 to this
help-any--json = Print one JSON object (schema sokudo.summary/1) instead of text
help-any--keep = Keep the first N round trips of each thread one by one in the record
help-any--key = Key that `sokudo serve` printed
help-any--lang = Language of sentences: en or ja. Default: from SOKUDO_LANG, LC_ALL or LANG
help-any--local = Make so many hosts inside this machine
help-any--loss = Share of packets that is lost, each way: `0.1%` or `0.001`
help-any--main-properties = Property file that is read first, in place of jmeter.properties
help-any--live = Show the load on the whole terminal while it goes on: rate and latency over time, the distribution, errors, labels and hosts. Needs 100 columns and 30 lines
help-any--max-skew = How far apart the flows may begin, `2ms`: a measurement that exceeds it is repeated up to twice, and then fails a check. Between hosts the clock error comes on top
help-any--monitors = Observe with this monitor, too: `process:port=8080`, `openmetrics:url=http://hosta:9100/metrics`. May be given several times; `sokudo monitors` lists them
help-any--name = Name of the group
help-any--on = Load from these hosts instead of this one, all at the same moment: `hostb` where `sokudo serve` runs, `lab/hostb` of a group, `lab/*` for all of it. May be given several times, or as a list with commas. The policy of each host decides whether it takes part
help-any--out = Hand every sample on while the run goes on: `openmetrics=127.0.0.1:9464` serves the newest values, `prometheus=http://HOST:9090/api/v1/write`, `influx=http://HOST:8086/write?db=load`, `influx=udp://HOST:8089` and `otlp=http://HOST:4318/v1/metrics` send them. May be given several times. The load never waits for a sink
help-any--plan = The plan: a .jmx file
help-any--policy = What others may have this host do. Default: policy.toml in sokudo's own directory, and without that file phases of up to 1 h with the other hosts of a run
help-any--print-policy = Say what the policy allows, and where it is noted who asked for what; do nothing else
help-any--property = Set a property, as JMeter's option of this name does
help-any--property-file = Property file; later ones win over earlier ones
help-any--queue = Room in front of the line; what does not fit is dropped. Default: what the rate sends during a round trip, and at least 100 packets
help-any--quiet-phase = Let nothing but the load travel while it goes on: the hosts keep what they record until it is over, and one that freezes is noticed then
help-any--rate = Transactions per second, whatever the database does: `500/s`. Latency then counts from the intended start. Default: a closed loop, in which each client begins when its last transaction has ended
help-any--reorder = Let packets with a short additional delay overtake others
help-any--repeat = Measure so many times, one run after the other, and tell the median of the runs with the interval that holds it: from 6 runs on with 95 % confidence
help-any--run = Run: its name, the beginning or end of it, `latest`, or a path
help-any--sample = Requests whose latency is taken: all, none, or one in N as 1/N. All are counted
help-any--seed = Seed of every random choice. Default: drawn, and recorded
help-any--size = Size of requests, and of responses when they differ: `64`, `64:4KiB`, without the headers of the transport. From 24 B on a message says whose it is; below, down to 1 B, `rr` over byte streams only
help-any--slo = What the measurement must keep, `p95<2s,errors<0.1%`: a broken bound is a failed check, and the exit code 1
help-any--sweep = Measure once per value of an option, and find the knee: `rate=1k/s..10k/s:10` (ten equal steps), `rate=1k/s..64k/s:x2` (doubling), `size=64,1KiB,16KiB`. Any option of this test can be varied
help-any--system = Set a system property. Plans do not see these; those of proxies are heeded
help-any--system-file = File of system properties; -D wins over it
help-any--target = Database: `postgres://USER@HOST/DB`, `mysql://USER@HOST/DB` or `sqlite:FILE`, with the tables that `sokudo db init` makes. Default: a SQLite file that is made for the run and removed after it
help-any--threads = Load threads
help-any--timeout = A try without an answer for this long has failed
help-any--transport = What carries the messages
help-any--transport-mptcp = TCP over several paths at once, where the kernel has it
help-any--transport-quic = One stream of a QUIC connection
help-any--transport-shm = Memory that both ends share; both must be on this host
help-any--transport-tcp = TCP; small messages leave at once (no Nagle)
help-any--transport-tls = TLS 1.3 over TCP
help-any--transport-udp = UDP, one datagram per message
help-any--transport-unix = A socket of this host; both ends must be on it
help-any--unsupported = What happens to elements and functions that cannot be executed: fail, warn or skip
help-any--uses = How many hosts it lets in. Default: any number
help-any--valid = How long the line lets hosts in: `30min`, `24h`
help-any--versus = Measure with and without a change of one option, four times each in turns, and tell what it does: `rcvbuf=4MiB`, or `nagle=` to leave an option out. Of a sokudo target that is loaded also a knob: `target.pool.max=50`; of a database server a setting: `setting.commit_delay=200`
help-any--wait = How threads wait for messages, on both ends: `block` sleeps in the kernel, `epoll` too, with one call for many connections, `spin` asks without sleeping, `spin:50us` for so long
help-any--warmup = Load before the measurement begins; it is not counted
help-any--web = Show the run in a browser while it goes on, and let it be stopped there. Beyond 127.0.0.1 the printed address holds a token
help-any--with = File or folder that the plan may use beside its own folder and the current one, as the plan writes it. May be given several times
help-any--workload = The load that the tables are for
help-any--workload-dbt1 = Web shop: scale counts units of 2,880 customers, about 20 MB at 1
help-any--workload-dbt2 = Order entry: scale counts warehouses, about 100 MB each
help-any--workload-dbt3 = Decision support: scale is the scale factor, about 1 GB at 1
help-any--workload-tpcb = Debit and credit: scale counts branches, about 15 MB each
help-bus =
    Send framed messages between hosts: messages per second, and how long they take.

    Start `sokudo serve` on each HOST first. What is under way is bounded (--inflight), so that the latency is that of the path and not that of a queue.
help-bus--batch = Messages that leave together: `auto` hands over what is there whenever there is no more, a number waits until so many are there
help-bus--bind = With --wire: addresses to take connections at, such as `tmb://192.0.2.1:8000`
help-bus--buffers = Where bytes lie on their way: `pool` uses the same memory again and again, `heap` asks the system for each batch anew, `registered` locks the memory into RAM
help-bus--buffers-heap = Memory of its own for each batch
help-bus--buffers-pool = The same memory again and again
help-bus--buffers-registered = Memory that is locked into RAM
help-bus--consume-rate = Messages per second that each receiving host handles: a slow consumer. Needs `--rx queue`
help-bus--count = Send exactly so many messages per thread; without --duration nothing else ends the run
help-bus--direction = Who sends
help-bus--direction-both = Both at once
help-bus--direction-down = Each peer sends to this host
help-bus--direction-mesh = Every host sends to all others
help-bus--direction-up = This host sends to each of its peers
help-bus--inflight = What may be under way on each connection, not yet acknowledged: `1MiB`, or a number of messages, `1000`. A larger window makes latency, hardly speed
help-bus--mode = `stream`: as many messages as there is room for, some of them answered. `rr`: every message is answered, and the next waits for the answer
help-bus--mode-rr = For the answers to those before it
help-bus--mode-stream = For room in the window
help-bus--no-acks = Send no receipts: nothing is known of what is under way, and only the system's own buffers bound it
help-bus--no-flow-control = Do not keep the window; receipts only tell how much is under way
help-bus--polite = Send only when the first message of another host has come in. Needs `--direction both` or `mesh`
help-bus--rate = Messages per second that this host sends, over all its threads: `50k/s`, `1Gb/s`, `100MB/s`. Latency then counts from the intended time. Default: as fast as the window allows
help-bus--relay = Send along a chain: to the first HOST, which sends on to the second, and so on; answers come back the same way
help-bus--reuse = Write the payload once and copy it into every message; with `--touch`
help-bus--rx = Who handles what arrives: `inline`, the thread that reads the connection; `queue`, other threads, to which it is handed; `poll`, threads that look at all connections in turn and never sleep
help-bus--rx-inline = The thread that reads the connection
help-bus--rx-poll = Threads that look at all connections in turn and never sleep
help-bus--rx-queue = Other threads, to which it is handed
help-bus--rx-threads = Handling threads of each host with `--rx queue` or `poll`. Default: 1
help-bus--sample = Messages whose latency is measured: `all`, one in so many, `1/100`, or `none`. Default: all with `--mode rr`, 1/100 in streaming, where each measured message asks for an answer
help-bus--single = A connection for each message
help-bus--size = Size of messages, header included: `4KiB`, or a range `64..16KiB` that sizes are drawn from, each as likely as any other. At least 24 B. An answer is as long as its message
help-bus--step = Ask before each message: one leaves with each line on standard input
help-bus--timeout = A connection on which nothing comes back for this long although something is under way has failed
help-bus--touch = Write and read the payload of each message, so many bytes per access; 0 leaves it alone
help-bus--transport = What carries the messages
help-bus--transport-mptcp = TCP over several paths at once, where the kernel has it
help-bus--transport-quic = One stream of a QUIC connection
help-bus--transport-rdma = An RDMA device (InfiniBand, RoCE): needs a sokudo that was built with it
help-bus--transport-shm = Memory that both ends share; both must be on this host
help-bus--transport-tcp = TCP; small messages leave at once (no Nagle)
help-bus--transport-tls = TLS 1.3 over TCP
help-bus--transport-unix = A socket of this host; both ends must be on it
help-bus--tsv = Write a table of tab-separated values when the run is over, a row for each interval
help-bus--tx-threads = Sending threads for each peer, each with a connection of its own
help-bus--verbose = Print the distribution of the response latency as well
help-bus--wait = How threads wait, on both ends: `block` sleeps in the kernel, `epoll` too, `spin` asks without sleeping, `spin:50us` for so long
help-bus--warmup = Load before the measurement begins, a time or a number of messages per thread: `2s`, `10000`. It is not counted
help-bus--window = Messages that may be unanswered on each connection with `--mode rr`
help-bus--wire = Speak another tool's wire: its process is at the far end, and only this end's numbers are known. HOST is an address of that tool
help-bus--wire-tmb = The TCP message bus of a well-known data grid, version 0. HOST is `tmb://HOST:PORT`
help-bus-after =
    Examples:
      sokudo bus hostb                               4 KiB messages, as fast as the window allows
      sokudo bus hostb --rate 50k/s                  latency from the intended time
      sokudo bus hostb --find 'p99<1ms'              the highest rate that keeps the bound
      sokudo bus hostb --mode rr --wait spin         one message at a time, shortest latency
      sokudo bus hostb --rx queue --consume-rate 1k/s    a slow consumer
      sokudo bus hostb hostc --relay                 hostb hands on to hostc
      sokudo bus hostb hostc --direction mesh        every host sends to all others
      sokudo bus tmb://hostb:8000 --wire tmb         a process of another tool answers
      sokudo bus hostb --tsv bus.tsv                 a row for each interval

    Rates: `50k/s` is messages, `1Gb/s` bits, `125MB/s` bytes.
help-check =
    Measure what this machine can do, or what the network between the hosts of a group can: no set-up, no root needed.

    Without --group it takes about two minutes. As root on Linux four hosts are made from network namespaces and joined by a bridge; they are gone when the command ends. Otherwise four loopback addresses stand for them.
help-check--expect = What every pair of hosts must do, each way: a line rate, bounds on latency, loss and errors, or both, with commas. A line of 1 Gb/s must carry 900 Mb/s of payload: headers and framing take 5 to 6 %
help-check--group = Check the network between all hosts of a group: every host meets every other one, both ways, as many pairs at once as there are
help-check--layers = Layers to check; all when none is named
help-check--max-loss = Largest share of datagrams that may be lost at the best rate: `0.1%` or `0.001`
help-check--quick = Shorter phases: less certain numbers in about half a minute
help-check--within = How long the check of a group may take: loads become shorter first, then hosts meet fewer others. Default: 3min, with --quick 1min
help-check-after =
    Examples:
      sokudo check                                   this machine, all layers
      sokudo check rr stream --quick                 two of them, shorter
      sokudo check --group lab                       every pair of hosts of the group lab, all layers
      sokudo check --group lab --expect 1Gb/s        … and each must carry what a 1 Gb/s line carries
      sokudo check --group lab --expect '10Gb/s,p99<1ms,loss<0.1%' --within 10min

    Layers: probe, rr, crr, stream, bus, http, target, replicate, tpcb, datagram. The exit code is 1 when a pair does not keep
    what is expected, or nothing comes through.
help-compat = Take another tool's command line as it is, and print a report in its form
help-compat-datagram-test =
    The datagram test of a well-known data grid: `sokudo compat datagram-test -local :9999 …`.

    Speaks the tool's own wire, so a real process of it can be the other end. `-?` prints all options. Ends with Ctrl-C where the tool would not end by itself.
help-compat-iperf3 =
    iperf3's command line: `sokudo compat iperf3 -c HOST -t 10 -R`, or `-s` to be its server.

    Speaks the tool's own wire: a real iperf3 can be the other end. `--help` prints all options.
help-compat-jmeter =
    Apache JMeter's command line: `sokudo compat jmeter -n -t plan.jmx -l result.jtl -J…`.

    Prints the tool's own lines, writes its file of results, and keeps no record.
help-compat-message-bus-test =
    The message bus test of the same data grid: `sokudo compat message-bus-test -bind tmb://…`.

    Speaks the tool's own wire, so a real process of it can be the other end. `-?` prints all options. Ends with Ctrl-C, as the tool itself.
help-compare = Compare recorded runs of the same load: what is better, worse, or shows no difference
help-compare--min-effect = Smallest difference of a rate or a time that counts: `5%` or `0.05`
help-compare--output = File to write a page to, with the curves of both sides over each other
help-compare--allow-unsafe = Allow settings with which a crash may lose commits or damage data, such as fsync=off
help-compare--profiles = Compare profiles of a database server's settings instead of runs: `default,tuned`. The first one is what the others are compared with; `default` needs no entry in the file, and changes nothing
help-compare--rounds = Rounds; each measures every profile once, and the first one twice
help-compare--settings = File (TOML) of the profiles: a table of `setting = value` for each
help-compare--runs = Runs to compare, two or more: name, beginning or end of it, `latest`, or a path; several with commas are one group. With --profiles: the load, behind `--`
help-compare-after =
    Examples:
      sokudo rr hostb --repeat 5                         before a change …
      sokudo rr hostb --repeat 5                         … and after it
      sokudo compare 2026-11-20T13 latest                what became better or worse?
      sokudo compare a1,a2,a3,a4 b1,b2,b3,b4             single runs as two groups
      sokudo compare old new --min-effect 2% --json      for a script: exit code 1 when something is worse
      sokudo compare --profiles default,lazy -- tpcb --target DSN -c 16   settings of a server, in turns

    The first side is what the others are compared with. A difference is told as better or worse when its
    interval holds no 0 with a confidence of 95 %, and it is as large as --min-effect; four runs of each
    side are needed for that. Shares of losses and errors must differ by a tenth of a point.

    --profiles measures by itself: each round has every profile once and the first one twice, in an order
    that is drawn. Differences are those within the rounds, and six rounds are needed; what the first one
    differs from itself does not count as a difference of the others. The settings are changed while the
    server runs (ALTER SYSTEM and a reload; SET GLOBAL), and put back afterwards, also by the next command
    after this one was killed; those that need a restart are refused.
help-completions = Print shell completions: `sokudo completions bash > /etc/bash_completion.d/sokudo`
help-completions--shell = Shell to complete for
help-console = Tell many hosts what to do, line by line, and see what they found
help-console--hosts = Hosts: HOST or HOST:PORT on which `sokudo serve` runs, GROUP for all hosts of a group, GROUP/NAME for one of them
help-console--interval = Time between two samples of the monitors
help-console--max-skew = How far apart the flows of a phase may begin, `2ms`: a phase that exceeds it is repeated up to twice, and then fails a check. Between hosts the clock error comes on top
help-console--quiet-phase = Let nothing but the load travel while a phase goes on: the hosts keep what they record until it is over, and one that freezes is noticed then
help-console-after =
    Examples:
      sokudo console lab                    all hosts of the group lab
      sokudo console hosta hostb            hosts on which `sokudo serve` runs
      sokudo console --local 4              four hosts inside this machine, to try it
      sokudo console lab < switch.sks       what a file says

      node 1 set connectnode 3              put different commands into the input fields …
      node 2 set connectnode 4
      all enter                             … and enter all of them at the same moment
      all sendreceive-n 1MB 1000
      waitallresults 2 60s                  who has no result after a minute is named

    `help` lists the words. One record is kept of everything that was done.
help-controller =
    Accept the agents of a group, until Ctrl-C.

    Prints the line with which hosts join. Agents dial out to this host: UDP for the router, TCP of the same number for joining.
help-controller--address = Address by which agents reach this host, when it is another than the system's own
help-controller--bind = Address to listen on
help-controller--router = Router of this group that the controller's own dials, and hosts dial in its place: a `zenohd` that was set up by `sokudo group zenohd --alone`. As often as there are such
help-controller--web = Serve the group's page, too: `sokudo web` of the whole group. Beyond 127.0.0.1 the printed address holds a token
help-controller-after =
    Examples:
      sokudo group init lab
      sokudo controller lab
      sokudo controller lab --web      with the page of the group on http://127.0.0.1:7480/
      sokudo agent --join TOKEN        on every host
      sokudo group hosts lab
      sokudo rr lab/hostb              hosts of a group are written GROUP/NAME
      sokudo run mesh.js lab/site=tokyo     or chosen by a label
help-crr =
    Open a connection for each request: connections per second and their latency.

    Start `sokudo serve` on each HOST first. Connecting and the TLS handshake are measured separately.
help-crr--count = Measure exactly so many requests per thread; without --duration it also ends when requests fail and none is answered for 10 s and three times --timeout
help-crr--rate = Requests per second that this host starts, over all its peers: `20k/s`. Latency then counts from the intended start. Default: a closed loop, in which each answer starts the next
help-crr--threads = Threads for each peer, on both ends
help-crr--timeout = A request without an answer for this long has failed. Its connection is given up; with UDP the message is taken for lost
help-crr-after =
    Examples:
      sokudo crr hostb                               connect, ask 64 B, hang up, again and again
      sokudo crr hostb --transport tls --threads 4   with a TLS handshake, four at a time
      sokudo crr hostb --rate 200/s --duration 60s   open loop, gentle on ports

    Each connection keeps its local port for a minute after it is closed (TIME_WAIT).
help-datagram =
    Send datagrams between hosts and say how many arrive and where the others are lost.

    Start `sokudo serve` on each HOST first. Results of both ends are joined into one.
help-datagram--allow-fragments = Allow datagrams that do not fit the path MTU and must be cut into IP fragments
help-datagram--bind = Local address and port to send from and receive on: `10.0.0.1`, `10.0.0.1:9999`, or a port range `10.0.0.1:9999..10002`. May be given several times: one stream per binding
help-datagram--count = Send exactly this many datagrams to each peer, then stop
help-datagram--direction = Who sends: this host (up), the peers (down), or both at once
help-datagram--direction-both = Both at once
help-datagram--direction-down = The peers send to this host
help-datagram--direction-mesh = Every host sends to all others
help-datagram--direction-mesh-self = Every host sends to all hosts, itself included
help-datagram--direction-up = This host sends to its peers
help-datagram--duration = How long to send. Default: 10 s, or until --count is reached
help-datagram--gro = Take several datagrams from the kernel as one buffer (GRO)
help-datagram--gro-auto = As fits the I/O mode
help-datagram--gro-off = Off
help-datagram--gro-on = On
help-datagram--hosts = Hosts on which `sokudo serve` runs: HOST or HOST:PORT. With --wire: foreign far ends; none makes this host a listener
help-datagram--idle-timeout = End the receiving side when nothing has arrived for this long after the senders stopped
help-datagram--io = How datagrams are handed to the kernel. `auto` picks the fastest that this host showed in its self-test
help-datagram--io-auto = The fastest that this host showed
help-datagram--io-gso = One buffer per system call, cut into datagrams by the kernel or the device (GSO)
help-datagram--io-mmsg = Several datagrams per system call (sendmmsg, recvmmsg)
help-datagram--io-plain = One system call per datagram
help-datagram--payload = Bytes of each datagram to count as payload (goodput); 0 counts the whole datagram
help-datagram--polite = Wait until the first datagram arrives before sending (with --direction both)
help-datagram--rate = Load offered per sending host, over all its peers: `1Gb/s` (bits), `100MB/s` (bytes) or `20k/s` (datagrams). Default: as fast as possible
help-datagram--rate-per-peer = Load offered to each peer
help-datagram--rcvbuf = Receive buffer: bytes (`4MiB`) or datagrams (`1428pkt`). Default: 4 MiB
help-datagram--report-every = Print a line about the rates so far after a time (`1s`) or a number of datagrams (`100kpkt`)
help-datagram--size = Datagram size without IP and UDP headers: `1468`, `1KiB`, or a range `64..1468` drawn uniformly. Default: what fits the path MTU
help-datagram--sndbuf = Send buffer: bytes (`1MiB`) or datagrams (`16pkt`). Default: the system's
help-datagram--streams = Parallel flows to each peer, each with its own thread and sockets
help-datagram--strict-buffers = Refuse to run when the system grants smaller buffers than asked for
help-datagram--ticks = Draw a mark for every N datagrams: o and O sent, i and I received
help-datagram--transport = Carry the datagrams over UDP, or framed over TCP or TLS
help-datagram--transport-tcp = Framed over one TCP connection per flow
help-datagram--transport-tls = Framed over one TLS 1.3 connection per flow
help-datagram--transport-udp = UDP
help-datagram--tsv = Write the series as a table of tab-separated values when the run is over
help-datagram--verify = Bytes of each datagram that the sender fills with a pattern and the receiver verifies. Default: the header only
help-datagram--wire = Speak another tool's wire: its own process is the far end, and no sokudo is needed there
help-datagram--wire-datagram-test = The datagram test of a well-known data grid, sequence numbers of 32 bits
help-datagram--wire-datagram-test-64 = The same with 64 bits: a listener of its release 24.09 then counts right
help-datagram-after =
    Examples:
      sokudo datagram hostb                              as fast as possible, 10 s
      sokudo datagram hostb --rate 1Gb/s --duration 60s  does the link carry 1 Gb/s?
      sokudo datagram hostb --find 'loss<0.1%'           the highest rate that holds
      sokudo datagram hostb --sweep rate=1Gb/s..8Gb/s:8  what arrives as the load rises
      sokudo datagram hostb hostc --direction mesh       every host sends to all others
      sokudo datagram hostb --count 100000 --io plain    exactly 100,000, one call each

    Rates: `1Gb/s` is bits, `125MB/s` bytes, `20k/s` datagrams per second.
help-demo =
    Start a web server on this host to try everything with.

    `/` answers at once, and every path below `/stress/` in about ten milliseconds, with a connection to a database and some CPU. It is `sokudo target app` in a calm setting: its queues can be watched and its knobs be turned.
help-demo--plan = Write a JMeter plan that visits the server to this file
help-demo--port = Port of the server on 127.0.0.1; 0 takes any that is free
help-demo-after =
    Examples:
      sokudo demo                                        the server, until Ctrl-C
      sokudo http http://127.0.0.1:9080/stress/demo      in another terminal: load it
      sokudo demo --plan demo.jmx                        with a JMeter plan that visits it
      sokudo jmx run demo.jmx -J users=20 -J seconds=30
help-dns =
    Load a name server: queries per second, latency, and what its responses say.

    The server needs nothing of ours. DNS over UDP or TCP; response codes, truncated responses and lost queries are counted separately.
help-dns--connections = Sockets, each with a port of its own; over all threads. Servers with several threads share their work by these ports
help-dns--count = Measure exactly so many queries; without --duration it also ends when requests fail and none is answered for 10 s and three times --timeout
help-dns--dnssec = Ask for signatures (DNSSEC)
help-dns--key = Key that `sokudo serve` printed on those hosts
help-dns--name = Name to ask for; may be given several times, and they are asked for in turn. `{"{"}n{"}"}` in it becomes the number of the query in ten digits, so that no cache knows the name
help-dns--no-recursion = Ask the server for what it knows itself; without this it is to ask others (recursion)
help-dns--queries = Queries to ask in turn, one per line, `name` or `name type`; lines that begin with `;` or `#` are passed over. `@file`, as dnsperf takes it, or the lines themselves
help-dns--rate = Queries per second, whatever the server does: `20k/s`. Latency then counts from the intended start. Default: a closed loop, in which each response starts the next query
help-dns--server = Name server: an address or a name, with a port when it is not 53: `192.0.2.53`, `ns1.example:5353`, `[2001:db8::53]:5353`
help-dns--threads = Asking threads
help-dns--timeout = A query without a response for this long has failed
help-dns--transport = What carries the queries
help-dns--transport-tcp = TCP, many queries on a connection
help-dns--transport-udp = UDP, one datagram per query
help-dns--type = Type of the records that are asked for, where a line does not say it: A, AAAA, MX, TYPE65, …
help-dns--udp-bytes = Largest response over UDP that queries allow (EDNS), bytes; 0 sends no such record, and responses have at most 512 bytes
help-dns--window = Queries that may be unanswered at a time on each of them
help-dns-after =
    Examples:
      sokudo dns 192.0.2.53 -q www.example.org           as fast as responses come, 10 s
      sokudo dns ns1.example -Q @queries.txt -d 60s      the queries of a file, as dnsperf takes it
      sokudo dns 192.0.2.53 -q www.example.org --rate 20k/s   open loop: latency from the intended start
      sokudo dns 192.0.2.53 -q www.example.org --find 'p99<5ms,errors<0.1%'   the highest such rate
      sokudo dns 192.0.2.53 -q 'host{"{"}n{"}"}.example.org'     a new name each time: no cache knows it
      sokudo dns 192.0.2.53 -q example.org --type DNSKEY --dnssec --transport tcp
      sokudo dns 192.0.2.53 -q www.example.org --on 'lab/*' -c 64   from all hosts of a group

    Nothing is asked twice: a query that is lost on the way is an error, as one that the server leaves
    unanswered is. Names that do not exist (NXDOMAIN) are answers; SERVFAIL and REFUSED are errors.
help-tpcb =
    Transfer money on a database: transactions per second, and whether each is kept.

    PostgreSQL, MariaDB, MySQL, or a SQLite file of its own without any. The transaction of pgbench; not a TPC result.
help-tpcb--key = Key that `sokudo serve` printed on those hosts
help-tpcb--pipeline = Send the statements of a transaction together, and wait once for all of their answers: one round trip instead of seven. Only PostgreSQL has pipelines
help-tpcb--scale = Branches of the database that is made for the run; a server's own database has its scale already
help-tpcb--variant = What each transaction does
help-tpcb--variant-full = Account, teller, branch and history, as TPC-B
help-tpcb--variant-no-branch = Without teller and branch: no row that many wait for
help-tpcb--variant-select = Only read an account's balance
help-tpcb-after =
    Examples:
      sokudo tpcb                                        a SQLite file of its own, one client, 10 s
      sokudo db init --target postgres://bench@hostb/bench --scale 50     the tables, once
      sokudo tpcb --target postgres://bench@hostb/bench -c 16 -d 60s      as fast as it commits
      sokudo tpcb --target postgres://bench@hostb/bench -c 64 --rate 500/s   open loop: latency from the intended start
      sokudo tpcb --target mysql://bench@hostb/bench -c 16 --variant select  only reads
      sokudo tpcb --target postgres://bench@hostb/bench -c 64 --find 'p99<20ms,errors<0.1%'   the highest such rate
      sokudo tpcb --target postgres://bench@hostb/bench --knee clients=1..64   where transactions begin to queue

    Afterwards the sums of the tables must agree, and every commit that the server acknowledged must be there.
    Passwords: in the DSN, PGPASSWORD or MYSQL_PWD; none of them is recorded.
help-dbt1 =
    Visit a web shop whose database this is: interactions per second, and whether its orders add up.

    PostgreSQL, MariaDB, MySQL, or a SQLite file of its own without any. Fourteen interactions in three mixes, modelled on TPC-W; not a TPC result.
help-dbt1--key = Key that `sokudo serve` printed on those hosts
help-dbt1--mix = What visitors mostly do
help-dbt1--mix-browsing = Mostly looking: 0.7 % of the interactions buy
help-dbt1--mix-ordering = Mostly buying: 10 % buy
help-dbt1--mix-shopping = Looking and buying: 1.2 % buy
help-dbt1--scale = Scale of the database that is made for the run: 2,880 customers each; a server's own database has its scale already
help-dbt1--think = Mean time that a visitor thinks before each interaction, exponentially distributed, at most ten times this: 7s is as specified. Default: none
help-dbt1-after =
    Examples:
      sokudo dbt1                                        a shop of 2,880 customers in a SQLite file of its own, 10 s
      sokudo db init --target postgres://bench@hostb/bench --workload dbt1 --scale 10     the tables, once
      sokudo dbt1 --target postgres://bench@hostb/bench -c 16 -d 60s      as fast as it answers
      sokudo dbt1 --target postgres://bench@hostb/bench -c 100 --think 7s -d 20m   visitors who think, as specified
      sokudo dbt1 --target mysql://bench@hostb/bench -c 16 --mix ordering  one interaction in ten buys
      sokudo dbt1 --target mysql://bench@hostb/bench -c 64 --rate 500/s    open loop: latency from the intended start

    Afterwards carts, orders, payments and stock must agree, and every order that the server acknowledged must be there.
    Passwords: in the DSN, PGPASSWORD or MYSQL_PWD; none of them is recorded.
help-dbt2 =
    Enter orders into a database: new orders per minute, and whether the books agree.

    PostgreSQL, MariaDB, MySQL, or a SQLite file of its own without any. Five business transactions modelled on TPC-C; not a TPC result.
help-dbt2--key = Key that `sokudo serve` printed on those hosts
help-dbt2--pace = Let each client type and think as a user at a terminal does, for this factor of the times of the specification: 1 is as specified, with ten terminals (--clients) per warehouse. Default: no pauses
help-dbt2--warehouses = Warehouses of the database that is made for the run; a server's own database has its scale already
help-dbt2-after =
    Examples:
      sokudo dbt2                                        one warehouse in a SQLite file of its own, 10 s
      sokudo db init --target postgres://bench@hostb/bench --workload dbt2 --scale 10     the tables, once
      sokudo dbt2 --target postgres://bench@hostb/bench -c 16 -d 60s      as fast as it commits
      sokudo dbt2 --target postgres://bench@hostb/bench -c 100 --pace 1 -d 20m   ten users at each warehouse, as specified
      sokudo dbt2 --target mysql://bench@hostb/bench -c 64 --rate 200/s   open loop: latency from the intended start
      sokudo db check --target postgres://bench@hostb/bench --workload dbt2    the 12 conditions, at any time

    Afterwards the 12 conditions on the tables must hold, and every New-Order and Payment that the server acknowledged
    must be there. Passwords: in the DSN, PGPASSWORD or MYSQL_PWD; none of them is recorded.
help-dbt3 =
    Ask a database 22 analytical questions, alone and from several streams at a time: power and throughput.

    PostgreSQL, MariaDB, MySQL, or a SQLite file of its own without any. Tables and questions modelled on TPC-H; not a TPC result.
help-dbt3--key = Key that `sokudo serve` printed on those hosts
help-dbt3--query-seed = Decides what the queries ask for: the same number asks the same
help-dbt3--retries = Further tries of a refresh that the server ended because of others
help-dbt3--scale = Scale factor of the database that is made for the run; a server's own database has its scale already
help-dbt3--streams = Streams of queries that run at a time in the throughput test
help-dbt3--test = What is measured
help-dbt3--test-both = Power, then throughput, and both together
help-dbt3--test-power = One stream: a refresh, the 22 queries, a refresh
help-dbt3--test-throughput = Several streams of 22 queries at a time, and one of refreshes
help-dbt3--timeout = A query without an answer for this long has failed
help-dbt3-after =
    Examples:
      sokudo dbt3                                        scale factor 0.01 in a SQLite file of its own
      sokudo db init --target postgres://bench@hostb/bench --workload dbt3 --scale 1      the tables, once
      sokudo dbt3 --target postgres://bench@hostb/bench --streams 4       power, then four streams at a time
      sokudo dbt3 --target mysql://bench@hostb/bench --test power         one stream only
      sokudo db check --target postgres://bench@hostb/bench --workload dbt3    rows, relations and a checksum per table

    The label `answers` is a digest of the answers of the power test: the same scale and --query-seed give the same one
    on every engine. Passwords: in the DSN, PGPASSWORD or MYSQL_PWD; none of them is recorded.
help-sqlmix =
    Carry out a mix of your own transactions on a database: how many, how fast, at what cost of further tries.

    PostgreSQL, MariaDB, MySQL, or a SQLite file of its own without any. Script files of pgbench as they are, and mixes in TOML.
help-sqlmix--define = Variable with its value at the begin; may be given several times
help-sqlmix--file = Transactions to mix: a script file of pgbench, or a mix in TOML (`.toml`), with its weight behind an `@` (`read.sql@3`); may be given several times
help-sqlmix--key = Key that `sokudo serve` printed on those hosts
help-sqlmix--scale = Value of `:scale`; also the branches of the tables of `tpcb` in the database that is made for a run without --target
help-sqlmix-after =
    Examples:
      sokudo sqlmix --file examples/sql/point-select.sql     on a SQLite file of its own, with the tables of tpcb
      sokudo sqlmix --target postgres://bench@hostb/bench --file read.sql@9 --file write.sql -c 16 -d 60s
      sokudo sqlmix --target postgres://bench@hostb/bench --file book.toml -c 64 --rate 500/s   open loop
      sokudo sqlmix --target mysql://bench@hostb/bench --file book.toml -c 64 --pool 10   64 users share 10 sessions
      sokudo sqlmix --target postgres://bench@hostb/bench --file pgbench.sql --scale 50 -D pause=10

    A file is a script of pgbench, or a mix in TOML (.toml). A transaction that the server ended because of others is
    tried again (--retries); tries and transactions are counted apart.
    Passwords: in the DSN, PGPASSWORD or MYSQL_PWD; none of them is recorded.
help-db = Make, check and keep up the tables of a load on a database
help-db-init =
    Make the tables of a load on a database anew, and fill them.

    Tables of the workload that are there are dropped: tpcb_branches, tpcb_tellers, tpcb_accounts and tpcb_history, or those whose names begin with dbt1_, dbt2_ or dbt3_.
help-db-init--scale = Branches (tpcb), units of 2,880 customers (dbt1), warehouses (dbt2) or scale factor (dbt3, from 0.01 on)
help-db-init--target = Database: `postgres://USER@HOST/DB`, `mysql://USER@HOST/DB` or `sqlite:FILE`; for dbt3 also `duckdb:FILE`, where it is built in
help-db-ops =
    Time what is done to tables from time to time: indexes made anew, room given back, rows counted, tables dumped and restored.

    PostgreSQL: reindex, vacuum, analyze, pg_dump, pg_restore. MariaDB and MySQL: alter table force, optimize, analyze, mariadb-dump or mysqldump, mariadb or mysql. SQLite: reindex, vacuum of the whole file, analyze, online backup of the whole file and back. Dumps lie in a private folder below TMPDIR, and are restored into a scratch database beside the source. Both are removed afterwards.

    Exit code 1 when a restored table is not as in the source.
help-db-ops--only = What is done, in this order
help-db-ops--only-analyze = Count rows, so that plans know the sizes
help-db-ops--only-dump = Dump the tables into a temporary file
help-db-ops--only-reindex = Make the indexes anew
help-db-ops--only-restore = Restore that dump into a scratch database, and compare it
help-db-ops--only-vacuum = Give back the room of rows that are gone
help-db-ops--target = Database: `postgres://USER@HOST/DB`, `mysql://USER@HOST/DB` or `sqlite:FILE`; for dbt3 also `duckdb:FILE`, where it is built in
help-db-ops--timeout = Longest time of a dump, and of a restore with its comparison
help-db-check =
    Check what must hold in the tables of a load on a database: the sums of tpcb, the 8 conditions of dbt1, the 12 of dbt2, or the rows, relations and checksums of dbt3.

    Exit code 1 when they do not.
help-db-check--target = Database: `postgres://USER@HOST/DB`, `mysql://USER@HOST/DB` or `sqlite:FILE`; for dbt3 also `duckdb:FILE`, where it is built in
help-doctor = Try every facility that sokudo can use, and say what to change
help-doctor--json = One JSON object per line
help-export = Write a record in the form of other programs. The Parquet files inside it need no export
help-export--output = Directory to write into; `-` is stdout, for a form of one file. Default: the record's own `export` directory
help-export--to = Form of the files
help-export--to-csv = series.csv and flows.csv, for spreadsheets
help-export--to-hdr = distributions.hlog: times as an HdrHistogram interval log, which its own tools read
help-export--to-iperf3 = iperf3.json: the last stream of the run as `iperf3 -J` (3.12) would have told it
help-export--to-json = record.json, everything in one object
help-export--to-perfetto = trace.json: phases, flows, series and events on a timeline, for ui.perfetto.dev
help-export--to-tsv = series.tsv and flows.tsv
help-group = Make groups, let hosts join, and list them
help-group-hosts = List the hosts: number, name, labels, system, cores, network, clock offset with its error
help-group-hosts--json = One JSON object per line
help-group-hosts--name = Name of the group; `GROUP/site=tokyo` lists those with a label
help-group-init = Make a group: its authority and the keys of those who may command
help-group-remove =
    Free the name of a host that has lost its key or is gone for good: the next one may have it.

    The old host's certificate is good until it ends, 90 days after it joined at most: to shut it out before, make a new group.
help-group-remove--host = Name of the host
help-group-token = Make another line with which hosts join; the controller need not be restarted
help-group-token--router = For a host that carries the messages of a site: `sokudo router --join`
help-group-zenohd = Write the file with which a `zenohd` of your own carries this group's messages
help-group-zenohd--alone = Dial no router: other routers dial this one
help-group-zenohd--connect = Router of the group that it dials, as often as needed. Default: the controller's, where it was last started
help-group-zenohd--listen = Where it is to listen, UDP
help-group-zenohd--output = File to write; `zenohd` wants the ending `.json5`
help-group-zenohd--valid = How long its certificate is good for. Write the file again, and start `zenohd` again, before it ends
help-group-zenohd-after =
    Examples:
      sokudo group zenohd lab --output lab.json5     it dials this host's controller
      zenohd -c lab.json5                            on the router
      sokudo agent --join sj1-… --router zen1:7447   on the hosts that dial it

      sokudo group zenohd lab --alone --output lab.json5      it dials nothing:
      sokudo controller lab --router zen1:7447                the controller dials it
help-http =
    Load a web server: requests per second, latency, and where the time goes.

    The server needs nothing of ours. HTTP/1.1 or HTTP/2, plain or over TLS; each kind of failure is counted separately.
help-http--arrival = How requests of --rate are spaced: evenly, or at random as those of many independent visitors
help-http--arrival-even = The same time between any two
help-http--arrival-poisson = Exponentially distributed times between them
help-http--body = Body of each request: a text, or `@file`. It is sent as it is
help-http--connect-timeout = A connection that is not there after this long, TLS included, has failed
help-http--connections = Connections, each of which carries a request at a time, or --streams of them; over all threads
help-http--count = Measure exactly so many requests; without --duration nothing else ends the run
help-http--header = Header line `Name: value`; may be given several times
help-http--host-header = What the `Host` header says. Default: host and port of the URL
help-http--http2 = Speak HTTP/2: agreed on in the TLS handshake; without TLS it begins at once, as servers for `h2c` by prior knowledge expect
help-http--insecure = Accept any certificate for any name: test systems only
help-http--key = Key that `sokudo serve` printed on those hosts
help-http--method = Request method
help-http--no-keepalive = A connection for each request, closed after it
help-http--ramp = Time over which the connections come, one after the other; the requests of this time count
help-http--rate = Requests per second, whatever the server does: `500/s`. Latency then counts from the intended start; requests that find no free connection wait for one. Default: a closed loop, in which each response starts the next request
help-http--streams = Requests under way at a time on each connection of --http2
help-http--threads = Event loops, one thread each
help-http--timeout = A request without a whole response for this long has failed
help-http--url = What is asked for: `http://host:8080/path?query`, `https://…`; without a scheme, http
help-http-after =
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
    --rate every request that was due meanwhile sees it.
help-import = Read the JSON that iperf3 wrote (`iperf3 -J`) and keep it as a record
help-import--file = File to read; `-` is stdin
help-import-after =
    Examples:
      iperf3 -c hostb -J > result.json
      sokudo import result.json            show it, keep it as a record, write its report
      sokudo export latest --to csv        and use it like any other
help-jmx = Execute, check and probe JMeter test plans
help-jmx-check =
    Show what a plan holds, what it will do, and what is probably a mistake in it.

    Sends nothing. Elements that sokudo does not know are errors, told with file and line.
help-jmx-check--generators = Generators that each execute the whole plan
help-jmx-check--resolved = With --json: the resolved plan, too
help-jmx-check--seed = Seed of random choices that are made before the test begins
help-jmx-check-after =
    Examples:
      sokudo jmx check plan.jmx -J THREADS=40 -J DURATION=300
      sokudo jmx check plan.jmx -q test.properties --generators 4
      sokudo jmx check plan.jmx --json --resolved      everything, for a program

    Exit codes: 0 the plan can be executed, 2 it is refused; all reasons are told at once.
help-jmx-elements = Print every element and function that sokudo knows, as a page in Markdown
help-jmx-probe =
    Send what one user per group sends, and predict how many users are too many.

    The rest of the output is that of `sokudo jmx check`.
help-jmx-probe--demand = Milliseconds that one request keeps the server's busiest resource busy, such as CPU time over cores
help-jmx-probe--duration = How long the user of each group sends: `10`, `30s`, `1min`
help-jmx-probe--seed = Seed of random choices that are made before the test begins
help-jmx-probe-after =
    Examples:
      sokudo jmx probe plan.jmx -J THREADS=40
      sokudo jmx probe plan.jmx --duration 30 --demand 43

    Exit codes: 0 the plan was probed, 2 it is refused, 3 it sent nothing within the time.
help-jmx-run =
    Execute a JMeter test plan: its users, its results file, and what it does not tell.

    The server needs nothing of ours. Latency counts from the moment a request should have left.
help-jmx-run--compare = File of results of an earlier test, to compare the dashboard with
help-jmx-run--dashboard = Make the dashboard after the test; needs -l and -o
help-jmx-run--data = Rows of the plan's data files: all of them for every generator, or to each its own
help-jmx-run--data-share = Every generator has all of them, from the first on
help-jmx-run--data-split = No two generators have the same row
help-jmx-run--duration = How long the main groups last instead of the plan's time or loops: `60`, `60s`, `5min`
help-jmx-run--exit-remote = Ends the tool's servers behind the test: taken, and without meaning here
help-jmx-run--force = Replace the file of results and the dashboard when they exist
help-jmx-run--insecure = Accept any certificate, as the tool does
help-jmx-run--key = Key that `sokudo serve` printed on those hosts
help-jmx-run--interval = Print a line for each interval of whole seconds: rate, latency, users, errors. Monitors sample as often
help-jmx-run--knee = Raise a property of the plan from LOW to HIGH, such as `THREAD_NUMBER=1..200`, or `users`, and find the knee: the number from which requests queue. See `sokudo knee --help`
help-jmx-run--log = File of results (JTL); rows are added when it exists
help-jmx-run--log-file = Log of what the scripts of the plan say, begun anew; with one generator only
help-jmx-run--log-level = Log level of the tool: taken, and without meaning here
help-jmx-run--log-set-up = Set-up of the tool's log: taken, and without meaning here
help-jmx-run--max-inflight = Most users at a time in an open model; further arrivals are counted, not begun
help-jmx-run--model = Closed: the plan's users. Open: arrivals at a rate, each doing one iteration (`open:500/s`; `poisson:500/s` at random moments), or as a schedule says: `schedule:rate(0/s) even_arrivals(30 s) rate(500/s) even_arrivals(5 min)`
help-jmx-run--no-proxy = Hosts that are asked directly: names separated by `|`, with `*` at the beginning or end
help-jmx-run--no-window = Run without a window: always the case here
help-jmx-run--output = Directory of the dashboard; must be empty or not exist
help-jmx-run--own-columns = Add columns for what the tool does not tell: intended start, send, errno, stage and kind of failure
help-jmx-run--proxy-host = Proxy for all requests. A sampler with a proxy of its own keeps it
help-jmx-run--proxy-password = Password at the proxy. Never recorded
help-jmx-run--proxy-port = Port of the proxy
help-jmx-run--proxy-scheme = Scheme of the proxy: only `http`
help-jmx-run--proxy-user = User at the proxy
help-jmx-run--ramp = Time until all users of a main group have begun instead of the plan's: `60`, `60s`, `5min`
help-jmx-run--remote = The hosts of --on with --replicate, as the tool has it
help-jmx-run--remote-all = The hosts of the property `remote_hosts`, as -R
help-jmx-run--replicate = Every generator has all users of the plan, as the tool has it. Default: they are divided, the first generators take what does not divide
help-jmx-run--repeat = Execute the plan so many times, one run after the other, and tell the median of the runs with the interval that holds it: from 6 runs on with 95 % confidence
help-jmx-run--report-only = Make only the dashboard of this file of results; sends nothing. Needs -o
help-jmx-run--server = Run as a server for remote starts: not supported
help-jmx-run--slo = What must be kept: p50, p90, p95, p99, p99.9, mean and max of the latency, err and rps, such as `p95<2s,err<0.1%,rps>100`. A missed bound gives the exit code 1
help-jmx-run--split = The users of the plan are divided, with -R and -r too
help-jmx-run--test = The plan, as the tool's option
help-jmx-run--threads = Event loops. Default: one per core
help-jmx-run--users = Users of each main group instead of the plan's
help-jmx-run--version = The version, and nothing else
help-jmx-run--versus = Execute the plan with and without one change, four times each in turns, and tell what it does: a property of the plan (`THREAD_NUMBER=40`), `users=N` of each group, or a knob of the sokudo target that is loaded (`target.pool.max=50`)
help-jmx-run--with = File or folder that the plan may use beside its own folder and the current one, as the plan writes it. Generators are sent such files. May be given several times
help-jmx-run-after =
    Examples:
      sokudo jmx run plan.jmx -l result.jtl -J THREAD_NUMBER=40 -J SUSTAIN=300
      sokudo jmx run plan.jmx --users 100 --duration 60          100 users in each group for a minute
      sokudo jmx run plan.jmx --model open:500/s --duration 60   at a rate, whatever comes back
      sokudo jmx run plan.jmx -l r.jtl --slo 'p95<2s,err<0.1%'   exit code 1 when missed
      sokudo jmx run plan.jmx --on 'lab/*' -l all.jtl            its users, divided among a group's hosts
      sokudo jmx check plan.jmx                                  what the plan asks for, without load
      sokudo compat jmeter -n -t plan.jmx -l result.jtl          the tool's own command line and lines

    Options with one dash mean what they mean there. A plan with elements that are not known is refused
    before the first request; --unsupported says otherwise.
help-jtl = Read result files of JMeter and of `sokudo jmx run`
help-jtl-report =
    Make a dashboard of a result file: one page that needs nothing else, and statistics.json.

    Reads CSV with any columns, and XML, of any length in little memory. Rows that cannot be read are counted and named.
help-jtl-report--compare = Result file of an earlier test, to compare with
help-jtl-report--file = The result file: .jtl or .csv or .xml
help-jtl-report--force = Replace the dashboard that is in the directory already
help-jtl-report--output = Directory of the dashboard; it must be empty or not exist. Without it only text is printed
help-jtl-report--percentiles = Percentiles to show, at most eight; the first three also stand in statistics.json. [default: 90,95,99]
help-jtl-report--property = Set a property of JMeter's report generator: apdex_satisfied_threshold, apdex_tolerated_threshold (after jmeter.reportgenerator.), aggregate_rpt_pct1 to 3
help-jtl-report--property-file = Property file; later ones win over earlier ones, and -J over all
help-jtl-report--run = The run that left the rows: its hosts' CPUs and interfaces over time, and its findings. A run's id, the beginning of one, `latest`, or a directory
help-jtl-report--slo = What must be kept: percentiles, mean, max, err and rps, such as `p95<2s,err<0.1%,rps>100`
help-jtl-report-after =
    Examples:
      sokudo jtl report results.jtl -o dashboard
      sokudo jtl report results.jtl -o dashboard --slo 'p95<2s,err<0.1%'     exit code 1 when missed
      sokudo jtl report new.jtl -o dashboard --compare old.jtl --percentiles 50,95,99.9
      sokudo jtl report results.jtl --json                                   only the figures

    Exit codes: 0 fine, 1 a goal was missed, 2 a file cannot be read or the directory is not empty.
help-knee =
    The load of a web server, a database or a test plan with more and more users: where requests begin to queue.

    A short form of `sokudo http TARGET --knee …`, `sokudo tpcb --target TARGET --knee …` and `sokudo jmx run TARGET --knee …`; every option of theirs can follow.
help-knee--words = A URL, a database (its DSN) or a plan (.jmx), what is raised (`--param NAME=LOW..HIGH`), the rule (`--rule`), and options of the load
help-knee-after =
    Examples:
      sokudo knee http://hostb:8080/                       1 to 256 connections
      sokudo knee http://hostb:8080/ --param connections=1..64 --rule cpu80
      sokudo knee http://hostb:8080/ --param connections=1..500 --rule slo --slo 'p95<50ms'
      sokudo knee plan.jmx --param THREAD_NUMBER=1..200 -J SUSTAIN=10
      sokudo knee postgres://bench@hostb/bench             1 to 64 clients of tpcb, in tables of sokudo db init
      sokudo knee postgres://bench@hostb/bench -c 64 --param pool=1..64   the sessions that 64 clients share
      sokudo rr hostb --knee streams=1..64                 any closed load can be raised so
      sokudo knee plan.jmx --param THREAD_NUMBER=1..60 --protect   limits of a sokudo target, tried

    The users double until they bring little more, the levels around the knee are added, and then all are
    run once more on the way down and the decisive ones a third time: at most 12 levels and 29 runs.
    The answer is that of the rule, with an interval over the runs; the report has all rules.
help-link =
    Make two hosts inside this machine, joined by a link with a rate, a queue, a delay and losses.

    The hosts are network namespaces and know each other as `a` and `b`; they, the link and the programs on them end with this command, however it ends. The kernel carries a link with a rate and a delay where it has tbf and netem; otherwise, and where packets are to be lost or to jitter, this program does, between two TUN devices. Either way connections are those of the kernel's own TCP, from end to end. Needs Linux and root, or a user namespace.
help-link-after =
    Examples:
      sokudo link run --rate 100Mb/s --delay 20ms -- sokudo stream b
      sokudo link run --rate 20Mb/s --back rate=2Mb/s --loss 0.1% --far 'iperf3 -s' -- iperf3 -c b
      sokudo link run --delay 50ms --jitter 5ms --loss 1% --burst 8 -- bash
      sokudo link up --rate 100Mb/s --delay 20ms       until Ctrl-C; says how programs are started there
help-link-exec = Run a command on a host of a link that is up
help-link-exec--command = The command
help-link-exec--host = The host
help-link-exec--process = Process that holds the link: `sokudo link up` prints it
help-link-run =
    Run a command on host a, with its far end on host b, and say what the link did.

    Ends as the command does, with its exit code. The counters of the link go to standard error.
help-link-run--command = The command on host a
help-link-run--far = Command on host b, as a shell reads it: started first, and ended with the other one. Both find a key in SOKUDO_KEY. Default: `sokudo serve`
help-link-run--json = Print the counters as one JSON object, the last line of standard error
help-link-run--rate = Rate of the line each way, Ethernet headers included: `100Mb/s`. Default: none, as fast as this machine is
help-link-run--seed = Seed of loss and jitter: the same packets have the same fate. Default: another one each time
help-link-up = Keep hosts and link until Ctrl-C, and say how programs are started there
help-link-up--json = Print the counters as one JSON object, the last line of standard error
help-link-up--rate = Rate of the line each way, Ethernet headers included: `100Mb/s`. Default: none, as fast as this machine is
help-link-up--seed = Seed of loss and jitter: the same packets have the same fate. Default: another one each time
help-man = Write man pages, one per subcommand
help-man--dir = Directory to write into; the main page goes to stdout when it is left out
help-metrics = Print every metric that a record can hold: name, unit, kind, what is counted
help-metrics--filter = Only metrics whose name contains this
help-metrics--json = One JSON object per line
help-monitors = Print every monitor: what it observes, its options, the metrics that it records
help-monitors-after =
    Examples:
      sokudo monitors                          all of them
      sokudo monitors openmetrics              one, with its options and metrics
      sokudo http http://hosta/ --monitor process:name=nginx,on=hosta
      sokudo rr hostb --monitor 'process:port=7400,on=*' --monitor cpu:interval=1s
help-monitors--json = One JSON object per line, with the JSON schema of the options
help-monitors--name = One monitor instead of all
help-probe =
    Probe other hosts at fixed intervals: delay each way, its variation, loss each way.

    Start `sokudo serve` on each HOST first. Probes are few and small: they show what a thin, regular flow feels, beside whatever else is on the way.
help-probe--count = Send exactly so many probes; without --duration nothing else ends the run
help-probe--direction = Who probes whom
help-probe--direction-mesh = Every host asks all others
help-probe--direction-up = This host asks each of its peers
help-probe--dscp = Class of service of probes and answers (DSCP, 0 to 63): 46 is expedited forwarding
help-probe--duration = How long to probe. Default: 10 s
help-probe--every = Time between two probes: 100 µs or more
help-probe--keep = Keep the first N probes of each flow one by one in the record
help-probe--size = Bytes of probes and answers, without IP and UDP headers
help-probe--timeout = An answer that takes longer counts as late, and its delays do not count. At the end answers are waited for as long
help-probe-after =
    Examples:
      sokudo probe hostb                             a probe every 10 ms for 10 s
      sokudo probe hostb --every 1ms --duration 60s  finer, longer
      sokudo probe hostb --dscp 46 --size 200        as a voice call: expedited, 200 B
      sokudo probe hostb hostc --direction mesh      every host probes all others
      sokudo probe hostb --sweep every=10ms,1ms,200us    does the way mind how many there are?
      sokudo probe hostb --find 'p99<1ms,loss<0.1%'  the highest rate that keeps the bounds

    Round trips need one clock only. One-way delays compare two clocks: they are printed only where they
    are not smaller than the error with which the clocks could be compared. On one host there is none.
help-recover = Complete the record of a run whose program died
help-recover--group = Group whose agents took part, and still hold what the dead controller did not take. Default: the one that the run's command names
help-recover--no-collect = Do not ask the agents: what they hold is given up
help-replicate =
    Replicate a tree of files to another host, or fetch it from there.

    Start `sokudo serve --path DIR` on the other host first, with the directory that it is to read or write. Only what differs travels; a name of the target shows the old or the new file at every moment, and a run that was cut is continued by the next one, also inside of files.
help-replicate-after =
    Examples:
      sokudo replicate /srv/data hostb:/srv/data             send what differs
      sokudo replicate hostb:/srv/data /srv/data             fetch it
      sokudo replicate /srv/data hostb:/srv/data --dry-run   what would be sent?
      sokudo replicate /srv/data hostb:/srv/data --delete --exclude '*.tmp'
      sokudo replicate /srv/data hostb:/srv/data --verify    compare all contents, change nothing
      sokudo replicate /srv/data hostb:/srv/data --mirror 8h follow what changes afterwards
      sokudo replicate /srv/data hostb:/m hostc:/m           to several hosts at once
      sokudo replicate /srv/data b:/m c:/m d:/m --relay 1    from each host to the next one
      sokudo replicate --specs mirrors.toml                  what a file says, by its schedules
      sokudo replicate dataset:10000x10KB hostb:null         how fast without disks?
      sokudo replicate dataset:10x1GB hostb:/srv/t --level none --sweep connections=1,2,4,8

    HOST may have a port: hostb:7005:/srv/data. A data set is made while it is sent: NxSIZE, several with `,`,
    or `mixed`; --content says what it holds.
help-replicate--batch = Bytes of small files in one frame, at most 1 MiB; `0B`: each file in a frame of its own
help-replicate--buffer = Send and receive buffers of each connection. Setting them turns the system's own tuning off
help-replicate--cc = Congestion control: `cubic`, `bbr`, … as this system calls it
help-replicate--checksum = Compare contents (BLAKE3) even where size and time are equal
help-replicate--chunk = Bytes of a large file in one frame, 64 KiB to 1 MiB
help-replicate--connections = Connections for content. More help where one has a window or a loss that bounds it
help-replicate--delete = Remove what the source does not have
help-replicate--dry-run = Change nothing; count what would be done
help-replicate--from = Source: DIR, HOST:/DIR, or dataset:NxSIZE
help-replicate--interval = Time between two samples
help-replicate--keep = What is replicated besides content
help-replicate--keep-attributes = Extended attributes and access control lists
help-replicate--keep-mode = Permission bits
help-replicate--keep-owner = Owner and group, where the receiver may set them
help-replicate--keep-times = Time of the last change
help-replicate--level = Compression: `none`, a level of zstd from 1 to 19, or `auto`, which chooses among none, 1, 2 and 3 by the rates of link and compressor. What looks compressed is sent as it is
help-replicate--limit = Bytes that the sender writes, all connections to a target together: `20Mb/s`, or by the sending host's time of day: `Mon-Fri 09:00-18:00 20Mb/s, none`; the first entry that applies counts
help-replicate--max-delete = With --delete: remove nothing when more names than this would go
help-replicate--mirror = Go on for so long after the replication and send what changes at the source: `8h`. Ctrl-C ends it earlier
help-replicate--once = With --specs: carry each out once, now, whatever its schedule says
help-replicate--preset = Settings for a kind of link, as a starting point; options that are typed override them
help-replicate--preset-lan = A fast, short link: one connection, compression as long as it outruns the link
help-replicate--preset-slow = A thin link: higher compression, small frames
help-replicate--preset-wan = A long link: more connections, for windows and losses that bound each of them
help-replicate--relay = Pass on from host to host: each, this one included, sends to so many others, so that a tree of hosts grows, and each begins when it has all. A host that is lost takes those behind it along
help-replicate--resync = With --mirror: look at the whole source so often, too, whatever the system tells of changes: `6h`
help-replicate--specs = Carry out the specifications of this file, each by its schedule: what goes where, with the options of this command by their names. Options typed beside it hold where the file says nothing
help-replicate--predict = Look at the source, the way and the target first, predict the time, and compare it with the measured one. Takes some seconds; --dry-run predicts anyway
help-replicate--to = Target: DIR, HOST:/DIR, or HOST:null, which drops everything. Several hosts: the same directory on each
help-replicate--transport = What carries the content
help-replicate--transport-tcp = TCP without encryption, after both ends have proven themselves
help-replicate--transport-tls = TLS 1.3 over TCP; the receiver's key is pinned
help-replicate--verify = Compare contents, change nothing; a difference fails the run
help-replicate--web = With --specs: show a row for each specification in a browser, and let all of them be stopped there. Beyond 127.0.0.1 the printed address holds a token
help-replicate--whole-file = Send changed files whole, also where the target has most of their blocks
help-report = Draw the conclusions of a run again and write its report
help-report--form = Form of the report
help-report--form-html = One self-contained page
help-report--form-markdown = Text for a wiki or an issue
help-report--output = File to write. Default: report.html inside the record; Markdown goes to stdout
help-router =
    Carry the messages of a site's agents to their controller, until Ctrl-C.

    Agents of the site dial this host, this host dials the controller. It carries orders and can neither read nor make them.
help-router--bind = Address to listen on: UDP for agents, TCP of the same number for joining
help-router--group = Group that this host has joined before, as a router
help-router--join = Line that `sokudo group token GROUP --router` printed. Other users of a host can read command lines: the environment variable keeps it from them
help-router--name = Name in the group. Default: this host's own
help-router-after =
    Examples:
      sokudo group token lab --router                    on the controller: prints the next line
      sokudo router --join sj1-…@192.0.2.10:7412         on one host of the site
      sokudo agent --join sj1-… --via 10.0.0.5:7412      on the others
      sokudo router lab                                  come back later, without the token
help-rr =
    Send requests and wait for the responses: latency and requests per second between hosts.

    Start `sokudo serve` on each HOST first. Every round trip is recorded.
help-rr--connections = Connections to each peer, shared out among the threads. Default: one per thread
help-rr--count = Measure exactly so many requests per thread; without --duration it also ends when requests fail and none is answered for 10 s and three times --timeout
help-rr--duplex = Send both ways at once: the far end sends each request back while it is still coming in, and this end reads while it writes
help-rr--nagle = Let the kernel wait for more bytes before it sends a small segment (Nagle's algorithm): what it costs where requests are small and several are under way (--window)
help-rr--rate = Requests per second that this host starts, over all its peers: `20k/s`. Latency then counts from the intended start. Default: a closed loop, in which each answer starts the next
help-rr--threads = Threads for each peer, on both ends
help-rr--timeout = A request without an answer for this long has failed. Its connection is given up; with UDP the message is taken for lost
help-rr--window = Requests that may be unanswered at a time, per connection
help-rr-after =
    Examples:
      sokudo rr hostb                                one connection, 64 B, one request at a time
      sokudo rr hostb --rate 10k/s --duration 60s    open loop: latency from the intended start
      sokudo rr hostb --find 'p99<1ms'               the highest rate that keeps the bound
      sokudo rr hostb --sweep rate=1k/s..64k/s:x2    latency over offered load, and its knee
      sokudo rr hostb --connections 1000 --threads 2 many connections
      sokudo rr hostb --size 64:4KiB --window 8      small questions, long answers, 8 at a time
      sokudo rr hostb --wait spin --transport udp    the shortest latency that this pair can show

    Without --rate the loop is closed: each answer starts the next request, so a stall of the far end
    is seen by one request only. With --rate every request that was due meanwhile sees it.
help-rrul =
    Measure latency idle, and under load up, down and both ways at once: bufferbloat, with its grade.

    Start `sokudo serve` on HOST first. Datagrams and messages over TCP, 50 of each per second, measure round trips while TCP streams fill the path, as flent's test of this name does.
help-rrul--duration = How long each of the four parts takes
help-rrul--host = Host on which `sokudo serve` runs: HOST or HOST:PORT
help-rrul--streams = TCP streams each way
help-rrul-after =
    Examples:
      sokudo rrul hostb                              four parts of 10 s
      sokudo rrul hostb --duration 30s --streams 8   longer, and a heavier load
      sokudo link run --rate 20Mb/s --queue 1MB -- sokudo rrul b     a deep queue, to see a bad grade

    The grade is that of the DSLReports speed test: what load up and load down add to the median round
    trip, on average: A+ below 5 ms, A 30 ms, B 60 ms, C 200 ms, D 400 ms, F beyond.
help-run = Carry out a script: console lines (.sks) or JavaScript (.js)
help-run--file = The script
help-run--hosts = Hosts: HOST or HOST:PORT on which `sokudo serve` runs, GROUP for all hosts of a group, GROUP/NAME for one of them
help-run--interval = Time between two samples of the monitors
help-run--max-skew = How far apart the flows of a phase may begin, `2ms`: a phase that exceeds it is repeated up to twice, and then fails a check. Between hosts the clock error comes on top
help-run--quiet-phase = Let nothing but the load travel while a phase goes on: the hosts keep what they record until it is over, and one that freezes is noticed then
help-run--allow-unsafe = Allow settings of a database server with which a crash may lose commits or damage data, such as fsync=off
help-run--set = Set a parameter of a JavaScript scenario; several values with commas
help-run-after =
    Examples:
      sokudo run switch.sks lab             console lines, over the hosts of the group lab
      sokudo run switch.js lab              a program: loops, and results that decide what comes next
      sokudo run mesh.js --local 4          over four hosts inside this machine
      sokudo run examples/was/study.js      this host alone, as host 1
      sokudo run examples/sql/settings.js --set dsn=postgres://…   settings of a server, in turns

    `sokudo scenario types` prints what a program can call.
help-runs = List the recorded runs, newest first
help-runs--json = One JSON object per line
help-scenario = Write scripts from what is known of the hosts
help-scenario-after =
    Examples:
      sokudo scenario pairs lab --pairs 5             five pairs exchange data at the same moment
      sokudo scenario pairs lab --emit > mine.sks     the script for it, to be changed
      sokudo scenario pairs lab --emit --javascript   the same as a program
      sokudo scenario types > sokudo.d.ts             what programs can call, for editors
help-scenario-pairs = Pairs of hosts send data to each other and back, all at the same moment
help-scenario-pairs--duplex = Both ways at once
help-scenario-pairs--emit = Print the script instead of carrying it out
help-scenario-pairs--hosts = Hosts: HOST or HOST:PORT on which `sokudo serve` runs, GROUP for all hosts of a group, GROUP/NAME for one of them
help-scenario-pairs--interval = Time between two samples of the monitors
help-scenario-pairs--javascript = Print it as JavaScript
help-scenario-pairs--max-skew = How far apart the flows of a phase may begin, `2ms`: a phase that exceeds it is repeated up to twice, and then fails a check. Between hosts the clock error comes on top
help-scenario-pairs--pairs = How many pairs. Default: as many as there are
help-scenario-pairs--quiet-phase = Let nothing but the load travel while a phase goes on: the hosts keep what they record until it is over, and one that freezes is noticed then
help-scenario-pairs--size = What each pair sends and gets back
help-scenario-pairs--times = How often
help-scenario-types = What a JavaScript scenario can call, as a TypeScript declaration file
help-serve =
    Serve as the far end of other hosts' tests, until Ctrl-C.

    Without a key only this machine is served. With a key the connection is TLS 1.3, the server's identity is pinned, and load begins only after a valid ticket. What callers may ask for is bounded by this host's policy, a file; without one: loads between the hosts of a run, up to 1 h.
help-serve--bind = Address to listen on: ADDR, ADDR:PORT or :PORT. Default: loopback without a key, all addresses with one
help-serve--key = Accept only clients that have this key
help-serve--max-clients = Clients served at once
help-serve--new-key = Make a new key, print it once, and accept only clients that have it
help-serve--path = Let callers replicate from and to this directory of this host. Repeatable
help-serve--read-path = Let callers replicate from this directory of this host, and not to it. Repeatable
help-serve--write-path = Let callers replicate to this directory of this host, and not from it. Repeatable
help-serve--open = Accept clients without a key: anyone who reaches the port may send load through this host
help-serve-after =
    Examples:
      sokudo serve                 this machine only
      sokudo serve --new-key       all addresses; prints a key to give to the other side
      SOKUDO_KEY=sk1-… sokudo serve   the same key again
      sokudo serve --print-policy  what may callers have this host do? (`sokudo agent --help` shows a file)
help-show = Show a run again: verdict, numbers, record
help-sokudo = Measures, explains, tunes and proves the performance of distributed systems
help-sokudo-after =
    Examples:
      sokudo check                         what can this machine do? about two minutes, no set-up
      sokudo serve                         on one host …
      sokudo datagram HOST                 … and on the other: how many datagrams per second arrive?
      sokudo datagram HOST --find 'loss<0.1%'   the highest rate that holds
      sokudo show latest                   the newest result again
      sokudo why latest                    what limited it, and how that is known
      sokudo doctor                        what does this system offer, what should be changed?

    Exit codes: 0 fine, 1 a check failed, 2 wrong use, 3 the run failed or is partial.
help-stream = Send bulk bytes over connections: goodput, what it costs, and what holds it back
help-stream--bins = Width of the bins of the byte rates: narrow ones show the silences of slow starts and delayed acknowledgements
help-stream--bytes = Send exactly so many bytes per connection; without --duration nothing else ends the run
help-stream--cc = Congestion control: `cubic`, `bbr`, … as this system calls it. Both ends
help-stream--direction = Who sends to whom
help-stream--direction-both = Both at once
help-stream--direction-down = Each peer sends to this host
help-stream--direction-mesh = Every host sends to all others
help-stream--direction-up = This host sends to each of its peers
help-stream--discard = Let the receiving kernel count and drop the bytes (MSG_TRUNC): it shows what the way can carry, not what a program would get
help-stream--dscp = Differentiated services code point, 0 to 63
help-stream--interval = Time between two samples of the load on threads and of what they wait for
help-stream--io = How bytes are handed to the kernel (tcp, mptcp): `plain` copies them, `zerocopy` lends it the pages, `sendfile` sends from a file in memory, `auto` tries them for a second and takes the fastest; its readers are woken for up to 256 KiB at once
help-stream--io-auto = Whatever a short test over loopback finds fastest; readers are woken for many bytes at once
help-stream--io-plain = The kernel copies them
help-stream--io-sendfile = The kernel sends pages of a file in memory
help-stream--io-zerocopy = The kernel takes the program's pages (MSG_ZEROCOPY), where it can
help-stream--mss = Largest payload of a segment (TCP_MAXSEG)
help-stream--nagle = Let the kernel wait for more bytes before it sends a small segment (Nagle's algorithm)
help-stream--pacing = Highest rate at which the kernel paces each connection (SO_MAX_PACING_RATE): `100Mb/s`
help-stream--rate = Bytes that this host offers, over all its connections: `500Mb/s`, or writes: `2k/s`. Default: as many as are taken
help-stream--rcvbuf = Receive buffer. Setting it turns the system's own tuning off
help-stream--read-rate = Receivers read no faster than this per connection: a slow reader on purpose
help-stream--size = Bytes handed to the system per write; reads take as many, or 128 KiB when that is more. Default: 128 KiB; with --io auto what is fastest here
help-stream--sndbuf = Send buffer. Setting it turns the system's own tuning off
help-stream--streams = Parallel connections for each peer and direction
help-stream--threads = Threads that share the connections of one peer and direction, on both ends. Default: one per connection
help-stream--timeout = A connection that takes nothing for this long is given up
help-stream--transport = What carries the bytes
help-stream--transport-mptcp = TCP over several paths at once, where the kernel has it
help-stream--transport-quic = One stream of a QUIC connection
help-stream--transport-shm = Memory that both ends share; both must be on this host
help-stream--transport-tcp = TCP; small messages leave at once (no Nagle)
help-stream--transport-tls = TLS 1.3 over TCP
help-stream--transport-udp = UDP, one datagram per message
help-stream--transport-unix = A socket of this host; both ends must be on it
help-stream--window-clamp = Largest receive window offered (TCP_WINDOW_CLAMP)
help-stream-after =
    Examples:
      sokudo stream hostb                            one TCP connection, as fast as it goes, 10 s
      sokudo stream hostb --direction both           both ways at once
      sokudo stream hostb --streams 8 --cc bbr       eight connections, another congestion control
      sokudo stream hostb --transport tls            what encryption costs
      sokudo stream hostb --io auto                  the fastest way to write that this host has
      sokudo stream hostb --bytes 1GiB               how long does a gigabyte take?
      sokudo stream hostb --rate 500Mb/s --bins 5ms  a steady load, and its silences
      sokudo stream hostb --sweep streams=1,2,4,8    how many connections does it take?
      sokudo stream hosta hostb hostc --direction mesh   every host to all others

    Start `sokudo serve` on each HOST first. Goodput is what the receiving program got, over the
    receiver's time; both ends' counts must agree to the byte.
help-target = Start a server with the queues of an application server, look at its queues, change its knobs
help-target-after =
    Examples:
      sokudo target app                            the server, until Ctrl-C
      sokudo target app --set pool.max=10 --db postgres://bench@127.0.0.1/bench
      sokudo jmx run examples/was/stress.jmx -J THREAD_NUMBER=25 -J SUSTAIN=60 --monitor target
      sokudo target stat --watch                   which queue fills?
      sokudo target set pool.max=50                while it runs
      sokudo target set pool.max=50 --hold         until Ctrl-C; then the old value again
      sokudo target restore                        everything as it was at the start
help-target-app =
    Start the server: accept queue, connection limit, worker threads, connection pool, database.

    `/` does no work; `/stress/…` takes a connection, multiplies primes and takes a connection again, as the parameters searchTime, interval, duration, bit and updateTime say. An admin port with a thread of its own tells the depth and the waits of every queue.
help-target-app--db = Database of the pool: `postgres://USER@HOST/DB`, `mysql://USER@HOST/DB`, `sqlite:PATH` or `sim:`; the same as `--set pool.url=URL`
help-target-app--file = File of settings (TOML); `--print` shows all of them
help-target-app--preset = What `/stress/…` does where a request does not say
help-target-app--print = Print the settings as a file and end
help-target-app--settings = One setting; may be given several times, and wins over file and preset
help-target-restore = Put knobs back that were changed while the target ran
help-target-restore--json = One JSON object per change and line
help-target-restore--to = Number of the last change that stays; 0 undoes all
help-target-set =
    Change knobs while the target runs; without any, print all of them.

    All or none are changed. Each is printed with its old and its new value, and can be put back with `restore`.
help-target-set--hold = Keep the values until Ctrl-C, or for so long (`--hold=30s`), and put the old ones back then, also when this command is killed
help-target-set--json = One JSON object per change and line
help-target-set--knobs = Knobs and their new values
help-target-stat = Show the depth and the waits of every queue
help-target-stat--json = One JSON object per line
help-target-stat--watch = Again every second, until Ctrl-C
help-web =
    Show the hosts in a browser: collect who they are, write a script, run it, watch it, stop it.

    The page does what `console`, `run` and `scenario pairs` do. It is reachable from this machine alone unless --listen says otherwise; then the printed address holds a token.
help-web--hosts = Hosts: HOST or HOST:PORT on which `sokudo serve` runs, GROUP for all hosts of a group, GROUP/NAME for one of them
help-web--interval = Time between two samples of the monitors
help-web--listen = Address to serve the page on; port 0 takes any that is free
help-web--seed = Seed of every random choice. Default: drawn for each run, and recorded
help-web--token = Require a token from this machine, too: keeps out its other users
help-web-after =
    Examples:
      sokudo web lab                        the hosts of the group lab
      sokudo web hosta hostb                hosts on which `sokudo serve` runs
      sokudo web --local 4                  four hosts inside this machine, to try it
      sokudo web lab --listen 0.0.0.0:7480  for other machines, with a token in the address

    Open the printed address in a browser. Beyond this machine the page goes over plain HTTP: use it in
    a network that you trust, or through a tunnel (`ssh -L 7480:localhost:7480 HOST`).
help-why = Explain what limited a run: what speaks for each cause, what against it, what is missing
help-why--allow-unsafe = Let a test change what a crash of the server during it would lose, such as commits that are acknowledged before they are on the disk
help-why--prove = Put the cause to the test: the measurement is made again with and without a change of the option that is suspected, in turns; the record then says confirmed, or the cause is withdrawn
help-why--rules = Print the signs and thresholds of every rule instead
