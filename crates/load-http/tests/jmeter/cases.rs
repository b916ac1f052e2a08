//! The cases: small plans, each with the answers of the server.

use crate::plan::{Request, assertion, authorization, cache, cookies, headers, request, variables};
use crate::recorder::{Answer, Then};

/// A small plan: everything in it goes to paths that begin with its name.
pub struct Case {
    pub name: &'static str,
    /// Elements as they stand in a plan.
    pub xml: String,
    /// Answers of the server beside its usual `ok`.
    pub answers: Vec<Answer>,
}

impl Case {
    /// Adds an element beside the requests.
    pub fn beside(mut self, element: &str) -> Self {
        self.xml.insert_str(0, element);
        self
    }

    /// As [`Case::answer`], before all others.
    pub fn first(mut self, when: &str, text: &str) -> Self {
        self = self.answer(when, text);
        self.answers.rotate_right(1);
        self
    }

    /// Adds an answer to requests with this in their head.
    pub fn answer(mut self, when: &str, text: &str) -> Self {
        self.answers.push(Answer {
            when: when.into(),
            text: text.into(),
            then: Then::Stay,
        });
        self
    }
}

pub fn case(name: &'static str, requests: &[Request]) -> Case {
    Case {
        name,
        xml: requests.iter().map(Request::xml).collect(),
        answers: Vec::new(),
    }
}

/// One request of this name, changed.
pub fn one(name: &'static str, change: impl FnOnce(Request) -> Request) -> Case {
    case(name, &[change(request(name))])
}

/// Everything that is tried.
pub fn all() -> Vec<Case> {
    let mut all = arguments();
    all.extend(methods());
    all.extend(paths());
    all.extend(encodings());
    all.extend(uploads());
    all.extend(managers());
    all.extend(cookie_policies());
    all.extend(redirects());
    all.extend(results());
    all
}

fn arguments() -> Vec<Case> {
    vec![
        one("get", |r| r),
        one("get-arguments", |r| {
            r.argument("a", "1")
                .argument("b", "x y")
                .argument("c", "p%20q+r&s=t")
        }),
        one("get-encoded", |r| {
            r.encoded("a b", "x y&z=ü/?日").encoded("c", "p%20q+r~*")
        }),
        one("get-no-equals", |r| {
            let no = ("boolProp", "HTTPArgument.use_equals", "false");
            let bare = ("stringProp", "Argument.metadata", "");
            r.argument_with("a", "", &[no, bare])
                .argument_with("b", "1", &[no, bare])
                .argument_with("d", "2", &[("", "Argument.metadata", "")])
                .argument_with("e", "", &[no, ("", "Argument.metadata", "")])
                .argument_with("f", "", &[no])
                .argument("c", "")
                .argument("", "nameless")
        }),
        one("get-query", |r| {
            r.text("path", "/get-query/x?given=1").argument("a", "2")
        }),
        one("post", |r| r.post()),
        one("post-arguments", |r| {
            r.post()
                .argument("a", "1")
                .argument("b", "x y")
                .argument("c", "p%20q+r")
                .argument("d", "日")
        }),
        one("post-encoded", |r| {
            r.post()
                .encoded("a b", "x y&z=ü/?日")
                .encoded("c", "p%20q+r~*")
        }),
        one("post-broken-escape", |r| {
            r.post().argument("a", "100%").argument("b", "%zz")
        }),
        one("post-no-equals", |r| {
            let no = ("boolProp", "HTTPArgument.use_equals", "false");
            let bare = ("stringProp", "Argument.metadata", "");
            r.post()
                .argument_with("a", "", &[no, bare])
                .argument("c", "")
        }),
        one("post-nameless", |r| {
            r.post().argument("", "line one").argument("", " and two")
        }),
        one("post-raw", |r| {
            r.post()
                .raw("{\"a\": \"日\", \"n\": ${__threadNum}}\r\nend")
        }),
        one("post-raw-typed", |r| {
            r.post()
                .raw("{}")
                .below(&headers(&[("Content-Type", "application/json")]))
        }),
        one("post-query", |r| {
            r.post()
                .text("path", "/post-query/x?given=%20a")
                .argument("a", "2")
        }),
        one("post-separator", |r| {
            r.post()
                .argument_with("a", "1", &[("stringProp", "Argument.metadata", ":")])
        }),
        one("variables", |r| {
            r.post()
                .argument("v", "${word}-${missing}")
                .encoded("w", "${word}")
                .text("path", "/variables/${word}")
        })
        .beside(&variables(&[("word", "a b"), ("other", "日")])),
    ]
}

