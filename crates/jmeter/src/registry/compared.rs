//! Comparison of the elements with JMeter: since when plans with them are compared, and what differs.

/// Result of a comparison of an element with JMeter 5.6.3.
#[derive(Debug, Clone, Copy)]
pub struct Compared {
    /// Name of its class in the registry.
    pub element: &'static str,
    /// Day from which on plans of the project with it are executed by both.
    pub since: &'static str,
    /// Message that says what differs; `None`: nothing known.
    pub differs: Option<&'static str>,
}

const fn equal(element: &'static str, since: &'static str) -> Compared {
    Compared {
        element,
        since,
        differs: None,
    }
}

const fn differs(element: &'static str, since: &'static str, what: &'static str) -> Compared {
    Compared {
        element,
        since,
        differs: Some(what),
    }
}

/// The first plans were compared on this day.
const FIRST: &str = "2026-11-22";
/// More of them.
const MORE: &str = "2026-11-23";

/// Plans as people write them.
const PEOPLES: &str = "2026-11-24";

/// Statements on databases.
const DATABASES: &str = "2026-11-25";

/// Defaults of any request, and responses in files of their own.
const DEFAULTS: &str = "2026-11-27";

/// Requests over plain TCP.
const SOCKETS: &str = "2026-11-27";

/// Elements of plans that users have published.
const PUBLISHED: &str = "2026-11-28";

/// The elements that are compared.
pub const COMPARED: &[Compared] = &[
    equal("TestPlan", FIRST),
    equal("TestFragmentController", MORE),
    equal("ThreadGroup", FIRST),
    equal("SetupThreadGroup", FIRST),
    equal("PostThreadGroup", FIRST),
    equal("UltimateThreadGroup", MORE),
    equal("SteppingThreadGroup", MORE),
    differs("IncludeController", FIRST, "jmx-differs-include"),
    equal("ModuleController", FIRST),
    equal("GenericController", FIRST),
    equal("LoopController", FIRST),
    equal("CriticalSectionController", PUBLISHED),
    differs("TransactionController", FIRST, "jmx-differs-transaction"),
    equal("IfController", FIRST),
    equal("WhileController", FIRST),
    equal("ForeachController", FIRST),
    equal("OnceOnlyController", FIRST),
    differs("RandomController", MORE, "jmx-differs-random"),
    equal("ThroughputController", MORE),
    equal("InterleaveControl", FIRST),
    equal("SwitchController", FIRST),
    equal("RunTime", MORE),
    differs("RandomOrderController", MORE, "jmx-differs-random"),
    differs("HTTPSamplerProxy", FIRST, "jmx-differs-exceptions"),
    equal("TestAction", FIRST),
    differs("JSR223Sampler", MORE, "jmx-differs-faults"),
    equal("JavaSampler", PEOPLES),
    differs("DebugSampler", PEOPLES, "jmx-differs-debug"),
    equal("ConstantTimer", MORE),
    equal("ConstantThroughputTimer", MORE),
    differs("UniformRandomTimer", MORE, "jmx-differs-random"),
    differs("GaussianRandomTimer", MORE, "jmx-differs-random"),
    differs("PoissonRandomTimer", MORE, "jmx-differs-random"),
    equal("HttpDefaultsGui", MORE),
    equal("SimpleConfigGui", DEFAULTS),
    equal("JavaConfig", DEFAULTS),
    equal("Arguments", FIRST),
    equal("HeaderManager", FIRST),
    equal("CookieManager", FIRST),
    equal("CacheManager", MORE),
    equal("AuthManager", MORE),
    equal("DNSCacheManager", MORE),
    equal("CSVDataSet", FIRST),
    equal("CounterConfig", FIRST),
    equal("JSR223PreProcessor", MORE),
    equal("JSR223PostProcessor", MORE),
    differs("RegexExtractor", FIRST, "jmx-differs-parts-of-parts"),
    differs("BoundaryExtractor", FIRST, "jmx-differs-parts-of-parts"),
    differs("HtmlExtractor", FIRST, "jmx-differs-parts-of-parts"),
    differs("JSONPostProcessor", FIRST, "jmx-differs-path-messages"),
    equal("JMESPathExtractor", FIRST),
    differs("XPathExtractor", FIRST, "jmx-differs-not-xml"),
    differs("XPath2Extractor", PEOPLES, "jmx-differs-not-xml"),
    differs("ResponseAssertion", FIRST, "jmx-differs-parts-of-parts"),
    equal("SizeAssertion", FIRST),
    equal("DurationAssertion", FIRST),
    differs("JSONPathAssertion", FIRST, "jmx-differs-path-messages"),
    equal("JMESPathAssertion", FIRST),
    equal("MD5HexAssertion", PUBLISHED),
    equal("XMLAssertion", PEOPLES),
    differs("XPathAssertion", PEOPLES, "jmx-differs-tolerant"),
    differs("XPath2Assertion", PEOPLES, "jmx-differs-xml-messages"),
    equal("JSR223Timer", PEOPLES),
    differs("JSR223Assertion", PEOPLES, "jmx-differs-faults"),
    equal("JSR223Listener", PEOPLES),
    differs(
        "BeanShellSampler",
        PEOPLES,
        "jmx-differs-faults-of-beanshell",
    ),
    equal("BeanShellTimer", PEOPLES),
    equal("BeanShellPreProcessor", PEOPLES),
    equal("BeanShellPostProcessor", PEOPLES),
    differs(
        "BeanShellAssertion",
        PEOPLES,
        "jmx-differs-faults-of-beanshell",
    ),
    equal("BeanShellListener", PEOPLES),
    equal("UserParameters", PEOPLES),
    equal("RegExUserParameters", PEOPLES),
    equal("AnchorModifier", DEFAULTS),
    equal("URLRewritingModifier", PEOPLES),
    differs(
        "RandomVariableConfig",
        PEOPLES,
        "jmx-differs-random-variable",
    ),
    equal("ResultAction", PEOPLES),
    equal("ResultCollector", PEOPLES),
    equal("CorrectedResultCollector", MORE),
    equal("Summariser", MORE),
    equal("TCPSampler", SOCKETS),
    equal("TCPConfigGui", SOCKETS),
    differs("ResultSaver", DEFAULTS, "jmx-differs-responses"),
    differs("JDBCDataSource", DATABASES, "jmx-differs-jdbc"),
    differs("JDBCSampler", DATABASES, "jmx-differs-jdbc-rows"),
    differs("JDBCPreProcessor", DATABASES, "jmx-differs-jdbc-rows"),
    differs("JDBCPostProcessor", DATABASES, "jmx-differs-jdbc-rows"),
];

/// Result of the comparison of an element of the registry; `None`: it is not compared.
pub fn compared(element: &str) -> Option<&'static Compared> {
    COMPARED.iter().find(|known| known.element == element)
}
