//! The terminal: what is written to it, and lines that are read from it.

use std::io::{self, BufRead as _, IsTerminal as _, Write as _};
use std::time::Duration;

#[cfg(unix)]
mod hidden;

use super::screen::Colour;
use crate::plain::plain;

/// How long an agent may be silent before the time is shown, 3 s.
pub(super) const QUIET: Duration = Duration::from_secs(3);

/// Whether a terminal shows what is typed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Input {
    Open,
    /// It is a secret.
    Hidden,
}

/// Standard output.
#[derive(Debug)]
pub(super) struct Console {
    is_terminal: bool,
    /// The elapsed time stands behind the cursor.
    shows_elapsed: bool,
}

impl Console {
    pub(super) fn new() -> Self {
        Self { is_terminal: io::stdout().is_terminal(), shows_elapsed: false }
    }

    /// Colours are for terminals, and for those who have not asked to be spared.
    pub(super) fn colour(&self) -> Colour {
        let spared = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
        let dumb = std::env::var_os("TERM").is_some_and(|term| term == "dumb");
        if self.is_terminal && !spared && !dumb { Colour::Ansi } else { Colour::Plain }
    }

    /// Writes at once, so that text appears as it comes.
    pub(super) fn write(&mut self, text: &str) -> io::Result<()> {
        if text.is_empty() {
            return Ok(());
        }
        let mut out = io::stdout().lock();
        if self.shows_elapsed {
            out.write_all(b"\x1b[K")?;
            self.shows_elapsed = false;
        }
        out.write_all(text.as_bytes())?;
        out.flush()
    }

    /// Shows how long the run has taken, behind the cursor, where the next text overwrites it.
    pub(super) fn elapsed(&mut self, since_start: Duration) -> io::Result<()> {
        if !self.is_terminal {
            return Ok(());
        }
        self.shows_elapsed = true;
        let mut out = io::stdout().lock();
        write!(out, "\x1b7\x1b[K\x1b[2m … {} s\x1b[0m\x1b8", since_start.as_secs())?;
        out.flush()
    }

    /// Asks for the next line of standard input; `None` at its end.
    ///
    /// Dropped before the line has come, as at Ctrl-C, a terminal that hides shows again.
    pub(super) async fn read_line(&mut self, prompt: &str, input: Input) -> io::Result<Option<String>> {
        // Before the prompt: whoever reads it may type at once.
        #[cfg(unix)]
        let _shows_again = match input {
            Input::Open => None,
            Input::Hidden => hidden::Hidden::terminal()?,
        };
        #[cfg(not(unix))]
        let _ = input;
        self.write(prompt)?;
        let read = tokio::task::spawn_blocking(|| {
            let mut line = String::new();
            io::stdin().lock().read_line(&mut line).map(|bytes| (bytes > 0).then_some(line))
        });
        let line = read.await.unwrap_or_else(|error| Err(io::Error::other(error)))?;
        if line.is_none() {
            self.write("\n")?;
        }
        Ok(line)
    }

    /// Writes a line that was read, unless it came from a terminal, which shows what is typed: so that the
    /// output reads the same.
    pub(super) fn repeat(&mut self, line: &str) -> io::Result<()> {
        if io::stdin().is_terminal() {
            return Ok(());
        }
        self.write(&format!("{}\n", plain(line.trim_end())))
    }
}
