//! Parameter servers on the bill.

use super::base::Base;
use super::file::PolicyFile;
use scavsim_read::input::checked::MOST_MACHINES;

/// Parameter servers that are billed: held from the first VM to the last, at a VM's price.
#[derive(Debug, Clone, PartialEq)]
pub struct ParameterServers {
    /// How many.
    pub count: u32,
    /// VM type of the parameter servers; that of the workers when absent.
    pub vm: Option<String>,
}

/// The billed parameter servers; none by default, as in the Scavenger paper.
pub fn read(file: &PolicyFile, base: &Base) -> Result<Option<ParameterServers>, String> {
    let vm = file.parameter_server_vm.clone();
    match (file.billed_parameter_servers, base) {
        (0, _) if vm.is_some() => {
            Err("`parameter_server_vm` goes with `billed_parameter_servers`".to_owned())
        }
        (0, _) => Ok(None),
        (count, _) if count > MOST_MACHINES => Err(format!(
            "{count} billed parameter servers; at most {MOST_MACHINES}"
        )),
        (_, Base::Sample(_) | Base::Stated) => {
            Err("`billed_parameter_servers` needs a price per VM".to_owned())
        }
        (_, Base::Vm(price)) if price.is_flat() && vm.is_some() => {
            Err("`parameter_server_vm` needs a price that depends on the VM type".to_owned())
        }
        (count, Base::Vm(_)) => Ok(Some(ParameterServers { count, vm })),
    }
}
