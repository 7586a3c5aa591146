package org.gramian.gallery;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import java.util.Map;
import org.gramian.tensor.DType;
import org.gramian.tensor.Shape;
import org.gramian.tensor.file.StoredTensor;

/** Pieces of bytes of different lengths as two tensors: all of them after each other, and where each ends. */
final class Pieces {
    private static final ValueLayout.OfLong LONG = ValueLayout.JAVA_LONG_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);

    private Pieces() {}

    static void put(String name, byte[][] pieces, Map<String, StoredTensor> tensors, Arena arena) {
        long bytes = 0;
        MemorySegment ends = arena.allocate(8L * pieces.length, Long.BYTES);
        for (int i = 0; i < pieces.length; i++) {
            bytes += pieces[i].length;
            ends.set(LONG, 8L * i, bytes);
        }
        MemorySegment all = arena.allocate(bytes);
        long at = 0;
        for (byte[] piece : pieces) {
            MemorySegment.copy(piece, 0, all, ValueLayout.JAVA_BYTE, at, piece.length);
            at += piece.length;
        }
        tensors.put(name + "s", new StoredTensor(DType.U8, Shape.of(bytes), all));
        tensors.put(name + "_ends", new StoredTensor(DType.I64, Shape.of(pieces.length), ends));
    }

    /** @throws IllegalArgumentException if the ends do not divide the bytes into so many pieces */
    static byte[][] get(String name, int count, Map<String, StoredTensor> tensors) {
        StoredTensor stored = tensors.get(name + "s");
        long bytes = stored == null ? 0 : stored.data().byteSize();
        MemorySegment all = tensor(name + "s", DType.U8, Shape.of(bytes), tensors);
        MemorySegment ends = tensor(name + "_ends", DType.I64, Shape.of(count), tensors);
        byte[][] pieces = new byte[count][];
        long begin = 0;
        for (int i = 0; i < count; i++) {
            long end = ends.get(LONG, 8L * i);
            if (end < begin || end > bytes || end - begin > Integer.MAX_VALUE - 8) {
                throw new IllegalArgumentException("expected the end of " + name + " " + i + " to be from " + begin
                        + " to " + bytes + ", found " + end);
            }
            pieces[i] = all.asSlice(begin, end - begin).toArray(ValueLayout.JAVA_BYTE);
            begin = end;
        }
        if (begin != bytes) {
            throw new IllegalArgumentException(
                    "expected the last " + name + " to end at " + bytes + ", found " + begin);
        }
        return pieces;
    }

    /** @throws IllegalArgumentException if there is no such tensor of that type and shape */
    static MemorySegment tensor(String name, DType type, Shape shape, Map<String, StoredTensor> tensors) {
        StoredTensor found = tensors.get(name);
        if (found == null || found.type() != type || !found.shape().equals(shape)) {
            throw new IllegalArgumentException("expected the tensor '" + name + "' to be " + type + shape + ", found "
                    + (found == null ? "none" : found.type().toString() + found.shape()));
        }
        return found.data();
    }
}
