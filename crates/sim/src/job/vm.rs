use scavsim_base::units::SimTime;

#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Member {
    pub group: u16,
    pub vm: u16,
    pub on_spot: bool,
    /// Number of the law of its life, as its group has it.
    pub market: u16,
    pub is_server: bool,
    /// Whether its first worker is the chief.
    pub is_chief: bool,
    /// When it was requested: it is billed from then on.
    pub from: SimTime,
    pub runs: SimTime,
    pub ready: SimTime,
    pub end: SimTime,
    /// Which request of its replica it came of.
    pub request: u32,
}

pub fn never() -> SimTime {
    SimTime::from_seconds(f64::INFINITY)
}
