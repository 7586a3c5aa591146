package org.gramian.tensor.library;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.MalformedURLException;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Random;
import java.util.zip.ZipEntry;
import java.util.zip.ZipOutputStream;
import org.gramian.tensor.library.LibtorchSettings.NativePlatform;

/** A Maven artifact of the real one's layout with tiny libraries of random bytes, as a jar or a folder. */
record FakeLibtorch(Path location) {
    static final String VERSION = "2.7.1-20250812";
    static final NativePlatform PLATFORM = new NativePlatform("linux", "x86_64");
    static final String FOLDER_NAME = "libtorch-2.7.1-20250812-linux-x86_64";
    static final Map<String, Integer> LIBRARIES =
            Map.of("libc10.so", 1_000, "libgomp-98b21ff3.so.1", 0, "libtorch.so", 77, "libtorch_cpu.so", 3_000_000);

    static FakeLibtorch jar(Path file) throws IOException {
        try (ZipOutputStream zip = new ZipOutputStream(Files.newOutputStream(file))) {
            for (var entry : contents("linux-x86_64").entrySet()) {
                zip.putNextEntry(new ZipEntry(entry.getKey()));
                zip.write(entry.getValue());
            }
        }
        return new FakeLibtorch(file);
    }

    static FakeLibtorch folder(Path folder, String classifier) throws IOException {
        for (var entry : contents(classifier).entrySet()) {
            Path file = folder.resolve(entry.getKey());
            Files.createDirectories(file.resolveSibling(""));
            Files.write(file, entry.getValue());
        }
        return new FakeLibtorch(folder);
    }

    static byte[] bytes(String library) {
        byte[] bytes = new byte[LIBRARIES.getOrDefault(library, 0)];
        new Random(library.hashCode()).nextBytes(bytes);
        return bytes;
    }

    ClassLoader classPath() {
        try {
            return new URLClassLoader(new URL[] {location.toUri().toURL()}, null);
        } catch (MalformedURLException e) {
            throw new UncheckedIOException(e);
        }
    }

    LibtorchArtifact artifact() {
        return LibtorchArtifact.find(classPath(), PLATFORM);
    }

    private static Map<String, byte[]> contents(String classifier) {
        Map<String, byte[]> contents = new LinkedHashMap<>();
        String description = "version=" + VERSION + "\nflavor=cpu\nclassifier=" + classifier + "\nlibraries="
                + String.join(",", LIBRARIES.keySet());
        contents.put("native/lib/pytorch.properties", description.getBytes(StandardCharsets.UTF_8));
        for (String library : LIBRARIES.keySet()) {
            contents.put("pytorch/cpu/" + classifier + "/" + library, bytes(library));
        }
        return contents;
    }
}
