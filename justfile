# The usual tasks, by https://just.systems: `just` lists them. Each is a command that can be typed as well.

# What there is.
default:
    @just --list --unsorted

# The program with all features, for development: target/debug/scavsim.
build:
    cargo build --features full

# The program as it is handed out: target/dist/scavsim.
dist:
    cargo build --profile dist --features full

# Run the program: `just run advise scenarios/example-profile.csv --samples-per-epoch 50000`.
run *words:
    cargo run --quiet --features full -- {{ words }}

# All tests of Rust.
test:
    cargo test

# Some tests: those of a crate, `just one scavsim-measure advise`, or of the program, `just one integration advise`.
one where name="":
    #!/usr/bin/env bash
    set -euo pipefail
    case "{{ where }}" in
        integration | house | generated | fuzz) cargo test --test "{{ where }}" {{ name }} ;;
        *) cargo test -p "{{ where }}" --lib {{ name }} ;;
    esac

# What CI says of form: formatting and lints.
lint:
    cargo fmt --all --check
    cargo clippy --all-targets --all-features -- -D warnings
    cargo clippy --lib --bins --features full -- -D warnings

# Write everything as it is to be: formatting.
format:
    cargo fmt --all

# Renew the goldens of some tests, to look at by `git diff`: `just goldens integration advise`.
goldens where="integration" name="":
    INSTA_UPDATE=always cargo test --test {{ where }} {{ name }}

# Renew the tables of documents that follow from declarations, the schema, and the classes of Python that follow from it.
docs:
    SCAVSIM_RENEW=1 cargo test --test house
    cargo run --quiet --features full -- schema > docs/scenario.schema.json
    python3 python/tools/scenario_classes.py

# The documentation of the library, in a browser.
doc:
    cargo doc --no-deps --open

# The Python package in .venv, for development.
python:
    python3 -m venv .venv
    .venv/bin/pip install --quiet maturin pandas pyarrow
    .venv/bin/maturin develop --manifest-path python/Cargo.toml

# Tests of the Python package of `just python`.
python-test name="discover -s tests":
    cd python && ../.venv/bin/python -m unittest {{ name }}

# The page of a scenario's result, in a browser: `just page scenarios/spot.toml`.
page scenario="scenarios/scavenger.toml":
    cargo run --quiet --features full -- run {{ scenario }} --out target/page --overwrite
    cargo run --quiet --features full -- report target/page --scenario {{ scenario }} --open

# All that decides a landing.
ci:
    .ci/run
