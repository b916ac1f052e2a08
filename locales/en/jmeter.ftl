# Messages about JMeter plans. Keys: jmx-<meaning>; a hint is named after its message.

# Reading the file
jmx-too-large = the file is larger than { $most }
jmx-unknown-encoding = unknown encoding `{ $encoding }`
jmx-malformed-text = this line has bytes that are not valid in { $encoding }
jmx-bytes-replaced = line { $line } has bytes that are not UTF-8: as JMeter does, each is read as U+FFFD, whatever encoding the file declares
jmx-broken-xml = the XML is not well-formed: { $why }
jmx-not-closed = `<{ $tag }>` is not closed before the end of the file
jmx-empty = the file has no element
jmx-text-outside = text stands before the first element
jmx-unknown-entity = `&{ $entity };` is not a predefined entity of XML
jmx-doctype = document type definitions are refused: custom entities can expand to huge texts or read other files
jmx-too-deep = elements are nested too deeply, or there are too many (at most { $most })
jmx-too-wide = an element has more than { $most } attributes
jmx-too-many = more than { $most } elements after expanding modules and includes
jmx-not-a-plan = `<{ $tag }>` is not the root of a JMeter test plan, which is `<jmeterTestPlan>`
jmx-no-tree = `<jmeterTestPlan>` has no `<hashTree>`
jmx-not-paired = `<{ $tag }>` is out of order: each element must be followed by the `<hashTree>` of its children
jmx-bad-reference = the reference leads to no element before it, or to too much
jmx-no-editor = `{ $element }` has no `guiclass`: it is executed here, but JMeter does not load a plan with such an element
jmx-unknown-property-tag = `<{ $tag }>` is not a valid property tag
jmx-not-executed = `{ $what }` is read but cannot be executed yet
jmx-not-executed-hint = remove it from the plan or disable it; `--unsupported warn` runs the plan without it
jmx-data-unreadable = the data file `{ $file }` cannot be read: { $why }
jmx-no-plan = the file has no enabled `TestPlan`

# Elements
jmx-unknown-element = `{ $element }` (“{ $name }”) is an unknown element
jmx-unknown-element-hint = disable it, or choose `--unsupported warn` to run without it and everything below it
jmx-needs-scripts = `{ $element }` (“{ $name }”) has a script of the Bean Scripting Framework, which is not supported
jmx-script-flaw = the script is not valid JavaScript: { $why }
jmx-script-java-hint = use JavaScript's own objects: Date, Math.random, JSON, regular expressions
jmx-script-java = line { $line } of the script uses a Java class (`{ $word }`), and Java is not available
jmx-script-language-hint = write it in Groovy, BeanShell or JavaScript: vars, props, prev, ctx, log and sampler are available
jmx-script-language = the script is in { $language }: Groovy, BeanShell and JavaScript are supported
jmx-java-class = the Java request is of class { $class }: JMeter's own JavaTest and SleepTest are supported
jmx-script-syntax = line { $line } of the script: `{ $what }` is not understood here
jmx-script-incomplete = line { $line } of the script: it ends too early
jmx-script-construct = line { $line } of the script: the construct `{ $what }` is not supported
jmx-script-class = line { $line } of the script: the class `{ $what }` is not supported, or not imported
jmx-script-method = line { $line } of the script: there is no support for `{ $what }` (in brackets: the number of arguments)
jmx-script-property = line { $line } of the script: there is no support for the property `{ $what }`
jmx-script-fails = line { $line } of the script: there is no `{ $what }`, so that the script fails there, as in JMeter
jmx-script-name = line { $line } of the script: nothing sets the variable `{ $what }` before
jmx-script-depth = line { $line } of the script: more than { $what } levels or members in a row
jmx-script-subset-hint = `docs/reference/en/jmx-scripts.md` lists what of Groovy and BeanShell is executed
jmx-not-supported = `{ $element }` (“{ $name }”) is not supported
jmx-unheeded-property = property `{ $property }` is `{ $value }`, which has no effect in sokudo
jmx-left-out = { $element } "{ $name }" is left out: it would write a file, send a mail or ask other hosts, and the load is the same without it
jmx-graph-only = this listener draws in the editor alone and names no file: it does nothing here
jmx-concurrency-iterations = a limit of iterations in this group is not supported: the plug-in begins a new user for each that reaches it
jmx-unread-property = property `{ $property }` of `{ $element }` is not read
jmx-java-client = the plan asks for the HTTP client of Java: requests are sent as HttpClient4 sends them, so that the headers `User-Agent`, `Accept` and `Content-Type`, their order, the escapes in forms, and the use of connections differ; `PATCH` is sent, which that client refuses
jmx-awaits-continue = because of the header `Expect: 100-continue` JMeter waits for the server's permission, for up to 3 seconds, before it sends a body: here the body is sent at once
jmx-outside-groups = “{ $name }” is outside all thread groups and is not executed
jmx-group-inside = thread group “{ $name }” is inside another element
jmx-below-sampler = “{ $name }” is below a sampler and is not executed
jmx-two-managers = several managers of one kind are in scope of “{ $name }”; as in JMeter, the outermost is used: “{ $manager }”

