# shellcheck shell=bash
# Builds the benchmarks where a source is newer than the build; sourced by benchmarks/compare, layers and memory.
# Sets home, jdk and jars.

home=$(cd -P "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
target=target/measured
jars=$home/benchmarks/$target/runtime-jars
stamp=$home/benchmarks/$target/built
# shellcheck source=scripts/find-jdk.sh
. "$home/scripts/find-jdk.sh"
# shellcheck source=scripts/maven.sh
. "$home/scripts/maven.sh"

up_to_date() {
    [[ -f $stamp ]] || return 1
    local newer
    newer=$(cd "$home" && find pom.xml core/pom.xml benchmarks/pom.xml core/src/main benchmarks/src/main/java -newer "$stamp" 2>/dev/null | head -n 1) || true
    [[ -z $newer ]]
}

# Apart from ./gramian's build and from Maven's usual folder, so that none of the three disturbs another.
build() {
    local log=$home/benchmarks/$target/build.log
    mkdir -p "$home/benchmarks/$target"
    echo "benchmarks: building; the log is $log" >&2
    touch "$stamp.began"
    use_maven "$home" "$jdk"
    if ! "${maven[@]}" -pl benchmarks -am -Dgramian.quick "-Dgramian.target=$target" -Dmaven.test.skip=true package >"$log" 2>&1 </dev/null; then
        echo "benchmarks: the build failed:" >&2
        grep '\[ERROR\]' "$log" | head -n 20 >&2 || tail -n 20 "$log" >&2
        exit 1
    fi
    cp "$home/benchmarks/$target"/gramian-benchmarks-*.jar "$jars"
    mv "$stamp.began" "$stamp"
}

if ! up_to_date; then
    if find_jdk build && command -v mvn >/dev/null; then
        build
    elif [[ -f $stamp ]]; then
        echo "benchmarks: no JDK 25 and Maven were found to rebuild: running the existing build" >&2
    elif [[ -n $jdk ]]; then
        missing_maven benchmarks
    fi
fi
find_jdk run || missing_jdk benchmarks
