//! Links between documents lead somewhere.

use std::collections::BTreeSet;

use super::Finding;
use crate::workspace::SourceFile;

pub(super) fn check(files: &[SourceFile]) -> Vec<Finding> {
    let mut known: BTreeSet<String> = BTreeSet::new();
    for file in files {
        let parts: Vec<&str> = file.path.split('/').collect();
        known.extend((1..=parts.len()).map(|count| parts[..count].join("/")));
    }
    let mut findings = Vec::new();
    for file in files.iter().filter(|file| file.path.ends_with(".md")) {
        for (line, target) in link_targets(&file.text) {
            if let Err(problem) = resolve(&file.path, &target, &known, files) {
                findings.push(Finding::at(file, line, format!("link `{target}`: {problem}")));
            }
        }
    }
    findings
}

/// Checks one target; links out of the tree and links to Rust items are not looked at.
fn resolve(
    from: &str,
    target: &str,
    known: &BTreeSet<String>,
    files: &[SourceFile],
) -> Result<(), &'static str> {
    let item = target.contains("::") || target.chars().all(|c| c.is_alphanumeric() || c == '_');
    if item || target.contains("://") || target.starts_with("mailto:") {
        return Ok(());
    }
    let (path, anchor) = target.split_once('#').map_or((target, None), |(path, anchor)| (path, Some(anchor)));
    let path = if path.is_empty() { from.to_owned() } else { join(from, path).ok_or("leaves the tree")? };
    if !path.is_empty() && !known.contains(&path) {
        return Err("no such file");
    }
    let Some(anchor) = anchor.filter(|_| path.ends_with(".md")) else { return Ok(()) };
    let document = files.iter().find(|file| file.path == path).ok_or("no such file")?;
    if anchors(&document.text).contains(anchor) { Ok(()) } else { Err("no such heading") }
}

/// `path` seen from the directory of `from`; `None` above the root.
fn join(from: &str, path: &str) -> Option<String> {
    let mut parts: Vec<&str> = from.split('/').collect();
    parts.pop();
    for part in path.trim_end_matches('/').split('/') {
        match part {
            "." => {}
            ".." => drop(parts.pop()?),
            _ => parts.push(part),
        }
    }
    Some(parts.join("/"))
}

/// Targets of `[text](target)` outside code, with their 1-based lines.
fn link_targets(text: &str) -> Vec<(usize, String)> {
    let mut targets = Vec::new();
    for (number, line) in prose_lines(text) {
        let line = without_code(line);
        let mut rest = line.as_str();
        while let Some(start) = rest.find("](") {
            rest = &rest[start + 2..];
            let Some(end) = rest.find(')') else { break };
            let target = rest[..end].split_whitespace().next().unwrap_or("");
            if !target.is_empty() {
                targets.push((number, target.trim_matches(['<', '>']).to_owned()));
            }
            rest = &rest[end..];
        }
    }
    targets
}

/// Lines outside fenced blocks, with their 1-based numbers.
fn prose_lines(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut fenced = false;
    text.lines().enumerate().filter_map(move |(index, line)| {
        let fence = line.trim_start().starts_with("```");
        fenced ^= fence;
        (!fenced && !fence).then_some((index + 1, line))
    })
}

/// The line without its code spans; what looks like a link in code is none.
fn without_code(line: &str) -> String {
    line.split('`').enumerate().filter(|(index, _)| index % 2 == 0).map(|(_, part)| part).collect()
}

/// The anchors that headings get: lower case, spaces as hyphens, other marks dropped.
fn anchors(text: &str) -> BTreeSet<String> {
    let headings = prose_lines(text).filter_map(|(_, line)| {
        let title = line.trim_start_matches('#');
        (title.len() < line.len() && title.starts_with(' ')).then(|| title.trim())
    });
    let slug = |title: &str| {
        let keep = |c: &char| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_');
        title.to_lowercase().chars().filter(keep).map(|c| if c == ' ' { '-' } else { c }).collect()
    };
    headings.map(slug).collect()
}

#[cfg(test)]
mod tests {
    use super::{super::file, *};

    fn problems(text: &str) -> Vec<String> {
        let files = [
            file("docs/guide/start.md", text),
            file("docs/errors.md", "# Errors\n\n## When `A2A` is down\n"),
            file("README.md", "# Top\n"),
        ];
        check(&files).iter().map(ToString::to_string).collect()
    }

    #[test]
    fn links_that_lead_somewhere_are_accepted() {
        let text = "# Own heading\n[a](../errors.md) [b](../errors.md#when-a2a-is-down \"title\") [c](#own-heading)\n\
                    [d](../../README.md) [e](https://example.com/x) [f](../) [g](crate::Thing) [h](Thing)\n\
                    `[i](nowhere.md)`\n```text\n[j](nowhere.md)\n```\n";
        assert_eq!(problems(text), Vec::<String>::new());
    }

    #[test]
    fn links_that_lead_nowhere_are_found() {
        let text = "[a](nowhere.md)\n[b](../errors.md#no-such) [c](../../../up.md)\n[d](#missing)\n";
        assert_eq!(
            problems(text),
            [
                "docs/guide/start.md:1: link `nowhere.md`: no such file",
                "docs/guide/start.md:2: link `../errors.md#no-such`: no such heading",
                "docs/guide/start.md:2: link `../../../up.md`: leaves the tree",
                "docs/guide/start.md:3: link `#missing`: no such heading",
            ]
        );
    }
}
