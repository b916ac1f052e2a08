//! Under which conditions does this host run?
