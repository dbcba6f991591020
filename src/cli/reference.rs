//! The reference of all commands as one page of Markdown, generated from their declarations.

use std::collections::BTreeMap;

use clap::{Arg, ArgAction, Command};

/// One page about a program: a section per command. Global options, and options that three or more commands share, appear once.
pub(super) fn markdown(mut program: Command) -> String {
    program.build();
    let mut page = String::from(
        "# Commands\n\nWhat `scavsim help COMMAND` says of every command. `scavsim manual DIR --markdown` writes this page.\n",
    );
    let global = options(&program, |arg| arg.is_global_set());
    page += "\n## Options of all commands\n";
    page += &table("option", global.into_iter().map(row));
    if let Some(text) = program.get_after_help() {
        page += &format!("\n```text\n{}\n```\n", text.to_string().trim());
    }
    let mut shared = BTreeMap::new();
    count_rows(&program, &mut shared);
    shared.retain(|_, commands| *commands >= 3);
    page += "\n## Options that several commands share\n";
    page += &table("option", shared.keys().cloned());
    for command in program.get_subcommands().filter(is_shown) {
        section(command, "scavsim", &shared, &mut page);
    }
    page
}

/// Rows of options, with the number of commands that have each.
fn count_rows(command: &Command, counts: &mut BTreeMap<String, usize>) {
    for arg in options(command, |arg| !arg.is_global_set()) {
        *counts.entry(row(arg)).or_default() += 1;
    }
    for inner in command.get_subcommands().filter(is_shown) {
        count_rows(inner, counts);
    }
}

fn is_shown(command: &&Command) -> bool {
    !command.is_hide_set() && command.get_name() != "help"
}

fn section(command: &Command, above: &str, shared: &BTreeMap<String, usize>, page: &mut String) {
    let name = format!("{above} {}", command.get_name());
    *page += &format!("\n{} `{name}`\n\n", "#".repeat(name.split(' ').count()));
    if let Some(about) = command.get_long_about().or(command.get_about()) {
        *page += &format!("{}.\n\n", about.to_string().trim_end_matches('.'));
    }
    let usage = command.clone().render_usage().to_string();
    let usage = usage.trim_start_matches("Usage: ").trim();
    *page += &format!("```text\n{usage}\n```\n");
    let named = command.get_positionals().filter(|arg| !arg.is_hide_set());
    *page += &table("argument", named.map(row));
    let is_shared = |arg: &Arg| shared.contains_key(&row(arg));
    let own = options(command, |arg| !arg.is_global_set() && !is_shared(arg));
    let mut headings: Vec<Option<&str>> = Vec::new();
    for arg in &own {
        if !headings.contains(&arg.get_help_heading()) {
            headings.push(arg.get_help_heading());
        }
    }
    for heading in headings {
        let under = own.iter().filter(|arg| arg.get_help_heading() == heading);
        *page += &table(heading.unwrap_or("option"), under.copied().map(row));
    }
    let also: Vec<String> = (options(command, is_shared).iter())
        .filter_map(|arg| Some(format!("`--{}`", arg.get_long()?)))
        .collect();
    if !also.is_empty() {
        let also = also.join(", ");
        *page += &format!("\n[Also](#options-that-several-commands-share): {also}.\n");
    }
    if let Some(text) = command.get_after_help() {
        *page += &format!("\n```text\n{}\n```\n", text.to_string().trim());
    }
    for inner in command.get_subcommands().filter(is_shown) {
        section(inner, &name, shared, page);
    }
}

fn options(command: &Command, is_wanted: impl Fn(&Arg) -> bool) -> Vec<&Arg> {
    command
        .get_opts()
        .chain(command.get_arguments().filter(|arg| is_switch(arg)))
        .filter(|arg| !arg.is_hide_set() && is_wanted(arg))
        .collect()
}

/// Whether the argument has no value; help and version are excluded.
fn is_switch(arg: &Arg) -> bool {
    !arg.is_positional()
        && !arg.get_action().takes_values()
        && !matches!(
            arg.get_action(),
            ArgAction::Help | ArgAction::HelpShort | ArgAction::HelpLong | ArgAction::Version
        )
}

/// A table; empty without rows.
fn table(head: &str, rows: impl Iterator<Item = String>) -> String {
    let rows: String = rows.collect();
    if rows.is_empty() {
        return rows;
    }
    format!("\n| {head} | meaning |\n|---|---|\n{rows}")
}

fn row(arg: &Arg) -> String {
    format!("| {} | {} |\n", written(arg), meaning(arg))
}

/// How the argument is written: `-o`, `--out DIR`.
fn written(arg: &Arg) -> String {
    let values = arg.get_value_names().unwrap_or_default().join(" ");
    if arg.is_positional() {
        return format!("`{values}`");
    }
    let mut forms = Vec::new();
    forms.extend(arg.get_short().map(|short| format!("-{short}")));
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

/// The purpose of an argument, its default and its allowed values.
fn meaning(arg: &Arg) -> String {
    let help = arg.get_long_help().or(arg.get_help());
    let help = help.map(ToString::to_string).unwrap_or_default();
    let mut text = help.split_whitespace().collect::<Vec<_>>().join(" ");
    if !arg.is_hide_default_value_set() && arg.get_action().takes_values() {
        let defaults = arg.get_default_values().iter();
        let defaults: Vec<_> = defaults.map(|value| value.to_string_lossy()).collect();
        if !defaults.is_empty() {
            text += &format!(" [`{}`]", defaults.join(","));
        }
    }
    if !arg.is_hide_possible_values_set() {
        let all = arg.get_possible_values();
        let shown = all.iter().filter(|value| !value.is_hide_set());
        let names: Vec<_> = shown
            .map(|value| format!("`{}`", value.get_name()))
            .collect();
        if !names.is_empty() && arg.get_action().takes_values() {
            text += &format!("; one of {}", names.join(", "));
        }
    }
    text.replace('|', "\\|")
}
