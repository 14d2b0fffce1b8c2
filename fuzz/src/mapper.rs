//! Whatever the kernel sends, what leaves the mapper is a valid stream.

use a2a_wire::{Reply, StreamItem, decode_reply};
use agui_core::{Event, UnixMillis, Verifier};
use agui_mapper::{Ending, EventMapper, MapperConfig};

const CONTEXT_KEY: &str = "\"contextId\":\"";

/// Each line is the data of one record of the kernel's stream.
pub fn run(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    let mut mapper = EventMapper::new(MapperConfig::new("t", "r", "e", "i", context_of(&text)));
    let mut check = Check { verifier: Verifier::for_run("t", "r"), last: None };
    mapper.stream_opened();
    for (number, line) in (0_u64..).zip(text.lines()) {
        let now = UnixMillis::new(number);
        if let Ok(Reply::Result(result)) = decode_reply(line.as_bytes())
            && let Ok(item) = StreamItem::from_result(result)
        {
            mapper.handle_item(now, &item);
            check.drain(&mut mapper);
            mapper.announce_session(now);
            check.drain(&mut mapper);
        }
    }
    mapper.finish(UnixMillis::new(u64::MAX), ending(data));
    check.drain(&mut mapper);
    check.end();
}

/// The context of the run is the first that the kernel names: others must not be mapped.
fn context_of(text: &str) -> &str {
    let rest = text.split_once(CONTEXT_KEY).map_or("", |(_, rest)| rest);
    rest.split_once('"').map_or("", |(id, _)| id)
}

fn ending(data: &[u8]) -> Ending {
    match data.len() % 3 {
        0 => Ending::Success,
        1 => Ending::Error { code: "A2A_EXECUTION_FAILED".to_owned(), message: "failed".to_owned() },
        _ => Ending::Cancelled { message: "cancelled".to_owned() },
    }
}

struct Check {
    verifier: Verifier,
    last: Option<Event>,
}

impl Check {
    fn drain(&mut self, mapper: &mut EventMapper) {
        while let Some(event) = mapper.poll_event() {
            if let Err(violation) = self.verifier.check(&event) {
                panic!("{violation:?} at {event:?} after {:?}", self.last);
            }
            self.last = Some(event);
        }
    }

    fn end(self) {
        assert_eq!(self.verifier.finish(), Ok(()));
        assert!(matches!(self.last, Some(Event::RunFinished(_) | Event::RunError(_))), "{:?}", self.last);
    }
}
