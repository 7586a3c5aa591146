package org.gramian.tensor.library;

import java.util.List;
import java.util.Locale;

/**
 * Operating system and processor, with the naming of native libraries.
 *
 * @param system {@code linux}, {@code osx}, {@code win}, or the system's own name if there is no artifact for it
 * @param processor {@code x86_64}, {@code aarch64}, or the processor's own name
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

    /** Returns the Maven classifier, {@code linux-x86_64}. */
    String classifier() {
        return system + "-" + processor;
    }

    /** Returns the file name of a library: {@code torch_cpu} is {@code libtorch_cpu.so} on Linux. */
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
