package org.gramian.tensor.library;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import org.gramian.basis.AtomicFile;
import org.gramian.basis.Sha256;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Name, size and SHA-256 of every unpacked library, stored beside them as one tab-separated line per file. */
record LibtorchManifest(List<Entry> entries) {
    static final String FILE_NAME = "gramian-manifest.tsv";

    /** Name of the note of what was hashed. */
    static final String VERIFIED = "gramian-verified.tsv";

    private static final Logger LOG = LoggerFactory.getLogger(LibtorchManifest.class);

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

    /** Checks the size of every file, fast enough for every start, and its SHA-256 if wanted; one sentence per problem. */
    List<String> problems(Path folder, boolean hashing) {
        List<String> problems = new ArrayList<>();
        for (Entry entry : entries) {
            Path file = folder.resolve(entry.name());
            try {
                long size = Files.size(file);
                String sha256 = hashing && size == entry.size() ? Sha256.hex(Sha256.of(file)) : entry.sha256();
                if (size != entry.size()) {
                    problems.add(file + " has " + size + " bytes instead of " + entry.size());
                } else if (!sha256.equals(entry.sha256())) {
                    problems.add(file + " has the SHA-256 " + sha256 + " instead of " + entry.sha256());
                }
            } catch (IOException e) {
                problems.add(file + (Files.exists(file) ? " cannot be read: " + e.getMessage() : " is missing"));
            }
        }
        return problems;
    }

    /** Returns whether every file has the size and time of change with which it was hashed last. */
    boolean isVerified(Path folder) {
        try {
            return Files.readString(folder.resolve(VERIFIED)).equals(state(folder));
        } catch (IOException e) {
            return false;
        }
    }

    /** Notes that every file has its SHA-256 now; without effect on a read-only disk, where files are hashed at every start. */
    void markVerified(Path folder) {
        try {
            String state = state(folder);
            AtomicFile.put(folder.resolve(VERIFIED), partial -> Files.writeString(partial, state));
        } catch (IOException e) {
            LOG.debug("{} cannot be written: {}", folder.resolve(VERIFIED), e.getMessage());
        }
    }

    private String state(Path folder) throws IOException {
        List<String> lines = new ArrayList<>();
        for (Entry entry : entries) {
            Path file = folder.resolve(entry.name());
            long changed = Files.getLastModifiedTime(file).to(TimeUnit.NANOSECONDS);
            lines.add(entry.sha256() + "\t" + Files.size(file) + "\t" + changed + "\t" + entry.name() + "\n");
        }
        return String.join("", lines);
    }
}
