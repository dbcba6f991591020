"""Scenarios as objects: every key an attribute with its type and what it is, so that editors and notebooks complete them.

    from scavsim.scenario import Cluster, Scenario, Search

    scenario = Scenario(workloads=["scavenger-resnet18"], cluster=Cluster(workers=[8, 16]))
    scenario.search.strategies = ["oracle", "random"]
    result = scavsim.run(scenario)

Written by `tools/scenario_classes.py` from `docs/scenario.schema.json`; not to be changed by hand.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Dict, List, Literal, Sequence, Union

from ._keys import Keys, key

__all__ = [
    "Bag", "BoStepTimeSettings", "Bounds", "Cause", "CheapestSettings", "CherryPickSettings", "Cluster", "CollaborativeFilteringSettings",
    "CoordinateDescentSettings", "CostToGoSettings", "DearestSettings", "DefaultSettings", "Drift", "EiPerCostSettings", "Elastic",
    "ErnestSettings", "Errors", "Exclusion", "Failures", "Form", "FullSettings", "Generation", "Gpu", "Job", "JobTime", "KeepPace", "Kind",
    "LatinHypercubeSettings", "LeaveOutSettings", "Limits", "LynceusSettings", "Market", "Model", "NoSearchSettings", "Node",
    "OneRunSettings", "Parallel", "PartialSettings", "PlannerSettings", "PolicyFile", "PolicySettings", "PriceThreshold", "Pricing",
    "RandomForestSettings", "RandomSettings", "Reaction", "ReactionCosts", "Reconsideration", "RgpeSettings", "Runtime", "SameJobSettings",
    "Scenario", "Search", "Servers", "Settings", "SkyNomadSettings", "Spot", "SriftyLikeSettings", "Staleness", "Starts", "Step",
    "Straggler", "SuccessiveHalvingSettings", "Surrogate", "TimeSliced", "TrimtunerLikeSettings", "UniformProgressFailoverSettings",
    "UniformProgressSettings", "ValueOfInformationSettings", "Variation", "Vm",
]


class JobTime(Keys):
    """Mean time of a job on VMs of a type."""

    mean_s: float = key(default=None)
    """Mean seconds."""
    vm: str = key(default=None)
    """The type."""
    vms_per_job: int = key(default=None)
    """VMs of a job."""

    _known = {"mean_s": "mean_s", "vm": "vm", "vms_per_job": "vms_per_job"}
    _tables = {}


class Surrogate(Keys):
    """A model that takes the place of jobs."""

    after_jobs: Union[int, Sequence[int], Dict[str, Any]] = key(default=None)
    """Jobs that it learns from."""
    result_s: Union[float, Sequence[float], Dict[str, Any]] = key(default=None)
    """Seconds of each result that it gives."""
    train_s: Union[float, Sequence[float], Dict[str, Any]] = key(default=None)
    """Seconds that it then takes to train, on the VMs of one job."""

    _known = {"after_jobs": "after_jobs", "result_s": "result_s", "train_s": "train_s"}
    _tables = {}


class Bag(Keys):
    """A bag of independent jobs of one kind on VMs that may be lost."""

    dispatch_lag_s: Union[float, Sequence[float], Dict[str, Any]] = key(default=None)
    """Seconds from the end of a job until the next begins on its slot; 0 when absent."""
    head_vm: str = key(default=None)
    """VM type of a head node, rented on demand for the whole bag; none when absent."""
    job_cv: Union[float, Sequence[float], Dict[str, Any]] = key(default=None)
    """Coefficient of variation of the time of a job, which is log-normal; 0 when absent."""
    job_times: Sequence[Union[JobTime, Dict[str, Any]]] = key(default=None)
    """Mean time of a job, for each VM type and number of VMs that it may run on."""
    jobs: Union[int, Sequence[int], Dict[str, Any]] = key(default=None)
    """Jobs that are submitted."""
    keep_spares_s: Union[float, Sequence[float], Dict[str, Any]] = key(default=None)
    """Seconds that a VM without work is kept; 3600 when absent."""
    lifetimes: Dict[str, str] = key(default=None)
    """Names of models of `scavsim list lifetimes` by VM type, in place of that of `[spot]`."""
    losses: Dict[str, Any] = key(default=None)
    """Losses that are given, in place of those by `[spot]`."""
    name: str = key(default=None)
    """What it is called in results, in place of a workload; `bag` when absent."""
    notice: Union[Literal['at-once', 'logged'], Dict[str, Any]] = key(default=None)
    """When a loss is noticed."""
    parallel_jobs: Union[Literal['measured'], int, Sequence[int], Dict[str, Any]] = key(default=None)
    """Jobs side by side: slots; 1 when absent."""
    rerun: bool = key(default=None)
    """Whether a job that lost a VM is run again; `true` when absent."""
    reuse: Literal['by-age', 'always', 'never'] = key(default=None)
    """Whether a VM that has run a job gets the next."""
    start_stagger_s: Union[float, Sequence[float], Dict[str, Any]] = key(default=None)
    """Seconds by which each slot begins after the one before; 0 when absent."""
    sufficient_share: Union[float, Sequence[float], Dict[str, Any]] = key(default=None)
    """Share of them that has to be done; 1 when absent."""
    surrogate: Surrogate = key(default=None)
    """A model that takes the place of jobs once it has learned from some: a formula, nothing measured."""

    _known = {"dispatch_lag_s": "dispatch_lag_s", "head_vm": "head_vm", "job_cv": "job_cv", "job_times": "job_times", "jobs": "jobs", "keep_spares_s": "keep_spares_s", "lifetimes": "lifetimes", "losses": "losses", "name": "name", "notice": "notice", "parallel_jobs": "parallel_jobs", "rerun": "rerun", "reuse": "reuse", "start_stagger_s": "start_stagger_s", "sufficient_share": "sufficient_share", "surrogate": "surrogate"}
    _tables = {"surrogate": Surrogate}


class Bounds(Keys):
    """From `min` to `max`, both included; either may be absent."""

    max: float = key(default=None)
    """Greatest value."""
    min: float = key(default=None)
    """Least value."""

    _known = {"max": "max", "min": "min"}
    _tables = {}


class Exclusion(Keys):
    """Which configurations are left out: those that meet every condition given."""

    axis: Dict[str, Union[float, str, Bounds, Dict[str, Any]]] = key(default=None)
    """Values on any axes of a measured grid, by the names of the axes."""
    batch: Bounds = key(default=None)
    """Global batch B."""
    local_batch: Bounds = key(default=None)
    """Samples per worker and step, B/K."""
    vm: str = key(default=None)
    """VM type."""
    workers: Bounds = key(default=None)
    """Worker count K."""

    _known = {"axis": "axis", "batch": "batch", "local_batch": "local_batch", "vm": "vm", "workers": "workers"}
    _tables = {"batch": Bounds, "local_batch": Bounds, "workers": Bounds}


class Cluster(Keys):
    """The configurations to choose from."""

    batch: Union[Literal['measured'], int, Sequence[int], Dict[str, Any]] = key(default=None)
    """Global batches B in samples."""
    exclude: Sequence[Union[Exclusion, Dict[str, Any]]] = key(default=None)
    """Configurations to leave out."""
    local_batch: Union[Literal['measured'], int, Sequence[int], Dict[str, Any]] = key(default=None)
    """Local batches b = B/K in samples, instead of global ones."""
    outside: Literal['refuse', 'leave-out', 'extrapolate'] = key(default=None)
    """What happens to configurations outside what was measured."""
    pairs: Sequence[Sequence[int]] = key(default=None)
    """Pairs of workers and batch, instead of all combinations of the two axes."""
    resize: Literal['keep-batch', 'keep-local-batch'] = key(default=None)
    """Which batch a cluster keeps when its size changes while it trains; the global one with a barrier, else the local one, when absent."""
    search: Literal['all', 'each-vm'] = key(default=None)
    """Which configurations a search chooses between."""
    start_up_s: float = key(default=None)
    """Seconds from a request of VMs until they are ready; 0 when absent, but as measured for VMs on demand with `[spot]` or
    `[failures]`."""
    vm: Sequence[str] = key(default=None)
    """VM types, with the workers on every VM behind a slash where that is not one; all that were measured or defined when absent."""
    workers: Union[Literal['measured'], int, Sequence[int], Dict[str, Any]] = key(default=None)
    """Worker counts K."""

    _known = {"batch": "batch", "exclude": "exclude", "local_batch": "local_batch", "outside": "outside", "pairs": "pairs", "resize": "resize", "search": "search", "start_up_s": "start_up_s", "vm": "vm", "workers": "workers"}
    _tables = {}


class Elastic(Keys):
    """Growing and shrinking with the price of spot VMs."""

    fewest_vms: int = key(default=None)
    """VMs of the cluster, or of the first type of a mix, when it has shrunk."""
    grow_at: float = key(default=None)
    """Price at or below which the cluster grows to `most_vms`."""
    most_vms: int = key(default=None)
    """VMs of the cluster, or of the first type of a mix, when it has grown."""
    prices: Sequence[Sequence[Any]] = key(default=None)
    """Hours since the job began, and the price from then on over the usual one."""
    shrink_above: float = key(default=None)
    """Price above which it shrinks to `fewest_vms`."""

    _known = {"fewest_vms": "fewest_vms", "grow_at": "grow_at", "most_vms": "most_vms", "prices": "prices", "shrink_above": "shrink_above"}
    _tables = {}


class Cause(Keys):
    """A cause of failures, with how often it makes some: by GPU, by node or by switch."""

    loses: str = key(default=None)
    """What one takes with it: gpu (its node), node, switch, nothing (the job alone)."""
    name: str = key(default=None)
    """What it is called."""
    per_gpu_h: float = key(default=None)
    """Failures per GPU and hour."""
    per_node_h: float = key(default=None)
    """Failures per node and hour."""
    per_switch_h: float = key(default=None)
    """Failures per switch and hour."""

    _known = {"loses": "loses", "name": "name", "per_gpu_h": "per_gpu_h", "per_node_h": "per_node_h", "per_switch_h": "per_switch_h"}
    _tables = {}


class Failures(Keys):
    """Failures of machines that nobody takes away: an owned or reserved fleet."""

    by_hand_mean_s: Union[float, Sequence[float], Dict[str, Any]] = key(default=None)
    """Mean seconds that this takes: exponential."""
    by_hand_share: Union[float, Sequence[float], Dict[str, Any]] = key(default=None)
    """Share of failures that wait for a person."""
    causes: Sequence[Union[Cause, Dict[str, Any]]] = key(default=None)
    """Causes of one's own."""
    checkpoint: Union[Literal['none', 'young', 'young-daly', 'searched', 'dynamic'], Dict[str, Any]] = key(default=None)
    """When checkpoints are written; by Young and Daly when absent, where a failure goes back to the last."""
    checkpoint_write_s: float = key(default=None)
    """Seconds that one takes to write, where `parallel.checkpoint_gb_per_s` does not say; as measured when absent."""
    detection_s: Union[float, Sequence[float], Dict[str, Any]] = key(default=None)
    """Seconds until a failure is noticed."""
    fleet: Union[str, Sequence[str]] = key(default=None)
    """A fleet whose failures were counted: a name of `scavsim list failures`; or `causes`."""
    keeps: Literal['checkpoint', 'steps'] = key(default=None)
    """What a failure leaves of the work."""
    lemon_factor: float = key(default=None)
    """How many times as often these fail; the mean of all nodes stays as it was counted."""
    lemon_share: float = key(default=None)
    """Share of nodes that fail more often than others: lemons."""
    maintenance_every_h: float = key(default=None)
    """Hours from the end of one planned maintenance to the next."""
    maintenance_s: float = key(default=None)
    """Seconds that one takes."""
    nodes_per_switch: int = key(default=None)
    """Nodes behind a switch, which fail with it; 2 when absent."""
    replacement_s: Union[float, Sequence[float], Dict[str, Any]] = key(default=None)
    """Seconds from a failure until another node runs in the place of one that it took; `cluster.start_up_s` when absent."""
    restart_s: Union[float, Sequence[float], Dict[str, Any]] = key(default=None)
    """Seconds that all take to go on from a checkpoint, beside reading it; as measured when absent."""
    scale: Union[float, Sequence[float], Dict[str, Any]] = key(default=None)
    """Failures over those that were counted or said; 1 when absent."""

    _known = {"by_hand_mean_s": "by_hand_mean_s", "by_hand_share": "by_hand_share", "causes": "causes", "checkpoint": "checkpoint", "checkpoint_write_s": "checkpoint_write_s", "detection_s": "detection_s", "fleet": "fleet", "keeps": "keeps", "lemon_factor": "lemon_factor", "lemon_share": "lemon_share", "maintenance_every_h": "maintenance_every_h", "maintenance_s": "maintenance_s", "nodes_per_switch": "nodes_per_switch", "replacement_s": "replacement_s", "restart_s": "restart_s", "scale": "scale"}
    _tables = {}


