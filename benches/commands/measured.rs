//! Time and memory of a command, as counted by Linux.

use std::io;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// Seconds and peak memory of a command.
#[derive(Debug, Clone, Copy)]
pub struct Measured {
    /// CPU seconds, of the program and of the kernel for it.
    pub cpu_s: f64,
    /// Seconds on the clock.
    pub wall_s: f64,
    /// Maximum memory, in MB.
    pub peak_mb: f64,
}

impl Measured {
    /// No measurement yet.
    pub const NONE: Measured = Measured {
        cpu_s: f64::INFINITY,
        wall_s: f64::INFINITY,
        peak_mb: 0.0,
    };

    /// Replaces itself by the least time, and the most memory, of itself and another.
    pub fn least(&mut self, other: Measured) {
        self.cpu_s = self.cpu_s.min(other.cpu_s);
        self.wall_s = self.wall_s.min(other.wall_s);
        self.peak_mb = self.peak_mb.max(other.peak_mb);
    }
}

/// A short command is repeated for at least this time, because CPU time is counted in hundredths.
const LEAST: Duration = Duration::from_millis(500);

/// Runs a command to its end, a short one several times, and returns time and memory of one run.
///
/// # Errors
/// The program cannot be started or fails.
pub fn run(program: &Path, words: &[String], name: &str) -> io::Result<Measured> {
    let (start, before_s) = (Instant::now(), children_s()?);
    let (mut runs, mut peak_mb) = (0.0, 0.0);
    while runs == 0.0 || start.elapsed() < LEAST {
        peak_mb = one(program, words, name)?.max(peak_mb);
        runs += 1.0;
    }
    Ok(Measured {
        cpu_s: (children_s()? - before_s) / runs,
        wall_s: start.elapsed().as_secs_f64() / runs,
        peak_mb,
    })
}

/// Runs a command once; returns its peak memory in MB.
fn one(program: &Path, words: &[String], name: &str) -> io::Result<f64> {
    let mut child = Command::new(program)
        .args(words)
        .env("SCAVSIM_PRICES", "builtin")
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()?;
    // The kernel drops the peak with the process: it is read until then.
    let status = format!("/proc/{}/status", child.id());
    let mut peak_kb = 0.0;
    let ended = loop {
        if let Some(ended) = child.try_wait()? {
            break ended;
        }
        let text = std::fs::read_to_string(&status).unwrap_or_default();
        let line = text.lines().find_map(|line| line.strip_prefix("VmHWM:"));
        let seen = line.and_then(|line| line.split_whitespace().next()?.parse().ok());
        peak_kb = seen.unwrap_or(peak_kb);
        std::thread::sleep(Duration::from_millis(3));
    };
    if ended.success() {
        Ok(peak_kb * 1_024.0 / 1e6)
    } else {
        Err(io::Error::other(format!(
            "{name}: {} {ended}",
            program.display()
        )))
    }
}

/// Unit of CPU time in Linux: hundredths of a second.
const TICK_S: f64 = 0.01;

/// CPU seconds of all children of this process that have ended.
fn children_s() -> io::Result<f64> {
    let text = std::fs::read_to_string("/proc/self/stat")?;
    // After the name, which may contain anything, the state comes first: user and system time of children are words 14 and 15.
    let (_, fields) = text.rsplit_once(')').unwrap_or_default();
    let fields = fields.split_whitespace().skip(13).take(2);
    let ticks: f64 = fields.filter_map(|field| field.parse::<f64>().ok()).sum();
    Ok(ticks * TICK_S)
}
