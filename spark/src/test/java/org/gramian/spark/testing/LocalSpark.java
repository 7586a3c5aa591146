package org.gramian.spark.testing;

import org.apache.spark.serializer.KryoSerializer;
import org.apache.spark.sql.SparkSession;

/** Local session shared by test classes. A JVM has one Spark context at a time, so a {@link StandaloneCluster} stops it. */
public final class LocalSpark {
    private LocalSpark() {}

    /** Returns the session, created if there is none. */
    public static SparkSession session() {
        return SparkSession.builder()
                .master("local[2]")
                .config("spark.driver.host", "127.0.0.1")
                .config("spark.ui.enabled", "false")
                .config("spark.serializer", KryoSerializer.class.getName()) // stricter than Java's
                .config("spark.sql.shuffle.partitions", "1")
                // compiling code takes longer than reading tables of a few rows
                .config("spark.sql.codegen.wholeStage", "false")
                .config("spark.sql.adaptive.enabled", "false")
                .getOrCreate();
    }

    /** Stops the session, if there is one. */
    static void stop() {
        SparkSession.getDefaultSession().foreach(session -> {
            session.stop();
            return null;
        });
    }
}