# Modules and includes
jmx-include-outside = `{ $path }` cannot be included: { $why }
jmx-include-unreadable = `{ $path }` cannot be included: { $why }
jmx-include-missing = `{ $path }` cannot be included: { $why }; as in JMeter, the plan goes on without it
jmx-include-circle = `{ $path }` contains itself: { $circle }
jmx-include-as-written-hint = JMeter takes the path as it is written and evaluates no function or variable in it
jmx-no-fragment = `{ $path }` has no test fragment directly below its test plan
jmx-module-included = module "{ $name }" stands in an included file: JMeter connects modules before it includes files, and executes nothing in its place
jmx-no-module = the plan has no element at the path `{ $path }`

# Values
jmx-wrong-type = property `{ $property }` must be of type { $type }, not `{ $value }`
jmx-read-as-zero = `{ $value }` of property `{ $property }` counts as { $zero }, as in JMeter
jmx-jdbc-driver = the JDBC driver `{ $driver }` is not supported
jmx-jdbc-driver-hint = supported are org.postgresql.Driver, org.mariadb.jdbc.Driver, com.mysql.cj.jdbc.Driver and org.sqlite.JDBC
jmx-jdbc-url = the driver cannot connect to `{ $url }`, or as sokudo cannot
jmx-jdbc-hosts = `{ $url }` names several hosts, which is not supported
jmx-jdbc-option = the option `{ $option }` of `{ $url }` is not supported
jmx-jdbc-url-hint = write `{ $form }`, with options that change nothing of what the driver shows
jmx-jdbc-output = output parameters (OUT, INOUT) of callable statements are not supported
jmx-jdbc-result-variable = scripts read the result variable `{ $variable }` as an object, which is not supported
jmx-jdbc-result-variable-hint = name the columns under Variable Names: NAME_1, NAME_2 … and NAME_# hold them as texts
jmx-jdbc-sqlite-update = with sqlite-jdbc, JMeter executes an Update Statement and then reports it as failed; a Prepared Update Statement succeeds
jmx-cookie-policy = the cookie policy `{ $policy }` is not supported yet
jmx-unknown-word = property `{ $property }` is `{ $word }`, which is not one of: { $known }
jmx-out-of-range = property `{ $property }` is { $value }, which is not between 0 and { $most }
jmx-no-duration = the scheduler is enabled, so `{ $property }` must be more than 0 seconds
jmx-bad-schedule = the schedule is not valid: { $why }
jmx-bad-row = a row of `{ $property }` lacks a required number

# Expressions
jmx-unknown-function = `{ $function }` is not a function of JMeter 5.6; functions of plug-ins are not supported
jmx-refused-function = `{ $function }` cannot be executed: { $why }
jmx-refused-path = `{ $element }` cannot evaluate the { $language } expression `{ $path }`: { $why }
jmx-script-function = function `{ $function }`: { $why }
jmx-argument-count =
    function `{ $function }` takes { $takes }, not { $got } { $got ->
        [one] argument
       *[other] arguments
    }
