use bytes::BytesMut;

use crate::SseError;

const DATA: &[u8] = b"data: ";

/// A growing byte buffer that records are appended to: `Vec<u8>` or [`BytesMut`].
///
/// Example: see [`encode_with`].
pub trait FrameBuffer {
    /// Appends `bytes`.
    fn put(&mut self, bytes: &[u8]);
    /// What was written so far.
    fn written(&self) -> &[u8];
    /// Drops everything after the first `len` bytes.
    fn shorten(&mut self, len: usize);
}

impl FrameBuffer for Vec<u8> {
    fn put(&mut self, bytes: &[u8]) {
        self.extend_from_slice(bytes);
    }

    fn written(&self) -> &[u8] {
        self
    }

    fn shorten(&mut self, len: usize) {
        self.truncate(len);
    }
}

impl FrameBuffer for BytesMut {
    fn put(&mut self, bytes: &[u8]) {
        self.extend_from_slice(bytes);
    }

    fn written(&self) -> &[u8] {
        self
    }

    fn shorten(&mut self, len: usize) {
        self.truncate(len);
    }
}

/// Appends one record with `data` as its payload and ends it with a blank line.
///
/// A payload with line breaks becomes several `data` lines, which readers join with LF; for JSON
/// that is a change of white space only.
///
/// ```
/// let mut wire = Vec::new();
/// sse_frame::encode_data(&mut wire, b"{\n}");
/// assert_eq!(wire, b"data: {\ndata: }\n\n");
/// ```
pub fn encode_data<B: FrameBuffer>(out: &mut B, data: &[u8]) {
    encode_with(out, |buffer| buffer.put(data));
}

/// Appends one record whose payload is what `write` appends to the buffer.
///
/// Saves the copy that [`encode_data`] needs when the payload is serialised on the spot. `write` must
/// only append.
///
/// ```
/// use sse_frame::{FrameBuffer as _, encode_with};
///
/// let mut wire = Vec::new();
/// encode_with(&mut wire, |out| out.put(br#"{"n":1}"#));
/// assert_eq!(wire, b"data: {\"n\":1}\n\n");
/// ```
pub fn encode_with<B: FrameBuffer, R>(out: &mut B, write: impl FnOnce(&mut B) -> R) -> R {
    out.put(DATA);
    let start = out.written().len();
    let result = write(out);
    end_record(out, start);
    result
}

/// As [`encode_with`]; when `write` fails the buffer is left as it was.
///
/// ```
/// use sse_frame::{FrameBuffer as _, try_encode_with};
///
/// let mut wire = Vec::new();
/// let failed = try_encode_with(&mut wire, |out: &mut Vec<u8>| {
///     out.put(b"{\"half");
///     Err("no more")
/// });
/// assert_eq!((failed, wire), (Err("no more"), Vec::new()));
/// ```
///
/// # Errors
/// The error of `write`.
pub fn try_encode_with<B: FrameBuffer, E>(
    out: &mut B,
    write: impl FnOnce(&mut B) -> Result<(), E>,
) -> Result<(), E> {
    let before = out.written().len();
    out.put(DATA);
    if let Err(error) = write(out) {
        out.shorten(before);
        return Err(error);
    }
    end_record(out, before + DATA.len());
    Ok(())
}

/// Appends a comment and a blank line; readers ignore it, which makes it a heartbeat.
///
/// ```
/// let mut wire = Vec::new();
/// sse_frame::encode_comment(&mut wire, "heartbeat");
/// assert_eq!(wire, b": heartbeat\n\n");
/// ```
pub fn encode_comment<B: FrameBuffer>(out: &mut B, text: &str) {
    for line in lines(text.as_bytes()) {
        out.put(b": ");
        out.put(line);
        out.put(b"\n");
    }
    out.put(b"\n");
}

/// Appends the `id` line of the record that the next `encode_data` or `encode_with` completes.
///
/// ```
/// let mut wire = Vec::new();
/// sse_frame::encode_event(&mut wire, "tick")?;
/// sse_frame::encode_id(&mut wire, "17")?;
/// sse_frame::encode_data(&mut wire, b"{}");
/// assert_eq!(wire, b"event: tick\nid: 17\ndata: {}\n\n");
/// # Ok::<(), sse_frame::SseError>(())
/// ```
///
/// # Errors
/// [`SseError::InvalidField`] for a line break or NUL in `id`; nothing is written.
pub fn encode_id<B: FrameBuffer>(out: &mut B, id: &str) -> Result<(), SseError> {
    if id.contains('\0') {
        return Err(SseError::InvalidField);
    }
    encode_field(out, b"id: ", id)
}

/// Appends the `event` line of the record that the next `encode_data` or `encode_with` completes.
///
/// Example: see [`encode_id`].
///
/// # Errors
/// [`SseError::InvalidField`] for a line break in `name`; nothing is written.
pub fn encode_event<B: FrameBuffer>(out: &mut B, name: &str) -> Result<(), SseError> {
    encode_field(out, b"event: ", name)
}

fn encode_field<B: FrameBuffer>(out: &mut B, field: &[u8], value: &str) -> Result<(), SseError> {
    if next_break(value.as_bytes()).is_some() {
        return Err(SseError::InvalidField);
    }
    out.put(field);
    out.put(value.as_bytes());
    out.put(b"\n");
    Ok(())
}

/// Ends the record whose payload begins at `start`, splitting the payload if it has line breaks.
fn end_record<B: FrameBuffer>(out: &mut B, start: usize) {
    let payload = out.written().get(start..).unwrap_or_default();
    if next_break(payload).is_some() {
        let payload = payload.to_vec();
        out.shorten(start);
        for (index, line) in lines(&payload).enumerate() {
            if index > 0 {
                out.put(b"\n");
                out.put(DATA);
            }
            out.put(line);
        }
    }
    out.put(b"\n\n");
}

fn next_break(bytes: &[u8]) -> Option<usize> {
    memchr::memchr2(b'\r', b'\n', bytes)
}

/// The lines of `bytes`, split as a reader of the stream would: at CR, LF and CRLF, nowhere else.
fn lines(bytes: &[u8]) -> impl Iterator<Item = &[u8]> {
    let mut rest = Some(bytes);
    std::iter::from_fn(move || {
        let bytes = rest?;
        let Some(at) = next_break(bytes) else {
            rest = None;
            return Some(bytes);
        };
        let skip = if bytes[at..].starts_with(b"\r\n") { 2 } else { 1 };
        rest = Some(&bytes[at + skip..]);
        Some(&bytes[..at])
    })
}

#[cfg(test)]
mod tests;
