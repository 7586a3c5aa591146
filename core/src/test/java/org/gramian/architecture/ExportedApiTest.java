package org.gramian.architecture;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.lang.reflect.Constructor;
import java.lang.reflect.Field;
import java.lang.reflect.Member;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.gramian.Trainer;
import org.junit.jupiter.api.Test;

/**
 * The exported API equals {@code core/api.txt}: every exported type with its public and protected members. An intended change copies
 * {@code core/target/api.txt}, which this test writes, over it; a removed line breaks programs of users.
 */
class ExportedApiTest {
    private static final Path EXPECTED = Path.of("api.txt");
    private static final Set<String> OF_OBJECT = Set.of("equals", "hashCode", "toString");
    private static final Path MODULE = Path.of("src", "main", "java", "module-info.java");

    @Test
    void exportedApiIsThatOfFile() throws IOException {
        List<String> found = new ArrayList<>();
        for (String exported : exportedPackages()) {
            for (Class<?> type : types(exported)) {
                describe(type, found);
            }
        }
        Path written = Files.createDirectories(Path.of("target")).resolve("api.txt");
        Files.write(written, found);
        assertThat(found).hasSizeGreaterThan(1000);
        List<String> expected = Files.readAllLines(EXPECTED);
        Stream<String> removed =
                expected.stream().filter(line -> !found.contains(line)).map(line -> "- " + line);
        Stream<String> added =
                found.stream().filter(line -> !expected.contains(line)).map(line -> "+ " + line);
        assertThat(Stream.concat(removed, added))
                .as("changes of the exported API; if they are intended, copy core/%s to core/%s", written, EXPECTED)
                .isEmpty();
    }

    private static List<String> exportedPackages() throws IOException {
        return Pattern.compile("(?m)^ *exports ([\\w.]+);")
                .matcher(Files.readString(MODULE))
                .results()
                .map((MatchResult found) -> found.group(1))
                .toList();
    }

    private static List<Class<?>> types(String name) throws IOException {
        Path classes = Path.of(Trainer.class
                .getProtectionDomain()
                .getCodeSource()
                .getLocation()
                .getPath());
        List<Class<?>> types = new ArrayList<>();
        try (Stream<Path> files = Files.list(classes.resolve(name.replace('.', '/')))) {
            for (Path file : files.sorted().toList()) {
                String simple = file.getFileName().toString();
                if (simple.matches("\\w+\\.class") && !simple.contains("$")) {
                    types.add(type(name + "." + simple.replace(".class", "")));
                }
            }
        }
        return types;
    }

    private static Class<?> type(String name) {
        try {
            return Class.forName(name, false, ExportedApiTest.class.getClassLoader());
        } catch (ClassNotFoundException impossible) {
            throw new AssertionError(impossible);
        }
    }

    /** Adds a type, its members, and those of its nested types, one per line. */
    private static void describe(Class<?> type, List<String> lines) {
        if (!isVisible(type.getModifiers())) {
            return;
        }
        lines.add(type.toGenericString());
        TreeSet<String> members = new TreeSet<>();
        for (Field field : type.getDeclaredFields()) {
            add(field, field.toGenericString(), members);
        }
        for (Constructor<?> constructor : type.getDeclaredConstructors()) {
            add(constructor, constructor.toGenericString(), members);
        }
        for (Method method : type.getDeclaredMethods()) {
            if (!OF_OBJECT.contains(method.getName())) {
                add(method, method.toGenericString(), members);
            }
        }
        lines.addAll(members);
        Arrays.stream(type.getDeclaredClasses())
                .sorted((a, b) -> a.getName().compareTo(b.getName()))
                .forEach(nested -> describe(nested, lines));
    }

    private static void add(Member member, String text, Set<String> members) {
        if (isVisible(member.getModifiers()) && !member.isSynthetic()) {
            members.add("  " + text);
        }
    }

    private static boolean isVisible(int modifiers) {
        return Modifier.isPublic(modifiers) || Modifier.isProtected(modifiers);
    }
}
