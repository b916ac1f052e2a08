# Messages of the controller, the agents and the workloads: notes, problems, events. Keys: engine-<place>-<meaning>.

engine-bus-notes-dropped =
    Samples came faster than they could be handed over: { $count ->
        [one] one message of this host was
       *[other] { $count } messages of this host were
    } dropped at this point.
engine-bus-notes-dropped-missing =
    { $count } { $count ->
        [one] message
       *[other] messages
    } with samples, distributions or events

engine-doing-environment = reading the environment of all hosts
engine-doing-selftest = trying what this host can send and receive

engine-check-namespaces = The { $n } hosts are network namespaces on this one machine, joined by a bridge: the numbers tell what this machine and its kernel can do, not what a network between machines can.
engine-check-loopback = The { $n } hosts are loopback addresses of this one machine, because network namespaces could not be made: { $why }. { $hint }
engine-check-group =
    { $hosts } hosts meet in { $rounds } { $rounds ->
        [one] round
       *[other] rounds
    }, { $pairs } directed pairs: { $phases } { $phases ->
        [one] phase
       *[other] phases
    } of { $load }, about { $time } in all.
engine-check-group-corrected =
    On these hosts a phase takes { $beside } beside its load: { $phases } { $phases ->
        [one] phase
       *[other] phases
    } of { $load } in { $rounds } of { $all } rounds, about { $time } in all.
engine-check-mesh-failed = { $layer } between all hosts at once could not be measured: { $why }.
engine-check-group-some = { $hosts } hosts meet in { $rounds } of { $all } rounds, { $pairs } directed pairs, because there is no time for more (--within): { $phases } phases of { $load }, about { $time } in all.

engine-clock-jump = The wall clock of { $host } was set by { $by }. Series are not affected: they use the monotonic clock.
engine-host-stall = { $host } stood still for { $by }.
engine-host-heard = { $host } is heard again.
engine-host-suspect = { $host } has said nothing for { $silent }; it may be lost.
engine-host-given-up = { $host } was given up.
engine-host-lost = { $host } was lost: { $why }.
engine-host-lost-missing = What { $host } measured after its last report is missing.
engine-no-result = { $host } gave no result: { $why }.
engine-notes-dropped =
    { $n ->
        [one] One report of the hosts came faster than it
       *[other] { $n } reports of the hosts came faster than they
    } could be recorded and { $n ->
        [one] was
       *[other] were
    } dropped.
engine-interrupted = The run was interrupted.
engine-interrupted-missing = What had not been measured by then is missing.
engine-not-reached = { $host } cannot be reached, and the run goes on without it: { $why }
engine-ended-by = The run ended early: { $why }.
engine-phase-bound = The phase did not end within { $bound } and was ended.


store-recovered-says =
    The program that recorded this run died. The record was completed from { $batches } { $batches ->
        [one] report
       *[other] reports
    }, the last one at { $last }.
store-recovered-missing = What was measured after the last report, and the result, are missing.
store-spool-damaged-says =
    The recording was damaged: { $bytes } in { $gaps } { $gaps ->
        [one] place
       *[other] places
    } could not be read.
store-samples-missing = The series have gaps there.
store-disk-full-says =
    The disk was full: { $batches } { $batches ->
        [one] report
       *[other] reports
    } could not be recorded.
store-write-failed-says =
    The disk refused { $batches } { $batches ->
        [one] report
       *[other] reports
    }.

engine-foreign-wire = The far end speaks another tool's wire and keeps its numbers to itself: what was lost before the first and after the last datagram that arrived cannot be known.
engine-sweep-step-failed = The step at { $value } gave no numbers: { $why }
engine-knee-run-failed = The run with { $value } users gave no numbers: { $why }
out-down = { $place } takes no samples: { $why }. The run goes on, and the record has all of them.
out-lost = { $place } did not get { $lost } of { $all } samples: { $why }. The record has all of them.
out-queue-full = { $place } did not get { $lost } of { $all } samples: it took them too slowly. The record has all of them.
engine-rrul-failed = The part { $value } gave no numbers: { $why }
engine-knobs-set = knobs of the target: { $changes }
engine-knobs-put-back = knobs put back: { $changes }
engine-settings-set = settings of the database server: { $settings }
engine-settings-put-back = settings of the database server put back: { $settings }
engine-settings-not-put-back = The settings of the database server could not be put back: { $why }. The next command on a database tries again.
engine-knobs-not-put-back = The knobs of the target could not be put back: { $why }. The target does so itself when it hears nothing for 5 s.
engine-protect-no-knee = No limits were tried: there is no knee within the range.
engine-protect-refused = No limits were tried: { $why }.
engine-versus-run-failed = The run { $value } gave no numbers: { $why }
engine-repeat-failed = Run { $value } gave no numbers: { $why }
engine-search-too-slow = { $bounds } needs { $samples } requests in a trial, which take { $needed } at { $rate }: the search ended there. Give --duration { $needed } or bound a lower percentile

