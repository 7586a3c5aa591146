package org.gramian.tensor.file;

import java.io.Closeable;
import java.io.EOFException;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.channels.FileChannel.MapMode;
import java.nio.file.AccessDeniedException;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import org.gramian.basis.RegularFile;
import org.gramian.basis.RegularFile.NotRegularException;

/** File open for reading; every failure is a {@link TensorFileException}. */
public record InputFile(Path path, FileChannel channel, long size) implements Closeable {
    /** Bytes of one read. */
    private static final int PIECE = 1 << 20;

    /** Opens a regular file. */
    public static InputFile open(Path path) throws TensorFileException {
        try {
            long size = RegularFile.attributes(path).size();
            return new InputFile(path, FileChannel.open(path, StandardOpenOption.READ), size);
        } catch (NotRegularException e) {
            throw new TensorFileException(path, e.getReason(), e);
        } catch (NoSuchFileException e) {
            throw new TensorFileException(path, "expected a file, found none with that name", e);
        } catch (AccessDeniedException e) {
            throw new TensorFileException(path, "cannot be read: permission denied", e);
        } catch (IOException e) {
            throw unreadable(path, e);
        }
    }

    /** Reads bytes from a position, little-endian; {@code what} names them in the message if the file is too short. */
    public ByteBuffer read(long position, int count, String what) throws TensorFileException {
        if (count > size - position) {
            throw new TensorFileException(
                    path,
                    "expected %s in bytes %d to %d, found the end of the file after %d bytes"
                            .formatted(what, position, position + count, size));
        }
        ByteBuffer bytes = ByteBuffer.allocate(count).order(ByteOrder.LITTLE_ENDIAN);
        fill(bytes, position);
        return bytes.flip();
    }

    /** Reads the rest of the file from a position into memory that lives as long as the arena. */
    public MemorySegment load(long position, Arena arena) throws TensorFileException {
        long count = size - position;
        MemorySegment data;
        try {
            data = arena.allocate(count, Long.BYTES);
        } catch (OutOfMemoryError e) {
            throw new TensorFileException(
                    path, "expected a file that fits into memory, found " + count + " bytes of data", e);
        }
        for (long from = 0; from < count; from += PIECE) {
            fill(data.asSlice(from, Math.min(PIECE, count - from)).asByteBuffer(), position + from);
        }
        return data.asReadOnly();
    }

    private void fill(ByteBuffer bytes, long position) throws TensorFileException {
        try {
            while (bytes.hasRemaining()) {
                if (channel.read(bytes, position + bytes.position()) < 0) {
                    throw new EOFException("it became shorter while it was being read");
                }
            }
        } catch (IOException e) {
            throw unreadable(path, e);
        }
    }

    /** Maps the rest of the file from a position, read-only, as long as the arena lives. */
    public MemorySegment map(long position, Arena arena) throws TensorFileException {
        try {
            return channel.map(MapMode.READ_ONLY, position, size - position, arena);
        } catch (IOException e) {
            throw unreadable(path, e);
        }
    }

    @Override
    public void close() throws TensorFileException {
        try {
            channel.close();
        } catch (IOException e) {
            throw unreadable(path, e);
        }
    }

    private static TensorFileException unreadable(Path path, IOException cause) {
        return new TensorFileException(path, "could not be read: " + cause.getMessage(), cause);
    }
}
