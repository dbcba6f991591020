//! Constants of the law that are measured and not counted, each with its uncertainty.

/// Generations of GPUs with factors of their own.
pub const GENERATIONS: [&str; 5] = ["volta", "ampere", "hopper", "blackwell", "cdna"];
/// All constants: those of the runtime, then two factors for each generation.
pub const COUNT: usize = RUNTIME_CONSTANTS + 2 * GENERATIONS.len();

/// Passes all constants of a runtime to a macro: description, name, key in files, and the power of the pace that scales it: 1
/// for seconds, −1 for a share of a rate.
macro_rules! with_constants {
    ($receiver:ident) => {
        $receiver! {
            /// Share of the peak that large matrix products reach on an Ampere GPU.
            Matmul matmul -1,
            /// Loss by a short inner dimension k of a product: the share is over 1 + `inner` 100/k + `few` 100/m.
            Inner inner 0,
            /// Loss by few rows m of a product.
            Few few 0,
            /// Power of the share of multiprocessors that the last tiles of a product keep busy.
            Tile tile 0,
            /// Share of the peak that fused attention reaches on an Ampere GPU.
            Attention attention -1,
            /// Share of the memory's bandwidth.
            Memory memory -1,
            /// Passes over memory beside products, as a multiple of those counted.
            Passes passes 0,
            /// Seconds in which the host launches the forward pass of a block.
            LaunchS launch_s 1,
            /// Seconds that it takes beside where tensor parallelism adds kernels.
            TensorLaunchS tensor_launch_s 1,
            /// Share of one direction of the link between GPUs of a node that collectives reach.
            Link link -1,
            /// Seconds of a collective inside a node beside its bytes.
            LinkS link_s 1,
            /// Share of a node's network that transfers reach.
            Network network -1,
            /// Seconds of a transfer between nodes beside its bytes.
            NetworkS network_s 1,
            /// Seconds of gathering shards that count, as a multiple of those counted.
            Gather gather 0,
            /// Norm by which computing and gathering shards add up.
            Hiding hiding 0,
            /// Passes over memory of the optimiser, as a multiple of those counted.
            Optimizer optimizer 0,
            /// Seconds of a step that neither the model nor the plan explains.
            StepS step_s 1,
            /// Seconds of a message between stages beside its bytes.
            MessageS message_s 1,
            /// Seconds that the host takes beside to launch the forward pass of a block's adapters.
            AdapterLaunchS adapter_launch_s 1,
            /// Seconds that the host takes beside to launch the forward pass of a block whose weights are in shards.
            ShardLaunchS shard_launch_s 1,
            /// Passes over memory of unpacking 4-bit weights, as a multiple of reading and writing them once.
            Unpack unpack 0,
            /// What products of 8 bits reach of the share of their peak that products of 16 bits reach.
            Fp8 fp8 0,
            /// Seconds of everything, as a multiple of what published runs take.
            Pace pace 0,
        }
    };
}
pub(crate) use with_constants;

macro_rules! constants {
    ($($(#[$doc:meta])* $constant:ident $key:ident $power_of_pace:literal,)*) => {
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        #[repr(usize)]
        pub enum Constant {
            $($(#[$doc])* $constant,)*
        }

        impl Constant {
            const fn power_of_pace(self) -> i32 {
                match self { $(Constant::$constant => $power_of_pace,)* }
            }
        }

        pub const RUNTIME_CONSTANTS: usize = NAMES.len();

        /// Keys of the constants in scenarios and files of runtimes, in the order of [`Constant`].
        pub const NAMES: &[&str] = &[$(stringify!($key),)*];
    };
}
with_constants!(constants);

#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Constants(pub [f64; COUNT]);

impl Constants {
    /// A constant, scaled by the pace.
    #[inline]
    pub fn value_of(&self, constant: Constant) -> f64 {
        let (value, pace) = (self.0[constant as usize], self.0[Constant::Pace as usize]);
        match constant.power_of_pace() {
            1 => value * pace,
            -1 => value / pace,
            _ => value,
        }
    }

    /// The factors of a generation's GPUs relative to an Ampere GPU's share of its peak: in products, and in fused attention.
    #[inline]
    pub fn generation(&self, generation: usize) -> (f64, f64) {
        let at = RUNTIME_CONSTANTS + 2 * generation;
        (self.0[at], self.0[at + 1])
    }
}

/// The prior of the constants: each is log-normal.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Prior {
    pub medians: Constants,
    /// Standard deviations of the logarithms.
    pub spreads: [f64; COUNT],
}

impl Prior {
    /// The constants that differ from their medians by `at` standard deviations.
    pub fn moved(&self, at: &[f64; COUNT]) -> Constants {
        Constants(std::array::from_fn(|n| {
            self.medians.0[n] * libm::exp(at[n] * self.spreads[n])
        }))
    }
}
