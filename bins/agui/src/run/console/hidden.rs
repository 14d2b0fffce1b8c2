//! A terminal that does not show what is typed.

use std::io::{self, IsTerminal as _};

use rustix::termios::{LocalModes, OptionalActions, Termios, tcgetattr, tcsetattr};

/// Until this is dropped, the terminal at standard input shows nothing but the end of the line.
pub(super) struct Hidden {
    before: Termios,
}

impl Hidden {
    /// Hides what is typed from now on; `None` if standard input is no terminal.
    pub(super) fn terminal() -> io::Result<Option<Self>> {
        let input = io::stdin();
        if !input.is_terminal() {
            return Ok(None);
        }
        let before = tcgetattr(&input)?;
        let mut hiding = before.clone();
        hiding.local_modes.remove(LocalModes::ECHO);
        hiding.local_modes.insert(LocalModes::ECHONL);
        tcsetattr(&input, OptionalActions::Now, &hiding)?;
        Ok(Some(Self { before }))
    }
}

impl Drop for Hidden {
    fn drop(&mut self) {
        // A terminal that has gone needs no repair.
        let _ = tcsetattr(io::stdin(), OptionalActions::Now, &self.before);
    }
}
