//! A program under way: one line in, one line out, within limits of time, memory and output.
//!
//! Threads of its own read what it says and write what it is told, so that nothing it does makes anybody wait for longer
//! than its time-out. It is ended with all processes that it started and that did not leave its group; by its guard, where
//! scavsim itself ends, however that ends.

use std::io::{BufRead, BufReader, Read, Write};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, SyncSender, channel, sync_channel};
use std::thread;
use std::time::{Duration, Instant};

use crate::conversation::{Conversation, ConversationError};
use crate::guard::Guard;
use crate::lines::shortened;
use crate::program::{MessageTerms, NoStart, Program};

/// Longest answer, in bytes.
const LONGEST_ANSWER: usize = 1 << 20;
/// Bytes of its last complaints that are kept.
const COMPLAINTS: usize = 4096;
/// How long a program that says no more is given to end by itself, so that its own exit status can be told.
const GRACE: Duration = Duration::from_millis(500);
/// Between two looks at the interrupt.
const LOOK: Duration = Duration::from_millis(20);

#[derive(Debug, Clone, Copy)]
struct ProcessLimits {
    /// Longest time to start, beside the first answer.
    start: Duration,
    answer: Duration,
}

#[derive(Debug)]
enum ProcessFailure {
    /// The process said something that it was not asked for.
    Unasked(String),
    Ended,
    /// The answer is too long.
    Flood,
    /// The answer takes longer than this.
    Late(Duration),
    /// The input of the process has ended, and the process has not, for so long.
    Stays(Duration),
    /// Nobody waits for it any more.
    Interrupted,
}

/// Why there is no answer, how the program ended, and what it complained of last.
#[derive(Debug, thiserror::Error)]
#[error("{}", self.in_words())]
struct NoAnswer {
    broken: ProcessFailure,
    status: Option<ExitStatus>,
    complaint: String,
    wording: MessageTerms,
}

impl NoAnswer {
    fn in_words(&self) -> String {
        let complaint = if self.complaint.is_empty() {
            String::new()
        } else {
            format!("; its last words: {}", shortened(&self.complaint))
        };
        let status = self.status;
        let MessageTerms { task, done } = self.wording;
        match &self.broken {
            ProcessFailure::Unasked(line) => {
                format!(
                    "the program said more than it was asked: {}",
                    shortened(line)
                )
            }
            ProcessFailure::Flood => {
                format!("the program's answer is longer than {LONGEST_ANSWER} bytes")
            }
            ProcessFailure::Late(limit) => match status {
                // Those hold its output open.
                Some(status) => {
                    format!("the program ended ({status}) and left others behind{complaint}")
                }
                None => format!(
                    "the program gave no answer within {} s{complaint}",
                    limit.as_secs_f64()
                ),
            },
            ProcessFailure::Stays(limit) => match status {
                Some(status) => {
                    format!("the program ended ({status}) and left others behind{complaint}")
                }
                None => format!(
                    "the program goes on for {} s after its {task} and its input have ended: let it end, or repeat the \
                     `number` of each line{complaint}",
                    limit.as_secs_f64()
                ),
            },
            ProcessFailure::Interrupted => "interrupted".to_owned(),
            ProcessFailure::Ended => match status {
                Some(status) if !status.success() => {
                    format!("the program ended ({status}){complaint}")
                }
                _ => format!("the program ended before it had {done}{complaint}"),
            },
        }
    }
}

/// Starts a program. Waiting for an answer ends when somebody raises the flag `stop`.
pub fn start(
    program: &Program<'_>,
    stop: Option<Arc<AtomicBool>>,
) -> Result<Box<dyn Conversation>, NoStart> {
    Ok(Box::new(Process::start(program, stop)?))
}

struct Process {
    child: Child,
    guard: Guard,
    limits: ProcessLimits,
    wording: MessageTerms,
    /// Ends the wait for it.
    stop: Option<Arc<AtomicBool>>,
    has_started: bool,
    /// Until its input ends.
    tell: Option<Sender<String>>,
    /// A line, or `None` for one that is too long.
    said: Receiver<Option<String>>,
    complaints: Receiver<String>,
}

impl Process {
    /// Starts one. Its random hashes are switched off, and Python's buffers: what is printed is said.
    fn start(of: &Program<'_>, stop: Option<Arc<AtomicBool>>) -> Result<Process, NoStart> {
        let (program, arguments) = of.found()?;
        let mut command = Command::new(program);
        command
            .args(arguments)
            .env("PYTHONHASHSEED", "0")
            .env("PYTHONUNBUFFERED", "1")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        if !of.folder.as_os_str().is_empty() {
            command.current_dir(of.folder);
        }
        let guard = Guard::start()?;
        guard.watch(&mut command);
        let mut child = command.spawn().map_err(NoStart::Program)?;
        limit_memory(&child, of.memory_mib.get());
        let pipes = (child.stdin.take(), child.stdout.take(), child.stderr.take());
        let (Some(mut input), Some(output), Some(errors)) = pipes else {
            return Err(NoStart::NoPipes);
        };
        let (tell, told) = channel::<String>();
        thread::spawn(move || {
            for line in told {
                if input.write_all(line.as_bytes()).is_err() {
                    break;
                }
            }
        });
        let (say, said) = sync_channel(1);
        thread::spawn(move || read_lines(BufReader::new(output), &say));
        let (complain, complaints) = sync_channel(1);
        thread::spawn(move || complain.send(last_line(errors)));
        Ok(Process {
            child,
            guard,
            limits: ProcessLimits {
                start: of.start_limit(),
                answer: of.answer_limit(),
            },
            wording: of.wording,
            stop,
            has_started: false,
            tell: Some(tell),
            said,
            complaints,
        })
    }