fn methods() -> Vec<Case> {
    let bare = |name: &'static str, method: &'static str| one(name, |r| r.text("method", method));
    let form = |name: &'static str, method: &'static str| {
        one(name, |r| {
            r.text("method", method)
                .argument("a", "x y")
                .encoded("b", "ü")
        })
    };
    let raw = |name: &'static str, method: &'static str| {
        one(name, |r| r.text("method", method).raw("body of it"))
    };
    vec![
        bare("head", "HEAD"),
        bare("options", "OPTIONS"),
        bare("trace", "TRACE"),
        bare("delete", "DELETE"),
        bare("put", "PUT"),
        bare("patch", "PATCH"),
        form("form-head", "HEAD"),
        form("form-options", "OPTIONS"),
        form("form-delete", "DELETE"),
        one("query-delete", |r| {
            r.text("method", "DELETE")
                .argument("a", "1")
                .encoded("b", "ü")
        }),
        one("query-options", |r| {
            r.text("method", "OPTIONS").argument("a", "1")
        }),
        form("form-put", "PUT"),
        form("form-patch", "PATCH"),
        raw("raw-get", "GET"),
        raw("raw-delete", "DELETE"),
        raw("raw-put", "PUT"),
        raw("raw-patch", "PATCH"),
    ]
}

fn paths() -> Vec<Case> {
    let path = |name: &'static str, path: &'static str| one(name, |r| r.text("path", path));
    vec![
        path("no-slash", "no-slash/x"),
        path("odd-path", "/odd-path/a b/日/{x}|y;p=1,2/'(z)!*~$@"),
        path("kanji-path", "/kanji-path/a b/日本?q=日 本"),
        path(
            "punctuation",
            "/punctuation/;p=1,2/'(z)!*~$@:&+?a=[1]&b=?/@:!$'()*+,;~",
        ),
        path("bracket-path", "/bracket-path/[1]"),
        path("bad-escape", "/bad-escape/%zz"),
        path("odd-query", "/odd-query/x?q=a b&r=日&s={1}&t=[2]&u=a|b"),
        path("escaped-path", "/escaped-path/a%20b/%E6%97%A5?x=%26"),
        path("fragment", "/fragment/x?y#part"),
        path("dots", "/dots/a/../b/./c"),
        path("two-slashes", "/two-slashes//x///?y=//"),
        one("whole-url", |r| {
            r.text("domain", "nowhere.invalid")
                .text("path", "http://127.0.0.1:${__P(port)}/whole-url/x?y=1")
        }),
        one("whole-url-post", |r| {
            r.post()
                .text("path", "http://127.0.0.1:${__P(port)}/whole-url-post/x")
                .argument("a", "1")
        }),
        one("name-as-host", |r| r.text("domain", "LocalHost")),
        one("no-keep-alive", |r| r.flag("use_keepalive", false)),
    ]
}

fn encodings() -> Vec<Case> {
    let encoded = |name: &'static str, encoding: &'static str| {
        one(name, |r| {
            r.post()
                .text("contentEncoding", encoding)
                .encoded("名", "日本 ～")
                .argument("b", "語")
        })
    };
    vec![
        encoded("utf-8", "UTF-8"),
        encoded("shift-jis", "Shift_JIS"),
        encoded("windows-31j", "Windows-31J"),
        encoded("euc-jp", "EUC-JP"),
        encoded("latin", "ISO-8859-1"),
        one("get-shift-jis", |r| {
            r.text("contentEncoding", "Shift_JIS").encoded("名", "日本")
        }),
        one("raw-shift-jis", |r| {
            r.post().text("contentEncoding", "Shift_JIS").raw("日本\\~")
        }),
        one("raw-euc-jp", |r| {
            r.post()
                .text("contentEncoding", "EUC-JP")
                .raw("日本")
                .below(&headers(&[("Content-Type", "text/xml")]))
        }),
    ]
}

