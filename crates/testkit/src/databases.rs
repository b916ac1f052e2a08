//! Real database servers on loopback, each with a data directory of its own.
//!
//! They run as an unprivileged user: PostgreSQL refuses to run as root. Dropping one ends it.

use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};

use crate::skip;

/// Longest time until a server answers, on a machine that is busy with other tests.
const READY: Duration = Duration::from_secs(60);

/// Makes the command that starts a server, from its directory and port.
type Begin = Box<dyn Fn(&Path, u16) -> Command + Send>;

/// A server that listens on 127.0.0.1.
pub struct DatabaseServer {
    directory: tempfile::TempDir,
    /// Its port.
    pub port: u16,
    begin: Begin,
    scheme: &'static str,
    child: Child,
}

impl DatabaseServer {
    /// Process that all of its sessions belong to.
    pub fn id(&self) -> u32 {
        self.child.id()
    }

    /// Data source name of its database `bench`.
    pub fn dsn(&self) -> String {
        format!("{}://bench@127.0.0.1:{}/bench", self.scheme, self.port)
    }

    /// Makes a further database.
    ///
    /// Panics when it cannot be made.
    pub fn create(&self, name: &str) {
        let (client, words) = match self.scheme {
            "postgres" => (
                "psql",
                ["-h", "127.0.0.1", "-U", "bench", "-d", "bench", "-p"],
            ),
            _ => (
                "mariadb",
                ["--no-defaults", "-h", "127.0.0.1", "-u", "bench", "-P", ""],
            ),
        };
        let client = program(client).expect("the client of the server");
        let begun = Instant::now();
        loop {
            let mut command = command(&client, self.directory.path(), None);
            command.args(words.iter().filter(|word| !word.is_empty()));
            command.arg(self.port.to_string());
            let switch = if self.scheme == "postgres" {
                "-c"
            } else {
                "-e"
            };
            command.args([switch, &format!("create database {name}")]);
            if command.status().is_ok_and(|status| status.success()) {
                return;
            }
            assert!(begun.elapsed() < READY, "create database: {}", self.log());
            std::thread::sleep(Duration::from_millis(100));
        }
    }

    /// Ends the server as a loss of power of its process would: SIGKILL, without any warning.
    pub fn kill(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }

    /// Starts it again on the same data, and waits until it listens.
    ///
    /// Panics when it does not.
    pub fn start_again(&mut self) {
        let begun = Instant::now();
        // Sessions of a killed server may take a moment to notice.
        loop {
            self.child = (self.begin)(self.directory.path(), self.port)
                .spawn()
                .expect("the server was started before");
            if ready(&mut self.child, self.port) {
                return;
            }
            assert!(begun.elapsed() < READY, "the server does not start again");
            std::thread::sleep(Duration::from_millis(200));
        }
    }

    /// The settings that ALTER SYSTEM has written, of PostgreSQL.
    pub fn settings(&self) -> String {
        let file = self.directory.path().join("data/postgresql.auto.conf");
        std::fs::read_to_string(file).unwrap_or_default()
    }

    /// Output of it and its programs.
    pub fn log(&self) -> String {
        std::fs::read_to_string(self.directory.path().join("log")).unwrap_or_default()
    }
}

impl Drop for DatabaseServer {
    fn drop(&mut self) {
        let pid = Pid::from_child(&self.child);
        // Both servers end their sessions on SIGINT or SIGTERM; PostgreSQL waits for them on the latter.
        let signal = match self.scheme {
            "postgres" => Signal::INT,
            _ => Signal::TERM,
        };
        if matches!(self.child.try_wait(), Ok(None)) {
            let _ = kill_process(pid, signal);
        }
        let begun = Instant::now();
        while matches!(self.child.try_wait(), Ok(None)) && begun.elapsed() < Duration::from_secs(10)
        {
            std::thread::sleep(Duration::from_millis(20));
        }
        self.kill();
    }
}

