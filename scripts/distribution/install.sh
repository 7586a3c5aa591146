#!/bin/sh
# Installs Gramian for one user: fetches the archive for this machine, checks its SHA-256, unpacks it and links bin/gramian.
# Needs neither root nor Java.
set -eu

version=VERSION
prefix=${GRAMIAN_PREFIX:-$HOME/.local}
from=https://github.com/gramian/gramian/releases/download/v$version

usage() {
    cat <<TEXT
Usage: install.sh [--prefix DIR] [--from URL|DIR]
Installs Gramian $version into DIR/lib/gramian-$version and links DIR/bin/gramian. Run it again to repair or upgrade.

  --prefix DIR     default: GRAMIAN_PREFIX, or ~/.local
  --from URL|DIR   where the archive and its .sha256 lie; default: the release page. Without a network, download both
                   elsewhere and pass their folder.
  --help           show this text

To remove it, and versions before it: rm -r DIR/lib/gramian-* DIR/bin/gramian
Exit code: 0 installed, 1 download, checksum or disk failed, 2 usage or unsupported machine.
TEXT
}

say() {
    echo "install: $*" >&2
}

fail() {
    code=$1
    shift
    say "$@"
    exit "$code"
}

while [ $# -gt 0 ]; do
    case $1 in
        --prefix | --from) [ $# -gt 1 ] || fail 2 "$1: expected a value, found none" ;;
    esac
    case $1 in
        --prefix) prefix=$2; shift ;;
        --from) from=$2; shift ;;
        --help | -h) usage; exit 0 ;;
        *) fail 2 "unknown argument '$1'; see install.sh --help" ;;
    esac
    shift
done

case "$(uname -s) $(uname -m)" in
    "Linux x86_64") platform=linux-x86_64 ;;
    "Linux aarch64" | "Linux arm64") platform=linux-aarch64 ;;
    "Darwin arm64") platform=osx-aarch64 ;;
    *) fail 2 "expected Linux on x86-64 or arm64, or macOS on arm64, found $(uname -s) $(uname -m)" ;;
esac
name=gramian-$version-$platform
mkdir -p "$prefix/lib" "$prefix/bin" || fail 1 "$prefix is not writable; choose another folder by --prefix"
work=$(mktemp -d "$prefix/lib/.gramian.XXXXXX")
trap 'rm -rf "$work"' EXIT
trap 'exit 130' INT TERM HUP

fetch() {
    if [ -d "$from" ]; then
        cp "$from/$1" "$work/$1"
    elif command -v curl >/dev/null; then
        curl --fail --location --show-error --progress-bar --output "$work/$1" "$from/$1"
    elif command -v wget >/dev/null; then
        wget --output-document="$work/$1" "$from/$1"
    else
        fail 1 "expected curl or wget, found neither; download $from/$1 and pass its folder by --from"
    fi || fail 1 "could not get $1 from $from"
}

checksum() {
    if command -v sha256sum >/dev/null; then sha256sum "$1"; else shasum -a 256 "$1"; fi | cut -d' ' -f1
}

fetch "$name.tar.gz.sha256"
fetch "$name.tar.gz"
expected=$(cut -d' ' -f1 "$work/$name.tar.gz.sha256")
found=$(checksum "$work/$name.tar.gz")
[ "$expected" = "$found" ] || fail 1 "$name.tar.gz: expected the SHA-256 $expected, found $found; nothing was installed"

say "unpacking $name"
tar -xzf "$work/$name.tar.gz" -C "$work" || fail 1 "could not unpack $name.tar.gz: is the disk full?"
"$work/$name/bin/gramian" --version >/dev/null || fail 1 "$name does not start on this machine; nothing was installed"
target=$prefix/lib/gramian-$version
[ ! -e "$target" ] || mv "$target" "$work/before"
mv "$work/$name" "$target"
ln -sfn "../lib/gramian-$version/bin/gramian" "$prefix/bin/gramian"

# The virtual machine's cache of loaded classes holds what a prediction uses; without it everything works as well, only later.
say "preparing the start"
textures=$target/docs/examples/textures
if [ -d "$textures" ]; then
    export GRAMIAN_CACHE="$work/cache"
    "$target/bin/gramian" train "$textures" --pooling average --fine-tune 0 --no-report --no-gallery --out "$work/run" \
        >/dev/null 2>&1 </dev/null || true
    image=$(find "$textures" -name '*.jpg' | head -n 1)
    GRAMIAN_JAVA_OPTS="-XX:AOTCacheOutput=$target/startup.aot" "$target/bin/gramian" predict "$work/run" "$image" \
        >/dev/null 2>&1 </dev/null || rm -f "$target/startup.aot"
fi

say "installed $("$prefix/bin/gramian" --version | head -n 1) in $target"
case ":$PATH:" in
    *":$prefix/bin:"*) say "try: gramian demo" ;;
    *) say "add $prefix/bin to PATH, or type: $prefix/bin/gramian demo" ;;
esac
