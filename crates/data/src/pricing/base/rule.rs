use super::price::Base;
use crate::pricing::file::PolicyFile;
use crate::pricing::wrong_policy::WrongPolicy;
use scavsim_base::Declaration;

pub struct Rule {
    pub declaration: Declaration,
    pub keys: &'static str,
    /// Reads it; `None` where none of its keys is given.
    pub(super) read: fn(&PolicyFile) -> Option<Result<Base, WrongPolicy>>,
}
