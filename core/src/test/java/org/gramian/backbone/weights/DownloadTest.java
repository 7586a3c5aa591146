package org.gramian.backbone.weights;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.gramian.testing.Facts.assertRejected;
import static org.gramian.testing.Facts.facts;

import java.io.IOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.gramian.backbone.PublicFile;
import org.gramian.backbone.weights.format.PublishedFiles;
import org.gramian.backbone.weights.format.Tensors32;
import org.gramian.basis.Sha256;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Downloads from a server in this process, which can be told to behave badly. */
@Timeout(60)
final class DownloadTest {
    private static final WeightInstaller.OnnxInstaller NO_ONNX = (name, _, _) -> {
        throw new AssertionError(name + " is not in ONNX");
    };

    private static final WeightName NAME = WeightName.parse("squeezenet-small");

    private final ExpectedParameters expected = SmallNetworks.of("squeezenet");
    private final List<String> remarks = Collections.synchronizedList(new ArrayList<>());
    private final List<Long> progress = Collections.synchronizedList(new ArrayList<>());
    private byte[] content = new byte[0];
    private FileServer server;
    private PublicFile file;

    @TempDir
    Path folder;

    @BeforeEach
    void serve() throws IOException {
        Path made =
                PublishedFiles.torchZip(folder.resolve("made"), Tensors32.random(new Random(4), expected.parameters()));
        content = Files.readAllBytes(made);
        file = published(Sha256.hex(Sha256.of(made)));
        server = new FileServer("/models/" + file.file(), content);
    }

    private static PublicFile published(String sha256) {
        URI url = URI.create("https://server.example/models/small.pth");
        return new PublicFile("squeezenet-small", url, sha256, 0.1, "a test", "BSD");
    }

    @AfterEach
    void stop() {
        server.close();
    }

    private Path get() throws IOException {
        return get(server.base());
    }

    private Path get(URI base) throws IOException {
        return get(base, Duration.ofSeconds(30));
    }

    private Path get(URI base, Duration patience) throws IOException {
        return installer(base, patience, NO_ONNX).get(NAME, file, expected);
    }

    private WeightInstaller installer(URI base, Duration patience, WeightInstaller.OnnxInstaller onnx) {
        return new WeightInstaller(store(), download(base, patience), onnx, remarks::add);
    }

    private Download download(URI base, Duration patience) {
        return new Download(Optional.of(base), patience, total -> {
            progress.add(total);
            return progress::add;
        });
    }

    private WeightStore store() {
        return new WeightStore(folder.resolve("store"));
    }

    /** Only the weights are left. */
    private void assertInstalled(Path installed) throws IOException {
        assertThat(installed).isEqualTo(store().file(NAME)).isRegularFile();
        assertThat(left()).containsExactly("squeezenet-small.safetensors");
    }

    /** The names of all files of the store. */
    private List<String> left() throws IOException {
        try (var files = Files.list(store().folder())) {
            return files.map(path -> path.getFileName().toString()).toList();
        }
    }

    @Test
    void keepsInstalledFile() throws IOException {
        get();
        get();
        assertThat(server.requests()).isEqualTo(1);
        assertThat(remarks).last().asString().has(facts(store().file(NAME), "gramian weights verify " + NAME));
    }

    @Test
    void cutConnectionLeavesNoFile() throws IOException {
        server.cutAfter(content.length / 3);
        assertRejected(IOException.class, this::get, server.base().resolve(file.file()), store().folder());
        assertThat(left()).isEmpty();
        assertInstalled(get());
    }

    @Test
    void redirectsAreFollowed() throws IOException {
        assertInstalled(get(server.base().resolve("/moved/")));
    }

    @Test
    void deletesFileWithWrongChecksum() throws IOException {
        file = published("0123".repeat(16));
        server.close();
        server = new FileServer("/models/" + file.file(), content);
        assertRejected(IOException.class, this::get, "SHA-256", "0123".repeat(16));
        assertThat(left()).isEmpty();
    }

    @Test
    void missingFileNamesAlternatives() {
        assertThatExceptionOfType(IOException.class)
                .isThrownBy(() -> get(server.base().resolve("/elsewhere/")))
                .has(facts("404", "http://", ".pth"))
                .has(facts(file.file(), store().folder()))
                .has(facts("gramian weights get squeezenet-small", "gramian weights import squeezenet-small FILE"));
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void stalledOrSilentServerTimesOut(boolean silent) throws IOException {
        if (silent) {
            server.keepSilent();
        } else {
            server.stallAfter(2000);
        }
        URI base = server.base();
        assertRejected(IOException.class, () -> get(base, Duration.ofSeconds(1)), base.resolve(file.file()));
        assertThat(left()).isEmpty();
    }

    @Test
    void failedImportLeavesNoFile() throws IOException {
        ExpectedParameters other = SmallNetworks.of("vgg16");
        WeightInstaller installer = installer(server.base(), Duration.ofSeconds(30), NO_ONNX);
        assertRejected(IOException.class, () -> installer.get(NAME, file, other));
        assertThat(left()).isEmpty();
    }

    @Test
    void usesCopiedFileWithoutNetwork() throws IOException {
        Files.createDirectories(store().folder());
        Path copied = Files.write(store().folder().resolve(file.file()), content);
        get(URI.create("http://localhost:1/"));
        assertThat(store().holds(NAME)).isTrue();
        assertThat(copied).isRegularFile();
        assertThat(remarks).has(facts(copied));
    }

    @Test
    void rejectsAndKeepsWrongCopiedFile() throws IOException {
        Files.createDirectories(store().folder());
        Path copied = Files.write(store().folder().resolve(file.file()), new byte[10]);
        assertRejected(IOException.class, this::get, copied);
        assertThat(copied).isRegularFile();
    }

    @Test
    void concurrentInstallsLeaveOneFile() throws IOException, InterruptedException, ExecutionException {
        try (ExecutorService two = Executors.newFixedThreadPool(2)) {
            List<Future<Path>> both = two.invokeAll(List.of(this::get, this::get));
            for (Future<Path> one : both) {
                assertThat(one.get()).isEqualTo(store().file(NAME));
            }
        }
        assertInstalled(store().file(NAME));
    }

    @Test
    void installsOnnxByItsReader() throws IOException {
        String sha256 = Sha256.hex(Sha256.of(Files.write(folder.resolve("net"), content)));
        try (FileServer zoo = new FileServer("/models/net.onnx", content)) {
            PublicFile known = new PublicFile(
                    "squeezenet-zoo", URI.create("https://server.example/net.onnx"), sha256, 0.1, "a test", "BSD");
            Path target = store().folder().resolve("squeezenet-zoo.safetensors");
            List<String> offered = new ArrayList<>();
            WeightInstaller installer = installer(zoo.base(), Duration.ofSeconds(30), (name, path, source) -> {
                assertThat(Files.readAllBytes(path)).isEqualTo(content);
                offered.add(name + " " + source);
                return target;
            });
            assertThat(installer.get(WeightName.parse("squeezenet-zoo"), known, expected))
                    .isEqualTo(target);
            assertThat(offered).containsExactly("squeezenet-zoo net.onnx");
        }
    }

    @Test
    void nameWithoutPublicFileIsReported() {
        WeightInstaller installer = installer(server.base(), Duration.ofSeconds(1), NO_ONNX);
        assertRejected(
                MissingWeightsException.class,
                () -> installer.get(WeightName.parse("vit-s16")),
                "vit-s16",
                "gramian weights import vit-s16 FILE",
                ".safetensors");
    }
}
