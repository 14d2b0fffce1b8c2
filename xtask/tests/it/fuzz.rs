//! Each body over its seeds and a bounded number of mutations of each.

use std::{
    env, fs,
    panic::{AssertUnwindSafe, catch_unwind, resume_unwind},
    path::Path,
};

use crate::{
    bodies,
    mutate::{Random, mutate},
    seeds,
};

/// Mutations of all seeds of a target together, unless `FUZZ_ROUNDS` says otherwise.
const ROUNDS: usize = 3_000;

#[test]
fn fuzz_sse_decoder() {
    smoke("sse_decoder", &seeds::streams(), bodies::sse_decoder::run);
}

#[test]
fn fuzz_run_agent_input() {
    smoke("run_agent_input", &seeds::requests(), bodies::run_agent_input::run);
}

#[test]
fn fuzz_mapper() {
    smoke("mapper", &seeds::kernel_events(), bodies::mapper::run);
}

#[test]
fn fuzz_proto_decoder() {
    smoke("proto_decoder", &seeds::frames(), bodies::proto_decoder::run);
}

fn smoke(target: &str, seeds: &[Vec<u8>], body: fn(&[u8])) {
    if let Ok(corpus) = env::var("FUZZ_CORPUS") {
        write_corpus(&Path::new(&corpus).join(target), seeds);
    }
    for seed in seeds {
        try_one(target, seed, body);
    }
    let rounds = env::var("FUZZ_ROUNDS").map_or(ROUNDS, |rounds| rounds.parse().unwrap());
    let mut random = Random::new(1);
    for round in 0..rounds {
        let other = &seeds[random.below(seeds.len())];
        let data = mutate(&mut random, &seeds[round % seeds.len()], other);
        try_one(target, &data, body);
    }
}

/// Keeps what made the body panic, so that it can be looked at.
fn try_one(target: &str, data: &[u8], body: fn(&[u8])) {
    if let Err(cause) = catch_unwind(AssertUnwindSafe(|| body(data))) {
        let kept = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("{target}.input"));
        fs::write(&kept, data).unwrap();
        println!("the input is kept in {}", kept.display());
        resume_unwind(cause);
    }
}

fn write_corpus(directory: &Path, seeds: &[Vec<u8>]) {
    fs::create_dir_all(directory).unwrap();
    for (number, seed) in seeds.iter().enumerate() {
        fs::write(directory.join(format!("seed-{number:03}")), seed).unwrap();
    }
}
