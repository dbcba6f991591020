use super::base::Base;
use super::file::PolicyFile;
use super::wrong_policy::{BY_TYPE, WrongPolicy};
use scavsim_read::input::checked::MOST_MACHINES;

/// Parameter servers that are billed: held from the first VM to the last, at a VM's price.
#[derive(Debug, Clone, PartialEq)]
pub struct ParameterServers {
    pub count: u32,
    /// VM type of the parameter servers; that of the workers when absent.
    pub vm: Option<String>,
}

/// The billed parameter servers; none by default, as in the Scavenger paper.
pub fn read(file: &PolicyFile, base: &Base) -> Result<Option<ParameterServers>, WrongPolicy> {
    let vm = file.parameter_server_vm.clone();
    match (file.billed_parameter_servers, base) {
        (0, _) if vm.is_some() => Err(WrongPolicy::GoesWith(
            "`parameter_server_vm`",
            "`billed_parameter_servers`",
        )),
        (0, _) => Ok(None),
        (count, _) if count > MOST_MACHINES => Err(WrongPolicy::ManyServers(count)),
        (_, Base::Sample(_) | Base::Stated) => Err(WrongPolicy::Needs(
            "`billed_parameter_servers`",
            "a price per VM",
        )),
        (_, Base::Vm(price)) if price.is_flat() && vm.is_some() => {
            Err(WrongPolicy::Needs("`parameter_server_vm`", BY_TYPE))
        }
        (count, Base::Vm(_)) => Ok(Some(ParameterServers { count, vm })),
    }
}