jmx-not-closed-call = `{"}"}` must follow the call of `{ $function }` in `{ $text }`
jmx-unclosed-expression = a `${"{"}` without `{"}"}` in `{ $text }`: the text after it is sent as it is
jmx-too-complex = expressions are nested too deeply in `{ $text }`
jmx-fault = function `{ $function }` failed: { $why }
jmx-variable-circle = variable `{ $variable }` refers to itself through `${"{"}…{"}"}`
jmx-variable-too-early = variable `{ $variable }` refers to one of the same element, which is not set yet; put it into a later element

# Probable mistakes of the author
jmx-no-group = the plan has no thread group: nothing is executed
jmx-empty-group = group “{ $group }” has no sampler
jmx-no-users = group “{ $group }” has no users
jmx-json-counts = { $variables } variables, { $paths } paths and { $defaults } default values do not fit together: JMeter fails there and loses each of these samples, and so it is here
jmx-json-counts-hint = give each variable a path and a default value, separated by `;`
jmx-continues-forever =
    The users of this group start over after their { $loops ->
        [one] loop
       *[other] { $loops } loops
    }, without end: `LoopController.continue_forever` is not false.
jmx-endless =
    { $ends ->
        [failure] users of “{ $name }” loop until a sample fails: nothing else in the plan ends them
       *[no] users of “{ $name }” loop without end: nothing in the plan ends them
    }
jmx-endless-hint = give the thread group a loop count, or turn its scheduler on and state a duration; or run the plan with `--duration 60s`
jmx-endless-loop =
    { $ends ->
        [failure] loop “{ $name }” is left only when a sample fails
       *[no] loop “{ $name }” is never left, so its users never end
    }
jmx-endless-loop-hint = give the loop a count or its thread group a duration, or put a flow control action into it that breaks it; or run the plan with `--duration 60s`
jmx-no-loops = group “{ $group }” does nothing: its loop count is 0
jmx-ramp-too-long = group “{ $group }” ends before all of its users have started
jmx-timer-first = users of “{ $group }” pause before their first request, too: timers act before each sampler
jmx-users-add-up =
    thread groups run concurrently: { $parts } = { $total } { $total ->
        [one] user
       *[other] users
    } on each generator
jmx-property-unset = property `{ $property }` is not set; the plan gets `{ $value }`
jmx-property-unset-hint = set it: `-J { $property }=VALUE`
jmx-variable-unset = variable `{ $variable }` is never set: `${"{"}{ $variable }{"}"}` is sent as it is
jmx-gaussian-mean = “{ $timer }” pauses { $mean } ms on average, not { $offset } ms: the absolute value is taken
jmx-no-keep-alive = HTTP samplers without keep-alive: { $count }; each of their requests opens a connection, which costs CPU and local ports on both ends
jmx-saves-responses = “{ $listener }” saves whole responses or requests to `{ $file }`
jmx-responses-computed = the responses of this listener are not saved: the begin of their names has variables, or a variable is to get the name
jmx-no-backend = `BackendListener` with the unsupported client `{ $client }`: results are not sent to it
jmx-no-backend-hint = use `-l FILE` or `--json` and load that into the database, or remove it from the plan
jmx-no-data-file = data file `{ $file }` does not exist
jmx-no-data-file-hint = relative paths are resolved against the plan's directory
jmx-data-file-unreadable = data file `{ $file }` cannot be read: { $why }

# The output of `sokudo jmx check`
jmx-show-head =
    { $groups } { $groups ->
        [one] group
       *[other] groups
    }, { $samplers } { $samplers ->
        [one] sampler
       *[other] samplers
    }; { $disabled } { $disabled ->
        [one] element
       *[other] elements
    } disabled
jmx-show-written-by = written by JMeter { $version }
jmx-show-load = Load
jmx-show-elements = Elements
jmx-show-functions = Functions
jmx-show-files = Files that the plan names
jmx-file-read = read
jmx-file-written = written
jmx-file-computed = its path is known only while the plan runs
jmx-file-needs-with = outside: needs --with
jmx-file-within = within its folders
jmx-show-properties = Properties
jmx-show-problems = Problems
jmx-show-group = group
jmx-show-stage = stage
jmx-show-users = users
jmx-show-ramp = ramp
jmx-show-end = ends after
jmx-show-loops = loops
jmx-show-think = mean pause
jmx-show-element = element
jmx-show-count = count
jmx-show-tier = tier
jmx-show-treatment = treatment
jmx-show-total =
    { $users } { $users ->
        [one] user
       *[other] users
    } on { $generators } { $generators ->
        [one] generator
       *[other] generators
    }, all started after { $ramp }
