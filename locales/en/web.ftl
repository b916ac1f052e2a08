# Messages of the web page: web-<place>-<meaning>. Values in braces are filled in by the page's script.

## Header
web-state-idle = ready
web-state-works = running
web-state-waits = record open
web-state-stopping = stopping
web-state-away = connection lost, trying again
web-tool-theme = Light or dark

## What is going on
web-lead-first = Collect node info to see which hosts are there, or start a load test below.
web-lead-ready = { $n } hosts are ready. Write a script for them, change it as you like, and run it.
web-lead-alone = One host is ready. A pair needs two: start `sokudo serve` or `sokudo agent` on another one.
web-lead-watch = Nothing runs.
web-lead-collect = Asking the hosts who they are …
web-lead-run = The script is being carried out.
web-lead-console = The console's record is open: what you say next belongs to it.
web-lead-specs = The specifications are being carried out, each by its schedule.
web-lead-measure = Load is running.
web-lead-stopping = Stopping. What was measured until now is kept.
web-lead-over = The run is over.
web-lead-nothing = The run is over; nothing was measured, and no record is kept.
web-phase = phase { $name }
web-phase-of = of { $time }
web-report-open = Open the report
web-dropped =
    { $n } { $n ->
        [one] message was
       *[other] messages were
    } dropped on the way to this page; the record has all of them.

## Buttons
web-do-collect = Collect node info
web-do-emit = Write script
web-do-run = Run
web-do-stop = Stop
web-do-close = Close the record

## Hosts
web-hosts-title = Hosts
web-hosts-none = No host has been asked yet. “Collect node info” calls every host and compares its clock with this one.
web-hosts-cores =
    { $n } { $n ->
        [one] core
       *[other] cores
    }
web-hosts-clock = clock { $time } ± { $error }
web-hosts-one-clock = same clock
web-hosts-ready = ready
web-hosts-suspect = suspect
web-hosts-lost = lost
web-hosts-cpu = CPU busy
web-hosts-speak = Talk to { $host }
web-board-title = Specifications
web-board-green = up to date
web-board-yellow = to do
web-board-red = failed

## Tracks
web-tracks-title = Over time
web-tracks-how = Drag to zoom all charts, double-click to return. With a chart in focus: arrows move the cursor, + and − zoom, Home returns.
web-track-throughput = Data that arrives, per host
web-track-answers = Answers per second, per host
web-track-users = Users
web-track-latency = Latency: median and 99th percentile of the slowest flow
web-track-loss = Lost or failed, worst flow
web-track-processes = CPU of the observed processes, and of the sessions of a database, per host (1 = one core)
web-track-queues = Requests that wait for the server: to be accepted, for a thread, for a database connection
web-track-waits = Sessions on the database by what they do or wait for
web-track-cpu = CPU busy, per host
web-track-earlier = { $name } (earlier)
web-tracks-start = after the start

## Script
web-script-title = Script
web-script-language = Language
web-script-lines = console lines
web-script-javascript = JavaScript
web-script-pairs = Pairs
web-script-all = all
web-script-size = Bytes each way
web-script-times = Times
web-script-duplex = both ways at once
web-script-label = The script
web-script-hint = Write console lines or JavaScript here, or let “Write script” make the lines for all hosts at once.
web-script-place = line { $n }

## Console
web-console-title = Console
web-console-to = To
web-console-typed = as typed
web-console-all = all hosts
web-console-host = { $n } { $host }
web-console-line = Line
web-console-send = Send
web-console-none = Lines such as `hosts`, `syncTime` or `node 1 rr 2 --count 1000` are carried out at once, and one record is kept of them. `help` lists the words; arrow up brings earlier lines back.
web-console-record = Everything said since the record was opened goes into one report. Closing it makes the report.

## Records
web-records-title = Records
web-records-none = No runs yet. The first one appears here when it is over.
web-records-report = Report
web-records-again = Run it again
web-records-failed = { $share } failed
web-records-hidden = The record holds no secrets: fill in what reads “(hidden)”, and start it.
web-records-under = Lay under
web-records-under-off = Take away
web-status-ok = complete
web-status-missed = a check failed
web-status-partial = partial
web-status-failed = failed
web-status-running = running
web-records-more = Show all { $n }

## Errors
web-error-sent = The order did not reach the program: { $error }

## Numbers while a run goes on
web-figure-throughput = arrives
web-figure-answers = answers
web-figure-users = users
web-figure-p50 = latency, median
web-figure-p99 = latency, 99th percentile
web-figure-loss = lost or failed
web-figure-cpu = busiest CPU

## Web server
web-report-kept = The command has ended. `sokudo show { $name }` shows its record again.
web-steer-title = While it runs:
web-steer-users = users or connections
web-steer-rate = requests per second
web-steer-same = as it is
web-steer-do = Change

## load test
web-load-title = Load test
web-load-what = What
web-load-http = one URL
web-load-jmx = a JMeter plan
web-load-url = URL
web-load-users = Users
web-load-ramp = They come over
web-load-duration = For
web-load-rate = Requests per second
web-load-slo = Must hold
web-load-properties = Properties (-J)
web-load-monitors = Monitors
web-load-none = at once
web-load-as-plan = as the plan says
web-load-closed = as answers come
web-load-files = Plan and data files
web-load-plan = The plan, or paste it here
web-load-too-large = The files together have more than { $n } MiB.
web-load-do = Start

## failures
web-mix-title = Load by label and kind
web-mix-label = Label or kind
web-mix-share = Share so far
web-mix-rate = Rate
web-mix-p50 = p50
web-mix-p99 = p99
web-mix-failed = Failed
web-settings-title = Settings of the database in force
web-settings-name = Setting
web-settings-value = Value
web-settings-commits = Acknowledged commits
web-settings-kept = outlive a crash
web-settings-at-risk = a crash may lose them
web-failures-title = Failures so far
web-failures-label = Label
web-failures-code = Code
web-failures-message = Message
web-failures-count = How many
