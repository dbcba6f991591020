//! The command line: one file per command. Data goes to stdout, everything else to stderr.

pub mod advise;
mod advise_deadline;
mod advise_model;
mod advise_tuning;
pub mod asked;
pub mod bench;
pub mod check;
pub mod compare;
mod compare_form;
#[cfg(feature = "completions")]
pub mod completions;
pub mod consent;
pub mod estimate;
pub mod example;
pub mod exit;
pub mod explain;
mod finished;
mod grouped;
mod help;
pub mod import;
mod import_market;
mod import_plans;
#[cfg(feature = "figures")]
mod known;
pub mod licences;
pub mod list;
pub mod list_delays;
pub mod list_gpus;
pub mod list_grids;
pub mod list_lifetimes;
mod list_prices;
pub mod list_vms;
mod listener;
mod listing;
#[cfg(feature = "manual")]
pub mod manual;
pub mod merge;
mod missing;
pub mod new;
mod out;
#[cfg(feature = "figures")]
mod page;
#[cfg(feature = "figures")]
pub mod plot;
mod policies_compare;
#[cfg(feature = "figures")]
mod policies_plot;
mod precision;
pub mod price_pack;
pub mod prices;
mod profile;
mod programs;
pub mod progress;
pub mod rank;
pub mod records;
#[cfg(feature = "manual")]
mod reference;
#[cfg(feature = "figures")]
pub mod report;
pub mod reproduce;
pub mod resume;
pub mod run;
pub mod runner;
mod scenarios;
pub mod schema;
pub mod set;
pub mod signals;
mod suggest;
pub mod summaries;
pub mod summary;
pub mod terminal;
pub mod trace;
mod trace_search;
mod units;
pub mod validate;
mod validate_plans;
pub mod verify;
pub mod version;
mod what_if;

use std::ffi::OsString;

use clap::{ColorChoice, CommandFactory, FromArgMatches, Parser, Subcommand};

use exit::{EXIT_CODES, Exit, Failure};
use price_pack::PricesArgs;
use signals::Signals;
use terminal::OutputArgs;

