//! Imports of a model's layers as a layer profile: the folder, its replacement, and mistakes.

use scavsim::input::{Diagnostics, Folder};
use scavsim::parallel::{LayerProfile, library};

use crate::sandbox::{Sandbox, stderr, stdout};

const TIMES: &str = "gpu,tensor,micro_batch,layer,forward_s,backward_s,update_s\n\
    A100,1,4,0,0.001,0.002,0.0001\nA100,1,4,1,0.003,0.006,0.0001\nA100,1,4,2,0.003,0.006,0.0001\n";
const MEMORY: &str = "tensor,layer,parameters,stored_bytes,output_bytes\n\
    1,0,1000,100000,4000\n1,1,2000,200000,4000\n1,2,2000,200000,4000\n";

const IMPORT: [&str; 10] = [
    "import",
    "layers",
    "times.csv",
    "--memory",
    "memory.csv",
    "--sequence",
    "128",
    "--hidden",
    "16",
    "--out",
];

fn own(times: &str) -> Sandbox {
    let sandbox = Sandbox::new();
    sandbox.write("times.csv", times);
    sandbox.write("memory.csv", MEMORY);
    sandbox
}

fn import(sandbox: &Sandbox, more: &[&str]) -> assert_cmd::assert::Assert {
    let arguments: Vec<&str> = IMPORT.iter().chain(more).copied().collect();
    sandbox.run(&arguments)
}

#[test]
fn a_profilers_tables_become_a_folder_that_is_read() {
    let sandbox = own(TIMES);
    let done = import(&sandbox, &["mine"]).success();
    assert!(
        stdout(&done).contains("mine: 3 layers"),
        "{}",
        stdout(&done)
    );
    assert_eq!(
        sandbox.files("mine"),
        ["layers.csv", "layers.toml", "times.csv"]
    );
    let mut diagnostics = Diagnostics::default();
    let profile = LayerProfile::load(&Folder::Disk(sandbox.path("mine")), &mut diagnostics);
    let profile = profile.unwrap_or_else(|| panic!("{}", diagnostics.render(false)));
    assert_eq!(
        (&*profile.name, profile.layers, profile.parameters),
        ("mine", 3, 5000)
    );
    assert_eq!(profile.micro_batches("A100", 1), [4]);
    // It is replaced only on request.
    let refused = import(&sandbox, &["mine"]).code(2);
    assert!(
        stderr(&refused).contains("mine is already there"),
        "{}",
        stderr(&refused)
    );
    import(&sandbox, &["mine", "--force"]).success();
}

#[test]
fn a_missing_layer_is_named_and_nothing_is_written() {
    let sandbox = own(&TIMES.replace("A100,1,4,1,", "A100,1,4,3,"));
    let refused = import(&sandbox, &["mine"]).code(2);
    let said = stderr(&refused);
    assert!(
        said.contains("layer 1 is missing on A100 at tensor degree 1 and micro-batch 4"),
        "{said}"
    );
    assert!(said.contains("times.csv:4"), "{said}");
    assert!(sandbox.files("mine").is_empty());
}

#[test]
fn embedded_profiles_and_links_are_read() {
    let mut diagnostics = Diagnostics::default();
    let names = library::names();
    assert_eq!(names, ["gpt-neo-2.7b", "llama-3-8b", "opt-30b", "opt-350m"]);
    for name in names {
        let profile = library::profile(name, &mut diagnostics);
        assert_eq!(profile.map(|p| p.name.to_string()).as_deref(), Some(name));
    }
    let links = library::links(&mut diagnostics);
    assert!(links.is_some_and(|l| l.gpu("A100-80").is_some()));
    assert!(diagnostics.is_empty(), "{}", diagnostics.render(false));
}
