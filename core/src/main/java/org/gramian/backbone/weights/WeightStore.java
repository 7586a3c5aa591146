package org.gramian.backbone.weights;

import java.io.File;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.SequencedMap;
import java.util.SplittableRandom;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Consumer;
import java.util.stream.Stream;
import org.gramian.autodiff.Parameter;
import org.gramian.autodiff.ParameterSet;
import org.gramian.backbone.Backbone;
import org.gramian.backbone.Backbones;
import org.gramian.backbone.PublicFile;
import org.gramian.backbone.weights.WeightConversion.InputSpec;
import org.gramian.backbone.weights.Weights.Provenance;
import org.gramian.backbone.weights.format.WeightFile;
import org.gramian.basis.NearestWord;
import org.gramian.image.crop.Preprocessing;
import org.gramian.tensor.DType;
import org.gramian.tensor.Device;
import org.gramian.tensor.file.Safetensors;
import org.gramian.tensor.file.StoredTensor;
import org.gramian.tensor.file.TensorFile;
import org.gramian.tensor.file.TensorFileException;
import org.gramian.tensor.library.CacheFolder;

/**
 * Folder of imported weights, {@code NAME.safetensors} under Gramian's tensor names, with preprocessing and provenance
 * in the metadata.
 */
public record WeightStore(Path folder) {
    /** Environment variable that names the folder. */
    public static final String VARIABLE = "GRAMIAN_WEIGHTS";

    /** Networks of files: settings need one many times, and a network of 120 operators takes 0.2 s to build. */
    private static final Map<FileVersion, Backbone> NETWORKS = new ConcurrentHashMap<>();

    /** Key in the metadata of the definition of a network that is not built in. */
    private static final String NETWORK = "network";

    /** Name of the folder, in the cache, of networks that were converted from ONNX files without being installed. */
    public static final String CONVERTED = "onnx";

    public static final String ENDING = ".safetensors";
    public static final String ONNX = ".onnx";

    /** Extensions of weight files; a name with one of them is read as a file. */
    private static final List<String> ENDINGS = List.of(".pth", ".pt", ".h5", ".caffemodel", ENDING, ".bin", ONNX);

    /** Returns the store in {@value #VARIABLE}, else in {@code weights} of the cache folder. */
    public static WeightStore ofProcess() {
        String path = System.getenv(VARIABLE);
        if (path == null || path.isBlank()) {
            return new WeightStore(CacheFolder.ofProcess().resolve("weights"));
        }
        try {
            return new WeightStore(Path.of(path));
        } catch (InvalidPathException e) {
            throw new IllegalArgumentException(VARIABLE + ": expected the path of a folder, found '" + path + "'", e);
        }
    }

    public Path file(WeightName name) {
        return file(name.text());
    }

    private Path file(String name) {
        return folder.resolve(name + ENDING);
    }

    /** Returns the weights of a name: those of a built-in network, a variant of them, or an installed network. */
    public WeightName name(String text) {
        if (WeightName.isWellFormed(text) && isNetwork(file(text))) {
            return new WeightName(text, text);
        }
        return WeightName.parse(text);
    }

    private static boolean isNetwork(Path file) {
        try (Arena arena = Arena.ofConfined()) {
            return Files.isRegularFile(file)
                    && Safetensors.header(file, arena).metadata().containsKey(NETWORK);
        } catch (TensorFileException damaged) {
            return false; // opening it reports the damage
        }
    }

    /**
     * Returns a backbone with its default feature layer: a built-in one, or one whose file defines the network.
     *
     * @param nameOrFile name of a built-in or installed network, or a file like those of this store
     */
    public Backbone backbone(String nameOrFile) {
        if (Backbones.names().contains(nameOrFile)) {
            return Backbone.of(nameOrFile);
        }
        boolean path = isFile(nameOrFile);
        if (!path && !WeightName.isWellFormed(nameOrFile)) {
            return Backbone.of(nameOrFile); // throws
        }
        Path file = path ? Path.of(nameOrFile) : file(nameOrFile);
        if (!Files.isRegularFile(file)) {
            if (path) {
                throw new IllegalArgumentException(file + ": no such file; expected a network");
            }
            throw unknownBackbone(nameOrFile);
        }
        if (isOnnx(file.toString())) {
            throw new IllegalArgumentException(
                    file + ": is not installed; run 'gramian weights import NAME " + file + "' and use NAME");
        }
        try {
            return NETWORKS.computeIfAbsent(FileVersion.of(file), _ -> defined(file, nameOrFile));
        } catch (IOException unreadable) {
            throw new IllegalArgumentException(file + ": cannot be read: " + unreadable.getMessage(), unreadable);
        }
    }

