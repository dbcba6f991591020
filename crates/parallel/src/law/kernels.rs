//! Seconds of a GPU's kernels: matrix products, fused attention, passes over memory.

use super::constants::{Constant, Constants};
use crate::runtime::Shard;

/// Rows and columns of the tile of a product that one multiprocessor computes at once.
pub(super) const TILE: f64 = 128.0;
/// Seconds between two kernels on the GPU itself.
const KERNEL_S: f64 = 2e-6;
/// Norm that combines computing and launching: the longer of the two if they differ, a little more if they do not.
const LAUNCH_NORM: f64 = 4.0;

/// The law's view of a GPU, at one precision.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Device {
    /// Dense FLOP/s at the precision, by the data sheet.
    pub peak_flops: f64,
    /// Dense FLOP/s of the 16-bit parts if products of blocks have 8 bits: attention and the head; otherwise as `peak_flops`.
    pub wide_flops: f64,
    /// Bytes per second of its memory, by the data sheet.
    pub memory_bytes_per_s: f64,
    pub multiprocessors: f64,
    pub generation: usize,
    pub value_bytes: f64,
}

#[derive(Debug, Clone, Copy)]
pub struct Kernels<'c> {
    device: Device,
    constants: &'c Constants,
    product_flops: f64,
    attention_flops: f64,
    bytes_per_s: f64,
}

impl Device {
    /// Whether products of blocks have fewer bits than the rest.
    pub fn casts(&self) -> bool {
        self.wide_flops < self.peak_flops
    }
}

impl<'c> Kernels<'c> {
    pub fn new(device: Device, constants: &'c Constants) -> Kernels<'c> {
        let (matmul, attention) = constants.generation(device.generation);
        let narrow = if device.casts() {
            constants.value_of(Constant::Fp8)
        } else {
            1.0
        };
        let matmul = constants.value_of(Constant::Matmul) * matmul;
        Kernels {
            device,
            constants,
            product_flops: device.peak_flops * matmul * narrow,
            attention_flops: device.wide_flops
                * constants.value_of(Constant::Attention)
                * attention,
            bytes_per_s: device.memory_bytes_per_s * constants.value_of(Constant::Memory),
        }
    }

    pub fn value_bytes(&self) -> f64 {
        self.device.value_bytes
    }

    /// The GPU with all products in 16 bits if those of blocks have 8.
    pub fn wide(&self) -> Kernels<'c> {
        let device = Device {
            peak_flops: self.device.wide_flops,
            ..self.device
        };
        Kernels::new(device, self.constants)
    }

    /// Bytes that casting writes for an input value of a product: one unchanged and one transposed for the backward pass; the
    /// pass before has read it. 0 without casting.
    pub fn cast_bytes(&self) -> f64 {
        if self.device.casts() { 2.0 } else { 0.0 }
    }

    /// Seconds of the product of an m × k with a k × n matrix: the longer of 2mkn FLOPs over what the peak gives for such a
    /// shape, and its matrices over the memory's bandwidth.
    pub fn product_s(&self, m: f64, k: f64, n: f64) -> f64 {
        let c = self.constants;
        let tiles = (m / TILE).ceil() * (n / TILE).ceil();
        let of = self.device.multiprocessors;
        let busy = tiles / ((tiles / of).ceil() * of);
        let shape = libm::pow(busy, c.value_of(Constant::Tile))
            / (1.0
                + c.value_of(Constant::Inner) * 100.0 / k
                + c.value_of(Constant::Few) * 100.0 / m);
        let bytes = self.device.value_bytes * (m * k + k * n + m * n);
        (2.0 * m * k * n / (self.product_flops * shape)).max(bytes / self.bytes_per_s) + KERNEL_S
    }

    /// Seconds of `count` equal parallel products of an m × k with a k × n matrix.
    pub fn products_s(&self, count: f64, m: f64, k: f64, n: f64) -> f64 {
        let shape = 1.0 / (1.0 + self.constants.value_of(Constant::Inner) * 100.0 / k);
        let bytes = self.device.value_bytes * (m * k + k * n + m * n);
        let one = (2.0 * m * k * n / (self.product_flops * shape)).max(bytes / self.bytes_per_s);
        count * one + KERNEL_S
    }

    pub fn attention_s(&self, flops: f64) -> f64 {
        flops / self.attention_flops + KERNEL_S
    }

    pub fn passes_s(&self, bytes: f64) -> f64 {
        self.constants.value_of(Constant::Passes) * bytes / self.bytes_per_s
    }

    pub fn optimizer_s(&self, bytes: f64) -> f64 {
        self.constants.value_of(Constant::Optimizer) * bytes / self.bytes_per_s
    }

    /// Seconds of unpacking weights that are `bytes` long packed and unpacked together.
    pub fn unpack_s(&self, bytes: f64) -> f64 {
        self.constants.value_of(Constant::Unpack) * bytes / self.bytes_per_s
    }

    pub fn adapter_launch_s(&self) -> f64 {
        self.constants.value_of(Constant::AdapterLaunchS)
    }

    /// Seconds of a pass with `computed` seconds of compute and `launched` seconds of launching on the host.
    pub fn launched_s(&self, computed: f64, launched: f64) -> f64 {
        norm(computed, launched, LAUNCH_NORM)
    }

    pub fn launch_s(&self, tensor: u32, shard: Shard) -> f64 {
        let beside = |is_so: bool, constant| {
            if is_so {
                self.constants.value_of(constant)
            } else {
                0.0
            }
        };
        self.constants.value_of(Constant::LaunchS)
            + beside(tensor > 1, Constant::TensorLaunchS)
            + beside(shard == Shard::Full, Constant::ShardLaunchS)
    }
}

/// (aᵖ + bᵖ)^(1/p) of two numbers that are not negative.
pub fn norm(a: f64, b: f64, p: f64) -> f64 {
    let (small, large) = if a < b { (a, b) } else { (b, a) };
    if small <= 0.0 {
        return large;
    }
    large * libm::pow(1.0 + libm::pow(small / large, p), 1.0 / p)
}