class Step(Keys):
    """How fast a form is from a share of the work on."""

    from_: float = key(default=None)
    """Share of the work from which on it holds."""
    speed: float = key(default=None)
    """Seconds of work per second from there on."""

    _known = {"from_": "from", "speed": "speed"}
    _tables = {}


class Form(Keys):
    """Machines that it can run on, and how fast it is on them."""

    machines: int = key(default=None)
    """Number of machines; 1 when absent."""
    name: str = key(default=None)
    """Name of the form."""
    speed: float = key(default=None)
    """Seconds of work per second, all the time."""
    steps: Sequence[Union[Step, Dict[str, Any]]] = key(default=None)
    """Seconds of work per second, from shares of the work on."""
    vm: str = key(default=None)
    """VM type; any when absent."""

    _known = {"machines": "machines", "name": "name", "speed": "speed", "steps": "steps", "vm": "vm"}
    _tables = {}


class Job(Keys):
    """What is to be done, until when."""

    changeover_s: Union[float, Sequence[float], Dict[str, Any]] = key(default=None)
    """Seconds from a start of machines until they work; 0 when absent."""
    checkpoint_every_s: float = key(default=None)
    """Seconds of work between two checkpoints; work is saved at once when absent."""
    checkpoint_gb: Union[float, Sequence[float], Dict[str, Any]] = key(default=None)
    """GB of a checkpoint, which are carried to another region for the price of egress; 0 when absent."""
    deadline_h: Union[float, Sequence[float], Dict[str, Any]] = key(default=None)
    """Hours until it shall be done."""
    form: Sequence[Union[Form, Dict[str, Any]]] = key(default=None)
    """Sets of machines that it can run on, in place of `machines`."""
    lateness_usd_per_h: float = key(default=None)
    """USD for each hour after the deadline; without it a policy may not be late."""
    machines: int = key(default=None)
    """Number of machines; 1 when absent."""
    probe_s: float = key(default=None)
    """Seconds that a machine is paid which a policy starts to see whether there is any; 60 when absent."""
    reconfigure_s: Union[float, Sequence[float], Dict[str, Any]] = key(default=None)
    """Seconds without work where it goes on in another form on as many machines of the same type, which it keeps. They are given back, and
    others are started, when absent."""
    whole_last_tick: bool = key(default=None)
    """Whether the last tick is paid to its end. [false]"""
    work: str = key(default=None)
    """Scenario whose configurations are the forms, in place of `work_h`: a path relative to this file, or `library:NAME`."""
    work_h: Union[float, Sequence[float], Dict[str, Any]] = key(default=None)
    """Hours of work without interruptions, on the first form or one machine at speed 1."""

    _known = {"changeover_s": "changeover_s", "checkpoint_every_s": "checkpoint_every_s", "checkpoint_gb": "checkpoint_gb", "deadline_h": "deadline_h", "form": "form", "lateness_usd_per_h": "lateness_usd_per_h", "machines": "machines", "probe_s": "probe_s", "reconfigure_s": "reconfigure_s", "whole_last_tick": "whole_last_tick", "work": "work", "work_h": "work_h"}
    _tables = {}


class Servers(Keys):
    """VMs of parameter servers."""

    market: Literal['on-demand', 'spot'] = key(default=None)
    """On which terms they are rented."""
    vm: str = key(default=None)
    """VM type of the servers."""
    vms: int = key(default=None)
    """How many. [1]"""

    _known = {"market": "market", "vm": "vm", "vms": "vms"}
    _tables = {}


class Kind(Keys):
    """A kind of cluster."""

    availability: Dict[str, Sequence[Sequence[Any]]] = key(default=None)
    """Share of each worker's cores that is available, by VM type: hours since the job began, and the share from then on; all when
    absent."""
    batching: Union[Literal['uniform', 'static', 'by-size'], Dict[str, Any]] = key(default=None)
    """How the batches of unlike workers are set, where all wait for the slowest; equal when absent."""
    chief_market: Literal['on-demand', 'spot'] = key(default=None)
    """On which terms the VM of the first worker is, where that differs."""
    lifetime: str = key(default=None)
    """Name of a model of `scavsim list lifetimes` for its spot VMs; that of `[spot]` when absent."""
    market: Literal['on-demand', 'spot'] = key(default=None)
    """On which terms workers are rented."""
    mix: Dict[str, int] = key(default=None)
    """VM types of unlike workers, and how many workers run on each type."""
    servers: Servers = key(default=None)
    """VMs of parameter servers, beside those of the workers."""
    sync: Union[Literal['bsp'], Dict[str, Any]] = key(default=None)
    """How workers come together."""
    sync_of: Dict[str, Union[Literal['bsp'], Dict[str, Any]]] = key(default=None)
    """How workers of this kind come together on single workloads, by name."""
    vm: str = key(default=None)
    """VM type of all workers, with the workers on every VM behind a slash where that is not one."""

    _known = {"availability": "availability", "batching": "batching", "chief_market": "chief_market", "lifetime": "lifetime", "market": "market", "mix": "mix", "servers": "servers", "sync": "sync", "sync_of": "sync_of", "vm": "vm"}
    _tables = {"servers": Servers}


class Limits(Keys):
    """What no choice may exceed."""

    max_cost_usd: float = key(default=None)
    """Highest cost of the job in USD."""
    max_miss: float = key(default=None)
    """Share of runs that may take longer or cost more; when absent, the limits are on what is expected."""
    max_time_h: float = key(default=None)
    """Longest time to the target in hours."""
    max_workers: int = key(default=None)
    """Most workers."""

    _known = {"max_cost_usd": "max_cost_usd", "max_miss": "max_miss", "max_time_h": "max_time_h", "max_workers": "max_workers"}
    _tables = {}


class Market(Keys):
    """Where it is done."""

    each_alone: bool = key(default=None)
    """Whether each zone is a world of its own. [false]"""
    lifetimes: str = key(default=None)
    """Lifetimes of the catalogue, in place of `run_h`: a zone has machines for as long as one of them lives."""
    on_demand_usd_per_h: float = key(default=None)
    """Price of a machine on demand in that zone."""
    pause_h: float = key(default=None)
    """Mean hours that it has none."""
    replicas: int = key(default=None)
    """Lives drawn from the process that is fitted to the traces, or from that of `run_h` and `pause_h`."""
    run_h: float = key(default=None)
    """Mean hours that a zone has machines, where no traces are named."""
    spot_usd_per_h: float = key(default=None)
    """Price of a spot machine in that zone."""
    tick_s: float = key(default=None)
    """Seconds of a tick there; 600 when absent."""
    traces: str = key(default=None)
    """A market of the library, or a folder."""
    vm: Sequence[str] = key(default=None)
    """VM types of the catalogue, in place of prices: a zone for each region in which it has both prices, the newest."""
    zones: Sequence[str] = key(default=None)
    """Zones of the market; all when absent."""

    _known = {"each_alone": "each_alone", "lifetimes": "lifetimes", "on_demand_usd_per_h": "on_demand_usd_per_h", "pause_h": "pause_h", "replicas": "replicas", "run_h": "run_h", "spot_usd_per_h": "spot_usd_per_h", "tick_s": "tick_s", "traces": "traces", "vm": "vm", "zones": "zones"}
    _tables = {}


class Gpu(Keys):
    """A GPU of one's own, by its data sheet."""

    generation: str = key(default=None)
    """Whose constants it has: volta, ampere, hopper, blackwell, cdna; hopper when absent."""
    link_gb_per_s: float = key(default=None)
    """10⁹ bytes per second to other GPUs of the node, both ways together."""
    memory_gb_per_s: float = key(default=None)
    """10⁹ bytes per second of its memory."""
    memory_gib: float = key(default=None)
    """Memory in GiB."""
    multiprocessors: int = key(default=None)
    """Streaming multiprocessors."""
    tflops: float = key(default=None)
    """Dense TFLOP/s at the precision that is computed with."""

    _known = {"generation": "generation", "link_gb_per_s": "link_gb_per_s", "memory_gb_per_s": "memory_gb_per_s", "memory_gib": "memory_gib", "multiprocessors": "multiprocessors", "tflops": "tflops"}
    _tables = {}


class Model(Keys):
    """A model by its numbers. Everything else follows from `layers`, `hidden` and `heads` as in GPT-2."""

    active_experts: int = key(default=None)
    """Experts that a token goes through; 2 when absent."""
    dense_layers: int = key(default=None)
    """First blocks without experts. [0]"""
    dropout: bool = key(default=None)
    """Whether scores of attention and outputs of a block are dropped at random: they are kept twice, with masks. [false]"""
    encoder: bool = key(default=None)
    """Whether tokens see those behind them, too: an encoder. [false]"""
    expert_ffn: int = key(default=None)
    """Inner width of an expert; `ffn` when absent."""
    experts: int = key(default=None)
    """Experts of a block."""
    ffn: int = key(default=None)
    """Inner width of the feed-forward part; 4 × hidden when absent."""
    gated: bool = key(default=None)
    """Whether the feed-forward part has a gate: three matrices in place of two. [false]"""
    head_width: int = key(default=None)
    """Width of a head; hidden / heads when absent."""
    heads: int = key(default=None)
    """Heads of queries. [0]"""
    hidden: int = key(default=None)
    """Values per token between blocks. [0]"""
    kv_heads: int = key(default=None)
    """Heads of keys and values; as many as of queries when absent."""
    kv_rank: int = key(default=None)
    """Width of latent keys and values."""
    layers: int = key(default=None)
    """Blocks. [0]"""
    name: str = key(default=None)
    """What it is called."""
    positions: int = key(default=None)
    """Learned positions. [0]"""
    query_rank: int = key(default=None)
    """Width of latent queries, with the three widths below."""
    rotary_width: int = key(default=None)
    """Width of a head that is rotated."""
    sequence: int = key(default=None)
    """Tokens of the sequences that it was made for; 2,048 when absent."""
    shared_experts: int = key(default=None)
    """Experts that every token goes through beside. [0]"""
    tied: bool = key(default=None)
    """Whether the head has the weights of the embedding. [false]"""
    value_width: int = key(default=None)
    """Width of a head's values."""
    vocabulary: int = key(default=None)
    """Tokens of the vocabulary. [0]"""

    _known = {"active_experts": "active_experts", "dense_layers": "dense_layers", "dropout": "dropout", "encoder": "encoder", "expert_ffn": "expert_ffn", "experts": "experts", "ffn": "ffn", "gated": "gated", "head_width": "head_width", "heads": "heads", "hidden": "hidden", "kv_heads": "kv_heads", "kv_rank": "kv_rank", "layers": "layers", "name": "name", "positions": "positions", "query_rank": "query_rank", "rotary_width": "rotary_width", "sequence": "sequence", "shared_experts": "shared_experts", "tied": "tied", "value_width": "value_width", "vocabulary": "vocabulary"}
    _tables = {}


