package org.gramian.spark;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Objects;
import org.apache.spark.launcher.JavaModuleOptions;
import org.junit.jupiter.api.Test;

class LaunchOptionsTest {
    @Test
    void jvmOptionsEqualThoseOfSpark() throws IOException {
        Path file = Path.of(Objects.requireNonNull(System.getProperty("gramian.spark.jvm")));
        List<String> options = Files.readAllLines(file).stream()
                .filter(line -> !line.startsWith("#"))
                .toList();

        assertThat(options).containsExactly(JavaModuleOptions.defaultModuleOptionArray());
    }
}