fn uploads() -> Vec<Case> {
    vec![
        one("multipart", |r| {
            r.post()
                .flag("DO_MULTIPART_POST", true)
                .argument("a", "1")
                .encoded("b", "ü 日")
        }),
        one("multipart-browser", |r| {
            r.post()
                .flag("DO_MULTIPART_POST", true)
                .flag("BROWSER_COMPATIBLE_MULTIPART", true)
                .argument("a", "1")
                .argument("名", "日")
        }),
        one("multipart-encoding", |r| {
            r.post()
                .flag("DO_MULTIPART_POST", true)
                .text("contentEncoding", "UTF-8")
                .argument_with(
                    "a",
                    "{}",
                    &[(
                        "stringProp",
                        "HTTPArgument.content_type",
                        "application/json",
                    )],
                )
                .argument("b", "日")
        }),
        one("upload", |r| {
            r.post()
                .argument("a", "1")
                .file("${__P(files)}/one.txt", "file", "text/plain")
        }),
        one("upload-browser", |r| {
            r.post()
                .flag("BROWSER_COMPATIBLE_MULTIPART", true)
                .text("contentEncoding", "UTF-8")
                .argument("a", "1")
                .file(
                    "${__P(files)}/日本.bin",
                    "ファイル",
                    "application/octet-stream",
                )
        }),
        one("upload-two", |r| {
            r.post()
                .file("${__P(files)}/one.txt", "one", "text/plain")
                .file("${__P(files)}/one.txt", "two", "")
        }),
        one("multipart-shift-jis", |r| {
            r.post()
                .flag("DO_MULTIPART_POST", true)
                .text("contentEncoding", "Shift_JIS")
                .argument("名", "日")
        }),
        one("file-as-body", |r| {
            r.post().file("${__P(files)}/one.txt", "", "text/css")
        }),
        one("file-as-body-untyped", |r| {
            r.post().file("${__P(files)}/one.txt", "", "")
        }),
        one("put-file", |r| {
            r.text("method", "PUT")
                .file("${__P(files)}/one.txt", "", "text/plain")
        }),
    ]
}

fn managers() -> Vec<Case> {
    let twice = |name: &'static str| case(name, &[request(name), request(name)]);
    vec![
        one("headers", |r| {
            r.below(&headers(&[
                ("Accept", "text/html, */*;q=0.8"),
                ("X-Empty", ""),
                ("x-lower", "${__threadNum} two "),
                ("User-Agent", "own agent"),
                ("Accept-Encoding", "gzip, deflate"),
                ("Host", "other.example:8080"),
                ("Content-Length", "77"),
                ("Connection", "upgrade"),
                ("X-日", "日"),
            ]))
        }),
        one("two-managers", |r| r.below(&headers(&[("A", "inner"), ("C", "3")])))
            .beside(&headers(&[("A", "outer"), ("B", "2")])),
        one("cookie-header", |r| r.below(&headers(&[("Cookie", "by=hand")]))),
        one("same-header-twice", |r| r.below(&headers(&[("A", "1"), ("A", "2")]))),
        one("typed-form", |r| {
            r.post().argument("a", "1").below(&headers(&[("Content-Type", "application/x-www-form-urlencoded")]))
        }),
        one("basic", |r| r).beside(&authorization(&[[
            "http://127.0.0.1:${__P(port)}/basic",
            "user",
            "pass:wörd",
            "BASIC",
        ]])),
        one("basic-elsewhere", |r| r).beside(&authorization(&[[
            "http://127.0.0.1:${__P(port)}/other",
            "user",
            "password",
            "BASIC",
        ]])),
        twice("cache-etag")
            .beside(&cache(false))
            .answer("If-None-Match: \"v1\"", "HTTP/1.1 304 Not Modified\r\nETag: \"v1\"\r\n\r\n")
            .answer(
                "GET /cache-etag/",
                "HTTP/1.1 200 OK\r\nETag: \"v1\"\r\nLast-Modified: Wed, 21 Oct 2015 07:28:00 GMT\r\nContent-Length: 2\r\n\r\nok",
            ),
        twice("cache-expires").beside(&cache(true)).answer(
            "GET /cache-expires/",
            "HTTP/1.1 200 OK\r\nCache-Control: max-age=3600\r\nETag: \"v2\"\r\nDate: Wed, 21 Oct 2015 07:28:00 GMT\r\nContent-Length: 2\r\n\r\nok",
        ),
        twice("cache-nothing").beside(&cache(false)),
    ]
}

