//! The words in which plans are written: what JMeter itself would have saved.

use std::fmt::Write as _;

/// One HTTP request of a plan.
#[derive(Debug, Clone)]
pub struct Request {
    name: String,
    properties: Vec<(&'static str, &'static str, String)>,
    arguments: String,
    files: String,
    below: String,
}

/// A request to the server of the test, `GET /<name>/x`, on a connection that stays.
pub fn request(name: &str) -> Request {
    let request = Request {
        name: name.into(),
        properties: Vec::new(),
        arguments: String::new(),
        files: String::new(),
        below: String::new(),
    };
    request
        .text("domain", "127.0.0.1")
        .text("port", "${__P(port)}")
        .text("protocol", "http")
        .text("path", &format!("/{name}/x"))
        .text("method", "GET")
        .flag("use_keepalive", true)
        .flag("follow_redirects", false)
        .flag("auto_redirects", false)
}

impl Request {
    /// Sets `HTTPSampler.<name>`; the last of a name counts.
    pub fn text(mut self, name: &'static str, value: &str) -> Self {
        self.set("stringProp", name, value);
        self
    }

    /// Sets a switch `HTTPSampler.<name>`.
    pub fn flag(mut self, name: &'static str, value: bool) -> Self {
        self.set("boolProp", name, &value.to_string());
        self
    }

    fn set(&mut self, kind: &'static str, name: &'static str, value: &str) {
        self.properties.retain(|(_, known, _)| *known != name);
        self.properties.push((kind, name, value.to_owned()));
    }

    /// `POST` instead of `GET`.
    pub fn post(self) -> Self {
        self.text("method", "POST")
    }

    /// An argument that is sent as it is written.
    pub fn argument(self, name: &str, value: &str) -> Self {
        self.argument_with(name, value, &[])
    }

    /// An argument that is encoded.
    pub fn encoded(self, name: &str, value: &str) -> Self {
        self.argument_with(
            name,
            value,
            &[("boolProp", "HTTPArgument.always_encode", "true")],
        )
    }

    /// An argument with other properties: kind, name, value; one without a kind is left out.
    pub fn argument_with(mut self, name: &str, value: &str, more: &[(&str, &str, &str)]) -> Self {
        let usual = [
            ("boolProp", "HTTPArgument.use_equals", "true"),
            ("stringProp", "Argument.metadata", "="),
            ("stringProp", "Argument.value", value),
            ("stringProp", "Argument.name", name),
        ];
        let given = |property: &str| more.iter().any(|(_, name, _)| *name == property);
        let usual = usual.iter().filter(|(_, name, _)| !given(name));
        let all = usual.chain(more).filter(|(kind, ..)| !kind.is_empty());
        let inner: String = all
            .map(|(kind, name, value)| property(kind, name, value))
            .collect();
        self.arguments += &element_property(name, "HTTPArgument", &inner);
        self
    }

    /// A body that is sent as it is written.
    pub fn raw(self, body: &str) -> Self {
        self.flag("postBodyRaw", true).argument("", body)
    }

    /// A file that is uploaded.
    pub fn file(mut self, path: &str, parameter: &str, mime_type: &str) -> Self {
        let inner = property("stringProp", "File.path", path)
            + &property("stringProp", "File.paramname", parameter)
            + &property("stringProp", "File.mimetype", mime_type);
        self.files += &element_property(path, "HTTPFileArg", &inner);
        self
    }

    /// An element that concerns this request alone.
    pub fn below(mut self, element: &str) -> Self {
        self.below += element;
        self
    }

    /// As it stands in a plan.
    pub fn xml(&self) -> String {
        let mut inner = String::new();
        for (kind, name, value) in &self.properties {
            inner += &property(kind, &format!("HTTPSampler.{name}"), value);
        }
        let list = format!(
            "<collectionProp name=\"Arguments.arguments\">{}</collectionProp>",
            self.arguments
        );
        inner += &element_property("HTTPsampler.Arguments", "Arguments", &list);
        if !self.files.is_empty() {
            let list = format!(
                "<collectionProp name=\"HTTPFileArgs.files\">{}</collectionProp>",
                self.files
            );
            inner += &element_property("HTTPsampler.Files", "HTTPFileArgs", &list);
        }
        element("HTTPSamplerProxy", &self.name, &inner, &self.below)
    }
}

