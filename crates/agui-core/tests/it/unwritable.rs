//! Programs that would send an invalid stream do not compile.

#[test]
fn invalid_streams_do_not_compile() {
    trybuild::TestCases::new().compile_fail("tests/ui/*.rs");
}
