//! `juror cache`

use std::io::Write;
use std::path::PathBuf;
use std::time::SystemTime;

use anyhow::anyhow;
use clap::Subcommand;

use super::judge::parse_size;
use super::{DONE, Failure, INCOMPLETE, OrFail, counted, for_output, say};
use juror_judge::judge::cache::{self, CACHE_SIZE, CacheError, CacheStatistics};

/// Look after a cache of answers (`juror judge --cache`)
#[derive(Debug, Subcommand)]
pub(super) enum CacheAction {
    /// Count its answers and bytes
    Stat {
        /// The folder given to `juror judge --cache`
        folder: PathBuf,
    },
    /// Write its answers anew in few files, each once, and remove those that were not used for longest; files changed in the last
    /// ten minutes may be a run's, and are left alone
    Prune {
        /// The folder given to `juror judge --cache`
        folder: PathBuf,
        /// What it may hold, as `500MB` or `20GB` [default: 2GB]
        #[arg(long, value_name = "SIZE", value_parser = parse_size)]
        cache_size: Option<u64>,
    },
    /// Read every answer, and name the lines that are none
    Verify {
        /// The folder given to `juror judge --cache`
        folder: PathBuf,
    },
}

pub(super) fn run(action: CacheAction) -> Result<u8, Failure> {
    let mut out = std::io::stdout().lock();
    match action {
        CacheAction::Stat { folder } => {
            print(&mut out, &cache::statistics(&folder)?).or_fail()?;
        }
        CacheAction::Prune { folder, cache_size } => {
            let before = cache::statistics(&folder)?;
            let in_use = cache::prune(&folder, cache_size.unwrap_or(CACHE_SIZE))?;
            let after = cache::statistics(&folder)?;
            print(&mut out, &after).or_fail()?;
            let (was, is) = (before.bytes, after.bytes);
            let left = counted(in_use, "file");
            say(&format!(
                "{was} bytes before, {is} now; left alone, as changed in the last ten minutes: {left}"
            ));
        }
        CacheAction::Verify { folder } => {
            let statistics = cache::verify(&folder)?;
            print(&mut out, &statistics).or_fail()?;
            for line in &statistics.broken {
                writeln!(out, "{}", for_output(line)).or_fail()?;
            }
            if !statistics.broken.is_empty() {
                let count = statistics.broken.len();
                say(&format!(
                    "lines that are no answers, and passed over: {count}; `juror cache prune` removes them"
                ));
                return Ok(INCOMPLETE);
            }
        }
    }
    Ok(DONE)
}

fn print(out: &mut impl Write, statistics: &CacheStatistics) -> std::io::Result<()> {
    writeln!(out, "answers   {}", statistics.answers)?;
    writeln!(out, "repeated  {}", statistics.repeated)?;
    writeln!(out, "files     {}", statistics.segments)?;
    writeln!(out, "bytes     {}", statistics.bytes)?;
    let age = statistics
        .oldest
        .and_then(|oldest| SystemTime::now().duration_since(oldest).ok());
    if let Some(age) = age {
        let days = age.as_secs_f64() / 86_400.0;
        writeln!(out, "oldest    used {days:.1} days ago")?;
    }
    Ok(())
}

impl From<CacheError> for Failure {
    fn from(error: CacheError) -> Self {
        let CacheError::Io { path, source } = &error else {
            return Self::new(error, true);
        };
        if source.kind() == std::io::ErrorKind::NotFound {
            let why = anyhow!("there is no cache {}", path.display());
            return Self::new(why, true);
        }
        Self::new(error, false)
    }
}
