//! Paths that are timed alternately, and their table.

use cpu_time::ProcessTime;

/// The unit and the reference of a path.
#[derive(Debug, Clone, Copy)]
pub enum Goal {
    /// At most this many times the path at this place.
    Ratio(f64, usize),
    /// No goal: compared with the path at this place.
    Beside(usize),
    /// At most this many microseconds.
    Microseconds(f64),
    /// No goal.
    None,
}

/// One line of the table.
pub struct Path<'a> {
    name: String,
    /// The unit of work: worker-steps, runs, cases.
    per: &'static str,
    /// Units of work in one call.
    units: u64,
    goal: Goal,
    work: Box<dyn FnMut() + 'a>,
    /// CPU nanoseconds per unit, one per round.
    seen: Vec<f64>,
}

impl<'a> Path<'a> {
    /// A path that does `units` units of work in one call.
    pub fn new(
        name: impl Into<String>,
        (units, per): (u64, &'static str),
        goal: Goal,
        work: impl FnMut() + 'a,
    ) -> Self {
        Path {
            name: name.into(),
            per,
            units,
            goal,
            work: Box::new(work),
            seen: Vec::new(),
        }
    }

    fn measure(&mut self) {
        let start = ProcessTime::now();
        (self.work)();
        let spent = start.elapsed();
        self.seen.push(spent.as_nanos() as f64 / self.units as f64);
    }
}

/// Times all paths alternately, so that a change of the machine's pace affects all of them; ratios are computed round by round.
pub fn measure(paths: &mut [Path<'_>], rounds: usize) {
    for path in paths.iter_mut() {
        (path.work)(); // warm up: fill caches, grow buffers
    }
    for _ in 0..rounds {
        paths.iter_mut().for_each(Path::measure);
    }
}

/// The header of [`print`].
pub fn header(rounds: usize) {
    println!(
        "CPU time, {rounds} interleaved rounds: median of the time, median [min–max] of the ratio in the same round"
    );
    println!();
    println!(
        "{:<40} {:>10}  {:<11} {:>22}  {:<26} {:>8}  within?",
        "path", "CPU ns", "per", "ratio [min–max]", "to", "goal"
    );
}

/// One line per path.
pub fn print(paths: &[Path<'_>]) {
    for path in paths {
        let ns = Spread::of(path.seen.clone());
        let beside = |to: usize| {
            let each = path.seen.iter().zip(&paths[to].seen).map(|(a, b)| a / b);
            Spread::of(each.collect())
        };
        let (ratio, to, goal, within) = match path.goal {
            Goal::Ratio(goal, to) => {
                let other = &paths[to];
                let ratio = beside(to);
                let within = Some(ratio.median <= goal);
                (
                    ratio.to_string(),
                    other.name.as_str(),
                    format!("≤ {goal}"),
                    within,
                )
            }
            Goal::Beside(to) => {
                let ratio = beside(to).to_string();
                (ratio, paths[to].name.as_str(), String::new(), None)
            }
            Goal::Microseconds(us) => {
                let within = Some(ns.median <= us * 1e3);
                (String::new(), "", format!("≤ {us} µs"), within)
            }
            Goal::None => Default::default(),
        };
        let within = within.map_or("", |w| if w { "yes" } else { "NO" });
        let line = format!(
            "{:<40} {:>10.1}  {:<11} {ratio:>22}  {to:<26} {goal:>8}  {within}",
            path.name, ns.median, path.per,
        );
        println!("{}", line.trim_end());
    }
}

/// Median and range.
pub struct Spread {
    /// The median.
    pub median: f64,
    least: f64,
    most: f64,
}

impl Spread {
    /// The spread of values, at least one.
    pub fn of(mut values: Vec<f64>) -> Self {
        let median = scavsim::stats::median(&mut values).unwrap_or(f64::NAN);
        Spread {
            median,
            least: values.iter().copied().fold(f64::INFINITY, f64::min),
            most: values.iter().copied().fold(f64::NEG_INFINITY, f64::max),
        }
    }
}

impl std::fmt::Display for Spread {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let digits = if self.median < 10.0 { 3 } else { 1 };
        let [median, least, most] =
            [self.median, self.least, self.most].map(|v| format!("{v:.digits$}"));
        write!(f, "{median} [{least}–{most}]")
    }
}
