"""Scenarios as objects: every key an attribute with its type and what it is, so that editors and notebooks complete them.

    from scavsim.scenario import Cluster, Scenario, Search

    scenario = Scenario(workloads=["scavenger-resnet18"], cluster=Cluster(workers=[8, 16]))
    scenario.search.strategies = ["oracle", "random"]
    result = scavsim.run(scenario)

Written by `tools/scenario_classes.py` from `docs/scenario.schema.json`; not to be changed by hand.
"""

from __future__ import annotations

from typing import Any, Dict, List, Literal, Sequence, Union

from ._keys import Keys, key

__all__ = [
    "Bag", "BoStepTimeSettings", "Bounds", "Cause", "CheapestSettings", "CherryPickSettings", "Cluster", "CollaborativeFilteringSettings",
    "CoordinateDescentSettings", "DearestSettings", "DefaultSettings", "Drift", "EiPerCostSettings", "Elastic", "ErnestSettings", "Errors",
    "Exclusion", "Failures", "FullSettings", "Generation", "Gpu", "JobTime", "Kind", "LatinHypercubeSettings", "LeaveOutSettings", "Limits",
    "LynceusSettings", "Model", "NoSearchSettings", "Node", "OneRunSettings", "OnlineSettings", "Parallel", "PartialSettings",
    "PlannerSettings", "PolicyFile", "Pricing", "RandomForestSettings", "RandomSettings", "Reaction", "ReactionCosts", "Runtime",
    "SameJobSettings", "Scenario", "Search", "Servers", "Settings", "Spot", "SriftyLikeSettings", "Staleness", "Straggler",
    "SuccessiveHalvingSettings", "Surrogate", "TrimtunerLikeSettings", "ValueOfInformationSettings", "Variation", "Vm",
]


class JobTime(Keys):
    """Mean time of a job on VMs of a type."""

    mean_s: float = key()
    """Mean seconds."""
    vm: str = key()
    """The type."""
    vms_per_job: int = key()
    """VMs of a job."""

    _known = {"mean_s": "mean_s", "vm": "vm", "vms_per_job": "vms_per_job"}
    _tables = {}


class Surrogate(Keys):
    """A model that takes the place of jobs."""

    after_jobs: Union[int, Sequence[int], Dict[str, Any]] = key()
    """Jobs that it learns from."""
    result_s: Union[float, Sequence[float], Dict[str, Any]] = key()
    """Seconds of each result that it gives."""
    train_s: Union[float, Sequence[float], Dict[str, Any]] = key()
    """Seconds that it then takes to train, on the VMs of one job."""

    _known = {"after_jobs": "after_jobs", "result_s": "result_s", "train_s": "train_s"}
    _tables = {}


class Bag(Keys):
    """A bag of independent jobs of one kind on VMs that may be lost."""

    dispatch_lag_s: Union[float, Sequence[float], Dict[str, Any]] = key()
    """Seconds from the end of a job until the next begins on its slot; 0 when absent."""
    head_vm: str = key()
    """VM type of a head node, rented on demand for the whole bag; none when absent."""
    job_cv: Union[float, Sequence[float], Dict[str, Any]] = key()
    """Coefficient of variation of the time of a job, which is log-normal; 0 when absent."""
    job_times: Sequence[Union[JobTime, Dict[str, Any]]] = key()
    """Mean time of a job, for each VM type and number of VMs that it may run on."""
    jobs: Union[int, Sequence[int], Dict[str, Any]] = key()
    """Jobs that are submitted."""
    keep_spares_s: Union[float, Sequence[float], Dict[str, Any]] = key()
    """Seconds that a VM without work is kept; 3600 when absent."""
    lifetimes: Dict[str, str] = key()
    """Names of models of `scavsim list lifetimes` by VM type, in place of that of `[spot]`."""
    losses: Dict[str, Any] = key()
    """Losses that are given, in place of those by `[spot]`."""
    name: str = key()
    """What it is called in results, in place of a workload; `bag` when absent."""
    notice: Union[Literal['at-once', 'logged'], Dict[str, Any]] = key()
    """When a loss is noticed."""
    parallel_jobs: Union[Literal['measured'], int, Sequence[int], Dict[str, Any]] = key()
    """Jobs side by side: slots; 1 when absent."""
    rerun: bool = key()
    """Whether a job that lost a VM is run again; `true` when absent."""
    reuse: Literal['by-age', 'always', 'never'] = key()
    """Whether a VM that has run a job gets the next."""
    start_stagger_s: Union[float, Sequence[float], Dict[str, Any]] = key()
    """Seconds by which each slot begins after the one before; 0 when absent."""
    sufficient_share: Union[float, Sequence[float], Dict[str, Any]] = key()
    """Share of them that has to be done; 1 when absent."""
    surrogate: Union[Surrogate, Dict[str, Any]] = key()
    """A model that takes the place of jobs once it has learned from some: a formula, nothing measured."""

    _known = {"dispatch_lag_s": "dispatch_lag_s", "head_vm": "head_vm", "job_cv": "job_cv", "job_times": "job_times", "jobs": "jobs", "keep_spares_s": "keep_spares_s", "lifetimes": "lifetimes", "losses": "losses", "name": "name", "notice": "notice", "parallel_jobs": "parallel_jobs", "rerun": "rerun", "reuse": "reuse", "start_stagger_s": "start_stagger_s", "sufficient_share": "sufficient_share", "surrogate": "surrogate"}
    _tables = {"surrogate": Surrogate}


class Bounds(Keys):
    """From `min` to `max`, both included; either may be absent."""

    max: float = key()
    """Greatest value."""
    min: float = key()
    """Least value."""

    _known = {"max": "max", "min": "min"}
    _tables = {}


class Exclusion(Keys):
    """Which configurations are left out: those that meet every condition given."""

    axis: Dict[str, Union[float, str, Bounds, Dict[str, Any]]] = key()
    """Values on any axes of a measured grid, by the names of the axes."""
    batch: Union[Bounds, Dict[str, Any]] = key()
    """Global batch B."""
    local_batch: Union[Bounds, Dict[str, Any]] = key()
    """Samples per worker and step, B/K."""
    vm: str = key()
    """VM type."""
    workers: Union[Bounds, Dict[str, Any]] = key()
    """Worker count K."""

    _known = {"axis": "axis", "batch": "batch", "local_batch": "local_batch", "vm": "vm", "workers": "workers"}
    _tables = {"batch": Bounds, "local_batch": Bounds, "workers": Bounds}


class Cluster(Keys):
    """The configurations to choose from."""

    batch: Union[Literal['measured'], int, Sequence[int], Dict[str, Any]] = key()
    """Global batches B in samples."""
    exclude: Sequence[Union[Exclusion, Dict[str, Any]]] = key()
    """Configurations to leave out."""
    local_batch: Union[Literal['measured'], int, Sequence[int], Dict[str, Any]] = key()
    """Local batches b = B/K in samples, instead of global ones."""
    outside: Literal['refuse', 'leave-out', 'extrapolate'] = key()
    """What happens to configurations outside what was measured."""
    pairs: Sequence[Sequence[int]] = key()
    """Pairs of workers and batch, instead of all combinations of the two axes."""
    resize: Literal['keep-batch', 'keep-local-batch'] = key()
    """Which batch a cluster keeps when its size changes while it trains; the global one with a barrier, else the local one, when absent."""
    search: Literal['all', 'each-vm'] = key()
    """Which configurations a search chooses between."""
    start_up_s: float = key()
    """Seconds from a request of VMs until they are ready."""
    vm: Sequence[str] = key()
    """VM types, with the workers on every VM behind a slash where that is not one; all that were measured or defined when absent."""
    workers: Union[Literal['measured'], int, Sequence[int], Dict[str, Any]] = key()
    """Worker counts K."""

    _known = {"batch": "batch", "exclude": "exclude", "local_batch": "local_batch", "outside": "outside", "pairs": "pairs", "resize": "resize", "search": "search", "start_up_s": "start_up_s", "vm": "vm", "workers": "workers"}
    _tables = {}


class Elastic(Keys):
    """Growing and shrinking with the price of spot VMs."""

    fewest_vms: int = key()
    """VMs of the cluster, or of the first type of a mix, when it has shrunk."""
    grow_at: float = key()
    """Price at or below which the cluster grows to `most_vms`."""
    most_vms: int = key()
    """VMs of the cluster, or of the first type of a mix, when it has grown."""
    prices: Sequence[Sequence[Any]] = key()
    """Hours since the job began, and the price from then on over the usual one."""
    shrink_above: float = key()
    """Price above which it shrinks to `fewest_vms`."""

    _known = {"fewest_vms": "fewest_vms", "grow_at": "grow_at", "most_vms": "most_vms", "prices": "prices", "shrink_above": "shrink_above"}
    _tables = {}


class Cause(Keys):
    """A cause of failures, with how often it makes some: by GPU, by node or by switch."""

    loses: str = key()
    """What one takes with it: gpu (its node), node, switch, nothing (the job alone)."""
    name: str = key()
    """What it is called."""
    per_gpu_h: float = key()
    """Failures per GPU and hour."""
    per_node_h: float = key()
    """Failures per node and hour."""
    per_switch_h: float = key()
    """Failures per switch and hour."""

    _known = {"loses": "loses", "name": "name", "per_gpu_h": "per_gpu_h", "per_node_h": "per_node_h", "per_switch_h": "per_switch_h"}
    _tables = {}


