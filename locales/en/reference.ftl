# Messages of the reference that the program writes: pages, headings, and the fields of JSON documents.

## Pages

reference-written = This page is written by the program: `./dev docs` writes it again. Do not edit it.
reference-commands = Commands
reference-commands-about = Every command with its arguments and options, as `--help` shows them. Every command also has `--help`; `sokudo --version` prints the version. The exit codes are listed under [sokudo](#sokudo).
reference-metrics = Metrics
reference-metrics-about = Every metric that a record can hold, grouped by source. `sokudo metrics` prints the same list.
reference-metrics-kinds = A *counter* only grows within a run, a *gauge* goes up and down, and a *histogram* is a distribution, whose numbers are named by a last part: { $stats }.
reference-metrics-totals = The column “Total” says how the values of a phase's flows become the phase's total; without an entry, the workload computes the total itself, or there is none.
reference-findings = Findings
reference-findings-about = Every conclusion that sokudo can draw from a record: what it means, the signs by which it is recognised, and what to try. [What limited it](../../concepts/en/what-limited-it.md) explains how the conclusions are weighed against each other.
reference-monitors = Monitors
reference-monitors-about = Every monitor, which observes a host while a run goes on, with its options and the metrics that it emits. [Observing hosts](../../concepts/en/observing.md) explains how monitors are asked for; the [list of metrics](metrics.md) says what each metric counts.
reference-monitors-all = Options of every monitor
reference-monitors-standing = Observes every run.
reference-monitors-asked = Observes where it is asked for.
reference-monitors-waits = It may wait for its source, and therefore has a thread of its own.
reference-json = JSON documents
reference-json-about = Every JSON document that a command prints for programs, field by field. A field that exists keeps its meaning; new fields may be added. In a path, `[]` stands for each element of an array and `*` for each key of an object whose keys differ. A type `any` is not described further. Names of metrics are those of the [list of metrics](metrics.md).

## Headings of lists and tables

reference-metric = Metric
reference-unit = Unit
reference-kind = Kind
reference-total = Total
reference-meaning = Meaning
reference-option = Option
reference-default = Default
reference-field = Field
reference-type = Type
reference-signs = Signs
reference-try = What to try
reference-options = Options
reference-arguments = Arguments
reference-emits = Metrics
reference-printed = Printed by { $command }.

## What a conclusion is for

reference-purpose-describes = Describes what happened or how things were set up.
reference-purpose-limit = Says what limited the rate.
reference-purpose-loss = Says where datagrams were lost, which limits the rate.

## How flows become a total

reference-fold-sum = sum
reference-fold-max = largest
reference-fold-min = smallest
reference-fold-mean = mean, weighted by { $weight }
reference-fold-one = that of the only flow

## Sources of metrics

reference-source-selftest = What this machine's own sockets can do, measured before a check.
reference-source-group = How well the hosts of a group started together.
reference-source-host = The whole host, read by its monitors.
reference-source-self = sokudo's own process and threads.
reference-source-clock = The hosts' clocks against that of the controller.
reference-source-knee = A search for the knee: where requests begin to queue.
reference-source-sweep = A sweep over the values of an option.
reference-source-repeat = Repeated runs of one measurement. Everything else in the summary is that of the run in the middle, by its rate.
reference-source-tcp = The connection of a flow, read from the kernel (TCP_INFO); labels `flow` and `end` (`sender`, `receiver`).
reference-source-process = Single processes, by the monitor `process`.
reference-source-openmetrics = How scraping went, by the monitor `openmetrics`.
reference-source-datagram = The workload `datagram`: datagrams from one host to another.
reference-source-probe = The workload `probe`: single small datagrams there and back.
reference-source-bus = The workload `bus`: messages between hosts.
reference-source-dns = The workload `dns`: queries to a name server.
reference-source-http = The workloads `http` and `jmx`: requests to web servers.
reference-source-rr = The workload `rr`: requests and responses over connections that stay open.
reference-source-crr = The workload `crr`: a connection for each request.
reference-source-stream = The workload `stream`: bulk bytes over connections.

## Summary of a run

json-summary = The result of a run, schema `sokudo.summary/1`. Commands that measure print it with `--json`, too. Sentences are English in every language.
json-summary-schema = Name and version of the document: `sokudo.summary/1`
json-summary-run = Name of the run
json-summary-status = How the run ended: `ok`, `missed` when a check failed, `partial` or `failed`; a run that has not ended is `failed`
json-summary-workload = What the run is called after: a workload, `check`, `console`, …
json-summary-summary = Totals by name of the metric; a number that is not finite is left out
json-summary-ranges = Where the true value of some of these totals lies under the conditions of this run, by name
json-summary-ranges-each-low = Lower end, in the unit of the metric
json-summary-ranges-each-high = Upper end, in the unit of the metric
json-summary-ranges-each-confidence = Probability that the range holds the true value
json-summary-ranges-each-basis = What the range assumes: `batches` when the dependence of samples was estimated from batches, `independent` when the run was too short for that, so that the true range may be wider
json-summary-placement = Cores on which the busy threads of the phase ran that the summary describes; empty where they were not observed
json-summary-placement-host = Host of the thread
json-summary-placement-thread = Name of the thread
json-summary-placement-cores = Numbers of the cores on which it was seen, the most frequent first
json-summary-phases = Each measured phase; loads that ran at the same moment are phases of their own
json-summary-phases-name = Name of the phase
json-summary-phases-moment = Name of the moment: the same for loads that ran together, else the name of the phase
json-summary-phases-workload = Its workload
json-summary-phases-status = How it ended
json-summary-phases-summary = Totals of the phase, by name
json-summary-flows = The flows of the phase that the summary describes
json-summary-flows-id = Number of the flow within the phase
json-summary-flows-from = Name of the sending host
json-summary-flows-to = Name of the receiving host
json-summary-flows-labels = What the flow is like: transport, I/O mode, binding, …
json-summary-flows-metrics = Values by name of the metric; an absent one is not available, never zero
json-summary-flows-histograms = Distributions by name of the metric
json-summary-flows-histograms-each-n = Number of values
json-summary-flows-histograms-each-min = Smallest value, in the metric's unit
json-summary-flows-histograms-each-mean = Arithmetic mean
json-summary-flows-histograms-each-p50 = Median
json-summary-flows-histograms-each-p90 = 90th percentile
json-summary-flows-histograms-each-p99 = 99th percentile
json-summary-flows-histograms-each-p999 = 99.9th percentile
json-summary-flows-histograms-each-max = Largest value
json-summary-flows-complete = False when one end did not deliver its numbers
json-summary-checks = What had to hold
json-summary-checks-name = Short name of the check: `complete`, `accounting`, `attribution`, `loss`, …
json-summary-checks-passed = Whether it held
json-summary-checks-says = What was expected and what was seen
json-summary-checks-asked = The bound as the operator typed it; null for a condition that every run must meet
json-summary-checks-measured = The measured value; null when there is none
json-summary-checks-unit = Unit of that value
json-summary-checks-on = Phase, rate or pair of hosts that it was measured on; empty where the run has one measurement
json-summary-problems = What went wrong during the run
json-summary-problems-host = Host concerned; empty for the controller itself
json-summary-problems-phase = Phase concerned; empty outside phases
json-summary-problems-says = What happened
json-summary-problems-missing = What the record lacks because of it
json-summary-findings = Conclusions, strongest first
json-summary-findings-rule = Name of the [finding](findings.md)
json-summary-findings-severity = `info`, `caution` or `bad`
json-summary-findings-phase = Phase that it is about; empty for the whole run
json-summary-findings-says = The conclusion
json-summary-findings-evidence = What supports it
json-summary-findings-evidence-says = The observation in words
json-summary-findings-evidence-source = Where it was read
json-summary-findings-evidence-host = Host on which it was observed
json-summary-findings-evidence-metric = Metric whose series shows it
json-summary-findings-evidence-value = The number
json-summary-findings-evidence-unit = Unit of the number
json-summary-findings-next = What to try next
json-summary-verdict = The verdict, sentence by sentence
json-summary-limit = What limited the result, and how that was reached
json-summary-record = Directory of the record
json-summary-sweep = The curve; only when something was swept
json-summary-sweep-option = Option that was varied
json-summary-sweep-unit = Unit of `offered` and `delivered`
json-summary-sweep-knee = Index of the step at the knee; null when there is none within the steps
json-summary-sweep-steps = The steps by rising load
json-summary-sweep-steps-phase = Name of its phase
json-summary-sweep-steps-value = Value of the option, as it was given
json-summary-sweep-steps-status = How the step ended: `ok`, `partial` or `failed`
json-summary-sweep-steps-offered = Load that was offered, in `unit`
json-summary-sweep-steps-delivered = Load that was carried, in `unit`
json-summary-sweep-steps-p50_seconds = Median latency
json-summary-sweep-steps-p99_seconds = 99th percentile of the latency
json-summary-sweep-steps-lost_ratio = Share that was lost or failed
json-summary-search = The trials at the answer of a search; only when one found a rate
json-summary-search-trials = Trials at that rate, the confirming one included
json-summary-search-held_trials = Those of them that kept the bounds
json-summary-search-unit = Unit of `low`, `high` and `above`
json-summary-search-low = Lower end of the interval of the median of what these trials carried; null below two trials
json-summary-search-high = Upper end of that interval; null below two trials
json-summary-search-confidence = Probability that the interval holds the true median
json-summary-search-above = Lowest load above it that broke a bound: the limit lies between the two; null when none did
json-summary-repeats = Medians of repeated runs; only with --repeat
json-summary-repeats-runs = Runs of the measurement
json-summary-repeats-failed_runs = Runs that gave no rate
json-summary-repeats-phase = Phase of the run in the middle, by its rate: the totals and flows are those of this run
json-summary-repeats-figures = Key figures by name: the rate, the median and the 99th percentile of the latency, the share that was lost or failed
json-summary-repeats-figures-each-median = Median of the runs, in the unit of the metric
json-summary-repeats-figures-each-low = Lower end of the interval of the median; null below two runs
json-summary-repeats-figures-each-high = Upper end of the interval of the median; null below two runs
json-summary-repeats-figures-each-confidence = Probability that the interval holds the true median: at least 0.95 from six runs on
json-summary-repeats-figures-each-min = Smallest value
json-summary-repeats-figures-each-max = Largest value
json-summary-repeats-figures-each-runs = Runs that have this figure
json-summary-repeats-figures-each-values = Value of each run, in their order; null where a run has none
json-summary-pairs = Each pair of hosts; only when the pairs of a group were checked
json-summary-pairs-from = Host that sends or asks
json-summary-pairs-to = Host that receives or answers
json-summary-pairs-passed = Whether everything came through and every expectation was kept
json-summary-pairs-dead = Workloads of which nothing came through
json-summary-pairs-figures = Values by name of the metric
json-summary-pairs-wrong = What is wrong; null when nothing is

## Result files

json-jtl = What the rows of a result file say, in the words of the summary of a run. Commands that read result files print it with `--json`.
json-jtl-schema = Name and version of the document: `sokudo.summary/1`
json-jtl-run = Name of the file or the test
json-jtl-status = `ok`, or `missed` when a goal was not kept
json-jtl-workload = Always `http`
json-jtl-summary = Totals by name of the metric; the distribution `http.service_seconds` has `mean`, `p50`, `p95`, `p99` and `max`
json-jtl-checks = The goals that were given
json-jtl-checks-name = `goal`
json-jtl-checks-passed = Whether it was kept
json-jtl-checks-says = What was asked for and what was reached
json-jtl-checks-asked = The bound as the operator typed it; null for a condition that every run must meet
json-jtl-checks-measured = The measured value; null when there is none
json-jtl-checks-unit = Unit of that value
json-jtl-checks-on = Phase, rate or pair of hosts that it was measured on; empty where the run has one measurement
json-jtl-remarks = Names of remarks about the rows, such as rows that cannot be read
json-jtl-verdict = The verdict, sentence by sentence
json-jtl-report = The page that was written; null when none was

json-statistics = An object of `statistics.json`, which has one for each label and one named `Total`. The names are those of JMeter's report.
json-statistics-transaction = The label, or `Total`
json-statistics-sampleCount = Number of requests
json-statistics-errorCount = Number of failed requests
json-statistics-errorPct = Share of failed requests
json-statistics-meanResTime = Mean of the response times
json-statistics-medianResTime = Median of the response times
json-statistics-minResTime = Shortest response time
json-statistics-maxResTime = Longest response time
json-statistics-pct1ResTime = The first percentile that was asked for
json-statistics-pct2ResTime = The second one, or the last one where fewer were asked for
json-statistics-pct3ResTime = The third one, or the last one where fewer were asked for
json-statistics-throughput = Requests per second
json-statistics-receivedKBytesPerSec = Bytes received per second, in units of 1024
json-statistics-sentKBytesPerSec = Bytes sent per second, in units of 1024

## Runs

json-runs = One object per recorded run and line, newest first.
json-runs-run = Name of the run
json-runs-started = Start, RFC 3339
json-runs-workload = What the run is called after
json-runs-status = `running`, `ok`, `missed` when a check failed, `partial`, `failed`, or `broken` when the record cannot be read
json-runs-summary = Totals by name of the metric
json-runs-record = Directory of the record
json-runs-error = Why the record cannot be read; only for `broken`, which has no `started`, `workload` and `summary`

## The catalogue and the system

json-metrics = One object per metric and line.
json-metrics-name = Name of the metric
json-metrics-unit = Unit of its values
json-metrics-kind = `counter`, `gauge` or `histogram`
json-metrics-help = What is counted, in English

json-monitors = One object per monitor and line.
json-monitors-name = Name of the monitor
json-monitors-help = What it observes, in English
json-monitors-standing = Whether it observes every run
json-monitors-may_block = Whether it may wait for its source and has a thread of its own
json-monitors-metrics = Names of the metrics that it emits
json-monitors-options = JSON schema of its options

json-doctor = One object per facility of the system and line.
json-doctor-name = Name of the facility
json-doctor-available = Whether sokudo can use it
json-doctor-why = What it is used for, or why it is not available
json-doctor-change = What to change so that it is available

## Groups

json-hosts = One object per agent of a group and line. An agent that does not answer has only `name`, `answers`, `health`, `labels` and `certificate_until`.
json-hosts-name = Name of the agent
json-hosts-answers = Whether it answers
json-hosts-health = How well it answers: `ready`, `suspect` or `lost`
json-hosts-labels = Labels that its owner gave it
json-hosts-certificate_until = End of its certificate, RFC 3339; null when it is unknown
json-hosts-number = Number in the list
json-hosts-address = Address by which other hosts reach it
json-hosts-os = Operating system
json-hosts-cores = Number of cores
json-hosts-nics = Network interfaces
json-hosts-nics-name = Name of the interface
json-hosts-nics-mtu_bytes = Largest packet
json-hosts-nics-up = Whether it is up
json-hosts-version = Version of sokudo
json-hosts-workloads = Workloads that it offers
json-hosts-clock_offset_seconds = Its clock minus the controller's
json-hosts-clock_error_seconds = The offset is right within this

## Test plans

json-jmx = What a JMeter test plan holds, schema `sokudo.jmx-check/1`.
json-jmx-schema = Name and version of the document: `sokudo.jmx-check/1`
json-jmx-plan = Name of the plan; null when it cannot be read
json-jmx-written_by = Version of JMeter that wrote it
json-jmx-accepted = Whether it can be executed
json-jmx-errors = Number of errors
json-jmx-disabled = Number of disabled elements
json-jmx-load = Load that the plan will generate; null when it cannot be read
json-jmx-load-groups = Load of each thread group
json-jmx-load-groups-name = Name of the group
json-jmx-load-groups-stage = Stage in which it runs: `set_up`, `main` or `tear_down`
json-jmx-load-groups-users = Most concurrent users on each generator; null when the number depends on arrivals
json-jmx-load-groups-ramp_ms = Time until all users have started
json-jmx-load-groups-end_ms = Time after which it ends by the clock; null when loops or the operator end it
json-jmx-load-groups-loops = Iterations of each user; null when unlimited, or one per arrival
json-jmx-load-groups-samplers = Number of samplers
json-jmx-load-groups-think_ms = Mean pause before a sampler; null when it depends on expressions or on the load
json-jmx-load-users = Most concurrent users over all groups and generators
json-jmx-load-generators = Generators that each execute the whole plan
json-jmx-load-ramp_ms = Time until all users of the longest group have started
json-jmx-load-duration_ms = Time after which the main stage ends by the clock; null without a fixed end
json-jmx-elements = The elements of the plan, by class
json-jmx-elements-element = Name of the class
json-jmx-elements-count = Number of elements
json-jmx-elements-tier = Priority in which sokudo implements it: 1, 2 or 3; null for an unknown one
json-jmx-elements-treatment = What sokudo does with it
json-jmx-elements-first = Place of the first one in the file
json-jmx-functions = Functions that the plan calls
json-jmx-functions-function = Name of the function
json-jmx-functions-count = Number of calls
json-jmx-files = Files that the plan reads or writes
json-jmx-files-path = Path as the plan writes it
json-jmx-files-by = Element or function that uses it
json-jmx-files-is_written = Whether it is written
json-jmx-files-is_computed = Whether the path depends on values that only the run knows
json-jmx-files-needs_with = Whether it stands outside the folders of the plan and must be named with `--with`; null when the path is computed
json-jmx-properties = Properties that the plan reads
json-jmx-properties-name = Name of the property
json-jmx-properties-value = Value that the plan gets
json-jmx-properties-origin = Where the value comes from; null for the plan's own default
json-jmx-properties-has_default = Whether the plan states a default
json-jmx-properties-place = Place of the first use in the file
json-jmx-problems = Errors and warnings
json-jmx-problems-severity = `error` or `warning`
json-jmx-problems-key = Name of the problem
json-jmx-problems-place = Its place in the file
json-jmx-problems-says = What is wrong
json-jmx-problems-hint = How to mend it
json-jmx-problems_not_shown = Problems beyond those listed
json-jmx-probe = What a short trial measured; only with `jmx probe`
json-jmx-probe-users = Users of the trial
json-jmx-probe-samples = Finished samples
json-jmx-probe-failed = Failed samples
json-jmx-probe-response_seconds = Mean response time
json-jmx-probe-pause_seconds = Mean pause between two samples of a user
json-jmx-probe-demand_seconds = Time for which a sample keeps the busiest resource busy; null when it was not given
json-jmx-probe-knee_users = Users at the estimated knee; null when it cannot be estimated
json-jmx-resolved = The plan as sokudo executes it; only with `--resolved`

## Exported record

json-record = The whole record, in `record.json`.
json-record-manifest = The record's `run.json`, schema `sokudo.run/1`
json-record-environments = Environment by name of the host
json-record-environments-each-host = Name of the host
json-record-environments-each-facts = Facts about the host
json-record-environments-each-facts-section = Group of the fact: `hardware`, `kernel`, `network`, …
json-record-environments-each-facts-name = Name of the fact
json-record-environments-each-facts-value = Its value; null when it could not be read
json-record-environments-each-facts-unit = Unit of the value where it is a number
json-record-environments-each-facts-source = Where it was read, or why it could not be
json-record-series = Series of values
json-record-series-host = Host that observed it
json-record-series-source = Workload or monitor that emitted it
json-record-series-metric = Name of the metric
json-record-series-labels = What tells it apart from other series of the metric
json-record-series-unit = Unit of the values
json-record-series-points = Pairs of the time since the run's start in nanoseconds, and the value
json-record-histograms = Distributions of intervals
json-record-histograms-host = Host that observed it
json-record-histograms-source = Workload or monitor that emitted it
json-record-histograms-metric = Name of the metric
json-record-histograms-labels = What tells it apart from other distributions of the metric
json-record-histograms-unit = Unit of the values
json-record-histograms-t0_ns = Start of the interval, since the run's start
json-record-histograms-t1_ns = End of the interval, since the run's start
json-record-histograms-n = Number of values
json-record-histograms-p50 = Median
json-record-histograms-p90 = 90th percentile
json-record-histograms-p99 = 99th percentile
json-record-histograms-p999 = 99.9th percentile
json-record-histograms-p9999 = 99.99th percentile
json-record-histograms-max = Largest value
json-record-events = What happened at one moment
json-record-events-t_ns = Time since the run's start
json-record-events-host = Host on which it happened
json-record-events-source = What reported it
json-record-events-kind = Short name of its kind: `phase-begin`, `peer-lost`, `clock-jump`, …
json-record-events-says = The message: its `key`, and its `args`
json-record-findings = Conclusions, with their messages as `key` and `args`
json-record-checks = What had to hold, with messages as `key` and `args`

reference-test = How to test it
reference-contradictions = What refutes conclusions
json-summary-limit-cause = Name of the finding that says what limited the result; null when that is unknown
json-summary-limit-confirmed = Whether an experiment confirmed the cause; null when none was made
json-summary-limit-says = The cause in a sentence
json-summary-limit-for = Observations that support it, at least two made in different ways; members as those of `findings[].evidence`
json-summary-limit-against = Observations that speak against it
json-summary-limit-beside = Names of other causes of about the same weight
json-summary-limit-suspected = Names of causes that one kind of observation only suggests
json-summary-limit-refuted = Names of causes that an observation refuted
json-summary-limit-missing = Names of metrics that rules would have read and the record does not hold
json-summary-limit-for-says = The observation in words
json-summary-limit-for-source = Where it was read
json-summary-limit-for-host = Host on which it was observed
json-summary-limit-for-metric = Metric whose series shows it
json-summary-limit-for-value = The number
json-summary-limit-for-unit = Unit of the number
json-summary-limit-against-says = The observation in words
json-summary-limit-against-source = Where it was read
json-summary-limit-against-host = Host on which it was observed
json-summary-limit-against-metric = Metric whose series shows it
json-summary-limit-against-value = The number
json-summary-limit-against-unit = Unit of the number
