package org.gramian.backbone.weights;

import java.io.File;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.function.Consumer;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.gramian.backbone.Backbone;
import org.gramian.backbone.weights.WeightConversion.InputSpec;
import org.gramian.backbone.weights.Weights.Provenance;
import org.gramian.backbone.weights.format.WeightFile;
import org.gramian.basis.NameList;
import org.gramian.basis.QuotedText;
import org.gramian.tensor.file.Safetensors;
import org.gramian.tensor.file.TensorFileException;
import org.gramian.tensor.library.CacheFolder;

/**
 * Folder of imported weights, {@code NAME.safetensors} under Gramian's tensor names, with preprocessing and provenance
 * in the metadata.
 *
 * @param folder need not exist yet
 */
public record WeightStore(Path folder) {
    /** Environment variable that names the folder. */
    public static final String VARIABLE = "GRAMIAN_WEIGHTS";

    private static final String ENDING = ".safetensors";

    /** Extensions of weight files; a name with one of them is read as a file. */
    private static final List<String> ENDINGS = List.of(".pth", ".pt", ".h5", ".caffemodel", ENDING, ".bin");

    /** Returns the store in {@value #VARIABLE}, else in {@code weights} of the cache folder. */
    public static WeightStore ofProcess() {
        String own = System.getenv(VARIABLE);
        if (own == null || own.isBlank()) {
            return new WeightStore(CacheFolder.ofProcess().resolve("weights"));
        }
        try {
            return new WeightStore(Path.of(own));
        } catch (InvalidPathException e) {
            throw new IllegalArgumentException(VARIABLE + ": expected the path of a folder, found '" + own + "'", e);
        }
    }

    /** Returns the file of a name, which need not exist. */
    public Path file(WeightName name) {
        return folder.resolve(name.text() + ENDING);
    }

    /** Returns whether the store has weights of a name. */
    public boolean holds(WeightName name) {
        return Files.isRegularFile(file(name));
    }

    /**
     * Opens weights and verifies their fingerprint, which reads the whole file.
     *
     * @param arena owner of the tensors' memory
     * @param remarks receives notes on missing or assumed data, one sentence each
     * @throws MissingWeightsException if the store has no such weights; the message names the command that gets them
     * @throws IOException if the file is damaged, was changed since the import, or belongs to another network
     */
    public Weights open(WeightName name, Arena arena, Consumer<String> remarks) throws IOException {
        Opened opened = opened(name, arena);
        String fingerprint = WeightFingerprint.of(opened.conversion.tensors());
        List<String> problems = StoredMetadata.provenance(opened.file)
                .map(noted -> compare(noted.fingerprint(), fingerprint))
                .orElse(List.of());
        if (!problems.isEmpty()) {
            throw new TensorFileException(file(name), problems.getFirst() + "; import it again");
        }
        opened.conversion.remarks().forEach(remarks);
        Provenance noted = opened.provenance();
        Provenance provenance = new Provenance(fingerprint, noted.source(), noted.sourceSha256(), noted.licence());
        return new Weights(
                name.architecture(), opened.conversion.tensors(), opened.conversion.preprocessing(), provenance);
    }

    /**
     * Opens weights given as a file of any supported format or as a name in this store.
     *
     * @param architecture network of the weights
     * @param nameOrFile name or path
     * @throws MissingWeightsException if a name is not in the store
     */
    public Weights find(String architecture, String nameOrFile, Arena arena, Consumer<String> remarks)
            throws IOException {
        return isFile(nameOrFile)
                ? Weights.read(architecture, Path.of(nameOrFile), arena, remarks)
                : open(WeightName.parse(nameOrFile), arena, remarks);
    }

    /** Returns whether a text is a path rather than a name, whether the file exists or not. */
    private static boolean isFile(String text) {
        return text.contains("/")
                || text.contains(File.separator)
                || ENDINGS.stream().anyMatch(text.toLowerCase(Locale.ROOT)::endsWith)
                || Files.isRegularFile(Path.of(text));
    }

