package org.gramian.tensor.library;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.JarURLConnection;
import java.net.URI;
import java.net.URL;
import java.net.URLConnection;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Properties;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.zip.CRC32;
import org.gramian.basis.Sha256;
import org.gramian.tensor.library.LibtorchCache.Disk;
import org.gramian.tensor.library.LibtorchSettings.NativePlatform;

/**
 * Maven artifact {@code ai.djl.pytorch:pytorch-native-cpu} on the class path.
 *
 * @param version version with the date of the build, {@code 2.7.1-20250812}
 * @param classifier platform, {@code linux-x86_64}
 * @param libraries libraries to unpack
 */
record LibtorchArtifact(String version, String classifier, List<Library> libraries) {
    private static final String DESCRIPTION = "native/lib/pytorch.properties";

    LibtorchArtifact {
        libraries = List.copyOf(libraries);
    }

    /** Finds the artifact of a platform; the class path may contain several artifacts. */
    static LibtorchArtifact find(ClassLoader classPath, NativePlatform platform) {
        List<String> others = new ArrayList<>();
        try {
            for (URL description : Collections.list(classPath.getResources(DESCRIPTION))) {
                Properties properties = read(description);
                String classifier = value(properties, "classifier", description);
                String flavor = value(properties, "flavor", description);
                if (classifier.equals(platform.classifier()) && flavor.equals("cpu")) {
                    return of(properties, description);
                }
                others.add(classifier + " (" + flavor + ")");
            }
        } catch (IOException e) {
            throw new LibtorchException("the libtorch artifact on the class path cannot be read: " + e, e);
        }
        throw notFound(platform, others);
    }

    Set<String> names() {
        return libraries.stream().map(Library::name).collect(Collectors.toUnmodifiableSet());
    }

    /** Returns the unpacked size of all libraries. */
    long bytes() {
        return libraries.stream().mapToLong(Library::bytes).sum();
    }

    /** Returns the version without the date of the build. */
    String release() {
        int dash = version.indexOf('-');
        return dash < 0 ? version : version.substring(0, dash);
    }

    private static LibtorchArtifact of(Properties properties, URL description) {
        String version = fileName(value(properties, "version", description), description);
        String classifier = value(properties, "classifier", description);
        // Libraries are taken from the jar of this description, whatever else lies on the class path.
        String text = description.toString();
        String root = text.substring(0, text.length() - DESCRIPTION.length());
        List<Library> libraries = new ArrayList<>();
        for (String part : value(properties, "libraries", description).split(",", -1)) {
            String name = fileName(part.strip(), description);
            libraries.add(new Library(name, URI.create(root + "pytorch/cpu/" + classifier + "/" + name)));
        }
        return new LibtorchArtifact(version, classifier, libraries);
    }

    private static Properties read(URL description) throws IOException {
        var connection = description.openConnection();
        // The cache of jar connections is shared by the whole virtual machine: others could close our file.
        connection.setUseCaches(false);
        Properties properties = new Properties();
        try (InputStream in = connection.getInputStream()) {
            properties.load(in);
        }
        return properties;
    }

    private static String value(Properties properties, String key, URL description) {
        String value = properties.getProperty(key);
        if (value == null || value.isBlank()) {
            throw new LibtorchException(description + ": expected a value for '" + key + "', found none");
        }
        return value.strip();
    }

    /** Checks that a name does not lead out of the cache folder. */
    private static String fileName(String name, URL description) {
        if (!name.matches("[A-Za-z0-9_][A-Za-z0-9_.+-]*")) {
            throw new LibtorchException(description + ": expected plain file names, found '" + name + "'");
        }
        return name;
    }

    private static LibtorchException notFound(NativePlatform platform, List<String> others) {
        return new LibtorchException("no libtorch for " + platform.classifier() + " on the class path: expected"
                + " ai.djl.pytorch:pytorch-native-cpu with that classifier, found "
                + (others.isEmpty() ? "no such artifact" : String.join(", ", others))
                + ". It is published for " + String.join(", ", NativePlatform.PUBLISHED) + ". Elsewhere, or to use"
                + " another build, set " + LibtorchSettings.FOLDER_VARIABLE
                + " (or --libtorch) to the folder 'torch/lib'"
                + " of an installed PyTorch 2.7 or later; 'python3 -c \"import torch; print(torch.__path__[0])\"'"
                + " prints its parent");
    }

    /**
     * One library inside the Maven artifact.
     *
     * @param name file name
     * @param location URI of its bytes, inside a jar or in a folder of the class path
     */
    record Library(String name, URI location) {
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
                throw damaged(e);
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
                throw damaged(e);
            }
        }

        /** Reads and wraps failures, since reading and writing have different remedies. */
        private int read(Source source, byte[] buffer) {
            try {
                return source.in().read(buffer);
            } catch (IOException e) {
                throw damaged(e);
            }
        }

        /** Compares size and CRC-32: Java checks the CRC-32 of an entry only when it reads a jar as a stream. */
        private void check(Source source, long size, long crc) {
            if (source.size() != UNKNOWN && source.size() != size) {
                String found = "expected " + source.size() + " bytes, found " + size;
                throw damaged(new IOException(found));
            }
            if (source.crc() != UNKNOWN && source.crc() != crc) {
                String found = "expected CRC-32 %08x, found %08x".formatted(source.crc(), crc);
                throw damaged(new IOException(found));
            }
        }

        private LibtorchException damaged(IOException cause) {
            return new LibtorchException(
                    location + " cannot be unpacked: " + cause.getMessage()
                            + ". The artifact is damaged: delete its jar from"
                            + " the local Maven repository, so that it is downloaded again",
                    cause);
        }
    }
}
