package org.gramian.spark.testing;

import org.apache.spark.sql.SparkSession;

/**
 * A Spark inside this process, begun once for all test classes that want no cluster: each start takes seconds. A process has one
 * Spark at a time, so a {@link StandaloneCluster} ends it.
 */
public final class LocalSpark {
    private LocalSpark() {}

    /** The session, begun unless there is one. */
    public static SparkSession session() {
        return SparkSession.builder()
                .master("local[2]")
                .config("spark.driver.host", "127.0.0.1")
                .config("spark.ui.enabled", "false")
                .config("spark.sql.shuffle.partitions", "1")
                // Tables of a few rows are read faster than code for them is compiled.
                .config("spark.sql.codegen.wholeStage", "false")
                .config("spark.sql.adaptive.enabled", "false")
                .getOrCreate();
    }

    /** Ends it, if there is one. */
    static void end() {
        SparkSession.getDefaultSession().foreach(session -> {
            session.stop();
            return null;
        });
    }
}