class Failures(Keys):
    """Failures of machines that nobody takes away: an owned or reserved fleet."""

    by_hand_mean_s: Union[float, Sequence[float], Dict[str, Any]] = key()
    """Mean seconds that this takes: exponential."""
    by_hand_share: Union[float, Sequence[float], Dict[str, Any]] = key()
    """Share of failures that wait for a person."""
    causes: Sequence[Union[Cause, Dict[str, Any]]] = key()
    """Causes of one's own."""
    checkpoint: Union[Literal['none', 'young', 'young-daly', 'searched', 'dynamic'], Dict[str, Any]] = key()
    """When checkpoints are written."""
    checkpoint_write_s: float = key()
    """Seconds that one takes to write, where `parallel.checkpoint_gb_per_s` does not say."""
    detection_s: Union[float, Sequence[float], Dict[str, Any]] = key()
    """Seconds until a failure is noticed."""
    fleet: Union[str, Sequence[str], Dict[str, Any]] = key()
    """A fleet whose failures were counted: a name of `scavsim list failures`; or `causes`."""
    keeps: Literal['checkpoint', 'steps'] = key()
    """What a failure leaves of the work."""
    lemon_factor: float = key()
    """How many times as often these fail; the mean of all nodes stays as it was counted."""
    lemon_share: float = key()
    """Share of nodes that fail more often than others: lemons."""
    maintenance_every_h: float = key()
    """Hours from the end of one planned maintenance to the next."""
    maintenance_s: float = key()
    """Seconds that one takes."""
    nodes_per_switch: int = key()
    """Nodes behind a switch, which fail with it; 2 when absent."""
    replacement_s: Union[float, Sequence[float], Dict[str, Any]] = key()
    """Seconds from a failure until another node runs in the place of one that it took."""
    restart_s: Union[float, Sequence[float], Dict[str, Any]] = key()
    """Seconds that all take to go on from a checkpoint, beside reading it."""
    scale: Union[float, Sequence[float], Dict[str, Any]] = key()
    """Failures over those that were counted or said; 1 when absent."""

    _known = {"by_hand_mean_s": "by_hand_mean_s", "by_hand_share": "by_hand_share", "causes": "causes", "checkpoint": "checkpoint", "checkpoint_write_s": "checkpoint_write_s", "detection_s": "detection_s", "fleet": "fleet", "keeps": "keeps", "lemon_factor": "lemon_factor", "lemon_share": "lemon_share", "maintenance_every_h": "maintenance_every_h", "maintenance_s": "maintenance_s", "nodes_per_switch": "nodes_per_switch", "replacement_s": "replacement_s", "restart_s": "restart_s", "scale": "scale"}
    _tables = {}


class Servers(Keys):
    """VMs of parameter servers."""

    market: Literal['on-demand', 'spot'] = key()
    """On which terms they are rented."""
    vm: str = key()
    """VM type of the servers."""
    vms: int = key()
    """How many. [1]"""

    _known = {"market": "market", "vm": "vm", "vms": "vms"}
    _tables = {}


class Kind(Keys):
    """A kind of cluster."""

    availability: Dict[str, Sequence[Sequence[Any]]] = key()
    """Share of each worker's cores that is available, by VM type: hours since the job began, and the share from then on; all when
    absent."""
    batching: Union[Literal['uniform', 'static', 'by-size'], Dict[str, Any]] = key()
    """How the batches of unlike workers are set, where all wait for the slowest; equal when absent."""
    chief_market: Literal['on-demand', 'spot'] = key()
    """On which terms the VM of the first worker is, where that differs."""
    lifetime: str = key()
    """Name of a model of `scavsim list lifetimes` for its spot VMs; that of `[spot]` when absent."""
    market: Literal['on-demand', 'spot'] = key()
    """On which terms workers are rented."""
    mix: Dict[str, int] = key()
    """VM types of unlike workers, and how many workers run on each type."""
    servers: Union[Servers, Dict[str, Any]] = key()
    """VMs of parameter servers, beside those of the workers."""
    sync: Union[Literal['bsp'], Dict[str, Any]] = key()
    """How workers come together."""
    sync_of: Dict[str, Union[Literal['bsp'], Dict[str, Any]]] = key()
    """How workers of this kind come together on single workloads, by name."""
    vm: str = key()
    """VM type of all workers, with the workers on every VM behind a slash where that is not one."""

    _known = {"availability": "availability", "batching": "batching", "chief_market": "chief_market", "lifetime": "lifetime", "market": "market", "mix": "mix", "servers": "servers", "sync": "sync", "sync_of": "sync_of", "vm": "vm"}
    _tables = {"servers": Servers}


class Limits(Keys):
    """What no choice may exceed."""

    max_cost_usd: float = key()
    """Highest cost of the job in USD."""
    max_miss: float = key()
    """Share of runs that may take longer or cost more; when absent, the limits are on what is expected."""
    max_time_h: float = key()
    """Longest time to the target in hours."""
    max_workers: int = key()
    """Most workers."""

    _known = {"max_cost_usd": "max_cost_usd", "max_miss": "max_miss", "max_time_h": "max_time_h", "max_workers": "max_workers"}
    _tables = {}


class Gpu(Keys):
    """A GPU of one's own, by its data sheet."""

    generation: str = key()
    """Whose constants it has: volta, ampere, hopper, blackwell, cdna; hopper when absent."""
    link_gb_per_s: float = key()
    """10⁹ bytes per second to other GPUs of the node, both ways together."""
    memory_gb_per_s: float = key()
    """10⁹ bytes per second of its memory."""
    memory_gib: float = key()
    """Memory in GiB."""
    multiprocessors: int = key()
    """Streaming multiprocessors."""
    tflops: float = key()
    """Dense TFLOP/s at the precision that is computed with."""

    _known = {"generation": "generation", "link_gb_per_s": "link_gb_per_s", "memory_gb_per_s": "memory_gb_per_s", "memory_gib": "memory_gib", "multiprocessors": "multiprocessors", "tflops": "tflops"}
    _tables = {}


class Model(Keys):
    """A model by its numbers. Everything else follows from `layers`, `hidden` and `heads` as in GPT-2."""

    active_experts: int = key()
    """Experts that a token goes through; 2 when absent."""
    dense_layers: int = key()
    """First blocks without experts. [0]"""
    dropout: bool = key()
    """Whether scores of attention and outputs of a block are dropped at random: they are kept twice, with masks. [false]"""
    encoder: bool = key()
    """Whether tokens see those behind them, too: an encoder. [false]"""
    expert_ffn: int = key()
    """Inner width of an expert; `ffn` when absent."""
    experts: int = key()
    """Experts of a block."""
    ffn: int = key()
    """Inner width of the feed-forward part; 4 × hidden when absent."""
    gated: bool = key()
    """Whether the feed-forward part has a gate: three matrices in place of two. [false]"""
    head_width: int = key()
    """Width of a head; hidden / heads when absent."""
    heads: int = key()
    """Heads of queries. [0]"""
    hidden: int = key()
    """Values per token between blocks. [0]"""
    kv_heads: int = key()
    """Heads of keys and values; as many as of queries when absent."""
    kv_rank: int = key()
    """Width of latent keys and values."""
    layers: int = key()
    """Blocks. [0]"""
    name: str = key()
    """What it is called."""
    positions: int = key()
    """Learned positions. [0]"""
    query_rank: int = key()
    """Width of latent queries, with the three widths below."""
    rotary_width: int = key()
    """Width of a head that is rotated."""
    sequence: int = key()
    """Tokens of the sequences that it was made for; 2,048 when absent."""
    shared_experts: int = key()
    """Experts that every token goes through beside. [0]"""
    tied: bool = key()
    """Whether the head has the weights of the embedding. [false]"""
    value_width: int = key()
    """Width of a head's values."""
    vocabulary: int = key()
    """Tokens of the vocabulary. [0]"""

    _known = {"active_experts": "active_experts", "dense_layers": "dense_layers", "dropout": "dropout", "encoder": "encoder", "expert_ffn": "expert_ffn", "experts": "experts", "ffn": "ffn", "gated": "gated", "head_width": "head_width", "heads": "heads", "hidden": "hidden", "kv_heads": "kv_heads", "kv_rank": "kv_rank", "layers": "layers", "name": "name", "positions": "positions", "query_rank": "query_rank", "rotary_width": "rotary_width", "sequence": "sequence", "shared_experts": "shared_experts", "tied": "tied", "value_width": "value_width", "vocabulary": "vocabulary"}
    _tables = {}


