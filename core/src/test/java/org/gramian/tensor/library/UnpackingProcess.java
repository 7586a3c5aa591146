package org.gramian.tensor.library;

import java.io.File;
import java.io.IOException;
import java.net.URISyntaxException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;
import org.slf4j.Logger;

/** A program that unpacks a jar into a cache folder: what the concurrency tests start several times at once. */
public final class UnpackingProcess {
    private UnpackingProcess() {}

    /** Arguments: jar, cache folder and folder of the start signal. */
    public static void main(String[] arguments) throws IOException, InterruptedException {
        Path signal = Path.of(arguments[2]);
        Files.writeString(signal.resolve("ready-" + ProcessHandle.current().pid()), "");
        while (!Files.exists(signal.resolve("go"))) {
            Thread.sleep(1);
        }
        LibtorchArtifact artifact = new FakeLibtorch(Path.of(arguments[0])).artifact();
        LibtorchFolder found = new LibtorchCache(Path.of(arguments[1]), System.out::println).provide(artifact);
        if (!found.verifyChecksums().isEmpty()) {
            throw new IllegalStateException(String.join("; ", found.verifyChecksums()));
        }
    }

    /** Starts a virtual machine of its own; its output goes to a file beside the signal. */
    static Process start(Path log, String... arguments) throws IOException {
        List<String> command = new ArrayList<>(List.of(
                Path.of(System.getProperty("java.home", ""), "bin", "java").toString(),
                "-Xshare:auto",
                "-cp",
                classPath().stream().map(Path::toString).collect(Collectors.joining(File.pathSeparator)),
                UnpackingProcess.class.getName()));
        command.addAll(List.of(arguments));
        return new ProcessBuilder(command)
                .redirectErrorStream(true)
                .redirectOutput(log.toFile())
                .start();
    }

    /** What the program needs, found from its classes, for the class path of a test runner may be a mere wrapper. */
    static List<Path> classPath() {
        List<Path> paths = new ArrayList<>();
        for (Class<?> type : List.of(UnpackingProcess.class, LibtorchCache.class, Logger.class)) {
            try {
                paths.add(Path.of(
                        type.getProtectionDomain().getCodeSource().getLocation().toURI()));
            } catch (URISyntaxException e) {
                throw new IllegalStateException(e);
            }
        }
        return paths;
    }
}
