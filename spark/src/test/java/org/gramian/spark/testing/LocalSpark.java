package org.gramian.spark.testing;

import org.apache.spark.serializer.KryoSerializer;
import org.apache.spark.sql.SparkSession;

/** Local session shared by test classes. A JVM has one Spark context at a time, so another session stops it. */
public final class LocalSpark {
    private LocalSpark() {}

    /** Returns the session, created if there is none. */
    public static SparkSession session() {
        return builder("local[2]").getOrCreate();
    }

    /** Returns the configuration of a session. */
    public static SparkSession.Builder builder(String master) {
        return SparkSession.builder()
                .master(master)
                .config("spark.driver.host", "127.0.0.1")
                .config("spark.ui.enabled", "false")
                .config("spark.serializer", KryoSerializer.class.getName()) // stricter than Java's
                .config("spark.sql.shuffle.partitions", "1")
                // compiling code takes longer than reading tables of a few rows
                .config("spark.sql.codegen.wholeStage", "false")
                .config("spark.sql.adaptive.enabled", "false");
    }

    /** Stops the session, if there is one. */
    public static void stop() {
        SparkSession.getDefaultSession().foreach(session -> {
            session.stop();
            return null;
        });
    }
}
