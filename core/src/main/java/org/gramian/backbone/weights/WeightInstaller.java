package org.gramian.backbone.weights;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.function.Consumer;
import org.gramian.basis.ProcessLock;

/**
 * Downloads public weights into the store, verified and converted. Of concurrent processes one downloads and the others
 * wait.
 *
 * @param store target
 * @param download source
 * @param remarks receives progress notes, one sentence each
 */
public record WeightInstaller(WeightStore store, Download download, Consumer<String> remarks) {
    /**
     * Downloads and imports the weights of a name.
     *
     * @return the file in the store
     * @throws MissingWeightsException if there is no public file of that name; the message names alternatives
     * @throws IOException if the download fails; the message names the file to copy by hand and its target
     */
    public Path get(WeightName name) throws IOException {
        PublicFile known = PublicFile.of(name.text())
                .orElseThrow(() -> new MissingWeightsException(
                        "there is no public file of '%s' to download: run 'gramian weights import %s FILE' with %s"
                                .formatted(name, name, WeightStore.importable(name.architecture()))));
        return get(name, known, ExpectedParameters.of(name.architecture()));
    }

    Path get(WeightName name, PublicFile known, ExpectedParameters blueprint) throws IOException {
        WeightStore.create(store.folder());
        ProcessLock lock = new ProcessLock(
                store.folder().toRealPath().resolve("." + name.text() + ".lock"),
                () -> remarks.accept("another process is downloading '" + name + "': waiting"));
        return lock.hold(() -> {
            if (store.holds(name)) {
                remarks.accept(store.file(name) + " exists already; 'gramian weights verify " + name + "' checks it");
                return store.file(name);
            }
            return convert(name, known, blueprint);
        });
    }

    private Path convert(WeightName name, PublicFile known, ExpectedParameters blueprint) throws IOException {
        Path brought = store.folder().resolve(known.file());
        if (Files.isRegularFile(brought)) {
            remarks.accept(brought + " exists: no download needed");
            requireRight(brought, known);
            return store.importFile(name, blueprint, Weights.Source.of(brought), remarks);
        }
        // It keeps the name of a partial file until it is imported: under its own name it would pass for a file that
        // the user copied there, and stay if this process were killed now.
        PartialFile fetched = fetch(name, known);
        Path installed = store.importFile(name, blueprint, new Weights.Source(fetched.path(), known.file()), remarks);
        fetched.delete();
        return installed;
    }

    private PartialFile fetch(WeightName name, PublicFile known) throws IOException {
        try {
            return download.fetch(known, store.folder());
        } catch (DownloadException e) {
            String elsewhere =
                    ("download %s on another machine, put %s into %s and run 'gramian weights get %s' again, or run"
                                    + " 'gramian weights import %s FILE'")
                            .formatted(download.address(known), known.file(), store.folder(), name, name);
            String advice = switch (e.kind()) {
                case NO_CONNECTION -> ". Offline: " + elsewhere;
                case NOT_THERE -> ": " + elsewhere;
                case OTHER -> "";
            };
            throw new IOException(e.getMessage() + advice, e);
        }
    }

    private static void requireRight(Path local, PublicFile known) throws IOException {
        String sha256 = WeightFingerprint.of(local);
        if (!sha256.startsWith(known.sha256Prefix())) {
            throw new IOException(
                    ("%s is not the published file: expected a SHA-256 that starts with %3$s, found %2$s; delete it"
                                    + " and retry")
                            .formatted(
                                    local,
                                    sha256.substring(0, known.sha256Prefix().length()),
                                    known.sha256Prefix()));
        }
    }
}