class Node(Keys):
    """A VM type with its GPUs."""

    gpu: str = key(default=None)
    """GPU of the node, as the profile calls it; with `model`, what the VM type has when absent."""
    gpu_memory_gib: float = key(default=None)
    """Memory of one GPU."""
    gpus: int = key(default=None)
    """How many; what the catalogue says when absent."""
    markets: Sequence[Literal['on-demand', 'spot']] = key(default=None)
    """On which terms it is rented; as `markets` says when absent."""
    network_gbit_per_s: float = key(default=None)
    """Network of the node to others, with `model`; what the VM type has when absent."""
    vm: str = key(default=None)
    """The VM type, for prices."""
    zone: str = key(default=None)
    """Where it is; zones are an axis where there are several."""

    _known = {"gpu": "gpu", "gpu_memory_gib": "gpu_memory_gib", "gpus": "gpus", "markets": "markets", "network_gbit_per_s": "network_gbit_per_s", "vm": "vm", "zone": "zone"}
    _tables = {}


class ReactionCosts(Keys):
    """Costs of a reaction, in seconds."""

    group_added_s: float = key(default=None)
    """Seconds of each group of communication when VMs came; there are data + pipeline + 1 + data × pipeline. [0.0]"""
    group_lost_s: float = key(default=None)
    """Seconds of each group when VMs went. [0.0]"""
    layer_s: float = key(default=None)
    """Seconds to build a layer on its stage. [0.0]"""
    link_gb_per_s: float = key(default=None)
    """10⁹ bytes of state per second that one VM hands another; 0: at no cost. [0.0]"""
    pause_s: float = key(default=None)
    """Seconds of any reaction, in place of all others."""
    process_s: float = key(default=None)
    """Seconds to start a process. [0.0]"""
    rendezvous_s: float = key(default=None)
    """Seconds until VMs that came have met the others. [0.0]"""

    _known = {"group_added_s": "group_added_s", "group_lost_s": "group_lost_s", "layer_s": "layer_s", "link_gb_per_s": "link_gb_per_s", "pause_s": "pause_s", "process_s": "process_s", "rendezvous_s": "rendezvous_s"}
    _tables = {}


class Reaction(Keys):
    """What a job on a plan does when VMs go and come."""

    aim: Union[str, Sequence[str]] = key(default=None)
    """What plans are compared by: throughput, liveput (what survives the losses to come); throughput when absent."""
    copying_s: float = key(default=None)
    """Seconds in which the state is copied to the hosts."""
    costs: Union[str, ReactionCosts, Dict[str, Any]] = key(default=None)
    """What that costs: `parcae`, as measured for it, also when absent; or seconds of one's own."""
    forecast: Union[str, Sequence[str]] = key(default=None)
    """How a job that re-plans foretells how many GPUs there will be: a name of `scavsim list forecasts`; `none` when absent."""
    policy: Union[str, Sequence[str]] = key(default=None)
    """What it does: a name of `scavsim list reactions`; `wait` when absent."""
    saves: Union[str, Sequence[str]] = key(default=None)
    """What is kept of the state: blocking (training stops while a checkpoint is written), asynchronous (it stops for `copying_s`),
    in-memory (the next node keeps every step, too); blocking when absent."""
    spares: Union[int, Sequence[int], Dict[str, Any]] = key(default=None)
    """VMs that idle until one is lost; none when absent."""
    swap_s: float = key(default=None)
    """Seconds from a loss until a spare is in its place; as measured when absent."""

    _known = {"aim": "aim", "copying_s": "copying_s", "costs": "costs", "forecast": "forecast", "policy": "policy", "saves": "saves", "spares": "spares", "swap_s": "swap_s"}
    _tables = {}


class Errors(Keys):
    """How far predicted steps are off: standard deviations of ln(measured / predicted), from runs that were left out."""

    cluster: float = key(default=None)
    """What is added on a cluster that no run is from. [0.0]"""
    context: float = key(default=None)
    """What is added where replicas share sequences, which was not measured. [0.0]"""
    doubling: float = key(default=None)
    """What is added with more GPUs than were measured, per doubling. [0.0]"""
    experts: float = key(default=None)
    """What is added for a model with experts, of which none was measured. [0.0]"""
    form: float = key(default=None)
    """What is added with virtual stages, split backward passes or compressed messages that were not measured. [0.0]"""
    forms: Sequence[Literal['virtual-stages', 'context', 'experts', 'compressed']] = key(default=None)
    """Forms that were measured: virtual-stages, context, experts, compressed."""
    fp8: float = key(default=None)
    """What is added at 8 bits where 16 were measured, or the other way. [0.0]"""
    generation: float = key(default=None)
    """What is added on a GPU of a generation of which none was measured. [0.0]"""
    gpu: float = key(default=None)
    """What is added in the square on a GPU that was not measured, of a generation that was. [0.0]"""
    gpus: Sequence[str] = key(default=None)
    """GPUs that were measured."""
    most_gpus: int = key(default=None)
    """Most GPUs of a run that was measured. [0]"""
    precision: float = key(default=None)
    """What is added at a precision that was not measured. [0.0]"""
    precisions: Sequence[str] = key(default=None)
    """Precisions that were measured."""
    step: float = key(default=None)
    """Deviation of a run on GPUs, with as many of them and of a precision that were measured. [0.0]"""
    tensor: float = key(default=None)
    """What is added at a tensor degree that was not measured. [0.0]"""
    tensors: Sequence[int] = key(default=None)
    """Tensor degrees that were measured."""
    unlike: float = key(default=None)
    """What is added where replicas run on unlike nodes. [0.0]"""

    _known = {"cluster": "cluster", "context": "context", "doubling": "doubling", "experts": "experts", "form": "form", "forms": "forms", "fp8": "fp8", "generation": "generation", "gpu": "gpu", "gpus": "gpus", "most_gpus": "most_gpus", "precision": "precision", "precisions": "precisions", "step": "step", "tensor": "tensor", "tensors": "tensors", "unlike": "unlike"}
    _tables = {}


class Generation(Keys):
    """Factors of a generation of GPUs."""

    attention: Union[float, Sequence[float]] = key(default=None)
    """What its GPUs reach in fused attention of an Ampere GPU's share of its peak."""
    matmul: Union[float, Sequence[float]] = key(default=None)
    """What its GPUs reach in products of an Ampere GPU's share of its peak."""

    _known = {"attention": "attention", "matmul": "matmul"}
    _tables = {}


class Runtime(Keys):
    """A runtime as it is written: in a file of its own, or as `[parallel.runtime]`. What is absent is as in its base."""

    activations: Literal['serial', 'duplex', 'overlapped'] = key(default=None)
    """How stages send each other activations."""
    adapter_launch_s: Union[float, Sequence[float]] = key(default=None)
    """Seconds that the host takes beside to launch the forward pass of a block's adapters."""
    attention: Union[float, Sequence[float]] = key(default=None)
    """Share of the peak that fused attention reaches on an Ampere GPU."""
    attention_kernel: Literal['plain', 'flash'] = key(default=None)
    """How attention is computed."""
    base: str = key(default=None)
    """The runtime that it is like; the usual one when absent."""
    bucket_bytes: float = key(default=None)
    """Most bytes of gradients that are reduced at once."""
    capacity_factor: float = key(default=None)
    """Tokens that experts are given room for, over the mean; 1 when absent."""
    coding_gb_per_s: float = key(default=None)
    """10⁹ bytes per second at which a GPU encodes messages, and decodes them; needed by `compress`."""
    derive_tensor: bool = key(default=None)
    """Whether a tensor degree that was not profiled is derived from degree 1."""
    description: str = key(default=None)
    """What it is, for people."""
    errors: Errors = key(default=None)
    """How far predicted steps are off."""
    few: Union[float, Sequence[float]] = key(default=None)
    """Loss by few rows m of a product."""
    fitted_to: str = key(default=None)
    """Hash (BLAKE3) of the table of runs that constants and errors are fitted to; those runs are judged from its base."""
    fp8: Union[float, Sequence[float]] = key(default=None)
    """What products of 8 bits reach of the share of their peak that products of 16 bits reach."""
    fused_gate: bool = key(default=None)
    """Whether the gate of the feed-forward part is one kernel, which keeps what it reads alone."""
    gather: Union[float, Sequence[float]] = key(default=None)
    """Seconds of gathering shards that count, as a multiple of those counted."""
    generations: Dict[str, Union[Generation, Dict[str, Any]]] = key(default=None)
    """What GPUs of a generation reach of an Ampere GPU's shares."""
    gradient_bytes: float = key(default=None)
    """Bytes per parameter of gradients."""
    hiding: Union[float, Sequence[float]] = key(default=None)
    """Norm by which computing and gathering shards add up."""
    host_runs_ahead: bool = key(default=None)
    """Whether the host launches passes while the GPU waits for messages."""
    inner: Union[float, Sequence[float]] = key(default=None)
    """Loss by a short inner dimension k of a product: the share is over 1 + `inner` 100/k + `few` 100/m."""
    launch_s: Union[float, Sequence[float]] = key(default=None)
    """Seconds in which the host launches the forward pass of a block."""
    link: Union[float, Sequence[float]] = key(default=None)
    """Share of one direction of the link between GPUs of a node that collectives reach."""
    link_s: Union[float, Sequence[float]] = key(default=None)
    """Seconds of a collective inside a node beside its bytes."""
    live_bytes: float = key(default=None)
    """Bytes of gathered weights that stay for their next use, where weights are in shards; 0 when absent."""
    matmul: Union[float, Sequence[float]] = key(default=None)
    """Share of the peak that large matrix products reach on an Ampere GPU."""
    memory: Union[float, Sequence[float]] = key(default=None)
    """Share of the memory's bandwidth."""
    memory_spread: float = key(default=None)
    """Standard deviation of what a GPU really holds around what is counted, as a fraction."""
    message_s: Union[float, Sequence[float]] = key(default=None)
    """Seconds of a message between stages beside its bytes."""
    network: Union[float, Sequence[float]] = key(default=None)
    """Share of a node's network that transfers reach."""
    network_s: Union[float, Sequence[float]] = key(default=None)
    """Seconds of a transfer between nodes beside its bytes."""
    offload_gb_per_s: float = key(default=None)
    """10⁹ bytes per second at which a GPU hands activations to the host and takes them back; needed by `offload`."""
    optimizer: Union[float, Sequence[float]] = key(default=None)
    """Passes over memory of the optimiser, as a multiple of those counted."""
    optimizer_bytes: float = key(default=None)
    """Bytes per parameter of the optimiser's state."""
    overlap_gradients: bool = key(default=None)
    """Whether gradients are reduced while the last micro-batch goes backward."""
    pace: Union[float, Sequence[float]] = key(default=None)
    """Seconds of everything, as a multiple of what published runs take."""
    passes: Union[float, Sequence[float]] = key(default=None)
    """Passes over memory beside products, as a multiple of those counted."""
    precision: str = key(default=None)
    """Precision: fp32, tf32, fp16, bf16 or fp8."""
    recompute: Literal['none', 'selective', 'full'] = key(default=None)
    """What the backward pass computes again."""
    reserved_bytes: float = key(default=None)
    """Bytes of a GPU that hold no tensor of the model."""
    sequence_parallel: bool = key(default=None)
    """Whether GPUs that share a layer also share what lies between its products."""
    shard: Literal['none', 'optimizer', 'gradients', 'full'] = key(default=None)
    """What replicas hold in parts."""
    shard_launch_s: Union[float, Sequence[float]] = key(default=None)
    """Seconds that the host takes beside to launch the forward pass of a block whose weights are in shards."""
    shards: Sequence[Literal['none', 'optimizer', 'gradients', 'full']] = key(default=None)
    """Sharding that it can do; any when absent."""
    source: str = key(default=None)
    """Where its constants are from."""
    step_s: Union[float, Sequence[float]] = key(default=None)
    """Seconds of a step that neither the model nor the plan explains."""
    tensor_launch_s: Union[float, Sequence[float]] = key(default=None)
    """Seconds that it takes beside where tensor parallelism adds kernels."""
    tile: Union[float, Sequence[float]] = key(default=None)
    """Power of the share of multiprocessors that the last tiles of a product keep busy."""
    unpack: Union[float, Sequence[float]] = key(default=None)
    """Passes over memory of unpacking 4-bit weights, as a multiple of reading and writing them once."""
    weight_bytes: float = key(default=None)
    """Bytes per parameter of the weights that are computed with."""
    working_layers: float = key(default=None)
    """Room for what is computed right now, in what the largest layer needs."""

    _known = {"activations": "activations", "adapter_launch_s": "adapter_launch_s", "attention": "attention", "attention_kernel": "attention_kernel", "base": "base", "bucket_bytes": "bucket_bytes", "capacity_factor": "capacity_factor", "coding_gb_per_s": "coding_gb_per_s", "derive_tensor": "derive_tensor", "description": "description", "errors": "errors", "few": "few", "fitted_to": "fitted_to", "fp8": "fp8", "fused_gate": "fused_gate", "gather": "gather", "generations": "generations", "gradient_bytes": "gradient_bytes", "hiding": "hiding", "host_runs_ahead": "host_runs_ahead", "inner": "inner", "launch_s": "launch_s", "link": "link", "link_s": "link_s", "live_bytes": "live_bytes", "matmul": "matmul", "memory": "memory", "memory_spread": "memory_spread", "message_s": "message_s", "network": "network", "network_s": "network_s", "offload_gb_per_s": "offload_gb_per_s", "optimizer": "optimizer", "optimizer_bytes": "optimizer_bytes", "overlap_gradients": "overlap_gradients", "pace": "pace", "passes": "passes", "precision": "precision", "recompute": "recompute", "reserved_bytes": "reserved_bytes", "sequence_parallel": "sequence_parallel", "shard": "shard", "shard_launch_s": "shard_launch_s", "shards": "shards", "source": "source", "step_s": "step_s", "tensor_launch_s": "tensor_launch_s", "tile": "tile", "unpack": "unpack", "weight_bytes": "weight_bytes", "working_layers": "working_layers"}
    _tables = {"errors": Errors}


