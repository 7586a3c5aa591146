# shellcheck shell=bash
# Finds a Java 25 or newer by reading the `release` file of each Java folder, which takes no time; sourced by gramian and verify.
# Bash 3.2, as on macOS, is enough.

# jdk_version FOLDER: sets jdk_major to the feature release in that folder, 0 where there is none.
jdk_version() {
    local line
    jdk_major=0
    [[ -f $1/release && -x $1/bin/java ]] || return 0
    while IFS= read -r line || [[ -n $line ]]; do
        if [[ $line =~ ^JAVA_VERSION=\"?([0-9]+) ]]; then
            jdk_major=${BASH_REMATCH[1]}
            return 0
        fi
    done <"$1/release"
}

# jdk_fits FOLDER NEED: whether the folder holds a Java 25 or newer; NEED is `run`, or `build`, which asks for a compiler too.
jdk_fits() {
    jdk_version "$1"
    ((jdk_major >= 25)) || return 1
    [[ $2 == run || -x $1/bin/javac ]]
}

# resolve_link FILE: sets resolved to the file behind any chain of symbolic links (readlink -f is missing on older macOS).
resolve_link() {
    local target
    resolved=$1
    while [[ -L $resolved ]]; do
        target=$(readlink "$resolved")
        case $target in
            /*) resolved=$target ;;
            *) resolved=$(dirname "$resolved")/$target ;;
        esac
    done
}

# find_jdk NEED: sets jdk to the first folder that fits: $JAVA_HOME, the `java` on the PATH, then the lowest fitting release in
# the system's folders, since that is the one tested most. GRAMIAN_JVM_FOLDERS (separated by colons) replaces these folders.
find_jdk() {
    local need=$1 java folder candidate best=0
    local folders=${GRAMIAN_JVM_FOLDERS-/usr/lib/jvm:/usr/java:/opt/java:/Library/Java/JavaVirtualMachines:${HOME-}/Library/Java/JavaVirtualMachines:${HOME-}/.sdkman/candidates/java:${HOME-}/.jdks}
    jdk=
    if [[ -n ${JAVA_HOME-} ]] && jdk_fits "$JAVA_HOME" "$need"; then
        jdk=$JAVA_HOME
        return 0
    fi
    if java=$(command -v java); then
        resolve_link "$java"
        candidate=${resolved%/*}
        candidate=${candidate%/*}
        if jdk_fits "$candidate" "$need"; then
            jdk=$candidate
            return 0
        fi
    fi
    local IFS=:
    for folder in $folders; do
        [[ -n $folder ]] || continue
        for candidate in "$folder" "$folder"/* "$folder"/*/Contents/Home; do
            if jdk_fits "$candidate" "$need" && ((best == 0 || jdk_major < best)); then
                jdk=$candidate
                best=$jdk_major
            fi
        done
    done
    [[ -n $jdk ]]
}

# missing_jdk NAME: the one sentence for a machine without it, as program NAME, and exit code 2.
missing_jdk() {
    echo "$1: no JDK 25 or newer was found: install JDK 25 (for example Eclipse Temurin 25) and set JAVA_HOME to its folder." >&2
    exit 2
}

# missing_maven NAME: the same for Maven.
missing_maven() {
    echo "$1: the command mvn was not found: install Apache Maven 3.8 or newer and put it on the PATH." >&2
    exit 2
}
