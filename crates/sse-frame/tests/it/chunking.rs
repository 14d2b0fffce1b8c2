use bytes::Bytes;
use proptest::prelude::*;
use sse_frame::{Decoder, Frame, SseError, encode_comment, encode_data, encode_event, encode_id};

const LIMIT_BYTES: usize = 4096;

/// Frames and the final verdict for `stream`, pushed in pieces that end at `borders`.
fn decode(stream: &[u8], borders: &[usize]) -> (Vec<Frame>, Result<(), SseError>) {
    let mut decoder = Decoder::new(LIMIT_BYTES);
    let mut frames = Vec::new();
    let mut from = 0;
    let mut borders = borders.iter().map(|border| border % (stream.len() + 1)).collect::<Vec<_>>();
    borders.push(stream.len());
    borders.sort_unstable();
    for to in borders {
        decoder.push(Bytes::copy_from_slice(&stream[from..to]));
        from = to;
        loop {
            match decoder.next_frame() {
                Ok(Some(frame)) => frames.push(frame),
                Ok(None) => break,
                Err(error) => return (frames, Err(error)),
            }
        }
    }
    loop {
        match decoder.finish() {
            Ok(Some(frame)) => frames.push(frame),
            Ok(None) => return (frames, Ok(())),
            Err(error) => return (frames, Err(error)),
        }
    }
}

fn stream_text() -> impl Strategy<Value = Vec<u8>> {
    let piece = prop_oneof![
        Just(&b"data"[..]),
        Just(&b"data: "[..]),
        Just(&b"data:{\"a\":1}"[..]),
        Just(&b"event: error"[..]),
        Just(&b"id: 7"[..]),
        Just(&b": ping"[..]),
        Just(&b":"[..]),
        Just(&b"\r"[..]),
        Just(&b"\n"[..]),
        Just(&b"\r\n"[..]),
        Just(&b"\xef\xbb\xbf"[..]),
        Just("\u{2028}\u{4f60}".as_bytes()),
    ];
    prop::collection::vec(piece, 0..60).prop_map(|pieces| pieces.concat())
}

proptest! {
    #[test]
    fn chunk_borders_never_change_the_result(
        stream in stream_text(),
        borders in prop::collection::vec(any::<usize>(), 0..12),
    ) {
        prop_assert_eq!(decode(&stream, &borders), decode(&stream, &[]));
    }

    #[test]
    fn what_is_encoded_is_decoded(
        records in prop::collection::vec((any::<Option<u16>>(), any::<bool>(), "[^\r]{0,40}"), 0..8),
        borders in prop::collection::vec(any::<usize>(), 0..12),
    ) {
        let mut stream = Vec::new();
        for (id, named, payload) in &records {
            encode_comment(&mut stream, "heartbeat");
            if let Some(id) = id {
                encode_id(&mut stream, &id.to_string()).unwrap();
            }
            if *named {
                encode_event(&mut stream, "error").unwrap();
            }
            encode_data(&mut stream, payload.as_bytes());
        }
        let (frames, end) = decode(&stream, &borders);
        let seen: Vec<_> = frames
            .into_iter()
            .map(|frame| (
                frame.id.map(|id| id.parse::<u16>().unwrap()),
                frame.event.is_some(),
                String::from_utf8(frame.data.to_vec()).unwrap(),
            ))
            .collect();
        prop_assert_eq!((seen, end), (records, Ok(())));
    }

    #[test]
    fn arbitrary_bytes_are_survived(stream in prop::collection::vec(any::<u8>(), 0..300)) {
        let (frames, _) = decode(&stream, &[]);
        prop_assert!(frames.iter().all(|frame| frame.data.len() <= LIMIT_BYTES));
    }
}