engine-probe-one-clock = Both ends read one clock: one-way delays carry no clock error.
engine-probe-clock = One-way delays are right within { $error }, the error of the clocks of the hosts before and after the load.
engine-probe-clock-some = One-way delays are right within { $error }, the error of the clocks of the hosts. Delays below it are not valid and are left out.
engine-probe-clock-none = No one-way delays: they are smaller than { $error }, the error with which the clocks of the hosts could be compared. Round trips and variation need no common clock.
engine-probe-no-clock = No one-way delays: the clocks of the hosts could not be compared. Round trips and variation need no common clock.
engine-probe-program-stamps = Some arrivals were stamped by the program, not by the kernel: the waking of its thread is part of those delays.
import-iperf3-note = Imported from { $version }, which holds less than a run of sokudo: one end's view of each interval, no clock error, no state of the hosts.
import-iperf3-error = iperf3 says: { $error }

engine-steered = The load was changed from outside: users { $users }, requests per second { $rate }.
engine-steer-refused = { $host } did not change its load: { $why }
engine-quiet-phases = The phases were quiet: while load went on, nothing but load travelled, and the hosts handed over what they recorded afterwards.
engine-skew-repeated = { $phase } was repeated: its flows had begun { $spread } apart, more than { $max }.
engine-clock-step = The clock of { $host } moved by { $by } against this host's between two comparisons: numbers of several hosts from before and after do not lie on one axis.
engine-unheard =
    The host complained too often: { $count ->
        [one] one complaint was
       *[other] { $count } complaints were
    } left out.
engine-not-its-own =
    The host sent { $count ->
        [one] one value that is
       *[other] { $count } values that are
    } not its own or of no moment of the run, and left out.

engine-monitor-missing = The monitor { $monitor } does not observe { $host }: { $why }
engine-monitor-unanswered = The source of the monitor { $monitor } on { $host } had not answered for { $time } when the observation ended.
engine-process-none = { $host }: no process matches { $by }.
engine-process-found = { $host }: process { $pid } ({ $name }) matches { $by }.
engine-process-ended = { $host }: process { $pid } ({ $name }), chosen by { $by }, ended.
engine-process-cut = { $host }: { $n } processes match { $by }; { $most } of them are observed.
engine-process-unreadable = { $host }: open files and storage of process { $pid } ({ $name }, { $by }) cannot be read: { $why }
engine-scrape-failed = { $host }: no metrics from { $endpoint } after { $time }: { $why }
engine-scrape-answers = { $host }: { $endpoint } answers again; { $n } scrapes in { $time } gave no metrics.
engine-scrape-unresolved = its name cannot be resolved: { $why }
engine-scrape-unconnected = no connection: { $why }
engine-scrape-silent = it did not answer in time.
engine-scrape-broken = the connection broke: { $why }
engine-scrape-status = it answered with status { $status }.
engine-scrape-redirect = it answered with status { $status }, and redirects are not followed.
engine-scrape-not-http = its answer is not HTTP: { $why }
engine-scrape-too-long = its answer is longer than { $most }.
engine-mapping-missing = { $host }: { $endpoint } does not tell what the mapping names: { $names }
engine-scrape-garbage = line { $line } of its answer is not a metric: { $why }
engine-database-denied = the server refuses the user: { $why }
engine-database-full = the server has no room for a session: { $why }
engine-database-refused = the server refuses the question: { $why }
engine-server-stats = The server tells of itself to the monitor `{ $monitor }`, over one session more; --no-server-stats leaves it out.
