package org.gramian.spark.testing;

import java.io.File;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.stream.Collectors;

/**
 * Folder with the layout of a Spark distribution, with links to the jars that Maven found.
 *
 * @param folder with {@code jars} inside
 */
public record SparkHome(Path folder) {
    /** Creates the folder, unless it exists. */
    public static SparkHome below(Path parent) throws IOException {
        Path home = parent.resolve("spark-home").toAbsolutePath();
        Path jars = Files.createDirectories(home.resolve("jars"));
        for (Path jar : sparkJars()) {
            Path link = jars.resolve(jar.getFileName());
            if (Files.notExists(link)) {
                Files.deleteIfExists(link); // a broken link
                Files.createSymbolicLink(link, jar);
            }
        }
        return new SparkHome(home);
    }

    /**
     * Returns a process as {@code spark-submit} starts it, on this machine with one core.
     *
     * @param program main class
     * @param jar of the main class
     * @param jars further jars
     */
    public ProcessBuilder submit(String program, Path jar, List<Path> jars, List<String> arguments) {
        String list = jars.stream().map(Path::toString).collect(Collectors.joining(","));
        List<String> command = java("org.apache.spark.deploy.SparkSubmit");
        command.addAll(List.of("--master", "local[1]", "--conf", "spark.ui.enabled=false"));
        command.addAll(List.of("--class", program, "--jars", list, jar.toString()));
        command.addAll(arguments);
        return process(command);
    }

    /** Returns the command that Spark's launcher makes of options of {@code spark-submit}, as in {@code scripts/spark.sh}. */
    public List<String> launch(List<String> arguments) throws IOException, InterruptedException {
        List<String> command = java("org.apache.spark.launcher.Main");
        command.add("org.apache.spark.deploy.SparkSubmit");
        command.addAll(arguments);
        ProcessBuilder builder = process(command).redirectError(ProcessBuilder.Redirect.INHERIT);
        builder.environment().putAll(Map.of("SPARK_DRIVER_MEMORY", "none", "SPARK_SUBMIT_OPTS", "\"-Dlog=a b\""));
        Process process = builder.start();
        String said = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        if (process.waitFor() != 0 || !said.startsWith("\0\n") || !said.endsWith("\0")) {
            throw new IOException("expected words that end with a zero, found " + said);
        }
        return List.of(said.substring(2, said.length() - 1).split("\0", -1));
    }

    /** Returns a modifiable command that runs a class of Spark. */
    private List<String> java(String main) {
        return new ArrayList<>(List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "@" + required("gramian.spark.jvm"),
                "-Xmx512m",
                "-XX:TieredStopAtLevel=1",
                "-cp",
                folder.resolve("jars") + File.separator + "*",
                main));
    }

    /** Returns a process of this Spark on the loopback interface. */
    private ProcessBuilder process(List<String> command) {
        ProcessBuilder builder = new ProcessBuilder(command);
        builder.environment()
                .putAll(Map.of(
                        "SPARK_HOME",
                        folder.toString(),
                        "SPARK_LOCAL_IP",
                        "127.0.0.1",
                        "SPARK_SCALA_VERSION",
                        "2.13",
                        "JAVA_HOME",
                        System.getProperty("java.home")));
        return builder;
    }

    /** Returns the jars that go beside ours: libtorch, libwebp and what the latter needs. */
    public static List<Path> nativeJars() {
        return paths(System.getProperty("java.class.path")).stream()
                .filter(path -> path.getFileName().toString().matches("(pytorch-native|webp-imageio|kotlin-stdlib)-.*"))
                .toList();
    }

    /** Returns the class path of this test without Spark. */
    public static String ownClassPath() throws IOException {
        List<Path> own = new ArrayList<>(paths(System.getProperty("java.class.path")));
        own.removeAll(sparkJars());
        return own.stream().map(Path::toString).collect(Collectors.joining(File.pathSeparator));
    }

    private static List<Path> sparkJars() throws IOException {
        return paths(Files.readString(Path.of(required("gramian.spark.classpath"))));
    }

    private static List<Path> paths(String classPath) {
        return Arrays.stream(classPath.strip().split(File.pathSeparator))
                .filter(entry -> !entry.isEmpty())
                .map(entry -> Path.of(entry).toAbsolutePath())
                .toList();
    }

    private static String required(String property) {
        return Objects.requireNonNull(
                System.getProperty(property), () -> "run by Maven, which sets the system property " + property);
    }
}
