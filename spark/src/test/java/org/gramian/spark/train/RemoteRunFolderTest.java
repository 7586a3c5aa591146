package org.gramian.spark.train;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.apache.hadoop.conf.Configuration;
import org.gramian.model.ModelFileException;
import org.gramian.spark.testing.RemoteFileSystem;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class RemoteRunFolderTest {
    @TempDir
    private Path folder;

    @Test
    void filesAreReplacedInAnyFileSystem() throws IOException {
        Configuration hadoop = new Configuration();
        RemoteFileSystem.in(hadoop);
        for (String scheme : new String[] {"file", RemoteFileSystem.SCHEME}) {
            try (RemoteRunFolder run = RemoteRunFolder.open(scheme + "://" + folder.resolve(scheme), false, hadoop)) {
                for (String text : new String[] {"first", "second"}) {
                    Path file = run.fetch(RemoteRunFolder.HISTORY);
                    Files.writeString(file, text);
                    run.put(file);
                    assertThat(folder.resolve(scheme).resolve(RemoteRunFolder.HISTORY))
                            .hasContent(text);
                    assertThat(Files.readString(run.fetch(RemoteRunFolder.HISTORY)))
                            .isEqualTo(text);
                }
                assertThat(folder.resolve(scheme).resolve("." + RemoteRunFolder.HISTORY + ".draft"))
                        .doesNotExist();
            }
        }
    }

    @Test
    void resumedRunKeepsNumberOfGroupsWithFewerCores() throws IOException {
        String place = folder.resolve("groups").toString();
        for (int[] coresAndGroups : new int[][] {{4, 4}, {2, 4}, {8, 8}, {4, 8}}) {
            try (RemoteRunFolder run = RemoteRunFolder.open(place, true, new Configuration())) {
                assertThat(run.groups(coresAndGroups[0])).isEqualTo(coresAndGroups[1]);
            }
        }
    }

    @Test
    void errorsOfFetchedFilesNameTheRemotePath() throws IOException {
        try (RemoteRunFolder run = RemoteRunFolder.open(folder.resolve("run").toString(), true, new Configuration())) {
            Path copy = run.fetch(RemoteRunFolder.CHECKPOINT);
            IOException other = new IOException("no route to host");

            assertThat(run.named(new IOException(copy + ": it belongs to another run")))
                    .hasMessage(run.path(RemoteRunFolder.CHECKPOINT) + ": it belongs to another run");
            assertThat(run.named(new ModelFileException(run.fetch(RemoteRunFolder.MODEL), "cannot be read: no")))
                    .isInstanceOf(ModelFileException.class)
                    .hasMessage(run.path(RemoteRunFolder.MODEL) + ": cannot be read: no");
            assertThat(run.named(other)).isSameAs(other);
        }
    }
}
