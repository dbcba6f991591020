//! scavsim as its users meet it: the program with files in and files out, and the library through
//! its front door. One binary, a module per topic.
//!
//! - [`bad_input`]: every mistake is refused before anything is run or written, and told well; [`bad_clusters`], [`bad_plans`],
//!   [`bad_prices`], [`bad_workloads`]: those of one kind.
//! - [`verdicts`]: what `check` passes, `run` runs.
//! - [`widths`]: tables on terminals of several widths, in colours and without. [`command_line`]: options, and a first scenario.
//! - [`beyond`]: what a workload answers beyond its measurements; [`stand_in_prices`]: what it costs there.
//! - [`determinism`]: same scenario, same seed, same bytes.
//! - [`include`]: a scenario from several files is the one written out.
//! - [`records`]: what stands in `records.csv` adds up.
//! - [`interrupt`]: a stopped run leaves whole rows; [`resume`]: from which another goes on; [`kills`]: at any moment;
//!   [`signals`]: it is stopped within a second, wherever it is.
//! - [`settings`]: lists and ranges where a number stands; [`axes`]: as columns.
//! - [`stopping`]: the library is stopped by its interrupt alone. [`verify`]: results that prove themselves.
//! - [`shards`]: parts of a run, put together, are the run; [`sharing`]: cases that share a search
//!   come out as each alone.
//! - [`summary_by`]: the summary by columns of one's choice.
//! - [`formats`]: the forms of records say the same; [`failures`]: cases without a result;
//!   [`external`]: strategies that are programs.
//! - [`commands`]: the other commands and forms of output; [`documented`]: as the README shows them.
//! - [`door`]: the library from outside.
//! - [`properties`]: laws that hold for any scenario.
//! - [`budget`]: training within a budget of time.
//! - [`results`]: what shipped scenarios print. [`fidelity`], [`replay`], [`reproduction`]: the simulation against itself, its data and the
//!   paper.
//! - [`sync`]: synchronisation protocols against exact theory, [`sync_fast`], [`sync_paces`]: without events; [`local_sgd`]: one
//!   of them.
//! - [`parameter_servers`]: servers of asynchronous workers in scenarios; [`papers_in_events`]: papers in all fidelities.
//! - [`trace`]: what is noted of a job, [`trace_bills`]: as it is billed, [`trace_search`]: of a search on real runs.
//! - [`bench`]: searches that are handed in, [`bench_suites`]: what they are made of.
//! - [`fits`], [`imports`]: laws beside those of others; measurements made into workloads;
//!   [`import_profile`]: those of one's own, [`import_layers`]: layers of a model.
//! - [`own_measurements`]: from one's own measurements to an answer; [`own_prices`]: prices of one's own; [`default_prices`]: what is
//!   charged unasked.
//! - [`ranking`]: every configuration by what it takes; [`advise`]: which to take, and what to measure; [`advise_deadline`]: and by which
//!   policy, to be done in time.
//! - [`grids`]: measured grids that are shipped, [`own_grids`]: of one's own; [`grid_scenarios`]: scenarios that name one; [`grounds`]: strategies on both grounds.
//! - [`misses`]: limits that a share of runs may miss.
//! - [`validation`]: measurements left out of workloads, and what the rest says of them.
//! - [`luck`]: what a replica deals, whatever is rented.
//! - [`interrupted`]: losses that hit a pause.
//! - [`bills`]: bills by hand; [`sustained_use`]: of VMs that are used for long.
//! - [`spot`]: jobs on VMs that are taken away, [`outlines`]: in outline; [`measured_defaults`]: what is used where nobody says; [`kinds`]: kinds of clusters.
//! - [`figures`]: figures of results; [`plotting`]: the command that draws them; [`pages`]: the page of one.
//! - [`worlds`]: workers of any size, shares that change, state larger than memory.
//! - [`special_files`]: links, pipes and devices where files belong.
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
