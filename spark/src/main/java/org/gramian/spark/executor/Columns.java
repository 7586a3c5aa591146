package org.gramian.spark.executor;

import org.apache.spark.sql.Column;
import org.apache.spark.sql.functions;

/** Columns of tables by their very names. */
public final class Columns {
    private Columns() {}

    /** The column of this name, which may hold dots: Spark takes those for fields within a column otherwise. */
    public static Column named(String name) {
        return functions.col("`" + name.replace("`", "``") + "`");
    }
}
