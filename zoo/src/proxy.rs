//! Starts nginx and HAProxy with the configuration of a world.

use std::path::Path;
use std::process::Command;

use sokudo_testkit::servers::{self, Daemon};

use crate::world::{Maker, Proxy};

/// Starts a proxy on every address of this host, in front of the servers at `behind`. `None`: it is not installed.
pub fn start(proxy: &Proxy, behind: &[String]) -> Option<Daemon> {
    match proxy.maker {
        Maker::Nginx => servers::start("nginx", |place, port| nginx(proxy, behind, place, port)),
        Maker::HaProxy => {
            servers::start("haproxy", |place, port| haproxy(proxy, behind, place, port))
        }
    }
}

/// The command line of nginx, whose configuration is written to `place`.
fn nginx(proxy: &Proxy, behind: &[String], place: &Path, port: u16) -> Vec<String> {
    let folder = place.display();
    let Proxy {
        lines,
        entrance,
        listens,
        places,
        server,
        ..
    } = proxy;
    let servers = behind.iter().map(|to| format!("server {to} {server};\n"));
    let servers: String = servers.collect();
    let keys = match proxy.key_bits {
        0 => "",
        bits => {
            make_key(place, bits);
            "ssl_certificate cert.pem; ssl_certificate_key key.pem; ssl_session_cache off; ssl_session_tickets off;"
        }
    };
    let config = format!(
        "daemon off; master_process off; pid {folder}/pid; error_log /dev/null crit;
         events {{ worker_connections {places}; }}
         http {{
           access_log off;
           client_body_temp_path {folder}/a; proxy_temp_path {folder}/b; fastcgi_temp_path {folder}/c;
           uwsgi_temp_path {folder}/d; scgi_temp_path {folder}/e;
           upstream behind {{ {servers} keepalive 64; }}
           {lines}
           server {{
             listen 0.0.0.0:{port} {listens};
             {keys} {entrance}
             location / {{
               proxy_pass http://behind; proxy_http_version 1.1; proxy_set_header Connection \"\";
             }}
           }}
         }}"
    );
    let file = written(place, "nginx.conf", &config);
    vec!["-c".into(), file, "-p".into(), folder.to_string()]
}

/// The command line of HAProxy, whose configuration is written to `place`.
fn haproxy(proxy: &Proxy, behind: &[String], place: &Path, port: u16) -> Vec<String> {
    let Proxy {
        lines,
        entrance,
        listens,
        server,
        ..
    } = proxy;
    let servers = behind.iter().enumerate();
    let servers = servers.map(|(i, to)| format!(" server s{i} {to} {server}\n"));
    let servers: String = servers.collect();
    let config = format!(
        "defaults\n mode http\n timeout client 60s\n timeout server 60s\n timeout connect 5s\n timeout queue 60s\n\
         frontend f\n bind 0.0.0.0:{port} {listens}\n {entrance}\n default_backend b\n\
         backend b\n {lines}\n{servers}"
    );
    let file = written(place, "haproxy.cfg", &config);
    vec!["-db".into(), "-f".into(), file]
}

fn written(place: &Path, name: &str, text: &str) -> String {
    let file = place.join(name);
    std::fs::write(&file, text).expect("a folder of its own");
    file.display().to_string()
}

/// Makes a key of RSA and a certificate of its own, `key.pem` and `cert.pem`.
fn make_key(place: &Path, bits: u32) {
    let words = format!(
        "req -x509 -newkey rsa:{bits} -nodes -days 2 -subj /CN=zoo -keyout key.pem -out cert.pem"
    );
    let made = Command::new("openssl")
        .args(words.split_whitespace())
        .current_dir(place)
        .output();
    assert!(
        made.is_ok_and(|made| made.status.success()),
        "openssl makes a key"
    );
}
