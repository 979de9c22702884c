//! How much memory a command may use: the system's free memory, or what is left of a container's limit if that is less.
//!
//! Inside a container `/proc/meminfo` describes the whole machine. The limits of the control group and of every group
//! above it apply instead: `memory.max` in version 2, `memory.limit_in_bytes` in version 1. The kernel reclaims a
//! group's file cache when memory is short, so that cache does not count as used.

use std::{fs, path::Path};

/// Where control groups are mounted.
const GROUPS: &str = "/sys/fs/cgroup";
/// Assumed if the system does not say.
const UNKNOWN: u64 = 4 << 30;

/// Three quarters of the free memory; 4 GB if the system does not say.
pub(crate) fn free() -> u64 {
    let machine = fs::read_to_string("/proc/meminfo").ok().and_then(|text| available(&text));
    let group = fs::read_to_string("/proc/self/cgroup").ok();
    let group = group.and_then(|own| left_in_groups(Path::new(GROUPS), &own));
    [machine, group].into_iter().flatten().min().map_or(UNKNOWN, |bytes| bytes / 4 * 3)
}

/// What `/proc/meminfo` says is free, in bytes.
fn available(text: &str) -> Option<u64> {
    let line = text.lines().find_map(|line| line.strip_prefix("MemAvailable:"))?;
    let kilobytes: u64 = line.trim().strip_suffix(" kB")?.trim().parse().ok()?;
    Some(kilobytes * 1024)
}

/// The smallest remainder of the limits of this process's groups; `own` is the text of `/proc/self/cgroup`.
fn left_in_groups(root: &Path, own: &str) -> Option<u64> {
    let lefts = own.lines().filter_map(|line| {
        let mut parts = line.splitn(3, ':').skip(1);
        let (controllers, group) = (parts.next()?, parts.next()?);
        let (root, files) = match controllers {
            "" => (root.to_owned(), VERSION_2),
            _ if controllers.split(',').any(|one| one == "memory") => (root.join("memory"), VERSION_1),
            _ => return None,
        };
        // In a container the group's path may not exist below the root; the root is then the group.
        let group = root.join(group.trim_start_matches('/'));
        group
            .ancestors()
            .take_while(|group| group.starts_with(&root))
            .filter_map(|group| left(group, files))
            .min()
    });
    lefts.min()
}

/// The files with a group's limit and use, and the name that `memory.stat` gives to reclaimable file cache.
type Files = [&'static str; 3];
const VERSION_2: Files = ["memory.max", "memory.current", "inactive_file "];
const VERSION_1: Files = ["memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file "];

/// What is left of a group's limit; `None` if it has no limit.
fn left(group: &Path, [limit, used, kept]: Files) -> Option<u64> {
    let number = |file: &str| fs::read_to_string(group.join(file)).ok()?.trim().parse::<u64>().ok();
    let (limit, used) = (number(limit)?, number(used)?);
    let stat = fs::read_to_string(group.join("memory.stat")).unwrap_or_default();
    let kept = stat.lines().find_map(|line| line.strip_prefix(kept)?.parse::<u64>().ok()).unwrap_or(0);
    Some(limit.saturating_sub(used.saturating_sub(kept)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn write(root: &Path, group: &str, files: &[(&str, &str)]) {
        let folder = root.join(group);
        fs::create_dir_all(&folder).unwrap();
        for (name, text) in files {
            fs::write(folder.join(name), text).unwrap();
        }
    }

    #[test]
    fn what_the_machine_has_free_is_read_in_bytes() {
        assert_eq!(available("MemTotal:  9 kB\nMemAvailable:    5 kB\n"), Some(5 * 1024));
        assert_eq!(available("MemTotal:  9 kB\n"), None);
    }

    // The group: 900 − (500 − 100) = 500 left. Above it: 1000 − 700 = 300. The root has no limit.
    #[test]
    fn the_narrowest_of_all_groups_above_counts_without_files_that_can_be_given_back() {
        let root = tempfile::tempdir().unwrap();
        let own = [
            ("memory.max", "900\n"),
            ("memory.current", "500\n"),
            ("memory.stat", "anon 5\ninactive_file 100\n"),
        ];
        write(root.path(), "above/own", &own);
        let left = |text: &str| left_in_groups(root.path(), text);
        assert_eq!(left("0::/above/own\n"), Some(500));
        write(root.path(), "above", &[("memory.max", "1000\n"), ("memory.current", "700\n")]);
        assert_eq!(left("0::/above/own\n"), Some(300));
        write(root.path(), "", &[("memory.max", "max\n"), ("memory.current", "700\n")]);
        assert_eq!(left("0::/\n"), None);
        assert_eq!(left(""), None);
    }

    #[test] // In a container the group's own path often does not exist, but its limit is at the root: 60 − 40 = 20.
    fn groups_of_version_1_have_a_folder_for_memory() {
        let root = tempfile::tempdir().unwrap();
        let own = [("memory.limit_in_bytes", "60\n"), ("memory.usage_in_bytes", "50\n")];
        write(root.path(), "memory", &own);
        write(root.path(), "memory", &[("memory.stat", "inactive_file 1\ntotal_inactive_file 10\n")]);
        let text = "4:cpu,cpuacct:/docker/1\n3:memory:/docker/1\n0::/docker/1\n";
        assert_eq!(left_in_groups(root.path(), text), Some(20));
    }
}
