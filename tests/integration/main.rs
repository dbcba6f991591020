//! scavsim as its users meet it: the program with files in and files out, and the library through
//! its front door.
//!
//! - [`bad_input`]: every mistake is refused before anything is run or written, and told well.
//! - [`determinism`]: same scenario, same seed, same bytes.
//! - [`records`]: what stands in `records.csv` adds up.
//! - [`interrupt`]: a stopped run leaves whole rows.
//! - [`commands`]: the other commands and forms of output.
//! - [`properties`]: laws that hold for any scenario.
//! - [`sandbox`]: a folder to run the program in.

mod bad_input;
mod commands;
mod determinism;
#[cfg(unix)]
mod interrupt;
mod properties;
mod records;
mod sandbox;
