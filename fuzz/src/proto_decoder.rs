//! A binary stream means the same however it is cut, and an event that was read is written and read again
//! unchanged.

use agui_core::{Event, decode_event};
use agui_proto::{Decoder, Received, decode, encode};

/// Small enough for the cap to be met often.
const MAX_FRAME_BYTES: usize = 64 * 1024;

/// The first byte tells the size of the chunks, the rest is the stream.
pub fn run(data: &[u8]) {
    let Some((&size, stream)) = data.split_first() else { return };
    let whole = records([stream]);
    let size = usize::from(size).max(1);
    assert_eq!(whole, records(stream.chunks(size)), "in chunks of {size} bytes");
    for record in whole.0 {
        let Received::Known(json) = record else { continue };
        // What cannot be an event is refused by the reader of events; it is JSON all the same.
        match decode_event(&json) {
            Ok(agui_core::Decoded::Known(event)) => written_again(&event),
            Ok(_) => panic!("an event of an unknown type has a place in the envelope"),
            Err(_) => drop(serde_json::from_slice::<serde_json::Value>(&json)),
        }
    }
}

/// Every record, and whether reading ended well.
fn records<'a>(chunks: impl IntoIterator<Item = &'a [u8]>) -> (Vec<Received<Vec<u8>>>, bool) {
    let mut decoder = Decoder::new(MAX_FRAME_BYTES);
    let mut records = Vec::new();
    for chunk in chunks {
        decoder.push(chunk);
        loop {
            match decoder.next_record() {
                Ok(Some(record)) => records.push(record),
                Ok(None) => break,
                Err(_) => return (records, false),
            }
        }
    }
    (records, decoder.finish().is_ok())
}

/// Writing loses nothing that reading has left.
fn written_again(event: &Event) {
    let frame = frame(event);
    let Ok(Received::Known(back)) = decode(&frame[agui_proto::PREFIX_BYTES..]) else {
        panic!("what was written cannot be read: {event:?}");
    };
    assert_eq!(self::frame(&back), frame);
}

fn frame(event: &Event) -> Vec<u8> {
    let mut frame = Vec::new();
    match encode(event, &mut frame) {
        Ok(()) => frame,
        Err(error) => panic!("{error}: {event:?}"),
    }
}