/// True once the server takes connections; false when it has ended.
fn ready(child: &mut Child, port: u16) -> bool {
    let begun = Instant::now();
    while begun.elapsed() < READY && matches!(child.try_wait(), Ok(None)) {
        if std::net::TcpStream::connect(("127.0.0.1", port)).is_ok() {
            return true;
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    false
}

/// A port that was free a moment ago.
fn free_port() -> u16 {
    let socket = TcpListener::bind(("127.0.0.1", 0)).expect("loopback");
    socket.local_addr().expect("it is bound").port()
}

/// A program in the path, or where Debian puts those of servers.
fn program(name: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let mut places: Vec<PathBuf> = std::env::split_paths(&path).collect();
    places.push("/usr/sbin".into());
    if let Ok(versions) = std::fs::read_dir("/usr/lib/postgresql") {
        places.extend(versions.flatten().map(|version| version.path().join("bin")));
    }
    // A wrapper that changes the user is of no use to one who has changed it already.
    places.retain(|place| !place.starts_with("/usr/local"));
    let found = places.into_iter().map(|place| place.join(name));
    found.into_iter().find(|path| path.is_file())
}

/// User that a server runs as when the tests run as root: the package's own one.
fn user(name: &str) -> Option<(u32, u32)> {
    if !rustix::process::geteuid().is_root() {
        return None;
    }
    let users = std::fs::read_to_string("/etc/passwd").unwrap_or_default();
    let fields = users
        .lines()
        .map(|line| line.split(':').collect::<Vec<_>>())
        .find(|fields| fields.first() == Some(&name))?;
    Some((fields.get(2)?.parse().ok()?, fields.get(3)?.parse().ok()?))
}

/// A command of that user, whose words go to the log.
fn command(program: &Path, directory: &Path, as_user: Option<(u32, u32)>) -> Command {
    let mut command = Command::new(program);
    command.current_dir(directory).stdin(Stdio::null());
    let log = || {
        let mut options = std::fs::OpenOptions::new();
        let file = options
            .create(true)
            .append(true)
            .open(directory.join("log"));
        file.map_or_else(|_| Stdio::null(), Stdio::from)
    };
    command.stdout(log()).stderr(log());
    // A locale of the machine has no place in a test, nor has a home that this user cannot enter. A MariaDB that starts
    // removes what looks like left temporary tables: those of others lie where these do not.
    command.env("LC_ALL", "C").env("HOME", directory);
    command.env("TMPDIR", directory);
    #[cfg(unix)]
    if let Some((uid, gid)) = as_user {
        std::os::unix::process::CommandExt::gid(&mut command, gid);
        std::os::unix::process::CommandExt::uid(&mut command, uid);
    }
    command
}

/// A directory that belongs to the server's user.
fn directory(as_user: Option<(u32, u32)>) -> tempfile::TempDir {
    let directory = tempfile::tempdir().expect("a directory");
    #[cfg(unix)]
    if let Some((uid, gid)) = as_user {
        std::os::unix::fs::chown(directory.path(), Some(uid), Some(gid)).expect("root");
    }
    directory
}

/// A file that only the server's user can read.
fn private_file(path: &Path, content: &str, as_user: Option<(u32, u32)>) {
    std::fs::write(path, content).expect("a file");
    #[cfg(unix)]
    {
        use std::os::unix::fs::{PermissionsExt as _, chown};
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o600)).expect("its owner");
        if let Some((uid, gid)) = as_user {
            chown(path, Some(uid), Some(gid)).expect("root");
        }
    }
}

fn serve(
    scheme: &'static str,
    directory: tempfile::TempDir,
    begin: impl Fn(&Path, u16) -> Command + Send + 'static,
) -> DatabaseServer {
    let port = free_port();
    let mut child = begin(directory.path(), port).spawn().expect("a program");
    let is_ready = ready(&mut child, port);
    let server = DatabaseServer {
        directory,
        port,
        begin: Box::new(begin),
        scheme,
        child,
    };
    assert!(is_ready, "{scheme} does not listen: {}", server.log());
    server
}

/// A PostgreSQL server with an empty database, with these settings (`fsync=off`); `None`, with the reason
/// printed, where there is none.
pub fn postgres(settings: &[&str]) -> Option<DatabaseServer> {
    postgres_with(settings, &[])
}

/// The same with files beside its data, such as `../key.pem` in a setting, which only the server can read.
pub fn postgres_with(settings: &[&str], files: &[(&str, &str)]) -> Option<DatabaseServer> {
    let (Some(initdb), Some(postgres)) = (program("initdb"), program("postgres")) else {
        skip("there is no PostgreSQL");
        return None;
    };
    let as_user = user("postgres");
    let directory = directory(as_user);
    let data = directory.path().join("data");
    let made = command(&initdb, directory.path(), as_user)
        .args([
            "-U",
            "bench",
            "-A",
            "trust",
            "--no-sync",
            "-E",
            "UTF8",
            "-D",
        ])
        .arg(&data)
        .status();
    assert!(made.is_ok_and(|status| status.success()), "initdb");
    for (name, content) in files {
        private_file(&directory.path().join(name), content, as_user);
    }
    let settings: Vec<String> = settings.iter().map(|&one| one.to_owned()).collect();
    let server = serve("postgres", directory, move |directory, port| {
        let mut command = command(&postgres, directory, as_user);
        command.arg("-D").arg(directory.join("data"));
        command.arg("-k").arg(directory);
        command.args(["-h", "127.0.0.1", "-p", &port.to_string()]);
        for setting in &settings {
            command.args(["-c", setting]);
        }
        command
    });
    let createdb = program("createdb").expect("it is part of PostgreSQL");
    let begun = Instant::now();
    loop {
        let made = command(&createdb, server.directory.path(), as_user)
            .args([
                "-h",
                "127.0.0.1",
                "-U",
                "bench",
                "-p",
                &server.port.to_string(),
            ])
            .arg("bench")
            .status();
        if made.is_ok_and(|status| status.success()) {
            return Some(server);
        }
        assert!(begun.elapsed() < READY, "createdb: {}", server.log());
        std::thread::sleep(Duration::from_millis(100));
    }
}

