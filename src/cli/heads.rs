//! Heads of columns that stand in tables for people, and are neither a column of the records nor a word of the glossary.

/// The heads, and what stands below them.
pub(super) const HEADS: &[(&str, &str)] = &[
    // Strategies and policies.
    (
        "strategy",
        "Who searches for the best configuration: `scavsim list strategies`.",
    ),
    ("workload", "What is trained: `scavsim list workloads`."),
    ("pricing", "The pricing policy: `scavsim list pricing`."),
    (
        "objective",
        "What the best is: time, cost, or the knee between both.",
    ),
    (
        "setting",
        "Values of the keys that hold several in the scenario.",
    ),
    ("scenario", "The scenario, by its name."),
    (
        "cases",
        "Cases of the line; in brackets those without a result.",
    ),
    (
        "time",
        "Time to the target: in the table of policies the oracle's, in that of clusters the mean over replicas.",
    ),
    (
        "cost",
        "Cost to the target: in the table of policies the oracle's, in that of clusters the mean over replicas.",
    ),
    // Clusters and configurations.
    ("cluster", "Kind of cluster, or VM type."),
    (
        "on",
        "How many VMs of which type; behind a slash the workers on each. In the table of losses of `compare`: units where the strategy loses.",
    ),
    (
        "kind",
        "Kind of cluster, by its name in the scenario. In lists: the kind of the thing.",
    ),
    ("market", "Where VMs are rented: on demand or spot."),
    ("time h", "Expected hours to the target."),
    ("time min", "Expected minutes to the target."),
    ("time s", "Expected seconds to the target."),
    ("cost $", "Expected cost to the target, USD."),
    (
        "from",
        "How step time and epochs of a configuration are known: measured, interpolated between measurements, extrapolated by laws, or modelled.",
    ),
    (
        "f",
        "`from` by its first letter: m measured or modelled, i interpolated, e extrapolated.",
    ),
    ("lost VMs", "VMs that the provider took away, in the mean."),
    (
        "stale",
        "Samples of others that a gradient missed, over the batch, in the mean.",
    ),
    ("dropped", "Share of gradients that the protocol gave up."),
    (
        "wasted",
        "Share of compute time that went into dropped gradients and second attempts.",
    ),
    ("fidelity", "How it was simulated: fast or event."),
    (
        "ETTR",
        "Effective training time ratio: what the steps that count take with all VMs of the plan, over all time after the search.",
    ),
    ("GPUs", "How many GPUs of which model."),
    (
        "$ per 10⁹",
        "Expected cost of a parallel plan per 10⁹ tokens that it trains on.",
    ),
    ("keeps", "Chance that a plan keeps within the limits."),
    // Rankings.
    (
        "K × B",
        "Workers × global batch; behind a slash the workers on each VM. \
         In front: `*` best for the objective, `+` on the Pareto front (nothing is both faster and cheaper), `!` not within the limits.",
    ),
    (
        "plan",
        "Degrees of parallelism: data, pipeline, tensor; m: micro-batch; b: global batch; v: virtual stages; c, e: replicas that share \
         a sequence, experts; re: recompute; sh: shard; sp: sequence parallel. In front: `*` best, `+` on the Pareto front, `!` not within the limits.",
    ),
    // Advice.
    (
        "better",
        "Chance that the choice is better than the recommended one, by the measurements.",
    ),
    // Headlines.
    (
        "best",
        "The best configuration: in a run the oracle's choice; in the report of an import that of each job.",
    ),
    // Comparisons and suites.
    (
        "net mean",
        "`net` in the mean over units: search and runs of the job over those of the oracle, minus 1.",
    ),
    ("median", "Half of all cases are below."),
    ("p90", "Nine of ten cases are below: the 90th percentile."),
    ("gross", "`net`, but the runs of the search earn nothing."),
    (
        "exact",
        "Share of choices that are worth what the oracle's are.",
    ),
    (
        "near",
        "Share of choices within a tenth of what the oracle's are worth.",
    ),
    (
        "rank",
        "Place among the strategies, 1 being the best, in the mean over units.",
    ),
    (
        "× best",
        "Search and runs over those of the strategy that is best in the mean: a geometric mean over units. * differs at 5 %, ** at 1 %.",
    ),
    (
        "× named",
        "Search and runs over those of the strategy that `--against` names: a geometric mean over units.",
    ),
    (
        "loses",
        "In `compare`: units where search and runs come to more than 1.1 × those of the best other, or who loses there. In `list failures`: what a failure takes away.",
    ),
    (
        "tuned on",
        "In `bench board`: what the constants of a strategy were chosen on, by the word of who handed it in.",
    ),
    (
        "checked",
        "In `bench board`: whether its searches were made again by its strategy, or their figures alone replayed.",
    ),
    (
        "history",
        "In `compare`: what the earlier runs that the strategy took had come to, over a run of the oracle: mean over units.",
    ),
    (
        "pays after",
        "In `compare`: jobs of R runs after which these earlier runs are paid back, against the best strategy without any; never where it is no better.",
    ),
    (
        "most on",
        "The unit where the strategy loses most, by how much, and to whom.",
    ),
    ("then on", "The unit where it loses second most."),
    (
        "fails",
        "Share of cases without a choice that works. What they spent and R runs of the worst configuration are their `net`; they rank last.",
    ),
    ("best strategy", "The strategy with the least mean `net`."),
    ("next", "The second best strategy."),
    (
        "p",
        "Probability that chance alone has the best and the next strategy as far apart, by signs of programs.",
    ),
    (
        "difference",
        "Simulated over published, minus 1; of a group the largest.",
    ),
    (
        "none",
        "Share of cases without a figure, as nothing keeps the limits or no run has a price.",
    ),
    ("name", "By which it is called in scenarios and files."),
    ("R", "How often the job is run with the choice."),
    ("searches", "Number of searches."),
    ("failed", "Runs or cases without a result."),
    ("grid", "A measured grid: `scavsim list grids`."),
    ("job", "A job of a measured grid or a bag."),
    ("jobs", "Number of jobs."),
    ("program", "The program that a job runs."),
    (
        "configurations",
        "Number of configurations that were measured.",
    ),
    (
        "holes",
        "Configurations of a job that nobody measured, though others of the grid have them.",
    ),
    ("unreached", "Runs that did not reach their target."),
    ("most repeats", "Most runs of one configuration."),
    ("spread", "The slowest configuration over the fastest."),
    ("hours", "Hours of all measured runs."),
    ("runs", "Number of runs."),
    (
        "axes",
        "What configurations differ in, and the values of each.",
    ),
    (
        "N ×",
        "Median regret of the best run so far, when the search had spent N runs of the oracle.",
    ),
    // Validation.
    (
        "left_out",
        "What was left out of the measurements, to be predicted from the rest.",
    ),
    ("of", "Of how many; in `reproduce` what a figure is of."),
    (
        "asked",
        "Predictions that were asked for; in `trace` which probe was asked for.",
    ),
    ("answered", "Predictions that were made."),
    (
        "error_%",
        "Mean of |predicted - measured| over measured, percent.",
    ),
    (
        "median_%",
        "Median of |predicted - measured| over measured, percent.",
    ),
    (
        "worst_%",
        "Greatest |predicted - measured| over measured, percent.",
    ),
    (
        "covered_%",
        "Share of measurements inside of their 90 % interval; `!` marks less than 85 or more than 95.",
    ),
    ("groups", "Number of groups that were left out in turn."),
    ("line", "Line of the file."),
    ("reason", "Why there is no answer."),
    // Papers.
    ("paper", "The published figure."),
    ("ours", "What the simulator says to the claim."),
    ("simulated", "The simulator's figure, with its error."),
    ("tolerance", "How far off a figure may be, set beforehand."),
    ("figures", "How many figures are compared."),
    ("figure", "What the paper prints, and of what."),
    // What-if.
    ("what if", "The changed key and its value."),
    (
        "in",
        "Unit of the figures: h where time is the objective, else USD.",
    ),
    ("base", "The figure of the unchanged run, in the mean."),
    ("new", "The figure with the changed key, in the mean."),
    (
        "more",
        "Mean of new less base over paired replicas; of a paper new over base, minus 1.",
    ),
    ("most for", "Where the change is largest."),
    (
        "within",
        "Figures within their tolerance; readings that hold.",
    ),
    (
        "explained",
        "Figures outside their tolerance with a stated reason; readings that are open.",
    ),
    (
        "outside",
        "Figures outside their tolerance without a reason; readings that do not hold.",
    ),
    (
        "evidence",
        "What agreement says for the model: prediction, replication, data, replay, identity, self or calibrated.",
    ),
    (
        "verdict",
        "Whether a figure is inside of its tolerance, explained, or outside.",
    ),
    // Traces of searches.
    (
        "configuration",
        "Workers × batch and VMs, or a value for every axis.",
    ),
    ("seen", "What a probe showed."),
    ("step s", "Seconds per step that a probe measured."),
    ("took", "How long a probe took."),
    ("for USD", "What a probe cost."),
    ("spent", "Time spent by the search so far."),
    (
        "USD",
        "Money spent by the search so far; in cards of grids by all runs.",
    ),
    // Lists.
    ("model", "The model that is trained, or its name."),
    ("data_set", "The data set that it is trained on."),
    ("target", "When training is over."),
    ("vm", "VM types that were measured."),
    ("workers", "Number of workers K."),
    ("batch", "Global batch B."),
    ("points", "Number of measurements."),
    ("source", "Where the figures are from."),
    ("policy", "A pricing policy, by its name."),
    ("usd", "Price, USD, per what `per` says."),
    (
        "per",
        "What a price is per: VM-hour, core-hour, or as its list says.",
    ),
    (
        "granularity_s",
        "Seconds of a billing period, of which every started one is billed.",
    ),
    ("minimum_s", "Fewest seconds that are billed."),
    ("further", "What else the policy reduces or charges."),
    ("description", "What it is."),
    ("column", "A column of the records."),
    ("unit", "The unit of a column."),
    ("type", "The type of a column."),
    ("summary", "What the summary does with a column."),
    ("what it is", "A description."),
    ("what it does", "A description."),
    ("what", "A description."),
    ("function", "A function of expressions."),
    (
        "parameters and what it gives",
        "How a function is called, and its value.",
    ),
    ("fleet", "A fleet whose failures are known."),
    ("cause", "Why VMs or GPUs fail."),
    ("per_1e6_gpu_h", "Failures in 10⁶ hours of a GPU."),
    (
        "lifetime",
        "How long preemptible VMs live, by its name in scenarios.",
    ),
    ("gpu", "GPU model."),
    ("gpus", "GPUs of a VM."),
    ("region", "Region of a cloud."),
    ("lost_1h", "Share of VMs that are lost within an hour."),
    ("lost_8h", "Share of VMs that are lost within 8 hours."),
    ("lost_24h", "Share of VMs that are lost within a day."),
    ("cap_h", "Hours after which the provider takes every VM."),
    (
        "notice_s",
        "Seconds between the warning and the loss of a VM.",
    ),
    ("key", "A key of scenarios."),
    ("value", "The value to write."),
    ("mean_s", "Mean, seconds."),
    ("sd_s", "Standard deviation, seconds."),
    (
        "example",
        "A shipped scenario: `scavsim example NAME` writes it.",
    ),
    (
        "runtime",
        "A runtime of parallel plans, with its overheads.",
    ),
    ("precision", "Precision of the arithmetic."),
    (
        "off_%",
        "How far predictions by a runtime are off in the mean, percent.",
    ),
    ("generation", "Generation of a GPU."),
    ("memory_gib", "Memory, GiB."),
    ("gb_per_s", "Memory bandwidth, GB/s."),
    (
        "link_gb_per_s",
        "Bandwidth of the links between GPUs of a VM, GB/s.",
    ),
    ("10⁹_parameters", "Parameters of the model, 10⁹."),
    (
        "experts",
        "Experts of a mixture, and how many a token uses.",
    ),
    ("provider", "The cloud."),
    ("vcpu", "Virtual CPUs of a VM."),
    ("network_gbps", "Bandwidth of the network, Gbit/s."),
    ("date", "Day of the price."),
    (
        "old",
        "Whether a price was last seen over 18 months before the newest one.",
    ),
    ("fit", "What a law was fitted to."),
    ("law", "The law that was fitted."),
    ("bf16", "Peak of a GPU in bfloat16, TFLOP/s."),
    ("fp16", "Peak of a GPU in half precision, TFLOP/s."),
    ("fp32", "Peak of a GPU in single precision, TFLOP/s."),
    ("tf32", "Peak of a GPU in TensorFloat-32, TFLOP/s."),
    (
        "fp8_tflops",
        "Peak of a GPU in 8-bit floating point, TFLOP/s.",
    ),
    ("lost_6h", "Share of VMs that are lost within 6 hours."),
    ("on_demand_usd", "Price of a VM-hour on demand, USD."),
    ("spot_usd", "Price of a VM-hour on the spot market, USD."),
    (
        "choice_share",
        "Share of replicas that chose the most frequent choice.",
    ),
    ("sorted_by", "The objective that a ranking is sorted by."),
    // Price packs.
    (
        "pack",
        "Where prices are from: `builtin`, or a pack of one's own.",
    ),
    ("newest_day", "The last day of which prices are known."),
    ("vm_types", "How many VM types have a price."),
    ("used", "Whether the prices of the pack are used."),
    (
        "commitment_1y_usd",
        "Price of a VM-hour with a commitment of one year, USD.",
    ),
    (
        "commitment_3y_usd",
        "Price of a VM-hour with a commitment of three years, USD.",
    ),
    // Policies that decide during a run.
    (
        "against",
        "The policy whose lives the others are held against.",
    ),
    (
        "deadline_h",
        "Hours until the work has to be done, from its start.",
    ),
    (
        "changeover_s",
        "Seconds from a decision to move until the job works there.",
    ),
    ("zones", "Zones that a policy may choose from."),
    (
        "× clairvoyant",
        "Mean cost over that of whoever knows what comes.",
    ),
    (
        "± $",
        "Half of the 95 % interval of the mean cost, by lives that do not overlap.",
    ),
    (
        "net %",
        "Share of lives in which the safety net took over, in percent.",
    ),
    (
        "in time %",
        "Share of lives that end before the deadline, in percent.",
    ),
];
