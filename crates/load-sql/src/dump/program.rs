//! Programs that come with a server: found, started with access to it, watched, ended.

use std::fs::File;
use std::io::{self, Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use sokudo_model::cut;
use sokudo_net::files::owner_only;
use sokudo_sql::{Target, programs};

use super::watch::{Watch, Wrong};

/// Time between two looks at a program, which bounds the error of its time.
const LOOK: Duration = Duration::from_millis(2);
/// Bytes of a program's words that are read.
const MOST_WORDS: u64 = 8 << 10;
/// Most of them that are repeated.
const SHOWN: usize = 600;

/// Access to a server for its programs.
pub(super) struct Programs {
    folder: PathBuf,
    variables: Vec<(&'static str, String)>,
    /// Whether the server is MariaDB, and not MySQL.
    pub(super) is_mariadb: bool,
}

impl Programs {
    /// Writes what they need into a private folder.
    ///
    /// Errors: a file cannot be written, certificates cannot be read.
    pub(super) fn of(
        target: &Target,
        product: &str,
        is_encrypted: bool,
        folder: &Path,
    ) -> io::Result<Self> {
        let access = programs::access(target, folder, is_encrypted)?;
        for (name, content) in &access.files {
            let mut file = owner_only().write(true).open(folder.join(name))?;
            file.write_all(content.as_bytes())?;
        }
        Ok(Self {
            folder: folder.to_owned(),
            variables: access.variables,
            is_mariadb: product.contains("MariaDB"),
        })
    }

    /// The file of options for MariaDB's and MySQL's programs.
    pub(super) fn options(&self) -> PathBuf {
        self.folder.join(programs::OPTIONS)
    }

    /// Runs the first of these programs that is there, until it ends; returns its time.
    ///
    /// Errors: none is there, it failed, the watch is over.
    pub(super) fn run(
        &self,
        names: &[&'static str],
        package: &'static str,
        input: Option<&Path>,
        watch: &Watch<'_>,
        arguments: impl Fn(&mut Command),
    ) -> Result<Duration, Wrong> {
        for &name in names {
            let mut command = self.command(name, input).map_err(Wrong::Io)?;
            arguments(&mut command);
            let begun = Instant::now();
            let child = match command.spawn() {
                Ok(child) => child,
                Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
                Err(error) => return Err(Wrong::Io(error)),
            };
            let status = Running(child).wait(watch)?;
            return match status.success() {
                true => Ok(begun.elapsed()),
                // Ctrl-C at a terminal ends the program, too.
                false if !watch.goes_on() => Err(watch.over()),
                false => Err(Wrong::Program(name, self.words(status))),
            };
        }
        let first = names.first().copied().unwrap_or_default();
        Err(Wrong::Missing(first, package))
    }

    /// A command that reaches the server as the session does: nothing of the environment leads it elsewhere.
    fn command(&self, name: &str, input: Option<&Path>) -> io::Result<Command> {
        let mut command = Command::new(name);
        for (key, _) in std::env::vars_os() {
            let text = key.to_string_lossy();
            if text.starts_with("PG") || text.starts_with("MYSQL") || text.starts_with("MARIADB") {
                command.env_remove(&key);
            }
        }
        let variables = self.variables.iter().map(|(key, value)| (key, value));
        command.envs(variables);
        let words = owner_only().write(true).truncate(true).open(self.log())?;
        let input = input.map(File::open).transpose()?;
        command
            .stdin(input.map_or_else(Stdio::null, Stdio::from))
            .stdout(Stdio::null())
            .stderr(words);
        Ok(command)
    }

    fn log(&self) -> PathBuf {
        self.folder.join("words")
    }

    /// Error output of a program on one line; its exit status where it wrote none.
    fn words(&self, status: ExitStatus) -> String {
        let mut bytes = Vec::new();
        if let Ok(file) = File::open(self.log()) {
            // What cannot be read is not repeated.
            let _ = file.take(MOST_WORDS).read_to_end(&mut bytes);
        }
        let said = String::from_utf8_lossy(&bytes);
        let said: Vec<&str> = said.lines().map(str::trim).collect();
        let said = said.join(" ");
        match said.trim() {
            "" => sokudo_net::process::end_of(status),
            said => cut(said, SHOWN).into_owned(),
        }
    }
}

/// A program that runs. Dropping it kills it.
struct Running(Child);

impl Running {
    fn wait(&mut self, watch: &Watch<'_>) -> Result<ExitStatus, Wrong> {
        while watch.goes_on() {
            if let Some(status) = self.0.try_wait().map_err(Wrong::Io)? {
                return Ok(status);
            }
            std::thread::sleep(LOOK);
        }
        Err(watch.over())
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        // It may have ended already.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}
