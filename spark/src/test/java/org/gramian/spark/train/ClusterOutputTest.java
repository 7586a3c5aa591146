package org.gramian.spark.train;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

import java.io.IOException;
import java.nio.file.Path;
import org.apache.hadoop.conf.Configuration;
import org.gramian.spark.testing.LocalSpark;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ClusterOutputTest {
    private final Configuration hadoop = new Configuration();

    @TempDir
    private Path folder;

    @Test
    void localPathsAreDetectedOnClusters() throws IOException {
        var here = new org.apache.hadoop.fs.Path(folder.toString());

        assertThat(ClusterOutput.mayBeLocal("spark://host:7077", here, hadoop)).isTrue();
        assertThat(ClusterOutput.mayBeLocal("yarn", here, hadoop)).isTrue();
        assertThat(ClusterOutput.mayBeLocal("local[*]", here, hadoop)).isFalse();
        assertThat(ClusterOutput.mayBeLocal("local-cluster[2,1,1024]", here, hadoop))
                .isFalse();
    }

    @Test
    void missingRowsAreAnError() throws IOException {
        Path table = folder.resolve("table");
        LocalSpark.session().range(7).repartition(2).write().parquet(table.toString());
        var place = new org.apache.hadoop.fs.Path(table.toString());

        ClusterOutput.requireRows(place, 7, hadoop);
        assertThatIllegalStateException()
                .isThrownBy(() -> ClusterOutput.requireRows(place, 8, hadoop))
                .withMessageContainingAll("8", table.toString(), "7");
    }
}