class Node(Keys):
    """A VM type with its GPUs."""

    gpu: str = key()
    """GPU of the node, as the profile calls it; with `model`, what the VM type has when absent."""
    gpu_memory_gib: float = key()
    """Memory of one GPU."""
    gpus: int = key()
    """How many; what the catalogue says when absent."""
    markets: Sequence[Literal['on-demand', 'spot']] = key()
    """On which terms it is rented; as `markets` says when absent."""
    network_gbit_per_s: float = key()
    """Network of the node to others, with `model`; what the VM type has when absent."""
    vm: str = key()
    """The VM type, for prices."""
    zone: str = key()
    """Where it is; zones are an axis where there are several."""

    _known = {"gpu": "gpu", "gpu_memory_gib": "gpu_memory_gib", "gpus": "gpus", "markets": "markets", "network_gbit_per_s": "network_gbit_per_s", "vm": "vm", "zone": "zone"}
    _tables = {}


class ReactionCosts(Keys):
    """Costs of a reaction, in seconds."""

    group_added_s: float = key()
    """Seconds of each group of communication when VMs came; there are data + pipeline + 1 + data × pipeline. [0.0]"""
    group_lost_s: float = key()
    """Seconds of each group when VMs went. [0.0]"""
    layer_s: float = key()
    """Seconds to build a layer on its stage. [0.0]"""
    link_gb_per_s: float = key()
    """10⁹ bytes of state per second that one VM hands another; 0: at no cost. [0.0]"""
    pause_s: float = key()
    """Seconds of any reaction, in place of all others."""
    process_s: float = key()
    """Seconds to start a process. [0.0]"""
    rendezvous_s: float = key()
    """Seconds until VMs that came have met the others. [0.0]"""

    _known = {"group_added_s": "group_added_s", "group_lost_s": "group_lost_s", "layer_s": "layer_s", "link_gb_per_s": "link_gb_per_s", "pause_s": "pause_s", "process_s": "process_s", "rendezvous_s": "rendezvous_s"}
    _tables = {}


class Reaction(Keys):
    """What a job on a plan does when VMs go and come."""

    aim: Union[str, Sequence[str], Dict[str, Any]] = key()
    """What plans are compared by: throughput, liveput (what survives the losses to come); throughput when absent."""
    copying_s: float = key()
    """Seconds in which the state is copied to the hosts."""
    costs: Union[str, ReactionCosts, Dict[str, Any]] = key()
    """What that costs: `parcae`, as measured for it, or seconds of one's own; nothing when absent."""
    forecast: Union[str, Sequence[str], Dict[str, Any]] = key()
    """How a job that re-plans foretells how many GPUs there will be: a name of `scavsim list forecasts`; `none` when absent."""
    policy: Union[str, Sequence[str], Dict[str, Any]] = key()
    """What it does: a name of `scavsim list reactions`; `wait` when absent."""
    saves: Union[str, Sequence[str], Dict[str, Any]] = key()
    """What is kept of the state: blocking (training stops while a checkpoint is written), asynchronous (it stops for `copying_s`),
    in-memory (the next node keeps every step, too); blocking when absent."""
    spares: Union[int, Sequence[int], Dict[str, Any]] = key()
    """VMs that idle until one is lost; none when absent."""
    swap_s: float = key()
    """Seconds from a loss until a spare is in its place."""

    _known = {"aim": "aim", "copying_s": "copying_s", "costs": "costs", "forecast": "forecast", "policy": "policy", "saves": "saves", "spares": "spares", "swap_s": "swap_s"}
    _tables = {}


class Errors(Keys):
    """How far foretold steps are off: standard deviations of ln(measured / foretold), from runs that were left out."""

    cluster: float = key()
    """What is added on a cluster that no run is from. [0.0]"""
    doubling: float = key()
    """What is added with more GPUs than were measured, per doubling. [0.0]"""
    form: float = key()
    """What is added with virtual stages, split backward passes, shared sequences or shared experts, which were not measured. [0.0]"""
    gpu: float = key()
    """What is added in the square on a GPU that was not measured. [0.0]"""
    gpus: Sequence[str] = key()
    """GPUs that were measured."""
    most_gpus: int = key()
    """Most GPUs of a run that was measured. [0]"""
    precision: float = key()
    """What is added at a precision that was not measured. [0.0]"""
    precisions: Sequence[str] = key()
    """Precisions that were measured."""
    step: float = key()
    """Deviation of a run on GPUs, with as many of them and of a precision that were measured. [0.0]"""
    tensor: float = key()
    """What is added at a tensor degree that was not measured. [0.0]"""
    tensors: Sequence[int] = key()
    """Tensor degrees that were measured."""
    unlike: float = key()
    """What is added where replicas run on unlike nodes. [0.0]"""

    _known = {"cluster": "cluster", "doubling": "doubling", "form": "form", "gpu": "gpu", "gpus": "gpus", "most_gpus": "most_gpus", "precision": "precision", "precisions": "precisions", "step": "step", "tensor": "tensor", "tensors": "tensors", "unlike": "unlike"}
    _tables = {}


class Generation(Keys):
    """Factors of a generation of GPUs."""

    attention: Union[float, Sequence[float]] = key()
    """What its GPUs reach in fused attention of an Ampere GPU's share of its peak."""
    matmul: Union[float, Sequence[float]] = key()
    """What its GPUs reach in products of an Ampere GPU's share of its peak."""

    _known = {"attention": "attention", "matmul": "matmul"}
    _tables = {}


class Runtime(Keys):
    """A runtime as it is written: in a file of its own, or as `[parallel.runtime]`. What is absent is as in its base."""

    activations: Literal['serial', 'duplex', 'overlapped'] = key()
    """How stages send each other activations."""
    attention: Union[float, Sequence[float]] = key()
    """Share of the peak that fused attention reaches on an Ampere GPU."""
    attention_kernel: Literal['plain', 'flash'] = key()
    """How attention is computed."""
    base: str = key()
    """The runtime that it is like; the usual one when absent."""
    bucket_bytes: float = key()
    """Most bytes of gradients that are reduced at once."""
    capacity_factor: float = key()
    """Tokens that experts are given room for, over the mean; 1 when absent."""
    derive_tensor: bool = key()
    """Whether a tensor degree that was not profiled is derived from degree 1."""
    description: str = key()
    """What it is, for people."""
    errors: Union[Errors, Dict[str, Any]] = key()
    """How far foretold steps are off."""
    few: Union[float, Sequence[float]] = key()
    """Loss by few rows m of a product."""
    fitted_to: str = key()
    """Hash (BLAKE3) of the table of runs that constants and errors are fitted to; those runs are judged from its base."""
    gather: Union[float, Sequence[float]] = key()
    """Seconds of gathering shards that count, as a multiple of those counted."""
    generations: Dict[str, Union[Generation, Dict[str, Any]]] = key()
    """What GPUs of a generation reach of an Ampere GPU's shares."""
    gradient_bytes: float = key()
    """Bytes per parameter of gradients."""
    hiding: Union[float, Sequence[float]] = key()
    """Norm by which computing and gathering shards add up."""
    host_runs_ahead: bool = key()
    """Whether the host launches passes while the GPU waits for messages."""
    inner: Union[float, Sequence[float]] = key()
    """Loss by a short inner dimension k of a product: the share is over 1 + `inner` 100/k + `few` 100/m."""
    launch_s: Union[float, Sequence[float]] = key()
    """Seconds in which the host launches the forward pass of a block."""
    link: Union[float, Sequence[float]] = key()
    """Share of one direction of the link between GPUs of a node that collectives reach."""
    link_s: Union[float, Sequence[float]] = key()
    """Seconds of a collective inside a node beside its bytes."""
    matmul: Union[float, Sequence[float]] = key()
    """Share of the peak that large matrix products reach on an Ampere GPU."""
    memory: Union[float, Sequence[float]] = key()
    """Share of the memory's bandwidth."""
    memory_spread: float = key()
    """Standard deviation of what a GPU really holds around what is counted, as a fraction."""
    message_s: Union[float, Sequence[float]] = key()
    """Seconds of a message between stages beside its bytes."""
    network: Union[float, Sequence[float]] = key()
    """Share of a node's network that transfers reach."""
    network_s: Union[float, Sequence[float]] = key()
    """Seconds of a transfer between nodes beside its bytes."""
    offload_gb_per_s: float = key()
    """10⁹ bytes per second at which a GPU hands activations to the host and takes them back; needed by `offload`."""
    optimizer: Union[float, Sequence[float]] = key()
    """Passes over memory of the optimiser, as a multiple of those counted."""
    optimizer_bytes: float = key()
    """Bytes per parameter of the optimiser's state."""
    overlap_gradients: bool = key()
    """Whether gradients are reduced while the last micro-batch goes backward."""
    passes: Union[float, Sequence[float]] = key()
    """Passes over memory beside products, as a multiple of those counted."""
    precision: str = key()
    """Precision: fp32, tf32, fp16, bf16 or fp8."""
    recompute: Literal['none', 'selective', 'full'] = key()
    """What the backward pass computes again."""
    reserved_bytes: float = key()
    """Bytes of a GPU that hold no tensor of the model."""
    sequence_parallel: bool = key()
    """Whether GPUs that share a layer also share what lies between its products."""
    shard: Literal['none', 'optimizer', 'gradients', 'full'] = key()
    """What replicas hold in parts."""
    shards: Sequence[Literal['none', 'optimizer', 'gradients', 'full']] = key()
    """Sharding that it can do; any when absent."""
    source: str = key()
    """Where its constants are from."""
    step_s: Union[float, Sequence[float]] = key()
    """Seconds of a step that neither the model nor the plan explains."""
    tensor_launch_s: Union[float, Sequence[float]] = key()
    """Seconds that it takes beside where tensor parallelism adds kernels."""
    tile: Union[float, Sequence[float]] = key()
    """Power of the share of multiprocessors that the last tiles of a product keep busy."""
    weight_bytes: float = key()
    """Bytes per parameter of the weights that are computed with."""
    working_layers: float = key()
    """Room for what is computed right now, in what the largest layer needs."""

    _known = {"activations": "activations", "attention": "attention", "attention_kernel": "attention_kernel", "base": "base", "bucket_bytes": "bucket_bytes", "capacity_factor": "capacity_factor", "derive_tensor": "derive_tensor", "description": "description", "errors": "errors", "few": "few", "fitted_to": "fitted_to", "gather": "gather", "generations": "generations", "gradient_bytes": "gradient_bytes", "hiding": "hiding", "host_runs_ahead": "host_runs_ahead", "inner": "inner", "launch_s": "launch_s", "link": "link", "link_s": "link_s", "matmul": "matmul", "memory": "memory", "memory_spread": "memory_spread", "message_s": "message_s", "network": "network", "network_s": "network_s", "offload_gb_per_s": "offload_gb_per_s", "optimizer": "optimizer", "optimizer_bytes": "optimizer_bytes", "overlap_gradients": "overlap_gradients", "passes": "passes", "precision": "precision", "recompute": "recompute", "reserved_bytes": "reserved_bytes", "sequence_parallel": "sequence_parallel", "shard": "shard", "shards": "shards", "source": "source", "step_s": "step_s", "tensor_launch_s": "tensor_launch_s", "tile": "tile", "weight_bytes": "weight_bytes", "working_layers": "working_layers"}
    _tables = {"errors": Errors}


