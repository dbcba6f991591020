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
    by_name: BTreeMap<Spanned<String>, u8>,
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
        let odd = (number % 2 == 1).then_some(Self(number));
        odd.ok_or_else(|| "this must be odd".to_owned())
    }
}

fn scenario(text: &str) -> (Option<Scenario>, String, usize) {
    let mut d = Diagnostics::default();
    let read = read(&Source::new("s.toml", text), &mut d);
    (read, d.render(false), d.len())
}

/// The rest of a text with exactly these mistakes.
#[track_caller]
fn left<T: serde::de::DeserializeOwned>(text: &str, expected: &[&str]) -> Option<T> {
    let mut d = Diagnostics::default();
    let left = read(&Source::new("s.toml", text), &mut d);
    let shown = d.render(false);
    for part in expected {
        assert!(shown.contains(part), "{part}\nnot in\n{shown}");
    }
    assert_eq!(d.len(), expected.len(), "{shown}");
    left
}

#[track_caller]
fn reports(text: &str, expected: &[&str]) -> Option<Scenario> {
    left(text, expected)
}

#[track_caller]
fn kinds(text: &str, expected: &[&str]) -> Vec<String> {
    let left: Option<BTreeMap<String, Kind>> = left(text, expected);
    left.unwrap_or_default().into_keys().collect()
}

#[test]
fn a_good_document_keeps_its_places() {
    let text = "seed = 7\nby_name.one = 1\n[pricing]\npolicy = \"gcp-spot\"\n[[workers]]\nname = \"a\"\ncores = 2\n";
    let read = reports(text, &[]).expect("nothing is wrong");
    let policy = read.pricing.policy.expect("it is set");
    assert_eq!(*policy.get_ref(), Policy::GcpSpot);
    assert_eq!(&text[policy.span()], "\"gcp-spot\"");
    assert_eq!(&text[read.workers[0].name.span()], "\"a\"");
    let (name, _) = read.by_name.first_key_value().expect("one is given");
    assert_eq!(&text[name.span()], "one");
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
    // A worker without its required `cores` is not returned.
    assert!(read.is_none());
}

#[test]
fn what_is_left_is_returned() {
    let text = "sizes = [1, \"x\", 3]\nseed = \"y\"\n[pricing]\ndiscount = 0.5\nreplica = 1\n";
    let mistakes = [
        "found the text \"x\"",
        "found the text \"y\"",
        "key `replica`",
    ];
    let read = reports(text, &mistakes).expect("nothing required was cut");
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
    let nested = "[pricing.replicas.a]\nb = 1";
    for (text, key, expected) in [
        ("pair = [1, \"x\"]", "pair", "a whole number"),
        ("pair = [1]", "pair", "a list of 2, found 1"),
        ("pair = 1", "pair", "a list of 2, found the number 1"),
        ("pricing = 3", "pricing", "a table, found the number 3"),
        ("[sizes]\na = 1", "sizes", "a list, found a table"),
        (nested, "replicas", "a whole number, found a table"),
        ("pricing = []", "pricing", "a table, found a list"),
        ("[[pricing]]", "pricing", "a table, found a list"),
    ] {
        reports(text, &[&format!("`{key}`: expected {expected}")]);
    }
}

#[test]
fn characters_that_are_not_seen_are_told_where_nothing_else_is() {
    let (_, shown, _) = scenario("\"a\u{202e}b\" = 1");
    assert!(shown.contains("unknown key `a\\u{202e}b`"), "{shown}");
    assert!(!shown.contains("not seen"), "{shown}");
    let text = "by_name = { \"a\u{202e}b\" = 1 }";
    reports(text, &["`a\\u{202e}b` has characters that are not seen"]);
}

