package org.gramian.backbone.weights.format;

import com.google.protobuf.CodedInputStream;
import com.google.protobuf.InvalidProtocolBufferException;
import com.google.protobuf.WireFormat;
import java.io.IOException;
import java.io.InputStream;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.SequencedMap;
import org.gramian.backbone.weights.format.WeightFile.Format;
import org.gramian.basis.QuotedText;
import org.gramian.tensor.file.InputFile;
import org.gramian.tensor.file.StoredTensor;
import org.gramian.tensor.file.TensorFile;
import org.gramian.tensor.file.TensorFileException;

/**
 * Reader of a {@code .caffemodel}, a protocol-buffer message of which only these fields matter:
 *
 * <pre>
 * NetParameter      2 layers (V1LayerParameter)   100 layer (LayerParameter)
 * V1LayerParameter  4 name   6 blobs (BlobProto)
 * LayerParameter    1 name   7 blobs (BlobProto)
 * </pre>
 *
 * The first blob of layer {@code conv1} becomes {@code conv1.weight}, the second {@code conv1.bias}.
 *
 * @see <a href="https://github.com/BVLC/caffe/blob/master/src/caffe/proto/caffe.proto">the message definition</a>
 */
final class Caffe {
    private static final int MAX_BLOBS = 16;
    private static final List<String> PARAMETERS = List.of("weight", "bias");

    private final Path path;
    private final MemorySegment bytes;
    private final Arena arena;
    private final SequencedMap<String, StoredTensor> tensors = new LinkedHashMap<>();

    private Caffe(Path path, MemorySegment bytes, Arena arena) {
        this.path = path;
        this.bytes = bytes;
        this.arena = arena;
    }

    /** Kinds of layers: their field, and the fields of their name and blobs. */
    private enum Layers {
        OLD(2, 4, 6),
        NEW(100, 1, 7);

        private final int field;
        private final int name;
        private final int blobs;

        Layers(int field, int name, int blobs) {
            this.field = field;
            this.name = name;
            this.blobs = blobs;
        }
    }

    static WeightFile read(Path path, Arena arena) throws TensorFileException {
        try (InputFile file = InputFile.open(path)) {
            if (file.size() >= Integer.MAX_VALUE) {
                throw new TensorFileException(
                        path,
                        "expected a Caffe network of less than 2 GiB, the most that a message can hold, found "
                                + file.size() + " bytes");
            }
            return new Caffe(path, file.map(0, arena), arena).network();
        }
    }

    private WeightFile network() throws TensorFileException {
        try {
            // over a stream, which needs no sun.misc.Unsafe; data is skipped, not copied
            CodedInputStream input = CodedInputStream.newInstance(new SegmentStream(bytes));
            input.setSizeLimit(Integer.MAX_VALUE);
            for (int tag = input.readTag(); tag != 0; tag = input.readTag()) {
                int field = WireFormat.getTagFieldNumber(tag);
                if (field == Layers.NEW.field) {
                    layer(input, tag, Layers.NEW);
                } else if (field == Layers.OLD.field) {
                    layer(input, tag, Layers.OLD);
                } else {
                    skip(input, tag);
                }
            }
        } catch (TensorFileException e) {
            throw e;
        } catch (InvalidProtocolBufferException e) {
            throw new TensorFileException(
                    path, "expected a Caffe network, found a damaged or different file: " + e.getMessage(), e);
        } catch (IOException e) {
            throw new TensorFileException(path, "could not be read: " + e.getMessage(), e);
        }
        if (tensors.isEmpty()) {
            throw new TensorFileException(path, "expected a Caffe network with trained layers, found none");
        }
        return new WeightFile(new TensorFile(path, tensors, new LinkedHashMap<>()), Format.CAFFE, List.of());
    }

    private void layer(CodedInputStream input, int outer, Layers kind) throws IOException {
        int limit = begin(input, outer);
        String name = "";
        List<StoredTensor> blobs = new ArrayList<>();
        for (int tag = input.readTag(); tag != 0; tag = input.readTag()) {
            int field = WireFormat.getTagFieldNumber(tag);
            if (field == kind.name) {
                name = input.readStringRequireUtf8();
            } else if (field == kind.blobs) {
                requireFew(name, blobs.size());
                int blob = begin(input, tag);
                blobs.add(new CaffeBlob(path, bytes).read(input, arena));
                end(input, blob);
            } else {
                skip(input, tag);
            }
        }
        end(input, limit);
        keep(name, blobs);
    }

    /** Checks the limits before another blob is read. */
    private void requireFew(String layer, int blobs) throws TensorFileException {
        if (blobs == MAX_BLOBS || tensors.size() + blobs >= FileLimits.ENTRIES) {
            throw new TensorFileException(
                    path,
                    "expected at most %d blobs in a layer and %d in all, found more in layer %s"
                            .formatted(MAX_BLOBS, FileLimits.ENTRIES, QuotedText.text(layer)));
        }
    }

    private void keep(String layer, List<StoredTensor> blobs) throws TensorFileException {
        for (int i = 0; i < blobs.size(); i++) {
            String parameter = i < PARAMETERS.size() ? PARAMETERS.get(i) : "blob" + i;
            if (tensors.put(layer + "." + parameter, blobs.get(i)) != null) {
                throw new TensorFileException(
                        path, "expected every layer with blobs once, found " + QuotedText.text(layer) + " twice");
            }
        }
    }

    /** Enters an embedded message; returns the former limit for {@link #end}. */
    static int begin(CodedInputStream input, int tag) throws IOException {
        if (WireFormat.getTagWireType(tag) != WireFormat.WIRETYPE_LENGTH_DELIMITED) {
            throw new InvalidProtocolBufferException(
                    "field " + WireFormat.getTagFieldNumber(tag) + " is expected to be a message");
        }
        return input.pushLimit(input.readRawVarint32());
    }

    static void end(CodedInputStream input, int limit) throws IOException {
        if (input.getBytesUntilLimit() != 0) {
            throw new InvalidProtocolBufferException("a message inside it does not end where it should");
        }
        input.popLimit(limit);
    }

    static void skip(CodedInputStream input, int tag) throws IOException {
        if (!input.skipField(tag)) {
            throw new InvalidProtocolBufferException("a group ends without a start");
        }
    }

    /** Stream over a segment that skips without reading. */
    private static final class SegmentStream extends InputStream {
        private final MemorySegment segment;
        private long position;

        SegmentStream(MemorySegment segment) {
            this.segment = segment;
        }

        @Override
        public int read() {
            return position == segment.byteSize()
                    ? -1
                    : Byte.toUnsignedInt(segment.get(ValueLayout.JAVA_BYTE, position++));
        }

        @Override
        public int read(byte[] target, int offset, int length) {
            int count = (int) Math.min(length, segment.byteSize() - position);
            if (count == 0 && length > 0) {
                return -1;
            }
            MemorySegment.copy(segment, ValueLayout.JAVA_BYTE, position, target, offset, count);
            position += count;
            return count;
        }

        @Override
        public long skip(long count) {
            long skipped = Math.clamp(count, 0, segment.byteSize() - position);
            position += skipped;
            return skipped;
        }
    }
}
