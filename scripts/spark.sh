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
            say "the sources are newer than the build, but there is no JDK and Maven to build with: running what is there."
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
    say "building what runs on Spark; on first use Maven may have to download about 500 MB, most of it Spark and libtorch"
    touch "$home/spark/target/began"
    rm -f "$quick"/gramian-spark-*-submit.jar
    run_maven "$home/spark/target/build.log" spark
    rm -rf "$new"
    mkdir -p "$new/spark/jars"
    cp "$quick"/gramian-spark-*-submit.jar "$new/gramian-spark.jar"
    cp "$quick/libtorch.classpath" "$home"/spark/src/main/launch/* "$new"
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

# split_arguments ARGUMENT...: what is spark-submit's goes to `submit`, all else to `ours`; sets master and memory.
split_arguments() {
    submit=()
    ours=()
    master='local[*]'
    memory=
    while (($#)); do
        case $1 in
            --master=* | --conf=* | --jars=* | --driver-memory=* | --executor-memory=* | --executor-cores=* | --num-executors=*)
                set -- "${1%%=*}" "${1#*=}" "${@:2}"
                ;;
        esac
        case $1 in
            --master | --conf | --jars | --driver-memory | --executor-memory | --executor-cores | --num-executors | --total-executor-cores | \
                --deploy-mode | --name | --packages | --repositories | --files | --archives | --properties-file | --driver-cores | \
                --queue | --principal | --keytab | --driver-java-options | --driver-library-path | --driver-class-path)
                if (($# < 2)); then
                    say "$1: expected a value after it, as of spark-submit"
                    exit 2
                fi
                submit_option "$1" "$2"
                shift
                ;;
            --verbose | --supervise) submit+=("$1") ;;
            *) ours+=("$1") ;;
        esac
        shift
    done
}

# submit_option NAME VALUE: keeps an option of spark-submit.
submit_option() {
    case $1 in
        --master) master=$2 ;;
        --jars) more_jars=$2 ;;
        *) submit+=("$1" "$2") ;;
    esac
    [[ $1 != --driver-memory ]] || memory=$2
}

# spark ARGUMENT...: becomes the program. libtorch goes beside the jar; on this machine alone it need not be copied.
spark() {
    local submit ours master memory more_jars='' libtorch java_options
    split_arguments "$@"
    build_spark
    find_jdk run || missing_jdk gramian
    libtorch=$(cat "$jars/libtorch.classpath")
    export JAVA_HOME=$jdk
    submit+=(--master "$master" --class org.gramian.spark.cli.Main)
    if [[ $master == local* ]]; then
        # Nobody looks at the page of a program that ends by itself, and its port may be taken.
        submit+=(--conf spark.ui.enabled=false)
        export SPARK_LOCAL_IP=${SPARK_LOCAL_IP-127.0.0.1}
    fi
    submit+=(--jars "$libtorch${more_jars:+,$more_jars}")
    submit+=("$jars/gramian-spark.jar" ${ours[@]+"${ours[@]}"})
    if [[ -n ${SPARK_HOME-} ]]; then
        if [[ ! -x $SPARK_HOME/bin/spark-submit ]]; then
            say "SPARK_HOME: expected a Spark with bin/spark-submit, found none in $SPARK_HOME; unset it to use the Spark that Maven fetches"
            exit 2
        fi
        exec "$SPARK_HOME/bin/spark-submit" "${submit[@]}"
    fi
    export SPARK_HOME=$jars/spark SPARK_SCALA_VERSION=2.13
    java_options=("@$jars/spark.jvm" "-Dlog4j2.configurationFile=file:$jars/log4j2.properties")
    [[ -z $memory ]] || java_options+=("-Xmx$memory")
    # The options of the user are meant to be split at blanks.
    # shellcheck disable=SC2086
    exec "$jdk/bin/java" "${java_options[@]}" ${GRAMIAN_JAVA_OPTS-} -cp "$jars/spark/jars/*" \
        org.apache.spark.deploy.SparkSubmit "${submit[@]}"
}
