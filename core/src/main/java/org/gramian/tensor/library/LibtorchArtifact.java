package org.gramian.tensor.library;

import java.io.FileNotFoundException;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.JarURLConnection;
import java.net.URI;
import java.net.URL;
import java.net.URLConnection;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.DigestInputStream;
import java.security.MessageDigest;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Properties;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.zip.CRC32;
import java.util.zip.CheckedInputStream;
import java.util.zip.ZipException;
import org.gramian.basis.Sha256;
import org.gramian.tensor.library.LibtorchFolder.Manifest;
import org.gramian.tensor.library.LibtorchSettings.NativePlatform;

/** Maven artifact {@code ai.djl.pytorch:pytorch-native-cpu} on the class path. */
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
        Properties properties = new Properties();
        try (InputStream in = connect(description).getInputStream()) {
            properties.load(in);
        }
        return properties;
    }

    /** Opens a connection without the cache of jars, which the whole virtual machine shares: others could close our file. */
    private static URLConnection connect(URL url) throws IOException {
        URLConnection connection = url.openConnection();
        connection.setUseCaches(false);
        return connection;
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

    /** One library inside the Maven artifact. */
    record Library(String name, URI location) {
        private static final long UNKNOWN = -1;

        /** Returns the unpacked size, or 0 if unknown. */
        long bytes() {
            try {
                URLConnection connection = connect(location.toURL());
                try (InputStream _ = connection.getInputStream()) {
                    return Math.max(0, connection.getContentLengthLong());
                }
            } catch (IOException e) {
                throw damaged(String.valueOf(e.getMessage()));
            }
        }

        /**
         * Writes the library to a file and compares it with the size and CRC-32 that the jar states: Java checks the CRC-32 of
         * an entry only when it reads a jar as a stream.
         *
         * @throws IOException if it cannot be read or written
         * @throws LibtorchException if its bytes are not those that were packed
         */
        Manifest.Entry copyTo(Path file) throws IOException {
            URLConnection connection = connect(location.toURL());
            MessageDigest digest = Sha256.digest();
            CRC32 crc = new CRC32();
            long size;
            try (InputStream in =
                            new DigestInputStream(new CheckedInputStream(connection.getInputStream(), crc), digest);
                    OutputStream out = Files.newOutputStream(file)) {
                size = in.transferTo(out);
            } catch (FileNotFoundException | ZipException e) {
                throw damaged(String.valueOf(e.getMessage()));
            }
            long expectedSize = connection.getContentLengthLong();
            if (expectedSize != UNKNOWN && expectedSize != size) {
                throw damaged("expected " + expectedSize + " bytes, found " + size);
            }
            long expectedCrc = connection instanceof JarURLConnection jar
                    ? jar.getJarEntry().getCrc()
                    : UNKNOWN;
            if (expectedCrc != UNKNOWN && expectedCrc != crc.getValue()) {
                throw damaged("expected CRC-32 %08x, found %08x".formatted(expectedCrc, crc.getValue()));
            }
            return new Manifest.Entry(name, size, Sha256.hex(digest.digest()));
        }

        private LibtorchException damaged(String problem) {
            return new LibtorchException(location + " cannot be unpacked: " + problem
                    + ". The artifact is damaged: delete its jar from the local Maven repository, so that it is"
                    + " downloaded again");
        }
    }
}
