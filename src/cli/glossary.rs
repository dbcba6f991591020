//! Words of tables and messages that are neither a key, a column nor a name.

pub(super) const GLOSSARY: &[(&str, &str)] = &[
    ("K", "Number of workers of a cluster."),
    (
        "B",
        "Global batch: samples per step of all workers together. The local batch is B/K.",
    ),
    (
        "K × B",
        "A configuration: workers × global batch, then `on` how many VMs of which type. Behind a slash stand the workers on \
         each VM: 8 × 512 on 2 g4dn.12xlarge/4.",
    ),
    (
        "configuration",
        "What a strategy chooses: VM type, workers and batch, or a value for every axis of a measured grid. \
         `scavsim rank FILE` lists all of a scenario.",
    ),
    (
        "case",
        "One combination of workload, pricing policy, objective, strategy and replica: a row of the records.",
    ),
    (
        "†",
        "Behind the name of a pricing policy: a spot price for VMs that nobody takes away in the scenario, so its bills are lower \
         bounds. `[spot]`, or a kind of cluster on the spot market, lets them be lost.",
    ),
    (
        "GiB",
        "Most memory that a GPU holds in a parallel plan, `peak_gib`: parameters, gradients, optimiser, activations, and what the \
         runtime reserves.",
    ),
    (
        "(?)",
        "May not fit: a plan whose GPUs are counted to hold nearly what they have, or a little more: it fits by what is counted, but not by \
         what counts may be off.",
    ),
    (
        "plan",
        "A parallel plan in short, as d8 p2 t4 m1: replicas (data), stages (pipeline), GPUs that share each layer (tensor), sequences of a \
         micro-batch; b is the global batch, where there are several.",
    ),
    (
        "bubble",
        "Share of a step of a parallel plan in which the last stage waits for others.",
    ),
    (
        "comm.",
        "Share of a step of a parallel plan that is communication which nothing hides, `communication`.",
    ),
    (
        "token/s",
        "Tokens of a second of training with a parallel plan, without luck and losses, `tokens_per_s`.",
    ),
    (
        "MFU",
        "Model FLOPs utilisation of a parallel plan, `mfu`: FLOPs of the model's tokens, forward and backward, over those of all \
         GPUs at their peak. None where the model is known by a profile alone.",
    ),
    (
        "$/10⁹",
        "Expected cost of a parallel plan per 10⁹ tokens that it trains on, `usd_per_1e9_tokens`.",
    ),
    (
        "replica",
        "One repetition of a case with luck of its own. All strategies meet the same luck in the same replica.",
    ),
    (
        "choice",
        "The configuration that a strategy chose in most replicas.",
    ),
    (
        "measured",
        "Step time and epochs of the configuration stand in the workload's tables.",
    ),
    (
        "interpolated",
        "Computed between measurements that surround the configuration, marked (i). `scavsim validate` says how far off \
         that is for a workload.",
    ),
    (
        "extrapolated",
        "Computed by fitted laws beyond what was measured, marked (e): it has no measurement on the other side.",
    ),
    (
        "knee",
        "The point of the Pareto front of time and cost that lies farthest below the line between its ends.",
    ),
    (
        "front",
        "The configurations to which none is both faster and cheaper: the Pareto front.",
    ),
    (
        "knowledge",
        "Earlier runs that a strategy builds on. They had to be paid for, too: `known_time_h`, `known_cost_usd`.",
    ),
    (
        "knowledge gradient",
        "How much better the best is expected to be after a measurement than before it, over what the measurement costs. \
         `scavsim advise` proposes by it what to measure next.",
    ),
    (
        "t",
        "Time, in tables: `t / $` has the figure for time, then that for cost.",
    ),
    (
        "vs first",
        "The figure of a cluster over that of the first line with a result.",
    ),
    (
        "90 %",
        "In lists of configurations: of 20 runs one ends below and one above, over what varies by luck in a run, and over how far off the workload may be: its law, how measurements differ from it, and how they differ from one another.",
    ),
    (
        "time_p5_h",
        "In `scavsim rank` and `advise`: hours that 5 % of runs stay below, over luck and over how far off the workload may be. `time_p95_h`, `cost_p5_usd` and `cost_p95_usd` accordingly.",
    ),
    (
        "miss",
        "Share of runs that go beyond a limit of `[limits]`.",
    ),
    (
        "~",
        "A median: a few replicas carry the mean, which says little then.",
    ),
    (
        "no configuration keeps within the limits",
        "What is expected of every configuration is beyond `[limits]`, or, with `max_miss`, too many of its runs are. The \
         message names the nearest. Raise the limit, or let there be more to choose from in `[cluster]`.",
    ),
    (
        "no configuration is expected to keep within the limits",
        "The strategy predicts for every configuration more than `[limits]` allow, although the oracle may find one.",
    ),
    (
        "outside what was measured",
        "The workload has no measurement on one side of this value. `outside` in `[cluster]` says what happens: an error, \
         leave it out, or extrapolate by the laws of the workload, if it has some.",
    ),
    (
        "left out",
        "Configurations that are not searched although the axes name them, because something about them is not known; the \
         note says what.",
    ),
    (
        "prices are known only after a run",
        "The prices are those that a grid states per run, so that nobody can compute what an untried configuration costs.",
    ),
    (
        "is not finished",
        "The folder holds a run that was interrupted. `--resume` goes on with it, `--overwrite` throws it away.",
    ),
    (
        "is of another run",
        "Scenario, seed or version are not those of the results in the folder: they would not belong together.",
    ),
    (
        "shard",
        "One of N equal parts of a run, for several machines: `--shard I/N`, then `scavsim merge`.",
    ),
    ("exit codes", super::exit::EXIT_CODES),
];
