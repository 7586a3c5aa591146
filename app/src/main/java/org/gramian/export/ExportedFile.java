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
import java.util.Set;
import java.util.TreeSet;
import org.gramian.backbone.onnx.OnnxWriter;
import org.gramian.basis.AtomicFile;
import org.gramian.basis.Protobuf;
import org.gramian.basis.QuotedText;
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
 * ONNX file of a model and its card. {@link ModelGraph} describes inputs and outputs.
 *
 * <p>The metadata are those of a model file, with the prefix {@code gramian.}. Equal models give equal bytes. A file is read only
 * if it has these metadata, no operators other than the exported ones, no external data and no functions.
 */
public final class ExportedFile {
    /** File extension. */
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
     * Returns the content of a file; the model must stay open until it is written.
     *
     * @param opset version of ONNX's standard operators
     * @throws IllegalArgumentException if the model cannot be expressed, or the operator set is not supported
     */
    public static Protobuf.Writer content(Model model, ModelCard card, int opset) {
        return content(ModelFile.Content.of(model, card), card.crops().size(), opset);
    }

    /**
     * Returns the content of a file; the tensors must stay readable until it is written.
     *
     * @param side height and width of the images
     */
    static Protobuf.Writer content(ModelFile.Content model, int side, int opset) {
        if (opset < OLDEST_OPSET || opset > NEWEST_OPSET) {
            throw new IllegalArgumentException(
                    "expected an ONNX operator set from " + OLDEST_OPSET + " to " + NEWEST_OPSET + ", found " + opset);
        }
        Map<String, String> metadata = new LinkedHashMap<>();
        model.header().texts().forEach((key, text) -> metadata.put(PREFIX + key, text));
        return requireSize(OnnxWriter.model(ModelGraph.of(model, side), opset, metadata));
    }

    private static Protobuf.Writer requireSize(Protobuf.Writer content) {
        if (content.size() > MAX_BYTES) {
            throw new NotExpressibleException("expected at most 2 GiB for an ONNX file, found " + content.size()
                    + " bytes; train with a smaller descriptor, e.g. with conv:256 or spd:128, or with fewer classes");
        }
        return content;
    }

    /** Writes or replaces a file atomically. */
    public static void write(Path path, Model model, ModelCard card, int opset) throws IOException {
        write(path, content(model, card, opset), _ -> {});
    }

    /** Writes or replaces a file atomically, unless the inspection throws. */
    public static void write(Path path, Protobuf.Writer content, Inspection inspection) throws IOException {
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
     * Checks a file and reads its header, without loading its tensors.
     *
     * @throws ModelFileException if it was not written by 'gramian export'
     */
    public static ModelHeader header(Path path) throws ModelFileException {
        Scan scan = new Scan();
        try (Arena arena = Arena.ofConfined();
                InputFile file = InputFile.open(path)) {
            scan.model(new Protobuf.Reader(file.map(0, arena)));
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
        Map<String, String> texts = new LinkedHashMap<>();
        scan.metadata.forEach((key, text) -> {
            if (key.startsWith(PREFIX)) {
                texts.put(key.substring(PREFIX.length()), text);
            }
        });
        if (texts.isEmpty()) {
            throw new ModelFileException(
                    path, "expected an ONNX file written by 'gramian export', found one without its metadata");
        }
        scan.operators.removeAll(ModelGraph.OPERATORS);
        if (!scan.operators.isEmpty()) {
            throw new ModelFileException(
                    path,
                    "expected the operators that 'gramian export' writes, found "
                            + String.join(", ", scan.operators.stream().limit(5).toList())
                            + "; another program changed the file; export the model again");
        }
        try {
            return ModelHeader.of(texts);
        } catch (IllegalArgumentException | ArithmeticException wrong) {
            throw new ModelFileException(path, String.valueOf(wrong.getMessage()), wrong);
        }
    }

    /** Metadata and operators of a file; refuses what an exported file never has before a runtime opens it. */
    private static final class Scan {
        private final Map<String, String> metadata = new LinkedHashMap<>();
        private final Set<String> operators = new TreeSet<>();
        private int nodes;
        private int textBytes;

        void model(Protobuf.Reader message) {
            boolean hasGraph = false;
            while (message.next()) {
                switch (message.field()) {
                    case 7 -> {
                        hasGraph = true;
                        graph(message.message());
                    }
                    case 14 -> entry(message.message());
                    case 20, 25 ->
                        throw new IllegalArgumentException("expected no functions and no training steps, found some");
                    default -> {}
                }
            }
            if (!hasGraph) {
                throw new IllegalArgumentException("it has no graph");
            }
        }

        private void graph(Protobuf.Reader message) {
            while (message.next()) {
                switch (message.field()) {
                    case 1 -> node(message.message());
                    case 5 -> constant(message.message());
                    case 15 -> throw new IllegalArgumentException("expected no sparse constants, found some");
                    default -> {}
                }
            }
        }

        private void node(Protobuf.Reader message) {
            if (++nodes > MAX_NODES) {
                throw new IllegalArgumentException("expected at most " + MAX_NODES + " operators, found more");
            }
            String operator = "";
            String domain = "";
            while (message.next()) {
                switch (message.field()) {
                    case 4 -> operator = text(message);
                    case 7 -> domain = text(message);
                    default -> {}
                }
            }
            boolean standard = domain.isEmpty() || domain.equals("ai.onnx");
            operators.add(QuotedText.bare(standard ? operator : domain + ":" + operator));
        }

        private static void constant(Protobuf.Reader message) {
            while (message.next()) {
                if (message.field() == 13) {
                    throw new IllegalArgumentException("expected all tensors in one file, found external data");
                }
            }
        }

        private void entry(Protobuf.Reader message) {
            String key = "";
            String value = "";
            while (message.next()) {
                switch (message.field()) {
                    case 1 -> key = text(message);
                    case 2 -> value = text(message);
                    default -> {}
                }
            }
            if (metadata.size() == MAX_ENTRIES) {
                throw new IllegalArgumentException("expected at most " + MAX_ENTRIES + " metadata entries, found more");
            }
            if (metadata.put(key, value) != null) {
                throw new IllegalArgumentException(
                        "expected every metadata key once, found " + QuotedText.bare(key) + " twice");
            }
        }

        private String text(Protobuf.Reader message) {
            String text = message.text(MAX_TEXT - textBytes);
            textBytes += (int) message.bytes().byteSize();
            return text;
        }
    }
}
