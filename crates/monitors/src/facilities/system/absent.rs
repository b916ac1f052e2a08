//! Systems that are not asked.

use std::path::Path;

/// Reason, always.
pub(crate) fn free_bytes(_dir: &Path) -> Result<u64, String> {
    Err("not available on this system: free space is asked for on Linux only".to_owned())
}

/// Reason, always.
pub(crate) fn enter_network_namespace() -> Result<(), String> {
    Err("not available on this system: only Linux has network namespaces".to_owned())
}
