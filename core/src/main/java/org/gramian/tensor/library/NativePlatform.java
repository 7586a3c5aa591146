package org.gramian.tensor.library;

import java.util.List;
import java.util.Locale;

/**
 * The operating system and processor that libtorch must have been built for, and how libraries are named there.
 *
 * @param system {@code linux}, {@code osx}, {@code win}, or the system's own name where no artifact exists for it
 * @param processor {@code x86_64}, {@code aarch64}, or the processor's own name
 */
record NativePlatform(String system, String processor) {
    /** The platforms that the Maven artifact is published for. */
    static final List<String> PUBLISHED = List.of("linux-x86_64", "linux-aarch64", "osx-aarch64", "win-x86_64");

    /** The platform of a virtual machine, by its properties {@code os.name} and {@code os.arch}. */
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

    /** The platform in the words of the artifact's classifier, {@code linux-x86_64}. */
    String classifier() {
        return system + "-" + processor;
    }

    /** The file name of a library: {@code torch_cpu} is {@code libtorch_cpu.so} on Linux. */
    String library(String name) {
        return switch (system) {
            case "win" -> name + ".dll";
            case "osx" -> "lib" + name + ".dylib";
            default -> "lib" + name + ".so";
        };
    }

    /** The library whose presence makes a folder a libtorch folder. */
    String mainLibrary() {
        return library("torch_cpu");
    }
}
