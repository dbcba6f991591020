//! The reference of all commands as one page of Markdown, made from what they declare.

use clap::{Arg, ArgAction, Command};

/// One page about a program: a section per command, the options that all have once.
pub(super) fn markdown(mut program: Command) -> String {
    program.build();
    let mut page = String::from(
        "# Commands\n\nWhat `scavsim help COMMAND` says of every command. `scavsim manual DIR --markdown` writes this page.\n",
    );
    let shared = options(&program, |arg| arg.is_global_set());
    page += "\n## Options of all commands\n\n";
    page += &table("option", &shared);
    if let Some(text) = program.get_after_help() {
        page += &format!("\n```text\n{}\n```\n", text.to_string().trim());
    }
    for command in program.get_subcommands().filter(is_shown) {
        section(command, "scavsim", 2, &mut page);
    }
    page
}

fn is_shown(command: &&Command) -> bool {
    !command.is_hide_set() && command.get_name() != "help"
}

fn section(command: &Command, above: &str, level: usize, page: &mut String) {
    let name = format!("{above} {}", command.get_name());
    *page += &format!("\n{} `{name}`\n\n", "#".repeat(level));
    if let Some(about) = command.get_long_about().or(command.get_about()) {
        *page += &format!("{}.\n\n", about.to_string().trim_end_matches('.'));
    }
    let usage = command.clone().render_usage().to_string();
    let usage = usage.trim_start_matches("Usage: ").trim();
    *page += &format!("```text\n{usage}\n```\n");
    let named: Vec<&Arg> = command
        .get_positionals()
        .filter(|a| !a.is_hide_set())
        .collect();
    if !named.is_empty() {
        *page += &format!("\n{}", table("argument", &named));
    }
    let own = options(command, |arg| !arg.is_global_set());
    let mut headings: Vec<Option<&str>> = Vec::new();
    for arg in &own {
        if !headings.contains(&arg.get_help_heading()) {
            headings.push(arg.get_help_heading());
        }
    }
    for heading in headings {
        let under = |arg: &&&Arg| arg.get_help_heading() == heading;
        let rows: Vec<&Arg> = own.iter().filter(under).copied().collect();
        *page += &format!("\n{}", table(heading.unwrap_or("option"), &rows));
    }
    if let Some(text) = command.get_after_help() {
        *page += &format!("\n```text\n{}\n```\n", text.to_string().trim());
    }
    for inner in command.get_subcommands().filter(is_shown) {
        section(inner, &name, level + 1, page);
    }
}

fn options(command: &Command, is_wanted: impl Fn(&Arg) -> bool) -> Vec<&Arg> {
    command
        .get_opts()
        .chain(command.get_arguments().filter(|arg| is_switch(arg)))
        .filter(|arg| !arg.is_hide_set() && is_wanted(arg))
        .collect()
}

/// Whether it takes no value; help and version explain themselves.
fn is_switch(arg: &Arg) -> bool {
    !arg.is_positional()
        && !arg.get_action().takes_values()
        && !matches!(
            arg.get_action(),
            ArgAction::Help | ArgAction::HelpShort | ArgAction::HelpLong | ArgAction::Version
        )
}

fn table(head: &str, rows: &[&Arg]) -> String {
    let mut text = format!("| {head} | meaning |\n|---|---|\n");
    for arg in rows {
        text += &format!("| {} | {} |\n", written(arg), meaning(arg));
    }
    text
}

/// How it is written: `-o`, `--out DIR`.
fn written(arg: &Arg) -> String {
    let values = arg.get_value_names().unwrap_or_default();
    let values: Vec<String> = values.iter().map(|name| name.to_string()).collect();
    let values = values.join(" ");
    if arg.is_positional() {
        return format!("`{values}`");
    }
    let mut forms = Vec::new();
    if let Some(short) = arg.get_short() {
        forms.push(format!("-{short}"));
    }
    for long in arg.get_long_and_visible_aliases().unwrap_or_default() {
        forms.push(format!("--{long}"));
    }
    if arg.get_action().takes_values()
        && let Some(last) = forms.last_mut()
    {
        *last += &format!(" {values}");
    }
    let forms: Vec<String> = forms.iter().map(|form| format!("`{form}`")).collect();
    forms.join(", ")
}

/// What it is for, its default and what it may be.
fn meaning(arg: &Arg) -> String {
    let help = arg.get_long_help().or(arg.get_help());
    let help = help.map(ToString::to_string).unwrap_or_default();
    let mut text = help.split_whitespace().collect::<Vec<_>>().join(" ");
    if !arg.is_hide_default_value_set() && arg.get_action().takes_values() {
        let defaults: Vec<_> = arg.get_default_values().iter().collect();
        let defaults: Vec<_> = defaults
            .iter()
            .map(|value| value.to_string_lossy())
            .collect();
        if !defaults.is_empty() {
            text += &format!(" [`{}`]", defaults.join(","));
        }
    }
    if !arg.is_hide_possible_values_set() {
        let all = arg.get_possible_values();
        let names: Vec<_> = all.iter().filter(|value| !value.is_hide_set()).collect();
        let names: Vec<_> = names
            .iter()
            .map(|value| format!("`{}`", value.get_name()))
            .collect();
        if !names.is_empty() && arg.get_action().takes_values() {
            text += &format!("; one of {}", names.join(", "));
        }
    }
    text.replace('|', "\\|")
}
