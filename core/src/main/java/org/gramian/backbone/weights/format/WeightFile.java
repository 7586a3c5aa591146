package org.gramian.backbone.weights.format;

import java.lang.foreign.Arena;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.HexFormat;
import java.util.List;
import org.gramian.tensor.file.InputFile;
import org.gramian.tensor.file.Safetensors;
import org.gramian.tensor.file.TensorFile;
import org.gramian.tensor.file.TensorFileException;

/**
 * Tensors of a weight file of any format, with the names and layout of the file.
 *
 * @param content tensors and metadata, if the format has some
 * @param format detected format
 * @param remarks notes on skipped or changed content, one sentence each
 */
public record WeightFile(TensorFile content, Format format, List<String> remarks) {
    public WeightFile {
        remarks = List.copyOf(remarks);
    }

    /**
     * Reads a file whose format is detected from its content; the tensors live as long as the arena.
     *
     * @throws TensorFileException if the file cannot be read, is of no known format, is damaged, or asks for more than
     *     tensors
     */
    public static WeightFile read(Path path, Arena arena) throws TensorFileException {
        try {
            return Format.of(path).reader.read(path, arena);
        } catch (OutOfMemoryError e) {
            throw tooLarge(path, e);
        }
    }

    private static WeightFile ofSafetensors(Path path, Arena arena) throws TensorFileException {
        return new WeightFile(Safetensors.read(path, arena), Format.SAFETENSORS, List.of());
    }

    /** Returns the exception for a file that needs more memory than there is. */
    private static TensorFileException tooLarge(Path path, OutOfMemoryError cause) {
        return new TensorFileException(
                path,
                "needs more memory than the Java heap of %d MiB; retry with GRAMIAN_JAVA_OPTS=-Xmx… of twice as much"
                        .formatted(Runtime.getRuntime().maxMemory() >> 20),
                cause);
    }

    /** Format of a published weight file, detected by its first bytes. */
    public enum Format {
        /** Named tensors and metadata, see {@link Safetensors}. */
        SAFETENSORS("safetensors", WeightFile::ofSafetensors),
        /** State dictionary as {@code torch.save} writes it since version 1.6. */
        TORCH("PyTorch", TorchFile::read);

        /** Reader of a format. */
        @FunctionalInterface
        interface Reader {
            WeightFile read(Path path, Arena arena) throws TensorFileException;
        }

        private static final String EXPORT =
                "export the network to ONNX and run 'gramian weights import NAME FILE.onnx', or save its tensors as"
                        + " safetensors";

        private static final int SNIFFED = 265;
        private static final long MAX_SAFETENSORS_HEADER = 100_000_000;
        private static final byte[] ZIP = {'P', 'K', 3, 4};
        private static final byte[] HDF5 = {(byte) 0x89, 'H', 'D', 'F', '\r', '\n', 0x1a, '\n'};
        private static final byte[] TAR = "ustar".getBytes(StandardCharsets.US_ASCII);
        private static final int TAR_AT = 257;
        private static final int PICKLE = 0x80;

        private final String label;

        @SuppressWarnings("ImmutableEnumChecker") // a method reference
        private final Reader reader;

        Format(String label, Reader reader) {
            this.label = label;
            this.reader = reader;
        }

        /** Returns the name of the format, for messages. */
        public String label() {
            return label;
        }

        /** Detects the format of a file by its first bytes. */
        static Format of(Path path) throws TensorFileException {
            try (InputFile file = InputFile.open(path)) {
                ByteBuffer start = file.read(0, (int) Math.min(SNIFFED, file.size()), "the first bytes");
                if (beginsWith(start, 0, ZIP)) {
                    return TORCH;
                }
                if (beginsWith(start, 0, HDF5)) {
                    throw new TensorFileException(path, "is an HDF5 file, as Keras writes; " + EXPORT);
                }
                if (path.toString().endsWith(".caffemodel")) {
                    throw new TensorFileException(path, "is a Caffe network; " + EXPORT);
                }
                if (isSafetensors(start)) {
                    return SAFETENSORS;
                }
                if (first(start) == PICKLE || beginsWith(start, TAR_AT, TAR)) {
                    throw new TensorFileException(
                            path,
                            "expected the zip format of torch.save, found "
                                    + (first(start) == PICKLE ? "a pickle" : "a tar archive")
                                    + ", as torch before 1.6 wrote; re-save it with a current torch:"
                                    + " torch.save(torch.load(FILE), NEW_FILE)");
                }
                throw unknown(path, start);
            }
        }

        private static boolean isSafetensors(ByteBuffer start) {
            return start.limit() > Long.BYTES
                    && start.get(Long.BYTES) == '{'
                    && Long.compareUnsigned(start.getLong(0), MAX_SAFETENSORS_HEADER) <= 0;
        }

        private static int first(ByteBuffer start) {
            return start.limit() == 0 ? -1 : Byte.toUnsignedInt(start.get(0));
        }

        private static boolean beginsWith(ByteBuffer start, int at, byte[] sign) {
            return start.limit() >= at + sign.length
                    && start.slice(at, sign.length).equals(ByteBuffer.wrap(sign));
        }

        private static TensorFileException unknown(Path path, ByteBuffer start) {
            byte[] first = new byte[Math.min(Long.BYTES, start.limit())];
            start.get(0, first);
            String found = first.length == 0
                    ? "an empty file"
                    : "bytes " + HexFormat.ofDelimiter(" ").formatHex(first);
            return new TensorFileException(
                    path, "expected weights in safetensors or PyTorch's .pth, or a network in ONNX, found " + found);
        }
    }
}
