//! Events a second and processor time an event on one stream.

use std::{path::Path, process, time::Duration};

use agui_testkit::replay::{BulkConfig, BulkStream, Trace};
use anyhow::Result;

use crate::{
    child,
    client::{self, count},
    contender::{Contender, Stage},
    table::{Stats, Table},
};

/// Recording that is played.
const TRACE: &str = "q2_long_synthetic";
/// Answers of one sample, one after the other: one alone is over too soon.
const RUNS_A_SAMPLE: u32 = 5;

struct Sample {
    events_per_s: f64,
    /// Of the contender's own process; the kernel's is that of the client too.
    cpu_ns_per_event: f64,
}

pub(crate) async fn measure(server: &Path, rounds: u32) -> Result<Table> {
    let stream = BulkStream::from_trace(&Trace::fixture(TRACE)?)?;
    let deltas = stream.deltas();
    let stage = Stage::start(stream, BulkConfig::default(), server).await?;
    for contender in &stage.contenders {
        check(contender, deltas).await?;
    }
    let mut samples: [Vec<Sample>; 3] = Default::default();
    for round in 0..rounds {
        for (contender, samples) in stage.contenders.iter().zip(&mut samples) {
            samples.push(sample(contender, deltas, round).await?);
        }
    }
    let title = format!("one stream, {deltas} text deltas, {rounds} interleaved rounds of {RUNS_A_SAMPLE}");
    let columns = ["events/s median", "min", "max", "of the floor", "ns CPU/event", "of the floor"];
    let mut table = Table::new(title, &columns);
    let rates = samples.each_ref().map(|of| Stats::of(of.iter().map(|sample| sample.events_per_s)));
    let cpus = samples.each_ref().map(|of| Stats::of(of.iter().map(|sample| sample.cpu_ns_per_event)));
    for ((contender, rate), cpu) in stage.contenders.iter().zip(&rates).zip(&cpus) {
        table.row(
            contender.name,
            &[
                format!("{:.0}", rate.median),
                format!("{:.0}", rate.min),
                format!("{:.0}", rate.max),
                format!("{:.2}", rate.median / rates[Stage::FLOOR].median),
                format!("{:.0}", cpu.median),
                format!("{:.2}", cpu.median / cpus[Stage::FLOOR].median),
            ],
        );
    }
    Ok(table)
}

/// One answer that is looked at: a contender that loses events is not worth measuring.
async fn check(contender: &Contender, deltas: usize) -> Result<()> {
    let answer = client::open(contender.address, contender.request("check", "run")).await?;
    let body = answer.read_whole().await?;
    let texts = count(&body, contender.text_marker());
    let wanted = deltas + contender.extra_texts();
    anyhow::ensure!(texts == wanted, "{}: {texts} texts, {wanted} expected", contender.name);
    Ok(())
}

async fn sample(contender: &Contender, deltas: usize, round: u32) -> Result<Sample> {
    let process_id = contender.process.as_ref().map_or_else(process::id, child::Process::id);
    let cpu_before = child::cpu(process_id)?;
    let mut time = Duration::ZERO;
    for run in 0..RUNS_A_SAMPLE {
        // A thread of its own for each: the kernel of the bench gives every answer another session.
        let request = contender.request(&format!("bulk-{round}-{run}"), "run");
        let mut answer = client::open(contender.address, request).await?;
        // The kernel fills in the ids of a request before it sends: that is not the contender's time.
        let before = answer.read_until(contender.text_marker()).await?;
        answer.drain().await?;
        time += answer.elapsed().saturating_sub(before);
    }
    let cpu = child::cpu(process_id)?.saturating_sub(cpu_before);
    let events = f64::from(RUNS_A_SAMPLE) * deltas as f64;
    Ok(Sample {
        events_per_s: events / time.as_secs_f64(),
        cpu_ns_per_event: cpu.as_secs_f64() * 1e9 / events,
    })
}