    private static Backbone defined(Path path, String nameOrFile) {
        Map<String, String> metadata;
        try (Arena arena = Arena.ofConfined()) {
            metadata = Safetensors.header(path, arena).metadata();
        } catch (TensorFileException damaged) {
            throw new IllegalArgumentException(damaged.getMessage(), damaged);
        }
        String definition = metadata.get(NETWORK);
        if (definition == null) {
            throw new IllegalArgumentException(
                    path + ": expected a network that 'gramian weights import NAME FILE.onnx'"
                            + " installed, found weights only; name their backbone and use --weights " + nameOrFile);
        }
        Preprocessing preprocessing =
                InputSpec.parse(metadata.getOrDefault(InputSpec.KEY, "")).orElse(Preprocessing.TORCHVISION);
        try {
            return Backbone.of(metadata.getOrDefault(Provenance.ARCHITECTURE, ""), definition, preprocessing);
        } catch (IllegalArgumentException | ArithmeticException invalid) {
            throw new IllegalArgumentException(
                    path + ": does not define a usable network: " + invalid.getMessage(), invalid);
        }
    }

    /** State of a file, to notice that it was replaced. */
    private record FileVersion(Path file, FileTime changed, long size) {
        static FileVersion of(Path file) throws IOException {
            return new FileVersion(file.toAbsolutePath(), Files.getLastModifiedTime(file), Files.size(file));
        }
    }

    private IllegalArgumentException unknownBackbone(String name) {
        List<String> all = new ArrayList<>(Backbones.names());
        try {
            names().stream()
                    .filter(installed -> installed.text().equals(installed.architecture()))
                    .map(WeightName::text)
                    .filter(installed -> !all.contains(installed))
                    .forEach(all::add);
        } catch (IOException unreadable) {
            // the built-in names remain
        }
        return new IllegalArgumentException("unknown backbone '" + name + "'" + NearestWord.suggestion(name, all)
                + "; available: " + String.join(", ", all));
    }

    /** Returns the backbone of weights with its default feature layer. */
    public Backbone backbone(WeightName name) {
        return backbone(name.architecture());
    }

    public boolean holds(WeightName name) {
        return Files.isRegularFile(file(name));
    }

    /** Returns whether weights are those of {@link BundledWeights}; a file of the same name in the store replaces them. */
    public boolean isBundled(WeightName name) {
        return !holds(name) && BundledWeights.has(name.text());
    }

    /** Opens weights and verifies their fingerprint, which reads the whole file. */
    public Weights open(WeightName name, Arena arena, Consumer<String> remarks) throws IOException {
        Opened opened = opened(name, arena, remarks);
        opened.conversion.remarks().forEach(remarks);
        return new Weights(
                name.architecture(), opened.conversion.tensors(), opened.conversion.preprocessing(), opened.verified());
    }

    /**
     * Opens the weights of a backbone; one with fixed filters has its own.
     *
     * @param nameOrFile empty for a backbone that needs no weights
     */
    public Weights find(Backbone backbone, Optional<String> nameOrFile, Arena arena, Consumer<String> remarks)
            throws IOException {
        if (nameOrFile.isPresent() || backbone.about().weights().needed()) {
            return find(backbone, nameOrFile.orElse(backbone.name()), arena, remarks);
        }
        SequencedMap<String, StoredTensor> tensors = new LinkedHashMap<>();
        try (ParameterSet filters =
                ParameterSet.initialize(backbone.parameters(), new SplittableRandom(0), DType.F32, Device.CPU)) {
            for (Parameter filter : filters.all()) {
                StoredTensor view = StoredTensor.of(filter.value());
                MemorySegment copy =
                        arena.allocate(view.data().byteSize(), Long.BYTES).copyFrom(view.data());
                tensors.put(filter.name(), new StoredTensor(view.type(), view.shape(), copy));
            }
        }
        String fingerprint = Weights.fingerprint(tensors, Optional.empty());
        return new Weights(
                backbone.name(),
                tensors,
                backbone.preprocessing(),
                new Provenance(fingerprint, "fixed filters", "none", "none"));
    }

    /** Opens weights given as a file of any supported format or as a name in this store. */
    public Weights find(Backbone backbone, String nameOrFile, Arena arena, Consumer<String> remarks)
            throws IOException {
        return isFile(nameOrFile)
                ? Weights.read(ExpectedParameters.of(backbone), Weights.Source.of(Path.of(nameOrFile)), arena, remarks)
                : open(name(nameOrFile), arena, remarks);
    }

    public static boolean isOnnx(String text) {
        return text.toLowerCase(Locale.ROOT).endsWith(ONNX);
    }

    /** Returns whether a text is a path rather than a name, whether the file exists or not. */
    private static boolean isFile(String text) {
        return text.contains("/")
                || text.contains(File.separator)
                || ENDINGS.stream().anyMatch(text.toLowerCase(Locale.ROOT)::endsWith)
                || Files.isRegularFile(Path.of(text));
    }

    /** Returns the provenance of weights from the file's metadata, without reading the tensors. */
    public Provenance provenance(WeightName name) throws IOException {
        try (Arena arena = Arena.ofShared()) {
            return opened(name, arena, _ -> {}).provenance(Provenance.UNKNOWN);
        }
    }

