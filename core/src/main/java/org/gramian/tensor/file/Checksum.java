package org.gramian.tensor.file;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import org.gramian.basis.Sha256;
import org.jspecify.annotations.Nullable;

/**
 * Checksums of a safetensors file, as two entries of its metadata:
 *
 * <pre>
 * sha256_data     SHA-256 of the SHA-256 of each MiB of the data, so that all cores can compute it
 * sha256_header   SHA-256 of everything before the data, with 64 zeros in place of this checksum
 * </pre>
 *
 * <p>Together they cover every bit of the file; the header, with names and classes, is verified without reading the data.
 */
final class Checksum {
    static final String DATA = "sha256_data";
    static final String HEADER = "sha256_header";

    /** In place of the header's checksum while it is computed. */
    static final String UNKNOWN = "0".repeat(64);

    private static final String ADVICE = "; the file is damaged: copy it again, or restore it from a backup";

    private Checksum() {}

    /** Puts the header's checksum in its place. */
    static void seal(byte[] start) {
        int at = place(start);
        byte[] hex = Sha256.hex(Sha256.of(start)).getBytes(StandardCharsets.US_ASCII);
        System.arraycopy(hex, 0, start, at, hex.length);
    }

    /** Returns the position of the header's checksum, or −1: quotes inside of other texts are escaped. */
    private static int place(byte[] start) {
        byte[] key = ("\"" + HEADER + "\":\"").getBytes(StandardCharsets.US_ASCII);
        for (int at = 0; at <= start.length - key.length - UNKNOWN.length(); at++) {
            if (Arrays.equals(start, at, at + key.length, key, 0, key.length)) {
                return at + key.length;
            }
        }
        return -1;
    }

    /**
     * Verifies the header.
     *
     * @param start everything before the data; the checksum in it is overwritten
     * @return whether the file has checksums
     * @throws TensorFileException if the header is damaged
     */
    static boolean verifyHeader(Path file, byte[] start, Map<String, String> metadata) throws TensorFileException {
        @Nullable String header = metadata.get(HEADER);
        if (header == null && !metadata.containsKey(DATA)) {
            return false;
        }
        int at = place(start);
        if (header == null || !metadata.containsKey(DATA) || at < 0) {
            throw new TensorFileException(
                    file, "expected the checksums " + DATA + " and " + HEADER + ", found only one" + ADVICE);
        }
        System.arraycopy(UNKNOWN.getBytes(StandardCharsets.US_ASCII), 0, start, at, UNKNOWN.length());
        require(file, "header", header, Sha256.hex(Sha256.of(start)));
        return true;
    }

    /** @throws TensorFileException if the data is damaged */
    static void verifyData(Path file, Map<String, String> metadata, String found) throws TensorFileException {
        require(file, "data", String.valueOf(metadata.get(DATA)), found);
    }

    private static void require(Path file, String part, String expected, String found) throws TensorFileException {
        if (!expected.equals(found)) {
            throw new TensorFileException(
                    file, "expected the SHA-256 " + expected + " of its " + part + ", found " + found + ADVICE);
        }
    }

    /** Computes the checksum of the data, which comes piece by piece; pieces are hashed by several threads. */
    static final class Data {
        private static final int PIECE = 1 << 20;

        /** Threads of their own: tasks of others, such as Spark's, may occupy the common pool for as long as they wait. */
        private static final Executor EXECUTOR =
                task -> Thread.ofPlatform().daemon().name("gramian-checksum").start(task);

        private static final int MOST_PENDING = 2 * Runtime.getRuntime().availableProcessors();

        private final MessageDigest hashes = Sha256.digest();
        private final Queue<CompletableFuture<byte[]>> pending = new ArrayDeque<>();
        private long left;
        private byte[] piece;
        private int filled;

        /** @param bytes size of the whole data */
        Data(long bytes) {
            left = bytes;
            piece = new byte[(int) Math.min(PIECE, left)];
        }

        void update(MemorySegment data) {
            for (long from = 0; from < data.byteSize(); ) {
                int count = (int) Math.min(piece.length - filled, data.byteSize() - from);
                MemorySegment.copy(data, ValueLayout.JAVA_BYTE, from, piece, filled, count);
                filled += count;
                from += count;
                if (filled == piece.length) {
                    submit();
                }
            }
        }

        private void submit() {
            byte[] full = piece;
            pending.add(CompletableFuture.supplyAsync(() -> Sha256.of(full), EXECUTOR));
            left -= filled;
            piece = new byte[(int) Math.min(PIECE, left)];
            filled = 0;
            if (pending.size() > MOST_PENDING) {
                hashes.update(pending.remove().join());
            }
        }

        String hex() {
            if (left > 0) {
                throw new IllegalStateException("expected " + left + " more bytes");
            }
            pending.forEach(hash -> hashes.update(hash.join()));
            pending.clear();
            return Sha256.hex(hashes.digest());
        }
    }
}