class Parallel(Keys):
    """A model that is trained on GPUs over which it is cut by data, pipeline and tensor parallelism."""

    capacity: bool = key()
    """Whether the trace that `spot.lifetime` names is also how many GPUs there are on spot terms: plans wait until there are enough."""
    checkpoint_gb_per_s: Union[float, Sequence[float], Dict[str, Any]] = key()
    """GB per second at which a checkpoint goes to its storage and comes back; when absent, it takes what `[spot]` says."""
    context: Union[Literal['measured'], int, Sequence[int], Dict[str, Any]] = key()
    """Replicas that share each sequence of `model`: context parallelism; 1 when absent."""
    data: Union[Literal['measured'], int, Sequence[int], Dict[str, Any]] = key()
    """Data-parallel replicas; any number when absent."""
    expert: Union[Literal['measured'], int, Sequence[int], Dict[str, Any]] = key()
    """Replicas that share the experts of `model`: expert parallelism; 1 when absent."""
    global_batch: Union[Literal['measured'], int, Sequence[int], Dict[str, Any]] = key()
    """Sequences of a step, over all replicas."""
    gpus: Dict[str, Union[Gpu, Dict[str, Any]]] = key()
    """GPUs of one's own, by name, for `model`."""
    layers_per_stage: Sequence[Sequence[int]] = key()
    """Numbers of layers of each stage, for pipelines of as many stages; others are cut evenly by time."""
    links: str = key()
    """Path of a table of links relative to this file; those that are embedded when absent."""
    markets: Sequence[Literal['on-demand', 'spot']] = key()
    """On which terms VMs are rented; as the price says when absent, or on spot terms where there is `[spot]`."""
    micro_batch: Union[Literal['measured'], int, Sequence[int], Dict[str, Any]] = key()
    """Sequences of a micro-batch; what was profiled when absent. Between two that were, layers are interpolated."""
    mixes: Sequence[Sequence[str]] = key()
    """VM types of equal parts of the pipeline, from its first stages to its last, for pipelines over unlike VMs; besides pipelines over VMs
    that are alike."""
    model: Union[str, Model, Dict[str, Any]] = key()
    """A model in place of a profile: its name, the path of an architecture relative to this file (with a `/`), or its numbers. What its
    layers cost is foretold by the law of layers."""
    most_gpus: int = key()
    """Most GPUs of a plan; 64 when absent."""
    name: str = key()
    """What it is called in results, in place of a workload; the profile's name when absent."""
    nodes: Sequence[Union[Node, Dict[str, Any]]] = key()
    """Nodes: VM types with their GPUs."""
    noise_scale: float = key()
    """Noise scale in sequences: with a batch B the target takes 1 + B / it times the tokens; the same tokens with every batch when
    absent."""
    offload: Union[bool, Sequence[bool]] = key()
    """Whether hosts keep activations, at the runtime's `offload_gb_per_s`; true, false or both, as an axis."""
    pipeline: Union[Literal['measured'], int, Sequence[int], Dict[str, Any]] = key()
    """Stages of the pipeline; any number up to that of layers when absent."""
    precision: str = key()
    """Precision of `model`: fp32, tf32, fp16, bf16, fp8; that of the runtime when absent."""
    profile: str = key()
    """Name of an embedded layer profile, or path of a profile's folder relative to this file."""
    reaction: Union[Reaction, Dict[str, Any]] = key()
    """What the job does when VMs go and come; it waits for others when absent."""
    recompute: Union[str, Sequence[str]] = key()
    """What the backward pass computes again: `none`, `selective` (scores of attention), `full` (all but the input of each block); one or
    several, as an axis. What the runtime does when absent."""
    replicas: Sequence[Sequence[str]] = key()
    """VM types of unlike replicas: equal parts of the replicas follow each pipeline, which has the VM types of its equal parts; besides
    replicas that are alike."""
    runtime: Union[str, Runtime, Dict[str, Any]] = key()
    """The runtime: its name, the path of one relative to this file (with a `/`), or what is other than in its `base`."""
    schedule: Union[str, Sequence[str]] = key()
    """Schedules of the pipeline; `1f1b` when absent."""
    sequence: int = key()
    """Tokens of a sequence of `model`; what it was made for when absent."""
    sequence_parallel: Union[bool, Sequence[bool]] = key()
    """Whether GPUs that share a layer of `model` also share what lies between its products; true, false or both, as an axis."""
    shard: Union[str, Sequence[str]] = key()
    """What replicas hold in parts: `none`, `optimizer` (ZeRO-1), `gradients` (ZeRO-2), `full` (ZeRO-3, FSDP); one or several, as an axis.
    What the runtime does when absent."""
    target_steps: int = key()
    """Steps to the target, with the smallest of the global batches."""
    target_tokens: float = key()
    """Tokens to the target; or `target_steps`."""
    tensor: Union[Literal['measured'], int, Sequence[int], Dict[str, Any]] = key()
    """GPUs of a VM that share each layer; what was profiled when absent."""
    virtual_stages: Union[Literal['measured'], int, Sequence[int], Dict[str, Any]] = key()
    """Virtual stages of a GPU, with the schedule `interleaved-1f1b`; 2 when absent."""
    vms: Union[Literal['measured'], int, Sequence[int], Dict[str, Any]] = key()
    """VMs in all; any number when absent."""

    _known = {"capacity": "capacity", "checkpoint_gb_per_s": "checkpoint_gb_per_s", "context": "context", "data": "data", "expert": "expert", "global_batch": "global_batch", "gpus": "gpus", "layers_per_stage": "layers_per_stage", "links": "links", "markets": "markets", "micro_batch": "micro_batch", "mixes": "mixes", "model": "model", "most_gpus": "most_gpus", "name": "name", "nodes": "nodes", "noise_scale": "noise_scale", "offload": "offload", "pipeline": "pipeline", "precision": "precision", "profile": "profile", "reaction": "reaction", "recompute": "recompute", "replicas": "replicas", "runtime": "runtime", "schedule": "schedule", "sequence": "sequence", "sequence_parallel": "sequence_parallel", "shard": "shard", "target_steps": "target_steps", "target_tokens": "target_tokens", "tensor": "tensor", "virtual_stages": "virtual_stages", "vms": "vms"}
    _tables = {"reaction": Reaction}


