package org.gramian.train.feature;

import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;
import java.util.Optional;

/** SHA-256 of bytes and of files. */
final class Hashes {
    private static final int CHUNK = 1 << 16;

    private Hashes() {}

    static byte[] sha256(byte[] bytes) {
        return digest().digest(bytes);
    }

    /** Of a file's content, where it is a regular file of at most so many bytes that can be read. */
    static Optional<byte[]> sha256(Path file, long most) {
        try {
            // Asked before opening: opening a pipe would wait for its other end for ever.
            if (!Files.isRegularFile(file) || Files.size(file) > most) {
                return Optional.empty();
            }
            try (InputStream content = Files.newInputStream(file)) {
                MessageDigest digest = digest();
                byte[] chunk = new byte[CHUNK];
                for (int count = content.read(chunk); count >= 0; count = content.read(chunk)) {
                    digest.update(chunk, 0, count);
                }
                return Optional.of(digest.digest());
            }
        } catch (IOException e) {
            return Optional.empty(); // whoever decodes the picture will say why
        }
    }

    static String hex(byte[] hash) {
        return HexFormat.of().formatHex(hash);
    }

    private static MessageDigest digest() {
        try {
            return MessageDigest.getInstance("SHA-256");
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("every Java has SHA-256", e);
        }
    }
}
