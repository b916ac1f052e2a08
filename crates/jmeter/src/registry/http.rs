//! HTTP requests, their defaults and headers.

use sokudo_model::Text;

use crate::compile::ElementReader;
use crate::expression::Template;
use crate::plan::{HttpArgument, HttpFile, HttpHeader, HttpProxy, HttpRequest, SourceKind};

/// Reads a request with its defaults behind it; managers are added later.
pub(crate) fn request(reader: &mut ElementReader<'_, '_>) -> HttpRequest {
    reader.ignore(&["HTTPSampler.monitor", "HTTPSampler.proxyDomain"]);
    implementation(reader);
    let arguments = reader.inner("HTTPsampler.Arguments", |inner| {
        inner.each("Arguments.arguments", argument)
    });
    let files = reader.inner("HTTPsampler.Files", |inner| {
        inner.each("HTTPFileArgs.files", |file| HttpFile {
            path: file.text("File.path"),
            parameter: file.text("File.paramname"),
            mime_type: file.text("File.mimetype"),
        })
    });
    HttpRequest {
        protocol: reader.text_or("HTTPSampler.protocol", "http"),
        domain: reader.text("HTTPSampler.domain"),
        port: reader.text("HTTPSampler.port"),
        path: reader.text("HTTPSampler.path"),
        method: reader.text_or("HTTPSampler.method", "GET"),
        encoding: reader.text("HTTPSampler.contentEncoding"),
        arguments,
        raw_body: reader.flag("HTTPSampler.postBodyRaw", false),
        files,
        auto_redirects: reader.flag("HTTPSampler.auto_redirects", false),
        follow_redirects: reader.flag("HTTPSampler.follow_redirects", false),
        keep_alive: reader.flag("HTTPSampler.use_keepalive", false),
        multipart: reader.flag("HTTPSampler.DO_MULTIPART_POST", false),
        browser_multipart: reader.flag("HTTPSampler.BROWSER_COMPATIBLE_MULTIPART", false),
        connect_timeout_ms: reader.integer("HTTPSampler.connect_timeout", 0),
        response_timeout_ms: reader.integer("HTTPSampler.response_timeout", 0),
        embedded: reader.flag("HTTPSampler.image_parser", false),
        embedded_pattern: reader.text("HTTPSampler.embedded_url_re"),
        embedded_exclude: reader.text("HTTPSampler.embedded_url_exclude_re"),
        embedded_concurrent: reader.flag("HTTPSampler.concurrentDwn", false),
        embedded_connections: reader.integer("HTTPSampler.concurrentPool", 6),
        md5: reader.flag("HTTPSampler.md5", false),
        source: reader.text("HTTPSampler.ipSource"),
        source_kind: source_kind(reader),
        proxy: HttpProxy {
            scheme: reader.text("HTTPSampler.proxyScheme"),
            host: reader.text("HTTPSampler.proxyHost"),
            port: reader.text("HTTPSampler.proxyPort"),
            user: reader.text("HTTPSampler.proxyUser"),
            password: reader.text("HTTPSampler.proxyPass"),
        },
        headers: Vec::new(),
        header_managers: Vec::new(),
        cookies: None,
        cache: None,
        authorization: None,
        dns: None,
    }
}

/// Reports a client that JMeter has and whose requests differ, and one that it does not have.
fn implementation(reader: &mut ElementReader<'_, '_>) {
    const NAME: &str = "HTTPSampler.implementation";
    let word = reader.start_text(NAME);
    let place = reader.place_of(NAME);
    match word.as_str() {
        "" | "HttpClient4" | "HttpClient3.1" => {}
        "Java" => {
            let says = Text::new("jmx-java-client");
            reader.compiler.problems.warning(place, says);
        }
        word => {
            let says = Text::new("jmx-unknown-word")
                .word("property", NAME)
                .word("word", word)
                .word("known", "HttpClient4, Java");
            reader.compiler.unsupported(&place, says, None);
        }
    }
}

fn source_kind(reader: &mut ElementReader<'_, '_>) -> SourceKind {
    match reader.start_text("HTTPSampler.ipSourceType").trim() {
        "1" => SourceKind::Device,
        "2" => SourceKind::DeviceV4,
        "3" => SourceKind::DeviceV6,
        _ => SourceKind::Host,
    }
}

fn argument(reader: &mut ElementReader<'_, '_>) -> HttpArgument {
    // The separator of name and value is in the metadata alone.
    reader.ignore(&["Argument.desc", "HTTPArgument.use_equals"]);
    HttpArgument {
        name: reader.text("Argument.name"),
        value: reader.text("Argument.value"),
        encode: reader.flag("HTTPArgument.always_encode", false),
        separator: reader.start_text("Argument.metadata"),
        content_type: reader.text_or("HTTPArgument.content_type", "text/plain"),
    }
}

/// Reads the headers of a header manager.
pub(crate) fn header_manager(reader: &mut ElementReader<'_, '_>) -> Vec<HttpHeader> {
    let headers = pairs(reader, "HeaderManager.headers", "Header");
    let is = |text: &Template, word: &str| {
        let constant = text.constant();
        constant.is_some_and(|text| text.eq_ignore_ascii_case(word))
    };
    let mut all = headers.iter();
    if all.any(|header| is(&header.name, "expect") && is(&header.value, "100-continue")) {
        let place = reader.place.clone();
        let says = Text::new("jmx-awaits-continue");
        reader.compiler.problems.warning(place, says);
    }
    headers
}

/// Reads a list of names and values: `<prefix>.name`, `<prefix>.value`.
pub(crate) fn pairs(
    reader: &mut ElementReader<'_, '_>,
    list: &str,
    prefix: &str,
) -> Vec<HttpHeader> {
    reader.each(list, |pair| {
        pair.ignore(&["Argument.metadata", "Argument.desc"]);
        HttpHeader {
            name: pair.text(&format!("{prefix}.name")),
            value: pair.text(&format!("{prefix}.value")),
        }
    })
}
