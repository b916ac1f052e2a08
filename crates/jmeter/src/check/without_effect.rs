//! JMeter properties that were set but have no effect here.
//!
//! A property that changes what JMeter sends or records must not be ignored without a warning.

use sokudo_model::Text;

use crate::compile::Compiler;
use crate::properties::Properties;

/// Properties without effect, with the value for which JMeter behaves as sokudo does; an empty
/// value means not set. Source: `jmeter.properties` of JMeter 5.6.
const UNHEEDED: &[(&str, &str)] = &[
    ("CookieManager.allow_variable_cookies", "true"),
    ("CookieManager.check.cookies", "true"),
    ("CookieManager.delete_null_cookies", "true"),
    ("beanshell.init.file", ""),
    ("cache_manager.cached_resource_mode", "RETURN_NO_SAMPLE"),
    ("cacheable_methods", "GET"),
    ("csvdataset.eofstring", "<EOF>"),
    ("csvread.delimiter", ","),
    ("function.cache.per.iteration", "false"),
    ("hc.parameters.file", ""),
    ("http.java.sampler.retries", "0"),
    ("httpclient.localaddress", ""),
    ("httpclient.reset_state_on_thread_group_iteration", "true"),
    ("httpclient.socket.http.cps", "0"),
    ("httpclient.socket.https.cps", "0"),
    ("httpclient.timeout", "0"),
    ("httpclient.version", "1.1"),
    ("httpclient4.auth.preemptive", "true"),
    ("httpclient4.default_user_agent_disabled", "false"),
    ("httpclient4.idletimeout", "0"),
    ("httpclient4.request_sent_retry_enabled", "false"),
    ("httpclient4.retrycount", "0"),
    ("httpclient4.time_to_live", "60000"),
    ("httpclient4.validate_after_inactivity", "4900"),
    ("https.default.protocol", "TLS"),
    ("https.sessioncontext.shared", "false"),
    ("https.socket.protocols", ""),
    ("https.use.cached.ssl.context", "true"),
    ("httpsampler.embedded_resources_use_md5", "false"),
    ("httpsampler.max_bytes_to_store_per_request", "0"),
    ("jmeter.httpsampler", "HttpClient4"),
    ("jmeter.save.saveservice.base_prefix", "~/"),
    ("jmeter.save.saveservice.xml_pi", ""),
    ("jmeterthread.reversePostProcessors", "false"),
    ("jsr223.init.file", ""),
    ("post_add_content_type_if_missing", "false"),
    ("sampleresult.timestamp.start", "true"),
    ("subresults.disable_renaming", "false"),
    ("xpath.namespace.config", ""),
];

/// Warns about properties that were set and have no effect.
pub(super) fn warn(compiler: &mut Compiler<'_>) {
    for name in set(&compiler.settings.properties) {
        let value = compiler.settings.properties.get(name).unwrap_or_default();
        let says = Text::new("jmx-unheeded-property")
            .word("property", name)
            .word("value", value);
        compiler.problems.warning(None, says);
    }
}

/// The properties that were set to another value.
fn set(properties: &Properties) -> impl Iterator<Item = &'static str> {
    let is_other = |(name, usual): &&(&str, &str)| {
        let value = properties.get(name).map_or("", str::trim);
        !value.is_empty() && !value.eq_ignore_ascii_case(usual)
    };
    UNHEEDED.iter().filter(is_other).map(|(name, _)| *name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::properties::Origin;

    #[test]
    fn properties_that_are_not_heeded_are_told_when_they_change_something() {
        let mut properties = Properties::default();
        for (name, value) in [
            ("httpclient4.retrycount", "3"),
            ("httpclient4.time_to_live", " 60000 "),
            ("CookieManager.check.cookies", "True"),
            ("httpsampler.max_redirects", "2"),
            ("hc.parameters.file", "hc.parameters"),
            ("my.own", "1"),
        ] {
            properties.set(name, value, Origin::CommandLine);
        }
        let told: Vec<_> = set(&properties).collect();
        assert_eq!(told, ["hc.parameters.file", "httpclient4.retrycount"]);
    }
}
