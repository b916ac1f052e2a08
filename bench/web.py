"""What do the comparisons of HTTP load share?

The web server that is loaded, JMeter, and what a page says about both.
"""

import os
import shutil
import tempfile
from pathlib import Path

from peers import ROOT, command, describe_machine, need, say

JMETER = "5.6.3"
NGINX = """
worker_processes 1;
daemon off;
pid {scratch}/nginx.pid;
error_log stderr notice;
events {{ worker_connections 16384; }}
http {{
  access_log off;
  keepalive_requests 1000000000;
  client_body_temp_path {scratch}; proxy_temp_path {scratch}; fastcgi_temp_path {scratch};
  uwsgi_temp_path {scratch}; scgi_temp_path {scratch};
  server {{
    listen {port} backlog=16384{http2};
    http2_max_concurrent_streams 1024;
    root {scratch}/www;
    location = /plan {{ default_type text/html; return 200 "{body}"; }}
  }}
}}
"""


def nginx(scratch, port, body_bytes, http2=False):
    """Words that start a web server with one file, `/index.html`, on every loopback address.

    `/plan` answers as much to any method. With `http2` it speaks nothing else, in clear.
    """
    need("nginx")
    (scratch / "www").mkdir(exist_ok=True)
    (scratch / "www/index.html").write_text("x" * body_bytes)
    config = scratch / "nginx.conf"
    config.write_text(NGINX.format(scratch=scratch, port=port, body="x" * body_bytes,
                                   http2=" http2" if http2 else ""))
    scratch.chmod(0o755)
    return ["nginx", "-c", str(config), "-p", str(scratch)]


def jmeter_home():
    """JMeter laid out as the tests do it, fetched when it is not there; or why not."""
    need("java")
    need("mvn")
    cache = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target")) / "tmp"
    home = cache / f"jmeter-{JMETER}"
    if not (home / "bin/ApacheJMeter.jar").exists():
        say(f"fetching JMeter {JMETER}")
        cache.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=cache) as building:
            layout = ROOT / "crates/testkit/src/jmeter.pom.xml"
            shutil.copy(layout, Path(building) / "pom.xml")
            command("mvn", "-q", "-B", "-f", str(Path(building) / "pom.xml"), "package")
            (Path(building) / "lib/junit").mkdir(exist_ok=True)
            shutil.copytree(building, home, dirs_exist_ok=True)
    return home


def java(home, *words):
    """Words that start JMeter without a window, in a heap of 1 GB as it is shipped."""
    return ["java", "-Xmx1g", "-Djava.awt.headless=true", "-jar", home / "bin/ApacheJMeter.jar", *words]


def describe(binary):
    """The machine, the server and the clients."""
    return describe_machine(binary, ("nginx", "wrk", "ab", "h2load", "oha", "java"),
                            (f"JMeter {JMETER}",))
