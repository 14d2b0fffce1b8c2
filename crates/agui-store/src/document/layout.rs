//! White space between JSON tokens; the tokens themselves pass through byte by byte.

/// Spaces a level, as the other adapter writes.
const INDENT: usize = 2;

/// One line, no space between tokens. `json` must be JSON.
pub(super) fn compact(json: &str) -> String {
    let mut out = String::with_capacity(json.len());
    let mut in_string = InString::default();
    for character in json.chars() {
        if in_string.follow(character) || !character.is_ascii_whitespace() {
            out.push(character);
        }
    }
    out
}

/// Python's `indent=2` layout. `json` must be compact JSON.
pub(super) fn pretty(json: &str) -> String {
    let mut out = String::with_capacity(json.len() * 2);
    let mut in_string = InString::default();
    let mut depth = 0_usize;
    let mut characters = json.chars().peekable();
    while let Some(character) = characters.next() {
        if in_string.follow(character) {
            out.push(character);
            continue;
        }
        match character {
            '{' | '[' => {
                out.push(character);
                if let Some(&close @ ('}' | ']')) = characters.peek() {
                    characters.next();
                    out.push(close);
                } else {
                    depth += 1;
                    new_line(&mut out, depth);
                }
            }
            '}' | ']' => {
                depth = depth.saturating_sub(1);
                new_line(&mut out, depth);
                out.push(character);
            }
            ',' => {
                out.push(character);
                new_line(&mut out, depth);
            }
            ':' => out.push_str(": "),
            _ => out.push(character),
        }
    }
    out
}

fn new_line(out: &mut String, depth: usize) {
    out.push('\n');
    out.extend(std::iter::repeat_n(' ', depth * INDENT));
}

/// Whether the scan is inside a string.
#[derive(Default)]
struct InString {
    inside: bool,
    escaped: bool,
}

impl InString {
    /// Takes the next character; true if it belongs to a string, its quotes included.
    const fn follow(&mut self, character: char) -> bool {
        if !self.inside {
            self.inside = character == '"';
            return self.inside;
        }
        match character {
            _ if self.escaped => self.escaped = false,
            '\\' => self.escaped = true,
            '"' => self.inside = false,
            _ => {}
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn layout_changes_white_space_and_nothing_else() {
        let compact_text = r#"{"a":[1.50,-0,"x: {\"},",[],{}],"b":{"c":"\\"},"c":[[{"d":null}]]}"#;
        let pretty_text = "{\n  \"a\": [\n    1.50,\n    -0,\n    \"x: {\\\"},\",\n    [],\n    {}\n  ],\n  \"b\": {\n    \"c\": \"\\\\\"\n  },\n  \"c\": [\n    [\n      {\n        \"d\": null\n      }\n    ]\n  ]\n}";
        assert_eq!(pretty(compact_text), pretty_text);
        assert_eq!(compact(pretty_text), compact_text);
        assert_eq!(compact(" [ 1 ,\t{ } ,\r\n[ ] ] "), "[1,{},[]]");
    }
}
