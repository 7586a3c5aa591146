package org.gramian.cli;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Instant;
import java.util.List;
import java.util.stream.Stream;

/**
 * A copy of the launcher in a temporary folder, with the machine around it made up: a PATH of basic tools only, and Java and
 * Maven as small scripts that tell how they were called.
 */
record Checkout(Path root) {
    private static final List<String> TOOLS = List.of(
            "awk",
            "bash",
            "cat",
            "cp",
            "dirname",
            "env",
            "find",
            "flock",
            "grep",
            "head",
            "ln",
            "mkdir",
            "mv",
            "readlink",
            "rm",
            "sh",
            "sleep",
            "tail",
            "touch");
    private static final Instant LONG_AGO = Instant.parse("2020-01-01T00:00:00Z");

    /** How the launcher ended. */
    record Outcome(int exitCode, String output, String errors) {}

    static Checkout in(Path root) throws IOException {
        var checkout = new Checkout(root);
        Files.createDirectories(checkout.home().resolve("scripts"));
        var repository = Path.of("..").toAbsolutePath().normalize();
        Files.copy(repository.resolve("gramian"), checkout.launcher());
        try (Stream<Path> scripts = Files.list(repository.resolve("scripts"))) {
            for (Path script : scripts.filter(Files::isRegularFile).toList()) {
                Files.copy(script, checkout.home().resolve("scripts").resolve(script.getFileName()));
            }
        }
        Files.writeString(checkout.home().resolve("pom.xml"), "<project/>");
        Files.createDirectories(checkout.tools());
        for (String tool : TOOLS) {
            pass(tool, checkout.tools());
        }
        return checkout;
    }

    /** The checkout's folder; the blank in its name is on purpose. */
    Path home() {
        return root.resolve("a checkout");
    }

    Path launcher() {
        return home().resolve("gramian");
    }

    Path tools() {
        return root.resolve("tools");
    }

    Path folderOfJdks() {
        return root.resolve("jvm folder");
    }

    /** A finished build, newer than its sources. */
    Checkout built() throws IOException {
        Files.setLastModifiedTime(home().resolve("pom.xml"), FileTime.from(LONG_AGO));
        Files.createDirectories(home().resolve("app/target/gramian"));
        Files.writeString(home().resolve("app/target/gramian/built"), "");
        return this;
    }

    /** A Java of some release whose {@code java} tells its process, its caller, release and arguments and ends with code {@code $CODE}. */
    Path java(String version) throws IOException {
        var folder = folderOfJdks().resolve("jdk-" + version);
        Files.createDirectories(folder.resolve("bin"));
        Files.writeString(folder.resolve("release"), "IMPLEMENTOR=\"Nobody\"\nJAVA_VERSION=\"" + version + "\"\n");
        script(
                folder.resolve("bin/java"),
                "echo \"process $$\"; echo \"called $GRAMIAN_COMMAND\"; echo 'java " + version
                        + "'; for a in \"$@\"; do echo \"<$a>\"; done; exit ${CODE:-0}");
        return folder;
    }

    /** The same with a compiler. */
    Path jdk(String version) throws IOException {
        var folder = java(version);
        script(folder.resolve("bin/javac"), "exit 1");
        return folder;
    }

    /** A Maven that does what the script says; {@code calls} in the checkout's folder counts its runs. */
    void maven(String body) throws IOException {
        script(tools().resolve("mvn"), "echo run >> '" + home().resolve("calls") + "'\n" + body);
    }

    Outcome run(String... arguments) throws IOException, InterruptedException {
        return await(start(launcher(), arguments));
    }

    Process start(Path program, String... arguments) throws IOException {
        var builder = new ProcessBuilder(Stream.concat(Stream.of(program.toString()), Stream.of(arguments))
                .toList());
        builder.environment().clear();
        builder.environment().put("PATH", tools().toString());
        builder.environment().put("HOME", root.toString());
        builder.environment().put("GRAMIAN_JVM_FOLDERS", folderOfJdks().toString());
        builder.environment().put("GRAMIAN_JAVA_OPTS", "-Done=1 -Dtwo=2");
        builder.environment().put("CODE", "7");
        builder.directory(root.toFile());
        return builder.start();
    }

    static Outcome await(Process process) throws IOException, InterruptedException {
        var output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        var errors = new String(process.getErrorStream().readAllBytes(), StandardCharsets.UTF_8);
        return new Outcome(process.waitFor(), output, errors);
    }

    static void script(Path file, String body) throws IOException {
        Files.writeString(file, "#!/bin/sh\n" + body + "\n");
        Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rwxr-xr-x"));
    }

    static void pass(String tool, Path folder) throws IOException {
        for (String place :
                System.getenv().getOrDefault("PATH", "/usr/bin:/bin").split(":", -1)) {
            var file = Path.of(place, tool);
            if (Files.isExecutable(file)) {
                script(folder.resolve(tool), "exec '" + file + "' \"$@\"");
                return;
            }
        }
    }
}
