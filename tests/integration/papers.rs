//! Papers as folders: a reader's own, made by following the docs, and what is said of mistakes.

use super::sandbox::{Rows, Sandbox, stderr, stdout};

/// The blocks of `docs/reproduce.md` that follow a mention of a file, as files.
fn paper_of_the_docs(sandbox: &Sandbox) {
    let docs = include_str!("../../docs/reproduce.md");
    for file in ["paper.toml", "runs.toml", "figures.csv"] {
        let mention = format!("`my-paper/{file}`");
        let (_, behind) = docs.split_once(&mention).expect("the docs name it");
        let (_, block) = behind.split_once("```").expect("a block follows");
        let (_, text) = block.split_once('\n').expect("it has lines");
        let (text, _) = text.split_once("```").expect("it ends");
        put(sandbox, &format!("my-paper/{file}"), text);
    }
}

/// A file in a folder of the sandbox, which is made.
fn put(sandbox: &Sandbox, file: &str, text: &str) {
    let folder = sandbox.path(file);
    let folder = folder.parent().expect("it is in one");
    std::fs::create_dir_all(folder).expect("the sandbox is writable");
    sandbox.write(file, text);
}

#[test]
fn a_paper_made_by_following_the_docs_is_reproduced() {
    let sandbox = Sandbox::new();
    paper_of_the_docs(&sandbox);
    let assert = sandbox
        .run(&["reproduce", "my-paper", "--format", "json"])
        .code(0);
    let papers: serde_json::Value = serde_json::from_str(&stdout(&assert)).expect("JSON");
    let row = &papers[0]["rows"][0];
    assert_eq!(
        (papers[0]["paper"].as_str(), row["verdict"].as_str()),
        (Some("my-paper"), Some("ok"))
    );
    // What the product itself says.
    let run = sandbox
        .run(&["run", "my-paper/runs.toml", "--out", "out"])
        .code(0);
    drop(run);
    let records = sandbox.read("out/records.csv");
    let rows = Rows::parse(&records);
    let own = rows.iter().find(|row| row.text("objective") == "time");
    let hours = own.expect("a record").number("time_h");
    assert_eq!(row["simulated"].as_f64(), Some(hours));
    // A figure that is off without a reason is code 4.
    let figures = sandbox
        .read("my-paper/figures.csv")
        .replace("4.6,h", "5.6,h");
    put(&sandbox, "my-paper/figures.csv", &figures);
    sandbox.run(&["reproduce", "my-paper"]).code(4);
}

#[test]
fn all_mistakes_of_a_paper_are_told_at_once_with_their_places() {
    let sandbox = Sandbox::new();
    paper_of_the_docs(&sandbox);
    put(
        &sandbox,
        "my-paper/paper.toml",
        "citation = 'x'\nscenario = 'runs.toml'\n[tables]\nmine = 'gone.csv'\n[define]\n'half(x' = '1'\n'own(x)' = 'x / y'\n",
    );
    put(
        &sandbox,
        "my-paper/figures.csv",
        "figure,expression,value,unit,tolerance,tolerance_kind,kind\n\
         a,maen(time_h),1,h,0.1,relative,figure\n\
         b,mean(tme_h),1,h,0.1,relative,figure\n\
         c,mean(time_h in mian),1,h,0.1,relative,figure\n\
         d,\"lost_by(gcp-2019, aeg_h=3)\",1,h,0.1,relative,figure\n\
         e,mean(time_h where ),1,h,0.1,exactly,figure\n\
         f,(1 + ,1,h,0.1,relative,figure\n",
    );
    let said = stderr(&sandbox.run(&["reproduce", "my-paper"]).code(2));
    for part in [
        "gone.csv",
        "`half(x` is no name",
        "`y` is nothing here",
        "unknown function `maen`",
        "did you mean `mean`?",
        "has no column `tme_h`",
        "did you mean `time_h`?",
        "unknown table `mian`",
        "unknown argument of `lost_by`: `aeg_h`",
        "`lost_by` lacks `age_h`",
        "unknown kind of tolerance `exactly`",
        "the expression ends too early",
        "my-paper/figures.csv:7",
        "my-paper/paper.toml:7",
        "nothing was run",
    ] {
        assert!(said.contains(part), "{part}\n{said}");
    }
}

