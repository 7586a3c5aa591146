package org.gramian.tensor.library;

import java.io.IOException;
import java.io.InputStream;
import java.net.URI;
import java.net.URL;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Properties;
import java.util.Set;
import java.util.stream.Collectors;

/**
 * Maven artifact {@code ai.djl.pytorch:pytorch-native-cpu} on the class path.
 *
 * @param version version with the date of the build, {@code 2.7.1-20250812}
 * @param classifier platform, {@code linux-x86_64}
 * @param libraries libraries to unpack
 */
record LibtorchArtifact(String version, String classifier, List<LibtorchLibrary> libraries) {
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
        return libraries.stream().map(LibtorchLibrary::name).collect(Collectors.toUnmodifiableSet());
    }

    /** Returns the unpacked size of all libraries. */
    long bytes() {
        return libraries.stream().mapToLong(LibtorchLibrary::bytes).sum();
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
        List<LibtorchLibrary> libraries = new ArrayList<>();
        for (String part : value(properties, "libraries", description).split(",", -1)) {
            String name = fileName(part.strip(), description);
            libraries.add(new LibtorchLibrary(name, URI.create(root + "pytorch/cpu/" + classifier + "/" + name)));
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
}