    fn is_stopped(&self) -> bool {
        (self.stop.as_ref()).is_some_and(|flag| flag.load(Ordering::Relaxed))
    }

    /// Tells it a line and waits for its answer: what it says next, whenever it said it.
    fn ask(&mut self, line: String) -> Result<String, ProcessFailure> {
        if let Some(tell) = &self.tell {
            // One that has ended hears nothing; what it says tells so.
            let _ = tell.send(line);
        }
        self.hear()
    }

    fn hear(&mut self) -> Result<String, ProcessFailure> {
        let limit = if self.has_started {
            self.limits.answer
        } else {
            self.limits.start + self.limits.answer
        };
        let deadline = Instant::now() + limit;
        loop {
            let left = deadline.saturating_duration_since(Instant::now());
            match self.said.recv_timeout(left.min(LOOK)) {
                Ok(Some(answer)) => {
                    self.has_started = true;
                    return Ok(answer);
                }
                Ok(None) => return Err(ProcessFailure::Flood),
                Err(RecvTimeoutError::Disconnected) => return Err(ProcessFailure::Ended),
                Err(RecvTimeoutError::Timeout) if self.is_stopped() => {
                    return Err(ProcessFailure::Interrupted);
                }
                Err(RecvTimeoutError::Timeout) if left <= LOOK => {
                    return Err(ProcessFailure::Late(limit));
                }
                Err(RecvTimeoutError::Timeout) => {}
            }
        }
    }

    /// Ends its input, and waits until it ends, too: whether it then says anything is no matter of time.
    fn last(&mut self) -> Result<(), ProcessFailure> {
        self.tell = None;
        match self.hear() {
            Err(ProcessFailure::Ended) => Ok(()),
            Ok(unasked) => Err(ProcessFailure::Unasked(unasked)),
            Err(ProcessFailure::Late(limit)) => Err(ProcessFailure::Stays(limit)),
            Err(other) => Err(other),
        }
    }

    /// Ends it, once it has had some time to end by itself: its exit status, and the last line of its complaints.
    fn end(&mut self, grace: Duration) -> (Option<ExitStatus>, String) {
        let deadline = Instant::now() + grace;
        let mut status = self.child.try_wait().ok().flatten();
        while status.is_none() && Instant::now() < deadline {
            thread::sleep(Duration::from_millis(2));
            status = self.child.try_wait().ok().flatten();
        }
        self.kill();
        let complaint = self.complaints.recv_timeout(GRACE).unwrap_or_default();
        (status, complaint)
    }

    /// Ends it for what broke: one that says no more has some time for its own exit status.
    fn silent(&mut self, broken: ProcessFailure) -> NoAnswer {
        let grace = match broken {
            ProcessFailure::Ended => GRACE,
            _ => Duration::ZERO,
        };
        let (status, complaint) = self.end(grace);
        NoAnswer {
            broken,
            status,
            complaint,
            wording: self.wording,
        }
    }

    fn kill(&mut self) {
        self.guard.kill();
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Conversation for Process {
    fn answer(&mut self, line: String) -> Result<String, ConversationError> {
        self.ask(line).map_err(|broken| self.silent(broken).into())
    }

    fn over(&mut self) -> Result<bool, ConversationError> {
        self.last().map_err(|broken| self.silent(broken))?;
        Ok(false)
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        self.kill();
    }
}

/// Hands on each line, until one is too long or nobody listens any more.
fn read_lines(mut output: impl BufRead, say: &SyncSender<Option<String>>) {
    loop {
        let mut line = Vec::new();
        let most = LONGEST_ANSWER as u64 + 1;
        match output.by_ref().take(most).read_until(b'\n', &mut line) {
            Ok(1..) if line.len() <= LONGEST_ANSWER => {
                let line = String::from_utf8_lossy(&line).into_owned();
                if say.send(Some(line)).is_err() {
                    return;
                }
            }
            Ok(1..) => {
                let _ = say.send(None);
                return;
            }
            Ok(0) | Err(_) => return,
        }
    }
}

/// Reads to the end: the last line that says something.
fn last_line(mut errors: impl Read) -> String {
    let (mut kept, mut piece) = (Vec::new(), [0; 1024]);
    while let Ok(count @ 1..) = errors.read(&mut piece) {
        kept.extend_from_slice(&piece[..count]);
        let surplus = kept.len().saturating_sub(COMPLAINTS);
        kept.drain(..surplus);
    }
    let kept = String::from_utf8_lossy(&kept).into_owned();
    let last = kept.lines().rev().find(|line| !line.trim().is_empty());
    last.unwrap_or_default().to_owned()
}

#[cfg(target_os = "linux")]
fn limit_memory(child: &Child, mib: u32) {
    use rustix::process::{Pid, Resource, Rlimit, prlimit};
    let bytes = Some(u64::from(mib) << 20);
    let limit = Rlimit {
        current: bytes,
        maximum: bytes,
    };
    let pid = i32::try_from(child.id()).ok().and_then(Pid::from_raw);
    // One that has ended already says so when it is asked.
    let _ = prlimit(pid, Resource::As, limit);
}

#[cfg(not(target_os = "linux"))]
fn limit_memory(_: &Child, _: u32) {}
