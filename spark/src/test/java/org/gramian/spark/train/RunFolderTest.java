package org.gramian.spark.train;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.RawLocalFileSystem;
import org.gramian.model.ModelFileException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class RunFolderTest {
    @TempDir
    private Path folder;

    /** Files of this machine under a scheme of which nothing but a FileSystem is known, as of many stores. */
    public static final class PlainFiles extends RawLocalFileSystem {
        @Override
        public URI getUri() {
            return URI.create("plain:///");
        }

        @Override
        public String getScheme() {
            return "plain";
        }
    }

    @Test
    void aFileIsReplacedInEveryFileSystemThatSparkReaches() throws IOException {
        Configuration hadoop = new Configuration();
        hadoop.setClass("fs.plain.impl", PlainFiles.class, org.apache.hadoop.fs.FileSystem.class);
        for (String scheme : new String[] {"file", "plain"}) {
            try (RunFolder run = RunFolder.open(scheme + "://" + folder.resolve(scheme), false, hadoop)) {
                for (String text : new String[] {"first", "second"}) {
                    Path file = run.fetch(RunFolder.HISTORY);
                    Files.writeString(file, text);
                    run.put(file);
                    assertThat(folder.resolve(scheme).resolve(RunFolder.HISTORY))
                            .hasContent(text);
                    assertThat(Files.readString(run.fetch(RunFolder.HISTORY))).isEqualTo(text);
                }
                assertThat(folder.resolve(scheme).resolve("." + RunFolder.HISTORY + ".draft"))
                        .doesNotExist();
            }
        }
    }

    @Test
    void aRunKeepsItsNumberOfGroupsThoughFewerCoresAreThereWhenItGoesOn() throws IOException {
        String place = folder.resolve("groups").toString();
        for (int[] coresAndGroups : new int[][] {{4, 4}, {2, 4}, {8, 8}, {4, 8}}) {
            try (RunFolder run = RunFolder.open(place, true, new Configuration())) {
                assertThat(run.groups(coresAndGroups[0])).isEqualTo(coresAndGroups[1]);
            }
        }
    }

    @Test
    void whatIsWrongWithAFetchedFileIsSaidOfTheFileInTheFolder() throws IOException {
        try (RunFolder run = RunFolder.open(folder.resolve("run").toString(), true, new Configuration())) {
            Path copy = run.fetch(RunFolder.CHECKPOINT);
            IOException other = new IOException("no route to host");

            assertThat(run.named(new IOException(copy + ": it belongs to another run")))
                    .hasMessage(run.path(RunFolder.CHECKPOINT) + ": it belongs to another run");
            assertThat(run.named(new ModelFileException(run.fetch(RunFolder.MODEL), "cannot be read: no")))
                    .isInstanceOf(ModelFileException.class)
                    .hasMessage(run.path(RunFolder.MODEL) + ": cannot be read: no");
            assertThat(run.named(other)).isSameAs(other);
        }
    }
}
