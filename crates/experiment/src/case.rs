/// Place of a case in the order search problem → strategy → replica → policy → objective.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Case {
    pub number: u64,
    /// Index of the search problem: in a setting the workload, or where every VM is searched by itself one VM of it.
    pub arena: usize,
    pub policy: usize,
    pub objective: usize,
    pub strategy: usize,
    pub replica: u64,
}
