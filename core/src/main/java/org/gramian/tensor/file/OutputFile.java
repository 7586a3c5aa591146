package org.gramian.tensor.file;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.FileSystemException;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.List;
import org.gramian.basis.AtomicFile;

/** Writes tensor files atomically, see {@link AtomicFile}. */
final class OutputFile {
    /** Bytes of one write. */
    private static final int CHUNK = 1 << 20;

    private OutputFile() {}

    /** Writes the content of a file. */
    @FunctionalInterface
    interface Content {
        void writeTo(FileChannel channel) throws IOException;
    }

    /** Writes a header, then the data of all tensors in their order. */
    static void write(Path path, byte[] header, List<StoredTensor> tensors) throws TensorFileException {
        write(path, channel -> {
            writeFully(channel, ByteBuffer.wrap(header));
            try (Arena arena = Arena.ofConfined()) {
                MemorySegment chunk = arena.allocate(CHUNK);
                for (StoredTensor tensor : tensors) {
                    stream(tensor.data(), chunk, channel);
                }
            }
        });
    }

    static void write(Path path, Content content) throws TensorFileException {
        try {
            AtomicFile.put(path, partial -> {
                try (FileChannel channel =
                        FileChannel.open(partial, StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE)) {
                    content.writeTo(channel);
                }
            });
        } catch (FileSystemException e) {
            throw new TensorFileException(path, String.valueOf(e.getReason()), e);
        } catch (IOException e) {
            throw new TensorFileException(path, String.valueOf(e.getMessage()), e);
        }
    }

    /** Writes through an off-heap chunk: a segment of a {@code double[]} has no byte buffer. */
    private static void stream(MemorySegment data, MemorySegment chunk, FileChannel channel) throws IOException {
        for (long from = 0; from < data.byteSize(); from += CHUNK) {
            long count = Math.min(CHUNK, data.byteSize() - from);
            MemorySegment.copy(data, from, chunk, 0, count);
            writeFully(channel, chunk.asSlice(0, count).asByteBuffer());
        }
    }

    private static void writeFully(FileChannel channel, ByteBuffer bytes) throws IOException {
        while (bytes.hasRemaining()) {
            channel.write(bytes);
        }
    }
}
