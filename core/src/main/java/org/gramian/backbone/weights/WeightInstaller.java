package org.gramian.backbone.weights;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.UUID;
import java.util.function.Consumer;
import org.gramian.backbone.PublicFile;

/**
 * Downloads public weights into the store, verified and converted. Concurrent processes may both download; the last rename decides.
 */
public record WeightInstaller(WeightStore store, Download download, OnnxInstaller onnx, Consumer<String> remarks) {
    /** Installs the weights of a built-in network from a file in ONNX. */
    @FunctionalInterface
    public interface OnnxInstaller {
        Path install(WeightName name, Path file, String source) throws IOException;
    }

    /**
     * Downloads and imports the weights of a name.
     *
     * @return the file in the store
     */
    public Path get(WeightName name) throws IOException {
        PublicFile known = PublicFile.of(name.text())
                .orElseThrow(() -> new MissingWeightsException(
                        "there is no public file of '%s' to download: run 'gramian weights import %s FILE' with %s"
                                .formatted(name, name, WeightStore.importable(name.architecture()))));
        return get(name, known, ExpectedParameters.of(name.architecture()));
    }

    Path get(WeightName name, PublicFile known, ExpectedParameters expected) throws IOException {
        WeightStore.create(store.folder());
        if (store.holds(name)) {
            remarks.accept(store.file(name) + " exists already; 'gramian weights verify " + name + "' checks it");
            return store.file(name);
        }
        Path copied = store.folder().resolve(known.file());
        if (Files.isRegularFile(copied)) {
            remarks.accept(copied + " exists: no download needed");
            Download.requirePublished(copied.toString(), copied, known);
            return install(name, Weights.Source.of(copied), expected);
        }
        // Under its own name it would pass for a file that the user copied there.
        Path fetched = store.folder().resolve(known.file() + "." + UUID.randomUUID() + ".part");
        fetched.toFile().deleteOnExit(); // after Ctrl-C
        try {
            fetch(name, known, fetched);
            return install(name, new Weights.Source(fetched, known.file()), expected);
        } finally {
            Files.deleteIfExists(fetched);
        }
    }

    private Path install(WeightName name, Weights.Source source, ExpectedParameters expected) throws IOException {
        return WeightStore.isOnnx(source.name())
                ? onnx.install(name, source.path(), source.name())
                : store.importFile(name, expected, source, remarks);
    }

    private void fetch(WeightName name, PublicFile known, Path target) throws IOException {
        try {
            download.fetch(known, target);
        } catch (Download.UnavailableException e) {
            throw new IOException(
                    ("%s; offline: download %s on another machine, put %s into %s and run 'gramian weights get %s'"
                                    + " again, or run 'gramian weights import %s FILE'")
                            .formatted(
                                    e.getMessage(), download.address(known), known.file(), store.folder(), name, name),
                    e);
        }
    }
}
