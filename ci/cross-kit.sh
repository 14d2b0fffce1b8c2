#!/usr/bin/env bash
# ci/cross-kit.sh KIT [TARGET]
#
# For machines that cannot reach rustup's server: makes the directory KIT a copy of the active toolchain
# together with the standard library that `rustup target add TARGET` would have brought
# (default: aarch64-unknown-linux-musl), and then `cargo +KIT …` builds for TARGET.
#
# The library is built from Debian's rust-src of exactly the active version; the C objects come from
# Debian's musl-dev, libgcc and libunwind. Nothing is installed, and the system's apt state stays as it is.
# RUST_LIBRARY_TAR=FILE takes the folder library/ of rust-src from an archive instead.
#
# Exit status: 0 the kit is ready (also when it was before, or when none is needed), 77 it cannot be made
# here (the last line begins with SKIP and says why), anything else is a failure.
set -euo pipefail
unset LD_LIBRARY_PATH RUSTC RUSTFLAGS RUSTUP_TOOLCHAIN CARGO_ENCODED_RUSTFLAGS

skip() { echo "SKIP: $*"; exit 77; }

kit=$(realpath -m "${1:?usage: cross-kit.sh KIT [TARGET]}")
target=${2:-aarch64-unknown-linux-musl}
sysroot=$(rustc --print sysroot)
version=$(rustc -V | cut -d' ' -f2)
host=$(rustc -vV | sed -n 's/^host: //p')
commit=$(rustc -vV | sed -n 's/^commit-hash: //p')
ready=$kit/.ready-$version-$target

if [[ -e $(rustc --print target-libdir --target "$target")/self-contained/crt1.o ]]; then
  echo "the toolchain has $target already: no kit is needed"
  exit 0
fi
if [[ -e $ready ]]; then echo "the kit is ready"; exit 0; fi
case $target in
  aarch64-unknown-linux-musl) arch=arm64 cpu=aarch64 ;;
  x86_64-unknown-linux-musl) arch=amd64 cpu=x86_64 ;;
  *) skip "no kit can be made for $target" ;;
esac
command -v apt-get >/dev/null && command -v dpkg-deb >/dev/null || skip "no apt here; type: rustup target add $target"

# 1. Packages, by an apt of its own that knows both suites and both architectures.
work=$kit.work
rm -rf "$work" "$kit"
mkdir -p "$work"/{lists/partial,cache/archives/partial,debs,unpacked,stub/src}
keyring=/usr/share/keyrings/debian-archive-keyring.gpg
archive=$(apt-get indextargets --format '$(REPO_URI)' 2>/dev/null | grep -m1 -E '/debian/?$') \
  || skip "apt's sources name no Debian archive"
{
  echo "deb [arch=amd64 signed-by=$keyring] $archive trixie-backports main"
  echo "deb [arch=$arch signed-by=$keyring] $archive trixie main"
} >"$work/sources.list"
own_apt() {
  apt-get -qq -o Dir::Etc::sourcelist="$work/sources.list" -o Dir::Etc::sourceparts=/dev/null \
    -o Dir::State::lists="$work/lists" -o Dir::Cache="$work/cache" -o APT::Architectures=amd64,arm64 \
    -o APT::Sandbox::User=root -o Acquire::Languages=none "$@"
}
own_apt update || skip "Debian's package lists cannot be had"
cd "$work/debs"
if [[ -z ${RUST_LIBRARY_TAR:-} ]]; then
  own_apt download "rust-src=$version+*" || skip "Debian has no rust-src of exactly $version"
fi
own_apt download "musl-dev:$arch" "libunwind-19-dev:$arch" "libgcc-14-dev:$arch" \
  || skip "musl-dev, libunwind or libgcc for $arch cannot be had"
for deb in *.deb; do dpkg-deb -x "$deb" "$work/unpacked"; done

# 2. The toolchain by hard links: no disk is used and the original is never written to.
cp -al "$sysroot" "$kit" 2>/dev/null || { rm -rf "$kit"; cp -a "$sysroot" "$kit"; }
rm -rf "$kit/lib/rustlib/src"
mkdir -p "$kit/lib/rustlib/src"
source=$kit/lib/rustlib/src/rust
if [[ -n ${RUST_LIBRARY_TAR:-} ]]; then
  mkdir "$source"
  tar xf "$RUST_LIBRARY_TAR" -C "$source"
else
  mv "$work/unpacked/usr/src/rustc-$version" "$source"
fi

# 3. The standard library. As in rustc's own build, panic_abort is compiled to abort, and the bitcode that
# fat LTO needs is kept.
cat >"$work/wrapper" <<'W'
#!/bin/sh
case " $* " in *" --crate-name panic_abort "*) exec "$@" -C panic=abort ;; esac
exec "$@"
W
chmod +x "$work/wrapper"
: >"$work/stub/src/lib.rs"
cat >"$work/stub/Cargo.toml" <<'T'
[package]
name = "stub"
version = "0.0.0"
edition = "2021"
[workspace]
[profile.release]
debug = 0
codegen-units = 1
T
(
  cd "$work/stub"
  export RUSTC=$kit/bin/rustc RUSTC_WRAPPER=$work/wrapper RUSTC_BOOTSTRAP=1 CARGO_TARGET_DIR=$work/target
  export RUSTFLAGS="-Cembed-bitcode=yes --remap-path-prefix=$source=/rustc/$commit"
  "$kit/bin/cargo" build --quiet --release --target "$target" \
    -Zbuild-std=core,alloc,std,panic_abort,panic_unwind,proc_macro,test
)
lib=$kit/lib/rustlib/$target/lib
mkdir -p "$lib/self-contained"
cp "$work/target/$target"/release/deps/*.rlib "$lib/"
rm -f "$lib"/libstub-*

# 4. The objects that rustup ships beside it. LLVM's libunwind, because libgcc's wants a glibc.
usr=$work/unpacked/usr/lib
cp "$usr/$cpu-linux-musl"/{crt1,Scrt1,rcrt1,crti,crtn}.o "$usr/$cpu-linux-musl/libc.a" \
  "$usr/gcc/$cpu-linux-gnu/14"/{crtbegin,crtbeginS,crtend,crtendS}.o "$lib/self-contained/"
LD_LIBRARY_PATH=$kit/lib "$kit/lib/rustlib/$host/bin/rust-objcopy" --remove-section=.deplibs \
  --redefine-sym __fprintf_chk=abort --redefine-sym __vfprintf_chk=abort --redefine-sym __vsnprintf_chk=abort \
  "$usr/llvm-19/lib/libunwind.a" "$lib/self-contained/libunwind.a"

# 5. It links a program that unwinds, and where that can be run, it does.
echo 'fn main() { assert!(std::panic::catch_unwind(|| panic!("x")).is_err()); print!("unwinds") }' >"$work/probe.rs"
"$kit/bin/rustc" --target "$target" -C linker=rust-lld -O "$work/probe.rs" -o "$work/probe"
run=$(command -v "qemu-$cpu-static" || command -v "qemu-$cpu" || true)
if [[ -n $run ]]; then [[ $("$run" "$work/probe" 2>/dev/null) == unwinds ]]; fi

# Without its sources rustc does not map /rustc/COMMIT back to paths of this machine.
rm -rf "$kit/lib/rustlib/src" "$work"
touch "$ready"
echo "the kit is ready"