class Parallel(Keys):
    """A model that is trained on GPUs over which it is cut by data, pipeline and tensor parallelism."""

    capacity: bool = key(default=None)
    """Whether the trace that `spot.lifetime` names is also how many GPUs there are on spot terms: plans wait until there are enough."""
    checkpoint_gb_per_s: Union[float, Sequence[float], Dict[str, Any]] = key(default=None)
    """GB per second at which a checkpoint goes to its storage and comes back; when absent, it takes what `[spot]` says."""
    compress: Union[Literal['measured'], int, Sequence[int], Dict[str, Any]] = key(default=None)
    """How many times smaller messages between GPUs that share a layer of `model`, and between stages, are on their way, coded at the
    runtime's `coding_gb_per_s`; 1 when absent."""
    context: Union[Literal['measured'], int, Sequence[int], Dict[str, Any]] = key(default=None)
    """Replicas that share each sequence of `model`: context parallelism; 1 when absent."""
    data: Union[Literal['measured'], int, Sequence[int], Dict[str, Any]] = key(default=None)
    """Data-parallel replicas; any number when absent."""
    expert: Union[Literal['measured'], int, Sequence[int], Dict[str, Any]] = key(default=None)
    """Replicas that share the experts of `model`: expert parallelism; 1 when absent."""
    global_batch: Union[Literal['measured'], int, Sequence[int], Dict[str, Any]] = key(default=None)
    """Sequences of a step, over all replicas."""
    gpus: Dict[str, Union[Gpu, Dict[str, Any]]] = key(default=None)
    """GPUs of one's own, by name, for `model`."""
    layers_per_stage: Sequence[Sequence[int]] = key(default=None)
    """Numbers of layers of each stage, for pipelines of as many stages; others are cut evenly by time."""
    links: str = key(default=None)
    """Path of a table of links relative to this file; those that are embedded when absent."""
    markets: Sequence[Literal['on-demand', 'spot']] = key(default=None)
    """On which terms VMs are rented; as the price says when absent, or on spot terms where there is `[spot]`."""
    micro_batch: Union[Literal['measured'], int, Sequence[int], Dict[str, Any]] = key(default=None)
    """Sequences of a micro-batch; what was profiled when absent. Between two that were, layers are interpolated."""
    mixes: Sequence[Sequence[str]] = key(default=None)
    """VM types of equal parts of the pipeline, from its first stages to its last, for pipelines over unlike VMs; besides pipelines over VMs
    that are alike."""
    model: Union[str, Model, Dict[str, Any]] = key(default=None)
    """A model in place of a profile: its name, the path of an architecture relative to this file (with a `/`), or its numbers. What its
    layers cost is predicted by the law of layers."""
    most_gpus: int = key(default=None)
    """Most GPUs of a plan; 64 when absent."""
    name: str = key(default=None)
    """What it is called in results, in place of a workload; the profile's name when absent."""
    nodes: Sequence[Union[Node, Dict[str, Any]]] = key(default=None)
    """Nodes: VM types with their GPUs."""
    noise_scale: float = key(default=None)
    """Noise scale in sequences: with a batch B the target takes 1 + B / it times the tokens; the same tokens with every batch when
    absent."""
    offload: Union[bool, Sequence[bool]] = key(default=None)
    """Whether hosts keep activations, at the runtime's `offload_gb_per_s`; true, false or both, as an axis."""
    optimizer: str = key(default=None)
    """Optimiser of `model`: `adamw`, or `adamw-8bit` with moments of 8 bits and no copy of the weights; `adamw` when absent."""
    pipeline: Union[Literal['measured'], int, Sequence[int], Dict[str, Any]] = key(default=None)
    """Stages of the pipeline; any number up to that of layers when absent."""
    precision: str = key(default=None)
    """Precision of `model`: fp32, tf32, fp16, bf16, fp8; that of the runtime when absent."""
    profile: str = key(default=None)
    """Name of an embedded layer profile, or path of a profile's folder relative to this file."""
    reaction: Reaction = key(default=None)
    """What the job does when VMs go and come; it waits for others when absent."""
    recompute: Union[str, Sequence[str]] = key(default=None)
    """What the backward pass computes again: `none`, `selective` (scores of attention), `full` (all but the input of each block); one or
    several, as an axis. What the runtime does when absent."""
    replicas: Sequence[Sequence[str]] = key(default=None)
    """VM types of unlike replicas: equal parts of the replicas follow each pipeline, which has the VM types of its equal parts; besides
    replicas that are alike."""
    runtime: Union[str, Runtime, Dict[str, Any]] = key(default=None)
    """The runtime: its name, the path of one relative to this file (with a `/`), or what is other than in its `base`."""
    schedule: Union[str, Sequence[str]] = key(default=None)
    """Schedules of the pipeline; `1f1b` when absent."""
    sequence: int = key(default=None)
    """Tokens of a sequence of `model`; what it was made for when absent."""
    sequence_parallel: Union[bool, Sequence[bool]] = key(default=None)
    """Whether GPUs that share a layer of `model` also share what lies between its products; true, false or both, as an axis."""
    shard: Union[str, Sequence[str]] = key(default=None)
    """What replicas hold in parts: `none`, `optimizer` (ZeRO-1), `gradients` (ZeRO-2), `full` (ZeRO-3, FSDP); one or several, as an axis.
    What the runtime does when absent."""
    target_steps: int = key(default=None)
    """Steps to the target, with the smallest of the global batches."""
    target_tokens: float = key(default=None)
    """Tokens to the target; or `target_steps`."""
    tensor: Union[Literal['measured'], int, Sequence[int], Dict[str, Any]] = key(default=None)
    """GPUs of a VM that share each layer; what was profiled when absent."""
    train: str = key(default=None)
    """What is trained of `model`: `full`; `lora:16` or `qlora:16`, adapters of rank 16 beside all matrices of blocks (with `:attention`, of
    attention); `frozen:24`, all but the embedding and the first 24 blocks. All when absent."""
    virtual_stages: Union[Literal['measured'], int, Sequence[int], Dict[str, Any]] = key(default=None)
    """Virtual stages of a GPU, with the schedule `interleaved-1f1b`; 2 when absent."""
    vms: Union[Literal['measured'], int, Sequence[int], Dict[str, Any]] = key(default=None)
    """VMs in all; any number when absent."""

    _known = {"capacity": "capacity", "checkpoint_gb_per_s": "checkpoint_gb_per_s", "compress": "compress", "context": "context", "data": "data", "expert": "expert", "global_batch": "global_batch", "gpus": "gpus", "layers_per_stage": "layers_per_stage", "links": "links", "markets": "markets", "micro_batch": "micro_batch", "mixes": "mixes", "model": "model", "most_gpus": "most_gpus", "name": "name", "nodes": "nodes", "noise_scale": "noise_scale", "offload": "offload", "optimizer": "optimizer", "pipeline": "pipeline", "precision": "precision", "profile": "profile", "reaction": "reaction", "recompute": "recompute", "replicas": "replicas", "runtime": "runtime", "schedule": "schedule", "sequence": "sequence", "sequence_parallel": "sequence_parallel", "shard": "shard", "target_steps": "target_steps", "target_tokens": "target_tokens", "tensor": "tensor", "train": "train", "virtual_stages": "virtual_stages", "vms": "vms"}
    _tables = {"reaction": Reaction}


class CostToGoSettings(Keys):
    """Settings of the policy `cost-to-go`."""

    half_life_h: float = key(default=None)
    """Hours after which what was seen counts half."""
    prior_ends: float = key(default=None)
    """Ends of runs and pauses that the prior is worth."""
    prior_pause_h: float = key(default=None)
    """Hours per return in old pauses, before any was seen."""
    prior_run_h: float = key(default=None)
    """Hours per loss of old runs, before any was seen."""

    _known = {"half_life_h": "half_life_h", "prior_ends": "prior_ends", "prior_pause_h": "prior_pause_h", "prior_run_h": "prior_run_h"}
    _tables = {}


