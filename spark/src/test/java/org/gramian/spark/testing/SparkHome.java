package org.gramian.spark.testing;

import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.stream.Collectors;

/**
 * A folder laid out as a distribution of Spark is, of links to the jars that Maven found: what Spark's own processes are started
 * from.
 *
 * @param folder with {@code jars} inside
 */
public record SparkHome(Path folder) {
    /** Lays it out below a folder, unless that was done before. */
    public static SparkHome below(Path parent) throws IOException {
        Path jars = Files.createDirectories(parent.resolve("spark-home").resolve("jars"));
        for (Path jar : sparkJars()) {
            Path link = jars.resolve(jar.getFileName());
            if (Files.notExists(link)) {
                Files.deleteIfExists(link); // a link to what is no longer there
                Files.createSymbolicLink(link, jar);
            }
        }
        return new SparkHome(jars.toAbsolutePath().getParent());
    }

    /** The class path of Spark itself. */
    String classPath() {
        return folder.resolve("jars") + File.separator + "*";
    }

    /** What this test's class path has beside Spark: what is to be tested, and what that needs. */
    public static String ownClassPath() throws IOException {
        List<Path> own = new ArrayList<>(paths(System.getProperty("java.class.path")));
        own.removeAll(sparkJars());
        return own.stream().map(Path::toString).collect(Collectors.joining(File.pathSeparator));
    }

    /** The file of options that a Java virtual machine needs to run Spark. */
    static Path options() {
        return Path.of(required("gramian.spark.jvm"));
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
