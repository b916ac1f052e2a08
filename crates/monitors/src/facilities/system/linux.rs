//! Linux: unshare(2) and statvfs(3).

use std::path::Path;

/// Bytes that a process without privilege may still write below `dir`.
pub(crate) fn free_bytes(dir: &Path) -> Result<u64, String> {
    let stat = rustix::fs::statvfs(dir)
        .map_err(|error| format!("`{}` does not say: {error}", dir.display()))?;
    Ok(stat.f_bavail.saturating_mul(stat.f_frsize))
}

/// Steps into a new network namespace on a thread that ends at once, and the namespace with it.
pub(crate) fn enter_network_namespace() -> Result<(), String> {
    let tried = std::thread::Builder::new()
        .name("probe-netns".to_owned())
        .spawn(unshare_network)
        .map_err(|error| format!("no thread could be started to try: {error}"))?
        .join();
    match tried {
        Ok(Ok(())) => Ok(()),
        Ok(Err(error)) => Err(format!("the kernel refused: {error}")),
        Err(_) => Err("the thread that tried died".to_owned()),
    }
}

#[allow(unsafe_code)]
fn unshare_network() -> Result<(), rustix::io::Errno> {
    // SAFETY: the danger of `unshare` is threads losing sight of each other's descriptors (FILES);
    // NEWNET changes only the calling thread's view of the network.
    unsafe { rustix::thread::unshare_unsafe(rustix::thread::UnshareFlags::NEWNET) }
}
