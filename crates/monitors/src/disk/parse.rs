//! Parser of `/proc/diskstats`.

/// More devices than this are not read.
pub(crate) const MAX_DEVICES: usize = 256;

/// One device or partition of `/proc/diskstats`, counted since boot.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Device<'a> {
    /// Name as in `/dev`.
    pub(crate) name: &'a str,
    /// Sectors of 512 bytes read, whatever the device's block size.
    pub(crate) read_sectors: u64,
    /// Sectors of 512 bytes written.
    pub(crate) written_sectors: u64,
    /// Time spent by all requests together, milliseconds. The kernel keeps 32 bits of it.
    pub(crate) weighted_ms: u32,
}

/// Reads `/proc/diskstats`: 14 columns since Linux 2.6, 18 since 4.18, 20 since 5.5.
///
/// Lines of another shape (partitions before 2.6.25 have 7 columns) are left out.
pub(crate) fn diskstats(text: &str) -> impl Iterator<Item = Device<'_>> {
    text.lines().filter_map(device).take(MAX_DEVICES)
}

fn device(line: &str) -> Option<Device<'_>> {
    let mut columns = line.split_ascii_whitespace();
    let name = columns.nth(2)?;
    let read_sectors = columns.nth(2)?.parse().ok()?;
    let written_sectors = columns.nth(3)?.parse().ok()?;
    let weighted_ms: u64 = columns.nth(3)?.parse().ok()?;
    Some(Device {
        name,
        read_sectors,
        written_sectors,
        weighted_ms: weighted_ms as u32,
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const NEW: &str = "   7       0 loop0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0\n \
        254       0 vda 52687 8999 5774090 25361 10772 13546 2581488 6061 0 8372 31860 3915 85 583960 398 1023 39\n";

    #[test]
    fn twenty_columns_and_fourteen_mean_the_same() {
        let old = "254 0 vda 52687 8999 5774090 25361 10772 13546 2581488 6061 0 8372 31860\n";
        let wanted = Device {
            name: "vda",
            read_sectors: 5_774_090,
            written_sectors: 2_581_488,
            weighted_ms: 31_860,
        };
        assert_eq!(diskstats(NEW).nth(1), Some(wanted.clone()));
        assert_eq!(diskstats(old).next(), Some(wanted));
    }

    #[test]
    fn a_short_line_is_left_out() {
        assert_eq!(diskstats("8 1 sda1 10 20 30 40\n").count(), 0);
    }

    proptest! {
        #[test]
        fn garbage_never_panics(text in "([ -~]{0,6} ?[0-9]{0,22} ?\n?){0,60}") {
            let _ = diskstats(&text).count();
        }
    }
}