class PolicyFile(Keys):
    """A pricing policy as data. Exactly one base price must be given."""

    as_rented: bool = key()
    """Whether the VMs that a kind of cluster rents as spot VMs are charged at their listed spot price and all others at that in
    `catalogue`. [false]"""
    billed_parameter_servers: Union[int, Sequence[int], Dict[str, Any]] = key()
    """Parameter servers that are billed beside the workers, for the whole job. [0]"""
    catalogue: Literal['on-demand', 'spot', 'commitment-1y', 'commitment-3y'] = key()
    """Base price: the listed price of the VM type in this market."""
    commitment_discount: Union[float, Sequence[float], Dict[str, Any]] = key()
    """Fraction off the base price for a commitment of one or three years."""
    date: str = key()
    """Day of the listed price; where spot prices come from a table, a job begins with it."""
    dates: Dict[str, str] = key()
    """Days of the listed prices by provider, with `regions`, in place of `date`: no price list is of the same day as another."""
    description: str = key()
    """One line for people. [""]"""
    egress_gib: Union[float, Sequence[float], Dict[str, Any]] = key()
    """GiB that leave the cloud per job; with `usd_per_egress_gib`."""
    free_first_hour_if_revoked: bool = key()
    """Whether a spot VM that the provider takes away in its first hour costs nothing, as on AWS. [false]"""
    free_started_unit_if_revoked: bool = key()
    """Whether the billing unit in which the provider takes a spot VM away costs nothing, as on AWS by the hour. [false]"""
    granularity_s: Union[float, Sequence[float], Dict[str, Any]] = key()
    """Billing unit in seconds, started units counting whole; exact time when absent."""
    is_spot_price: bool = key()
    """Whether its base price is one of spot VMs though it is none of a `catalogue`: it is marked where no VM is taken away. [false]"""
    minimum_s: Union[float, Sequence[float], Dict[str, Any]] = key()
    """Least billed seconds per VM."""
    only_ratios: bool = key()
    """Whether its dollars are a unit of which only ratios count: it is not compared with other policies. [false]"""
    parameter_server_vm: str = key()
    """VM type of the parameter servers; that of the workers when absent."""
    price_table: str = key()
    """Table of one's own with the listed prices, a CSV; the path starts at the folder of this file."""
    priced_as: str = key()
    """VM type whose price is charged in place of that of the workers' own."""
    provider: str = key()
    """Provider of the listed price."""
    region: str = key()
    """Region of the listed price."""
    regions: Dict[str, str] = key()
    """Regions of the listed prices by provider, for VM types of several."""
    spot_ratio: Union[float, Sequence[float], Dict[str, Any]] = key()
    """Spot price over base price; only the price, revocation is not simulated."""
    spot_series: Union[Sequence[Sequence[Any]], str] = key()
    """Spot price over base price in steps: hours since the job began, ratio from then on; or a table of one's own with dated spot prices of
    each VM type."""
    spot_usd_per_hour_of: Dict[str, Union[float, Sequence[float], Dict[str, Any]]] = key()
    """Base price of VMs that a kind of cluster rents as spot VMs: USD per hour of each VM type, by its name; with `usd_per_hour_of`."""
    storage_gib: Union[float, Sequence[float], Dict[str, Any]] = key()
    """GiB that are kept while the job lasts; with `usd_per_storage_gib_month`."""
    sustained_use: Sequence[float] = key()
    """Fractions of the base price in equal parts of a month of 730 hours, by level of concurrency."""
    usd_per_egress_gib: Union[float, Sequence[float], Dict[str, Any]] = key()
    """USD per GiB that leaves the cloud."""
    usd_per_gib_hour: Union[float, Sequence[float], Dict[str, Any]] = key()
    """Base price: USD per GiB of the VM type and hour."""
    usd_per_gpu_hour: Union[float, Sequence[float], Dict[str, Any]] = key()
    """Base price: USD per GPU of the VM type and hour."""
    usd_per_hour_of: Dict[str, Union[float, Sequence[float], Dict[str, Any]]] = key()
    """Base price: USD per hour of each VM type, by its name."""
    usd_per_job: Union[float, Sequence[float], Dict[str, Any]] = key()
    """USD for every job, when it ends."""
    usd_per_sample_hour: Union[float, Sequence[float], Dict[str, Any]] = key()
    """Base price: USD per sample of global batch and hour, whatever the worker count."""
    usd_per_storage_gib_month: Union[float, Sequence[float], Dict[str, Any]] = key()
    """USD per GiB kept for a month of 730 hours."""
    usd_per_vcpu_hour: Union[float, Sequence[float], Dict[str, Any]] = key()
    """Base price: USD per vCPU of the VM type and hour."""
    usd_per_vm_hour: Union[float, Sequence[float], Dict[str, Any]] = key()
    """Base price: USD per VM and hour."""
    zone: str = key()
    """Zone of the listed price, where prices of one's own differ by zone."""

    _known = {"as_rented": "as_rented", "billed_parameter_servers": "billed_parameter_servers", "catalogue": "catalogue", "commitment_discount": "commitment_discount", "date": "date", "dates": "dates", "description": "description", "egress_gib": "egress_gib", "free_first_hour_if_revoked": "free_first_hour_if_revoked", "free_started_unit_if_revoked": "free_started_unit_if_revoked", "granularity_s": "granularity_s", "is_spot_price": "is_spot_price", "minimum_s": "minimum_s", "only_ratios": "only_ratios", "parameter_server_vm": "parameter_server_vm", "price_table": "price_table", "priced_as": "priced_as", "provider": "provider", "region": "region", "regions": "regions", "spot_ratio": "spot_ratio", "spot_series": "spot_series", "spot_usd_per_hour_of": "spot_usd_per_hour_of", "storage_gib": "storage_gib", "sustained_use": "sustained_use", "usd_per_egress_gib": "usd_per_egress_gib", "usd_per_gib_hour": "usd_per_gib_hour", "usd_per_gpu_hour": "usd_per_gpu_hour", "usd_per_hour_of": "usd_per_hour_of", "usd_per_job": "usd_per_job", "usd_per_sample_hour": "usd_per_sample_hour", "usd_per_storage_gib_month": "usd_per_storage_gib_month", "usd_per_vcpu_hour": "usd_per_vcpu_hour", "usd_per_vm_hour": "usd_per_vm_hour", "zone": "zone"}
    _tables = {}


class Pricing(Keys):
    """Pricing policies."""

    define: Dict[str, Union[PolicyFile, Dict[str, Any]]] = key()
    """Policies of this scenario, by name."""
    policies: Sequence[str] = key()
    """Names of policies, built in or defined here; when absent, the listed price of each VM type, or what all workloads were published
    with."""

    _known = {"define": "define", "policies": "policies"}
    _tables = {}


class Search(Keys):
    """Strategies and objectives."""

    objectives: Sequence[Literal['time', 'cost', 'knee']] = key()
    """Objectives; all when absent."""
    repeats: Union[int, Sequence[int], Dict[str, Any]] = key()
    """How often the job will be run: strategies are told, and results say what so many runs come to with their search; once when absent."""
    stored: Sequence[str] = key()
    """Workloads whose earlier runs the model of all jobs averages; those of this scenario, and those of the library on the same VM types,
    when absent."""
    strategies: Sequence[str] = key()
    """Names of strategies; all that can be used on the workloads when absent."""

    _known = {"objectives": "objectives", "repeats": "repeats", "stored": "stored", "strategies": "strategies"}
    _tables = {}


class Spot(Keys):
    """VMs that the provider may take away."""

    checkpoint: Union[Literal['none', 'young', 'young-daly', 'searched', 'dynamic'], Dict[str, Any]] = key()
    """When checkpoints are written."""
    checkpoint_mb: Union[float, Sequence[float], Dict[str, Any]] = key()
    """MB of one, which then takes as long as was measured for so many."""
    checkpoint_on_notice: bool = key()
    """Whether a last checkpoint is written when the provider warns of a loss. [false]"""
    checkpoint_write_s: Union[float, Sequence[float], Dict[str, Any]] = key()
    """Seconds that one takes to write."""
    chief: Literal['hands-over', 'goes-back', 'ends-the-run'] = key()
    """What the loss of the chief, the first worker, means."""
    cold_join_s: Union[float, Sequence[float], Dict[str, Any]] = key()
    """Seconds that a new VM takes, once it runs, to join the others."""
    exponential_mean_h: Union[float, Sequence[float], Dict[str, Any]] = key()
    """Mean hours of lives that are exponential."""
    fewest_workers: Union[int, Sequence[int], Dict[str, Any]] = key()
    """Fewest workers that train; 1 when absent."""
    keeps: Literal['checkpoint', 'steps'] = key()
    """What a loss leaves of the work."""
    lifetime: str = key()
    """Name of a model of `scavsim list lifetimes`; or `exponential_mean_h`."""
    notice_s: Union[float, Sequence[float], Dict[str, Any]] = key()
    """Seconds from the warning to the loss; what the lifetimes say when absent."""
    on_loss: Literal['wait', 'go-on', 'shrink'] = key()
    """What happens to the place of a lost VM."""
    replacement_s: Union[float, Sequence[float], Dict[str, Any]] = key()
    """Seconds from a loss until another VM runs in its place; `cluster.start_up_s` when absent."""
    restart: str = key()
    """Seconds to join and to go on, as measured for a model such as `resnet-32`."""
    start_up: str = key()
    """Seconds until another VM runs, at the start of the job too, as measured for spot VMs such as `gcp-k80-us-east1`."""
    warm_restart_s: Union[float, Sequence[float], Dict[str, Any]] = key()
    """Seconds that all take to go on from a checkpoint; what the workload says when absent."""

    _known = {"checkpoint": "checkpoint", "checkpoint_mb": "checkpoint_mb", "checkpoint_on_notice": "checkpoint_on_notice", "checkpoint_write_s": "checkpoint_write_s", "chief": "chief", "cold_join_s": "cold_join_s", "exponential_mean_h": "exponential_mean_h", "fewest_workers": "fewest_workers", "keeps": "keeps", "lifetime": "lifetime", "notice_s": "notice_s", "on_loss": "on_loss", "replacement_s": "replacement_s", "restart": "restart", "start_up": "start_up", "warm_restart_s": "warm_restart_s"}
    _tables = {}