jmx-show-error = error
jmx-show-warning = warning
jmx-show-dropped =
    { $count } { $count ->
        [one] more problem is
       *[other] more problems are
    } not shown
jmx-show-fine = This plan can be executed completely. Nothing was sent.
jmx-show-fine-probed = This plan can be executed completely.
jmx-show-refused =
    This plan is refused: { $errors } { $errors ->
        [one] error
       *[other] errors
    }.
jmx-stage-setup = setUp
jmx-stage-main = main
jmx-stage-teardown = tearDown
jmx-treated-runs = supported
jmx-treated-no-effect = no effect outside the editor
jmx-treated-left-out = left out with a warning; the load is the same
jmx-treated-scripts = a script in a language that is not supported
jmx-treated-not-supported = not supported
jmx-treated-unknown = unknown
jmx-origin-built-in = built in
jmx-origin-default = the plan's default
jmx-origin-unset = not set

# The page of elements (`sokudo jmx elements`)
jmx-reference-title = Elements and functions of JMeter plans
jmx-reference-elements = All elements that `sokudo jmx check` knows. This page is generated by `sokudo jmx elements`. Any other element is an error unless `--unsupported warn` or `skip` leaves it out. A number or boolean may always be an expression. Tiers are the order in which elements were implemented, by the number of plans that use them.
jmx-reference-properties = properties read, and their types
jmx-reference-functions = Functions are called as in JMeter: `${"{"}__name(argument,argument){"}"}`; `\,` is a comma inside an argument. All random choices follow from the run's seed. Brackets mark optional arguments.
jmx-beside = beside JMeter 5.6.3
jmx-beside-equal = equal in the project's plans since { $day }
jmx-beside-differs = compared since { $day }; differs: { $what }
jmx-beside-nothing = not compared
jmx-differs-include = a file that is not a plan, has no test fragment or is outside of the plan's folders refuses the plan, where JMeter goes on without it
jmx-differs-transaction = one that several flow actions leave early is counted once by the summary lines
jmx-differs-responses = names with variables, and a variable that is to get the name, are left out with a warning. The column for the file's name stays empty, and a file of a failed connection has the failure without stack trace
jmx-differs-random = random choices follow from the run's seed
jmx-differs-random-variable = without a seed of its own, its choices follow from the run's seed
jmx-differs-exceptions = the text of an exception, and the bytes that JMeter counts for it
jmx-differs-not-xml = a body that is not XML, or a path that is not valid, adds no failed assertion to the row
jmx-differs-jdbc = the drivers are those of PostgreSQL 42.7, MariaDB 3.5, MySQL 9 and SQLite 3.50; other drivers, client certificates, several hosts and options that change what a driver does are refused
jmx-differs-jdbc-rows = output parameters are refused, result variables are not set, and of rare types (BLOB of MariaDB, composite types and networks of PostgreSQL) the text is not that of the Java object
jmx-differs-debug = JMeter's own variables and properties, of which few are shown, so that the bytes differ
jmx-differs-xml-messages = the messages about text that is not well-formed XML and about invalid paths
jmx-differs-tolerant = what a tolerant parser makes of text that is not well-formed, and the messages about invalid paths
jmx-differs-parts-of-parts = sub-samples of sub-samples, as in frames, are not examined
jmx-differs-faults = the message of a failed script is the exception with its message as far as it is known here: that of a missing method or variable and the drawing of an assert are not
jmx-differs-faults-of-beanshell = the message of a failed script is not that of BeanShell
jmx-differs-path-messages = the messages about invalid paths are other words
jmx-reference-compared = Compared with JMeter
jmx-reference-equal = The plans in `crates/sokudo/tests/plans` send the same requests and write the same rows in JMeter 5.6.3; `./dev compare-jmeter PLAN...` compares any other. Equal by them: HTTP requests with redirects, cookies, headers and embedded resources; `TransactionController` in both kinds, ended by errors, the duration and flow actions; loops, conditions, `SwitchController`, `InterleaveControl`, `OnceOnlyController`, modules and includes; `CSVDataSet`; the extractors and assertions on regular expressions, boundaries, CSS, JSON paths and JMESPath; assertions on texts, sizes and durations; each with sub-samples, variables, or both; the counts of the summary lines.
jmx-reference-differs = Known to differ: `XPath2Extractor` examines the text of each sub-sample, where JMeter searches that of the main sample once for each. Sub-samples of sub-samples, as in frames, are not examined. The messages about invalid JSON paths are other words. `MailerResultCollector` sends nothing. A transaction that several flow actions leave early is counted once by the summary lines.
jmx-reference-call = call
jmx-family-plan = Plan
jmx-family-group = Thread groups
jmx-family-controller = Controllers
jmx-family-sampler = Samplers
jmx-family-timer = Timers
jmx-family-config = Configuration elements
jmx-family-pre = Preprocessors
jmx-family-post = Postprocessors
jmx-family-assertion = Assertions
jmx-family-listener = Listeners
jmx-family-tool = Tools of the editor
jmx-run-announce =
    { $users } { $users ->
        [one] user
       *[other] users
    }, thread groups: { $groups }
