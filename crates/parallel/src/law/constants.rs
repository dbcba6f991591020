//! What is not counted but measured: the constants of the law, each with how well it is known.

pub const RUNTIME_CONSTANTS: usize = 23;
/// Generations of GPUs that have factors of their own.
pub const GENERATIONS: [&str; 5] = ["volta", "ampere", "hopper", "blackwell", "cdna"];
/// All constants: those of the runtime, then two factors for each generation.
pub const COUNT: usize = RUNTIME_CONSTANTS + 2 * GENERATIONS.len();

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(usize)]
pub enum Constant {
    /// Share of the peak that large matrix products reach on an Ampere GPU.
    Matmul,
    /// Loss by a short inner dimension k of a product: the share is divided by 1 + `inner` × 100/k + `few` × 100/m.
    Inner,
    /// Loss by few rows m of a product.
    Few,
    /// Power of the share of multiprocessors that the last tiles of a product keep busy.
    Tile,
    /// Share of the peak that fused attention reaches on an Ampere GPU.
    Attention,
    /// Share of the memory's bandwidth.
    Memory,
    /// Passes over memory beside products, as a multiple of those counted.
    Passes,
    /// Seconds in which the host launches the forward pass of a block.
    LaunchS,
    /// Seconds that it takes beside where tensor parallelism adds kernels.
    TensorLaunchS,
    /// Share of one direction of the link between GPUs of a node that collectives reach.
    Link,
    /// Seconds of a collective inside a node beside its bytes.
    LinkS,
    /// Share of a node's network that transfers reach.
    Network,
    /// Seconds of a transfer between nodes beside its bytes.
    NetworkS,
    /// Seconds of gathering shards that count, as a multiple of those counted.
    Gather,
    /// Norm by which computing and gathering shards add up: 1 adds them, a large one hides the shorter behind the longer.
    Hiding,
    /// Passes over memory of the optimiser, as a multiple of those counted.
    Optimizer,
    /// Seconds of a step that neither the model nor the plan explains.
    StepS,
    /// Seconds of a message between stages beside its bytes.
    MessageS,
    /// Seconds that the host takes beside to launch the forward pass of a block's adapters.
    AdapterLaunchS,
    /// Seconds that the host takes beside to launch the forward pass of a block whose weights are in shards.
    ShardLaunchS,
    /// Passes over memory of unpacking 4-bit weights, as a multiple of reading and writing them once.
    Unpack,
    /// What products of 8 bits reach of the share of their peak that products of 16 bits reach.
    Fp8,
    /// Seconds of everything, as a multiple of what published runs take: eager kernels, slow networks and loaders.
    Pace,
}

impl Constant {
    /// Power of the pace that scales it: 1 where it is seconds, −1 where it is a share of a rate.
    const fn power_of_pace(self) -> i32 {
        match self {
            Constant::Matmul
            | Constant::Attention
            | Constant::Memory
            | Constant::Link
            | Constant::Network => -1,
            Constant::LaunchS
            | Constant::TensorLaunchS
            | Constant::LinkS
            | Constant::NetworkS
            | Constant::StepS
            | Constant::MessageS
            | Constant::AdapterLaunchS
            | Constant::ShardLaunchS => 1,
            _ => 0,
        }
    }
}

/// Names of the constants of a runtime in the order of [`Constant`], as keys of scenarios and of runtimes.
pub const NAMES: [&str; RUNTIME_CONSTANTS] = [
    "matmul",
    "inner",
    "few",
    "tile",
    "attention",
    "memory",
    "passes",
    "launch_s",
    "tensor_launch_s",
    "link",
    "link_s",
    "network",
    "network_s",
    "gather",
    "hiding",
    "optimizer",
    "step_s",
    "message_s",
    "adapter_launch_s",
    "shard_launch_s",
    "unpack",
    "fp8",
    "pace",
];

#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Constants(pub [f64; COUNT]);

impl Constants {
    /// A constant, at the pace of these.
    #[inline]
    pub fn value_of(&self, constant: Constant) -> f64 {
        let (value, pace) = (self.0[constant as usize], self.0[Constant::Pace as usize]);
        match constant.power_of_pace() {
            1 => value * pace,
            -1 => value / pace,
            _ => value,
        }
    }

    /// What a generation's GPUs reach of an Ampere GPU's share of its peak: in products, and in fused attention.
    #[inline]
    pub fn generation(&self, generation: usize) -> (f64, f64) {
        let at = RUNTIME_CONSTANTS + 2 * generation;
        (self.0[at], self.0[at + 1])
    }
}

/// What is known of the constants before anything is measured: each is log-normal.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Prior {
    pub medians: Constants,
    /// Standard deviations of the logarithms.
    pub spreads: [f64; COUNT],
}

impl Prior {
    /// The constants that are `at` standard deviations off their medians.
    pub fn moved(&self, at: &[f64; COUNT]) -> Constants {
        Constants(std::array::from_fn(|n| {
            self.medians.0[n] * libm::exp(at[n] * self.spreads[n])
        }))
    }
}
