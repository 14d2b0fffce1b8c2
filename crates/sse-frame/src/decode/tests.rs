use super::*;

const LIMIT: usize = 64;

type Chunks<'a> = &'a [&'a [u8]];

fn frame(data: &str) -> Frame {
    Frame { event: None, id: None, data: Bytes::copy_from_slice(data.as_bytes()) }
}

fn named(event: &str, data: &str) -> Frame {
    Frame { event: Some(event.into()), ..frame(data) }
}

fn with_id(id: &str, data: &str) -> Frame {
    Frame { id: Some(id.into()), ..frame(data) }
}

/// Everything that `chunks` gives, the end of the stream included.
fn decode(chunks: Chunks<'_>) -> (Vec<Frame>, Option<SseError>) {
    let mut decoder = Decoder::new(LIMIT);
    let mut frames = Vec::new();
    for chunk in chunks {
        decoder.push(Bytes::copy_from_slice(chunk));
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

#[test]
fn records_are_read_as_the_standard_says() {
    let cases: &[(&str, Chunks<'_>, Vec<Frame>)] = &[
        ("lf", &[b"data: a\n\ndata: b\n\n"], vec![frame("a"), frame("b")]),
        ("cr", &[b"data: a\r\rdata: b\r\r"], vec![frame("a"), frame("b")]),
        ("crlf", &[b"data: a\r\n\r\ndata: b\r\n\r\n"], vec![frame("a"), frame("b")]),
        (
            "mixed breaks",
            &[b"data: a\r\n\ndata: b\n\rdata: c\r\r\n"],
            vec![frame("a"), frame("b"), frame("c")],
        ),
        ("crlf over a border", &[b"data: a\r", b"\n\r", b"\ndata: b\r\n\r\n"], vec![frame("a"), frame("b")]),
        ("cr at a border is not two breaks", &[b"data: a\r", b"\ndata: b\n\n"], vec![frame("a\nb")]),
        ("cr at a border, then no lf", &[b"data: a\r", b"data: b\r", b"\r"], vec![frame("a\nb")]),
        ("byte order mark", &[b"\xef\xbb\xbfdata: a\n\n"], vec![frame("a")]),
        ("byte order mark over borders", &[b"\xef", b"\xbb", b"\xbf: x\ndata: a\n\n"], vec![frame("a")]),
        ("second mark is text", &[b"data: a\n\n\xef\xbb\xbfdata: b\n\n"], vec![frame("a")]),
        ("no space", &[b"data:a\n\n"], vec![frame("a")]),
        ("only one space goes", &[b"data:  a\n\n"], vec![frame(" a")]),
        ("several lines", &[b"data: a\ndata:\ndata: b\n\n"], vec![frame("a\n\nb")]),
        ("empty payload", &[b"data\n\n", b"data:\n\n"], vec![frame(""), frame("")]),
        ("comment inside", &[b"data: a\n: ping - 2026\n\n"], vec![frame("a")]),
        ("comment alone", &[b": ping\r\n\r\n:\n\n", b"data: a\n\n"], vec![frame("a")]),
        ("long comment", &[b":", &[b'x'; 500], &[b'y'; 500], b"\ndata: a\n\n"], vec![frame("a")]),
        ("event", &[b"event: error\ndata: a\n\ndata: b\n\n"], vec![named("error", "a"), frame("b")]),
        ("event without data", &[b"event: error\n\ndata: b\n\n"], vec![frame("b")]),
        ("id", &[b"id: 7\ndata: a\n\ndata: b\n\n"], vec![with_id("7", "a"), frame("b")]),
        ("id with nul", &[b"id: 7\0\ndata: a\n\n"], vec![frame("a")]),
        ("retry, unknown, no colon", &[b"retry: 5\nfoo: 1\nbar\ndata: a\n\n"], vec![frame("a")]),
        ("prefix of a name", &[b"dat: x\ndatas: y\n data: z\n\n"], vec![]),
        ("colon in the value", &[b"data: {\"a\":1}\n\n"], vec![frame("{\"a\":1}")]),
        (
            "unicode line breaks are text",
            &["data: a\u{2028}b\u{2029}c\u{85}d\n\n".as_bytes()],
            vec![frame("a\u{2028}b\u{2029}c\u{85}d")],
        ),
        ("character over a border", &[b"data: \xe4\xbd", b"\xa0\n\n"], vec![frame("\u{4f60}")]),
        ("no blank line at the end", &[b"data: a\n\ndata: b\n"], vec![frame("a"), frame("b")]),
        ("half a comment at the end", &[b"data: a\n\n: pi"], vec![frame("a")]),
        ("nothing", &[b""], vec![]),
    ];
    for (name, chunks, expected) in cases {
        assert_eq!(decode(chunks), (expected.clone(), None), "{name}");
    }
}

#[test]
fn stream_that_ends_inside_a_line_is_cut() {
    let cases: &[(Chunks<'_>, Vec<Frame>)] = &[
        (&[b"data: a"], vec![]),
        (&[b"data: a\n\nda", b"ta"], vec![frame("a")]),
        (&[b"data: a\ndata: b"], vec![]),
    ];
    for (chunks, frames) in cases {
        assert_eq!(decode(chunks), (frames.clone(), Some(SseError::Cut)), "{chunks:?}");
    }
}

#[test]
fn cut_is_told_once() {
    let mut decoder = Decoder::new(LIMIT);
    decoder.push(Bytes::from_static(b"data: a"));
    assert_eq!(decoder.finish(), Err(SseError::Cut));
    assert_eq!(decoder.finish(), Ok(None));
}

#[test]
fn cap_counts_joined_data_only() {
    let exact = "x".repeat(LIMIT);
    let over = "x".repeat(LIMIT + 1);
    let half = "x".repeat(LIMIT / 2);
    let too_large = Some(SseError::TooLarge { limit_bytes: LIMIT });
    let cases = [
        (format!("data: {exact}\n\n"), (vec![frame(&exact)], None)),
        (format!("data: {over}\n\n"), (vec![], too_large)),
        (format!("data: {half}\ndata: {half}\n\n"), (vec![], too_large)),
        (format!("data: {half}\n\ndata: {half}\n\n"), (vec![frame(&half), frame(&half)], None)),
    ];
    for (stream, expected) in cases {
        assert_eq!(decode(&[stream.as_bytes()]), expected, "{stream}");
        let bytes: Vec<&[u8]> = stream.as_bytes().chunks(5).collect();
        assert_eq!(decode(&bytes), expected, "in pieces: {stream}");
    }
}

#[test]
fn line_without_end_is_refused_before_it_fills_memory() {
    let chunk = [b'x'; 16];
    let endless = vec![&chunk[..]; 100];
    assert_eq!(decode(&endless), (vec![], Some(SseError::TooLarge { limit_bytes: LIMIT })));
}

#[test]
fn empty_data_lines_count_through_their_line_breaks() {
    let stream = "data\n".repeat(LIMIT + 2);
    assert_eq!(decode(&[stream.as_bytes()]).1, Some(SseError::TooLarge { limit_bytes: LIMIT }));
}

#[test]
fn decoder_stays_failed_after_a_record_that_is_too_large() {
    let mut decoder = Decoder::new(2);
    let too_large = Err(SseError::TooLarge { limit_bytes: 2 });
    decoder.push(Bytes::from_static(b"data: abc\n\ndata: a\n\n"));
    assert_eq!(decoder.next_frame(), too_large);
    decoder.push(Bytes::from_static(b"data: a\n\n"));
    assert_eq!(decoder.next_frame(), too_large);
    assert_eq!(decoder.finish(), too_large);
}

#[test]
fn record_inside_one_chunk_is_not_copied() {
    let chunk = Bytes::from_static(b": ping\n\ndata: {\"a\":1}\r\n\r\n");
    let mut decoder = Decoder::new(LIMIT);
    decoder.push(chunk.clone());
    let frame = decoder.next_frame().unwrap().unwrap();
    assert_eq!(frame.data.as_ptr(), chunk[14..].as_ptr());
}

#[test]
fn chunks_may_be_pushed_ahead() {
    let mut decoder = Decoder::new(LIMIT);
    for chunk in [&b"data: a\n"[..], b"\ndata", b": b\n\n"] {
        decoder.push(Bytes::copy_from_slice(chunk));
    }
    assert_eq!(decoder.next_frame(), Ok(Some(frame("a"))));
    assert_eq!(decoder.next_frame(), Ok(Some(frame("b"))));
    assert_eq!(decoder.next_frame(), Ok(None));
}
