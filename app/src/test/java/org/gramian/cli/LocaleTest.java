package org.gramian.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import org.gramian.basis.FileNames;
import org.gramian.cli.common.ExitCode;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;

/** File names that are not ASCII, in locales that have their letters and in one that has not. */
@EnabledOnOs(OS.LINUX)
final class LocaleTest {
    @TempDir
    Path folder;

    @BeforeEach
    void paint() throws IOException {
        Assumptions.assumeTrue(FileNames.isUtf8(), "this process could not make such files");
        new ImageFolder(folder)
                .add("photos/größe/bäume.bmp", 1)
                .add("photos/größe/b.bmp", 2)
                .add("photos/klein/c.bmp", 3)
                .add("photos/klein/d.bmp", 4);
    }

    private record Outcome(int code, String text) {}

    private Outcome gramian(String locale, String... arguments) throws IOException, InterruptedException {
        ProcessBuilder builder = new ProcessBuilder(Program.command(List.of(arguments)))
                .redirectErrorStream(true)
                .directory(folder.toFile());
        builder.environment().put("LC_ALL", locale);
        Process process = builder.start();
        String text = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        return new Outcome(process.waitFor(), text);
    }

    @Test
    void readsNamesInUtf8Locale() throws IOException, InterruptedException {
        Outcome audit = gramian("C.UTF-8", "audit", "photos");
        assertThat(audit.text()).contains("größe");
    }

    @Test
    void asciiLocaleNamesTheRemedy() throws IOException, InterruptedException {
        String whole = folder.resolve("photos").toString();
        boolean full = Boolean.getBoolean("gramian.full");
        for (String place : full ? List.of("photos", whole, "photos/größe") : List.of(whole, "photos/größe")) {
            Outcome audit = gramian("C", "audit", place);
            assertThat(audit.code()).as(audit.text()).isIn(ExitCode.DATA, ExitCode.USAGE);
            assertThat(audit.text()).contains("cannot be represented", "export LC_ALL=C.UTF-8");
        }
    }
}
