package org.gramian.tensor.library;

import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Everything outside the program that decides where libtorch comes from, as values, so that tests can choose them.
 *
 * @param properties system properties: {@code gramian.libtorch}, {@code user.home}, {@code os.name}, {@code os.arch}
 * @param environment environment variables: {@code GRAMIAN_LIBTORCH}, {@code GRAMIAN_CACHE}, {@code XDG_CACHE_HOME}
 */
record LibtorchSettings(Map<String, String> properties, Map<String, String> environment) {
    /** Set from {@code --libtorch DIR}; stronger than the environment. */
    static final String FOLDER_PROPERTY = "gramian.libtorch";

    static final String FOLDER_VARIABLE = "GRAMIAN_LIBTORCH";
    static final String CACHE_VARIABLE = "GRAMIAN_CACHE";
    private static final String XDG_VARIABLE = "XDG_CACHE_HOME";

    LibtorchSettings {
        properties = Map.copyOf(properties);
        environment = Map.copyOf(environment);
    }

    /** The settings of this process, as they are now. */
    static LibtorchSettings ofProcess() {
        var system = System.getProperties();
        Map<String, String> properties = new HashMap<>();
        for (String name : system.stringPropertyNames()) {
            properties.put(name, system.getProperty(name, ""));
        }
        return new LibtorchSettings(properties, System.getenv());
    }

    NativePlatform platform() {
        return NativePlatform.of(properties.getOrDefault("os.name", ""), properties.getOrDefault("os.arch", ""));
    }

    /** The value of a system property, or null where it is missing or blank. */
    @Nullable
    String property(String name) {
        return nullIfBlank(properties.get(name));
    }

    /** The value of an environment variable, or null where it is missing or blank. */
    @Nullable
    String variable(String name) {
        return nullIfBlank(environment.get(name));
    }

    /** The folder for what is unpacked: {@code GRAMIAN_CACHE}, else the user's cache folder. */
    Path cacheFolder() {
        String own = variable(CACHE_VARIABLE);
        if (own != null) {
            return path(own, CACHE_VARIABLE);
        }
        String xdg = variable(XDG_VARIABLE);
        // The XDG specification asks to ignore relative paths.
        if (xdg != null && parse(xdg, XDG_VARIABLE).isAbsolute()) {
            return path(xdg, XDG_VARIABLE).resolve("gramian");
        }
        String home = property("user.home");
        // "?" is what Java says for a user without an entry in the password file, as in many containers.
        if (home == null || home.equals("?")) {
            throw new LibtorchException("no home folder for cached files (user.home is "
                    + (home == null ? "not set" : home) + "); set " + CACHE_VARIABLE + " to a writable folder");
        }
        return path(home, "user.home").resolve(".cache").resolve("gramian");
    }

    /** A path given as text; {@code source} names where the text came from. */
    static Path path(String text, String source) {
        return parse(text, source).toAbsolutePath().normalize();
    }

    private static Path parse(String text, String source) {
        try {
            return Path.of(text);
        } catch (InvalidPathException e) {
            throw new LibtorchException(source + " must be the path of a folder, found '" + text + "'", e);
        }
    }

    private static @Nullable String nullIfBlank(@Nullable String text) {
        return text == null || text.isBlank() ? null : text;
    }
}
