# shellcheck shell=bash
# Runs Maven with a given JDK the same way everywhere: no questions, no colours, no warnings about Maven's own libraries; sourced by
# gramian and verify.

# use_maven HOME JDK: prepares `maven` (an array: the command and its first options) for the checkout HOME.
use_maven() {
    maven=(mvn -B -Dstyle.color=never -f "$1/pom.xml")
    maven+=("-Dgramian.commit=${GRAMIAN_COMMIT:-$(git -C "$1" rev-parse --short=10 HEAD 2>/dev/null || echo unknown)}")
    export JAVA_HOME=$2
    export MAVEN_OPTS="${MAVEN_OPTS-} --sun-misc-unsafe-memory-access=allow"
    # The compiler's checks make much garbage at once; this collector takes an eighth off their time.
    [[ $MAVEN_OPTS == *GC* ]] || MAVEN_OPTS+=" -XX:+UseParallelGC"
    # The compiler ends before optimized code pays: without it, javac takes 31 instead of 63 CPU seconds for core with its tests.
    [[ $MAVEN_OPTS == *Tiered* ]] || MAVEN_OPTS+=" -XX:TieredStopAtLevel=1"
    # Where the home folder cannot be written, the downloads go into the checkout.
    if [[ $MAVEN_OPTS != *maven.repo.local* ]]; then
        [[ -z ${HOME-} ]] || mkdir -p "$HOME/.m2/repository" 2>/dev/null || true
        [[ -n ${HOME-} && -w $HOME/.m2/repository ]] || maven+=("-Dmaven.repo.local=$1/.m2/repository")
    fi
}