class Staleness(Keys):
    """How a workload suffers from stale gradients: steps × (1 + a·mean staleness). The default, a = 0, is what a protocol costs if
    staleness is harmless. Staleness is counted in samples under every protocol: those of others that were applied between the reading of
    the parameters and the update, over the global batch B."""

    per_missed_batch: float = key()
    """a: the fraction of further steps per global batch of others' samples that the mean gradient has missed."""

    _known = {"per_missed_batch": "per_missed_batch"}
    _tables = {}


class BoStepTimeSettings(Keys):
    """Settings of Bayesian optimisation of the step time."""

    budget: int = key()
    """Probes, whatever is expected of further ones; without it 8, under the objective `time` 15, or fewer by `stop_below`."""
    first: int = key()
    """Probes before anything is modelled. [3]"""
    probe_steps: int = key()
    """Steps per probe; the workload's own figure when absent."""
    stop_below: float = key()
    """The search stops when less than this share of the best value is expected to be gained. [0.001]"""

    _known = {"budget": "budget", "first": "first", "probe_steps": "probe_steps", "stop_below": "stop_below"}
    _tables = {}


class CheapestSettings(Keys):
    """Settings of the strategy `cheapest`."""

    budget: int = key()
    """Runs at the lowest prices, of which it takes the best; without it, it looks at none."""

    _known = {"budget": "budget"}
    _tables = {}


class CherryPickSettings(Keys):
    """Settings of CherryPick."""

    budget: int = key()
    """Runs, whatever is expected of further ones; without it, its own rule says when to stop."""
    first: int = key()
    """Runs before anything is modelled. [3]"""
    least: int = key()
    """Runs before its own rule may stop it. [6]"""
    stop_below: float = key()
    """The search stops when less than this share of the best value is expected to be gained. [0.1]"""

    _known = {"budget": "budget", "first": "first", "least": "least", "stop_below": "stop_below"}
    _tables = {}


class CollaborativeFilteringSettings(Keys):
    """Settings of collaborative filtering."""

    budget: int = key()
    """Runs of this job, drawn at random, before one more of what looks best. [2]"""

    _known = {"budget": "budget"}
    _tables = {}


class CoordinateDescentSettings(Keys):
    """Settings of coordinate descent."""

    cold_start_steps: int = key()
    """Steps before the first probe; the workload's own figure when absent."""
    epochs_from: Literal['pooled', 'fewest-workers', 'most-workers'] = key()
    """Which earlier runs give the epoch line. ["pooled"]"""
    probe_steps: int = key()
    """Steps per probe; the workload's own figure when absent."""
    start: Literal['smallest', 'largest-batch'] = key()
    """Where the search starts and settles. ["smallest"]"""

    _known = {"cold_start_steps": "cold_start_steps", "epochs_from": "epochs_from", "probe_steps": "probe_steps", "start": "start"}
    _tables = {}


class DearestSettings(Keys):
    """Settings of the strategy `dearest`."""

    budget: int = key()
    """Runs at the highest prices, of which it takes the best; without it, it looks at none."""

    _known = {"budget": "budget"}
    _tables = {}


class DefaultSettings(Keys):
    """Settings of the strategy `default`. Absent fields are the smallest of the first VM type."""

    batch: int = key()
    """Global batch B."""
    workers: int = key()
    """Worker count K."""

    _known = {"batch": "batch", "workers": "workers"}
    _tables = {}


class EiPerCostSettings(Keys):
    """Settings of expected improvement per cost."""

    budget: int = key()
    """Runs, whatever is expected of further ones; without it, its own rule says when to stop."""
    give_up: bool = key()
    """Whether a run is given up when it has come to the best value so far. [true]"""
    least: int = key()
    """Runs before its own rule may stop it. [6]"""
    stop_below: float = key()
    """The search stops when less than this share of the best value is expected to be gained. [0.1]"""

    _known = {"budget": "budget", "give_up": "give_up", "least": "least", "stop_below": "stop_below"}
    _tables = {}


class ErnestSettings(Keys):
    """Settings of Ernest."""

    budget: int = key()
    """Experiments on each VM type; without it one more than there are coefficients that can be told apart."""
    probe_steps: int = key()
    """Steps per probe; the workload's own figure when absent."""

    _known = {"budget": "budget", "probe_steps": "probe_steps"}
    _tables = {}


class FullSettings(Keys):
    """Settings of full search."""

    cold_start_steps: int = key()
    """Steps before the first probe; the workload's own figure when absent."""
    epochs_from: Literal['pooled', 'fewest-workers', 'most-workers'] = key()
    """Which earlier runs give the epoch line. ["pooled"]"""
    probe_steps: int = key()
    """Steps per probe; the workload's own figure when absent."""
    start: Literal['smallest', 'largest-batch'] = key()
    """Where the search starts and settles. ["smallest"]"""

    _known = {"cold_start_steps": "cold_start_steps", "epochs_from": "epochs_from", "probe_steps": "probe_steps", "start": "start"}
    _tables = {}


class LatinHypercubeSettings(Keys):
    """Settings of Latin hypercube search."""

    budget: int = key()
    """Configurations run to the target; at most as many as there are. [6]"""

    _known = {"budget": "budget"}
    _tables = {}


class LynceusSettings(Keys):
    """Settings of Lynceus."""

    budget: int = key()
    """Runs, whatever they take; without it, `spend` says when to stop."""
    discount: float = key()
    """What a run that comes later counts, over the one before it. [0.9]"""
    first_share: float = key()
    """Share of the space that is run before anything is modelled; at least 2 configurations and at most 30, or half of `budget`. [0.03]"""
    give_up: bool = key()
    """Whether a run is given up when it has come to the best value so far. [true]"""
    lookahead: int = key()
    """Runs that it looks ahead; with 0 it asks for expected improvement over what a run takes. [1]"""
    spend: float = key()
    """What the whole search may take, over what its first runs took. [3.0]"""

    _known = {"budget": "budget", "discount": "discount", "first_share": "first_share", "give_up": "give_up", "lookahead": "lookahead", "spend": "spend"}
    _tables = {}


class NoSearchSettings(Keys):
    """Settings of the model of all stored workloads, the own one included."""

    epochs_from: Literal['pooled', 'fewest-workers', 'most-workers'] = key()
    """Which runs give each workload's epoch line. ["pooled"]"""
    noise_by: Literal['average', 'workers'] = key()
    """One noise line for all worker counts, or one per worker count. ["average"]"""
    step_fit: Literal['whole', 'split'] = key()
    """How the step plane is put through each workload's stored steps. ["whole"]"""

    _known = {"epochs_from": "epochs_from", "noise_by": "noise_by", "step_fit": "step_fit"}
    _tables = {}


class LeaveOutSettings(Keys):
    """Settings of the model of all stored workloads but the own one."""

    epochs_from: Literal['pooled', 'fewest-workers', 'most-workers'] = key()
    """Which runs give each workload's epoch line. ["pooled"]"""
    noise_by: Literal['average', 'workers'] = key()
    """One noise line for all worker counts, or one per worker count. ["average"]"""
    step_fit: Literal['whole', 'split'] = key()
    """How the step plane is put through each workload's stored steps. ["whole"]"""

    _known = {"epochs_from": "epochs_from", "noise_by": "noise_by", "step_fit": "step_fit"}
    _tables = {}


class OneRunSettings(Keys):
    """Settings of a search by a newcomer."""

    earlier_run: Literal['smallest', 'none'] = key()
    """Which earlier run of the job there is. ["smallest"]"""
    extremes: Literal['corners', 'three', 'diagonal'] = key()
    """Which extreme points are probed. ["corners"]"""
    probe_steps: int = key()
    """Steps per probe; the workload's own figure when absent."""
    step_fit: Literal['whole', 'split'] = key()
    """How the step plane is put through the probes. ["whole"]"""

    _known = {"earlier_run": "earlier_run", "extremes": "extremes", "probe_steps": "probe_steps", "step_fit": "step_fit"}
    _tables = {}


class OnlineSettings(Keys):
    """Settings of a search without any earlier run."""

    cold_start_steps: int = key()
    """Steps before the first probe; the workload's own figure when absent."""
    extremes: Literal['corners', 'three', 'diagonal'] = key()
    """Which extreme points are probed. ["corners"]"""
    noise_at: Literal['probes', 'fewest-workers', 'most-workers'] = key()
    """At which of them the noise is read. ["probes"]"""
    noise_by: Literal['average', 'workers'] = key()
    """One noise line for all worker counts, or one per worker count. ["average"]"""
    probe_steps: int = key()
    """Steps per probe; the workload's own figure when absent."""
    progress: float = key()
    """Share of the way to the target that is trained, where the last probe was, to learn how long the way is. [0.01]"""
    start: Literal['smallest', 'largest-batch'] = key()
    """Where the search starts and settles. ["smallest"]"""
    step_fit: Literal['whole', 'split'] = key()
    """How the step plane is put through the probes. ["whole"]"""

    _known = {"cold_start_steps": "cold_start_steps", "extremes": "extremes", "noise_at": "noise_at", "noise_by": "noise_by", "probe_steps": "probe_steps", "progress": "progress", "start": "start", "step_fit": "step_fit"}
    _tables = {}