/// Simulate machine-learning training on rented clusters, and judge strategies that search for the
/// right one.
#[derive(Debug, Parser)]
#[command(version, propagate_version = true, after_help = EXIT_CODES, max_term_width = 100)]
pub struct Cli {
    #[command(flatten)]
    output: OutputArgs,
    #[command(flatten)]
    prices: PricesArgs,
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Run scenario files and compare strategies with the oracle
    #[command(after_help = RUN_EXAMPLE)]
    Run(run::RunArgs),
    /// What every configuration takes and costs, the best first
    #[command(
        after_help = "Example: the cheapest of all, and what a run may cost where luck is bad\n  scavsim rank scenarios/scavenger.toml --objective cost --top 5"
    )]
    Rank(rank::RankArgs),
    /// Compare strategies: what search and runs of a job come to, how sure that is, and where each loses
    #[command(
        after_help = "Example: of a job that is run once, ten and a hundred times\n  scavsim compare scenarios/compare-scout.toml --repeats 1,10,100"
    )]
    Compare(compare::CompareArgs),
    /// Judge a strategy by a suite that does not change, verify what others hand in, and rank it
    #[command(after_help = BENCH_EXAMPLE)]
    Bench(bench::BenchArgs),
    /// Recommend a configuration from your own measurements, and what to measure next
    #[command(after_help = ADVISE_EXAMPLE)]
    Advise(Box<advise::AdviseArgs>),
    /// Put the shards of a run together
    #[command(after_help = "Example: what ten machines made\n  scavsim merge out")]
    Merge(merge::MergeArgs),
    /// Aggregate the records of a finished run by other columns
    #[command(
        after_help = "Example: what was chosen where\n  scavsim summary out --by strategy,chosen_vm"
    )]
    Summary(summary::SummaryArgs),
    /// See whether results are what their scenario comes to: hashes, and some cases evaluated again
    #[command(
        after_help = "Example: a hundred cases of somebody's results\n  scavsim verify out --scenario scenarios/spot.toml --again 100"
    )]
    Verify(verify::VerifyArgs),
    /// Draw figures of a finished run
    #[cfg(feature = "figures")]
    #[command(after_help = PLOT_EXAMPLE)]
    Plot(plot::PlotArgs),
    /// One page for a finished run: results, figures, tables to sort and filter; needs no network
    #[cfg(feature = "figures")]
    #[command(
        after_help = "Example: with all configurations, not only those that were chosen\n  scavsim report out --scenario scenarios/scavenger.toml --open"
    )]
    Report(report::ReportArgs),
    /// Check scenario files without running them; reports all mistakes at once
    #[command(after_help = "Example:\n  scavsim check scenarios/*.toml")]
    Check(check::CheckArgs),
    /// Run one case again and write down all that happens in it, for a timeline
    #[command(
        after_help = "Example: one job that loses VMs\n  scavsim trace scenarios/spot.toml --case 300 --out out"
    )]
    Trace(trace::TraceArgs),
    /// List what scenarios can name
    #[command(
        after_help = "Example: machines with a T4 in one region, with their prices\n  scavsim list vms --gpu T4 --region us-east-1"
    )]
    List(list::ListArgs),
    /// Show which prices are known, of which day, and take newer ones
    Prices(prices::PricesCommand),
    /// Make a workload folder from measurements, or a grid from real runs
    #[command(
        after_help = "Example: your own measurements as a workload folder\n  scavsim import profile scenarios/example-profile.csv --samples-per-epoch 50000 --out my-workload"
    )]
    Import(import::ImportArgs),
    /// Compare published figures with ours; exit code 4 if one is off without a stated reason
    #[command(
        after_help = "Examples: how all came out, without the tables; a paper of your own (docs/reproduce.md)\n  scavsim reproduce --format summary\n  scavsim reproduce my-paper/"
    )]
    Reproduce(reproduce::ReproduceArgs),
    /// Leave measurements out of workloads and ask the rest about them
    #[command(after_help = "Example:\n  scavsim validate pollux-bert")]
    Validate(validate::ValidateArgs),
    /// Write a first scenario, with a word on every part of it
    #[command(after_help = "Example:\n  scavsim new mine && scavsim run mine.toml")]
    New(new::NewArgs),
    /// List the scenarios that come with the program, or write one here
    #[command(after_help = "Example:\n  scavsim example spot && scavsim run spot.toml")]
    Example(example::ExampleArgs),
    /// Say what a word of a table, a message or a scenario means
    #[command(after_help = "Example: what `net` means\n  scavsim explain net")]
    Explain(explain::ExplainArgs),
    /// Print under which licences the program and the data in it stand
    Licences(licences::LicencesArgs),
    /// Print the JSON Schema of a scenario file
    #[command(
        after_help = "Example: a scenario that begins with `#:schema scenario.schema.json` is completed by editors\n  scavsim schema > scenario.schema.json"
    )]
    Schema,
    /// Print a completion script for a shell
    #[cfg(feature = "completions")]
    #[command(
        after_help = "Example: for bash, until the shell ends\n  source <(scavsim completions bash)"
    )]
    Completions(completions::CompletionsArgs),
    /// Write pages for `man`
    #[cfg(feature = "manual")]
    #[command(hide = true)]
    Manual(manual::ManualArgs),
}

const RUN_EXAMPLE: &str = "\
Examples: with other values; all records in a folder; from standard input
  scavsim run scenarios/scavenger.toml -s cluster.workers=[8,16] --replicas 20
  scavsim run scenarios/spot.toml --out out
  scavsim example spot --print | scavsim run -

Exit codes: scavsim --help";

const BENCH_EXAMPLE: &str = "\
Example: your strategy beside one that comes along, on a leaderboard
  scavsim bench run --strategy mine.py --out mine
  scavsim bench run --strategy random@6 --out random
  scavsim bench board mine random --out leaderboard.csv";

#[cfg(feature = "figures")]
const PLOT_EXAMPLE: &str = "\
Example: cost over time of all configurations, under one of the policies
  scavsim run data/papers/scavenger/scenario.toml --out out
  scavsim plot out --kind cost-over-time --pricing paper-memory \\
    --scenario data/papers/scavenger/scenario.toml";

const ADVISE_EXAMPLE: &str = "\
Example: the cheapest within half an hour in all but one of 20 runs
  scavsim advise scenarios/example-profile.csv --samples-per-epoch 50000 \\
    --max-time 0.5 --max-miss 0.05";

impl Cli {
    /// Parses the command line; does not return if it is wrong, or asks for help.
    pub fn from_command_line() -> Cli {
        Cli::from_arguments(std::env::args_os().collect())
    }