class KeepPace(Keys):
    """Keeps pace with the deadline."""

    margin: float = key(default=None)
    """How many times as fast as the rest needs a form must be that it changes to. [1.25]"""
    stay_h: float = key(default=None)
    """Hours that machines are expected to stay, over which starts and egress are spread. [2.0]"""

    _known = {"margin": "margin", "stay_h": "stay_h"}
    _tables = {}


class PriceThreshold(Keys):
    """Spot machines below a share of the price on demand."""

    share: float = key(default=None)
    """Largest share of the price on demand that is paid for spot machines. [0.5]"""

    _known = {"share": "share"}
    _tables = {}


class SkyNomadSettings(Keys):
    """Settings of the policy `skynomad`."""

    longest_life_h: float = key(default=None)
    """Hours beyond which no lifetime is believed; none by default."""
    margin_share: float = key(default=None)
    """The margin's share of the value of progress. [0.05]"""
    margin_usd_per_h: float = key(default=None)
    """USD per hour by which another option must be better. [0.51]"""
    on_demand_zone: Literal['cheapest', 'last'] = key(default=None)
    """Where its net goes on demand. ["last"]"""
    probe_every_ticks: int = key(default=None)
    """Ticks between probes of a zone. [6]"""

    _known = {"longest_life_h": "longest_life_h", "margin_share": "margin_share", "margin_usd_per_h": "margin_usd_per_h", "on_demand_zone": "on_demand_zone", "probe_every_ticks": "probe_every_ticks"}
    _tables = {}


class TimeSliced(Keys):
    """Time-sliced."""

    slice_h: float = key(default=None)
    """Hours of a slice. [6.0]"""

    _known = {"slice_h": "slice_h"}
    _tables = {}


class UniformProgressSettings(Keys):
    """Settings of the policy `uniform-progress`."""

    on_demand_zone: Literal['cheapest', 'last'] = key(default=None)
    """Where it goes on demand. ["cheapest"]"""

    _known = {"on_demand_zone": "on_demand_zone"}
    _tables = {}


class UniformProgressFailoverSettings(Keys):
    """Settings of the policy `uniform-progress-failover`."""

    on_demand_zone: Literal['cheapest', 'last'] = key(default=None)
    """Where it goes on demand. ["last"]"""

    _known = {"on_demand_zone": "on_demand_zone"}
    _tables = {}


class PolicySettings(Keys):
    """Settings of all policies: a table for each, all optional."""

    cost_to_go: CostToGoSettings = key(default=None)
    """Settings of the policy `cost-to-go`."""
    follow_noise: Dict[str, Any] = key(default=None)
    """Settings of the policy `follow-noise`."""
    greedy: Dict[str, Any] = key(default=None)
    """Settings of the policy `greedy`."""
    keep_pace: KeepPace = key(default=None)
    """Settings of the policy `keep-pace`."""
    names: Sequence[str] = key(default=None)
    """Policies to run; all that keep deadlines when absent."""
    on_demand: Dict[str, Any] = key(default=None)
    """Settings of the policy `on-demand`."""
    price_threshold: PriceThreshold = key(default=None)
    """Settings of the policy `price-threshold`."""
    skynomad: SkyNomadSettings = key(default=None)
    """Settings of the policy `skynomad`."""
    skynomad_true_lifetimes: Dict[str, Any] = key(default=None)
    """Settings of the policy `skynomad-true-lifetimes`."""
    spot_only: Dict[str, Any] = key(default=None)
    """Settings of the policy `spot-only`."""
    stay: Dict[str, Any] = key(default=None)
    """Settings of the policy `stay`."""
    time_sliced: TimeSliced = key(default=None)
    """Settings of the policy `time-sliced`."""
    uniform_progress: UniformProgressSettings = key(default=None)
    """Settings of the policy `uniform-progress`."""
    uniform_progress_failover: UniformProgressFailoverSettings = key(default=None)
    """Settings of the policy `uniform-progress-failover`."""

    _known = {"cost_to_go": "cost-to-go", "follow_noise": "follow-noise", "greedy": "greedy", "keep_pace": "keep-pace", "names": "names", "on_demand": "on-demand", "price_threshold": "price-threshold", "skynomad": "skynomad", "skynomad_true_lifetimes": "skynomad-true-lifetimes", "spot_only": "spot-only", "stay": "stay", "time_sliced": "time-sliced", "uniform_progress": "uniform-progress", "uniform_progress_failover": "uniform-progress-failover"}
    _tables = {"cost_to_go": CostToGoSettings, "keep_pace": KeepPace, "price_threshold": PriceThreshold, "skynomad": SkyNomadSettings, "time_sliced": TimeSliced, "uniform_progress": UniformProgressSettings, "uniform_progress_failover": UniformProgressFailoverSettings}
    _is_open = True

    if TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any: ...
        def __setattr__(self, name: str, value: Any) -> None: ...


class PolicyFile(Keys):
    """A pricing policy as data. Exactly one base price must be given."""

    as_rented: bool = key(default=None)
    """Whether the VMs that a kind of cluster rents as spot VMs are charged at their listed spot price and all others at that in
    `catalogue`. [false]"""
    billed_parameter_servers: Union[int, Sequence[int], Dict[str, Any]] = key(default=None)
    """Parameter servers that are billed beside the workers, for the whole job. [0]"""
    catalogue: Union[Literal['on-demand', 'spot', 'commitment-1y', 'commitment-3y'], Sequence[Literal['on-demand', 'spot', 'commitment-1y', 'commitment-3y']]] = key(default=None)
    """Base price: the listed price of the VM type in this market."""
    commitment_discount: Union[float, Sequence[float], Dict[str, Any]] = key(default=None)
    """Fraction off the base price for a commitment of one or three years."""
    date: str = key(default=None)
    """Day of the listed price, or `newest`: the last day of which the price of each VM type is known. Where spot prices come from a table,
    a job begins with it."""
    dates: Dict[str, str] = key(default=None)
    """Days of the listed prices by provider, with `regions`, in place of `date`: no price list is of the same day as another."""
    description: str = key(default=None)
    """One line for people. [""]"""
    egress_gib: Union[float, Sequence[float], Dict[str, Any]] = key(default=None)
    """GiB that leave the cloud per job; with `usd_per_egress_gib`."""
    free_first_hour_if_revoked: bool = key(default=None)
    """Whether a spot VM that the provider takes away in its first hour costs nothing, as on AWS. [false]"""
    free_started_unit_if_revoked: bool = key(default=None)
    """Whether the billing unit in which the provider takes a spot VM away costs nothing, as on AWS by the hour. [false]"""
    granularity_s: Union[float, Sequence[float], Dict[str, Any]] = key(default=None)
    """Billing unit in seconds, started units counting whole; exact time when absent."""
    is_spot_price: bool = key(default=None)
    """Whether its base price is one of spot VMs though it is none of a `catalogue`: it is marked where no VM is taken away. [false]"""
    market_price: bool = key(default=None)
    """Base price: what the market of a scenario with `[policy]` asks, spot and on demand. [false]"""
    minimum_s: Union[float, Sequence[float], Dict[str, Any]] = key(default=None)
    """Least billed seconds per VM."""
    only_ratios: bool = key(default=None)
    """Whether its dollars are a unit of which only ratios count: it is not compared with other policies. [false]"""
    parameter_server_vm: str = key(default=None)
    """VM type of the parameter servers; that of the workers when absent."""
    price_table: str = key(default=None)
    """Table of one's own with the listed prices, a CSV; the path starts at the folder of this file."""
    priced_as: str = key(default=None)
    """VM type whose price is charged in place of that of the workers' own."""
    provider: str = key(default=None)
    """Provider of the listed price."""
    region: Union[str, Sequence[str]] = key(default=None)
    """Region of the listed price; without `provider`, of the provider of each VM type."""
    regions: Dict[str, str] = key(default=None)
    """Regions of the listed prices by provider, for VM types of several."""
    spot_ratio: Union[float, Sequence[float], Dict[str, Any]] = key(default=None)
    """Spot price over base price; only the price, revocation is not simulated."""
    spot_series: Union[Sequence[Sequence[Any]], str] = key(default=None)
    """Spot price over base price in steps: hours since the job began, ratio from then on; or a table of one's own with dated spot prices of
    each VM type."""
    spot_usd_per_hour_of: Dict[str, Union[float, Sequence[float], Dict[str, Any]]] = key(default=None)
    """Base price of VMs that a kind of cluster rents as spot VMs: USD per hour of each VM type, by its name; with `usd_per_hour_of`."""
    storage_gib: Union[float, Sequence[float], Dict[str, Any]] = key(default=None)
    """GiB that are kept while the job lasts; with `usd_per_storage_gib_month`."""
    sustained_use: Sequence[float] = key(default=None)
    """Fractions of the base price in equal parts of a month of 730 hours, by level of concurrency."""
    usd_per_egress_gib: Union[float, Sequence[float], Dict[str, Any]] = key(default=None)
    """USD per GiB that leaves the cloud."""
    usd_per_gib_hour: Union[float, Sequence[float], Dict[str, Any]] = key(default=None)
    """Base price: USD per GiB of the VM type and hour."""
    usd_per_gpu_hour: Union[float, Sequence[float], Dict[str, Any]] = key(default=None)
    """Base price: USD per GPU of the VM type and hour."""
    usd_per_hour_of: Dict[str, Union[float, Sequence[float], Dict[str, Any]]] = key(default=None)
    """Base price: USD per hour of each VM type, by its name."""
    usd_per_job: Union[float, Sequence[float], Dict[str, Any]] = key(default=None)
    """USD for every job, when it ends."""
    usd_per_sample_hour: Union[float, Sequence[float], Dict[str, Any]] = key(default=None)
    """Base price: USD per sample of global batch and hour, whatever the worker count."""
    usd_per_storage_gib_month: Union[float, Sequence[float], Dict[str, Any]] = key(default=None)
    """USD per GiB kept for a month of 730 hours."""
    usd_per_vcpu_hour: Union[float, Sequence[float], Dict[str, Any]] = key(default=None)
    """Base price: USD per vCPU of the VM type and hour."""
    usd_per_vm_hour: Union[float, Sequence[float], Dict[str, Any]] = key(default=None)
    """Base price: USD per VM and hour."""
    zone: str = key(default=None)
    """Zone of the listed price, where prices of one's own differ by zone."""

    _known = {"as_rented": "as_rented", "billed_parameter_servers": "billed_parameter_servers", "catalogue": "catalogue", "commitment_discount": "commitment_discount", "date": "date", "dates": "dates", "description": "description", "egress_gib": "egress_gib", "free_first_hour_if_revoked": "free_first_hour_if_revoked", "free_started_unit_if_revoked": "free_started_unit_if_revoked", "granularity_s": "granularity_s", "is_spot_price": "is_spot_price", "market_price": "market_price", "minimum_s": "minimum_s", "only_ratios": "only_ratios", "parameter_server_vm": "parameter_server_vm", "price_table": "price_table", "priced_as": "priced_as", "provider": "provider", "region": "region", "regions": "regions", "spot_ratio": "spot_ratio", "spot_series": "spot_series", "spot_usd_per_hour_of": "spot_usd_per_hour_of", "storage_gib": "storage_gib", "sustained_use": "sustained_use", "usd_per_egress_gib": "usd_per_egress_gib", "usd_per_gib_hour": "usd_per_gib_hour", "usd_per_gpu_hour": "usd_per_gpu_hour", "usd_per_hour_of": "usd_per_hour_of", "usd_per_job": "usd_per_job", "usd_per_sample_hour": "usd_per_sample_hour", "usd_per_storage_gib_month": "usd_per_storage_gib_month", "usd_per_vcpu_hour": "usd_per_vcpu_hour", "usd_per_vm_hour": "usd_per_vm_hour", "zone": "zone"}
    _tables = {}