class PartialSettings(Keys):
    """Settings of partial search."""

    cold_start_steps: int = key()
    """Steps before the first probe; the workload's own figure when absent."""
    epochs_from: Literal['pooled', 'fewest-workers', 'most-workers'] = key()
    """Which earlier runs give the epoch line. ["pooled"]"""
    extremes: Literal['corners', 'three', 'diagonal'] = key()
    """Which extreme points are probed. ["corners"]"""
    noise_at: Literal['probes', 'fewest-workers', 'most-workers'] = key()
    """At which of them the noise is read. ["probes"]"""
    noise_by: Literal['average', 'workers'] = key()
    """One noise line for all worker counts, or one per worker count. ["average"]"""
    probe_steps: int = key()
    """Steps per probe; the workload's own figure when absent."""
    start: Literal['smallest', 'largest-batch'] = key()
    """Where the search starts and settles. ["smallest"]"""
    step_fit: Literal['whole', 'split'] = key()
    """How the step plane is put through the probes. ["whole"]"""

    _known = {"cold_start_steps": "cold_start_steps", "epochs_from": "epochs_from", "extremes": "extremes", "noise_at": "noise_at", "noise_by": "noise_by", "probe_steps": "probe_steps", "start": "start", "step_fit": "step_fit"}
    _tables = {}


class PlannerSettings(Keys):
    """Settings of the strategy `planner`."""

    passes: int = key()
    """Passes over every layer, at every degree and micro-batch, on one VM of each type. [10]"""

    _known = {"passes": "passes"}
    _tables = {}


class RandomSettings(Keys):
    """Settings of random search."""

    cold_start_steps: int = key()
    """Steps before the first probe; the workload's own figure when absent."""
    epochs_from: Literal['pooled', 'fewest-workers', 'most-workers'] = key()
    """Which earlier runs give the epoch line. ["pooled"]"""
    probe_steps: int = key()
    """Steps per probe; the workload's own figure when absent."""
    probes: int = key()
    """Configurations probed, all different; at most as many as there are. [4]"""
    start: Literal['smallest', 'largest-batch'] = key()
    """Where the search starts and settles. ["smallest"]"""

    _known = {"cold_start_steps": "cold_start_steps", "epochs_from": "epochs_from", "probe_steps": "probe_steps", "probes": "probes", "start": "start"}
    _tables = {}


class RandomForestSettings(Keys):
    """Settings of Bayesian optimisation with a random forest."""

    budget: int = key()
    """Runs. [10]"""
    random_share: float = key()
    """Share of the runs that are drawn at random, after the first. [0.084]"""

    _known = {"budget": "budget", "random_share": "random_share"}
    _tables = {}


class SameJobSettings(Keys):
    """Settings of the stored model of the same job."""

    epochs_from: Literal['pooled', 'fewest-workers', 'most-workers'] = key()
    """Which earlier runs give the epoch line. ["pooled"]"""
    noise_by: Literal['average', 'workers'] = key()
    """One noise line for all worker counts, or one per worker count. ["average"]"""
    step_fit: Literal['whole', 'split'] = key()
    """How the step plane is put through the stored steps. ["whole"]"""
    stored: Literal['models', 'table'] = key()
    """What the earlier runs stored. ["models"]"""

    _known = {"epochs_from": "epochs_from", "noise_by": "noise_by", "step_fit": "step_fit", "stored": "stored"}
    _tables = {}


class SriftyLikeSettings(Keys):
    """Settings of a search by measured compute and learned communication."""

    probe_steps: int = key()
    """Steps per probe; the workload's own figure when absent."""

    _known = {"probe_steps": "probe_steps"}
    _tables = {}


class SuccessiveHalvingSettings(Keys):
    """Settings of successive halving."""

    brackets: int = key()
    """Searches that follow each other, each beginning one rung higher: Hyperband. [1]"""
    budget: int = key()
    """Configurations of the first rung; all when absent."""

    _known = {"brackets": "brackets", "budget": "budget"}
    _tables = {}


class TrimtunerLikeSettings(Keys):
    """Settings of Bayesian optimisation over shares of a run."""

    budget: int = key()
    """Runs of any share, after which only whole ones follow, and only until one reaches the target. [60]"""
    first: int = key()
    """Configurations of the first runs. [8]"""
    give_up: bool = key()
    """Whether a whole run is given up when it has come to the value of the best one. [true]"""
    stop_below: float = key()
    """Share of the best run below which it stops: what is still expected to be gained. [0.1]"""

    _known = {"budget": "budget", "first": "first", "give_up": "give_up", "stop_below": "stop_below"}
    _tables = {}


class ValueOfInformationSettings(Keys):
    """Settings of search by the value of information."""

    budget: int = key()
    """Runs or looks at most, as long as one reached the target; without it, its own rule alone says when to stop."""
    probe_steps: int = key()
    """Steps per look; the workload's own figure when absent."""

    _known = {"budget": "budget", "probe_steps": "probe_steps"}
    _tables = {}


class Settings(Keys):
    """Settings of all strategies; a table per strategy in a scenario, all optional."""

    average_best: Dict[str, Any] = key()
    """Settings of the strategy `average-best`."""
    bo_step_time: Union[BoStepTimeSettings, Dict[str, Any]] = key()
    """Settings of the strategy `bo-step-time`."""
    cheapest: Union[CheapestSettings, Dict[str, Any]] = key()
    """Settings of the strategy `cheapest`."""
    cherrypick: Union[CherryPickSettings, Dict[str, Any]] = key()
    """Settings of the strategy `cherrypick`."""
    collaborative_filtering: Union[CollaborativeFilteringSettings, Dict[str, Any]] = key()
    """Settings of the strategy `collaborative-filtering`."""
    coordinate_descent: Union[CoordinateDescentSettings, Dict[str, Any]] = key()
    """Settings of the strategy `coordinate-descent`."""
    dearest: Union[DearestSettings, Dict[str, Any]] = key()
    """Settings of the strategy `dearest`."""
    default: Union[DefaultSettings, Dict[str, Any]] = key()
    """Settings of the strategy `default`."""
    ei_per_cost: Union[EiPerCostSettings, Dict[str, Any]] = key()
    """Settings of the strategy `ei-per-cost`."""
    ernest: Union[ErnestSettings, Dict[str, Any]] = key()
    """Settings of the strategy `ernest`."""
    full: Union[FullSettings, Dict[str, Any]] = key()
    """Settings of the strategy `full`."""
    latin_hypercube: Union[LatinHypercubeSettings, Dict[str, Any]] = key()
    """Settings of the strategy `latin-hypercube`."""
    lynceus: Union[LynceusSettings, Dict[str, Any]] = key()
    """Settings of the strategy `lynceus`."""
    no_search: Union[NoSearchSettings, Dict[str, Any]] = key()
    """Settings of the strategy `no-search`."""
    no_search_leave_out: Union[LeaveOutSettings, Dict[str, Any]] = key()
    """Settings of the strategy `no-search-leave-out`."""
    one_run: Union[OneRunSettings, Dict[str, Any]] = key()
    """Settings of the strategy `one-run`."""
    online: Union[OnlineSettings, Dict[str, Any]] = key()
    """Settings of the strategy `online`."""
    partial: Union[PartialSettings, Dict[str, Any]] = key()
    """Settings of the strategy `partial`."""
    planner: Union[PlannerSettings, Dict[str, Any]] = key()
    """Settings of the strategy `planner`."""
    random: Union[RandomSettings, Dict[str, Any]] = key()
    """Settings of the strategy `random`."""
    random_forest: Union[RandomForestSettings, Dict[str, Any]] = key()
    """Settings of the strategy `random-forest`."""
    rule_selector: Dict[str, Any] = key()
    """Settings of the strategy `rule-selector`."""
    same_job: Union[SameJobSettings, Dict[str, Any]] = key()
    """Settings of the strategy `same-job`."""
    srifty_like: Union[SriftyLikeSettings, Dict[str, Any]] = key()
    """Settings of the strategy `srifty-like`."""
    successive_halving: Union[SuccessiveHalvingSettings, Dict[str, Any]] = key()
    """Settings of the strategy `successive-halving`."""
    trimtuner_like: Union[TrimtunerLikeSettings, Dict[str, Any]] = key()
    """Settings of the strategy `trimtuner-like`."""
    value_of_information: Union[ValueOfInformationSettings, Dict[str, Any]] = key()
    """Settings of the strategy `value-of-information`."""
    value_of_information_history: Dict[str, Any] = key()
    """Settings of the strategy `value-of-information-history`."""

    _known = {"average_best": "average-best", "bo_step_time": "bo-step-time", "cheapest": "cheapest", "cherrypick": "cherrypick", "collaborative_filtering": "collaborative-filtering", "coordinate_descent": "coordinate-descent", "dearest": "dearest", "default": "default", "ei_per_cost": "ei-per-cost", "ernest": "ernest", "full": "full", "latin_hypercube": "latin-hypercube", "lynceus": "lynceus", "no_search": "no-search", "no_search_leave_out": "no-search-leave-out", "one_run": "one-run", "online": "online", "partial": "partial", "planner": "planner", "random": "random", "random_forest": "random-forest", "rule_selector": "rule-selector", "same_job": "same-job", "srifty_like": "srifty-like", "successive_halving": "successive-halving", "trimtuner_like": "trimtuner-like", "value_of_information": "value-of-information", "value_of_information_history": "value-of-information-history"}
    _tables = {"bo_step_time": BoStepTimeSettings, "cheapest": CheapestSettings, "cherrypick": CherryPickSettings, "collaborative_filtering": CollaborativeFilteringSettings, "coordinate_descent": CoordinateDescentSettings, "dearest": DearestSettings, "default": DefaultSettings, "ei_per_cost": EiPerCostSettings, "ernest": ErnestSettings, "full": FullSettings, "latin_hypercube": LatinHypercubeSettings, "lynceus": LynceusSettings, "no_search": NoSearchSettings, "no_search_leave_out": LeaveOutSettings, "one_run": OneRunSettings, "online": OnlineSettings, "partial": PartialSettings, "planner": PlannerSettings, "random": RandomSettings, "random_forest": RandomForestSettings, "same_job": SameJobSettings, "srifty_like": SriftyLikeSettings, "successive_halving": SuccessiveHalvingSettings, "trimtuner_like": TrimtunerLikeSettings, "value_of_information": ValueOfInformationSettings}
    _is_open = True