fn cookie_policies() -> Vec<Case> {
    let given = "HTTP/1.1 200 OK\r\nSet-Cookie: a=1; Path=/\r\nSet-Cookie: b=two words; Path=/{name}\r\nSet-Cookie: c=\"3\"; Path=/\r\nSet-Cookie: i=9; Path=/elsewhere\r\nSet-Cookie: d=4; Domain=other.example\r\nSet-Cookie: e=5; Secure; Path=/\r\nSet-Cookie: f=6; Max-Age=100; Path=/\r\nSet-Cookie: g=7; Expires=Wed, 21 Oct 2065 07:28:00 GMT\r\nSet-Cookie: j=10; Expires=Wed, 21 Oct 2065 07:28:00 GMT; Path=/\r\nSet-Cookie: k=11; Expires=Wed, 21-Oct-2037 07:28:00 GMT; Path=/\r\nSet-Cookie: l=12\r\nSet-Cookie: h=8; HttpOnly; Path=/\r\nContent-Length: 2\r\n\r\nok";
    let policy = |name: &'static str, policy: &'static str| {
        case(
            name,
            &[
                request(name).text("path", &format!("/{name}/give")),
                request(name),
            ],
        )
        .beside(&cookies(policy, &[]))
        .answer(&format!("GET /{name}/give"), &given.replace("{name}", name))
    };
    vec![
        policy("cookies-standard", "standard"),
        policy("cookies-compatibility", "compatibility"),
        policy("cookies-netscape", "netscape"),
        policy("cookies-strict", "standard-strict"),
        policy("cookies-ignored", "ignoreCookies"),
        one("cookies-own", |r| r).beside(&cookies(
            "standard",
            &[
                ["first", "1", "127.0.0.1", "/"],
                ["second", "${__threadNum}", "127.0.0.1", "/cookies-own"],
                ["third", "3", "127.0.0.1", "/elsewhere"],
                ["fourth", "4", "other.example", "/"],
                ["fifth", "5", "", ""],
            ],
        )),
        one("cookies-and-header", |r| {
            r.below(&headers(&[("Cookie", "by=hand")]))
        })
        .beside(&cookies("standard", &[["own", "1", "127.0.0.1", "/"]])),
    ]
}

fn redirects() -> Vec<Case> {
    let status = |name: &'static str, status: &str, requests: &[Request]| {
        case(name, requests)
            .answer(
                &format!(" /{name}/x"),
                &format!(
                    "HTTP/1.1 {status}\r\nLocation: http://127.0.0.1:{{port}}/{name}/there?a=b\r\nSet-Cookie: hop=1; Path=/\r\nContent-Length: 4\r\n\r\ngone"
                ),
            )
    };
    let follow = |name: &'static str| request(name).flag("follow_redirects", true);
    let post = |name: &'static str| follow(name).post().argument("a", "1");
    vec![
        status("redirect-kept", "302 Found", &[request("redirect-kept")]),
        status(
            "redirect-301",
            "301 Moved Permanently",
            &[follow("redirect-301")],
        ),
        status(
            "redirect-302-post",
            "302 Found",
            &[post("redirect-302-post")],
        ),
        status(
            "redirect-303-post",
            "303 See Other",
            &[post("redirect-303-post")],
        ),
        status(
            "redirect-307-post",
            "307 Temporary Redirect",
            &[post("redirect-307-post")],
        ),
        status(
            "redirect-308-post",
            "308 Permanent Redirect",
            &[post("redirect-308-post")],
        ),
        status(
            "redirect-307-get",
            "307 Temporary Redirect",
            &[follow("redirect-307-get").argument("q", "1")],
        ),
        status(
            "redirect-head",
            "302 Found",
            &[follow("redirect-head").text("method", "HEAD")],
        ),
        status(
            "redirect-put",
            "302 Found",
            &[follow("redirect-put").text("method", "PUT").raw("x")],
        ),
        status(
            "redirect-auto",
            "302 Found",
            &[request("redirect-auto").flag("auto_redirects", true)],
        ),
        status(
            "redirect-auto-post",
            "302 Found",
            &[request("redirect-auto-post")
                .flag("auto_redirects", true)
                .post()
                .argument("a", "1")],
        ),
        status(
            "redirect-headers",
            "302 Found",
            &[follow("redirect-headers")
                .below(&headers(&[("X-Own", "1"), ("Content-Type", "text/plain")]))
                .below(&cookies("standard", &[]))],
        ),
        case("redirect-relative", &[follow("redirect-relative")]).answer(
            "GET /redirect-relative/x",
            "HTTP/1.1 302 Found\r\nLocation: ../redirect-relative/y\r\nContent-Length: 0\r\n\r\n",
        ),
        case(
            "redirect-without-place",
            &[follow("redirect-without-place")],
        )
        .answer(
            "GET /redirect-without-place/x",
            "HTTP/1.1 302 Found\r\nContent-Length: 0\r\n\r\n",
        ),
        case("redirect-to-404", &[follow("redirect-to-404")])
            .answer(
                "GET /redirect-to-404/x",
                "HTTP/1.1 302 Found\r\nLocation: /redirect-to-404/y\r\nContent-Length: 0\r\n\r\n",
            )
            .answer(
                "GET /redirect-to-404/y",
                "HTTP/1.1 404 Not Found\r\nContent-Length: 4\r\n\r\nnone",
            ),
        case("redirect-loop", &[follow("redirect-loop")]).answer(
            "GET /redirect-loop/x",
            "HTTP/1.1 302 Found\r\nLocation: /redirect-loop/x\r\nContent-Length: 0\r\n\r\n",
        ),
    ]
}

