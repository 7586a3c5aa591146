package org.gramian.backbone.weights.format;

import com.google.protobuf.CodedInputStream;
import com.google.protobuf.InvalidProtocolBufferException;
import com.google.protobuf.WireFormat;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.gramian.tensor.DType;
import org.gramian.tensor.Shape;
import org.gramian.tensor.file.StoredTensor;
import org.gramian.tensor.file.TensorFileException;
import org.jspecify.annotations.Nullable;

/**
 * Reader of one {@code BlobProto}: {@code 1 num, 2 channels, 3 height, 4 width} or {@code 7 shape { 1 dim }}, and
 * {@code 5 data} (float) or {@code 8 double_data}, packed or not.
 */
final class CaffeBlob {
    private static final int WIDTH = 4;
    private static final int DATA = 5;
    private static final int SHAPE = 7;
    private static final int DOUBLE_DATA = 8;
    private static final int MAX_RANK = 32;
    private static final int CHUNK = 1 << 16;
    /** Enough for 4 GiB without packing. */
    private static final int MAX_PIECES = 1 << 16;

    private final Path path;
    private final MemorySegment file;
    private final long[] legacy = new long[WIDTH];
    private boolean hasLegacy;
    private @Nullable List<Long> shape;
    private @Nullable DType type;
    private final List<MemorySegment> pieces = new ArrayList<>();
    private @Nullable ByteBuffer single;

    CaffeBlob(Path path, MemorySegment file) {
        this.path = path;
        this.file = file;
    }

    /** Reads to the end of the message; contiguous data stays a view of the file. */
    StoredTensor read(CodedInputStream input, Arena arena) throws IOException {
        for (int tag = input.readTag(); tag != 0; tag = input.readTag()) {
            int field = WireFormat.getTagFieldNumber(tag);
            if (field >= 1 && field <= WIDTH) {
                legacy[field - 1] = input.readInt32();
                hasLegacy = true;
            } else if (field == SHAPE) {
                shape(input, tag);
            } else if (field == DATA) {
                data(input, tag, DType.F32);
            } else if (field == DOUBLE_DATA) {
                data(input, tag, DType.F64);
            } else {
                Caffe.skip(input, tag);
            }
        }
        flush();
        return tensor(joined(arena));
    }

    private StoredTensor tensor(MemorySegment data) throws TensorFileException {
        DType found = type == null ? DType.F32 : type;
        try {
            Shape sizes = shape();
            if (sizes.elements() != data.byteSize() / found.bytes()) {
                throw new TensorFileException(
                        path,
                        "expected %d numbers in a blob of shape %s, found %d"
                                .formatted(sizes.elements(), sizes, data.byteSize() / found.bytes()));
            }
            return new StoredTensor(found, sizes, data);
        } catch (IllegalArgumentException e) {
            throw new TensorFileException(path, "a blob's shape is impossible: " + e.getMessage(), e);
        }
    }

    private Shape shape() throws TensorFileException {
        if (shape != null) {
            return Shape.of(shape.stream().mapToLong(Long::longValue).toArray());
        }
        if (!hasLegacy) {
            throw new TensorFileException(path, "expected a shape for every blob, found one without");
        }
        return Shape.of(legacy);
    }

    private void shape(CodedInputStream input, int outer) throws IOException {
        List<Long> sizes = shape == null ? new ArrayList<>() : shape;
        int limit = Caffe.begin(input, outer);
        for (int tag = input.readTag(); tag != 0; tag = input.readTag()) {
            if (WireFormat.getTagFieldNumber(tag) != 1) {
                Caffe.skip(input, tag);
            } else if (WireFormat.getTagWireType(tag) == WireFormat.WIRETYPE_LENGTH_DELIMITED) {
                int packed = Caffe.begin(input, tag);
                while (input.getBytesUntilLimit() > 0) {
                    add(sizes, input.readInt64());
                }
                Caffe.end(input, packed);
            } else {
                add(sizes, input.readInt64());
            }
        }
        Caffe.end(input, limit);
        shape = sizes;
    }

    private static void add(List<Long> sizes, long size) throws InvalidProtocolBufferException {
        if (sizes.size() == MAX_RANK) {
            throw new InvalidProtocolBufferException("a blob has more than " + MAX_RANK + " dimensions");
        }
        sizes.add(size);
    }

    private void data(CodedInputStream input, int tag, DType found) throws IOException {
        if (type != null && type != found) {
            throw new InvalidProtocolBufferException("a blob holds both float32 and float64");
        }
        type = found;
        if (WireFormat.getTagWireType(tag) == WireFormat.WIRETYPE_LENGTH_DELIMITED) {
            flush();
            packed(input, found);
        } else {
            one(input, found);
        }
    }

    private void packed(CodedInputStream input, DType found) throws IOException {
        int length = input.readRawVarint32();
        long start = input.getTotalBytesRead();
        if (length < 0 || length % found.bytes() != 0) {
            throw new InvalidProtocolBufferException("a blob's data is not a whole number of elements");
        }
        input.skipRawBytes(length);
        add(file.asSlice(start, length));
    }

    /** Reads an unpacked element. */
    private void one(CodedInputStream input, DType found) throws IOException {
        if (single == null || single.remaining() < Long.BYTES) {
            flush();
            single = ByteBuffer.allocate(CHUNK).order(ByteOrder.LITTLE_ENDIAN);
        }
        if (found == DType.F32) {
            single.putInt(input.readRawLittleEndian32());
        } else {
            single.putLong(input.readRawLittleEndian64());
        }
    }

    /** Adds the buffered elements as a piece, without the unused rest: a file may hold many small blobs. */
    private void flush() throws InvalidProtocolBufferException {
        if (single != null && single.position() > 0) {
            add(MemorySegment.ofArray(Arrays.copyOf(single.array(), single.position())));
        }
        single = null;
    }

    private void add(MemorySegment piece) throws InvalidProtocolBufferException {
        if (pieces.size() == MAX_PIECES) {
            throw new InvalidProtocolBufferException("a blob is split into more than " + MAX_PIECES + " pieces");
        }
        pieces.add(piece);
    }

    private MemorySegment joined(Arena arena) {
        if (pieces.size() == 1) {
            return pieces.getFirst().asReadOnly();
        }
        MemorySegment all = arena.allocate(
                pieces.stream().mapToLong(MemorySegment::byteSize).sum(), Long.BYTES);
        long position = 0;
        for (MemorySegment piece : pieces) {
            MemorySegment.copy(piece, 0, all, position, piece.byteSize());
            position += piece.byteSize();
        }
        return all.asReadOnly();
    }
}
