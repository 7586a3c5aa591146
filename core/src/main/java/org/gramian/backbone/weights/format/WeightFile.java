package org.gramian.backbone.weights.format;

import java.lang.foreign.Arena;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.HexFormat;
import java.util.function.Consumer;
import org.gramian.tensor.file.InputFile;
import org.gramian.tensor.file.Safetensors;
import org.gramian.tensor.file.TensorFile;
import org.gramian.tensor.file.TensorFileException;

/** Reader of weight files of any format, which keeps the names and layout of the file. */
public final class WeightFile {
    private static final String EXPORT =
            "export the network to ONNX and run 'gramian weights import NAME FILE.onnx', or save its tensors as"
                    + " safetensors";
    private static final int START_BYTES = 265;
    private static final long MAX_SAFETENSORS_HEADER = 100_000_000;
    private static final byte[] ZIP = {'P', 'K', 3, 4};
    private static final byte[] HDF5 = {(byte) 0x89, 'H', 'D', 'F', '\r', '\n', 0x1a, '\n'};
    private static final byte[] PICKLE = {(byte) 0x80};
    private static final byte[] TAR = "ustar".getBytes(StandardCharsets.US_ASCII);
    private static final int TAR_OFFSET = 257;

    private WeightFile() {}

    /**
     * Reads a file whose format is detected from its content; the tensors live as long as the arena.
     *
     * @param remarks takes notes on skipped or changed content, one sentence each
     * @throws TensorFileException if the file cannot be read, is of no known format, is damaged, or asks for more than
     *     tensors
     */
    public static TensorFile read(Path path, Arena arena, Consumer<String> remarks) throws TensorFileException {
        ByteBuffer start;
        try (InputFile file = InputFile.open(path)) {
            start = file.read(0, (int) Math.min(START_BYTES, file.size()), "the first bytes");
        }
        try {
            if (startsWith(start, 0, ZIP)) {
                return TorchFile.read(path, arena, remarks);
            }
            requireSafetensors(path, start);
            return Safetensors.read(path, arena);
        } catch (OutOfMemoryError e) {
            throw new TensorFileException(
                    path,
                    "needs more memory than the Java heap of %d MiB; retry with GRAMIAN_JAVA_OPTS=-Xmx… of twice as much"
                            .formatted(Runtime.getRuntime().maxMemory() >> 20),
                    e);
        }
    }

    private static void requireSafetensors(Path path, ByteBuffer start) throws TensorFileException {
        if (startsWith(start, 0, HDF5)) {
            throw new TensorFileException(path, "is an HDF5 file, as Keras writes; " + EXPORT);
        }
        if (path.toString().endsWith(".caffemodel")) {
            throw new TensorFileException(path, "is a Caffe network; " + EXPORT);
        }
        if (start.limit() > Long.BYTES
                && start.get(Long.BYTES) == '{'
                && Long.compareUnsigned(start.getLong(0), MAX_SAFETENSORS_HEADER) <= 0) {
            return;
        }
        boolean pickle = startsWith(start, 0, PICKLE);
        if (pickle || startsWith(start, TAR_OFFSET, TAR)) {
            throw new TensorFileException(
                    path,
                    "expected the zip format of torch.save, found " + (pickle ? "a pickle" : "a tar archive")
                            + ", as torch before 1.6 wrote; re-save it with a current torch:"
                            + " torch.save(torch.load(FILE), NEW_FILE)");
        }
        byte[] first = new byte[Math.min(Long.BYTES, start.limit())];
        start.get(0, first);
        throw new TensorFileException(
                path,
                "expected weights in safetensors or PyTorch's .pth, or a network in ONNX, found "
                        + (first.length == 0
                                ? "an empty file"
                                : "bytes " + HexFormat.ofDelimiter(" ").formatHex(first)));
    }

    private static boolean startsWith(ByteBuffer start, int offset, byte[] magic) {
        return start.limit() >= offset + magic.length
                && start.slice(offset, magic.length).equals(ByteBuffer.wrap(magic));
    }
}
