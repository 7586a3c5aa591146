package org.gramian.export;

import com.google.protobuf.InvalidProtocolBufferException;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import org.gramian.basis.AtomicFile;
import org.gramian.export.graph.ModelGraph;
import org.gramian.export.proto.OnnxProto;
import org.gramian.export.proto.OnnxScan;
import org.gramian.model.Model;
import org.gramian.model.ModelCard;
import org.gramian.model.ModelFileException;
import org.gramian.model.ModelHeader;

/**
 * A model and its card as one ONNX file, for every runtime of that format.
 *
 * <p>What it computes is in {@link ModelGraph}. The metadata hold all that a model file of this program says besides its
 * numbers, under the same keys with {@code gramian.} before them. Equal models give equal bytes.
 *
 * <p>Nothing is believed: a file is read only if its metadata are a model's, and it has no operator other than those that are
 * written here; what runs a file, looks at it first.
 */
public final class OnnxFile {
    /** How names of such files end. */
    public static final String SUFFIX = ".onnx";

    /** The operators that are written unless told otherwise: every runtime of the last years has them. */
    public static final int DEFAULT_OPSET = 17;

    /** Before every key of the metadata that is ours. */
    public static final String PREFIX = "gramian.";

    private OnnxFile() {}

    /** Whether a path has the name of an ONNX file. */
    public static boolean isNamed(Path path) {
        return path.toString().toLowerCase(Locale.ROOT).endsWith(SUFFIX);
    }

    /** Looks at a file before it gets its name, and throws to keep it from that. */
    @FunctionalInterface
    public interface Inspection {
        void look(Path file) throws IOException;
    }

    /**
     * Writes or replaces a file, whole or not at all.
     *
     * @param opset version of ONNX's standard operators
     * @throws IllegalArgumentException if the model cannot be expressed, or is too large for the format
     */
    public static void write(Path path, Model model, ModelCard card, int opset) throws IOException {
        write(path, proto(model, card, opset), _ -> {});
    }

    /** The content of a file; the model must stay open until it is written. */
    public static OnnxProto.Model proto(Model model, ModelCard card, int opset) {
        Map<String, String> metadata = new LinkedHashMap<>();
        ModelHeader.of(model, card).texts().forEach((key, text) -> metadata.put(PREFIX + key, text));
        return new OnnxProto.Model(ModelGraph.of(model, card), opset, metadata);
    }

    /** Writes a file that appears under its name only if an inspection lets it pass; what was there before stays otherwise. */
    public static void write(Path path, OnnxProto.Model content, Inspection inspection) throws IOException {
        AtomicFile.put(
                path,
                partial -> {
                    try (OutputStream stream = Files.newOutputStream(partial, StandardOpenOption.CREATE_NEW)) {
                        content.write(stream);
                    }
                },
                inspection::look);
    }

    /**
     * Reads what a file says of its model, after a look at all of it.
     *
     * @throws ModelFileException if it is no model of this program; the message says what was expected, found and what to try
     */
    public static ModelHeader header(Path path) throws ModelFileException {
        OnnxScan scan = scan(path);
        Map<String, String> texts = new LinkedHashMap<>();
        scan.metadata().forEach((key, text) -> {
            if (key.startsWith(PREFIX)) {
                texts.put(key.substring(PREFIX.length()), text);
            }
        });
        if (texts.isEmpty()) {
            throw new ModelFileException(
                    path, "expected an ONNX file written by 'gramian export', found one without its metadata");
        }
        Set<String> unknown = new TreeSet<>(scan.operators());
        unknown.removeAll(OnnxProto.OPERATORS);
        if (!unknown.isEmpty()) {
            throw new ModelFileException(
                    path,
                    "expected the operators that 'gramian export' writes, found "
                            + String.join(", ", unknown.stream().limit(5).toList())
                            + "; another program changed the file; export the model again");
        }
        try {
            return ModelHeader.of(texts);
        } catch (IllegalArgumentException | ArithmeticException wrong) {
            throw new ModelFileException(path, String.valueOf(wrong.getMessage()), wrong);
        }
    }

    private static OnnxScan scan(Path path) throws ModelFileException {
        try (InputStream stream = Files.newInputStream(path)) {
            return OnnxScan.of(stream);
        } catch (NoSuchFileException missing) {
            throw new ModelFileException(path, "no such file; expected one written by 'gramian export'", missing);
        } catch (InvalidProtocolBufferException wrong) {
            throw new ModelFileException(
                    path,
                    "expected an ONNX file, found a truncated, damaged or different file; export the model again, and"
                            + " copy the whole file",
                    wrong);
        } catch (IllegalArgumentException wrong) {
            throw new ModelFileException(
                    path,
                    "expected an ONNX file written by 'gramian export': " + wrong.getMessage()
                            + "; export the model again",
                    wrong);
        } catch (IOException wrong) {
            throw new ModelFileException(path, "cannot be read: " + AtomicFile.reason(wrong), wrong);
        }
    }
}
