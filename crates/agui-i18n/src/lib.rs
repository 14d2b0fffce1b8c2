//! User-visible texts in seven languages and the choice among them.
