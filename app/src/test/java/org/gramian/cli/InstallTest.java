package org.gramian.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.gramian.basis.Sha256;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;

/** {@code install.sh} with a distribution whose program is a small script. */
@EnabledOnOs(OS.LINUX)
class InstallTest {
    private static final Path SCRIPT = Path.of("../scripts/distribution/install.sh");

    @TempDir
    private Path folder;

    private Path archive;

    @BeforeEach
    void pack() throws IOException, InterruptedException {
        String machine = System.getProperty("os.arch").equals("aarch64") ? "aarch64" : "x86_64";
        String name = "gramian-9.9.9-linux-" + machine;
        Path program = folder.resolve(name).resolve("bin/gramian");
        Files.createDirectories(program.getParent());
        Files.writeString(program, "#!/bin/sh\necho gramian 9.9.9\n");
        assertThat(program.toFile().setExecutable(true)).isTrue();
        archive = folder.resolve(name + ".tar.gz");
        Checkout.await(new ProcessBuilder("tar", "-czf", archive.toString(), "-C", folder.toString(), name).start());
        writeChecksum(Sha256.hex(Sha256.of(archive)));
        Files.writeString(installer(), Files.readString(SCRIPT).replace("VERSION", "9.9.9"));
    }

    private Path installer() {
        return folder.resolve("install.sh");
    }

    private Path prefix() {
        return folder.resolve("with blank/prefix");
    }

    private void writeChecksum(String sum) throws IOException {
        Files.writeString(Path.of(archive + ".sha256"), sum + "  " + archive.getFileName() + "\n");
    }

    private Checkout.Outcome install(String... options) throws IOException, InterruptedException {
        List<String> command = new ArrayList<>(List.of("sh", installer().toString()));
        command.addAll(List.of(options));
        return Checkout.await(new ProcessBuilder(command).start());
    }

    @Test
    void installsAndRepairs() throws IOException, InterruptedException {
        for (int i = 0; i < 2; i++) {
            Checkout.Outcome done = install("--from", folder.toString(), "--prefix", prefix().toString());
            assertThat(done.exitCode()).as(done.errors()).isZero();
            Checkout.Outcome version = Checkout.await(
                    new ProcessBuilder(prefix().resolve("bin/gramian").toString(), "--version").start());
            assertThat(version.output()).contains("9.9.9");
            assertThat(installed()).containsExactly("gramian-9.9.9");
        }
    }

    @Test
    void refusesAWrongChecksum() throws IOException, InterruptedException {
        String wrong = "0".repeat(64);
        writeChecksum(wrong);
        Checkout.Outcome refused = install("--from", folder.toString(), "--prefix", prefix().toString());
        assertThat(refused.exitCode()).isEqualTo(1);
        assertThat(refused.errors()).contains(wrong, Sha256.hex(Sha256.of(archive)));
        assertThat(installed()).isEmpty();
    }

    @Test
    void saysWhatIsWrong() throws IOException, InterruptedException {
        assertThat(install("--form", "x").exitCode()).isEqualTo(2);
        assertThat(install("--prefix").exitCode()).isEqualTo(2);
        Files.delete(archive);
        Checkout.Outcome missing = install("--from", folder.toString(), "--prefix", prefix().toString());
        assertThat(missing.exitCode()).isEqualTo(1);
        assertThat(missing.errors()).contains(archive.getFileName().toString());
        assertThat(installed()).isEmpty();
    }

    private List<String> installed() throws IOException {
        try (Stream<Path> all = Files.list(prefix().resolve("lib"))) {
            return all.map(path -> path.getFileName().toString()).toList();
        }
    }
}
