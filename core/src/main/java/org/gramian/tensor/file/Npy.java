package org.gramian.tensor.file;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import org.gramian.tensor.Shape;

/**
 * Reads and writes {@code .npy} files: one array, as numpy's {@code np.save} writes it.
 *
 * <pre>
 * bytes 0 … 5     0x93 'N' 'U' 'M' 'P' 'Y'
 * bytes 6, 7      version: 1.0, 2.0 or 3.0
 * then            n, the length of the header: unsigned, little-endian, 2 bytes in 1.0, 4 bytes after; at most 65,535
 * then n bytes    the header: a Python dictionary, padded with spaces, ended by a newline
 *                 {'descr': '&lt;f8', 'fortran_order': False, 'shape': (3, 4), }
 * to the end      the elements
 * </pre>
 *
 * <p>Types are {@code <f8}, {@code <f4}, {@code <f2}, {@code <i8}, {@code <i4}, {@code |u1} and {@code |b1}; numpy has no bfloat16.
 *
 * @see <a href="https://numpy.org/doc/stable/reference/generated/numpy.lib.format.html">the format</a>
 */
public final class Npy {
    /** Limit of version 1.0. */
    private static final int MAX_HEADER_BYTES = 0xffff;

    private static final byte[] MAGIC = {(byte) 0x93, 'N', 'U', 'M', 'P', 'Y'};
    private static final int VERSION_END = MAGIC.length + 2;
    private static final int ALIGNMENT = 64;

    private Npy() {}

    /**
     * Reads an array into memory that lives as long as the arena; one in Fortran order is turned into row-major order.
     *
     * @throws TensorFileException if the file cannot be read or is not a correct {@code .npy} file of a supported type
     */
    public static StoredTensor read(Path path, Arena arena) throws TensorFileException {
        try (InputFile file = InputFile.open(path)) {
            int lengthBytes = majorVersion(file) == 1 ? Short.BYTES : Integer.BYTES;
            int headerStart = VERSION_END + lengthBytes;
            int length = headerLength(file, lengthBytes);
            byte[] header = file.read(headerStart, length, "the header").array();
            // version 3.0 is UTF-8, but only for names of fields, which are not supported
            NpyHeader parsed = NpyHeader.parse(path, new String(header, StandardCharsets.ISO_8859_1));
            long dataStart = headerStart + (long) length;
            long found = file.size() - dataStart;
            if (found != parsed.dataBytes()) {
                String fault = found < parsed.dataBytes() ? "is truncated" : "has trailing bytes";
                throw new TensorFileException(
                        path,
                        "%s: %s of shape %s takes %d bytes of data, found %d"
                                .formatted(fault, parsed.type(), parsed.shape(), parsed.dataBytes(), found));
            }
            return parsed.fortranOrder() && parsed.shape().rank() > 1
                    ? rowMajor(file, dataStart, parsed, arena)
                    : new StoredTensor(parsed.type(), parsed.shape(), file.load(dataStart, arena, _ -> {}));
        }
    }

    /**
     * Writes a file of version 1.0, or replaces it, in one atomic step; the same tensor gives the same bytes.
     *
     * @throws TensorFileException if the file cannot be written
     * @throws IllegalArgumentException if the tensor is of a type that numpy does not have
     */
    public static void write(Path path, StoredTensor tensor) throws TensorFileException {
        String header = new NpyHeader(tensor.type(), false, tensor.shape()).text();
        int unpadded = VERSION_END + Short.BYTES + header.length() + 1;
        String padded = header + " ".repeat(Math.floorMod(-unpadded, ALIGNMENT)) + "\n";
        byte[] start = ByteBuffer.allocate(VERSION_END + Short.BYTES + padded.length())
                .put(MAGIC)
                .put(new byte[] {1, 0, (byte) padded.length(), (byte) (padded.length() >> 8)})
                .put(padded.getBytes(StandardCharsets.US_ASCII))
                .array();
        OutputFile.write(path, start, List.of(tensor));
    }

    private static int majorVersion(InputFile file) throws TensorFileException {
        byte[] start = file.read(0, VERSION_END, "\\x93NUMPY and a version").array();
        if (!Arrays.equals(start, 0, MAGIC.length, MAGIC, 0, MAGIC.length)) {
            throw new TensorFileException(
                    file.path(),
                    "expected an .npy file, which begins with bytes %s, found %s"
                            .formatted(hex(MAGIC), hex(Arrays.copyOf(start, MAGIC.length))));
        }
        int major = Byte.toUnsignedInt(start[MAGIC.length]);
        int minor = Byte.toUnsignedInt(start[MAGIC.length + 1]);
        if (major < 1 || major > 3 || minor != 0) {
            throw new TensorFileException(
                    file.path(), "expected .npy version 1.0, 2.0 or 3.0, found %d.%d".formatted(major, minor));
        }
        return major;
    }

    private static int headerLength(InputFile file, int lengthBytes) throws TensorFileException {
        ByteBuffer bytes = file.read(VERSION_END, lengthBytes, "the header's length");
        long length = lengthBytes == Short.BYTES
                ? Short.toUnsignedInt(bytes.getShort())
                : Integer.toUnsignedLong(bytes.getInt());
        if (length > MAX_HEADER_BYTES) {
            throw new TensorFileException(
                    file.path(),
                    "expected a header of at most %d bytes, found a length of %d".formatted(MAX_HEADER_BYTES, length));
        }
        return (int) length;
    }

    private static StoredTensor rowMajor(InputFile file, long dataStart, NpyHeader header, Arena arena)
            throws TensorFileException {
        int width = header.type().bytes();
        MemorySegment copy = arena.allocate(header.dataBytes(), width);
        try (Arena mapping = Arena.ofConfined()) {
            MemorySegment source = file.map(dataStart, mapping);
            FortranOrder order = new FortranOrder(header.shape());
            for (long to = 0; to < copy.byteSize(); to += width) {
                MemorySegment.copy(source, order.next() * width, copy, to, width);
            }
        }
        return new StoredTensor(header.type(), header.shape(), copy.asReadOnly());
    }

    private static String hex(byte[] bytes) {
        return HexFormat.ofDelimiter(" ").formatHex(bytes);
    }

    /** Iterates over an array in row-major order and yields the column-major offset of each element. */
    private static final class FortranOrder {
        private final long[] sizes;
        private final long[] index;
        private final long[] strides;
        private long position;

        FortranOrder(Shape shape) {
            sizes = shape.sizes();
            index = new long[sizes.length];
            strides = new long[sizes.length];
            long stride = 1;
            for (int i = 0; i < sizes.length; i++) {
                strides[i] = stride;
                stride *= sizes[i];
            }
        }

        long next() {
            long here = position;
            for (int i = sizes.length - 1; i >= 0; i--) {
                position += strides[i];
                if (++index[i] < sizes[i]) {
                    break;
                }
                position -= strides[i] * sizes[i];
                index[i] = 0;
            }
            return here;
        }
    }
}