/// A MariaDB server with an empty database; `None`, with the reason printed, where there is none.
pub fn mariadb() -> Option<DatabaseServer> {
    mariadb_with(&[], &[])
}

/// The same with these settings (`ssl-key=key.pem`), and files beside its data, which only the server can read.
pub fn mariadb_with(settings: &[&str], files: &[(&str, &str)]) -> Option<DatabaseServer> {
    let (Some(install), Some(daemon)) = (program("mariadb-install-db"), program("mariadbd")) else {
        skip("there is no MariaDB");
        return None;
    };
    let as_user = user("mysql");
    let directory = directory(as_user);
    let data = directory.path().join("data");
    let made = command(&install, directory.path(), as_user)
        .args([
            "--no-defaults",
            "--auth-root-authentication-method=normal",
            "--skip-test-db",
        ])
        .arg(format!("--datadir={}", data.display()))
        .status();
    let log = || std::fs::read_to_string(directory.path().join("log")).unwrap_or_default();
    assert!(
        made.is_ok_and(|status| status.success()),
        "mariadb-install-db: {}",
        log()
    );
    for (name, content) in files {
        private_file(&directory.path().join(name), content, as_user);
    }
    let settings: Vec<String> = settings.iter().map(|one| format!("--{one}")).collect();
    Some(serve_mysql(daemon, directory, as_user, settings))
}

/// A MySQL server, not MariaDB, with an empty database; `None`, with the reason printed, where there is none.
pub fn mysql() -> Option<DatabaseServer> {
    let is_mysql = |daemon: &PathBuf| {
        let said = Command::new(daemon)
            .args(["--no-defaults", "--version"])
            .output();
        said.is_ok_and(|said| !String::from_utf8_lossy(&said.stdout).contains("MariaDB"))
    };
    let Some(daemon) = program("mysqld").filter(is_mysql) else {
        skip("there is no MySQL");
        return None;
    };
    let as_user = user("mysql");
    let directory = directory(as_user);
    let made = command(&daemon, directory.path(), as_user)
        .args(["--no-defaults", "--initialize-insecure"])
        .arg(format!(
            "--datadir={}",
            directory.path().join("data").display()
        ))
        .status();
    assert!(
        made.is_ok_and(|status| status.success()),
        "mysqld --initialize-insecure"
    );
    // Without the other protocol, and the folder that files are read from: those of the package.
    let settings = ["--mysqlx=OFF", "--secure-file-priv=NULL"];
    let settings = settings.map(ToOwned::to_owned).to_vec();
    Some(serve_mysql(daemon, directory, as_user, settings))
}

/// Starts MariaDB or MySQL on its data, with a database and a user who needs no password.
fn serve_mysql(
    daemon: PathBuf,
    directory: tempfile::TempDir,
    as_user: Option<(u32, u32)>,
    settings: Vec<String>,
) -> DatabaseServer {
    let set_up = directory.path().join("set-up.sql");
    let grant = "create database if not exists bench; \
        create user if not exists bench@'127.0.0.1'; create user if not exists bench@localhost; \
        create user if not exists bench@'%'; \
        grant all on *.* to bench@'127.0.0.1' with grant option; \
        grant all on *.* to bench@localhost with grant option; \
        grant all on *.* to bench@'%' with grant option;\n";
    std::fs::write(&set_up, grant.replace("; ", ";\n")).expect("a file");
    serve("mysql", directory, move |directory, port| {
        let mut command = command(&daemon, directory, as_user);
        let at = |name: &str| directory.join(name).display().to_string();
        command.args([
            "--no-defaults".to_owned(),
            format!("--datadir={}", at("data")),
            format!("--socket={}", at("socket")),
            format!("--pid-file={}", at("pid")),
            format!("--init-file={}", at("set-up.sql")),
            format!("--port={port}"),
            "--bind-address=127.0.0.1".to_owned(),
            "--character-set-server=utf8mb4".to_owned(),
            "--innodb-buffer-pool-size=64M".to_owned(),
        ]);
        command.args(&settings);
        command
    })
}
