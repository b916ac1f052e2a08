//! What do the numbers of a record mean?