class Pricing(Keys):
    """Pricing policies."""

    define: Dict[str, Union[PolicyFile, Dict[str, Any]]] = key(default=None)
    """Policies of this scenario, by name."""
    policies: Sequence[str] = key(default=None)
    """Names of policies, built in or defined here; when absent, the listed price of each VM type, or what all workloads were published
    with."""

    _known = {"define": "define", "policies": "policies"}
    _tables = {}


class Reconsideration(Keys):
    """When a strategy chooses again."""

    every_h: float = key(default=None)
    """Hours after which it does without an event."""
    on: Sequence[Literal['preemption', 'price', 'capacity']] = key(default=None)
    """Events after which it does; all when absent."""

    _known = {"every_h": "every_h", "on": "on"}
    _tables = {}


class Search(Keys):
    """Strategies and objectives."""

    fleet: bool = key(default=None)
    """Whether the jobs of the grid arrive one after the other, in an order drawn per replica, and a strategy knows what its own searches of
    those before saw; all runs of other jobs are known when absent."""
    known_runs: Union[int, Sequence[int], Dict[str, Any]] = key(default=None)
    """How many runs of other jobs of the grid strategies know, drawn at random; all when absent."""
    objectives: Sequence[Literal['time', 'cost', 'knee']] = key(default=None)
    """Objectives; all when absent."""
    reconsider: Reconsideration = key(default=None)
    """When strategies choose again while the job runs; only under `[policy]`, with `job.work`."""
    repeats: Union[int, Sequence[int], Dict[str, Any]] = key(default=None)
    """How often the job will be run: strategies know it, and results say what all runs come to with their search; once when absent."""
    stored: Sequence[str] = key(default=None)
    """Workloads whose earlier runs the model of all jobs averages; those of this scenario, and those of the library on the same VM types,
    when absent."""
    strategies: Sequence[str] = key(default=None)
    """Names of strategies; all that can be used on the workloads when absent."""

    _known = {"fleet": "fleet", "known_runs": "known_runs", "objectives": "objectives", "reconsider": "reconsider", "repeats": "repeats", "stored": "stored", "strategies": "strategies"}
    _tables = {"reconsider": Reconsideration}


class Spot(Keys):
    """VMs that the provider may take away."""

    checkpoint: Union[Literal['none', 'young', 'young-daly', 'searched', 'dynamic'], Dict[str, Any]] = key(default=None)
    """When checkpoints are written; by Young and Daly when absent, where a loss goes back to the last."""
    checkpoint_mb: Union[float, Sequence[float], Dict[str, Any]] = key(default=None)
    """MB of one, which then takes as long as was measured for it."""
    checkpoint_on_notice: bool = key(default=None)
    """Whether a last checkpoint is written when the provider warns of a loss. [false]"""
    checkpoint_write_s: Union[float, Sequence[float], Dict[str, Any]] = key(default=None)
    """Seconds that one takes to write; as measured when absent."""
    chief: Literal['hands-over', 'goes-back', 'ends-the-run'] = key(default=None)
    """What the loss of the chief, the first worker, means."""
    cold_join_s: Union[float, Sequence[float], Dict[str, Any]] = key(default=None)
    """Seconds that a new VM takes, once it runs, to join the others; as measured when absent."""
    exponential_mean_h: Union[float, Sequence[float], Dict[str, Any]] = key(default=None)
    """Mean hours of lives that are exponential."""
    fewest_workers: Union[int, Sequence[int], Dict[str, Any]] = key(default=None)
    """Fewest workers that train; 1 when absent."""
    keeps: Literal['checkpoint', 'steps'] = key(default=None)
    """What a loss leaves of the work."""
    lifetime: str = key(default=None)
    """Name of a model of `scavsim list lifetimes`; or `exponential_mean_h`."""
    notice_s: Union[float, Sequence[float], Dict[str, Any]] = key(default=None)
    """Seconds from the warning to the loss; what the lifetimes say when absent."""
    on_loss: Literal['wait', 'go-on', 'shrink'] = key(default=None)
    """What happens to the place of a lost VM."""
    replacement_s: Union[float, Sequence[float], Dict[str, Any]] = key(default=None)
    """Seconds from a loss until another VM runs in its place; `start_up_s` when absent."""
    restart: str = key(default=None)
    """Seconds to join and to go on, as measured for a model such as `resnet-32`."""
    start_up: str = key(default=None)
    """Seconds until another VM runs, at the start of the job too, as measured for spot VMs such as `gcp-k80-us-east1`."""
    start_up_s: Union[float, Sequence[float], Dict[str, Any]] = key(default=None)
    """Seconds until a spot VM runs; when absent `cluster.start_up_s`, or as measured where that is absent too."""
    warm_restart_s: Union[float, Sequence[float], Dict[str, Any]] = key(default=None)
    """Seconds that all take to go on from a checkpoint; what the workload says when absent, of a plan as measured."""

    _known = {"checkpoint": "checkpoint", "checkpoint_mb": "checkpoint_mb", "checkpoint_on_notice": "checkpoint_on_notice", "checkpoint_write_s": "checkpoint_write_s", "chief": "chief", "cold_join_s": "cold_join_s", "exponential_mean_h": "exponential_mean_h", "fewest_workers": "fewest_workers", "keeps": "keeps", "lifetime": "lifetime", "notice_s": "notice_s", "on_loss": "on_loss", "replacement_s": "replacement_s", "restart": "restart", "start_up": "start_up", "start_up_s": "start_up_s", "warm_restart_s": "warm_restart_s"}
    _tables = {}


class Staleness(Keys):
    """How a workload suffers from stale gradients: steps × (1 + a·mean staleness). The default, a = 0, is what a protocol costs if
    staleness is harmless. Staleness is counted in samples under every protocol: those of others that were applied between the reading of
    the parameters and the update, over the global batch B."""

    per_missed_batch: float = key(default=None)
    """a: the fraction of further steps per global batch of others' samples that the mean gradient has missed."""

    _known = {"per_missed_batch": "per_missed_batch"}
    _tables = {}


class Starts(Keys):
    """Where lives begin in the traces."""

    at_s: Sequence[float] = key(default=None)
    """At these seconds."""
    spread: int = key(default=None)
    """This many, evenly over the traces."""

    _known = {"at_s": "at_s", "spread": "spread"}
    _tables = {}


class BoStepTimeSettings(Keys):
    """Settings of Bayesian optimisation of the step time."""

    budget: int = key(default=None)
    """Probes, whatever is expected of further ones; without it 8, under the objective `time` 15, or fewer by `stop_below`."""
    first: int = key(default=None)
    """Probes before anything is modelled. [3]"""
    probe_steps: int = key(default=None)
    """Steps per probe; the workload's own figure when absent."""
    stop_below: float = key(default=None)
    """The search stops when less than this share of the best value is expected to be gained. [0.001]"""

    _known = {"budget": "budget", "first": "first", "probe_steps": "probe_steps", "stop_below": "stop_below"}
    _tables = {}


class CheapestSettings(Keys):
    """Settings of the strategy `cheapest`."""

    budget: int = key(default=None)
    """Runs at the lowest prices, of which it takes the best; without it, it looks at none."""

    _known = {"budget": "budget"}
    _tables = {}


class CherryPickSettings(Keys):
    """Settings of CherryPick."""

    budget: int = key(default=None)
    """Runs, whatever is expected of further ones; without it, its own rule says when to stop."""
    first: int = key(default=None)
    """Runs before anything is modelled. [3]"""
    least: int = key(default=None)
    """Runs before its own rule may stop it. [6]"""
    stop_below: float = key(default=None)
    """The search stops when less than this share of the best value is expected to be gained. [0.1]"""

    _known = {"budget": "budget", "first": "first", "least": "least", "stop_below": "stop_below"}
    _tables = {}


class CollaborativeFilteringSettings(Keys):
    """Settings of collaborative filtering."""

    budget: int = key(default=None)
    """Runs of this job, drawn at random, before one more of what looks best. [2]"""

    _known = {"budget": "budget"}
    _tables = {}


class CoordinateDescentSettings(Keys):
    """Settings of coordinate descent."""

    cold_start_steps: int = key(default=None)
    """Steps before the first probe; the workload's own figure when absent."""
    epochs_from: Literal['pooled', 'fewest-workers', 'most-workers'] = key(default=None)
    """Which earlier runs give the epoch line. ["pooled"]"""
    probe_steps: int = key(default=None)
    """Steps per probe; the workload's own figure when absent."""
    start: Literal['smallest', 'largest-batch'] = key(default=None)
    """Where the search starts and settles. ["smallest"]"""

    _known = {"cold_start_steps": "cold_start_steps", "epochs_from": "epochs_from", "probe_steps": "probe_steps", "start": "start"}
    _tables = {}


class DearestSettings(Keys):
    """Settings of the strategy `dearest`."""

    budget: int = key(default=None)
    """Runs at the highest prices, of which it takes the best; without it, it looks at none."""

    _known = {"budget": "budget"}
    _tables = {}


class DefaultSettings(Keys):
    """Settings of the strategy `default`. Absent fields are the smallest of the first VM type."""

    batch: int = key(default=None)
    """Global batch B."""
    workers: int = key(default=None)
    """Worker count K."""

    _known = {"batch": "batch", "workers": "workers"}
    _tables = {}


class EiPerCostSettings(Keys):
    """Settings of expected improvement per cost."""

    budget: int = key(default=None)
    """Runs, whatever is expected of further ones; without it, its own rule says when to stop."""
    give_up: bool = key(default=None)
    """Whether a run is given up when it has come to the best value so far. [true]"""
    least: int = key(default=None)
    """Runs before its own rule may stop it. [6]"""
    stop_below: float = key(default=None)
    """The search stops when less than this share of the best value is expected to be gained. [0.1]"""

    _known = {"budget": "budget", "give_up": "give_up", "least": "least", "stop_below": "stop_below"}
    _tables = {}


class ErnestSettings(Keys):
    """Settings of Ernest."""

    budget: int = key(default=None)
    """Experiments on each VM type; without it one more than there are distinct coefficients."""
    probe_steps: int = key(default=None)
    """Steps per probe; the workload's own figure when absent."""

    _known = {"budget": "budget", "probe_steps": "probe_steps"}
    _tables = {}


class FullSettings(Keys):
    """Settings of full search."""

    cold_start_steps: int = key(default=None)
    """Steps before the first probe; the workload's own figure when absent."""
    earlier_runs: bool = key(default=None)
    """Whether earlier runs of the workload give the epoch line; without, epochs are θ·(γ/K) with θ of its own run. [false]"""
    epochs_from: Literal['pooled', 'fewest-workers', 'most-workers'] = key(default=None)
    """Which earlier runs give the epoch line. ["pooled"]"""
    noise_by: Literal['average', 'workers'] = key(default=None)
    """Whose noise tells the epochs of a configuration: what was read there alone, or the average over worker counts with its batch.
    ["average"]"""
    probe_steps: int = key(default=None)
    """Steps per probe; the workload's own figure when absent."""
    progress: float = key(default=None)
    """Share of the way to the target that is trained to learn θ. [0.01]"""
    start: Literal['smallest', 'largest-batch'] = key(default=None)
    """Where the search starts and settles. ["smallest"]"""

    _known = {"cold_start_steps": "cold_start_steps", "earlier_runs": "earlier_runs", "epochs_from": "epochs_from", "noise_by": "noise_by", "probe_steps": "probe_steps", "progress": "progress", "start": "start"}
    _tables = {}


