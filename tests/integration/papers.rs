//! Papers as folders: a user's own, made with the docs, and messages about mistakes.

use super::sandbox::{Rows, Sandbox, stderr, stdout};

/// The tutorial's paper, with its one wrong figure corrected.
fn paper_of_the_docs(sandbox: &Sandbox) {
    let docs = include_str!("../../docs/tutorials/paper.md");
    for file in ["paper.toml", "runs.toml", "figures.csv"] {
        let file = format!("my-paper/{file}");
        let fence = format!(" name={file}\n");
        let (_, behind) = docs.split_once(&fence).expect("the docs show it");
        let (text, _) = behind.split_once("```").expect("it ends");
        put(sandbox, &file, &text.replace("9.9,USD", "9.3,USD"));
    }
}

/// A file in a new folder of the sandbox.
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
    // The values that the program itself prints.
    let run = sandbox
        .run(&["run", "my-paper/runs.toml", "--out", "out"])
        .code(0);
    drop(run);
    let records = sandbox.read("out/records.csv");
    let rows = Rows::parse(&records);
    let own = rows.iter().find(|row| row.text("objective") == "time");
    let hours = own.expect("a record").number("time_h");
    assert_eq!(row["simulated"].as_f64(), Some(hours));
    // A figure outside its tolerance without a reason gives code 4.
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
        "figure,expression,value,unit,tolerance,tolerance_kind,kind,evidence\n\
         a,maen(time_h),1,h,0.1,relative,figure,prediction\n\
         b,mean(tme_h),1,h,0.1,relative,figure,prediction\n\
         c,mean(time_h in mian),1,h,0.1,relative,figure,prediction\n\
         d,\"lost_by(gcp-2019, aeg_h=3)\",1,h,0.1,relative,figure,prediction\n\
         e,mean(time_h where ),1,h,0.1,exactly,figure,prediction\n\
         f,(1 + ,1,h,0.1,relative,figure,prediction\n",
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
        "figure,expression,value,unit,tolerance,tolerance_kind,kind,evidence\n\
         a,mean(time_h where chosen_workers=9),1,h,0.1,relative,figure,prediction\n\
         b,1 / (count(time_h) - 2),1,h,0.1,relative,figure,prediction\n\
         c,\"lost_by(gcp-2091, 3)\",1,h,0.1,relative,figure,prediction\n\
         d,\"nth([1, 2], 3)\",1,h,0.1,relative,figure,data\n\
         e,the(time_h),1,h,0.1,relative,figure,prediction\n",
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

/// The language alone, in figures that need no scenario.
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
        ("sum(x for x in 0..1 step 0.4)", 1.2),
        ("max(x for x in 1..1.9 step 0.3)", 1.9),
        ("sum(a * b for a in [1, 2] for b in [10, 20])", 90.0),
        ("sum(v in t where k=twice(1) who=a)", 20.0),
        ("nth(list(v in t), -1)", 30.0),
        ("knee(x, 10 / x, x for x in [1, 3, 10])", 3.0),
        ("fib(10)", 55.0),
        ("max(1, 2 + 3)", 5.0),
        ("sqrt(16) + abs(-1) + round(ln(exp(2)))", 7.0),
    ];
    let mut figures =
        "figure,expression,value,unit,tolerance,tolerance_kind,kind,evidence\n".to_owned();
    for (expression, value) in cases {
        figures += &format!("f,\"{expression}\",{value},1,0.000000001,absolute,derived,data\n");
    }
    put(&sandbox, "p/figures.csv", &figures);
    let assert = sandbox.run(&["reproduce", "p", "--all"]);
    let said = stdout(&assert);
    assert!(
        said.contains("Other classes within tolerance: 22 of 22 data."),
        "{said}{}",
        stderr(&assert)
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
        "figure,expression,value,unit,tolerance,tolerance_kind,kind,evidence\na,f(1),1,1,0,absolute,figure,data\n",
    );
    let said = stderr(&sandbox.run(&["reproduce", "p"]).code(2));
    assert!(said.contains("functions inside of each other"), "{said}");
}

