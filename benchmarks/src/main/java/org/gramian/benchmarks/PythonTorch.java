package org.gramian.benchmarks;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import org.gramian.tensor.Device;
import org.jspecify.annotations.Nullable;

/**
 * Python interpreter with PyTorch, and its worker script.
 *
 * @param interpreter command
 * @param script {@code worker.py}, unpacked
 */
public record PythonTorch(String interpreter, Path script) {
    /** Default interpreters; the Debian package python3-torch belongs to the second. */
    static final List<String> DEFAULT_COMMANDS = List.of("python3", "/usr/bin/python3");

    /** Importing torch may read a gigabyte of libraries. */
    private static final long SECONDS_TO_IMPORT = 120;

    /**
     * Finds an interpreter that can import torch.
     *
     * @param named a command or file, or null for the defaults
     * @throws IllegalArgumentException if there is none; the message lists those tried
     */
    public static PythonTorch find(@Nullable String named) {
        List<String> candidates = named == null ? DEFAULT_COMMANDS : List.of(named);
        return candidates.stream()
                .filter(PythonTorch::importsTorch)
                .findFirst()
                .map(interpreter -> new PythonTorch(interpreter, unpacked()))
                .orElseThrow(() -> new IllegalArgumentException("no Python with torch found (tried "
                        + String.join(", ", candidates)
                        + "); set one with --against-python or GRAMIAN_PYTHON, or remove"
                        + " --against-python; on Debian: apt install python3-torch libopenblas0-pthread"));
    }

    private static boolean importsTorch(String interpreter) {
        try {
            Process process = new ProcessBuilder(interpreter, "-c", "import torch")
                    .redirectOutput(ProcessBuilder.Redirect.DISCARD)
                    .redirectError(ProcessBuilder.Redirect.DISCARD)
                    .start();
            boolean ended = process.waitFor(SECONDS_TO_IMPORT, TimeUnit.SECONDS);
            if (!ended) {
                process.destroyForcibly();
            }
            return ended && process.exitValue() == 0;
        } catch (IOException absent) {
            return false;
        } catch (InterruptedException interrupted) {
            Thread.currentThread().interrupt();
            return false;
        }
    }

    /** Returns the script as a temporary file. */
    private static Path unpacked() {
        try (InputStream script = PythonTorch.class.getResourceAsStream("worker.py")) {
            if (script == null) {
                throw new IllegalStateException("worker.py is missing in this build");
            }
            Path file = Files.createTempFile("gramian-worker", ".py");
            file.toFile().deleteOnExit();
            Files.copy(script, file, StandardCopyOption.REPLACE_EXISTING);
            return file;
        } catch (IOException failed) {
            throw new UncheckedIOException("worker.py cannot be unpacked", failed);
        }
    }

    /** Execution modes of PyTorch. */
    public enum Mode {
        /** Eager mode. */
        EAGER("python"),
        /** Forward and backward through {@code torch.compile}; optimizer and retraction in eager mode. */
        COMPILED("python-compiled"),
        /**
         * Forward and backward through {@code torch.compile} with CUDA graphs, {@code mode="reduce-overhead"}; fused
         * SGD, retraction by Cholesky QR. GPU only.
         */
        GRAPHS("python-graphs"),
        /** {@link #GRAPHS} with {@code mode="max-autotune"}, which also tries kernels for each product; GPU only. */
        MAX_AUTOTUNE("python-max-autotune");

        private final String text;

        Mode(String text) {
            this.text = text;
        }

        /** Returns the name of the side on the command line and in tables. */
        public String text() {
            return text;
        }

        /** Throws if the mode needs a GPU and the device is the CPU. */
        void requireOn(Device device) {
            if ((this == GRAPHS || this == MAX_AUTOTUNE) && device.kind() == Device.Kind.CPU) {
                throw new IllegalArgumentException(text + " captures CUDA graphs, which need a GPU; on the CPU use "
                        + EAGER.text + " or " + COMPILED.text);
            }
        }

        /**
         * Parses a name.
         *
         * @throws IllegalArgumentException if the name is unknown; the message lists the names
         */
        public static Mode parse(String text) {
            return Arrays.stream(values())
                    .filter(mode -> mode.text.equals(text))
                    .findFirst()
                    .orElseThrow(() -> new IllegalArgumentException("unknown side '" + text + "'; expected one of "
                            + Arrays.stream(values()).map(Mode::text).collect(Collectors.joining(", "))));
        }
    }
}
