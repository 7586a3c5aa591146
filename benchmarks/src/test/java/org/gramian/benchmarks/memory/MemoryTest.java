package org.gramian.benchmarks.memory;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import picocli.CommandLine;

class MemoryTest {
    @TempDir
    Path folder;

    private final StringWriter err = new StringWriter();

    @BeforeEach
    void onLinux() {
        assumeTrue(Files.isWritable(Path.of("/proc/self/clear_refs")), "the highest mark cannot be reset here");
    }

    private int execute(Path page, String... arguments) {
        CommandLine line = MemoryBenchmark.commandLine();
        line.setErr(new PrintWriter(err));
        return line.execute(
                Stream.concat(Arrays.stream(arguments), Stream.of("--threads", "1", "--markdown", page.toString()))
                        .toArray(String[]::new));
    }

    /** The peak of a row, in MiB. */
    private static int peak(String page, String method) {
        Matcher row = Pattern.compile("\\| `" + Pattern.quote(method) + "` \\| [^|]* \\| \\d+ \\| \\d+ \\| (\\d+) \\|")
                .matcher(page);
        assertThat(row.find()).as(page).isTrue();
        return Integer.parseInt(row.group(1));
    }

    @Test
    void matrixPerImageIncreasesThePeak() throws IOException {
        Path page = folder.resolve("memory.md");
        int code = execute(page, "--only", "average,bilinear/flat", "--batch", "8", "--channels", "512", "--side", "4");
        assertThat(code).as(err.toString()).isZero();
        String text = Files.readString(page);
        assertThat(text).contains("benchmarks/memory --only average", "[8, 512, 4, 4]", "| libtorch | ");
        assertThat(text).containsPattern("bilinear \\[8, 512, 512\\]: 8 MiB");
        // K, its gradient and the upstream one: at least three times 8 MiB
        assertThat(peak(text, "bilinear/flat")).isBetween(16, 80);
        assertThat(peak(text, "average")).isLessThan(8);
    }

    @Test
    void failedMethodIsShownBesideTheOthers() throws IOException {
        Path page = folder.resolve("memory.md");
        int code = execute(page, "--only", "covariance/spd:9/triu,average", "--channels", "4", "--side", "3");
        assertThat(code).isEqualTo(1);
        assertThat(Files.readString(page)).containsPattern("spd:9\\D+4\\b").contains("| `average` | `average` | 4 |");
    }
}
