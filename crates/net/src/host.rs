//! Reads the name of this host.

/// This machine's name as the system reports it; `None` where it reports none.
///
/// Source: uname(2).
#[cfg(unix)]
pub fn name() -> Option<String> {
    let name = rustix::system::uname();
    named(&name.nodename().to_string_lossy())
}

/// This machine's name as the system reports it; `None` where it reports none.
///
/// Source: the variable `COMPUTERNAME`, which Windows sets for every process.
#[cfg(not(unix))]
pub fn name() -> Option<String> {
    std::env::var("COMPUTERNAME")
        .ok()
        .and_then(|name| named(&name))
}

fn named(name: &str) -> Option<String> {
    let name = name.trim();
    (!name.is_empty()).then(|| name.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_empty_name_is_none() {
        assert_eq!(named(" \n"), None);
        assert_eq!(named("hosta\n").as_deref(), Some("hosta"));
        assert!(name().is_none_or(|name| !name.is_empty()));
    }
}
