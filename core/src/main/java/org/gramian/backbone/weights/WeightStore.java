package org.gramian.backbone.weights;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.util.List;
import java.util.function.Consumer;
import java.util.stream.Stream;
import org.gramian.backbone.Backbone;
import org.gramian.backbone.weights.format.WeightFile;
import org.gramian.tensor.file.Safetensors;
import org.gramian.tensor.file.TensorFileException;
import org.gramian.tensor.library.CacheFolder;

/**
 * The folder of weights that are ready for use: {@code NAME.safetensors} under this program's names, with what they expect
 * of pictures and where they came from in the metadata.
 *
 * @param folder it need not exist yet
 */
public record WeightStore(Path folder) {
    /** The environment variable that names the folder. */
    public static final String VARIABLE = "GRAMIAN_WEIGHTS";

    private static final String ENDING = ".safetensors";

    /** {@value #VARIABLE}, else {@code weights} in the program's cache folder. */
    public static WeightStore ofProcess() {
        String own = System.getenv(VARIABLE);
        if (own == null || own.isBlank()) {
            return new WeightStore(CacheFolder.ofProcess().resolve("weights"));
        }
        try {
            return new WeightStore(Path.of(own));
        } catch (InvalidPathException e) {
            throw new IllegalArgumentException(VARIABLE + " is expected to name a folder, found '" + own + "'", e);
        }
    }

    /** Where weights of a name lie, or would. */
    public Path file(WeightName name) {
        return folder.resolve(name.text() + ENDING);
    }

    /** Whether there are weights of a name. */
    public boolean holds(WeightName name) {
        return Files.isRegularFile(file(name));
    }

    /**
     * Opens weights for use; their fingerprint is the one noted when they were imported, so that this is quick.
     *
     * @throws MissingWeightsException if there are none of that name; the message says how to get them
     * @throws IOException if the file is damaged, or not of the network
     */
    public Weights open(WeightName name, Arena arena) throws IOException {
        if (!holds(name)) {
            throw missing(name);
        }
        WeightFile file = WeightFile.read(file(name), arena);
        Conversion conversion = Conversion.of(file, Blueprint.of(name.architecture()), arena);
        Provenance provenance = StoredMetadata.provenance(file)
                .orElseGet(() -> new Provenance(
                        Fingerprint.of(conversion.tensors()),
                        file(name).getFileName().toString(),
                        Provenance.UNKNOWN,
                        StoredMetadata.licence(file).orElse(Weights.UNSTATED)));
        return new Weights(name.architecture(), conversion.tensors(), conversion.preprocessing(), provenance);
    }

    private MissingWeightsException missing(WeightName name) {
        String download = PublicFile.of(name.text())
                .map(known -> "run 'gramian weights get %s' to download %s (%.0f MiB), or "
                        .formatted(name, known.file(), known.mebibytes()))
                .orElse("");
        return new MissingWeightsException(
                "there are no weights '%s' in %s: %srun 'gramian weights import %s FILE' with %s"
                        .formatted(name, folder, download, name, importable(name.architecture())));
    }

    /** What kind of file {@link #importFile} takes for a network. */
    public static String importable(String architecture) {
        return switch (architecture) {
            case "vgg16", "vgg19" -> "torchvision's .pth, Keras' .h5, the authors' .caffemodel or a .safetensors file";
            case "resnet18", "resnet50" -> "torchvision's .pth or a .safetensors file";
            case "squeezenet" -> "squeezenet_v1.1.caffemodel, torchvision's .pth or a .safetensors file";
            case "googlenet" -> "bvlc_googlenet.caffemodel of the BVLC Caffe model zoo or a .safetensors file";
            default ->
                "a .safetensors file with tensors such as "
                        + Blueprint.of(architecture).parameters().firstEntry().getKey() + ", from "
                        + Backbone.of(architecture).about().weights().source();
        };
    }

    /**
     * Puts the weights of a file into the store, in one atomic step, in place of those of that name.
     *
     * @param remarks told what was left out, is absent or had to be assumed, one sentence each
     * @return the file in the store
     */
    public Path importFile(WeightName name, Path source, Consumer<String> remarks) throws IOException {
        return importFile(name, Blueprint.of(name.architecture()), source, remarks);
    }

    Path importFile(WeightName name, Blueprint blueprint, Path source, Consumer<String> remarks) throws IOException {
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
            throw new TensorFileException(folder, "the folder of weights cannot be made: " + e.getMessage(), e);
        }
    }

    /**
     * Reads weights completely and compares them with the fingerprint that was noted when they were imported.
     *
     * @return what is wrong, one sentence each; empty if all is well
     * @throws MissingWeightsException if there are none of that name
     */
    public List<String> verify(WeightName name) throws IOException {
        if (!holds(name)) {
            throw missing(name);
        }
        try (Arena arena = Arena.ofShared()) {
            WeightFile file = WeightFile.read(file(name), arena);
            Conversion conversion = Conversion.of(file, Blueprint.of(name.architecture()), arena);
            return StoredMetadata.provenance(file)
                    .map(noted -> compare(noted.fingerprint(), Fingerprint.of(conversion.tensors())))
                    .orElse(List.of("the file holds no fingerprint to compare with, for it was not written by this"
                            + " program: import it under this name"));
        } catch (TensorFileException e) {
            return List.of(String.valueOf(e.getMessage()));
        }
    }

    private static List<String> compare(String noted, String found) {
        return noted.equals(found)
                ? List.of()
                : List.of(
                        "the fingerprint noted when they were imported is %s, that of the numbers now is %s: the file was changed"
                                .formatted(noted, found));
    }

    /** The names of all weights in the store, sorted; files of other names are not weights. */
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
}