    /**
     * Returns the provenance of weights from the file's metadata, without reading the tensors.
     *
     * @throws MissingWeightsException if the store has no such weights
     * @throws IOException if the file is damaged or belongs to another network
     */
    public Provenance provenance(WeightName name) throws IOException {
        try (Arena arena = Arena.ofShared()) {
            return opened(name, arena).provenance();
        }
    }

    /** File of the store with its converted weights. */
    private record Opened(WeightFile file, WeightConversion conversion) {
        Provenance provenance() {
            return StoredMetadata.provenance(file)
                    .orElseGet(() -> new Provenance(
                            Provenance.UNKNOWN,
                            String.valueOf(file.content().path().getFileName()),
                            Provenance.UNKNOWN,
                            conversion.licence()));
        }
    }

    private Opened opened(WeightName name, Arena arena) throws IOException {
        if (!holds(name)) {
            throw missing(name);
        }
        WeightFile file = WeightFile.read(file(name), arena);
        return new Opened(file, WeightConversion.of(file, ExpectedParameters.of(name.architecture()), false, arena));
    }

    private MissingWeightsException missing(WeightName name) {
        String download = PublicFile.of(name.text())
                .map(known -> "run 'gramian weights get %s' to download %s (%.0f MiB), or "
                        .formatted(name, known.file(), known.mebibytes()))
                .orElse("");
        return new MissingWeightsException("no weights '%s' in %s: %srun 'gramian weights import %s FILE' with %s"
                .formatted(name, folder, download, name, importable(name.architecture())));
    }

    /** Describes the files that {@link #importFile} accepts for a network. */
    public static String importable(String architecture) {
        ExpectedParameters blueprint = ExpectedParameters.of(architecture);
        List<String> files = Naming.known(blueprint).stream()
                .map(naming -> naming.publisher().file())
                .toList();
        return files.size() > 1
                ? String.join(", ", files.subList(0, files.size() - 1)) + " or " + files.getLast()
                : files.getFirst() + " with tensors such as "
                        + blueprint.parameters().firstEntry().getKey() + ", from "
                        + Backbone.of(architecture).about().weights().source();
    }

    /**
     * Recognizes the network of a weight file by the names and shapes of its tensors.
     *
     * @throws IOException if the file cannot be read or fits no network; the message names what the most similar
     *     network lacks
     * @throws IllegalArgumentException if it fits several networks; the message lists them
     */
    public static WeightName recognize(Path source) throws IOException {
        try (Arena arena = Arena.ofShared()) {
            WeightFile file = WeightFile.read(source, arena);
            List<String> all = WeightName.architectures();
            List<String> fitting = all.stream()
                    .filter(network -> WeightConversion.fits(file, ExpectedParameters.of(network)))
                    .toList();
            if (fitting.size() > 1) {
                throw new IllegalArgumentException(source + " fits several backbones; choose one of: "
                        + fitting.stream()
                                .map(network -> "gramian weights import " + network + " " + source)
                                .collect(Collectors.joining(", or ")));
            }
            if (fitting.size() == 1) {
                return WeightName.parse(fitting.getFirst());
            }
            String nearest = all.stream()
                    .max(Comparator.comparingLong(
                            network -> WeightConversion.likeness(file, ExpectedParameters.of(network))))
                    .orElseThrow();
            if (WeightConversion.likeness(file, ExpectedParameters.of(nearest)) > 0) {
                WeightConversion.of(file, ExpectedParameters.of(nearest), false, arena); // throws with the mismatches
            }
            throw new TensorFileException(
                    source,
                    "expected weights of " + String.join(", ", all) + ", found tensors such as "
                            + NameList.some(file.content().tensors().keySet().stream()
                                    .map(QuotedText::text)
                                    .toList()));
        }
    }

    /**
     * Imports a weight file into the store atomically, replacing weights of the same name.
     *
     * @param remarks receives notes on skipped, missing or assumed data, one sentence each
     * @return the file in the store
     */
    public Path importFile(WeightName name, Path source, Consumer<String> remarks) throws IOException {
        return importFile(name, ExpectedParameters.of(name.architecture()), Weights.Source.of(source), remarks);
    }

