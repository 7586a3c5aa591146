package org.gramian.spark.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import org.apache.spark.SparkException;
import org.gramian.model.ModelFileException;
import org.gramian.tensor.Device;
import org.gramian.tensor.Device.DeviceException;
import org.gramian.tensor.library.LibtorchException;
import org.junit.jupiter.api.Test;
import picocli.CommandLine;

class SparkMainTest {
    private static final CommandLine LINE = SparkMain.commandLine().setErr(new PrintWriter(new StringWriter()));

    private static int code(Exception failed) {
        return SparkMain.failed(failed, LINE, LINE.parseArgs());
    }

    /** As Spark wraps what a task threw. */
    private static SparkException ofTask(Exception thrown) {
        return new SparkException(
                "Job aborted due to stage failure", new SparkException("Task failed while writing rows", thrown));
    }

    private static DeviceException missingDevice() {
        try {
            Device parsed = Device.parse("tpu");
            throw new AssertionError(parsed);
        } catch (DeviceException missing) {
            return missing;
        }
    }

    @Test
    void wrongArgumentOnDriverIsUsageError() {
        assertThat(code(new IllegalArgumentException("--this"))).isEqualTo(SparkMain.USAGE);
        assertThat(code(new IOException("no such file"))).isEqualTo(SparkMain.USAGE);
        assertThat(code(new UncheckedIOException(new IOException("no such file"))))
                .isEqualTo(SparkMain.USAGE);
    }

    @Test
    void sameExceptionInATaskIsAFailedJob() {
        assertThat(code(ofTask(new IllegalArgumentException("a wrong shape")))).isEqualTo(SparkMain.FAILED);
        assertThat(code(ofTask(new IOException("disk full")))).isEqualTo(SparkMain.FAILED);
        assertThat(code(new RuntimeException(ofTask(new IOException("disk full")))))
                .isEqualTo(SparkMain.FAILED);
    }

    @Test
    void failedJobShowsTheMessageWithAdvice() {
        StringWriter said = new StringWriter();
        CommandLine line = SparkMain.commandLine().setErr(new PrintWriter(said));
        Exception ours = new LibtorchException("it cannot be unpacked; set GRAMIAN_CACHE", new IOException("/home"));

        SparkMain.failed(ofTask(ours), line, line.parseArgs());
        SparkMain.failed(ofTask(new IOException("disk full")), line, line.parseArgs());

        assertThat(said.toString())
                .contains("it cannot be unpacked; set GRAMIAN_CACHE")
                .contains("disk full")
                .contains("GRAMIAN_DEBUG=1");
    }

    @Test
    void modelErrorInTaskHasItsExitCode() {
        assertThat(code(ofTask(new UncheckedIOException(new ModelFileException(Path.of("m"), "no model")))))
                .isEqualTo(SparkMain.MODEL);
        assertThat(code(ofTask(missingDevice()))).isEqualTo(SparkMain.USAGE);
    }
}