    /** File of the store with its converted weights. */
    private record Opened(TensorFile file, ExpectedParameters expected, WeightConversion conversion) {
        /** Returns the provenance in the file, else that of a file of the user with this fingerprint. */
        Provenance provenance(String fingerprint) {
            return Provenance.of(file)
                    .orElseGet(() -> new Provenance(
                            fingerprint,
                            String.valueOf(file.path().getFileName()),
                            Provenance.UNKNOWN,
                            conversion.licence()));
        }

        /** Returns the provenance after comparing its fingerprint with the tensors, which reads the whole file. */
        Provenance verified() throws TensorFileException {
            String found = Weights.fingerprint(conversion.tensors(), expected.definition());
            Provenance provenance = provenance(found);
            if (!provenance.fingerprint().equals(found)) {
                throw new TensorFileException(
                        file.path(),
                        "expected the fingerprint %s of the import, found %s: the file was changed; import it again"
                                .formatted(provenance.fingerprint(), found));
            }
            return provenance;
        }
    }

    private Opened opened(WeightName name, Arena arena, Consumer<String> remarks) throws IOException {
        if (!holds(name) && !isBundled(name)) {
            throw missing(name);
        }
        TensorFile file =
                isBundled(name) ? BundledWeights.read(name.text(), arena) : WeightFile.read(file(name), arena, remarks);
        ExpectedParameters expected = ExpectedParameters.of(backbone(name));
        return new Opened(file, expected, WeightConversion.of(file, expected, false));
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
        ExpectedParameters expected = ExpectedParameters.of(architecture);
        List<String> files = Naming.known(expected).stream()
                .map(naming -> naming.publisher().file())
                .toList();
        return files.size() > 1
                ? String.join(", ", files.subList(0, files.size() - 1)) + " or " + files.getLast()
                : files.getFirst() + " with tensors such as "
                        + expected.parameters().firstEntry().getKey() + ", from "
                        + Backbone.of(architecture).about().weights().source();
    }

    /** Imports a weight file into the store atomically, replacing weights of the same name. */
    public Path importFile(WeightName name, Path source, Consumer<String> remarks) throws IOException {
        return importFile(name, ExpectedParameters.of(name.architecture()), Weights.Source.of(source), remarks);
    }

    Path importFile(WeightName name, ExpectedParameters expected, Weights.Source source, Consumer<String> remarks)
            throws IOException {
        try (Arena arena = Arena.ofShared()) {
            return write(name.text(), Weights.read(expected, source, arena, remarks), expected.definition());
        }
    }

    private Path write(String name, Weights weights, Optional<String> definition) throws IOException {
        create(folder);
        Path target = file(name);
        Map<String, String> metadata = new TreeMap<>(weights.provenance().metadata());
        metadata.put("format", "pt"); // what other readers of safetensors look for
        metadata.put(Provenance.ARCHITECTURE, weights.architecture());
        metadata.put(InputSpec.KEY, weights.preprocessing().text());
        definition.ifPresent(text -> metadata.put(NETWORK, text));
        Safetensors.write(target, weights.tensors(), metadata);
        return target;
    }

    /**
     * Installs a network with its weights atomically, replacing weights of the same name.
     *
     * @param tensors weights under the network's names; others are ignored
     */
    public Path install(
            String name,
            Backbone backbone,
            SequencedMap<String, StoredTensor> tensors,
            Preprocessing preprocessing,
            Weights.Source source,
            Consumer<String> remarks)
            throws IOException {
        ExpectedParameters expected = ExpectedParameters.of(backbone);
        SequencedMap<String, StoredTensor> needed = new LinkedHashMap<>(tensors);
        needed.keySet().retainAll(expected.parameters().keySet());
        SequencedMap<String, String> metadata = new LinkedHashMap<>();
        metadata.put(InputSpec.KEY, preprocessing.text());
        TensorFile content = new TensorFile(source.path(), needed, metadata);
        Weights weights = Weights.of(content, expected, source, remarks);
        return write(name, weights, expected.definition());
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
     */
    public List<String> verify(WeightName name) throws IOException {
        try (Arena arena = Arena.ofShared()) {
            Opened opened = opened(name, arena, _ -> {});
            if (isBundled(name)) {
                return List.of(); // reading compared the checksum
            }
            if (Provenance.of(opened.file).isEmpty()) {
                return List.of("the file has no fingerprint to compare with, because it was not written by this"
                        + " program: import it under this name");
            }
            opened.verified();
            return List.of();
        } catch (TensorFileException e) {
            return List.of(String.valueOf(e.getMessage()));
        }
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
                    .flatMap(this::parsed)
                    .toList();
        }
    }

    /** Returns the sorted names of all weights that can be opened: those in the store and {@link BundledWeights}. */
    public List<WeightName> available() throws IOException {
        Stream<WeightName> bundled =
                BundledWeights.names().stream().flatMap(this::parsed).filter(this::isBundled);
        return Stream.concat(names().stream(), bundled)
                .sorted(Comparator.comparing(WeightName::text))
                .toList();
    }

    private Stream<WeightName> parsed(String text) {
        try {
            return Stream.of(name(text));
        } catch (IllegalArgumentException e) {
            return Stream.empty();
        }
    }
}
