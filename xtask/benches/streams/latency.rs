//! Time from before the connection to the first text of a short answer.

use std::path::Path;

use agui_testkit::replay::{BulkConfig, BulkStream};
use anyhow::Result;

use crate::{
    client,
    contender::Stage,
    table::{Stats, Table},
};

/// Answers before the measured ones.
const WARM_UP: u32 = 10;

pub(crate) async fn measure(server: &Path, runs: u32) -> Result<Table> {
    let stage = Stage::start(BulkStream::synthetic(1), BulkConfig::default(), server).await?;
    let mut times: [Vec<f64>; 3] = Default::default();
    for run in 0..WARM_UP + runs {
        for (contender, times) in stage.contenders.iter().zip(&mut times) {
            let request = contender.request(&format!("short-{run}"), "run");
            let mut answer = client::open(contender.address, request).await?;
            let first = answer.read_until(contender.text_marker()).await?;
            answer.drain().await?;
            if run >= WARM_UP {
                times.push(first.as_secs_f64() * 1e3);
            }
        }
    }
    let title = format!("time to the first text of a new thread, {runs} interleaved runs");
    let mut table = Table::new(title, &["ms median", "min", "p95", "more than the floor"]);
    let stats = times.map(Stats::of);
    for (contender, times) in stage.contenders.iter().zip(&stats) {
        table.row(
            contender.name,
            &[
                format!("{:.2}", times.median),
                format!("{:.2}", times.min),
                format!("{:.2}", times.p95),
                format!("{:+.2}", times.median - stats[Stage::FLOOR].median),
            ],
        );
    }
    Ok(table)
}
