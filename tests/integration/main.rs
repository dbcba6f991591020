//! scavsim from the view of its users: the program with files in and files out, and the library through its public API. One
//! binary, a module per topic.
//!
//! - [`bad_input`]: every mistake is refused before anything is run or written, and reported well; [`bad_clusters`],
//!   [`bad_plans`], [`bad_prices`], [`bad_workloads`]: those of one kind.
//! - [`verdicts`]: `run` runs everything that `check` accepts.
//! - [`widths`]: tables on terminals of several widths, in colours and without. [`command_line`]: options, and a first scenario.
//! - [`beyond`]: answers of a workload outside its measurements; [`stand_in_prices`]: prices there.
//! - [`determinism`]: same scenario, same seed, same bytes.
//! - [`include`]: a scenario in several files equals the scenario in one file.
//! - [`records`]: sums in `records.csv` are consistent.
//! - [`interrupt`]: a stopped run leaves whole rows; [`resume`]: another run continues from them; [`kills`]: at any moment;
//!   [`signals`]: a run stops within a second in any state.
//! - [`settings`]: lists and ranges in place of a number; [`axes`]: as columns.
//! - [`stopping`]: the library is stopped only by its interrupt. [`verify`]: results that can be verified.
//! - [`shards`]: merged parts of a run equal the run; [`sharing`]: cases that share a search equal single ones.
//! - [`summary_by`]: the summary by any columns.
//! - [`formats`]: the formats of records are equal; [`failures`]: cases without a result; [`external`]: strategies that are
//!   programs.
//! - [`commands`]: the other commands and output formats; [`documented`]: as in the README.
//! - [`door`]: the library from outside.
//! - [`properties`]: laws that hold for any scenario.
//! - [`budget`]: training within a budget of time.
//! - [`results`]: output of shipped scenarios. [`fidelity`], [`replay`], [`reproduction`]: the simulation compared with
//!   itself, its data and the paper.
//! - [`sync`]: synchronisation protocols compared with exact theory, [`sync_fast`], [`sync_paces`]: without events;
//!   [`local_sgd`]: one of them.
//! - [`parameter_servers`]: servers of asynchronous workers in scenarios; [`papers_in_events`]: papers in all fidelities.
//! - [`trace`]: the trace of a job, [`trace_bills`]: its bill, [`trace_search`]: of a search on real runs.
//! - [`bench`]: submissions, [`bench_suites`]: their suites.
//! - [`fits`], [`imports`]: laws compared with others' fits; measurements imported as workloads; [`import_profile`]: the
//!   user's own, [`import_layers`]: layers of a model.
//! - [`own_measurements`]: from the user's measurements to an answer; [`own_prices`]: prices of the user; [`default_prices`]:
//!   default prices.
//! - [`ranking`]: time and cost of every configuration; [`advise`]: which to rent, and what to measure; [`advise_deadline`]:
//!   and with which policy, to finish in time.
//! - [`grids`]: shipped measured grids, [`own_grids`]: the user's; [`grid_scenarios`]: scenarios with one; [`grounds`]: both environments.
//! - [`misses`]: limits that a share of runs may miss.
//! - [`validation`]: held-out measurements of workloads, and their predictions.
//! - [`luck`]: random draws of a replica, for any configuration.
//! - [`interrupted`]: losses during a pause.
//! - [`bills`]: manual bills; [`sustained_use`]: of VMs that are used for long.
//! - [`spot`]: jobs on VMs that are lost, [`outlines`]: in outline; [`measured_defaults`]: default values; [`kinds`]: kinds of clusters.
//! - [`figures`]: figures of results; [`plotting`]: the command that draws them; [`pages`]: the page of one.
//! - [`worlds`]: workers of any size, shares that change, state larger than memory.
//! - [`special_files`]: links, pipes and devices in place of files.
//! - [`sandbox`]: a folder to run the program in.

// A test tells one story from its beginning to its end.
#![allow(clippy::too_many_lines)]

mod advise;
mod advise_deadline;
mod advise_from_the_field;
mod axes;
mod bad_clusters;
mod bad_input;
mod bad_plans;
mod bad_prices;
mod bad_workloads;
mod bags;
mod bench;
mod bench_suites;
mod beyond;
mod bills;
mod budget;
mod catalogue_advice;
mod command_line;
mod commands;
mod compare;
mod coverage;
mod default_prices;
mod determinism;
mod documented;
mod door;
mod evidence;
mod expectations;
mod external;
mod external_policies;
mod failures;
mod few_rows;
mod fidelity;
mod figures;
mod fine_tuning;
mod fits;
mod formats;
mod grid_fidelities;
mod grid_figures;
mod grid_scenarios;
mod grids;
mod grounds;
mod heads;
mod import_layers;
mod import_profile;
mod imports;
mod include;
mod interrupt;
mod interrupted;
mod kills;
mod kinds;
mod knowledge;
mod latency;
mod live;
mod local_sgd;
mod long_runs;
mod luck;
mod market_traces;
mod measured_defaults;
mod messages;
mod misses;
mod model_advice;
mod models;
mod other_jobs;
mod outlines;
mod own_grids;
mod own_measurements;
mod own_prices;
mod pages;
mod papers;
mod papers_in_events;
mod parameter_servers;
mod peers;
mod plan_communication;
mod plan_failures;
mod plan_forms;
mod plan_lives;
mod plans;
mod plotting;
mod policies;
mod precision;
mod price_packs;
mod programs;
mod properties;
mod random_lives;
mod ranking;
mod records;
mod repeats;
mod replay;
mod reproduction;
mod reproduction_icdcs20;
mod result_folders;
mod results;
mod resume;
mod sandbox;
mod scores;
mod settings;
mod shards;
mod sharing;
mod signals;
mod sizes;
mod special_files;
mod spot;
mod stand_in_prices;
mod stopping;
mod summary_by;
mod sustained_use;
mod sync;
mod sync_fast;
mod sync_paces;
mod terminal_escapes;
mod trace;
mod trace_bills;
mod trace_search;
mod transient;
mod universal_model;
mod validation;
mod value_of_information;
mod verdicts;
mod verify;
mod waiting;
mod what_if;
mod widths;
mod worlds;
