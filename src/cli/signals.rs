//! Signals that end the program: Ctrl-C, SIGTERM, SIGHUP. They end it at once, with 128 and their number as exit code. For a command with
//! results to save, the first signal raises its interrupt; a second signal or a timeout ends the program.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::{flag, low_level};

use super::exit::Exit;
use super::terminal;
use scavsim_engine::Interrupt;

#[derive(Debug)]
pub struct Signals {
    /// Whether the next signal ends the program at once.
    at_once: Arc<AtomicBool>,
    /// The number of the last signal; 0 before any.
    caught: Arc<AtomicUsize>,
    interrupt: Interrupt,
    /// Whether this program handles signals; otherwise the caller raises the interrupt.
    are_heard: bool,
    /// Whether all that is left is to write finished results.
    stopped: Arc<AtomicBool>,
}

/// Milliseconds between two looks, and the limit for current work to stop: a blocked open, or a computation that does not check its
/// interrupt, must not delay the end.
const LOOK_MS: u64 = 50;
const MOST_MS: u64 = 700;

impl Signals {
    pub fn listen() -> anyhow::Result<Signals> {
        let signals = Signals {
            at_once: Arc::new(AtomicBool::new(true)),
            caught: Arc::default(),
            interrupt: Interrupt::default(),
            are_heard: true,
            stopped: Arc::default(),
        };
        for signal in wanted() {
            // Order matters: the first signal reads the flag, and then changes it.
            let Signals {
                at_once, caught, ..
            } = &signals;
            flag::register_conditional_shutdown(signal, 128 + signal, Arc::clone(at_once))?;
            flag::register_usize(signal, Arc::clone(caught), signal as usize)?;
            flag::register(signal, Arc::clone(at_once))?;
            if let Some(raised) = signals.interrupt.flag() {
                flag::register(signal, raised)?;
            }
        }
        Ok(signals)
    }

    /// Handles no signals: the caller raises the interrupt, and handles signals itself.
    pub fn left_to(interrupt: &Interrupt) -> Signals {
        Signals {
            at_once: Arc::default(),
            caught: Arc::default(),
            interrupt: interrupt.clone(),
            are_heard: false,
            stopped: Arc::default(),
        }
    }

    /// From now on the first signal raises this interrupt, and the program has a moment to stop.
    pub fn raise_first(&self) -> std::io::Result<&Interrupt> {
        if !self.are_heard {
            return Ok(&self.interrupt);
        }
        let (interrupt, stopped) = (self.interrupt.clone(), Arc::clone(&self.stopped));
        let caught = Arc::clone(&self.caught);
        thread::Builder::new().spawn(move || {
            while !interrupt.is_raised() {
                thread::sleep(Duration::from_millis(LOOK_MS));
            }
            for _ in 0..MOST_MS / LOOK_MS {
                if stopped.load(Ordering::Relaxed) {
                    return;
                }
                thread::sleep(Duration::from_millis(LOOK_MS));
            }
            if !stopped.load(Ordering::Relaxed) {
                terminal::error("interrupted; what was written is kept");
                low_level::exit(128 + caught.load(Ordering::Relaxed) as i32);
            }
        })?;
        self.at_once.store(false, Ordering::Relaxed);
        Ok(&self.interrupt)
    }

    /// Work has stopped: the remaining writes have no time limit until the next signal.
    pub fn has_stopped(&self) {
        self.stopped.store(true, Ordering::Relaxed);
    }

    /// The exit code of a command that a signal has interrupted.
    pub fn exit(&self) -> Exit {
        match self.caught.load(Ordering::Relaxed) as i32 {
            SIGTERM => Exit::Terminated,
            #[cfg(unix)]
            signal_hook::consts::SIGHUP => Exit::HungUp,
            _ => Exit::Interrupted,
        }
    }
}

fn wanted() -> Vec<i32> {
    #[allow(unused_mut)]
    let mut wanted = vec![SIGINT, SIGTERM];
    #[cfg(target_os = "linux")]
    if !is_ignored(signal_hook::consts::SIGHUP) {
        wanted.push(signal_hook::consts::SIGHUP);
    }
    wanted
}

/// Whether the parent process ignores a signal, as `nohup` does with SIGHUP. Other systems need unsafe code to find out, so there SIGHUP
/// has its default effect.
#[cfg(target_os = "linux")]
fn is_ignored(signal: i32) -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let mask = mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok());
    mask.unwrap_or(0) & (1 << (signal - 1)) != 0
}
