//! Starts nginx and HAProxy with the configuration of a world.

use std::path::Path;

use sokudo_testkit::servers::{self, Daemon};

use crate::world::{Maker, Proxy};

/// Starts a proxy on every address of this host, in front of the server at `behind`. `None`: it is not installed.
pub fn start(proxy: &Proxy, behind: &str) -> Option<Daemon> {
    match proxy.maker {
        Maker::Nginx => servers::start("nginx", |place, port| nginx(proxy, behind, place, port)),
        Maker::HaProxy => {
            servers::start("haproxy", |place, port| haproxy(proxy, behind, place, port))
        }
    }
}

/// The command line of nginx, whose configuration is written to `place`.
fn nginx(
    Proxy { lines, server, .. }: &Proxy,
    behind: &str,
    place: &Path,
    port: u16,
) -> Vec<String> {
    let folder = place.display();
    let config = format!(
        "daemon off; master_process off; pid {folder}/pid; error_log /dev/null crit;
         events {{ worker_connections 1024; }}
         http {{
           access_log off;
           client_body_temp_path {folder}/a; proxy_temp_path {folder}/b; fastcgi_temp_path {folder}/c;
           uwsgi_temp_path {folder}/d; scgi_temp_path {folder}/e;
           upstream behind {{ server {behind} {server}; keepalive 64; }}
           {lines}
           server {{
             listen 0.0.0.0:{port};
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
fn haproxy(
    Proxy { lines, server, .. }: &Proxy,
    behind: &str,
    place: &Path,
    port: u16,
) -> Vec<String> {
    let config = format!(
        "defaults\n mode http\n timeout client 60s\n timeout server 60s\n timeout connect 5s\n timeout queue 60s\n\
         frontend f\n bind 0.0.0.0:{port}\n default_backend b\n\
         backend b\n {lines}\n server s {behind} {server}\n"
    );
    let file = written(place, "haproxy.cfg", &config);
    vec!["-db".into(), "-f".into(), file]
}

fn written(place: &Path, name: &str, text: &str) -> String {
    let file = place.join(name);
    std::fs::write(&file, text).expect("a folder of its own");
    file.display().to_string()
}