/// A long answer that is not the text of another.
fn long(name: &'static str, wanted: &str) -> Case {
    let body = format!("{}mitte{}", "a".repeat(120), "z".repeat(120));
    let length = body.len();
    one(name, |r| {
        r.below(&assertion("equal", "response_data", 8, &[wanted]))
    })
    .answer(
        &format!("GET /{name}/"),
        &format!("HTTP/1.1 200 OK\r\nContent-Length: {length}\r\n\r\n{body}"),
    )
}

fn results() -> Vec<Case> {
    let answered = |name: &'static str, text: &'static str| {
        one(name, |r| r).answer(&format!("GET /{name}/"), text)
    };
    vec![
        answered("no-type", "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"),
        answered(
            "image",
            "HTTP/1.1 200 OK\r\nContent-Type: image/png\r\nContent-Length: 2\r\n\r\nok",
        ),
        answered(
            "json",
            "HTTP/1.1 200 Fine, \"really\"\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n{}",
        ),
        answered(
            "charset",
            "HTTP/1.1 200 OK\r\nContent-Type: text/html; charset=\"EUC-JP\"\r\nContent-Length: 2\r\n\r\nok",
        ),
        answered("no-reason", "HTTP/1.1 200\r\nContent-Length: 2\r\n\r\nok"),
        answered("no-content", "HTTP/1.1 204 No Content\r\n\r\n"),
        answered(
            "not-found",
            "HTTP/1.1 404 Not Found\r\nContent-Type: text/html\r\nContent-Length: 4\r\n\r\nnone",
        ),
        answered(
            "busy",
            "HTTP/1.1 503 Service Unavailable\r\nRetry-After: 1\r\nContent-Length: 0\r\n\r\n",
        ),
        answered(
            "chunked",
            "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nfour\r\n3\r\nthr\r\n0\r\n\r\n",
        ),
        answered(
            "to-the-end",
            "HTTP/1.1 200 OK\r\nConnection: close\r\n\r\nuntil the end",
        ),
        answered(
            "old-version",
            "HTTP/1.0 200 OK\r\nContent-Type: text/plain\r\nConnection: close\r\n\r\nold",
        ),
        answered(
            "early-hints",
            "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok",
        ),
        one("assertion", |r| {
            r.below(&assertion("holds", "response_data", 16, &["ok"]))
                .below(&assertion(
                    "fails",
                    "response_data",
                    16,
                    &["wanted, \"quoted\""],
                ))
                .below(&assertion("fails too", "response_code", 8, &["201"]))
        }),
        one("assertion-matches", |r| {
            r.below(&assertion("a pattern", "response_data", 1, &["o.+x"]))
        }),
        one("assertion-contains", |r| {
            r.below(&assertion("a pattern", "response_data", 2, &["[0-9]+"]))
        }),
        one("assertion-not", |r| {
            r.below(&assertion("not there", "response_data", 20, &["ok"]))
        }),
        one("assertion-equals", |r| {
            r.below(&assertion("equal", "response_message", 8, &["no"]))
        }),
        one("assertion-not-equals", |r| {
            r.below(&assertion("unequal", "response_code", 12, &["200"]))
        }),
        one("assertion-or-contains", |r| {
            r.below(&assertion("either", "response_data", 34, &["no", "yes"]))
        }),
        long(
            "assertion-long",
            &format!("{}middle{}", "a".repeat(120), "z".repeat(120)),
        ),
        long(
            "assertion-longer",
            &format!("{}{}", "b".repeat(120), "z".repeat(120)),
        ),
        one("assertion-own-words", |r| {
            r.below(&assertion("own", "response_headers", 2, &["X-Other"]))
        }),
        one("assertion-or", |r| {
            r.below(&assertion(
                "one of them",
                "response_message",
                40,
                &["no", "yes"],
            ))
        }),
    ]
}
