//! Studies of this project's own methods: their quality where no paper has figures.
//!
//! `cargo bench --bench studies -- NAME` prints a document in Markdown; the first six are in `results/` as `NAME.md`.

mod advise;
mod claims;
mod latency;
mod value_of_information;

use std::process::ExitCode;

const USAGE: &str = "\
cargo bench --bench studies -- NAME
  advise                advice on profiles cut from measured workloads, 60 of each
  advise-sample         on 3 of each
  ladders               advice on ladders of 4 to 12 rows, 40 of each length from each application, beside rules of thumb
  ladders-sample        4 of each
  catalogue             advice over the catalogue from ladders, 42 of each length from each application, and GPUs that nobody measured
  catalogue-sample      2 of each
  claims                what papers claim of their searches, beside what the shipped grids and trainings say
  latency               steps of set-ups hidden in four ways, and choices within limits by what the rest says of them
  value-of-information  the strategy without each of its parts
  constants             the strategy with every constant halved and doubled; takes long
";

/// The study of advice on at most this number of cuts of each workload.
fn advice(cuts: usize) -> String {
    advise::text::render(&advise::study(&advise::WORKLOADS, cuts), cuts)
}

fn main() -> ExitCode {
    let words: Vec<String> = (std::env::args().skip(1))
        .filter(|word| !word.starts_with("--"))
        .collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let text = match words[..] {
        [] => USAGE.to_owned(),
        ["advise"] => advice(60),
        ["advise-sample"] => advice(3),
        ["ladders"] => advise::ladders::document(40),
        ["ladders-sample"] => advise::ladders::document(4),
        ["catalogue"] => advise::catalogue::document(42),
        ["catalogue-sample"] => advise::catalogue::document(2),
        ["claims"] => claims::document(),
        ["latency"] => latency::text::render(&latency::hidden::study(&latency::hidden::WORKLOADS)),
        ["value-of-information"] => value_of_information::without_each_part(),
        ["constants"] => value_of_information::every_constant_varied(),
        _ => {
            eprint!("{USAGE}");
            return ExitCode::from(2);
        }
    };
    print!("{text}");
    ExitCode::SUCCESS
}
