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
 * ONNX file of a model and its card. {@link ModelGraph} describes inputs and outputs.
 *
 * <p>The metadata are those of a model file, with the prefix {@code gramian.}. Equal models give equal bytes. A file is read only
 * if it has these metadata and no operators other than the exported ones.
 */
public final class OnnxFile {
    /** File extension. */
    public static final String SUFFIX = ".onnx";

    /** The default operator set, which all runtimes of the last years support. */
    public static final int DEFAULT_OPSET = 17;

    /** Prefix of the metadata keys. */
    public static final String PREFIX = "gramian.";

    private OnnxFile() {}

    /** Returns whether a path has the extension of an ONNX file. */
    public static boolean isNamed(Path path) {
        return path.toString().toLowerCase(Locale.ROOT).endsWith(SUFFIX);
    }

    /** Checks a file before it gets its name; throws to discard it. */
    @FunctionalInterface
    public interface Inspection {
        void look(Path file) throws IOException;
    }

    /**
     * Writes or replaces a file atomically.
     *
     * @param opset version of ONNX's standard operators
     * @throws IllegalArgumentException if the model cannot be expressed, or is too large for the format
     */
    public static void write(Path path, Model model, ModelCard card, int opset) throws IOException {
        write(path, proto(model, card, opset), _ -> {});
    }

    /** Returns the content of a file; the model must stay open until it is written. */
    public static OnnxProto.Model proto(Model model, ModelCard card, int opset) {
        Map<String, String> metadata = new LinkedHashMap<>();
        ModelHeader.of(model, card).texts().forEach((key, text) -> metadata.put(PREFIX + key, text));
        return new OnnxProto.Model(ModelGraph.of(model, card), opset, metadata);
    }

    /** Writes or replaces a file atomically, unless the inspection throws. */
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
     * Checks a file and reads its header.
     *
     * @throws ModelFileException if it was not written by 'gramian export'
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
