//! Who ends a program when scavsim ends, however it ends.
//!
//! A shell that waits for the end of its input, which scavsim holds open and the system closes even where nobody can do
//! anything any more. It leads the process group of the program, and ends that group with itself.

#[cfg(unix)]
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, Stdio};

use crate::program::NoStart;

/// The guard of one program. Where there are no process groups it guards nothing.
pub(crate) struct Guard(Option<Child>);

/// What it does: `read` comes back when the pipe is closed.
#[cfg(unix)]
const WATCH: &str = "read -r _; kill -s KILL 0";

impl Guard {
    /// Starts one: before its program, so that there is no moment without it.
    #[cfg(unix)]
    pub(crate) fn start() -> Result<Guard, NoStart> {
        let guard = Command::new("sh")
            .args(["-c", WATCH])
            .process_group(0)
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn();
        Ok(Guard(Some(guard.map_err(NoStart::Guard)?)))
    }

    #[cfg(not(unix))]
    pub(crate) fn start() -> Result<Guard, NoStart> {
        Ok(Guard(None))
    }

    /// Puts what is started into its group.
    #[cfg(unix)]
    pub(crate) fn watch(&self, command: &mut Command) {
        if let Some(group) = self.group() {
            command.process_group(group);
        }
    }

    #[cfg(not(unix))]
    pub(crate) fn watch(&self, _: &mut Command) {}

    /// The process group of the program. Nobody else gets its number before the guard has been waited for.
    #[cfg(unix)]
    fn group(&self) -> Option<i32> {
        (self.0.as_ref()).and_then(|guard| i32::try_from(guard.id()).ok())
    }

    /// Ends the program with all that it started and that did not leave the group.
    pub(crate) fn kill(&mut self) {
        #[cfg(unix)]
        {
            use rustix::process::{Pid, Signal, kill_process_group};
            if let Some(group) = self.group().and_then(Pid::from_raw) {
                let _ = kill_process_group(group, Signal::KILL);
            }
        }
        if let Some(mut guard) = self.0.take() {
            let _ = guard.kill();
            let _ = guard.wait();
        }
    }
}