/// An element with its properties and what stands below it.
pub fn element(class: &str, name: &str, properties: &str, below: &str) -> String {
    let gui = gui(class);
    format!(
        "<{class} guiclass=\"{gui}\" testclass=\"{class}\" testname=\"{}\" enabled=\"true\">{properties}</{class}>\n<hashTree>{below}</hashTree>\n",
        escaped(name)
    )
}

/// JMeter gives an element to a sampler only when it was made in the window that belongs to it.
fn gui(class: &str) -> &'static str {
    match class {
        "HTTPSamplerProxy" => "HttpTestSampleGui",
        "HeaderManager" => "HeaderPanel",
        "CookieManager" => "CookiePanel",
        "CacheManager" => "CacheManagerGui",
        "AuthManager" => "AuthPanel",
        "Arguments" => "ArgumentsPanel",
        "ResponseAssertion" => "AssertionGui",
        "SizeAssertion" => "SizeAssertionGui",
        "XMLAssertion" => "XMLAssertionGui",
        "JSONPathAssertion" => "JSONPathAssertionGui",
        "TransactionController" => "TransactionControllerGui",
        "DebugSampler"
        | "DebugPostProcessor"
        | "ConstantThroughputTimer"
        | "PreciseThroughputTimer"
        | "SyncTimer"
        | "RandomVariableConfig"
        | "CSVDataSet" => "TestBeanGUI",
        "TestAction" => "TestActionGui",
        "GenericController" => "LogicControllerGui",
        "ThreadGroup" => "ThreadGroupGui",
        _ => "TestPlanGui",
    }
}

/// A property; `kind` is its tag.
pub fn property(kind: &str, name: &str, value: &str) -> String {
    format!("<{kind} name=\"{name}\">{}</{kind}>", escaped(value))
}

/// A property that is an element.
pub fn element_property(name: &str, class: &str, inner: &str) -> String {
    format!(
        "<elementProp name=\"{}\" elementType=\"{class}\">{inner}</elementProp>\n",
        escaped(name)
    )
}

/// Headers for what stands beside it.
pub fn headers(pairs: &[(&str, &str)]) -> String {
    let each = pairs.iter().map(|(name, value)| {
        let inner = property("stringProp", "Header.name", name)
            + &property("stringProp", "Header.value", value);
        element_property("", "Header", &inner)
    });
    let list: String = each.collect();
    let list = format!("<collectionProp name=\"HeaderManager.headers\">{list}</collectionProp>");
    element("HeaderManager", "headers", &list, "")
}

/// A cookie manager with cookies of its own: name, value, domain, path.
pub fn cookies(policy: &str, own: &[[&str; 4]]) -> String {
    let each = own.iter().map(|[name, value, domain, path]| {
        let inner = property("stringProp", "Cookie.value", value)
            + &property("stringProp", "Cookie.domain", domain)
            + &property("stringProp", "Cookie.path", path)
            + &property("boolProp", "Cookie.secure", "false")
            + &property("longProp", "Cookie.expires", "0")
            + &property("boolProp", "Cookie.path_specified", "true")
            + &property("boolProp", "Cookie.domain_specified", "true");
        format!(
            "<elementProp name=\"{name}\" elementType=\"Cookie\" testname=\"{name}\">{inner}</elementProp>"
        )
    });
    let list: String = each.collect();
    let inner = format!("<collectionProp name=\"CookieManager.cookies\">{list}</collectionProp>")
        + &property("boolProp", "CookieManager.clearEachIteration", "false")
        + &property("stringProp", "CookieManager.policy", policy);
    element("CookieManager", "cookies", &inner, "")
}

/// A cache manager.
pub fn cache(follows_expires: bool) -> String {
    let inner = property("boolProp", "clearEachIteration", "false")
        + &property("boolProp", "useExpires", &follows_expires.to_string());
    element("CacheManager", "cache", &inner, "")
}

/// Users and passwords: address, user, password, mechanism.
pub fn authorization(entries: &[[&str; 4]]) -> String {
    let each = entries.iter().map(|[url, user, password, mechanism]| {
        let inner = property("stringProp", "Authorization.url", url)
            + &property("stringProp", "Authorization.username", user)
            + &property("stringProp", "Authorization.password", password)
            + &property("stringProp", "Authorization.domain", "")
            + &property("stringProp", "Authorization.realm", "")
            + &property("stringProp", "Authorization.mechanism", mechanism);
        element_property("", "Authorization", &inner)
    });
    let list: String = each.collect();
    let list = format!("<collectionProp name=\"AuthManager.auth_list\">{list}</collectionProp>");
    element("AuthManager", "authorization", &list, "")
}

