package org.gramian.backbone.weights.format;

import java.io.ByteArrayOutputStream;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import org.gramian.tensor.DType;

/** Writes pickles by hand, operation by operation, good ones and bad ones. */
final class Pickle {
    private final ByteArrayOutputStream bytes = new ByteArrayOutputStream();

    static Pickle start() {
        return new Pickle().op(0x80).op(2);
    }

    /** Bytes as they are: operations by their letters, or arguments. */
    Pickle op(int... operations) {
        for (int operation : operations) {
            bytes.write(operation);
        }
        return this;
    }

    Pickle text(String text) {
        byte[] utf8 = text.getBytes(StandardCharsets.UTF_8);
        return op('X').number4(utf8.length).raw(utf8);
    }

    Pickle whole(long value) {
        return op('J').number4((int) value);
    }

    Pickle number4(int value) {
        return raw(ByteBuffer.allocate(4)
                .order(ByteOrder.LITTLE_ENDIAN)
                .putInt(value)
                .array());
    }

    Pickle global(String module, String name) {
        return op('c').raw((module + "\n" + name + "\n").getBytes(StandardCharsets.US_ASCII));
    }

    Pickle raw(byte[] more) {
        bytes.writeBytes(more);
        return this;
    }

    Pickle tuple(long... values) {
        op('(');
        for (long value : values) {
            whole(value);
        }
        return op('t');
    }

    Pickle storage(DType type, String key, long elements) {
        String name = type == DType.F64 ? "DoubleStorage" : "FloatStorage";
        op('(').text("storage").global("torch", name).text(key).text("cpu").whole(elements);
        return op('t', 'Q');
    }

    /** A tensor as PyTorch writes it: the function, its arguments, the call. */
    Pickle tensor(Pickle storage, long offset, long[] sizes, long[] strides) {
        global("torch._utils", "_rebuild_tensor_v2").op('(').raw(storage.content());
        whole(offset).tuple(sizes).tuple(strides).op(0x89);
        return global("collections", "OrderedDict").op(')', 'R', 't', 'R');
    }

    /** What was written so far, without an end. */
    byte[] content() {
        return bytes.toByteArray();
    }

    byte[] end() {
        return op('.').content();
    }
}
