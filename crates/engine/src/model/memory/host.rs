//! Free memory and cache of the machine.

use std::fs;
use std::path::{Path, PathBuf};

/// The assumed free memory where the system does not say, in bytes.
const GUESSED_MEMORY: usize = 4 << 30;

/// The assumed cache of the CPU where the system does not say, in bytes.
const GUESSED_CACHE: usize = 8 << 20;

/// Bytes of memory available to new allocations: what Linux calls available, or what the process's control group leaves of
/// it; half of all on macOS; elsewhere a cautious guess.
pub fn free_memory() -> usize {
    let available = if cfg!(target_os = "macos") {
        macos_memory()
    } else {
        let meminfo = fs::read_to_string("/proc/meminfo").unwrap_or_default();
        field(&meminfo, "MemAvailable:").map(|kilobytes| kilobytes << 10)
    };
    let available = available.unwrap_or(GUESSED_MEMORY);
    let own = fs::read_to_string("/proc/self/cgroup").unwrap_or_default();
    cgroup_memory(Path::new("/sys/fs/cgroup"), &own).map_or(available, |free| free.min(available))
}

/// Bytes of cache that `threads` threads have together: the last level once, and the level before it for each.
pub fn cache_bytes(threads: usize) -> usize {
    let caches = Path::new("/sys/devices/system/cpu/cpu0/cache");
    let read = |index: usize, file: &str| {
        fs::read_to_string(caches.join(format!("index{index}")).join(file)).ok()
    };
    let mut levels = [0; 2];
    for index in 0..8 {
        let size = read(index, "size").and_then(|size| kilobytes(&size));
        let level = read(index, "level").and_then(|level| level.trim().parse::<usize>().ok());
        if let (Some(size), Some(level @ 2..=3)) = (size, level) {
            levels[level - 2] = size;
        }
    }
    match levels[0] * threads + levels[1] {
        0 => GUESSED_CACHE,
        bytes => bytes,
    }
}

/// Parses a cache size such as `1024K`, as the kernel writes it; in bytes.
fn kilobytes(text: &str) -> Option<usize> {
    let number = text.trim().strip_suffix('K')?;
    number.parse::<usize>().ok().map(|size| size << 10)
}

fn macos_memory() -> Option<usize> {
    let output = std::process::Command::new("/usr/sbin/sysctl")
        .args(["-n", "hw.memsize"])
        .output()
        .ok()?;
    let all: usize = String::from_utf8(output.stdout).ok()?.trim().parse().ok()?;
    Some(all / 2)
}

/// The number after a name at the beginning of a line.
fn field(text: &str, name: &str) -> Option<usize> {
    let line = text.lines().find_map(|line| line.strip_prefix(name))?;
    line.split_whitespace().next()?.parse().ok()
}

/// The memory that control groups leave: the least over the process's group and its ancestors. `own` is the content of
/// `/proc/self/cgroup`; `root` is where the groups are mounted. `None` without a limit.
fn cgroup_memory(root: &Path, own: &str) -> Option<usize> {
    own.lines()
        .filter_map(|line| {
            let (controllers, path) = line.split_once(':')?.1.split_once(':')?;
            // Version 2 has one tree without controllers' names; version 1 has one for the memory controller.
            if controllers.is_empty() {
                least_free(root, path, &VERSION_2)
            } else if controllers.split(',').any(|name| name == "memory") {
                least_free(&root.join("memory"), path, &VERSION_1)
            } else {
                None
            }
        })
        .min()
}

struct CgroupFiles {
    limit: &'static str,
    usage: &'static str,
    /// Memory that caches files, which the kernel frees when it is needed.
    reclaimable: [&'static str; 2],
}

const VERSION_1: CgroupFiles = CgroupFiles {
    limit: "memory.limit_in_bytes",
    usage: "memory.usage_in_bytes",
    reclaimable: ["total_inactive_file ", "total_active_file "],
};

const VERSION_2: CgroupFiles = CgroupFiles {
    limit: "memory.max",
    usage: "memory.current",
    reclaimable: ["inactive_file ", "active_file "],
};

fn least_free(root: &Path, path: &str, files: &CgroupFiles) -> Option<usize> {
    // In a container the path may be the one outside; then the mounted root is the group.
    let group = root.join(path.trim_start_matches('/'));
    group
        .ancestors()
        .take_while(|folder| folder.starts_with(root))
        .map(PathBuf::from)
        .filter_map(|folder| {
            let number = |file: &str| {
                let text = fs::read_to_string(folder.join(file)).ok()?;
                text.trim().parse::<usize>().ok()
            };
            // `max` means no limit; version 1 writes a number near the largest possible.
            let limit = number(files.limit).filter(|&limit| limit < 1 << 60)?;
            let stat = fs::read_to_string(folder.join("memory.stat")).unwrap_or_default();
            let reclaimable: usize = files
                .reclaimable
                .iter()
                .filter_map(|name| field(&stat, name))
                .sum();
            let used = number(files.usage).unwrap_or(0).saturating_sub(reclaimable);
            Some(limit.saturating_sub(used))
        })
        .min()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn group(folder: &Path, files: &[(&str, &str)]) {
        fs::create_dir_all(folder).unwrap();
        for (name, text) in files {
            fs::write(folder.join(name), text).unwrap();
        }
    }

    #[test]
    fn the_tightest_control_group_counts_without_what_can_be_reclaimed() {
        let root = tempfile::tempdir().unwrap();
        let stat = "anon 100\ninactive_file 300\nactive_file 50\n";
        group(
            &root.path().join("pod"),
            &[
                ("memory.max", "5000\n"),
                ("memory.current", "1000\n"),
                ("memory.stat", stat),
            ],
        );
        group(
            &root.path().join("pod/job"),
            &[("memory.max", "max\n"), ("memory.current", "900\n")],
        );
        assert_eq!(cgroup_memory(root.path(), "0::/pod/job\n"), Some(4350));
        assert_eq!(cgroup_memory(root.path(), "0::/elsewhere\n"), None);
        // A container that sees its own group as the root, under another name.
        group(
            root.path(),
            &[("memory.max", "700"), ("memory.current", "200")],
        );
        assert_eq!(cgroup_memory(root.path(), "0::/elsewhere\n"), Some(500));
    }

    #[test]
    fn the_first_version_has_a_tree_for_memory() {
        let root = tempfile::tempdir().unwrap();
        let own = "9:cpu,cpuacct:/a\n4:memory:/a/b\n0::/\n";
        let folder = root.path().join("memory/a/b");
        let usage = ("memory.usage_in_bytes", "1000");
        group(
            &folder,
            &[("memory.limit_in_bytes", "9223372036854771712"), usage],
        );
        assert_eq!(cgroup_memory(root.path(), own), None, "no limit");
        group(&folder, &[("memory.limit_in_bytes", "4000"), usage]);
        group(&folder, &[("memory.stat", "total_inactive_file 250\n")]);
        assert_eq!(cgroup_memory(root.path(), own), Some(3250));
    }

    #[test]
    fn this_machine_has_memory_and_cache() {
        assert!(free_memory() > 1 << 20);
        assert!(cache_bytes(1) >= 1 << 16);
        assert_eq!(kilobytes("1024K\n"), Some(1 << 20));
    }
}
