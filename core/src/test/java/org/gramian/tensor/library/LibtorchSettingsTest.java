package org.gramian.tensor.library;

import static org.assertj.core.api.Assertions.assertThat;
import static org.gramian.testing.Facts.assertRejected;

import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.gramian.tensor.library.LibtorchSettings.NativePlatform;
import org.junit.jupiter.api.Test;

/** Where the cache lies, and how a platform is recognized. */
final class LibtorchSettingsTest {
    private static final Map<String, String> HOME = Map.of("user.home", "/home/ada");

    @Test
    void cacheFolderFollowsVariableThenXdgThenHome() {
        Map<String, String> both = Map.of("GRAMIAN_CACHE", "/big/cache", "XDG_CACHE_HOME", "/xdg");
        assertThat(new LibtorchSettings(HOME, both).cacheFolder()).isEqualTo(absolute("/big/cache"));
        assertThat(new LibtorchSettings(
                                HOME, Map.of("XDG_CACHE_HOME", absolute("/xdg").toString()))
                        .cacheFolder())
                .isEqualTo(absolute("/xdg/gramian"));
        assertThat(new LibtorchSettings(HOME, Map.of()).cacheFolder()).isEqualTo(absolute("/home/ada/.cache/gramian"));
    }

    @Test
    void blankAndRelativeXdgSettingsAreIgnored() {
        Map<String, String> environment = Map.of("GRAMIAN_CACHE", "", "XDG_CACHE_HOME", "relative");
        assertThat(new LibtorchSettings(HOME, environment).cacheFolder())
                .isEqualTo(absolute("/home/ada/.cache/gramian"));
    }

    @Test
    void missingHomeIsReportedWithAdvice() {
        for (Map<String, String> properties : List.of(Map.<String, String>of(), Map.of("user.home", "?"))) {
            assertRejected(
                    LibtorchException.class,
                    () -> new LibtorchSettings(properties, Map.of()).cacheFolder(),
                    "GRAMIAN_CACHE");
        }
    }

    @Test
    void invalidPathIsReported() {
        assertRejected(LibtorchException.class, () -> LibtorchSettings.path("a\0b", "GRAMIAN_CACHE"), "GRAMIAN_CACHE");
    }

    @Test
    void platformsHaveTheClassifiersOfTheArtifact() {
        assertThat(NativePlatform.of("Linux", "amd64").classifier()).isEqualTo("linux-x86_64");
        assertThat(NativePlatform.of("Linux", "aarch64").classifier()).isEqualTo("linux-aarch64");
        assertThat(NativePlatform.of("Mac OS X", "aarch64").classifier()).isEqualTo("osx-aarch64");
        assertThat(NativePlatform.of("Windows 11", "amd64").classifier()).isEqualTo("win-x86_64");
        assertThat(NativePlatform.of("FreeBSD", "riscv64").classifier()).isEqualTo("freebsd-riscv64");
    }

    private static Path absolute(String text) {
        return Path.of(text).toAbsolutePath();
    }
}
