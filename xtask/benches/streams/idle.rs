//! Memory that an open stream costs while nothing is said on it.

use std::{path::Path, time::Duration, time::Instant};

use agui_testkit::replay::{BulkConfig, BulkStream};
use anyhow::Result;

use crate::{
    client::{self, Open},
    contender::{Contender, Stage},
    table::Table,
};

/// Events of the kernel before it falls silent: the ones before the answer, and one delta.
const DELTAS: usize = 5;
/// Streams that are open before it is measured: what the first ones cost is the program, not the stream.
const WARM_UP: u32 = 20;
/// How long the memory of open streams is given to settle.
const SETTLE: Duration = Duration::from_secs(1);

pub(crate) async fn measure(server: &Path, streams: u32) -> Result<Table> {
    let stream = BulkStream::synthetic(DELTAS);
    let silent_after = stream.events() - DELTAS;
    let stage = Stage::start(stream, BulkConfig::default().with_stall_after(silent_after), server).await?;
    let mut table =
        Table::new(format!("{streams} open streams"), &["KiB a stream", "MiB before", "s to open"]);
    for contender in &stage.contenders {
        let Some(process) = &contender.process else { continue };
        let mut open = Vec::new();
        for stream in 0..WARM_UP {
            open.push(silent(contender, stream).await?);
        }
        tokio::time::sleep(SETTLE).await;
        let before = process.rss_kib()?;
        let started = Instant::now();
        for stream in 0..streams {
            open.push(silent(contender, WARM_UP + stream).await?);
        }
        let opened = started.elapsed();
        tokio::time::sleep(SETTLE).await;
        let each = process.rss_kib()?.saturating_sub(before) as f64 / f64::from(streams);
        table.row(
            contender.name,
            &[
                format!("{each:.1}"),
                format!("{:.1}", before as f64 / 1024.0),
                format!("{:.2}", opened.as_secs_f64()),
            ],
        );
    }
    Ok(table)
}

/// A stream that has shown its first text and says nothing more.
async fn silent(contender: &Contender, number: u32) -> Result<Open> {
    let request = contender.request(&format!("idle-{number}"), "run");
    let mut answer = client::open(contender.address, request).await?;
    answer.read_until(contender.text_marker()).await?;
    Ok(answer)
}
