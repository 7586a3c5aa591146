package org.gramian.export.proto;

import com.google.protobuf.CodedInputStream;
import com.google.protobuf.InvalidProtocolBufferException;
import com.google.protobuf.WireFormat;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import org.gramian.basis.QuotedText;

/**
 * Scan of an ONNX file for metadata and operators, without loading its tensors.
 *
 * <p>It refuses what an exported file never has before a runtime opens it: external data, functions, and too many texts or
 * nodes.
 */
public final class OnnxScan {
    /** Bytes of all texts. */
    private static final int MAX_TEXT = 16 << 20;

    private static final int MAX_ENTRIES = 256;
    private static final int MAX_NODES = 100_000;

    private final Map<String, String> metadata = new LinkedHashMap<>();
    private final Set<String> operators = new TreeSet<>();
    private int nodes;
    private int text;
    private boolean hasGraph;

    private OnnxScan() {}

    /**
     * Scans a file.
     *
     * @throws IOException if it cannot be read or is not ONNX
     * @throws IllegalArgumentException if it has parts that no exported file has
     */
    public static OnnxScan of(InputStream stream) throws IOException {
        CodedInputStream in = CodedInputStream.newInstance(stream);
        in.setSizeLimit(Integer.MAX_VALUE);
        OnnxScan scan = new OnnxScan();
        scan.fields(in, scan::ofModel);
        if (!scan.hasGraph) {
            throw new InvalidProtocolBufferException("it has no graph");
        }
        return scan;
    }

    /** Returns text by key. */
    public Map<String, String> metadata() {
        return metadata;
    }

    /** Returns the operators, non-standard ones as {@code domain:name}. */
    public Set<String> operators() {
        return operators;
    }

    /** Reads a field, or returns false to skip it. */
    @FunctionalInterface
    private interface Reader {
        boolean read(int field, CodedInputStream in) throws IOException;
    }

    /** Reads the length-delimited fields of a message and skips others. */
    private void fields(CodedInputStream in, Reader reader) throws IOException {
        for (int tag = in.readTag(); tag != 0; tag = in.readTag()) {
            boolean delimited = WireFormat.getTagWireType(tag) == WireFormat.WIRETYPE_LENGTH_DELIMITED;
            if (!delimited || !reader.read(WireFormat.getTagFieldNumber(tag), in)) {
                in.skipField(tag);
            }
        }
    }

    private boolean nested(CodedInputStream in, Reader reader) throws IOException {
        int length = in.readRawVarint32();
        int outer = in.pushLimit(length);
        fields(in, reader);
        in.checkLastTagWas(0);
        in.popLimit(outer);
        return true;
    }

    private boolean ofModel(int field, CodedInputStream in) throws IOException {
        return switch (field) {
            case 7 -> {
                hasGraph = true;
                yield nested(in, this::ofGraph);
            }
            case 14 -> entry(in);
            case 20, 25 ->
                throw new IllegalArgumentException("expected no functions and no training steps, found some");
            default -> false;
        };
    }

    private boolean entry(CodedInputStream in) throws IOException {
        String[] pair = {"", ""};
        nested(in, (field, part) -> {
            if (field > 2) {
                return false;
            }
            pair[field - 1] = text(part);
            return true;
        });
        if (metadata.size() == MAX_ENTRIES) {
            throw new IllegalArgumentException("expected at most " + MAX_ENTRIES + " metadata entries, found more");
        }
        if (metadata.put(pair[0], pair[1]) != null) {
            throw new IllegalArgumentException(
                    "expected every metadata key once, found " + QuotedText.bare(pair[0]) + " twice");
        }
        return true;
    }

    private boolean ofGraph(int field, CodedInputStream in) throws IOException {
        return switch (field) {
            case 1 -> node(in);
            case 5 -> nested(in, OnnxScan::ofConstant);
            case 15 -> throw new IllegalArgumentException("expected no sparse constants, found some");
            default -> false;
        };
    }

    private boolean node(CodedInputStream in) throws IOException {
        if (++nodes > MAX_NODES) {
            throw new IllegalArgumentException("expected at most " + MAX_NODES + " operators, found more");
        }
        String[] names = {"", ""};
        nested(in, (field, part) -> {
            if (field != 4 && field != 7) {
                return false;
            }
            names[field == 4 ? 0 : 1] = text(part);
            return true;
        });
        boolean standard = names[1].isEmpty() || names[1].equals("ai.onnx");
        operators.add(QuotedText.bare(standard ? names[0] : names[1] + ":" + names[0]));
        return true;
    }

    private static boolean ofConstant(int field, CodedInputStream in) {
        if (field == 13) {
            throw new IllegalArgumentException("expected all tensors in one file, found external data");
        }
        return false;
    }

    private String text(CodedInputStream in) throws IOException {
        int length = in.readRawVarint32();
        if (length < 0 || (text += length) > MAX_TEXT || text < 0) {
            throw new IllegalArgumentException("expected at most " + MAX_TEXT + " bytes of text, found more");
        }
        int outer = in.pushLimit(length);
        byte[] bytes = in.readRawBytes(length);
        in.popLimit(outer);
        return new String(bytes, StandardCharsets.UTF_8);
    }
}
