# shellcheck shell=bash
# shellcheck disable=SC2154,SC2034  # the variables are the launcher's
# Starts `gramian spark`, a program for spark-submit; sourced by gramian, whose variables and functions it uses.
# What is built lies in spark/target/gramian: the jar, and a Spark of links to the jars that Maven found.

# build_spark: builds the jar and lays out what it is started with, unless that is there and newer than the sources.
build_spark() {
    local quick=$home/spark/target/quick new=$home/spark/target/gramian.new began=$SECONDS entry entries
    modules=(core spark)
    jars=$home/spark/target/gramian
    stamp=$jars/built
    if up_to_date; then
        return
    fi
    if ! find_jdk build || ! command -v mvn >/dev/null; then
        if [[ -f $stamp ]]; then
            say "the sources are newer than the build, but no JDK 25 and Maven were found to rebuild: running the existing build"
            return
        fi
        [[ -n $jdk ]] || missing_jdk gramian
        missing_maven gramian
    fi
    # shellcheck source=scripts/build.sh
    . "$home/scripts/build.sh"
    mkdir -p "$home/app/target" "$home/spark/target"
    lock
    if up_to_date; then
        unlock
        return
    fi
    say "building the Spark module; on first use Maven may have to download about 500 MB, most of it Spark and libtorch"
    touch "$home/spark/target/began"
    rm -f "$quick"/gramian-spark-*-submit.jar
    run_maven "$home/spark/target/build.log" spark
    rm -rf "$new"
    mkdir -p "$new/spark/jars"
    cp "$quick"/gramian-spark-*-submit.jar "$new/gramian-spark.jar"
    cp "$quick/native.jars" "$home"/spark/src/main/launch/* "$new"
    IFS=: read -r -a entries <"$quick/spark.classpath" || true # the file has no new line at its end
    for entry in "${entries[@]}"; do
        ln -s "$entry" "$new/spark/jars/"
    done
    mv "$home/spark/target/began" "$new/built"
    rm -rf "$jars"
    mv "$new" "$jars"
    say "built in $((SECONDS - began)) s"
    unlock
}

# Options of spark-submit that take a value. None of our own may be called like these: a test looks.
submit_values=' --master --deploy-mode --name --conf --properties-file --jars --packages --exclude-packages --repositories --files --archives
 --driver-memory --driver-java-options --driver-library-path --driver-class-path --driver-cores --executor-memory --executor-cores
 --num-executors --total-executor-cores --queue --proxy-user --principal --keytab '
submit_values=${submit_values//$'\n'/}

# split_arguments ARGUMENT...: what is spark-submit's goes to `submit`, all else to `ours`; sets master, where it is known, and more_jars.
split_arguments() {
    local name
    while (($#)); do
        name=${1%%=*}
        if [[ $submit_values == *" $name "* ]]; then
            if [[ $1 == *=* ]]; then
                set -- "$name" "${1#*=}" "${@:2}"
            elif (($# < 2)); then
                say "$1: expected a value, as for spark-submit, found none"
                exit 2
            fi
            submit_option "$1" "$2"
            shift
        elif [[ $1 == --verbose || $1 == --supervise || $1 == --load-spark-defaults ]]; then
            submit+=("$1")
        else
            ours+=("$1")
        fi
        shift
    done
}

# submit_option NAME VALUE: keeps an option of spark-submit. Jars go with ours into one option, for Spark takes the last of them only.
submit_option() {
    case "$1 $2" in
        --jars\ *) more_jars=$2 ;;
        --conf\ spark.jars=*) more_jars=${more_jars:-${2#*=}} ;;
        *) submit+=("$1" "$2") ;;
    esac
    case "$1 $2" in
        --master\ *) master=$2 ;;
        --conf\ spark.master=*) master=${master:-${2#*=}} ;;
        --properties-file\ *)
            if grep -qs '^[[:blank:]]*spark\.jars[[:blank:]=:]' "$2"; then
                say "--properties-file: expected no spark.jars in $2, because the jars of libtorch and libwebp replace them; pass them with --jars"
                exit 2
            fi
            settings=$2
            ;;
    esac
}

# launch ARGUMENT...: becomes what bin/spark-submit of a distribution becomes: Spark's launcher says which options of java are meant
# by --driver-memory, --driver-class-path, a file of properties and others. Where none says how much memory, it is for java to decide.
launch() {
    local word words=() command=()
    while IFS= read -r -d '' word; do
        words+=("$word")
    done < <(
        SPARK_DRIVER_MEMORY=${SPARK_DRIVER_MEMORY-none} \
            SPARK_SUBMIT_OPTS="-Dlog4j2.configurationFile=\"file:$jars/log4j2.properties\" ${GRAMIAN_JAVA_OPTS-} ${SPARK_SUBMIT_OPTS-}" \
            "$jdk/bin/java" -Xmx64m -XX:TieredStopAtLevel=1 -cp "$jars/spark/jars/*" \
            org.apache.spark.launcher.Main org.apache.spark.deploy.SparkSubmit "$@" && printf 'whole\0'
    )
    # It begins with an empty word and a new line, so that what a virtual machine may say before is told from it.
    for word in ${words[@]+"${words[@]:1}"}; do
        [[ $word == -Xmxnone ]] || command+=("${word#$'\n'}")
    done
    word=$((${#command[@]} - 1))
    if ((word < 1)) || [[ ${command[word]} != whole ]]; then
        say "Spark's launcher failed: $jars/spark/jars"
        exit 1
    fi
    exec "${command[@]:0:word}"
}

# spark ARGUMENT...: becomes the program. libtorch and libwebp go beside the jar; on this machine alone they need not be copied.
spark() {
    local submit=() ours=() master='' settings='' more_jars='' native
    split_arguments "$@"
    build_spark
    find_jdk run || missing_jdk gramian
    native=$(cat "$jars/native.jars")
    export JAVA_HOME=$jdk
    if [[ -z $master$settings${SPARK_HOME-}${SPARK_CONF_DIR-} ]]; then # else they may name one
        master='local[*]'
        submit+=(--master "$master")
    fi
    if [[ $master == local* ]]; then
        # Nobody looks at the page of a program that ends by itself, and its port may be taken.
        submit=(--conf spark.ui.enabled=false "${submit[@]}")
        export SPARK_LOCAL_IP=${SPARK_LOCAL_IP-127.0.0.1}
    fi
    submit+=(--class org.gramian.spark.cli.SparkMain --jars "$native${more_jars:+,$more_jars}")
    submit+=("$jars/gramian-spark.jar" ${ours[@]+"${ours[@]}"})
    if [[ -z ${SPARK_HOME-} ]]; then
        export SPARK_HOME=$jars/spark SPARK_SCALA_VERSION=2.13
        launch "${submit[@]}"
    fi
    if [[ ! -x $SPARK_HOME/bin/spark-submit ]]; then
        say "SPARK_HOME: expected a Spark with bin/spark-submit, found none in $SPARK_HOME; unset it to use the Spark that Maven fetches"
        exit 2
    fi
    exec "$SPARK_HOME/bin/spark-submit" "${submit[@]}"
}
