package org.gramian.tensor.library;

import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Properties;
import java.util.stream.Collectors;
import org.gramian.tensor.library.LibtorchSettings.NativePlatform;
import org.jspecify.annotations.Nullable;

/**
 * System properties and environment variables that determine the libtorch folder and the cache. A snapshot, so that
 * tests can pass their own.
 *
 * @param properties system properties: {@code gramian.libtorch}, {@code user.home}, {@code os.name}, {@code os.arch}
 * @param environment environment variables: {@code GRAMIAN_LIBTORCH}, {@code GRAMIAN_CACHE}, {@code XDG_CACHE_HOME}
 */
record LibtorchSettings(Map<String, String> properties, Map<String, String> environment) {
    /** Set from {@code --libtorch DIR}; takes precedence over the environment. */
    static final String FOLDER_PROPERTY = "gramian.libtorch";

    static final String FOLDER_VARIABLE = "GRAMIAN_LIBTORCH";
    static final String CACHE_VARIABLE = "GRAMIAN_CACHE";
    private static final String XDG_VARIABLE = "XDG_CACHE_HOME";

    LibtorchSettings {
        properties = Map.copyOf(properties);
        environment = Map.copyOf(environment);
    }

    static LibtorchSettings ofProcess() {
        Properties system = System.getProperties();
        Map<String, String> properties = system.stringPropertyNames().stream()
                .collect(Collectors.toMap(name -> name, name -> system.getProperty(name, "")));
        return new LibtorchSettings(properties, System.getenv());
    }

    NativePlatform platform() {
        return NativePlatform.of(properties.getOrDefault("os.name", ""), properties.getOrDefault("os.arch", ""));
    }

    /** Returns a system property, or null if missing or blank. */
    @Nullable
    String property(String name) {
        return nullIfBlank(properties.get(name));
    }

    /** Returns an environment variable, or null if missing or blank. */
    @Nullable
    String variable(String name) {
        return nullIfBlank(environment.get(name));
    }

    /** Returns {@code $GRAMIAN_CACHE}, else {@code $XDG_CACHE_HOME/gramian}, else {@code ~/.cache/gramian}. */
    Path cacheFolder() {
        String own = variable(CACHE_VARIABLE);
        if (own != null) {
            return path(own, CACHE_VARIABLE);
        }
        String xdg = variable(XDG_VARIABLE);
        // The XDG Base Directory specification requires relative paths to be ignored.
        if (xdg != null && parse(xdg, XDG_VARIABLE).isAbsolute()) {
            return path(xdg, XDG_VARIABLE).resolve("gramian");
        }
        String home = property("user.home");
        // Java returns "?" for a user without an entry in the password file, as in many containers.
        if (home == null || home.equals("?")) {
            throw new LibtorchException("no home folder for cached files (user.home is "
                    + (home == null ? "not set" : home) + "); set " + CACHE_VARIABLE + " to a writable folder");
        }
        return path(home, "user.home").resolve(".cache").resolve("gramian");
    }

    /** Parses a path and makes it absolute. */
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

    /**
     * Operating system and CPU architecture, with the file names of native libraries.
     *
     * @param system {@code linux}, {@code osx}, {@code win}, or another lower-case {@code os.name} (no artifact)
     * @param processor {@code x86_64}, {@code aarch64}, or another value of {@code os.arch}
     */
    record NativePlatform(String system, String processor) {
        /** Platforms of the Maven artifact. */
        static final List<String> PUBLISHED = List.of("linux-x86_64", "linux-aarch64", "osx-aarch64", "win-x86_64");

        /** Returns the platform for the system properties {@code os.name} and {@code os.arch}. */
        static NativePlatform of(String osName, String osArch) {
            String name = osName.toLowerCase(Locale.ROOT);
            String system = name.startsWith("mac") || name.startsWith("darwin")
                    ? "osx"
                    : name.startsWith("windows") ? "win" : name.replace(' ', '_');
            String processor = switch (osArch.toLowerCase(Locale.ROOT)) {
                case "amd64", "x86_64", "x64" -> "x86_64";
                case "aarch64", "arm64" -> "aarch64";
                case String other -> other;
            };
            return new NativePlatform(system, processor);
        }

        /** Returns the Maven classifier, e.g. {@code linux-x86_64}. */
        String classifier() {
            return system + "-" + processor;
        }

        /** Returns the file name of a library, e.g. {@code libtorch_cpu.so} for {@code torch_cpu} on Linux. */
        String library(String name) {
            return switch (system) {
                case "win" -> name + ".dll";
                case "osx" -> "lib" + name + ".dylib";
                default -> "lib" + name + ".so";
            };
        }

        /** Returns the library that identifies a libtorch folder. */
        String mainLibrary() {
            return library("torch_cpu");
        }
    }
}
