package org.gramian.benchmarks;

import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * A Python interpreter that has PyTorch, and the worker it runs.
 *
 * @param interpreter the command
 * @param script {@code worker.py}
 */
record PythonTorch(String interpreter, Path script) {
    /** Where one is looked for unless it is named; Debian's package python3-torch belongs to the second. */
    static final List<String> USUAL = List.of("python3", "/usr/bin/python3");

    /** The first of the usual interpreters, or of the one named, that can import torch. */
    static Optional<PythonTorch> find(@Nullable String named, Path script) {
        List<String> candidates = named == null ? USUAL : List.of(named);
        return candidates.stream()
                .filter(PythonTorch::importsTorch)
                .findFirst()
                .map(interpreter -> new PythonTorch(interpreter, script));
    }

    private static boolean importsTorch(String interpreter) {
        try {
            Process process = new ProcessBuilder(interpreter, "-c", "import torch")
                    .redirectOutput(ProcessBuilder.Redirect.DISCARD)
                    .redirectError(ProcessBuilder.Redirect.DISCARD)
                    .start();
            boolean ended = process.waitFor(60, TimeUnit.SECONDS);
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
}
