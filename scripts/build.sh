# shellcheck shell=bash
# shellcheck disable=SC2154  # the variables are the launcher's
# Builds the program for the launcher; sourced by gramian, whose variables (home, jars, stamp, archive, jdk) it uses.
# The jars come together beside the old ones and change places with them at the end, so that nobody sees half a build.

# shellcheck source=scripts/maven.sh
. "$home/scripts/maven.sh"

# One build at a time: by flock where there is one (freed by the system whatever happens), else by a link that names its process.
lock() {
    local name=$home/app/target/build.lock holder
    if command -v flock >/dev/null; then
        exec 9>"$name"
        flock -n 9 || { say "waiting for another build of this folder"; flock 9; }
        return
    fi
    while ! ln -s "$$" "$name.link" 2>/dev/null; do
        holder=$(readlink "$name.link") || continue
        if ! kill -0 "$holder" 2>/dev/null; then
            rm -f "$name.link"
        elif [[ -z ${waiting-} ]]; then
            waiting=yes
            say "waiting for another build of this folder"
        fi
        sleep 1
    done
    trap 'rm -f "$home/app/target/build.lock.link"' EXIT
}

unlock() {
    exec 9>&-
    rm -f "$home/app/target/build.lock.link"
    trap - EXIT
}

# step LOG: what Maven is doing, in a few words.
step() {
    awk '
        /^Downloading from/ || /^\[INFO\] Downloading from/ { files++; n = split($NF, part, "/"); name = part[n]; step = "download" }
        /^\[INFO\] --- .*:compile / { step = "compiling " $(NF - 1) }
        /^\[INFO\] --- .*:copy-dependencies / { step = "collecting the libraries" }
        END {
            if (step == "download") printf "downloading (%d files so far, now %s)\n", files, name
            else print step
        }' "$1"
}

# follow PID LOG: a line whenever the step changes, and at least every ten seconds.
follow() {
    local now last='' spoken=$SECONDS
    while kill -0 "$1" 2>/dev/null; do
        now=$(step "$2")
        if [[ -n $now && ${now%%(*} != "${last%%(*}" ]] || ((SECONDS - spoken >= 10)); then
            say "  ${now:-starting Maven}, $((SECONDS - began)) s"
            last=$now
            spoken=$SECONDS
        fi
        sleep 0.5
    done
}

# run_maven LOG MODULE: builds a module and those that it needs.
run_maven() {
    local log=$1 pid
    use_maven "$home" "$jdk"
    : >"$log" # it is read before Maven has begun to write it
    "${maven[@]}" -pl "$2" -am -Dgramian.quick -Dgramian.target=target/quick -Dmaven.test.skip=true package >"$log" 2>&1 </dev/null &
    pid=$!
    trap 'kill "$pid" 2>/dev/null; say "build interrupted"; exit 130' INT TERM HUP
    follow "$pid" "$log"
    if ! wait "$pid"; then
        say "the build failed; Maven's errors (all of its output is in $log):"
        grep '\[ERROR\]' "$log" | head -n 20 >&2 || tail -n 20 "$log" >&2
        exit 1
    fi
    trap - INT TERM HUP
}

build() {
    local began=$SECONDS new=$home/app/target/gramian.new
    if ! mkdir -p "$home/app/target" 2>/dev/null || [[ ! -w $home/app/target ]]; then
        say "cannot build: the folder $home/app/target is not writable."
        exit 1
    fi
    lock
    if up_to_date; then
        unlock
        return
    fi
    jdk_version "$jdk"
    if [[ -f $stamp ]]; then
        say "the sources have changed: building with JDK $jdk_major"
    else
        say "first use: building with JDK $jdk_major; Maven may have to download about 230 MB, half of it libtorch"
    fi
    touch "$home/app/target/began"
    rm -rf "$home"/app/target/quick/runtime-jars "$home"/app/target/quick/gramian-app-*.jar
    run_maven "$home/app/target/build.log" app
    rm -rf "$new" "$jars.old"
    mv "$home/app/target/quick/runtime-jars" "$new"
    cp "$home"/app/target/quick/gramian-app-*.jar "$new"
    # The stamp bears the time at which the build began: what changed during it is built next time.
    mv "$home/app/target/began" "$new/built"
    [[ ! -e $jars ]] || mv "$jars" "$jars.old"
    mv "$new" "$jars"
    rm -rf "$jars.old"
    prepare_archive
    say "built in $((SECONDS - began)) s"
    unlock
}

# The virtual machine's cache of loaded classes makes each start faster; without it, or with another JDK, everything works as well.
# It holds what a rehearsal used: a model is trained on the example images and predicts one of them.
prepare_archive() {
    local rehearsal=$home/app/target/rehearsal textures=$home/docs/examples/textures image command=(--help)
    local java=("$jdk/bin/java" "${java_options[@]}")
    rm -rf "$rehearsal"
    "${java[@]}" -cp "$jars/*" org.gramian.cli.Main train "$textures" --backbone gramian-s --pooling covariance/isqrt:5/triu --no-cache --out "$rehearsal" >/dev/null 2>&1 </dev/null || true
    image=$(find "$textures" -name '*.jpg' 2>/dev/null | head -n 1) || true
    if [[ -f $rehearsal/model.safetensors && -n $image ]]; then
        command=(predict "$rehearsal/model.safetensors" "$image")
    fi
    "${java[@]}" "-XX:AOTCacheOutput=$archive.new" -cp "$jars/*" org.gramian.cli.Main "${command[@]}" >/dev/null 2>&1 </dev/null || true
    rm -rf "$rehearsal"
    [[ ! -f $archive.new ]] || mv "$archive.new" "$archive"
}
