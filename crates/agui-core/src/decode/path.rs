use super::error::{DecodeError, DecodeErrorKind};

/// The place of a value: a list on the stack that costs nothing until there is an error.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Path<'a> {
    parent: Option<&'a Self>,
    step: Step,
}

#[derive(Debug, Clone, Copy)]
enum Step {
    Root,
    Key(&'static str),
    Index(usize),
}

impl Path<'_> {
    pub(crate) const ROOT: Self = Self { parent: None, step: Step::Root };

    pub(crate) const fn key(&self, key: &'static str) -> Path<'_> {
        Path { parent: Some(self), step: Step::Key(key) }
    }

    pub(crate) const fn index(&self, index: usize) -> Path<'_> {
        Path { parent: Some(self), step: Step::Index(index) }
    }

    pub(crate) fn error(&self, kind: DecodeErrorKind) -> DecodeError {
        DecodeError { pointer: self.pointer(), kind }
    }

    fn pointer(&self) -> String {
        let mut pointer = self.parent.map(Self::pointer).unwrap_or_default();
        match self.step {
            Step::Root => {}
            Step::Key(key) => {
                pointer.push('/');
                pointer.push_str(key);
            }
            Step::Index(index) => {
                pointer.push('/');
                pointer.push_str(&index.to_string());
            }
        }
        pointer
    }
}
