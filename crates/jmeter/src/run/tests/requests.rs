//! Requests as sent, redirects, and failures.

use super::*;

#[test]
fn exactly_this_is_sent() {
    let plan = get("/a b?x=1", "")
        + &http(
            "/form",
            "POST",
            &arguments(
                &(argument("q", "日 &amp;", true)
                    + &argument("r", "a%20b", false)
                    + &argument("", "left out", true)),
            ),
            "",
        )
        + &http(
            "/search",
            "GET",
            &arguments(&(argument("q", "a b", true) + &argument("r", "1", false))),
            "",
        )
        + &http(
            "/raw",
            "POST",
            &(flag("HTTPSampler.postBodyRaw", true)
                + &flag("HTTPSampler.use_keepalive", true)
                + &arguments(&argument("", "{\"a\":1}", false))),
            "",
        );
    let done = Simulation::group(&users(1, 0, 1), &plan).run(|_| ok(""));
    let expected = [
        "GET /a%20b?x=1 HTTP/1.1\r\nConnection: close\r\nHost: host\r\nUser-Agent: test\r\n\r\n",
        "POST /form HTTP/1.1\r\nConnection: close\r\nContent-Length: 23\r\nContent-Type: application/x-www-form-urlencoded; charset=UTF-8\r\nHost: host\r\nUser-Agent: test\r\n\r\nq=%E6%97%A5+%26&r=a+b",
        "GET /search?q=a+b&r=1 HTTP/1.1\r\nConnection: close\r\nHost: host\r\nUser-Agent: test\r\n\r\n",
        "POST /raw HTTP/1.1\r\nConnection: keep-alive\r\nContent-Length: 7\r\nContent-Type: text/plain; charset=UTF-8\r\nHost: host\r\nUser-Agent: test\r\n\r\n{\"a\":1}",
    ];
    for (request, expected) in done.requests.iter().zip(expected) {
        let body = expected.split_once("\r\n\r\n").unwrap().1;
        let length = format!("Content-Length: {}", body.len());
        let expected = match expected.find("Content-Length: ") {
            Some(at) => {
                let end = at + expected[at..].find('\r').unwrap();
                format!("{}{length}{}", &expected[..at], &expected[end..])
            }
            None => expected.to_owned(),
        };
        assert_eq!(*request, expected);
    }
    assert_eq!(done.requests.len(), 4);
    assert_eq!(done.rows[2].url, "http://host/search?q=a+b&r=1");
}

#[test]
fn what_is_lost_is_named_as_jmeter_names_it() {
    let done = Simulation::group(&users(1, 0, 1), &get("/a", ""))
        .run(|_| (0, String::new(), String::new(), 3));
    let row = &done.rows[0];
    assert_eq!(row.code, "Non HTTP response code: java.net.SocketException");
    assert_eq!(row.message, "Non HTTP response message: Connection reset");
    assert!(!row.success);
}

#[test]
fn cookies_are_variables_where_that_is_asked_for() {
    let cookies = element("CookieManager", "C", "", "");
    let content =
        get("/first", "") + &get("/${__V(COOKIE_s)}/${__V(C_s)}/${__V(C_none)}", "") + &cookies;
    let asked = |prefix: Option<&str>| {
        let mut all = Simulation::group(&users(1, 0, 1), &content);
        let properties = [
            ("CookieManager.save.cookies", Some("true")),
            ("CookieManager.name.prefix", prefix),
        ];
        for (name, value) in properties {
            if let Some(value) = value {
                all.properties.set(name, value, Origin::CommandLine);
            }
        }
        let sets = "Set-Cookie: s=1; Path=/\r\nSet-Cookie: none=; Path=/\r\n";
        let done = all.run(|_| (200, sets.into(), String::new(), 5));
        done.requests[1]
            .lines()
            .next()
            .unwrap_or_default()
            .to_owned()
    };
    assert_eq!(asked(None), "GET /1/C_s/C_none HTTP/1.1");
    assert_eq!(asked(Some("C_")), "GET /COOKIE_s/1/C_none HTTP/1.1");
}

#[test]
fn redirects_and_cookies_are_followed() {
    let cookies = element("CookieManager", "C", "", "");
    let content = http(
        "/old",
        "POST",
        &flag("HTTPSampler.follow_redirects", true),
        "",
    ) + &get("/next", "")
        + &cookies;
    let done = Simulation::group(&users(1, 0, 1), &content).run(|request| {
        match request.contains("/old") {
            true => (
                302,
                "Location: /new?x=1\r\nSet-Cookie: s=1; Path=/\r\n".into(),
                String::new(),
                5,
            ),
            false => ok(""),
        }
    });
    let lines: Vec<&str> = done
        .requests
        .iter()
        .map(|r| r.lines().next().unwrap())
        .collect();
    assert_eq!(
        lines,
        [
            "POST /old HTTP/1.1",
            "GET /new?x=1 HTTP/1.1",
            "GET /next HTTP/1.1"
        ]
    );
    assert!(
        done.requests[1].contains("\r\nCookie: s=1\r\n"),
        "{}",
        done.requests[1]
    );
    assert_eq!(done.rows.len(), 2);
    assert_eq!(
        (
            done.rows[0].label.as_str(),
            done.rows[0].url.as_str(),
            done.rows[0].elapsed_ms
        ),
        ("/old", "http://host/new?x=1", 15)
    );
    let endless = Simulation::group(
        &users(1, 0, 1),
        &http("/r", "GET", &flag("HTTPSampler.follow_redirects", true), ""),
    )
    .run(|_| (301, "Location: /r\r\n".into(), String::new(), 1));
    assert_eq!(endless.requests.len(), 21);
    assert_eq!(
        endless.rows[0].message,
        "Non HTTP response message: Exceeded maximum number of redirects: 20"
    );
}

#[test]
fn requests_go_through_the_proxy_unless_their_host_is_spared() {
    let own = text("HTTPSampler.proxyHost", "own") + &text("HTTPSampler.proxyPort", "81");
    let plan = get("/a", "")
        + &http("http://spared/b", "GET", "", "")
        + &http("https://safe/c", "GET", "", "")
        + &http("/d", "GET", &own, "");
    let mut simulation = Simulation::group(&users(1, 0, 1), &plan);
    simulation.proxy = Some(Proxy {
        host: "proxy".into(),
        port: 3128,
        user: "a".into(),
        password: "b".into(),
        except: vec!["spared".into()],
    });
    let done = simulation.run(|_| ok(""));
    let first = |request: &String| request.lines().next().unwrap_or_default().to_owned();
    let asked: Vec<String> = done.requests.iter().map(first).collect();
    assert_eq!(
        asked,
        [
            "GET http://host/a HTTP/1.1",
            "GET /b HTTP/1.1",
            "GET /c HTTP/1.1",
            "GET http://host/d HTTP/1.1",
        ]
    );
    assert!(done.requests[0].contains("\r\nProxy-Authorization: Basic YTpi\r\n"));
    assert!(
        done.requests[2..]
            .iter()
            .all(|r| !r.contains("Proxy-Authorization"))
    );
    assert_eq!(done.rows[0].url, "http://host/a");
}