class LatinHypercubeSettings(Keys):
    """Settings of Latin hypercube search."""

    budget: int = key(default=None)
    """Configurations run to the target; at most as many as there are. [6]"""

    _known = {"budget": "budget"}
    _tables = {}


class LynceusSettings(Keys):
    """Settings of Lynceus."""

    budget: int = key(default=None)
    """Runs, whatever they take; without it, `spend` says when to stop."""
    discount: float = key(default=None)
    """What a run that comes later counts, over the one before it. [0.9]"""
    first_share: float = key(default=None)
    """Share of the space that is run before anything is modelled; at least 2 configurations and at most 30, or half of `budget`. [0.03]"""
    give_up: bool = key(default=None)
    """Whether a run is given up when it has come to the best value so far. [true]"""
    lookahead: int = key(default=None)
    """Runs that it looks ahead; with 0 it asks for expected improvement over what a run takes. [1]"""
    model: Literal['gaussian-process', 'bagged-trees'] = key(default=None)
    """What is believed of runs. ["gaussian-process"]"""
    spend: float = key(default=None)
    """What the whole search may take, over what its first runs took. [3.0]"""

    _known = {"budget": "budget", "discount": "discount", "first_share": "first_share", "give_up": "give_up", "lookahead": "lookahead", "model": "model", "spend": "spend"}
    _tables = {}


class NoSearchSettings(Keys):
    """Settings of the model of all stored workloads, the own one included."""

    epochs_from: Literal['pooled', 'fewest-workers', 'most-workers'] = key(default=None)
    """Which runs give each workload's epoch line. ["pooled"]"""
    noise_by: Literal['average', 'workers'] = key(default=None)
    """One noise line for all worker counts, or one per worker count. ["average"]"""
    step_fit: Literal['whole', 'split'] = key(default=None)
    """How the step plane is put through each workload's stored steps. ["whole"]"""

    _known = {"epochs_from": "epochs_from", "noise_by": "noise_by", "step_fit": "step_fit"}
    _tables = {}


class LeaveOutSettings(Keys):
    """Settings of the model of all stored workloads but the own one."""

    epochs_from: Literal['pooled', 'fewest-workers', 'most-workers'] = key(default=None)
    """Which runs give each workload's epoch line. ["pooled"]"""
    noise_by: Literal['average', 'workers'] = key(default=None)
    """One noise line for all worker counts, or one per worker count. ["average"]"""
    step_fit: Literal['whole', 'split'] = key(default=None)
    """How the step plane is put through each workload's stored steps. ["whole"]"""

    _known = {"epochs_from": "epochs_from", "noise_by": "noise_by", "step_fit": "step_fit"}
    _tables = {}


class OneRunSettings(Keys):
    """Settings of a search by a newcomer."""

    earlier_run: Literal['smallest', 'none'] = key(default=None)
    """Which earlier run of the job there is. ["smallest"]"""
    extremes: Literal['corners', 'three', 'diagonal'] = key(default=None)
    """Which extreme points are probed. ["corners"]"""
    probe_steps: int = key(default=None)
    """Steps per probe; the workload's own figure when absent."""
    step_fit: Literal['whole', 'split'] = key(default=None)
    """How the step plane is put through the probes. ["whole"]"""

    _known = {"earlier_run": "earlier_run", "extremes": "extremes", "probe_steps": "probe_steps", "step_fit": "step_fit"}
    _tables = {}


class PartialSettings(Keys):
    """Settings of partial search."""

    cold_start_steps: int = key(default=None)
    """Steps before the first probe; the workload's own figure when absent."""
    earlier_runs: bool = key(default=None)
    """Whether earlier runs of the workload give the epoch line; without, epochs are θ·(γ/K) with θ of its own run. [false]"""
    epochs_from: Literal['pooled', 'fewest-workers', 'most-workers'] = key(default=None)
    """Which earlier runs give the epoch line. ["pooled"]"""
    extremes: Literal['corners', 'three', 'diagonal'] = key(default=None)
    """Which extreme points are probed. ["corners"]"""
    noise_at: Literal['probes', 'fewest-workers', 'most-workers'] = key(default=None)
    """At which of them the noise is read. ["probes"]"""
    noise_by: Literal['average', 'workers'] = key(default=None)
    """One noise line for all worker counts, or one per worker count. ["average"]"""
    probe_steps: int = key(default=None)
    """Steps per probe; the workload's own figure when absent."""
    progress: float = key(default=None)
    """Share of the way to the target that is trained, where the last probe was, to learn θ. [0.01]"""
    start: Literal['smallest', 'largest-batch'] = key(default=None)
    """Where the search starts and settles. ["smallest"]"""
    step_fit: Literal['whole', 'split'] = key(default=None)
    """How the step plane is put through the probes. ["whole"]"""

    _known = {"cold_start_steps": "cold_start_steps", "earlier_runs": "earlier_runs", "epochs_from": "epochs_from", "extremes": "extremes", "noise_at": "noise_at", "noise_by": "noise_by", "probe_steps": "probe_steps", "progress": "progress", "start": "start", "step_fit": "step_fit"}
    _tables = {}


class PlannerSettings(Keys):
    """Settings of the strategy `planner`."""

    passes: int = key(default=None)
    """Passes over every layer, at every degree and micro-batch, on one VM of each type. [10]"""

    _known = {"passes": "passes"}
    _tables = {}


class RandomSettings(Keys):
    """Settings of random search."""

    cold_start_steps: int = key(default=None)
    """Steps before the first probe; the workload's own figure when absent."""
    epochs_from: Literal['pooled', 'fewest-workers', 'most-workers'] = key(default=None)
    """Which earlier runs give the epoch line. ["pooled"]"""
    probe_steps: int = key(default=None)
    """Steps per probe; the workload's own figure when absent."""
    probes: int = key(default=None)
    """Configurations probed, all different; at most as many as there are. [4]"""
    start: Literal['smallest', 'largest-batch'] = key(default=None)
    """Where the search starts and settles. ["smallest"]"""

    _known = {"cold_start_steps": "cold_start_steps", "epochs_from": "epochs_from", "probe_steps": "probe_steps", "probes": "probes", "start": "start"}
    _tables = {}


class RandomForestSettings(Keys):
    """Settings of Bayesian optimisation with a random forest."""

    budget: int = key(default=None)
    """Runs. [10]"""
    random_share: float = key(default=None)
    """Share of the runs that are drawn at random, after the first. [0.084]"""

    _known = {"budget": "budget", "random_share": "random_share"}
    _tables = {}


class RgpeSettings(Keys):
    """Settings of ranking-weighted ensembles."""

    budget: int = key(default=None)
    """Runs, whatever is expected of further ones; without it, its own rule says when to stop."""
    first: int = key(default=None)
    """Runs from all parts of the space, before anything is ranked. [3]"""
    least: int = key(default=None)
    """Runs before its own rule may stop it. [6]"""
    stop_below: float = key(default=None)
    """The search stops when less than this share of the best value is expected to be gained. [0.1]"""

    _known = {"budget": "budget", "first": "first", "least": "least", "stop_below": "stop_below"}
    _tables = {}


class SameJobSettings(Keys):
    """Settings of the stored model of the same job."""

    epochs_from: Literal['pooled', 'fewest-workers', 'most-workers'] = key(default=None)
    """Which earlier runs give the epoch line. ["pooled"]"""
    noise_by: Literal['average', 'workers'] = key(default=None)
    """One noise line for all worker counts, or one per worker count. ["average"]"""
    step_fit: Literal['whole', 'split'] = key(default=None)
    """How the step plane is put through the stored steps. ["whole"]"""
    stored: Literal['models', 'table'] = key(default=None)
    """What the earlier runs stored. ["models"]"""

    _known = {"epochs_from": "epochs_from", "noise_by": "noise_by", "step_fit": "step_fit", "stored": "stored"}
    _tables = {}


class SriftyLikeSettings(Keys):
    """Settings of a search by measured compute and learned communication."""

    probe_steps: int = key(default=None)
    """Steps per probe; the workload's own figure when absent."""

    _known = {"probe_steps": "probe_steps"}
    _tables = {}


class SuccessiveHalvingSettings(Keys):
    """Settings of successive halving."""

    brackets: int = key(default=None)
    """Searches that follow each other, each beginning one rung higher: Hyperband. [1]"""
    budget: int = key(default=None)
    """Configurations of the first rung; all when absent."""

    _known = {"brackets": "brackets", "budget": "budget"}
    _tables = {}


class TrimtunerLikeSettings(Keys):
    """Settings of Bayesian optimisation over shares of a run."""

    budget: int = key(default=None)
    """Runs of any share, after which only whole ones follow, and only until one reaches the target. [60]"""
    first: int = key(default=None)
    """Configurations of the first runs. [8]"""
    give_up: bool = key(default=None)
    """Whether a whole run is given up when it has come to the value of the best one. [true]"""
    stop_below: float = key(default=None)
    """Share of the best run below which it stops: what is still expected to be gained. [0.1]"""

    _known = {"budget": "budget", "first": "first", "give_up": "give_up", "stop_below": "stop_below"}
    _tables = {}


class ValueOfInformationSettings(Keys):
    """Settings of search by the value of information."""

    budget: int = key(default=None)
    """Runs or looks at most, as long as one reached the target; without it, its own rule alone says when to stop."""
    probe_steps: int = key(default=None)
    """Steps per look; the workload's own figure when absent."""

    _known = {"budget": "budget", "probe_steps": "probe_steps"}
    _tables = {}


