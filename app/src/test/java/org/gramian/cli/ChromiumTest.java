package org.gramian.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Which browser is taken; this test itself needs none. */
class ChromiumTest {
    @TempDir
    private Path folder = Path.of("");

    private Path program(String name) throws IOException {
        Path file = Files.createDirectories(folder.resolve(name + "-bin")).resolve(name);
        Files.createFile(file, PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwxr-xr-x")));
        return file;
    }

    @Test
    void theBrowserIsFoundOnThePathAndChromiumFirst() throws IOException {
        Path chrome = program("google-chrome");
        Path chromium = program("chromium");
        String chromes = folder.resolve("google-chrome-bin").toString();
        String path = String.join(
                File.pathSeparator, "", chromes, folder.resolve("chromium-bin").toString());
        assertThat(Chromium.find(path)).contains(chromium);
        assertThat(Chromium.find(chromes)).contains(chrome);
        assertThat(Chromium.find("")).isEmpty();
    }

    @Test
    void onlyTheWishOfContinuousIntegrationMakesItRequired() {
        assertThat(Chromium.required("required")).isTrue();
        assertThat(Chromium.required("")).isFalse();
    }
}
