use super::Task;
use scavsim_data::cloud::Machine;
use scavsim_data::space::{AxisKind, VM};

/// Names of an axis of virtual processors, and of one of memory in GiB.
const CORES: &[&str] = &["cores", "vcpu", "vcpus", "cpu", "cpus"];
const MEMORY: &[&str] = &["memory_gib", "memory_gb", "memory", "mem", "ram"];

/// What the VMs of each configuration have: as their types are known to; where one is not, as axes of cores and memory say, if there
/// are such. Else a type that nobody knows is taken for the known one of the nearest price per VM, larger or smaller as its price is. `None` where no type is known.
pub(super) fn machines(task: &Task<'_>) -> Option<Vec<Machine>> {
    if let Some(of_axes) = of_axes(task) {
        return Some(of_axes);
    }
    let count = task.space.len();
    let known: Vec<Option<Machine>> = (0..count).map(|at| task.machine(at)).collect();
    let price = |at: usize| {
        let workers = task.space.workers(at).map_or(1.0, f64::from);
        let usd = task.prices?.usd_per_hour(at).filter(|usd| *usd > 0.0)?;
        Some(libm::log(usd / workers))
    };
    let examples: Vec<(Option<f64>, Machine)> = (known.iter().enumerate())
        .filter_map(|(at, machine)| Some((price(at), (*machine)?)))
        .collect();
    let like = |at: usize| {
        let usd = price(at);
        let apart = |of: Option<f64>| usd.zip(of).map_or(f64::INFINITY, |(a, b)| (a - b).abs());
        let near = examples
            .iter()
            .min_by(|a, b| apart(a.0).total_cmp(&apart(b.0)))?;
        let larger = usd
            .zip(near.0)
            .map_or(1.0, |(own, other)| libm::exp(own - other));
        let Machine {
            vcpu,
            memory_gib,
            gpus,
            ..
        } = near.1;
        Some(Machine::new(vcpu * larger, memory_gib * larger, gpus))
    };
    let each = known.iter().enumerate();
    each.map(|(at, machine)| machine.or_else(|| like(at)))
        .collect()
}

/// What axes of cores and of memory say, where a space has both and types do not say it all: beside types that are known, such axes
/// are parameters of a job.
fn of_axes(task: &Task<'_>) -> Option<Vec<Machine>> {
    let space = task.space;
    if (0..space.len()).all(|at| task.machine(at).is_some()) {
        return None;
    }
    let place = |names: &[&str]| {
        let is_it = |name: &str| names.contains(&&*name.to_ascii_lowercase());
        let mut axes = space.axes().iter();
        axes.position(|axis| matches!(axis.kind, AxisKind::Numeric { .. }) && is_it(&axis.name))
    };
    let (cores, memory) = (place(CORES)?, place(MEMORY)?);
    let machine = |at: usize| {
        let (cores, memory_gib) = (space.value(at, cores), space.value(at, memory));
        (cores > 0.0 && memory_gib > 0.0).then(|| Machine::new(cores, memory_gib, 0))
    };
    (0..space.len()).map(machine).collect()
}

/// Whether an axis says nothing that the VM type, or the axes of cores and memory, do not say already.
pub(super) fn is_of_machines(task: &Task<'_>, place: usize) -> bool {
    let space = task.space;
    let name = space.axes()[place].name.to_ascii_lowercase();
    let is_named = CORES.contains(&&*name) || MEMORY.contains(&&*name);
    if is_named && of_axes(task).is_some() {
        return true;
    }
    let Some(vm) = space.axis(VM).filter(|vm| *vm != place) else {
        return false;
    };
    let mut by_level = vec![None; space.axes()[vm].levels().len()];
    (0..space.len()).all(|at| {
        let of_level = &mut by_level[space.value(at, vm) as usize];
        *of_level.get_or_insert(space.value(at, place)) == space.value(at, place)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::search::Prices;
    use scavsim_data::cloud::Fleet;
    use scavsim_data::space::{Axis, Space};

    struct PerVm([f64; 3]);

    impl Prices for PerVm {
        fn run_usd(&self, configuration: usize, seconds: f64) -> Option<f64> {
            Some(self.0[configuration] * seconds / 3600.0)
        }
    }

    /// An m4.xlarge has 4 cores and 16 GiB; a type of half its price that nobody knows is taken for half of it.
    #[test]
    fn an_unknown_type_is_what_its_price_says() {
        let axes = vec![Axis::categorical(
            "vm",
            ["m4.xlarge".into(), "mine".into(), "m4.4xlarge".into()],
        )];
        let space = Space::new(axes, [[0.0], [1.0], [2.0]]).expect("a space");
        let listed = |name| Fleet::listed().machine(name);
        let known = [listed("m4.xlarge"), None, listed("m4.4xlarge")];
        let prices = PerVm([0.2, 0.1, 0.8]);
        let mut task = Task::new("mine", &space);
        task.machines = &known;
        task.prices = Some(&prices);
        let found = machines(&task).expect("some are known");
        assert!((found[1].vcpu - 2.0).abs() < 1e-9 && (found[1].memory_gib - 8.0).abs() < 1e-9);
        assert_eq!(Some(found[0]), known[0]);
        task.machines = &[];
        assert!(machines(&task).is_none());
    }

    #[test]
    fn axes_of_cores_and_memory_are_machines_and_nothing_else() {
        let axes = vec![
            Axis::categorical("vm", ["a".into(), "b".into()]),
            Axis::numeric("cores", "1"),
            Axis::numeric("mem", "GiB"),
            Axis::numeric("disk", "GB"),
            Axis::numeric("rate", "1"),
        ];
        let rows = [
            [0.0, 2.0, 4.0, 9.0, 1.0],
            [1.0, 4.0, 8.0, 9.0, 1.0],
            [1.0, 4.0, 8.0, 9.0, 2.0],
        ];
        let space = Space::new(axes, rows).expect("a space");
        let mut task = Task::new("mine", &space);
        let found = machines(&task).expect("its axes say so");
        assert_eq!((found[1].vcpu, found[1].memory_gib), (4.0, 8.0));
        let told: Vec<bool> = (0..5).map(|place| is_of_machines(&task, place)).collect();
        assert_eq!(told, [false, true, true, true, false]);
        // Beside types that are known, cores that differ on one type are a parameter of the job, as those of its executors.
        let axes = vec![
            Axis::categorical("vm", ["m4.xlarge".into(), "m4.2xlarge".into()]),
            Axis::numeric("cores", "1"),
            Axis::numeric("mem", "GiB"),
        ];
        let rows = [[0.0, 1.0, 2.0], [0.0, 2.0, 2.0], [1.0, 2.0, 4.0]];
        let space = Space::new(axes, rows).expect("a space");
        let listed = |name| Fleet::listed().machine(name);
        let known = [
            listed("m4.xlarge"),
            listed("m4.xlarge"),
            listed("m4.2xlarge"),
        ];
        task = Task::new("mine", &space);
        task.machines = &known;
        let told: Vec<bool> = (0..3).map(|place| is_of_machines(&task, place)).collect();
        assert_eq!(told, [false, false, true]);
        assert_eq!(machines(&task).expect("all are known")[1].vcpu, 4.0);
    }
}