#[test]
fn what_cannot_be_computed_is_told_at_once_with_its_place() {
    let sandbox = Sandbox::new();
    paper_of_the_docs(&sandbox);
    put(
        &sandbox,
        "my-paper/figures.csv",
        "figure,expression,value,unit,tolerance,tolerance_kind,kind\n\
         a,mean(time_h where chosen_workers=9),1,h,0.1,relative,figure\n\
         b,1 / (count(time_h) - 2),1,h,0.1,relative,figure\n\
         c,\"lost_by(gcp-2091, 3)\",1,h,0.1,relative,figure\n\
         d,\"nth([1, 2], 3)\",1,h,0.1,relative,figure\n\
         e,the(time_h),1,h,0.1,relative,figure\n",
    );
    let said = stderr(&sandbox.run(&["reproduce", "my-paper"]).code(2));
    for part in [
        "no row is selected",
        "`chosen_workers` has `16`, `8`",
        "division by zero",
        "gcp-2091",
        "did you mean `gcp-2019`?",
        "the list of 2 has no number 3",
        "2 values are selected, not one",
        "my-paper/figures.csv:2",
        "my-paper/figures.csv:6",
    ] {
        assert!(said.contains(part), "{part}\n{said}");
    }
}

#[test]
fn a_folder_that_is_no_paper_and_a_name_that_is_none_are_told() {
    let sandbox = Sandbox::new();
    put(&sandbox, "empty/x.txt", "");
    let said = stderr(&sandbox.run(&["reproduce", "empty", "hpdc21"]).code(2));
    for part in [
        "empty/paper.toml",
        "empty/figures.csv",
        "unknown paper `hpdc21`",
        "did you mean `hpdc20`?",
    ] {
        assert!(said.contains(part), "{part}\n{said}");
    }
}

/// The language by itself, in figures that need no scenario.
#[test]
fn expressions_come_to_what_arithmetic_says() {
    let sandbox = Sandbox::new();
    put(
        &sandbox,
        "p/paper.toml",
        "citation = 'x'\n[tables]\nt = 't.csv'\n[define]\n'twice(x)' = '2 * x'\n'fib(n)' = 'if(n < 2, n, fib(n - 1) + fib(n - 2))'\n",
    );
    put(
        &sandbox,
        "p/t.csv",
        "who,k,v\na,1,10\na,2,20\nb,1,30\nb,2,\n",
    );
    let cases = [
        ("1 + 2 * 3 ^ 2 - -4 / 2", 21.0),
        ("mean(v in t where who=a)", 15.0),
        ("mean(v in t)", 20.0),
        ("count(in t)", 4.0),
        ("count(v in t)", 3.0),
        ("sum(v * k in t where who=a,b k<=1)", 40.0),
        ("100 * share(v>=20 in t where who!=b)", 50.0),
        ("the(v in t where who=b v>0)", 30.0),
        ("quantile(0.25, v in t)", 15.0),
        ("median(v in t)", 20.0),
        ("std(v in t)", 10.0),
        ("mean(twice(x) for x in 1..4)", 5.0),
        ("max(x for x in 0..2 step 0.5 where twice(x) < 3)", 1.0),
        ("sum(a * b for a in [1, 2] for b in [10, 20])", 90.0),
        ("sum(v in t where k=twice(1) who=a)", 20.0),
        ("nth(list(v in t), -1)", 30.0),
        ("knee(x, 10 / x, x for x in [1, 3, 10])", 3.0),
        ("fib(10)", 55.0),
        ("max(1, 2 + 3)", 5.0),
        ("sqrt(16) + abs(-1) + round(ln(exp(2)))", 7.0),
    ];
    let mut figures = "figure,expression,value,unit,tolerance,tolerance_kind,kind\n".to_owned();
    for (expression, value) in cases {
        figures += &format!("f,\"{expression}\",{value},1,0.000000001,absolute,derived\n");
    }
    put(&sandbox, "p/figures.csv", &figures);
    let assert = sandbox.run(&["reproduce", "p"]);
    let said = stdout(&assert);
    assert!(
        said.contains("20 figures: 20 within tolerance"),
        "{said}{}",
        stderr(&assert)
    );
    // Claims.
    put(
        &sandbox,
        "p/figures.csv",
        "figure,expression,value,unit,tolerance,tolerance_kind,kind,only_if,then\n\
         a,2,1,1,0,at-least,claim,,\n\
         a,2,1,1,0,at-most,claim,it is halved twice,2 / 4\n\
         a,2,1,1,0,at-most,claim,it is halved,2 / 1\n",
    );
    let said = stdout(&sandbox.run(&["reproduce", "p", "--wide"]).code(0));
    let said = said.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(
        said.contains("3 claims: 1 borne out, 1 under a condition, 1 not."),
        "{said}"
    );
    // A definition that never ends.
    put(
        &sandbox,
        "p/paper.toml",
        "citation = 'x'\n[define]\n'f(x)' = 'f(x + 1)'\n",
    );
    put(
        &sandbox,
        "p/figures.csv",
        "figure,expression,value,unit,tolerance,tolerance_kind,kind\na,f(1),1,1,0,absolute,figure\n",
    );
    let said = stderr(&sandbox.run(&["reproduce", "p"]).code(2));
    assert!(said.contains("functions inside of each other"), "{said}");
}