class Drift(Keys):
    """Slow change of the network: one factor on the communication time per period."""

    period_s: Union[float, Sequence[float], Dict[str, Any]] = key()
    """Seconds that a factor lasts."""
    sigma: Union[float, Sequence[float], Dict[str, Any]] = key()
    """σ of the factor."""

    _known = {"period_s": "period_s", "sigma": "sigma"}
    _tables = {}


class Straggler(Keys):
    """Workers that now and then take much longer."""

    factor: Union[float, Sequence[float], Dict[str, Any]] = key()
    """How many times as long."""
    probability: Union[float, Sequence[float], Dict[str, Any]] = key()
    """Probability per worker and step."""

    _known = {"factor": "factor", "probability": "probability"}
    _tables = {}


class Variation(Keys):
    """What varies at random. Every factor is log-normal with mean 1."""

    drift: Union[Drift, Dict[str, Any]] = key()
    """Slow change of the network."""
    epoch_cv: Union[float, Sequence[float], Dict[str, Any]] = key()
    """Coefficient of variation of the steps to the target per replica and configuration."""
    noise_curve: bool = key()
    """Whether probes read the noise as it stands at that point of training, instead of its value at the target. [false]"""
    noise_cv: Union[float, Sequence[float], Dict[str, Any]] = key()
    """Coefficient of variation of the SGD noise read in one step."""
    placement_sigma: Union[float, Sequence[float], Dict[str, Any]] = key()
    """σ of one factor on the step time per replica and configuration."""
    step_cv: Union[float, Sequence[float], Dict[str, Any]] = key()
    """Coefficient of variation of one worker's compute time in one step."""
    straggler: Union[Straggler, Dict[str, Any]] = key()
    """Workers that now and then take much longer."""
    vm_sigma: Union[float, Sequence[float], Dict[str, Any]] = key()
    """σ of one factor on the compute time per VM and replica."""

    _known = {"drift": "drift", "epoch_cv": "epoch_cv", "noise_curve": "noise_curve", "noise_cv": "noise_cv", "placement_sigma": "placement_sigma", "step_cv": "step_cv", "straggler": "straggler", "vm_sigma": "vm_sigma"}
    _tables = {"drift": Drift, "straggler": Straggler}


class Vm(Keys):
    """A VM type that was not measured and stands in for one that was; with several values, all their combinations."""

    compute_scale: Union[float, Sequence[float], Dict[str, Any]] = key()
    """Compute time of the VM type over that of the measured type; 1 when absent."""
    gpus: int = key()
    """GPUs, for prices by resource."""
    knee: float = key()
    """Samples of a worker beyond which its throughput falls, likewise."""
    like: str = key()
    """The measured VM type; none for VMs of a measured grid."""
    memory_gib: Union[float, Sequence[float], Dict[str, Any]] = key()
    """Memory in GiB, shared by the workers on the VM: it limits the local batch."""
    network_scale: Union[float, Sequence[float], Dict[str, Any]] = key()
    """Communication time of the VM type over that of the measured type; 1 when absent."""
    size: float = key()
    """Cores, or FLOPS, of a worker, where the workload has a law of its time by them; those of the measured type when absent."""
    usd_per_hour: Union[float, Sequence[float], Dict[str, Any]] = key()
    """USD per hour on demand, for prices by the catalogue."""
    vcpu: float = key()
    """Virtual CPUs, for prices by resource."""

    _known = {"compute_scale": "compute_scale", "gpus": "gpus", "knee": "knee", "like": "like", "memory_gib": "memory_gib", "network_scale": "network_scale", "size": "size", "usd_per_hour": "usd_per_hour", "vcpu": "vcpu"}
    _tables = {}


class Scenario(Keys):
    """A scenario. Keys that are not set have their defaults."""

    antithetic: bool = key()
    """Whether replicas come in pairs of mirrored luck (antithetic variates): narrower intervals of what grows or falls with luck.
    [false]"""
    bag: Union[Bag, Dict[str, Any]] = key()
    """A bag of independent jobs, instead of both."""
    cluster: Union[Cluster, Dict[str, Any]] = key()
    """The configurations to choose from."""
    elastic: Union[Elastic, Dict[str, Any]] = key()
    """Growing and shrinking with the price of spot VMs."""
    failures: Union[Failures, Dict[str, Any]] = key()
    """Machines that fail though nobody takes them away; none do when absent. For `parallel`."""
    fidelity: Literal['event', 'step', 'fast'] = key()
    """How finely runs are simulated. ["fast"]"""
    grid: str = key()
    """Name of an embedded measured grid, or path of a grid's folder relative to this file, instead of workloads."""
    include: Union[str, Sequence[str]] = key()
    """Scenario files whose keys hold where this one sets none, relative to this file; of several, a later one wins."""
    jobs: Sequence[str] = key()
    """Jobs of the grid; those that it takes by default when absent."""
    kind: Dict[str, Union[Kind, Dict[str, Any]]] = key()
    """Kinds of clusters, by name: unlike workers, markets, parameter servers of their own."""
    limits: Union[Limits, Dict[str, Any]] = key()
    """What no choice may exceed."""
    most_replicas: int = key()
    """With `precision`: replicas at most; 100,000 when absent."""
    name: str = key()
    """Name in results; the file's name when absent."""
    parallel: Union[Parallel, Dict[str, Any]] = key()
    """A model that is cut over GPUs, instead of all of these."""
    precision: float = key()
    """Half the 95 % interval of mean net overheads at most, as a fraction: there are as many replicas as that takes, `replicas` at least.
    When absent, there are `replicas`."""
    pricing: Union[Pricing, Dict[str, Any]] = key()
    """Pricing policies."""
    replicas: int = key()
    """Replicas per combination; 1 when absent."""
    search: Union[Search, Dict[str, Any]] = key()
    """Strategies and objectives."""
    seed: int = key()
    """Seed of all random streams. Same scenario, same seed, same bytes. [0]"""
    spot: Union[Spot, Dict[str, Any]] = key()
    """VMs that the provider may take away; none when absent."""
    staleness: Union[Staleness, Dict[str, Any]] = key()
    """What stale gradients cost, where the workload does not say."""
    strategy: Union[Settings, Dict[str, Any]] = key()
    """Settings of single strategies, only to change a default."""
    sync: Union[Literal['bsp'], Dict[str, Any]] = key()
    """How workers come together, where their kind does not say."""
    sync_of: Dict[str, Union[Literal['bsp'], Dict[str, Any]]] = key()
    """How workers come together on single workloads, by name."""
    unset: Sequence[str] = key()
    """Keys of included files that do not hold, with dots: `spot.lifetime`. Where one way of saying something is to be replaced by
    another."""
    variation: Union[Variation, Dict[str, Any]] = key()
    """What varies at random; all off when absent."""
    vm: Dict[str, Union[Vm, Dict[str, Any]]] = key()
    """VM types that were not measured, by name."""
    workloads: Sequence[str] = key()
    """Names of embedded workloads, or paths of workload folders relative to this file."""

    _known = {"antithetic": "antithetic", "bag": "bag", "cluster": "cluster", "elastic": "elastic", "failures": "failures", "fidelity": "fidelity", "grid": "grid", "include": "include", "jobs": "jobs", "kind": "kind", "limits": "limits", "most_replicas": "most_replicas", "name": "name", "parallel": "parallel", "precision": "precision", "pricing": "pricing", "replicas": "replicas", "search": "search", "seed": "seed", "spot": "spot", "staleness": "staleness", "strategy": "strategy", "sync": "sync", "sync_of": "sync_of", "unset": "unset", "variation": "variation", "vm": "vm", "workloads": "workloads"}
    _tables = {"bag": Bag, "cluster": Cluster, "elastic": Elastic, "failures": Failures, "limits": Limits, "parallel": Parallel, "pricing": Pricing, "search": Search, "spot": Spot, "staleness": Staleness, "strategy": Settings, "variation": Variation}
