package org.gramian.train.feature;

import java.io.IOException;
import java.nio.file.Path;
import java.util.List;

/** Writes synthetic features into a cache until it is killed by a test. */
final class FeatureWritingProcess {
    private FeatureWritingProcess() {}

    /** Arguments: folder of the cache, number of the first feature. */
    public static void main(String[] arguments) throws IOException {
        int first = Integer.parseInt(arguments[1]);
        try (FeatureCache cache = FeatureCache.open(Path.of(arguments[0]), SyntheticFeatures.recipe(), _ -> {})) {
            for (int number = first; ; number++) {
                SyntheticFeatures.put(cache, number);
                if (number == first) {
                    System.out.println("writing");
                    System.out.flush();
                }
            }
        }
    }

    static Process start(Path root, int first) throws IOException {
        return new ProcessBuilder(List.of(
                        Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                        "-Xshare:auto",
                        "-XX:TieredStopAtLevel=1",
                        "-XX:+UseSerialGC",
                        "-Xmx128m",
                        "-cp",
                        System.getProperty("java.class.path"),
                        FeatureWritingProcess.class.getName(),
                        root.toString(),
                        Integer.toString(first)))
                .redirectError(ProcessBuilder.Redirect.INHERIT)
                .start();
    }
}
