//! A WebSocket client that does nothing but read. It offers no compression, which is what the official app is
//! faster with.

use std::net::SocketAddr;

use anyhow::Result;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
};

const READ_BYTES: usize = 256 * 1024;
/// A frame as long as this is looked at: terminal events are short.
const SHORT_BYTES: usize = 512;

/// What came over a socket.
#[derive(Debug, Default)]
pub(crate) struct Read {
    /// Frames of data.
    pub(crate) frames: usize,
    /// Characters of text deltas.
    pub(crate) text: usize,
}

/// One run over a socket of its own.
pub(crate) async fn run(address: SocketAddr, body: &[u8], count_text: bool) -> Result<Read> {
    let mut stream = TcpStream::connect(address).await?;
    stream.set_nodelay(true)?;
    let upgrade = format!(
        "GET /ws HTTP/1.1\r\nhost: {address}\r\nupgrade: websocket\r\nconnection: upgrade\r\n\
         sec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==\r\nsec-websocket-version: 13\r\n\r\n"
    );
    stream.write_all(upgrade.as_bytes()).await?;
    let mut buffer = Vec::with_capacity(READ_BYTES);
    let mut at = loop {
        anyhow::ensure!(stream.read_buf(&mut buffer).await? > 0, "no upgrade");
        if let Some(end) = buffer.windows(4).position(|window| window == b"\r\n\r\n") {
            break end + 4;
        }
    };
    anyhow::ensure!(buffer.starts_with(b"HTTP/1.1 101"), "{}", String::from_utf8_lossy(&buffer));
    stream.write_all(&masked(body)).await?;
    let mut read = Read::default();
    loop {
        while let Some((opcode, start, end)) = frame(&buffer, at) {
            let payload = &buffer[start..end];
            anyhow::ensure!(opcode != 8, "closed after {} frames", read.frames);
            if opcode <= 2 {
                read.frames += 1;
                if count_text {
                    read.text += payload.iter().filter(|byte| **byte == b'6').count() * 7;
                }
                if payload.len() < SHORT_BYTES && contains(payload, b"\"RUN_FINISHED\"") {
                    return Ok(read);
                }
            }
            at = end;
        }
        buffer.drain(..at);
        at = 0;
        anyhow::ensure!(stream.read_buf(&mut buffer).await? > 0, "cut after {} frames", read.frames);
    }
}

/// Opcode, start and end of the payload of the frame at `at`, if it is there as a whole.
fn frame(buffer: &[u8], at: usize) -> Option<(u8, usize, usize)> {
    let rest = buffer.get(at..)?;
    let (first, second) = (*rest.first()?, *rest.get(1)?);
    let (length, head) = match second & 0x7f {
        126 => (u64::from(u16::from_be_bytes(rest.get(2..4)?.try_into().ok()?)), 4),
        127 => (u64::from_be_bytes(rest.get(2..10)?.try_into().ok()?), 10),
        short => (u64::from(short), 2),
    };
    let end = at + head + usize::try_from(length).ok()?;
    (buffer.len() >= end).then_some((first & 0x0f, at + head, end))
}

/// One text frame of a client, with a mask of zeroes.
fn masked(payload: &[u8]) -> Vec<u8> {
    let mut frame = vec![0x81];
    match u16::try_from(payload.len()) {
        Ok(length @ ..=125) => frame.push(0x80 | length.to_be_bytes()[1]),
        Ok(length) => {
            frame.push(0x80 | 126);
            frame.extend(length.to_be_bytes());
        }
        Err(_) => {
            frame.push(0x80 | 127);
            frame.extend((payload.len() as u64).to_be_bytes());
        }
    }
    frame.extend([0; 4]);
    frame.extend(payload);
    frame
}

fn contains(payload: &[u8], marker: &[u8]) -> bool {
    payload.windows(marker.len()).any(|window| window == marker)
}