class Settings(Keys):
    """Settings of all strategies; a table per strategy in a scenario, all optional."""

    average_best: Dict[str, Any] = key(default=None)
    """Settings of the strategy `average-best`."""
    bo_step_time: BoStepTimeSettings = key(default=None)
    """Settings of the strategy `bo-step-time`."""
    cheapest: CheapestSettings = key(default=None)
    """Settings of the strategy `cheapest`."""
    cherrypick: CherryPickSettings = key(default=None)
    """Settings of the strategy `cherrypick`."""
    collaborative_filtering: CollaborativeFilteringSettings = key(default=None)
    """Settings of the strategy `collaborative-filtering`."""
    coordinate_descent: CoordinateDescentSettings = key(default=None)
    """Settings of the strategy `coordinate-descent`."""
    dearest: DearestSettings = key(default=None)
    """Settings of the strategy `dearest`."""
    default: DefaultSettings = key(default=None)
    """Settings of the strategy `default`."""
    ei_per_cost: EiPerCostSettings = key(default=None)
    """Settings of the strategy `ei-per-cost`."""
    ernest: ErnestSettings = key(default=None)
    """Settings of the strategy `ernest`."""
    full: FullSettings = key(default=None)
    """Settings of the strategy `full`."""
    latin_hypercube: LatinHypercubeSettings = key(default=None)
    """Settings of the strategy `latin-hypercube`."""
    lynceus: LynceusSettings = key(default=None)
    """Settings of the strategy `lynceus`."""
    no_search: NoSearchSettings = key(default=None)
    """Settings of the strategy `no-search`."""
    no_search_leave_out: LeaveOutSettings = key(default=None)
    """Settings of the strategy `no-search-leave-out`."""
    one_run: OneRunSettings = key(default=None)
    """Settings of the strategy `one-run`."""
    online: PartialSettings = key(default=None)
    """Settings of the strategy `online`."""
    partial: PartialSettings = key(default=None)
    """Settings of the strategy `partial`."""
    planner: PlannerSettings = key(default=None)
    """Settings of the strategy `planner`."""
    random: RandomSettings = key(default=None)
    """Settings of the strategy `random`."""
    random_forest: RandomForestSettings = key(default=None)
    """Settings of the strategy `random-forest`."""
    rgpe: RgpeSettings = key(default=None)
    """Settings of the strategy `rgpe`."""
    same_job: SameJobSettings = key(default=None)
    """Settings of the strategy `same-job`."""
    srifty_like: SriftyLikeSettings = key(default=None)
    """Settings of the strategy `srifty-like`."""
    successive_halving: SuccessiveHalvingSettings = key(default=None)
    """Settings of the strategy `successive-halving`."""
    trimtuner_like: TrimtunerLikeSettings = key(default=None)
    """Settings of the strategy `trimtuner-like`."""
    value_of_information: ValueOfInformationSettings = key(default=None)
    """Settings of the strategy `value-of-information`."""
    value_of_information_history: Dict[str, Any] = key(default=None)
    """Settings of the strategy `value-of-information-history`."""

    _known = {"average_best": "average-best", "bo_step_time": "bo-step-time", "cheapest": "cheapest", "cherrypick": "cherrypick", "collaborative_filtering": "collaborative-filtering", "coordinate_descent": "coordinate-descent", "dearest": "dearest", "default": "default", "ei_per_cost": "ei-per-cost", "ernest": "ernest", "full": "full", "latin_hypercube": "latin-hypercube", "lynceus": "lynceus", "no_search": "no-search", "no_search_leave_out": "no-search-leave-out", "one_run": "one-run", "online": "online", "partial": "partial", "planner": "planner", "random": "random", "random_forest": "random-forest", "rgpe": "rgpe", "same_job": "same-job", "srifty_like": "srifty-like", "successive_halving": "successive-halving", "trimtuner_like": "trimtuner-like", "value_of_information": "value-of-information", "value_of_information_history": "value-of-information-history"}
    _tables = {"bo_step_time": BoStepTimeSettings, "cheapest": CheapestSettings, "cherrypick": CherryPickSettings, "collaborative_filtering": CollaborativeFilteringSettings, "coordinate_descent": CoordinateDescentSettings, "dearest": DearestSettings, "default": DefaultSettings, "ei_per_cost": EiPerCostSettings, "ernest": ErnestSettings, "full": FullSettings, "latin_hypercube": LatinHypercubeSettings, "lynceus": LynceusSettings, "no_search": NoSearchSettings, "no_search_leave_out": LeaveOutSettings, "one_run": OneRunSettings, "online": PartialSettings, "partial": PartialSettings, "planner": PlannerSettings, "random": RandomSettings, "random_forest": RandomForestSettings, "rgpe": RgpeSettings, "same_job": SameJobSettings, "srifty_like": SriftyLikeSettings, "successive_halving": SuccessiveHalvingSettings, "trimtuner_like": TrimtunerLikeSettings, "value_of_information": ValueOfInformationSettings}
    _is_open = True

    if TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any: ...
        def __setattr__(self, name: str, value: Any) -> None: ...


class Drift(Keys):
    """Slow change of the network: one factor on the communication time per period."""

    period_s: Union[float, Sequence[float], Dict[str, Any]] = key(default=None)
    """Seconds that a factor lasts."""
    sigma: Union[float, Sequence[float], Dict[str, Any]] = key(default=None)
    """σ of the factor."""

    _known = {"period_s": "period_s", "sigma": "sigma"}
    _tables = {}


class Straggler(Keys):
    """Workers that now and then take much longer."""

    factor: Union[float, Sequence[float], Dict[str, Any]] = key(default=None)
    """How many times as long."""
    probability: Union[float, Sequence[float], Dict[str, Any]] = key(default=None)
    """Probability per worker and step."""

    _known = {"factor": "factor", "probability": "probability"}
    _tables = {}


class Variation(Keys):
    """What varies at random. Every factor is log-normal with mean 1."""

    drift: Drift = key(default=None)
    """Slow change of the network."""
    epoch_cv: Union[float, Sequence[float], Dict[str, Any]] = key(default=None)
    """Coefficient of variation of the steps to the target per replica and configuration."""
    noise_curve: bool = key(default=None)
    """Whether probes read the noise at that point of training, instead of its value at the target. [false]"""
    noise_cv: Union[float, Sequence[float], Dict[str, Any]] = key(default=None)
    """Coefficient of variation of the SGD noise read in one step."""
    placement_sigma: Union[float, Sequence[float], Dict[str, Any]] = key(default=None)
    """σ of one factor on the step time per replica and configuration."""
    step_cv: Union[float, Sequence[float], Dict[str, Any]] = key(default=None)
    """Coefficient of variation of one worker's compute time in one step."""
    straggler: Straggler = key(default=None)
    """Workers that now and then take much longer."""
    vm_sigma: Union[float, Sequence[float], Dict[str, Any]] = key(default=None)
    """σ of one factor on the compute time per VM and replica."""

    _known = {"drift": "drift", "epoch_cv": "epoch_cv", "noise_curve": "noise_curve", "noise_cv": "noise_cv", "placement_sigma": "placement_sigma", "step_cv": "step_cv", "straggler": "straggler", "vm_sigma": "vm_sigma"}
    _tables = {"drift": Drift, "straggler": Straggler}


class Vm(Keys):
    """A VM type that was not measured and stands in for one that was; with several values, all their combinations."""

    compute_scale: Union[float, Sequence[float], Dict[str, Any]] = key(default=None)
    """Compute time of the VM type over that of the measured type; 1 when absent."""
    gpus: int = key(default=None)
    """GPUs, for prices by resource."""
    knee: float = key(default=None)
    """Samples of a worker beyond which its throughput falls, likewise."""
    like: str = key(default=None)
    """The measured VM type; none for VMs of a measured grid."""
    memory_gib: Union[float, Sequence[float], Dict[str, Any]] = key(default=None)
    """Memory in GiB, shared by the workers on the VM: it limits the local batch."""
    network_scale: Union[float, Sequence[float], Dict[str, Any]] = key(default=None)
    """Communication time of the VM type over that of the measured type; 1 when absent."""
    size: float = key(default=None)
    """Cores, or FLOPS, of a worker, where the workload has a law of its time by them; those of the measured type when absent."""
    usd_per_hour: Union[float, Sequence[float], Dict[str, Any]] = key(default=None)
    """USD per hour on demand, for prices by the catalogue."""
    vcpu: float = key(default=None)
    """Virtual CPUs, for prices by resource."""

    _known = {"compute_scale": "compute_scale", "gpus": "gpus", "knee": "knee", "like": "like", "memory_gib": "memory_gib", "network_scale": "network_scale", "size": "size", "usd_per_hour": "usd_per_hour", "vcpu": "vcpu"}
    _tables = {}


class Scenario(Keys):
    """A scenario. Keys that are not set have their defaults."""

    antithetic: bool = key(default=None)
    """Whether replicas come in pairs of mirrored luck (antithetic variates): narrower intervals of what grows or falls with luck.
    [false]"""
    bag: Bag = key(default=None)
    """A bag of independent jobs, instead of both."""
    cluster: Cluster = key(default=None)
    """The configurations to choose from."""
    elastic: Elastic = key(default=None)
    """Growing and shrinking with the price of spot VMs."""
    failures: Failures = key(default=None)
    """Machines that fail though nobody takes them away; none do when absent. For `parallel`."""
    fidelity: Literal['event', 'fast'] = key(default=None)
    """How finely runs are simulated. ["fast"]"""
    grid: str = key(default=None)
    """Name of an embedded measured grid, or path of a grid's folder relative to this file, instead of workloads."""
    include: Union[str, Sequence[str]] = key(default=None)
    """Scenario files whose keys hold where this one sets none, relative to this file; of several, a later one wins."""
    job: Job = key(default=None)
    """The job that policies run."""
    jobs: Sequence[str] = key(default=None)
    """Jobs of the grid; those that it takes by default when absent."""
    kind: Dict[str, Union[Kind, Dict[str, Any]]] = key(default=None)
    """Kinds of clusters, by name: unlike workers, markets, parameter servers of their own."""
    limits: Limits = key(default=None)
    """What no choice may exceed."""
    market: Market = key(default=None)
    """The market that policies run it on."""
    most_replicas: int = key(default=None)
    """With `precision`: replicas at most; 100,000 when absent."""
    name: str = key(default=None)
    """Name in results; the file's name when absent."""
    parallel: Parallel = key(default=None)
    """A model that is cut over GPUs, instead of all of these."""
    policy: PolicySettings = key(default=None)
    """Policies that decide during a run, instead of all of these, with their settings."""
    precision: float = key(default=None)
    """Half the 95 % interval of mean net overheads at most, as a fraction: there are as many replicas as that takes, `replicas` at least.
    When absent, there are `replicas`."""
    pricing: Pricing = key(default=None)
    """Pricing policies."""
    replicas: int = key(default=None)
    """Replicas per combination; 1 when absent."""
    search: Search = key(default=None)
    """Strategies and objectives."""
    seed: int = key(default=None)
    """Seed of all random streams. Same scenario, same seed, same bytes. [0]"""
    spot: Spot = key(default=None)
    """VMs that the provider may take away; none when absent."""
    staleness: Staleness = key(default=None)
    """What stale gradients cost, where the workload does not say."""
    starts: Starts = key(default=None)
    """Where lives of the job begin in the market's traces; 20 evenly over them when absent."""
    strategy: Settings = key(default=None)
    """Settings of single strategies, only to change a default."""
    sync: Union[Literal['bsp'], Dict[str, Any]] = key(default=None)
    """How workers come together, where their kind does not say."""
    sync_of: Dict[str, Union[Literal['bsp'], Dict[str, Any]]] = key(default=None)
    """How workers come together on single workloads, by name."""
    unset: Sequence[str] = key(default=None)
    """Keys of included files that do not hold, with dots: `spot.lifetime`. Where one way of saying something is to be replaced by
    another."""
    variation: Variation = key(default=None)
    """What varies at random; all off when absent."""
    vm: Dict[str, Union[Vm, Dict[str, Any]]] = key(default=None)
    """VM types that were not measured, by name."""
    workloads: Sequence[str] = key(default=None)
    """Names of embedded workloads, or paths of workload folders relative to this file."""

    _known = {"antithetic": "antithetic", "bag": "bag", "cluster": "cluster", "elastic": "elastic", "failures": "failures", "fidelity": "fidelity", "grid": "grid", "include": "include", "job": "job", "jobs": "jobs", "kind": "kind", "limits": "limits", "market": "market", "most_replicas": "most_replicas", "name": "name", "parallel": "parallel", "policy": "policy", "precision": "precision", "pricing": "pricing", "replicas": "replicas", "search": "search", "seed": "seed", "spot": "spot", "staleness": "staleness", "starts": "starts", "strategy": "strategy", "sync": "sync", "sync_of": "sync_of", "unset": "unset", "variation": "variation", "vm": "vm", "workloads": "workloads"}
    _tables = {"bag": Bag, "cluster": Cluster, "elastic": Elastic, "failures": Failures, "job": Job, "limits": Limits, "market": Market, "parallel": Parallel, "policy": PolicySettings, "pricing": Pricing, "search": Search, "spot": Spot, "staleness": Staleness, "starts": Starts, "strategy": Settings, "variation": Variation}
