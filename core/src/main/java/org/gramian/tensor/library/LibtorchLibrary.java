package org.gramian.tensor.library;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.JarURLConnection;
import java.net.URI;
import java.net.URLConnection;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.util.zip.CRC32;
import org.gramian.basis.Sha256;

/**
 * One library inside the Maven artifact.
 *
 * @param name file name
 * @param location URI of its bytes, inside a jar or in a folder of the class path
 */
record LibtorchLibrary(String name, URI location) {
    private static final int BUFFER_BYTES = 1 << 20;
    private static final long UNKNOWN = -1;

    /** Open library with the size and CRC-32 that its container states. */
    private record Source(InputStream in, long size, long crc) implements AutoCloseable {
        @Override
        public void close() throws IOException {
            in.close();
        }
    }

    /** Returns the unpacked size, or 0 if unknown. */
    long bytes() {
        try (Source source = open()) {
            return Math.max(0, source.size());
        } catch (IOException e) {
            throw UnpackingFailures.damagedArtifact(location, e);
        }
    }

    /**
     * Writes the library to a file.
     *
     * @throws IOException if it cannot be written
     * @throws LibtorchException if it cannot be read, or its bytes are not those that were packed
     */
    LibtorchManifest.Entry copyTo(Path file, Disk disk) throws IOException {
        try (Source source = open();
                OutputStream out = disk.create(file)) {
            MessageDigest digest = Sha256.digest();
            CRC32 crc = new CRC32();
            byte[] buffer = new byte[BUFFER_BYTES];
            long size = 0;
            for (int count = read(source, buffer); count >= 0; count = read(source, buffer)) {
                out.write(buffer, 0, count);
                digest.update(buffer, 0, count);
                crc.update(buffer, 0, count);
                size += count;
            }
            check(source, size, crc.getValue());
            return new LibtorchManifest.Entry(name, size, Sha256.hex(digest.digest()));
        }
    }

    private Source open() {
        try {
            URLConnection connection = location.toURL().openConnection();
            // The cache of jar connections is shared by the whole virtual machine: others could close our file.
            connection.setUseCaches(false);
            InputStream in = connection.getInputStream();
            long crc = connection instanceof JarURLConnection jar
                    ? jar.getJarEntry().getCrc()
                    : UNKNOWN;
            return new Source(in, connection.getContentLengthLong(), crc);
        } catch (IOException e) {
            throw UnpackingFailures.damagedArtifact(location, e);
        }
    }

    /** Reads and wraps failures, since reading and writing have different remedies. */
    private int read(Source source, byte[] buffer) {
        try {
            return source.in().read(buffer);
        } catch (IOException e) {
            throw UnpackingFailures.damagedArtifact(location, e);
        }
    }

    /** Compares size and CRC-32: Java checks the CRC-32 of an entry only when it reads a jar as a stream. */
    private void check(Source source, long size, long crc) {
        if (source.size() != UNKNOWN && source.size() != size) {
            String found = "expected " + source.size() + " bytes, found " + size;
            throw UnpackingFailures.damagedArtifact(location, new IOException(found));
        }
        if (source.crc() != UNKNOWN && source.crc() != crc) {
            String found = "expected CRC-32 %08x, found %08x".formatted(source.crc(), crc);
            throw UnpackingFailures.damagedArtifact(location, new IOException(found));
        }
    }
}
