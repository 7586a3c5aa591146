package org.gramian.spark.train;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

import java.io.IOException;
import java.nio.file.Path;
import org.apache.hadoop.conf.Configuration;
import org.gramian.spark.testing.LocalSpark;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class LocalPathCheckTest {
    private final Configuration hadoop = new Configuration();

    @TempDir
    private Path folder;

    @Test
    void onlyAPathOfEachMachineOnAClusterOfMachinesIsDoubtful() throws IOException {
        var here = new org.apache.hadoop.fs.Path(folder.toString());

        assertThat(LocalPathCheck.isDoubtful("spark://host:7077", here, hadoop)).isTrue();
        assertThat(LocalPathCheck.isDoubtful("yarn", here, hadoop)).isTrue();
        assertThat(LocalPathCheck.isDoubtful("local[*]", here, hadoop)).isFalse();
        assertThat(LocalPathCheck.isDoubtful("local-cluster[2,1,1024]", here, hadoop))
                .isFalse();
    }

    @Test
    void aTableOfWhichThisMachineSeesFewerRowsThanWereWrittenIsAFailure() throws IOException {
        Path table = folder.resolve("table");
        LocalSpark.session().range(7).repartition(2).write().parquet(table.toString());
        var place = new org.apache.hadoop.fs.Path(table.toString());

        LocalPathCheck.requireRows(place, 7, hadoop);
        assertThatIllegalStateException()
                .isThrownBy(() -> LocalPathCheck.requireRows(place, 8, hadoop))
                .withMessageContainingAll("8", table.toString(), "7");
    }
}
