package org.gramian.export;

import java.io.IOException;
import java.io.OutputStream;
import java.lang.foreign.Arena;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;
import org.gramian.anomaly.DetectorNetwork;
import org.gramian.backbone.onnx.OnnxWriter;
import org.gramian.basis.AtomicFile;
import org.gramian.basis.Protobuf;
import org.gramian.basis.QuotedText;
import org.gramian.export.graph.DetectorGraph;
import org.gramian.export.graph.ModelGraph;
import org.gramian.export.graph.NotExpressibleException;
import org.gramian.model.Model;
import org.gramian.model.ModelCard;
import org.gramian.model.ModelFile;
import org.gramian.model.ModelFileException;
import org.gramian.model.ModelHeader;
import org.gramian.tensor.file.InputFile;
import org.gramian.tensor.file.TensorFileException;

/**
 * ONNX file of a model and its card. {@link ModelGraph} and {@link DetectorGraph} describe inputs and outputs.
 *
 * <p>The metadata are those of a model file, with the prefix {@code gramian.}. Equal models give equal bytes. A file is read only
 * if it has these metadata, no operators other than the exported ones, no external data and no functions.
 */
public final class ExportedFile {
    public static final String SUFFIX = ".onnx";

    /** The default operator set, which all runtimes of the last years support. */
    public static final int DEFAULT_OPSET = 17;

    /** The oldest supported operator set: from 13 on, sums take their axes as an input. */
    public static final int OLDEST_OPSET = 13;

    /** The newest tested operator set. */
    public static final int NEWEST_OPSET = 21;

    private static final String PREFIX = "gramian.";
    private static final long MAX_BYTES = Integer.MAX_VALUE; // limit of protocol buffers
    private static final int MAX_TEXT = 16 << 20;
    private static final int MAX_ENTRIES = 256;
    private static final int MAX_NODES = 100_000;

    private ExportedFile() {}

    public static boolean isNamed(Path path) {
        return path.toString().toLowerCase(Locale.ROOT).endsWith(SUFFIX);
    }

    /** Returns the content of a file; the model must stay open until it is written. */
    public static Protobuf.Writer content(Model model, ModelCard card, int opset) {
        return content(ModelFile.Content.of(model, card), card.crops().size(), opset);
    }

    /** Returns the content of a file; the tensors must stay readable until it is written. */
    static Protobuf.Writer content(ModelFile.Content model, int side, int opset) {
        return content(ModelGraph.of(model, side), model.header().texts(), opset);
    }

    /** Returns the content of a file with {@link DetectorGraph}; the tensors must stay readable until it is written. */
    public static Protobuf.Writer content(DetectorNetwork network, int opset) {
        return content(DetectorGraph.of(network), network.metadata(), opset);
    }

    private static Protobuf.Writer content(Protobuf.Writer graph, Map<String, String> texts, int opset) {
        if (opset < OLDEST_OPSET || opset > NEWEST_OPSET) {
            throw new IllegalArgumentException(
                    "expected an ONNX operator set from " + OLDEST_OPSET + " to " + NEWEST_OPSET + ", found " + opset);
        }
        Map<String, String> metadata = new LinkedHashMap<>();
        texts.forEach((key, text) -> metadata.put(PREFIX + key, text));
        return requireSize(OnnxWriter.model(graph, opset, metadata));
    }

    private static Protobuf.Writer requireSize(Protobuf.Writer content) {
        if (content.size() > MAX_BYTES) {
            throw new NotExpressibleException("expected at most 2 GiB for an ONNX file, found " + content.size()
                    + " bytes; train with a smaller descriptor, e.g. with conv:256 or spd:128, or with fewer classes");
        }
        return content;
    }

    /** Writes or replaces a file atomically, unless the inspection throws. */
    public static void write(Path path, Protobuf.Writer content, AtomicFile.Making inspection) throws IOException {
        AtomicFile.put(
                path,
                partial -> {
                    try (OutputStream stream = Files.newOutputStream(partial, StandardOpenOption.CREATE_NEW)) {
                        content.write(stream);
                    }
                },
                inspection);
    }

    /** Checks a file and reads its header, without loading its tensors. */
    public static ModelHeader header(Path path) throws ModelFileException {
        Map<String, String> texts = metadata(path);
        try {
            if (DetectorNetwork.isDetector(texts)) {
                throw new IllegalArgumentException("this is a detector, not a classifier; use it by 'gramian predict',"
                        + " 'gramian serve' or OpenDetector");
            }
            return ModelHeader.of(texts);
        } catch (IllegalArgumentException | ArithmeticException wrong) {
            throw new ModelFileException(path, String.valueOf(wrong.getMessage()), wrong);
        }
    }

    /** Checks a file and returns its metadata without their prefix. */
    static Map<String, String> metadata(Path path) throws ModelFileException {
        try (Arena arena = Arena.ofConfined();
                InputFile file = InputFile.open(path)) {
            return metadata(new Protobuf.Message(file.map(0, arena)));
        } catch (TensorFileException unreadable) {
            String problem = String.valueOf(unreadable.getMessage()).substring((path + ": ").length());
            throw new ModelFileException(path, problem, unreadable);
        } catch (IllegalArgumentException wrong) {
            throw new ModelFileException(
                    path,
                    "expected an ONNX file written by 'gramian export': " + wrong.getMessage()
                            + "; export the model again, and copy the whole file",
                    wrong);
        }
    }

    /** Returns Gramian's metadata of a file; refuses what an exported file never has before a runtime opens it. */
    private static Map<String, String> metadata(Protobuf.Message model) {
        require(!model.has(20) && !model.has(25), "expected no functions and no training steps, found some");
        require(model.has(7), "it has no graph");
        model.messages(7).forEach(ExportedFile::requireExported);
        require(model.count(14) <= MAX_ENTRIES, "expected at most " + MAX_ENTRIES + " metadata entries, found more");
        long bytes =
                model.messages(14).mapToLong(entry -> entry.bytes(2).byteSize()).sum();
        require(bytes <= MAX_TEXT, "expected metadata of at most " + MAX_TEXT + " bytes, found " + bytes);
        Map<String, String> texts = new LinkedHashMap<>();
        model.messages(14).filter(entry -> entry.text(1).startsWith(PREFIX)).forEach(entry -> {
            String key = entry.text(1).substring(PREFIX.length());
            require(
                    texts.put(key, entry.text(2, MAX_TEXT)) == null,
                    "expected every metadata key once, found " + QuotedText.bare(PREFIX + key) + " twice");
        });
        require(!texts.isEmpty(), "found none of its metadata");
        return texts;
    }

    private static void requireExported(Protobuf.Message graph) {
        require(graph.count(1) <= MAX_NODES, "expected at most " + MAX_NODES + " operators, found more");
        require(!graph.has(15), "expected no sparse constants, found some");
        graph.messages(5)
                .forEach(tensor -> require(!tensor.has(13), "expected all tensors in one file, found external data"));
        graph.messages(1).forEach(node -> {
            String domain = node.text(7);
            String operator = domain.isEmpty() || domain.equals("ai.onnx") ? node.text(4) : domain + ":" + node.text(4);
            require(
                    ModelGraph.OPERATORS.contains(operator),
                    "found the operator " + QuotedText.bare(operator) + "; another program changed the file");
        });
    }

    private static void require(boolean condition, String problem) {
        if (!condition) {
            throw new IllegalArgumentException(problem);
        }
    }
}
