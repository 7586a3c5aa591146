package org.gramian.tensor.library;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import org.gramian.basis.Sha256;
import org.jspecify.annotations.Nullable;

/** Name, size and SHA-256 of every unpacked library, stored beside them as one tab-separated line per file. */
record LibtorchManifest(List<Entry> entries) {
    static final String FILE_NAME = "gramian-manifest.tsv";

    /** One library. */
    record Entry(String name, long size, String sha256) {}

    LibtorchManifest {
        entries = List.copyOf(entries);
    }

    /** Reads the manifest of a folder; null if it is missing or invalid. */
    static @Nullable LibtorchManifest readFrom(Path folder) {
        try {
            List<Entry> entries = new ArrayList<>();
            for (String line : Files.readAllLines(folder.resolve(FILE_NAME))) {
                String[] fields = line.split("\t", -1);
                if (fields.length != 3) {
                    return null;
                }
                entries.add(new Entry(fields[0], Long.parseLong(fields[1]), fields[2]));
            }
            return new LibtorchManifest(entries);
        } catch (IOException | NumberFormatException e) {
            return null;
        }
    }

    String text() {
        return entries.stream()
                .map(entry -> entry.name() + "\t" + entry.size() + "\t" + entry.sha256() + "\n")
                .collect(Collectors.joining());
    }

    Set<String> names() {
        return entries.stream().map(Entry::name).collect(Collectors.toUnmodifiableSet());
    }

    /** Checks existence and size of every file, fast enough for every start; returns one sentence per problem. */
    List<String> sizeProblems(Path folder) {
        List<String> problems = new ArrayList<>();
        for (Entry entry : entries) {
            Path file = folder.resolve(entry.name());
            try {
                long size = Files.size(file);
                if (size != entry.size()) {
                    problems.add(file + " has " + size + " bytes instead of " + entry.size());
                }
            } catch (IOException e) {
                problems.add(file + (Files.exists(file) ? " cannot be read: " + e.getMessage() : " is missing"));
            }
        }
        return problems;
    }

    /** Checks sizes and SHA-256 of every file; returns one sentence per problem. */
    List<String> checksumProblems(Path folder) {
        List<String> problems = new ArrayList<>(sizeProblems(folder));
        if (!problems.isEmpty()) {
            return problems;
        }
        for (Entry entry : entries) {
            Path file = folder.resolve(entry.name());
            try {
                String found = Sha256.hex(Sha256.of(file));
                if (!found.equals(entry.sha256())) {
                    problems.add(file + " has the SHA-256 " + found + " instead of " + entry.sha256());
                }
            } catch (IOException e) {
                problems.add(file + " cannot be read: " + e.getMessage());
            }
        }
        return problems;
    }
}