/// User defined variables.
pub fn variables(pairs: &[(&str, &str)]) -> String {
    let each = pairs.iter().map(|(name, value)| {
        let inner = property("stringProp", "Argument.name", name)
            + &property("stringProp", "Argument.value", value)
            + &property("stringProp", "Argument.metadata", "=");
        element_property(name, "Argument", &inner)
    });
    let list: String = each.collect();
    let list = format!("<collectionProp name=\"Arguments.arguments\">{list}</collectionProp>");
    element("Arguments", "variables", &list, "")
}

/// A response assertion: field (`response_data`, `response_code`), type bits, texts.
pub fn assertion(name: &str, field: &str, bits: u32, texts: &[&str]) -> String {
    let each = texts.iter().map(|text| property("stringProp", "0", text));
    let list: String = each.collect();
    // The name of the list is misspelled in every plan there is.
    let inner = format!("<collectionProp name=\"Asserion.test_strings\">{list}</collectionProp>")
        + &property(
            "stringProp",
            "Assertion.test_field",
            &format!("Assertion.{field}"),
        )
        + &property("boolProp", "Assertion.assume_success", "false")
        + &property("intProp", "Assertion.test_type", &bits.to_string());
    element("ResponseAssertion", name, &inner, "")
}

/// Something that may not be larger or other than so many bytes: field, operator, bytes.
pub fn size_assertion(field: &str, operator: u32, bytes: u32) -> String {
    let inner = property(
        "stringProp",
        "Assertion.test_field",
        &format!("SizeAssertion.{field}"),
    ) + &property("stringProp", "SizeAssertion.size", &bytes.to_string())
        + &property("intProp", "SizeAssertion.operator", &operator.to_string());
    element("SizeAssertion", "size", &inner, "")
}

/// A JSON assertion: path, expected value.
pub fn json_assertion(path: &str, expected: &str, is_pattern: bool, inverted: bool) -> String {
    let inner = property("stringProp", "JSON_PATH", path)
        + &property("stringProp", "EXPECTED_VALUE", expected)
        + &property(
            "boolProp",
            "JSONVALIDATION",
            &(!expected.is_empty()).to_string(),
        )
        + &property("boolProp", "EXPECT_NULL", "false")
        + &property("boolProp", "INVERT", &inverted.to_string())
        + &property("boolProp", "ISREGEX", &is_pattern.to_string());
    element("JSONPathAssertion", "json", &inner, "")
}

/// A transaction around requests.
pub fn transaction(name: &str, stands_for_all: bool, below: &str) -> String {
    let inner = property(
        "boolProp",
        "TransactionController.parent",
        &stands_for_all.to_string(),
    ) + &property("boolProp", "TransactionController.includeTimers", "false");
    element("TransactionController", name, &inner, below)
}

/// A simple controller around a case.
pub fn controller(name: &str, below: &str) -> String {
    element("GenericController", name, "", below)
}

/// A group of users that go through their plan once.
pub fn group(name: &str, users: u32, below: &str) -> String {
    group_of(name, users, 1, below)
}

/// A group of users that go through their plan so many times.
pub fn group_of(name: &str, users: u32, loops: u32, below: &str) -> String {
    let loops = property("boolProp", "LoopController.continue_forever", "false")
        + &property("stringProp", "LoopController.loops", &loops.to_string());
    let inner = property("stringProp", "ThreadGroup.on_sample_error", "continue")
        + &element_property("ThreadGroup.main_controller", "LoopController", &loops)
        + &property("stringProp", "ThreadGroup.num_threads", &users.to_string())
        + &property("stringProp", "ThreadGroup.ramp_time", "0")
        + &property("boolProp", "ThreadGroup.scheduler", "false");
    element("ThreadGroup", name, &inner, below)
}

/// A whole plan.
pub fn plan(below: &str) -> String {
    let inner = property("boolProp", "TestPlan.functional_mode", "false")
        + &property("boolProp", "TestPlan.serialize_threadgroups", "true");
    format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<jmeterTestPlan version=\"1.2\" properties=\"5.0\" jmeter=\"5.6.3\"><hashTree>\n{}</hashTree></jmeterTestPlan>\n",
        element("TestPlan", "plan", &inner, below)
    )
}

fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '"' => out.push_str("&quot;"),
            '\r' | '\n' => {
                let _ = write!(out, "&#{};", character as u32);
            }
            other => out.push(other),
        }
    }
    out
}
