//! A running program: one line in, one line out, within limits of time, memory and output.
//!
//! Threads read its output and write its input, so that nothing waits longer than the time-out. It ends with all processes in
//! its group; if scavsim itself ends, by its guard.

use std::io::{BufRead, BufReader, Read, Write};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, SyncSender, channel, sync_channel};
use std::thread;
use std::time::{Duration, Instant};

use crate::conversation::{Conversation, ConversationError};
use crate::guard::Guard;
use crate::lines::shortened;
use crate::program::{MessageTerms, NoStart, Program};

const LONGEST_ANSWER: usize = 1 << 20;
const COMPLAINTS: usize = 4096;
/// Time for a silent program to exit, so that its own exit status can be reported.
const GRACE: Duration = Duration::from_millis(500);
/// Time between two looks at the interrupt.
const LOOK: Duration = Duration::from_millis(20);

enum Silence {
    Ended,
    /// The answer, or the awaited end, exceeds this time.
    Late(Duration),
    Other(String),
}

struct Process {
    child: Child,
    guard: Guard,
    /// Longest time to its next answer, and to later ones.
    limits: (Duration, Duration),
    wording: MessageTerms,
    stop: Option<Arc<AtomicBool>>,
    /// Closed to end its input.
    tell: Option<Sender<String>>,
    /// A line, or `None` for one that is too long.
    said: Receiver<Option<String>>,
    complaints: Receiver<String>,
}

/// Starts a program, without random hashes and Python's buffers. The flag `stop` ends the wait for an answer.
pub fn start(
    of: &Program<'_>,
    stop: Option<Arc<AtomicBool>>,
) -> Result<Box<dyn Conversation>, ConversationError> {
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
        return Err(NoStart::NoPipes.into());
    };
    let (tell, told) = channel::<String>();
    thread::spawn(move || {
        told.iter()
            .try_for_each(|line| input.write_all(line.as_bytes()))
    });
    let (say, said) = sync_channel(1);
    thread::spawn(move || read_lines(BufReader::new(output), &say));
    let (complain, complaints) = sync_channel(1);
    thread::spawn(move || complain.send(last_line(errors)));
    let [start, answer] = [of.start_s, of.timeout_s].map(|s| Duration::from_secs_f64(s.get()));
    Ok(Box::new(Process {
        child,
        guard,
        limits: (start + answer, answer),
        wording: of.wording,
        stop,
        tell: Some(tell),
        said,
        complaints,
    }))
}

impl Process {
    fn hear(&mut self) -> Result<String, Silence> {
        let (limit, later) = self.limits;
        let deadline = Instant::now() + limit;
        loop {
            let left = deadline.saturating_duration_since(Instant::now());
            match self.said.recv_timeout(left.min(LOOK)) {
                Ok(Some(answer)) => {
                    self.limits = (later, later);
                    return Ok(answer);
                }
                Ok(None) => {
                    let why = format!("the program's answer is longer than {LONGEST_ANSWER} bytes");
                    return Err(Silence::Other(why));
                }
                Err(RecvTimeoutError::Disconnected) => return Err(Silence::Ended),
                Err(RecvTimeoutError::Timeout) => {}
            }
            if (self.stop.as_ref()).is_some_and(|flag| flag.load(Ordering::Relaxed)) {
                return Err(Silence::Other("interrupted".to_owned()));
            }
            if left <= LOOK {
                return Err(Silence::Late(limit));
            }
        }
    }

    /// Ends the program; returns why it gave no answer, with its exit status and last error line.
    fn end(&mut self, silence: Silence) -> ConversationError {
        // A program that closed its output has some time to exit.
        let has_ended = matches!(silence, Silence::Ended);
        let deadline = Instant::now() + if has_ended { GRACE } else { Duration::ZERO };
        let mut status = self.child.try_wait().ok().flatten();
        while status.is_none() && Instant::now() < deadline {
            thread::sleep(Duration::from_millis(2));
            status = self.child.try_wait().ok().flatten();
        }
        self.kill();
        let MessageTerms { task, done, .. } = self.wording;
        let why = match (silence, status) {
            (Silence::Other(why), _) => return why.into(),
            // Its child processes hold its output open.
            (Silence::Late(_), Some(status)) => {
                format!("the program ended ({status}) and left others behind")
            }
            (Silence::Late(limit), None) if self.tell.is_some() => {
                let limit_s = limit.as_secs_f64();
                format!("the program gave no answer within {limit_s} s")
            }
            (Silence::Late(limit), None) => format!(
                "the program goes on for {} s after its {task} and its input have ended: let it end, or repeat the \
                 `number` of each line",
                limit.as_secs_f64()
            ),
            (Silence::Ended, Some(status)) if !status.success() => {
                format!("the program ended ({status})")
            }
            (Silence::Ended, _) => format!("the program ended before it had {done}"),
        };
        let complaint = self.complaints.recv_timeout(GRACE).unwrap_or_default();
        match &*complaint {
            "" => why.into(),
            _ => format!("{why}; its last words: {}", shortened(&complaint)).into(),
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
        if let Some(tell) = &self.tell {
            // A program that has ended reads nothing; its closed output shows that.
            let _ = tell.send(line);
        }
        self.hear().map_err(|silence| self.end(silence))
    }

    /// Closes its input, and waits for its end; it may still write.
    fn over(&mut self) -> Result<bool, ConversationError> {
        self.tell = None;
        let silence = match self.hear() {
            Err(Silence::Ended) => return Ok(false),
            Err(silence) => silence,
            Ok(unasked) => Silence::Other(format!(
                "the program said more than it was asked: {}",
                shortened(&unasked)
            )),
        };
        Err(self.end(silence))
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        self.kill();
    }
}

/// Passes lines on, until one is too long or the receiver is gone.
fn read_lines(mut output: impl BufRead, say: &SyncSender<Option<String>>) {
    let (mut line, most) = (Vec::new(), LONGEST_ANSWER as u64 + 1);
    while let Ok(1..) = output.by_ref().take(most).read_until(b'\n', &mut line) {
        let is_legal = line.len() <= LONGEST_ANSWER;
        let said = is_legal.then(|| String::from_utf8_lossy(&line).into_owned());
        if say.send(said).is_err() || !is_legal {
            return;
        }
        line.clear();
    }
}

/// Reads to the end; returns the last line that is not empty.
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

#[cfg_attr(
    not(target_os = "linux"),
    allow(unused_variables, reason = "it knows no such limit")
)]
fn limit_memory(child: &Child, mib: u32) {
    #[cfg(target_os = "linux")]
    {
        use rustix::process::{Pid, Resource, Rlimit, prlimit};
        let bytes = Some(u64::from(mib) << 20);
        let (current, maximum) = (bytes, bytes);
        let pid = i32::try_from(child.id()).ok().and_then(Pid::from_raw);
        // A program that has already ended is detected at the first question.
        let _ = prlimit(pid, Resource::As, Rlimit { current, maximum });
    }
}
