//! What is measured, and how.

use std::{
    net::{SocketAddr, TcpListener},
    process::Command,
    sync::atomic::{AtomicBool, AtomicU64, Ordering},
    time::{Duration, Instant},
};

use anyhow::Result;

use crate::{
    Options, agent, http,
    process::{Server, Who},
    report::{Better, Report},
    socket,
};

/// Starts of each contender.
const STARTS: u32 = 9;
/// Runs after which the memory is looked at.
const RUNS_BEFORE_MEMORY: u32 = 3;
/// Probes beside an agent that never awaits.
const BLOCKED_PINGS: u32 = 8;
/// Between two probes.
const PING_PAUSE: Duration = Duration::from_millis(10);
/// A body as large as the platform lets through.
const LARGE_BYTES: usize = 100_000_000;

/// Numbers runs, so that none is asked for twice.
static RUN: AtomicU64 = AtomicU64::new(0);

fn run_input(wish: &str, deltas: usize) -> bytes::Bytes {
    http::run_input(wish, deltas, &format!("run-{}", RUN.fetch_add(1, Ordering::Relaxed)))
}

/// Adds one figure after the other to `report`.
pub(crate) async fn measure(options: &Options, report: &mut Report) -> Result<()> {
    let agent = agent::serve().await?;
    cold_start(options, agent, report).await?;
    let kit = Server::start(Who::Kit, options, agent, &[]).await?;
    let shim = Server::start(Who::Shim, options, agent, &[]).await?;
    memory(options, [&kit, &shim], report).await?;
    rates(options, [&kit, &shim], report).await?;
    pings(options, [&kit, &shim], report).await?;
    drop((kit, shim));
    large_body(options, agent, report).await
}

async fn cold_start(options: &Options, agent: SocketAddr, report: &mut Report) -> Result<()> {
    let mut times = [Vec::new(), Vec::new()];
    let mut demo = Vec::new();
    for _ in 0..STARTS {
        for who in Who::ALL {
            let server = Server::start(who, options, agent, &[]).await?;
            times[who.index()].push(millis(server.started_in));
        }
        let address = TcpListener::bind(("127.0.0.1", 0))?.local_addr()?;
        let mut command = Command::new(&options.shim);
        command.args(["--demo", "--host", "127.0.0.1", "--port", &address.port().to_string()]);
        demo.push(millis(Server::spawn(&mut command, address).await?.started_in));
    }
    let [kit, shim] = times.map(|times| median(&times));
    let what = format!("start of the process to the first `/ping` 200, median of {STARTS}");
    report.row(&what, "ms", Better::Less, kit, shim);
    report.row("the same, the shim with its own demo agent", "ms", Better::Less, kit, median(&demo));
    Ok(())
}

async fn memory(options: &Options, servers: [&Server; 2], report: &mut Report) -> Result<()> {
    let resident =
        || -> Result<[f64; 2]> { Ok([servers[0].memory_mib("VmRSS")?, servers[1].memory_mib("VmRSS")?]) };
    let [kit, shim] = resident()?;
    report.row("resident memory after the start", "MiB", Better::Less, kit, shim);
    for server in servers {
        for _ in 0..RUNS_BEFORE_MEMORY {
            http::invoke(server.address, &run_input("deltas", options.deltas)).await?;
        }
    }
    let [kit, shim] = resident()?;
    let what = format!("… after {RUNS_BEFORE_MEMORY} runs of {} deltas", options.deltas);
    report.row(&what, "MiB", Better::Less, kit, shim);
    Ok(())
}

async fn rates(options: &Options, servers: [&Server; 2], report: &mut Report) -> Result<()> {
    for server in servers {
        // A contender that loses events is not worth measuring.
        let answer = http::read_whole(server.address, &run_input("deltas", options.deltas)).await?;
        let deltas = answer.windows(7).filter(|window| window == b"0123456").count();
        anyhow::ensure!(deltas == options.deltas, "{deltas} deltas by SSE");
        let read = socket::run(server.address, &run_input("deltas", options.deltas), true).await?;
        anyhow::ensure!(read.text >= options.deltas * 7, "{} characters by WebSocket", read.text);
    }
    let mut sse = [Vec::new(), Vec::new()];
    let mut ws = [Vec::new(), Vec::new()];
    let mut frames = [0; 2];
    for _ in 0..options.rounds {
        for (index, server) in servers.iter().enumerate() {
            let begun = Instant::now();
            http::invoke(server.address, &run_input("deltas", options.deltas)).await?;
            sse[index].push(options.deltas as f64 / begun.elapsed().as_secs_f64());
            let begun = Instant::now();
            frames[index] =
                socket::run(server.address, &run_input("deltas", options.deltas), false).await?.frames;
            ws[index].push(options.deltas as f64 / begun.elapsed().as_secs_f64());
        }
    }
    let [kit, shim] = sse.map(|rates| median(&rates));
    let what = format!(
        "deltas a second by SSE, one client, {} in a run, median of {}",
        options.deltas, options.rounds
    );
    report.row(&what, "/s", Better::More, kit, shim);
    let [kit, shim] = ws.map(|rates| median(&rates));
    report.row("the same by WebSocket, without compression", "/s", Better::More, kit, shim);
    let [kit, shim] = frames.map(|frames| format!("{frames}"));
    report.note("frames in which those came; the platform closes beyond 250 a second", &kit, &shim);
    Ok(())
}