    /// Parses arguments from another source than the command line, the name of the program first.
    pub fn from_arguments(arguments: Vec<OsString>) -> Cli {
        let has = |words: &[&str]| {
            arguments
                .iter()
                .any(|own| words.iter().any(|word| own == word))
        };
        let is_long = has(&["--help"]) || arguments.get(1).is_some_and(|first| first == "help");
        let mut command = help::with_groups(Cli::command(), is_long);
        // Only then must the catalogue be read.
        if has(&["-V", "--version"]) {
            command = command.version(version::version());
        }
        if has(&["--color=never"]) || follows(&arguments, "--color", "never") {
            command = command.color(ColorChoice::Never);
        } else if has(&["--color=always"]) || follows(&arguments, "--color", "always") {
            command = command.color(ColorChoice::Always);
        }
        let width = |two: &[OsString]| match two {
            [first, second] if first == "--width" => second.to_str()?.parse().ok(),
            _ => None,
        };
        // Help has the same width as other output.
        if let Some(width) = arguments.windows(2).find_map(width) {
            command = command.term_width(width);
        }
        let matches = command
            .try_get_matches_from(&arguments)
            .unwrap_or_else(|error| missing::with_tips(error, &arguments).exit());
        Cli::from_arg_matches(&matches).unwrap_or_else(|error| error.exit())
    }

    pub fn run(self) -> Exit {
        self.output.apply();
        let signals = match Signals::listen() {
            Ok(signals) => signals,
            Err(error) => {
                terminal::error(&format!("error: cannot listen for Ctrl-C: {error:#}"));
                return Exit::Failed;
            }
        };
        match self.answer(&signals) {
            Ok(exit) => exit,
            Err(Failure::Wrong(diagnostics)) => {
                terminal::complain(&diagnostics);
                Exit::Wrong
            }
            Err(Failure::Declined(why)) => {
                terminal::error(&why);
                Exit::Wrong
            }
            Err(Failure::Interrupted) => {
                terminal::error("interrupted; nothing was run");
                signals.exit()
            }
            Err(Failure::Other(error)) => {
                terminal::error(&format!("error: {error:#}"));
                Exit::Failed
            }
        }
    }

    /// Runs the command, with the requested prices.
    fn answer(self, signals: &Signals) -> Result<Exit, Failure> {
        if self.command.looks_prices_up() {
            self.prices.apply()?;
        }
        self.command.answer(signals, &self.prices)
    }
}

impl Command {
    /// Whether the user's own prices are needed. Reproductions of papers and suites do without.
    fn looks_prices_up(&self) -> bool {
        match self {
            Command::Run(_)
            | Command::Rank(_)
            | Command::Compare(_)
            | Command::Advise(_)
            | Command::Verify(_)
            | Command::Check(_)
            | Command::Trace(_)
            | Command::List(_) => true,
            #[cfg(feature = "figures")]
            Command::Plot(_) | Command::Report(_) => true,
            _ => false,
        }
    }

    fn answer(self, signals: &Signals, prices: &PricesArgs) -> Result<Exit, Failure> {
        match self {
            Command::Run(args) => args.run(signals),
            Command::Rank(args) => args.run(signals),
            Command::Compare(args) => args.run(signals),
            Command::Bench(args) => args.run(signals),
            Command::Advise(args) => args.run(signals),
            Command::Merge(args) => args.run(),
            Command::Summary(args) => args.run(),
            Command::Verify(args) => args.run(signals),
            #[cfg(feature = "figures")]
            Command::Plot(args) => args.run(signals),
            #[cfg(feature = "figures")]
            Command::Report(args) => args.run(signals),
            Command::Check(args) => args.run(),
            Command::Trace(args) => args.run(),
            Command::List(args) => args.run(),
            Command::Prices(args) => args.run(prices),
            Command::Import(args) => args.run(),
            Command::Reproduce(args) => args.run(),
            Command::Validate(args) => args.run(),
            Command::New(args) => args.run(),
            Command::Example(args) => args.run(),
            Command::Explain(args) => args.run(),
            Command::Licences(args) => args.run(),
            Command::Schema => schema::run(),
            #[cfg(feature = "completions")]
            Command::Completions(args) => args.run(Cli::command()),
            #[cfg(feature = "manual")]
            Command::Manual(args) => args.run(Cli::command()),
        }
    }
}

/// Whether `second` comes after `first` among the arguments.
fn follows(arguments: &[OsString], first: &str, second: &str) -> bool {
    arguments
        .windows(2)
        .any(|two| two[0] == first && two[1] == second)
}
