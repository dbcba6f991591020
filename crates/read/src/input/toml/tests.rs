use std::collections::BTreeMap;

use ::toml::Spanned;
use serde::Deserialize;

use super::read;
use crate::input::{Diagnostics, Source};

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct Scenario {
    seed: Option<Spanned<u64>>,
    pricing: Pricing,
    workers: Vec<Worker>,
    sizes: Vec<Spanned<f64>>,
    pair: Option<[u8; 2]>,
    odd: Vec<Odd>,
    by_name: BTreeMap<String, u8>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct Pricing {
    policy: Option<Spanned<Policy>>,
    replicas: Option<Spanned<u32>>,
    discount: f64,
}

#[derive(Debug, Clone, Copy, PartialEq, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Policy {
    GcpSpot,
    AwsSpot,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Worker {
    name: Spanned<String>,
    cores: u32,
    #[serde(default)]
    policy: Option<Policy>,
}

#[derive(Debug, Deserialize)]
#[serde(try_from = "u32")]
#[expect(dead_code, reason = "only read to be refused")]
struct Odd(u32);

impl TryFrom<u32> for Odd {
    type Error = String;

    fn try_from(number: u32) -> Result<Self, String> {
        if number % 2 == 1 {
            Ok(Self(number))
        } else {
            Err("this must be odd".to_owned())
        }
    }
}

fn scenario(text: &str) -> (Option<Scenario>, String, usize) {
    let mut d = Diagnostics::default();
    let read = read(&Source::new("s.toml", text), &mut d);
    (read, d.render(false), d.len())
}

#[track_caller]
fn reports(text: &str, expected: &[&str]) -> Option<Scenario> {
    let (read, shown, count) = scenario(text);
    for part in expected {
        assert!(shown.contains(part), "{part}\nnot in\n{shown}");
    }
    assert_eq!(count, expected.len(), "{shown}");
    read
}

#[test]
fn a_good_document_keeps_its_places() {
    let text = "seed = 7\n[pricing]\npolicy = \"gcp-spot\"\n[[workers]]\nname = \"a\"\ncores = 2\n";
    let read = reports(text, &[]).expect("nothing is wrong");
    let policy = read.pricing.policy.expect("it is set");
    assert_eq!(*policy.get_ref(), Policy::GcpSpot);
    assert_eq!(&text[policy.span()], "\"gcp-spot\"");
    assert_eq!(&text[read.workers[0].name.span()], "\"a\"");
    assert_eq!(read.workers[0].cores, 2);
    assert_eq!(read.workers[0].policy, None);
    assert_eq!(read.seed.map(Spanned::into_inner), Some(7));
}

#[test]
fn every_kind_of_mistake_at_once() {
    let text = r#"seeed = 1
sizes = [1, 2.5, "big", 4]
seed = 3
seed = 4

[pricing]
policy = "gcp-spott"
replicas = "abc"
discount = 2020-01-01

[by_name]
small = 1
large = 300

[[workers]]
name = "a"
cores = 1
policy = "azure"

[[workers]]
name = "b"
cores = -1
colour = { red = 1 }
"#;
    let read = reports(
        text,
        &[
            "unknown key `seeed`\n --> s.toml:1:1\n  |\n1 | seeed = 1\n  | ^^^^^ did you mean `seed`?\n",
            "`sizes`: expected a number, found the text \"big\"\n --> s.toml:2:18\n",
            "duplicate key `seed`\n --> s.toml:4:1\n",
            "`policy`: unknown value `gcp-spott`\n --> s.toml:7:10\n",
            "`replicas`: expected a whole number, found the text \"abc\"\n --> s.toml:8:12\n",
            "`discount`: expected a number, found a date or time\n --> s.toml:9:12\n",
            "`large`: expected a whole number between 0 and 255, found the number 300\n  --> s.toml:13:9\n",
            "`policy`: unknown value `azure`\n  --> s.toml:18:10\n",
            "`cores`: expected a whole number between 0 and 4294967295, found the number -1\n  --> s.toml:22:9\n",
            "unknown key `colour`\n  --> s.toml:23:1\n",
        ],
    );
    // A worker without its required `cores` cannot be had.
    assert!(read.is_none());
}

#[test]
fn what_is_left_is_returned() {
    let text = "sizes = [1, \"x\", 3]\nseed = \"y\"\n[pricing]\ndiscount = 0.5\nreplica = 1\n";
    let read = reports(
        text,
        &[
            "found the text \"x\"",
            "found the text \"y\"",
            "key `replica`",
        ],
    )
    .expect("nothing required was cut");
    assert_eq!(read.pricing.discount, 0.5);
    assert!(read.pricing.replicas.is_none() && read.seed.is_none());
    let sizes: Vec<f64> = read.sizes.into_iter().map(Spanned::into_inner).collect();
    assert_eq!(sizes, [1.0, 3.0]);
}

#[test]
fn missing_keys_do_not_hide_the_rest_of_their_table() {
    let text = "[[workers]]\npolicy = \"nope\"\ncore = 1\n[[workers]]\nname = 3\ncores = 1\n";
    let read = reports(
        text,
        &[
            "missing key `name`\n --> s.toml:1:1\n",
            "missing key `cores`\n --> s.toml:1:1\n",
            "`policy`: unknown value `nope`\n --> s.toml:2:10\n",
            "unknown key `core`\n --> s.toml:3:1\n",
            "`name`: expected a text, found the number 3\n --> s.toml:5:8\n",
        ],
    );
    assert!(read.is_none());
}

#[test]
fn one_mistake_is_reported_once() {
    reports("pair = [1, \"x\"]\n", &["`pair`: expected a whole number"]);
    reports("pair = [1]\n", &["`pair`: expected a list of 2, found 1"]);
    reports(
        "pricing = 3\n",
        &["`pricing`: expected a table, found the number 3"],
    );
    reports(
        "[sizes]\na = 1\n",
        &["`sizes`: expected a list, found a table"],
    );
    reports(
        "[pricing.replicas.a]\nb = 1\n",
        &["`replicas`: expected a whole number, found a table"],
    );
    reports(
        "pricing = []\n",
        &["`pricing`: expected a table, found a list"],
    );
    reports(
        "[[pricing]]\n",
        &["`pricing`: expected a table, found a list"],
    );
}

#[test]
fn an_element_refused_by_its_own_type_is_found() {
    reports(
        "odd = [1, 2, 3, 4]\n",
        &[
            "`odd`: this must be odd\n --> s.toml:1:11\n",
            "`odd`: this must be odd\n --> s.toml:1:17\n",
        ],
    );
}

#[test]
fn all_syntax_errors_are_reported_without_their_consequences() {
    reports(
        "seed = \n[pricing]\nreplicas = many\npolicy == \"aws-spot\"\ndiscount = \"x\"\n",
        &[
            "error: not valid TOML: ",
            " --> s.toml:3:12\n",
            " --> s.toml:4:",
            "`discount`: expected a number, found the text \"x\"\n --> s.toml:5:12\n",
        ],
    );
    reports(
        "[pricing]\n[pricing]\n",
        &["duplicate key `pricing`\n --> s.toml:2:2\n"],
    );
    reports(
        "[[workers]]\nname = \"a\ncores = 1\n",
        &["not valid TOML: "],
    );
}

#[test]
fn a_file_of_another_kind_does_not_flood() {
    let text: String = (0..1000)
        .map(|number| format!("key{number} = 1\n"))
        .collect();
    let (read, shown, count) = scenario(&text);
    assert!(read.is_none());
    assert_eq!(count, 200);
    assert!(shown.ends_with("and 150 more\n"));
}

#[test]
fn nothing_breaks_it() {
    let text = "[pricing]\npolicy=\"a\\u00e9\"\nx.y=[{a=1},[2]]\n[[workers]]\nname='''\nä'''\n";
    for end in (0..=text.len()).filter(|end| text.is_char_boundary(*end)) {
        for piece in ["", "=", "[", "]]", "\"", "{", ".", "\0"] {
            let (read, _, count) = scenario(&format!("{}{piece}{}", &text[..end], &text[end..]));
            assert!(read.is_some() || count > 0, "{end} {piece}");
            let (read, _, count) = scenario(&format!("{}{piece}", &text[..end]));
            assert!(read.is_some() || count > 0, "{end} {piece}");
        }
    }
    scenario(&"[".repeat(100_000));
    scenario(&format!("x = {}", "[".repeat(100_000)));
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, tag = "kind", rename_all = "kebab-case")]
#[expect(dead_code, reason = "only read to be refused")]
enum Tagged {
    Fixed { price: f64 },
    Free {},
}

#[test]
fn mistakes_inside_tagged_tables_are_found_again() {
    let source = Source::new(
        "s.toml",
        "[a]\nkind = \"fixd\"\n[b]\nkind = \"fixed\"\nprice = 1\nprize = 2\n",
    );
    let mut d = Diagnostics::default();
    let read: Option<BTreeMap<String, Tagged>> = read(&source, &mut d);
    let shown = d.render(false);
    assert!(
        shown.contains("unknown value `fixd`\n --> s.toml:2:8\n"),
        "{shown}"
    );
    assert!(
        shown.contains("unknown key `prize`\n --> s.toml:6:1\n"),
        "{shown}"
    );
    assert_eq!(d.len(), 2, "{shown}");
    // With its tag unknown nothing is known of `a`.
    let left: Vec<String> = read
        .expect("nothing required was cut")
        .into_keys()
        .collect();
    assert_eq!(left, ["b"]);
}
