use super::super::{Activations, library, measured};
use super::*;
use crate::input::Diagnostics;

fn all() -> (LayerProfile, Links, Vec<NodeKind>, Vec<measured::Measured>) {
    let mut d = Diagnostics::default();
    let profile = library::profile("opt-350m", &mut d);
    let links = library::links(&mut d);
    let plans = measured::plans(&mut d);
    assert!(d.is_empty(), "{}", d.render(false));
    (profile.unwrap(), links.unwrap(), measured::nodes(), plans)
}

#[test]
fn measured_plans() {
    let (profile, links, nodes, plans) = all();
    assert_eq!(plans.len(), 18);
    let runtime = Runtime::default();
    let (mut sum, mut worst) = (0.0, 0.0_f64);
    for m in &plans {
        let p = PreparedPlan::new(&profile, &links, &nodes, &runtime, &m.plan).unwrap();
        let e = p.step_s() / m.iteration_s - 1.0;
        let mem = (0..p.stages()).map(|s| p.peak_memory_bytes(s)).max().unwrap() as f64;
        println!("{:<12} {:9.4} {:9.4} {:+6.1}%   {:6.2} {:6.2} {:+6.1}%  events {:9.4}  {:?}", m.name, p.step_s(), m.iteration_s, 100.0*e, mem/1e9, m.peak_memory_bytes/1e9, 100.0*(mem/m.peak_memory_bytes-1.0),
        p.step_events(&mut |_| 1.0, &mut Room::default(), |_| ()), p.breakdown());
        sum += e.abs(); worst = worst.max(e.abs());
    }
    println!("mean {:.2} worst {:.1}", 100.0*sum/18.0, 100.0*worst);
}