#[test]
fn an_element_refused_by_its_own_type_is_found() {
    let odd = "`odd`: this must be odd\n --> s.toml:1:";
    let [second, fourth] = ["11\n", "17\n"].map(|at| format!("{odd}{at}"));
    reports("odd = [1, 2, 3, 4]\n", &[&second, &fourth]);
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
    let twice = "duplicate key `pricing`\n --> s.toml:2:2\n";
    reports("[pricing]\n[pricing]\n", &[twice]);
    let open = "[[workers]]\nname = \"a\ncores = 1\n";
    reports(open, &["not valid TOML: "]);
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
    let accepts_or_says = |text: &str| {
        let (read, _, count) = scenario(text);
        assert!(read.is_some() || count > 0, "{text}");
    };
    for end in (0..=text.len()).filter(|end| text.is_char_boundary(*end)) {
        for piece in ["", "=", "[", "]]", "\"", "{", ".", "\0"] {
            accepts_or_says(&format!("{}{piece}{}", &text[..end], &text[end..]));
            accepts_or_says(&format!("{}{piece}", &text[..end]));
        }
    }
    scenario(&"[".repeat(100_000));
    scenario(&format!("x = {}", "[".repeat(100_000)));
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
#[expect(dead_code, reason = "only read to be refused")]
enum Kind {
    Free,
    Fixed { price: f64, per: Option<String> },
    Ratio(f64),
    Steps(Vec<f64>),
    Bounds(Bounds),
    Any(Any),
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
#[expect(dead_code, reason = "only read to be refused")]
struct Bounds {
    least: Odd,
    name: Spanned<Policy>,
    most: Option<u8>,
    kind: Box<Kind>,
}

#[derive(Debug, Deserialize)]
#[serde(default, deny_unknown_fields)]
#[derive(Default)]
struct Any {
    share: f64,
}

#[test]
fn a_kind_of_which_nothing_is_known_is_left_out_alone() {
    let left = kinds(
        "a = \"fre\"\nb = { fixd = { price = 1 } }\nc = 3\nd = {}\ne = { free = {}, ratio = 1 }\nf = \"free\"\n\
         g = { free = {} }\n",
        &[
            "`a`: unknown value `fre`\n --> s.toml:1:5\n  |\n1 | a = \"fre\"\n  |     ^^^^^ did you mean `free`?\n",
            "`b`: unknown value `fixd`\n --> s.toml:2:7\n",
            "`c`: expected a text or a table, found the number 3\n --> s.toml:3:5\n",
            "`d`: expected a table with exactly one key\n --> s.toml:4:5\n",
            "`e`: expected a table with exactly one key\n --> s.toml:5:5\n",
        ],
    );
    assert_eq!(left, ["f", "g"]);
}

#[test]
fn what_is_inside_a_kind_is_read_as_strictly_as_the_rest() {
    let left = kinds(
        "a = { fixed = [1] }\nb = { bounds = [1, \"gcp-spot\"] }\nc = { free = [] }\nd = { free = { x = 1 } }\n\
         e = { fixed = { price = 1, prize = 2 } }\nf = { ratio = \"x\" }\ng = { steps = [1, \"x\"] }\n\
         h = { any = [] }\n",
        &[
            "`fixed`: expected a table, found a list\n --> s.toml:1:15\n",
            "`bounds`: expected a table, found a list\n --> s.toml:2:16\n",
            "`free` has no settings\n --> s.toml:3:14\n",
            "`free` has no settings\n --> s.toml:4:14\n",
            "unknown key `prize`\n --> s.toml:5:28\n",
            "`ratio`: expected a number, found the text \"x\"\n --> s.toml:6:15\n",
            "`steps`: expected a number, found the text \"x\"\n --> s.toml:7:19\n",
            "`any`: expected a table, found a list\n --> s.toml:8:13\n",
        ],
    );
    assert_eq!(left, ["e", "g"]);
}

#[test]
fn a_kind_without_its_settings_says_which_it_needs() {
    kinds(
        "a = \"fixed\"\nb = \"ratio\"\nc = \"steps\"\nd = \"bounds\"\ne = \"any\"\n",
        &[
            "`a`: `fixed` needs its settings\n --> s.toml:1:5\n  |\n1 | a = \"fixed\"\n  |     ^^^^^^^ \
             write `{ fixed = { price = ..., per = ... } }`\n",
            "`b`: `ratio` needs a number\n --> s.toml:2:5\n  |\n2 | b = \"ratio\"\n  |     ^^^^^^^ \
             write `{ ratio = ... }`\n",
            "`c`: `steps` needs a list\n --> s.toml:3:5\n",
            "write `{ bounds = { least = ..., name = ..., kind = ... } }`\n",
            "write `{ any = {} }`\n",
        ],
    );
}

#[test]
fn whatever_a_missing_key_needs_is_made_up_for_the_rest_of_its_table() {
    let missing = ["kind", "least", "name"].map(|key| format!("missing key `{key}`"));
    let [kind, least, name] = &missing;
    kinds(
        "a = { bounds = { mst = 1 } }\n",
        &[kind, least, name, "unknown key `mst`"],
    );
    let price = ["missing key `price`", "unknown key `prize`"];
    kinds("a = { fixed = { prize = 1 } }\n", &price);
}

#[test]
fn numbers_that_no_type_holds_are_told_in_plain_words() {
    reports(
        "seed = 99999999999999999999\nsizes = [1e999, inf, 99999999999999999999]\n[pricing]\n\
         discount = 999999999999999999999999999999999999999999999\n",
        &[
            "`seed`: expected a whole number between 0 and 18446744073709551615, found the number 99999999999999999999\n",
            "`sizes`: the number 1e999 is too large\n",
            "`discount`: the number 9999999999999999999999999999999999999999... is too large\n",
        ],
    );
}
