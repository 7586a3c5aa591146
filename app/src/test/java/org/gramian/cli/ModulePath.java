package org.gramian.cli;

import java.io.File;
import java.lang.module.ModuleFinder;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/**
 * The class path of the tests, divided for users of Java modules.
 *
 * @param modules gramian-core and the libraries that it needs
 * @param classPath libtorch, whose jar cannot be a module, and libwebp with the Kotlin that it needs but does not require
 */
record ModulePath(List<Path> modules, List<Path> classPath) {
    private static final Pattern LIBRARIES =
            Pattern.compile("(jackson|slf4j-api|common|commons|imageio|fastcsv|snakeyaml-engine|jspecify)-.*\\.jar");

    static ModulePath ofTests() {
        List<Path> all = Arrays.stream(
                        System.getProperty("surefire.test.class.path", System.getProperty("java.class.path"))
                                .split(File.pathSeparator))
                .map(Path::of)
                .toList();
        return new ModulePath(
                all.stream().filter(ModulePath::isModule).toList(),
                all.stream()
                        .filter(entry -> name(entry).matches("(pytorch-native|webp-imageio|kotlin-stdlib)-.*"))
                        .toList());
    }

    private static boolean isModule(Path entry) {
        if (LIBRARIES.matcher(name(entry)).matches()) {
            return true;
        }
        boolean mayBeCore = !name(entry).endsWith(".jar") || name(entry).startsWith("gramian-core");
        return mayBeCore && ModuleFinder.of(entry).find("org.gramian.core").isPresent();
    }

    private static String name(Path entry) {
        return String.valueOf(entry.getFileName());
    }

    static String text(List<Path> entries) {
        return entries.stream().map(Path::toString).collect(Collectors.joining(File.pathSeparator));
    }
}
