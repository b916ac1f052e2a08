//! The plan itself, elements that only the editor uses, and unsupported elements.

use super::{ElementSpec, Family, Role, Treatment, element};
use crate::compile::ElementReader;

pub(super) const PLAN: &[ElementSpec] = &[
    element(&["TestPlan"], Family::Plan, 1, Role::Plan),
    element(&["TestFragmentController"], Family::Plan, 2, Role::Fragment),
    element(&["IncludeController"], Family::Controller, 2, Role::Include),
    element(&["ModuleController"], Family::Controller, 2, Role::Module),
];

pub(super) const TOOLS: &[ElementSpec] = &[
    element(&["WorkBench"], Family::Tool, 1, Role::NoEffect),
    element(
        &["ProxyControl", "HttpMirrorControl"],
        Family::Tool,
        1,
        Role::NoEffect,
    ),
    element(&["ConfigTestElement"], Family::Config, 1, Role::NoEffect),
    element(
        &["BoltConnectionElement", "LoginConfig"],
        Family::Config,
        3,
        Role::NoEffect,
    ),
];

const SCRIPT: Role = Role::Refused(Treatment::NeedsScripts);
const FOREIGN: Role = Role::Refused(Treatment::NotSupported);

pub(super) const REFUSED: &[ElementSpec] = &[
    element(&["BSFSampler"], Family::Sampler, 3, SCRIPT),
    element(&["BSFPreProcessor"], Family::PreProcessor, 3, SCRIPT),
    element(&["BSFPostProcessor"], Family::PostProcessor, 3, SCRIPT),
    element(&["BSFAssertion"], Family::Assertion, 3, SCRIPT),
    element(&["BSFTimer"], Family::Timer, 3, SCRIPT),
    element(&["BSFListener"], Family::Listener, 3, SCRIPT),
    element(
        &["FTPSampler", "SmtpSampler", "MailReaderSampler"],
        Family::Sampler,
        3,
        FOREIGN,
    ),
    element(
        &["LDAPSampler", "LDAPExtSampler"],
        Family::Sampler,
        3,
        FOREIGN,
    ),
    element(
        &["JMSSampler", "PublisherSampler", "SubscriberSampler"],
        Family::Sampler,
        3,
        FOREIGN,
    ),
    element(
        &["JUnitSampler", "SystemSampler"],
        Family::Sampler,
        3,
        FOREIGN,
    ),
    element(
        &[
            "AjpSampler",
            "AccessLogSampler",
            "MongoScriptSampler",
            "BoltSampler",
        ],
        Family::Sampler,
        3,
        FOREIGN,
    ),
    element(
        &[
            "HTMLAssertion",
            "XMLSchemaAssertion",
            "CompareAssertion",
            "SMIMEAssertion",
        ],
        Family::Assertion,
        3,
        FOREIGN,
    ),
    element(&["MongoSourceElement"], Family::Config, 3, FOREIGN),
];

/// Settings of the plan element.
pub(crate) struct PlanFlags {
    pub serialize_groups: bool,
    pub teardown_on_shutdown: bool,
    pub functional_mode: bool,
}

impl PlanFlags {
    /// True if they were read only to list the properties.
    pub(super) fn ignored(self) {}
}

/// Reads the plan element.
pub(crate) fn plan_flags(reader: &mut ElementReader<'_, '_>) -> PlanFlags {
    reader.inner("TestPlan.user_defined_variables", |_| ());
    reader.ignore(&["TestPlan.user_define_classpath", "TestPlan.comments"]);
    // Contents of result files follow from the listeners and properties alone.
    reader.unheeded("TestPlan", &["TestPlan.functional_mode"]);
    PlanFlags {
        serialize_groups: reader.start_flag("TestPlan.serialize_threadgroups", false),
        teardown_on_shutdown: reader.start_flag("TestPlan.tearDown_on_shutdown", false),
        functional_mode: reader.start_flag("TestPlan.functional_mode", false),
    }
}
