package org.gramian.spark.cli;

import java.io.IOException;
import org.apache.spark.sql.SparkSession;

/** The connection to Spark of a command, and what its exit codes may be there. */
final class Session {
    private Session() {}

    /** Work that needs Spark. */
    interface Work {
        int run(SparkSession session) throws IOException, InterruptedException;
    }

    /**
     * Does work in the program's session, which is begun unless there is one.
     *
     * @return its exit code; but 0 for {@link Main#DATA} where a cluster would take it for a failed program and begin anew
     */
    static int run(Console console, Work work) throws IOException, InterruptedException {
        SparkSession session = SparkSession.builder().appName(console.name()).getOrCreate();
        int code = work.run(session);
        boolean remote = session.sparkContext().deployMode().equals("cluster");
        return code == Main.DATA && remote ? Main.DONE : code;
    }
}
