package org.gramian.basis;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.DigestInputStream;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;

/** SHA-256 of bytes and of files. */
public final class Sha256 {
    private Sha256() {}

    public static MessageDigest digest() {
        try {
            return MessageDigest.getInstance("SHA-256");
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("every Java platform has SHA-256", e);
        }
    }

    /** Returns the hash of bytes, 32 bytes. */
    public static byte[] of(byte[] bytes) {
        return digest().digest(bytes);
    }

    /** Returns the hash of a file, 32 bytes. */
    public static byte[] of(Path file) throws IOException {
        RegularFile.attributes(file);
        MessageDigest digest = digest();
        try (InputStream in = new DigestInputStream(Files.newInputStream(file), digest)) {
            in.transferTo(OutputStream.nullOutputStream());
        }
        return digest.digest();
    }

    /** Returns a hash as 64 hexadecimal digits. */
    public static String hex(byte[] hash) {
        return HexFormat.of().formatHex(hash);
    }
}