jmx-run-announce-open =
    { $rate } { $rate ->
        [one] arrival
       *[other] arrivals
    } per second, thread groups: { $groups }
jmx-run-announce-schedule = arrivals as the plan's schedule says, thread groups: { $groups }
jmx-run-warnings =
    { $count ->
        [one] { $count } warning about the plan: `sokudo jmx check` prints it
       *[other] { $count } warnings about the plan: `sokudo jmx check` prints them
    }
jmx-run-unwritten = { $bytes } bytes of results could not be written: { $error }
jmx-run-died = event loops that died: { $count }
jmx-run-problem = { $what }
jmx-run-stuck = { $count ->
    [one] an event loop was left behind: an element of the plan, a script or an extractor, did not come to its end
   *[other] { $count } event loops were left behind: elements of the plan, scripts or extractors, did not come to their end
}
jmx-run-trouble =
    users could not do something { $count ->
        [one] once
       *[other] { $count } times
    }: { $what }
jmx-run-lost-rows =
    { $count ->
        [one] One row of results found no room and was
       *[other] { $count } rows of results found no room and were
    } not written

jmx-run-announce-divided =
    { $generators ->
        [one] One generator has them all.
       *[other] They are divided among { $generators } generators, which begin at the same moment.
    }
jmx-run-announce-replicated =
    { $generators ->
        [one] One generator executes the whole plan.
       *[other] That is the plan once on each of { $generators } generators, which begin at the same moment.
    }
jmx-run-no-dashboard = `-o { $folder }` makes no dashboard: it needs -l and -e, or -g
jmx-run-unread = `-J { $name }` has no effect: the plan does not read this property. It reads: { $read }
jmx-run-unread-none = `-J { $name }` has no effect: the plan reads no properties
jmx-run-no-key-store = { $place }: a KeystoreConfig chooses among certificates, and no key store was named: users show none (-Djavax.net.ssl.keyStore=FILE)
jmx-run-options-ignored = taken and without meaning here: { $options }
jmx-show-probe = One user per group
jmx-probe-saw =
    { $users } { $users ->
        [one] user
       *[other] users
    } sent { $samples } { $samples ->
        [one] request
       *[other] requests
    }, { $failed } of which failed: { $response } of response and { $pause } of pause each
jmx-probe-knee =
    N* = (response + pause) / { $demand } of the busiest resource = { $users } { $users ->
        [one] user: beyond it
       *[other] users: beyond them
    } the response grows, not the throughput
jmx-probe-least =
    N* is at least { $users } { $users ->
        [one] user
       *[other] users
    }, if all of the response keeps one resource busy; --demand says what one request really costs it