    Path importFile(WeightName name, ExpectedParameters blueprint, Weights.Source source, Consumer<String> remarks)
            throws IOException {
        try (Arena arena = Arena.ofShared()) {
            Weights weights = Weights.read(blueprint, source, arena, remarks);
            create(folder);
            Path target = file(name);
            Safetensors.write(target, weights.tensors(), StoredMetadata.of(weights));
            return target;
        }
    }

    static void create(Path folder) throws IOException {
        try {
            Files.createDirectories(folder);
        } catch (IOException e) {
            throw new TensorFileException(folder, "the weights folder cannot be created: " + e.getMessage(), e);
        }
    }

    /**
     * Reads weights completely and compares them with the fingerprint of the import.
     *
     * @return problems, one sentence each; empty if there are none
     * @throws MissingWeightsException if the store has no such weights
     */
    public List<String> verify(WeightName name) throws IOException {
        try (Arena arena = Arena.ofShared()) {
            Opened opened = opened(name, arena);
            return StoredMetadata.provenance(opened.file)
                    .map(noted -> compare(noted.fingerprint(), WeightFingerprint.of(opened.conversion.tensors())))
                    .orElse(List.of("the file has no fingerprint to compare with, because it was not written by this"
                            + " program: import it under this name"));
        } catch (TensorFileException e) {
            return List.of(String.valueOf(e.getMessage()));
        }
    }

    private static List<String> compare(String noted, String found) {
        return noted.equals(found)
                ? List.of()
                : List.of("expected the fingerprint %s of the import, found %s: the file was changed"
                        .formatted(noted, found));
    }

    /** Returns the sorted names of all weights in the store; other files are ignored. */
    public List<WeightName> names() throws IOException {
        if (!Files.isDirectory(folder)) {
            return List.of();
        }
        try (Stream<Path> files = Files.list(folder)) {
            return files.map(file -> file.getFileName().toString())
                    .filter(file -> file.endsWith(ENDING))
                    .map(file -> file.substring(0, file.length() - ENDING.length()))
                    .sorted()
                    .flatMap(WeightStore::parsed)
                    .toList();
        }
    }

    private static Stream<WeightName> parsed(String text) {
        try {
            return Stream.of(WeightName.parse(text));
        } catch (IllegalArgumentException e) {
            return Stream.empty();
        }
    }

    /** The metadata of a safetensors file in the store: what {@link WeightStore} writes and reads back. */
    static final class StoredMetadata {
        private static final String ARCHITECTURE = "architecture";
        private static final String SOURCE = "source";
        private static final String SOURCE_SHA256 = "source_sha256";
        private static final String LICENCE = "licence";
        private static final String FINGERPRINT = "fingerprint";

        private StoredMetadata() {}

        static Map<String, String> of(Weights weights) {
            Map<String, String> metadata = new TreeMap<>();
            metadata.put("format", "pt"); // what other readers of safetensors look for
            metadata.put(ARCHITECTURE, weights.architecture());
            metadata.put(InputSpec.KEY, weights.preprocessing().text());
            metadata.put(SOURCE, weights.provenance().source());
            metadata.put(SOURCE_SHA256, weights.provenance().sourceSha256());
            metadata.put(LICENCE, weights.provenance().licence());
            metadata.put(FINGERPRINT, weights.provenance().fingerprint());
            return metadata;
        }

        /** Returns the licence stated in a file. */
        static Optional<String> licence(WeightFile file) {
            Map<String, String> metadata = file.content().metadata();
            return Optional.ofNullable(metadata.get(LICENCE)).or(() -> Optional.ofNullable(metadata.get("license")));
        }

        /** Returns the provenance stated in a file; empty if Gramian did not write it. */
        static Optional<Provenance> provenance(WeightFile file) {
            Map<String, String> metadata = file.content().metadata();
            String fingerprint = metadata.get(FINGERPRINT);
            if (fingerprint == null) {
                return Optional.empty();
            }
            return Optional.of(new Provenance(
                    fingerprint,
                    metadata.getOrDefault(SOURCE, Provenance.UNKNOWN),
                    metadata.getOrDefault(SOURCE_SHA256, Provenance.UNKNOWN),
                    metadata.getOrDefault(LICENCE, Weights.UNSTATED)));
        }
    }
}