/// The headers of both tables, with all columns.
const FIGURES: &str = "figure,quantity,of,expression,value,unit,tolerance,tolerance_kind,kind,evidence,note,explained\n";
const CLAIMS: &str = "figure,quantity,of,expression,value,unit,tolerance,tolerance_kind,evidence,note,explained,readings,interval\n";

/// A paper with these figures, and additional lines of its file.
fn paper(file: &str, figures: &str) -> Sandbox {
    let sandbox = Sandbox::new();
    put(&sandbox, "p/paper.toml", &format!("citation = 'x'\n{file}"));
    put(&sandbox, "p/figures.csv", &format!("{FIGURES}{figures}"));
    sandbox
}

/// A paper of these claims.
fn claims(claims: &str) -> Sandbox {
    let sandbox = Sandbox::new();
    put(&sandbox, "p/paper.toml", "citation = 'x'\n");
    put(&sandbox, "p/claims.csv", &format!("{CLAIMS}{claims}"));
    sandbox
}

fn json(sandbox: &Sandbox) -> serde_json::Value {
    let assert = sandbox.run(&["reproduce", "p", "--format", "json"]);
    serde_json::from_str(&stdout(&assert)).expect("JSON")
}

/// The text with single blanks: lines are broken by the width of the page.
fn words(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[test]
fn a_row_says_what_evidence_it_is() {
    let figures = "f,q,a,1,1,1,0,absolute,figure,,,\n\
                   f,q,b,1,1,1,0,absolute,figure,predicton,,\n";
    let sandbox = paper("", figures);
    let said = words(&stderr(&sandbox.run(&["reproduce", "p"]).code(2)));
    for part in [
        "`evidence`: expected a text without control characters, found an empty cell",
        "p/figures.csv:2",
        "unknown class of evidence `predicton`",
        "did you mean `prediction`?",
        "expected `prediction`, `replication`, `data`, `replay`, `identity`, `self`, `calibrated`",
        "p/figures.csv:3",
    ] {
        assert!(said.contains(part), "{part}\n{said}");
    }
}

/// Predictions are counted separately from other classes, and non-figures of the paper separately from both.
#[test]
fn figures_are_counted_by_their_evidence() {
    let figures = "f,q,a,m(1),1,1,0,absolute,figure,prediction,,\n\
                   f,q,b,m(2),1,1,0,absolute,figure,prediction,,known\n\
                   f,q,c,m(2),1,1,0,absolute,figure,prediction,,\n\
                   f,q,d,1,1,1,0,absolute,figure,replay,,\n\
                   f,q,e,2,1,1,0,absolute,figure,self,,known\n\
                   f,q,g,1,1,1,0,absolute,figure,calibrated,,\n\
                   f,q,h,m(2),1,1,0,absolute,goal,prediction,,known\n\
                   f,q,i,1,1,1,0,absolute,comparison,self,,\n";
    let file = "[define]\n'm(x)' = 'x * lost_by(gcp-2019, 30)'\n[[constants]]\nname = 'c'\nvalues = [1]\nchosen = \
                'by hand'\non = ['q: g']\ntouches = ['q: *']\n";
    let sandbox = paper(file, figures);
    let sentence = "1 of 3 predictions are within tolerance (33 %), 1 outside with a stated reason, 1 outside \
                    without. Other classes within tolerance: 1 of 1 replay, 0 of 1 self, 1 of 1 calibrated. Goals and \
                    comparisons of ours met: 1 of 2.";
    let table = words(&stdout(&sandbox.run(&["reproduce", "p", "--all"]).code(4)));
    assert!(table.contains(&format!("x {sentence}")), "{table}");
    let constant = "c: 1; by hand. Chosen on q: g. Touches q: * (8 rows).";
    assert!(table.contains(constant), "{table}");
    let markdown = stdout(&sandbox.run(&["reproduce", "p", "--format", "markdown"]));
    assert_eq!(markdown.lines().nth(2), Some(sentence));
    assert!(
        markdown.contains("- c: 1; by hand. Chosen on `q: g`."),
        "{markdown}"
    );
    let json = &json(&sandbox)[0];
    assert_eq!(json["summary"].as_str(), Some(sentence));
    let predictions = &json["counts"]["figures"]["prediction"];
    let counts = ["rows", "within", "explained", "outside"].map(|key| predictions[key].as_u64());
    assert_eq!(counts, [3, 1, 1, 1].map(Some));
    assert_eq!(
        json["counts"]["figures"]["identity"]["rows"].as_u64(),
        Some(0)
    );
    assert_eq!(json["constants"][0]["touches"][0]["rows"].as_u64(), Some(8));
    // Several papers give one sentence.
    let both = words(&stdout(&sandbox.run(&[
        "reproduce",
        "p",
        "p",
        "--format",
        "summary",
    ])));
    assert!(
        both.ends_with(
            "2 papers: 2 of 6 predictions are within tolerance (33 %), 2 outside with a stated reason, 2 outside \
             without. Other classes within tolerance: 2 of 2 replay, 0 of 2 self, 2 of 2 calibrated. Goals and comparisons \
             of ours met: 2 of 4."
        ),
        "{both}"
    );
}

/// Regression: the hours of an artifact times a listed price counted as a prediction, as did a figure compared with itself.
#[test]
fn a_prediction_calls_the_model_and_data_do_not() {
    let file = "scenarios.main.file = 'main.toml'\ntables.t = 't.csv'\n[define]\n'printed(x)' = '2 * x'\n'inner()' = \
                'lost_by(gcp-2019, 3)'\n'outer()' = '1 - inner()'\n";
    let price = "\"usd_per_hour(n1-highcpu-32, spot, gcp, us-central1, '2020-05-29')\"";
    let all = [
        ("printed(1)", false),
        ("mean(v in t)", false),
        ("mean(step_s in main.history where step_s>0)", false),
        (price, false),
        ("inner()", true),
        ("outer() * printed(1)", true),
        ("mean(v * outer() in t)", true),
        ("mean(time_h)", true),
        ("mean(step_s in main.truths)", true),
        ("mean(ours in figures)", true),
    ];
    let rows = |evidence: &str| -> String {
        let row = |(expression, _): &(&str, bool)| {
            format!("f,q,,{expression},1,1,0,at-least,figure,{evidence},,\n")
        };
        all.iter().map(row).collect()
    };
    for (evidence, title) in [
        ("prediction", "a prediction that calls nothing of the model"),
        ("data", "`data` that call the model"),
    ] {
        let sandbox = paper(file, &rows(evidence));
        sandbox.write(
            "p/main.toml",
            "workloads = ['scavenger-resnet18']\ncluster = { workers = [8], batch = [1024] }\n\
             search = { strategies = ['oracle'], objectives = ['time'] }\n",
        );
        put(&sandbox, "p/t.csv", "v\n1\n");
        let said = stderr(&sandbox.run(&["reproduce", "p"]).code(2));
        for (line, (expression, calls)) in (2..).zip(all) {
            let is_refused = said.contains(&format!("p/figures.csv:{line}:"));
            assert_eq!(
                is_refused,
                calls == (evidence == "data"),
                "{expression}\n{said}"
            );
        }
        assert!(said.contains(title), "{said}");
    }
}

/// Regression: 46 s were within the tolerance of 19 s.
#[test]
fn a_tolerance_as_large_as_its_figure_is_refused() {
    let figures = "f,q,a,1,19.3,s,19.3,absolute,figure,data,,\n\
                   f,q,b,1,-19.3,s,19.31,absolute,figure,data,,\n\
                   f,q,c,1,19.3,s,1,relative,figure,data,,\n\
                   f,q,d,1,19.3,s,19.29,absolute,figure,data,,\n\
                   f,q,e,1,19.3,s,0.99,relative,figure,data,,\n\
                   f,q,g,1,19.3,s,40,at-most,figure,data,,\n\
                   f,q,h,1,0,s,40,absolute,figure,data,,\n";
    let said = stderr(&paper("", figures).run(&["reproduce", "p"]).code(2));
    let title = "a tolerance as large as its figure";
    assert_eq!(said.matches(title).count(), 3, "{said}");
    for line in [2, 3, 4] {
        assert!(said.contains(&format!("p/figures.csv:{line}:")), "{said}");
    }
}

#[test]
fn a_calibrated_row_has_its_constant_and_a_constant_its_rows() {
    let figures = "f,q,a,1,1,1,0,absolute,figure,calibrated,,\n\
                   f,q,b,1,1,1,0,absolute,figure,prediction,,\n";
    let constants = "[[constants]]\nname = 'c'\nvalues = [1]\nchosen = 'by hand'\non = ['q: b']\ntouches = ['r: *']\n\
                     [[constants]]\nname = 'd'\nchosen = 'by hand'\n";
    let sandbox = paper(constants, figures);
    let said = stderr(&sandbox.run(&["reproduce", "p"]).code(2));
    for part in [
        "no constant was chosen on `q: a`",
        "p/figures.csv:2",
        "`c` was chosen on `q: b`",
        "the evidence of that row is `calibrated`, not `prediction`",
        "p/paper.toml:6",
        "no row is called `r: *`",
        "p/paper.toml:7",
        "`d`: its values are missing",
        "p/paper.toml:9",
    ] {
        assert!(said.contains(part), "{part}\n{said}");
    }
}

/// A claim is every combination of its open values: how many readings hold, which ones, and each alone.
#[test]
fn a_claim_is_a_grid_of_readings() {
    let sandbox = claims(
        "abstract,“halves it”,,\"n * if((by=time), 1, 2)\",4,1,0,at-least,data,,,\"for n in [1, 2, 4] for by in ['time', 'cost']\",0\n\
         abstract,“is dear”,,\"if((by=time), 1, 2)\",2,1,0,at-least,data,,why,\"for by in ['time', 'cost']\",0\n\
         abstract,“is about 7.7”,,x,7.7,1,0.05,absolute,data,,,\"for x in [7.7, 7.64, 7.5]\",0.1 * (x - 7.5)\n\
         abstract,“one way”,,x,1,1,0,at-least,data,,,for x in [1],0\n\
         text,“always”,of it,3,2,1,0,at-least,data,,,,0\n\
         text,“always”,of that,1,2,1,0,at-most,data,,,,0\n",
    );
    let json = &json(&sandbox)[0];
    let verdicts: Vec<&str> = (json["claims"].as_array().expect("claims").iter())
        .map(|claim| claim["verdict"].as_str().expect("a verdict"))
        .collect();
    assert_eq!(
        verdicts,
        [
            "holds in 3 of 6 readings",
            "holds only if by=cost: in 1 of 2 readings",
            "holds only if x=7.7: in 1 of 3 readings, 1 open",
            "holds",
            "holds in all 2 readings"
        ]
    );
    let rows = json["rows"].as_array().expect("rows");
    let of: Vec<&str> = (rows.iter())
        .filter_map(|row| row["selector"].as_str())
        .collect();
    assert_eq!(of[..3], ["n=1 by=time", "n=1 by=cost", "n=2 by=time"]);
    assert_eq!(rows[1]["reading"]["by"].as_str(), Some("cost"));
    assert_eq!(rows[1]["simulated"].as_f64(), Some(2.0));
    let summary = "5 claims: 2 in every reading, 3 in some, 0 in none; 8 of 14 readings hold.";
    let said = json["summary"].as_str();
    assert!(said.is_some_and(|said| said.ends_with(summary)), "{said:?}");
    let table = words(&stdout(&sandbox.run(&["reproduce", "p", "--all"]).code(0)));
    for part in [
        "“is dear” (abstract): holds only if by=cost: in 1 of 2 readings. Ours: 1 to 2, for at least 2. why.",
        "claim “halves it” (abstract)",
        "for 7.7 ±0.05.",
    ] {
        assert!(table.contains(part), "{part}\n{table}");
    }
}

/// A bound needs an interval, and figures contain no claim.
#[test]
fn mistakes_in_claims_are_told_with_their_places() {
    let sandbox = claims(
        "a,c,,1,2,1,0,at-least,data,,,,\n\
         a,c,,1,2,1,0,at-least,data,,,for x [1],0\n\
         a,c,,y,2,1,0,at-least,data,,,\"for x in [1, 2]\",0\n",
    );
    put(
        &sandbox,
        "p/figures.csv",
        &format!("{FIGURES}a,f,,1,2,1,0,absolute,claim,data,,\n"),
    );
    let said = stderr(&sandbox.run(&["reproduce", "p"]).code(2));
    for part in [
        "`interval`: expected a text without control characters, found an empty cell",
        "p/claims.csv:2",
        "expected `in` and a list",
        "p/claims.csv:3",
        "`y` is nothing here",
        "p/claims.csv:4",
        "claims stand in claims.csv",
        "p/figures.csv:2",
    ] {
        assert!(said.contains(part), "{part}\n{said}");
    }
}

/// Expressions that would overflow the stack, never end, or fill the memory.
#[test]
fn a_figure_that_takes_too_much_is_told_with_its_place() {
    let sandbox = Sandbox::new();
    // A range needs as many steps as it has numbers.
    let doubling: String = (1..=40)
        .map(|n| format!("'f{n}(x)' = 'f{0}(x) + f{0}(x)'\n", n - 1))
        .collect();
    let nested: String = (1..=45)
        .map(|n| {
            format!(
                "'g{n}(x)' = '{}g{}(x){}'\n",
                "abs(".repeat(95),
                n - 1,
                ")".repeat(95)
            )
        })
        .collect();
    put(
        &sandbox,
        "p/paper.toml",
        &format!(
            "citation = 'x'\n[define]\n'f0(x)' = 'nth(1..999999, x)'\n{doubling}'g0(x)' = 'x'\n{nested}"
        ),
    );
    let long = vec!["1"; 100_000].join(" + ");
    let loops: String = (0..20_000).map(|n| format!(" for a{n} in 1")).collect();
    let cases: [(&str, &str, &str); 5] = [
        (&long, "100000", ""),
        ("f40(1)", "1", "the figure takes more than 100000000 steps"),
        (
            "median(1..999999 for a in 1..20)",
            "1",
            "the figure keeps more than 10000000 values at once",
        ),
        ("g45(1)", "1", "parts inside of each other"),
        (
            &format!("sum(1{loops})"),
            "1",
            "variables inside of each other",
        ),
    ];
    for (expression, value, wrong) in cases {
        let head = "figure,expression,value,unit,tolerance,tolerance_kind,kind,evidence\n";
        let row = format!("a,{expression},{value},1,0,absolute,derived,data\n");
        put(&sandbox, "p/figures.csv", &(head.to_owned() + &row));
        let assert = sandbox.run(&["reproduce", "p", "--all"]);
        let (code, said) = (assert.get_output().status.code(), stderr(&assert));
        if wrong.is_empty() {
            assert_eq!(code, Some(0), "{said}")
        } else {
            assert_eq!(code, Some(2), "{expression:.40}: {said:.400}");
            assert!(said.contains(wrong), "{expression:.40}: {said:.400}");
            assert!(said.contains("--> p/"), "{expression:.40}: {said:.400}");
        }
    }
    // Rows that are only summed are not stored.
    let sum = "figure,expression,value,unit,tolerance,tolerance_kind,kind,evidence\n\
               a,sum(1..999999 for a in 1..11),5499994500000,1,0,absolute,derived,data\n";
    put(&sandbox, "p/figures.csv", sum);
    sandbox.run(&["reproduce", "p"]).success();
}
