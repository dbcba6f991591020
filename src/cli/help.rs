//! Help of the program: its commands in groups; for a command with many options, the most common ones.

use clap::Command;

/// Groups of commands: each command with its answer or product. Lines fit into 60 columns.
const GROUPS: [(&str, &[(&str, &str)]); 5] = [
    (
        "Decide",
        &[
            ("advise", "which cluster to rent, and why"),
            ("rank", "all configurations, best first"),
            ("prices", "known prices and their days"),
        ],
    ),
    (
        "Study",
        &[
            ("run", "scenarios: strategies and the best"),
            ("compare", "strategies beside each other"),
            ("bench, trace", "a fixed suite; one case in detail"),
            #[cfg(feature = "figures")]
            ("plot, report", "figures; a page of a run"),
        ],
    ),
    (
        "Papers",
        &[
            ("reproduce", "published figures beside ours"),
            ("validate", "predict what was left out"),
        ],
    ),
    (
        "Data",
        &[
            ("import", "measurements and runs, as data"),
            ("check", "scenarios, without running them"),
            ("summary", "a finished run by other columns"),
            ("merge, verify", "join shards; check results"),
        ],
    ),
    (
        "Help",
        &[
            ("new, example", "a first scenario; shipped ones"),
            ("list, explain", "names that exist; what words mean"),
            #[cfg(feature = "completions")]
            ("completions", "for a shell"),
            ("schema, licences", "for editors; of all that is here"),
        ],
    ),
];

/// Options of `advise` in its short help.
const OF_ADVISE: [&str; 7] = [
    "file",
    "samples_per_epoch",
    "model",
    "tokens",
    "objective",
    "max_time",
    "max_cost",
];

/// The program's commands with their help; with `is_long` also global options and exit codes.
pub(super) fn with_groups(command: Command, is_long: bool) -> Command {
    let groups: String = GROUPS.iter().map(|(name, all)| group(name, all)).collect();
    let more = if is_long {
        "\nOptions:\n{options}{after-help}"
    } else {
        "`scavsim COMMAND -h` has options; `scavsim --help` has all\n"
    };
    let template = format!("{{about-with-newline}}\n{{usage-heading}} {{usage}}\n\n{groups}{more}");
    command
        .help_template(template)
        .mut_args(|arg| {
            let is_global = arg.is_global_set();
            arg.hide_short_help(is_global)
        })
        .mut_subcommand("advise", |advise| {
            advise.mut_args(|arg| {
                let is_usual = OF_ADVISE.contains(&arg.get_id().as_str());
                arg.hide_short_help(!is_usual)
            })
        })
}

/// Lines of a group, with its name in the first.
fn group(name: &str, all: &[(&str, &str)]) -> String {
    let lines = all.iter().enumerate().map(|(at, (command, what))| {
        let name = if at == 0 { name } else { "" };
        format!("{name:<8}{command:<18}{what}\n")
    });
    lines.collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::Cli;
    use clap::CommandFactory;

    #[test]
    fn every_command_is_in_one_group() {
        let grouped = GROUPS.iter().flat_map(|(_, all)| all.iter());
        let mut grouped: Vec<&str> = grouped.flat_map(|(names, _)| names.split(", ")).collect();
        let command = Cli::command();
        let shown = command.get_subcommands().filter(|own| !own.is_hide_set());
        let mut all: Vec<&str> = shown.map(Command::get_name).collect();
        all.sort_unstable();
        grouped.sort_unstable();
        assert_eq!(grouped, all);
    }

    #[test]
    fn short_help_fits_on_a_screen() {
        let mut command = with_groups(Cli::command(), false).term_width(80);
        let text = command.render_help().to_string();
        assert!(text.lines().count() < 24, "{text}");
        let advise = command.find_subcommand_mut("advise").expect("it is there");
        let text = advise.render_help().to_string();
        assert!(text.lines().count() < 25, "{text}");
    }
}