async fn pings(options: &Options, servers: [&Server; 2], report: &mut Report) -> Result<()> {
    let [kit, shim] = servers.map(|server| server.address);
    let idle = [probe(kit, options.pings).await?, probe(shim, options.pings).await?];
    let paced = [beside(kit, "deltas", options).await?, beside(shim, "paced", options).await?];
    let full = beside(shim, "deltas", options).await?;
    let slowest = [beside(kit, "burst", options).await?, beside(shim, "burst", options).await?];
    let of = |times: &[Vec<f64>; 2], share| times.each_ref().map(|times| percentile(times, share));
    for (what, times, share) in [
        ("`/ping` p50, idle", &idle, 50),
        ("`/ping` p99, idle", &idle, 99),
        ("`/ping` p50 beside a run as fast as the official app is", &paced, 50),
        ("`/ping` p99 beside it", &paced, 99),
        ("`/ping`, the slowest of 8 beside an agent that never awaits", &slowest, 100),
    ] {
        let [kit, shim] = of(times, share);
        report.row(what, "ms", Better::Less, kit, shim);
    }
    let told = format!("{:.2} ms, {:.2} ms", percentile(&full, 50), percentile(&full, 99));
    report.note("`/ping` p50 and p99 beside a run as fast as the shim is", "", &told);
    Ok(())
}

/// Probes while one run follows the other.
async fn beside(address: SocketAddr, wish: &str, options: &Options) -> Result<Vec<f64>> {
    let stop = AtomicBool::new(false);
    let runs = async {
        while !stop.load(Ordering::Relaxed) {
            http::invoke(address, &run_input(wish, options.deltas)).await?;
        }
        Ok::<(), anyhow::Error>(())
    };
    let probes = async {
        // Beside an agent that never awaits, each of them may take as long as a run.
        let times = probe(address, if wish == "burst" { BLOCKED_PINGS } else { options.pings }).await;
        stop.store(true, Ordering::Relaxed);
        times
    };
    let (run, times) = tokio::join!(runs, probes);
    run?;
    times
}

async fn probe(address: SocketAddr, count: u32) -> Result<Vec<f64>> {
    let mut times = Vec::new();
    for _ in 0..count {
        let begun = Instant::now();
        anyhow::ensure!(http::ping(address).await? == 200, "not healthy");
        times.push(millis(begun.elapsed()));
        tokio::time::sleep(PING_PAUSE).await;
    }
    Ok(times)
}

async fn large_body(options: &Options, agent: SocketAddr, report: &mut Report) -> Result<()> {
    let mut body = String::from_utf8(run_input("deltas", 1).to_vec())?;
    let filler = "x".repeat(LARGE_BYTES - body.len() - "\"\":\"\"".len());
    body = body.replacen("\"state\":{}", &format!("\"state\":{{\"\":\"{filler}\"}}"), 1);
    let wide = LARGE_BYTES.to_string();
    let (mut seconds, mut peaks) = ([0.0; 2], [0.0; 2]);
    for who in Who::ALL {
        let flags: &[&str] = if who == Who::Shim { &["--max-body-bytes", &wide] } else { &[] };
        let server = Server::start(who, options, agent, flags).await?;
        let begun = Instant::now();
        http::invoke(server.address, body.as_bytes()).await?;
        seconds[who.index()] = begun.elapsed().as_secs_f64();
        peaks[who.index()] = server.memory_mib("VmHWM")?;
    }
    let capped = Server::start(Who::Shim, options, agent, &[]).await?;
    let status = http::offer(capped.address, body.as_bytes()).await?;
    let refused = capped.memory_mib("VmHWM")?;
    report.row(
        "a run with a body of 100 MB, where that is allowed",
        "s",
        Better::Less,
        seconds[0],
        seconds[1],
    );
    report.row("largest resident memory of it", "MiB", Better::Less, peaks[0], peaks[1]);
    let told = format!("{status}, at most {refused:.0} MiB");
    report.note("the same body under the limit that is the default", "there is none", &told);
    Ok(())
}

fn millis(time: Duration) -> f64 {
    time.as_secs_f64() * 1e3
}

fn median(values: &[f64]) -> f64 {
    percentile(values, 50)
}

fn percentile(values: &[f64], share: usize) -> f64 {
    let mut values = values.to_vec();
    values.sort_by(f64::total_cmp);
    let at = (values.len() * share / 100).min(values.len().saturating_sub(1));
    values.get(at).copied().unwrap_or(f64::NAN)
}
