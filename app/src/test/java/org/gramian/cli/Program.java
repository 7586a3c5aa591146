package org.gramian.cli;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

/**
 * The program as a process of its own, which can be killed.
 *
 * @param process it
 * @param log what it says on both outputs
 */
public record Program(Process process, Path log) implements AutoCloseable {
    private static final long LONGEST_SECONDS = 120;

    public static Program start(Path log, List<String> arguments) throws IOException {
        Process process = new ProcessBuilder(command(arguments))
                .redirectErrorStream(true)
                .redirectOutput(log.toFile())
                .start();
        return new Program(process, log);
    }

    /** What starts it. */
    public static List<String> command(List<String> arguments) {
        List<String> command = new ArrayList<>(java(Main.class));
        command.addAll(arguments);
        return command;
    }

    /** What starts a class in a process that lives for seconds: quick to begin rather than fast in the end. */
    static List<String> java(Class<?> main) {
        return List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-Xshare:auto",
                "-XX:TieredStopAtLevel=1",
                "-XX:+UseSerialGC",
                "-Xmx256m",
                "-Djava.awt.headless=true",
                "-Dgramian.full=" + Boolean.getBoolean("gramian.full"),
                "--enable-native-access=ALL-UNNAMED",
                "-cp",
                System.getProperty("java.class.path"),
                main.getName());
    }

    /** What it said so far. */
    public String said() throws IOException {
        return Files.readString(log, StandardCharsets.UTF_8);
    }

    /** Its exit code, once it has ended. */
    public int code() throws IOException, InterruptedException {
        if (!process.waitFor(LONGEST_SECONDS, TimeUnit.SECONDS)) {
            throw new IOException("still running after " + LONGEST_SECONDS + " s: " + said());
        }
        return process.exitValue();
    }

    /** Kills it as the machine's failure would: it has no say in it. */
    public void kill() throws InterruptedException {
        process.destroyForcibly().waitFor();
    }

    @Override
    public void close() {
        process.destroyForcibly();
    }
}
