package org.gramian.testing;

import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Assumptions;

/** Weights and images beside the checkout, which are not part of it. */
public final class SharedFolder {
    private SharedFolder() {}

    /** A file or folder there; the test is skipped where it is absent. */
    public static Path require(String below) {
        Path path = Path.of("..", "..", "shared").resolve(below);
        Assumptions.assumeTrue(Files.exists(path), () -> "skipped: there is no " + path + " on this machine");
        return path;
    }
}
