package org.gramian.tensor.library;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.gramian.testing.Facts.assertRejected;
import static org.gramian.testing.Facts.facts;

import java.io.IOException;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;
import org.gramian.testing.Facts;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Which libtorch is taken, and what is said about folders and class paths that hold none. */
final class LibtorchFolderTest {
    @TempDir
    private Path temporary;

    private final Map<String, String> properties = new HashMap<>(Map.of("os.name", "Linux", "os.arch", "amd64"));
    private final Map<String, String> environment = new HashMap<>();

    @Test
    void libFolderPackageFolderAndSitePackagesAreAccepted() throws IOException {
        Path lib = libraries(temporary.resolve("site-packages/torch/lib"));
        Files.writeString(lib.resolveSibling("version.py"), "from typing import X\n__version__ = '2.11.0+cu130'\n");
        for (Path given : new Path[] {lib, lib.resolve(".."), lib.resolve("../..")}) {
            environment.put("GRAMIAN_LIBTORCH", given.toString());
            assertThat(locate()).isEqualTo(new LibtorchFolder(lib, "GRAMIAN_LIBTORCH", "2.11.0+cu130"));
        }
    }

    @Test
    void bareFolderHasNeitherVersionNorChecksums() throws IOException {
        environment.put("GRAMIAN_LIBTORCH", libraries(temporary.resolve("bare")).toString());
        assertThat(locate().version()).isNull();
        assertThat(locate().hasChecksums()).isFalse();
        assertThat(locate().verifyChecksums()).isEmpty();
    }

    @Test
    void optionTakesPrecedenceOverEnvironment() throws IOException {
        Path option = libraries(temporary.resolve("option"));
        properties.put("gramian.libtorch", option.toString());
        environment.put(
                "GRAMIAN_LIBTORCH", libraries(temporary.resolve("variable")).toString());
        assertThat(locate()).isEqualTo(new LibtorchFolder(option, "--libtorch", null));
    }

    @Test
    void invalidFolderIsReportedWithExpectedAndFound() throws IOException {
        Path folder = Files.createDirectory(temporary.resolve("wrong"));
        environment.put("GRAMIAN_LIBTORCH", folder.toString());
        assertRefused(facts(folder));
        for (String name : new String[] {"g", "f", "e", "d", "c", "b", "a"}) {
            Files.writeString(folder.resolve(name), "");
        }
        assertRefused(facts(folder, "a", "b", "c", "d", "e"));
        environment.put("GRAMIAN_LIBTORCH", folder.resolve("a").toString());
        assertRefused(facts(folder.resolve("a")));
        environment.put("GRAMIAN_LIBTORCH", folder.resolve("missing").toString());
        assertRefused(facts(folder.resolve("missing")));
    }

    @Test
    void artifactOfThisPlatformIsTheDefault() throws IOException {
        environment.put("GRAMIAN_LIBTORCH", " ");
        environment.put("GRAMIAN_CACHE", temporary.resolve("cache").toString());
        URL arm = FakeLibtorch.folder(temporary.resolve("arm"), "linux-aarch64")
                .location()
                .toUri()
                .toURL();
        URL intel = FakeLibtorch.jar(temporary.resolve("intel.jar"))
                .location()
                .toUri()
                .toURL();
        LibtorchFolder found = locate(new URLClassLoader(new URL[] {arm, intel}, null));
        assertThat(found.folder()).isEqualTo(temporary.resolve("cache").resolve(FakeLibtorch.FOLDER_NAME));
    }

    @Test
    void artifactOfAnotherPlatformIsReported() throws IOException {
        FakeLibtorch arm = FakeLibtorch.folder(temporary.resolve("arm"), "linux-aarch64");
        assertRejected(
                LibtorchException.class,
                () -> locate(arm.classPath()),
                "linux-x86_64",
                "linux-aarch64",
                "cpu",
                "linux-x86_64",
                "linux-aarch64",
                "osx-aarch64",
                "win-x86_64",
                "GRAMIAN_LIBTORCH");
    }

    @Test
    void missingArtifactIsReported() {
        properties.put("os.arch", "riscv64");
        assertRejected(LibtorchException.class, this::locate, "linux-riscv64", "GRAMIAN_LIBTORCH");
    }

    @Test
    void namesOutsideTheCacheAreRejected() throws IOException {
        Path description = temporary.resolve("evil/native/lib/pytorch.properties");
        Files.createDirectories(description.resolveSibling(""));
        for (String name : new String[] {"../libtorch_cpu.so", "/etc/passwd", "a/b.so", "..", ".hidden", "a,,b"}) {
            String text = "version=1\nflavor=cpu\nclassifier=linux-x86_64\nlibraries=" + name;
            Files.writeString(description, text);
            assertRejected(
                    LibtorchException.class,
                    () -> locate(new FakeLibtorch(temporary.resolve("evil")).classPath()),
                    "'" + (name.equals("a,,b") ? "" : name) + "'");
        }
        Files.writeString(description, "flavor=cpu\nclassifier=linux-x86_64\nlibraries=a.so");
        assertRejected(
                LibtorchException.class,
                () -> locate(new FakeLibtorch(temporary.resolve("evil")).classPath()),
                "'version'");
    }

    private void assertRefused(Facts found) {
        assertThatThrownBy(this::locate)
                .isInstanceOf(LibtorchException.class)
                .has(facts("GRAMIAN_LIBTORCH", "libtorch_cpu.so", "torch/lib"))
                .has(found);
    }

    private LibtorchFolder locate() {
        return locate(new URLClassLoader(new URL[0], null));
    }

    private LibtorchFolder locate(ClassLoader classPath) {
        var settings = new LibtorchSettings(properties, environment);
        return new LibtorchFolder.Locator(settings, classPath, text -> {}).locate();
    }

    private static Path libraries(Path folder) throws IOException {
        Files.createDirectories(folder);
        Files.writeString(folder.resolve("libtorch_cpu.so"), "");
        return folder;
    }
}
