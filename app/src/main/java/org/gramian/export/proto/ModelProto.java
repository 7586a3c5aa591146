package org.gramian.export.proto;

import com.google.protobuf.CodedOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * ONNX's {@code ModelProto}: a file.
 *
 * <p>Field numbers are those of {@code onnx.proto3}; the version of the format follows from that of the operators, as the
 * table of ONNX's releases has it.
 *
 * @param graph what is computed
 * @param opset version of the standard operators
 * @param metadata text by key
 */
public record ModelProto(GraphProto graph, int opset, Map<String, String> metadata) {
    /** The oldest operators in which everything here can be said: sums take their axes as an input from 13 on. */
    public static final int OLDEST_OPSET = 13;

    /** The newest that was tried. */
    public static final int NEWEST_OPSET = 21;

    /** Protocol buffers count in 31 bits. */
    public static final long MOST_BYTES = Integer.MAX_VALUE;

    private static final String PRODUCER = "gramian";
    private static final int IR_VERSION = 1;
    private static final int PRODUCER_NAME = 2;
    private static final int GRAPH = 7;
    private static final int OPSET_IMPORT = 8;
    private static final int METADATA_PROPS = 14;
    private static final int OPSET_VERSION = 2;
    private static final int KEY = 1;
    private static final int VALUE = 2;

    /** @throws IllegalArgumentException if the operators are older or newer than those known here */
    public ModelProto {
        metadata = new LinkedHashMap<>(metadata);
        if (opset < OLDEST_OPSET || opset > NEWEST_OPSET) {
            throw new IllegalArgumentException(
                    "expected an ONNX operator set from " + OLDEST_OPSET + " to " + NEWEST_OPSET + ", found " + opset);
        }
    }

    private int format() {
        return opset < 15 ? 7 : opset < 19 ? 8 : opset < 21 ? 9 : 10;
    }

    private Message message() {
        Message message = new Message().whole(IR_VERSION, format()).text(PRODUCER_NAME, PRODUCER);
        message.nested(GRAPH, graph.message());
        message.nested(OPSET_IMPORT, new Message().whole(OPSET_VERSION, opset));
        metadata.forEach((key, value) ->
                message.nested(METADATA_PROPS, new Message().text(KEY, key).text(VALUE, value)));
        return message;
    }

    /**
     * Writes the file.
     *
     * @throws IllegalArgumentException if it would have more bytes than the format allows
     */
    public void write(OutputStream stream) throws IOException {
        Message message = message();
        if (message.size() > MOST_BYTES) {
            throw new IllegalArgumentException("expected at most 2 GiB for an ONNX file, found "
                    + message.size()
                    + " bytes; train with a smaller descriptor, e.g. with conv:256 or spd:128, or with fewer"
                    + " classes");
        }
        CodedOutputStream out = CodedOutputStream.newInstance(stream, 1 << 16);
        message.write(out);
        out.flush();
    }
}
