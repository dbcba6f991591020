//! A guard ends a program when scavsim ends for any reason: a shell that waits for the end of its input, which scavsim holds
//! open and the system closes. It leads the process group of the program, and ends that group including itself.

use std::process::{Child, Command, Stdio};

use crate::program::NoStart;

/// Empty if there are no process groups.
pub(crate) struct Guard(Option<Child>);

/// The script: `read` returns when the pipe is closed.
const WATCH: &str = "read -r _; kill -s KILL 0";

impl Guard {
    /// Starts a guard before its program, so that the program is never without it.
    pub(crate) fn start() -> Result<Guard, NoStart> {
        let mut shell = Command::new("sh");
        shell.args(["-c", WATCH]).stdin(Stdio::piped());
        shell.stdout(Stdio::null()).stderr(Stdio::null());
        put_into(&mut shell, 0);
        let start = cfg!(unix).then(|| shell.spawn().map_err(NoStart::Guard));
        Ok(Guard(start.transpose()?))
    }

    pub(crate) fn watch(&self, command: &mut Command) {
        if let Some(group) = self.group() {
            put_into(command, group);
        }
    }

    /// The program's process group. No other process gets its number until the guard was waited for.
    fn group(&self) -> Option<i32> {
        (self.0.as_ref()).and_then(|guard| i32::try_from(guard.id()).ok())
    }

    /// Ends the program with all processes of its group.
    pub(crate) fn kill(&mut self) {
        #[cfg(unix)]
        if let Some(group) = self.group().and_then(rustix::process::Pid::from_raw) {
            let _ = rustix::process::kill_process_group(group, rustix::process::Signal::KILL);
        }
        if let Some(mut guard) = self.0.take() {
            let _ = guard.kill();
            let _ = guard.wait();
        }
    }
}

#[cfg_attr(
    not(unix),
    allow(unused_variables, reason = "there are no process groups")
)]
fn put_into(command: &mut Command, group: i32) {
    #[cfg(unix)]
    std::os::unix::process::CommandExt::process_group(command, group);
}
