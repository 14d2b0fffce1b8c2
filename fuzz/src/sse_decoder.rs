//! An event stream means the same however it is cut into chunks.

use bytes::{Bytes, BytesMut};
use sse_frame::{Decoder, Frame, SseError, encode_data};

/// Small enough for the cap to be met often.
const MAX_EVENT_BYTES: usize = 4096;

/// The first byte tells the size of the chunks, the rest is the stream.
pub fn run(data: &[u8]) {
    let Some((&size, stream)) = data.split_first() else { return };
    let stream = Bytes::copy_from_slice(stream);
    let whole = decode([stream.clone()]);
    let size = usize::from(size).max(1);
    let pieces = (0..stream.len()).step_by(size).map(|at| stream.slice(at..stream.len().min(at + size)));
    let cut = decode(pieces);
    // A cap may be met earlier or later, since an unfinished line counts; what was read before is the same.
    if whole.1.is_none_or(is_cut) && cut.1.is_none_or(is_cut) {
        assert_eq!(whole, cut, "in chunks of {size} bytes");
    }
    for frame in &whole.0 {
        assert!(frame.data.len() <= MAX_EVENT_BYTES);
        encoded_again(frame);
    }
}

fn is_cut(error: SseError) -> bool {
    error == SseError::Cut
}

/// Every frame, and the error that ended the stream.
fn decode(chunks: impl IntoIterator<Item = Bytes>) -> (Vec<Frame>, Option<SseError>) {
    let mut decoder = Decoder::new(MAX_EVENT_BYTES);
    let mut frames = Vec::new();
    for chunk in chunks {
        decoder.push(chunk);
        loop {
            match decoder.next_frame() {
                Ok(Some(frame)) => frames.push(frame),
                Ok(None) => break,
                Err(error) => return (frames, Some(error)),
            }
        }
    }
    loop {
        match decoder.finish() {
            Ok(Some(frame)) => frames.push(frame),
            Ok(None) => return (frames, None),
            Err(error) => return (frames, Some(error)),
        }
    }
}

/// What the encoder writes is read back as it was.
fn encoded_again(frame: &Frame) {
    if frame.data.contains(&b'\n') || frame.data.contains(&b'\r') {
        return;
    }
    let mut encoded = BytesMut::new();
    encode_data(&mut encoded, &frame.data);
    let (frames, error) = decode([encoded.freeze()]);
    assert_eq!(error, None);
    assert_eq!(frames.len(), 1);
    assert_eq!(frames[0].data, frame.data);
}
