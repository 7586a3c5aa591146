package org.gramian.tensor.library;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.function.Consumer;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.gramian.basis.AtomicFile;
import org.gramian.basis.QuotedText;
import org.gramian.basis.Sha256;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Folder of the libtorch libraries, and how it was chosen.
 *
 * @param origin option or variable that selected it, shown by {@code doctor}: {@code --libtorch}, …
 * @param version version of libtorch, or null if unknown
 */
public record LibtorchFolder(
        Path folder, String origin, @Nullable String version) {
    /**
     * Returns the libtorch of this process: the folder of {@code --libtorch} or {@code GRAMIAN_LIBTORCH}, else the
     * Maven artifact, unpacked if necessary.
     *
     * @throws LibtorchException if there is none or it cannot be unpacked
     */
    public static LibtorchFolder locate() {
        return Locator.ofProcess().locate();
    }

    /** Returns whether checksums are stored beside the libraries, as for the unpacked Maven artifact. */
    public boolean hasChecksums() {
        return Files.exists(folder.resolve(Manifest.FILE_NAME));
    }

    /**
     * Reads every library and compares it with its checksum, which takes about a second.
     *
     * @return one sentence per damaged file; empty if all are intact or {@linkplain #hasChecksums() none are known}
     */
    public List<String> verifyChecksums() {
        if (!hasChecksums()) {
            return List.of();
        }
        Manifest manifest = Manifest.readFrom(folder);
        return manifest == null
                ? List.of(folder.resolve(Manifest.FILE_NAME) + " is unreadable")
                : manifest.problems(folder, true);
    }

    /** Name, size and SHA-256 of every unpacked library, stored beside them as one line per file. */
    record Manifest(List<Entry> entries) {
        static final String FILE_NAME = "gramian-manifest.tsv";

        record Entry(String name, long size, String sha256) {}

        /** Reads the manifest of a folder; null if it is missing or invalid. */
        static @Nullable Manifest readFrom(Path folder) {
            try {
                List<Entry> entries = new ArrayList<>();
                for (String line : Files.readAllLines(folder.resolve(FILE_NAME))) {
                    String[] fields = line.split("\t", -1);
                    if (fields.length != 3) {
                        return null;
                    }
                    entries.add(new Entry(fields[0], Long.parseLong(fields[1]), fields[2]));
                }
                return new Manifest(entries);
            } catch (IOException | NumberFormatException e) {
                return null;
            }
        }

        void write(Path folder) throws IOException {
            AtomicFile.putText(folder.resolve(FILE_NAME), text -> {
                for (Entry entry : entries) {
                    text.write(entry.name + "\t" + entry.size + "\t" + entry.sha256 + "\n");
                }
            });
        }

        Set<String> names() {
            return entries.stream().map(Entry::name).collect(Collectors.toUnmodifiableSet());
        }

        /** Checks the size of every file, fast enough for every start, and its SHA-256 if wanted; one sentence per problem. */
        List<String> problems(Path folder, boolean hashing) {
            List<String> problems = new ArrayList<>();
            for (Entry entry : entries) {
                Path file = folder.resolve(entry.name);
                try {
                    long size = Files.size(file);
                    String sha256 = hashing && size == entry.size ? Sha256.hex(Sha256.of(file)) : entry.sha256;
                    if (size != entry.size) {
                        problems.add(file + " has " + size + " bytes instead of " + entry.size);
                    } else if (!sha256.equals(entry.sha256)) {
                        problems.add(file + " has the SHA-256 " + sha256 + " instead of " + entry.sha256);
                    }
                } catch (IOException e) {
                    problems.add(file + (Files.exists(file) ? " cannot be read: " + e.getMessage() : " is missing"));
                }
            }
            return problems;
        }
    }

    /** Chooses the folder: {@code --libtorch}, else {@code GRAMIAN_LIBTORCH}, else the Maven artifact on the class path, unpacked into the cache. */
    record Locator(LibtorchSettings settings, ClassLoader classPath, Consumer<String> progress) {
        private static final Logger LOG = LoggerFactory.getLogger(Locator.class);
        private static final Pattern PYTHON_VERSION =
                Pattern.compile("^__version__\\s*=\\s*['\"]([^'\"]+)", Pattern.MULTILINE);

        /** Returns the locator of this process, which logs progress at level info. */
        static Locator ofProcess() {
            return new Locator(LibtorchSettings.ofProcess(), Locator.class.getClassLoader(), LOG::info);
        }

        /** Finds libtorch and unpacks it if necessary. */
        LibtorchFolder locate() {
            String option = settings.property(LibtorchSettings.FOLDER_PROPERTY);
            if (option != null) {
                return given(option, "--libtorch");
            }
            String variable = settings.variable(LibtorchSettings.FOLDER_VARIABLE);
            if (variable != null) {
                return given(variable, LibtorchSettings.FOLDER_VARIABLE);
            }
            LibtorchArtifact artifact = LibtorchArtifact.find(classPath, settings.platform());
            return new LibtorchCache(settings.cacheFolder(), progress).provide(artifact);
        }

        private LibtorchFolder given(String text, String origin) {
            Path folder = LibtorchSettings.path(text, origin);
            // In this order: the lib folder itself; the torch package or an unzipped libtorch; Python's site-packages.
            for (Path candidate : List.of(folder, folder.resolve("lib"), folder.resolve("torch", "lib"))) {
                if (Files.isRegularFile(candidate.resolve(settings.platform().mainLibrary()))) {
                    return new LibtorchFolder(candidate, origin, statedVersion(candidate));
                }
            }
            String library = settings.platform().mainLibrary();
            throw new LibtorchException(origin + ": expected a folder with " + library
                    + " in it, in its folder 'lib' or in 'torch/lib'; found that " + folder + " " + contents(folder)
                    + ". Try the folder of a PyTorch installed with pip, which"
                    + " 'python3 -c \"import torch; print(torch.__path__[0])\"' prints."
                    + " Without " + origin + " the libtorch of the Maven artifact is used");
        }

        private static String contents(Path folder) {
            try (Stream<Path> files = Files.list(folder)) {
                List<String> names = files.map(file -> file.getFileName().toString())
                        .sorted()
                        .toList();
                return names.isEmpty() ? "is empty" : "holds " + QuotedText.some(names);
            } catch (NoSuchFileException e) {
                return "does not exist";
            } catch (IOException e) {
                return "is no readable folder";
            }
        }

        /** Returns the version in pip's {@code version.py} or the {@code build-version} of an unzipped libtorch. */
        private static @Nullable String statedVersion(Path lib) {
            try {
                Path python = lib.resolveSibling("version.py");
                if (Files.isRegularFile(python)) {
                    Matcher matcher = PYTHON_VERSION.matcher(Files.readString(python));
                    return matcher.find() ? matcher.group(1) : null;
                }
                Path plain = lib.resolveSibling("build-version");
                return Files.isRegularFile(plain) ? Files.readString(plain).strip() : null;
            } catch (IOException e) {
                // The version is only displayed; the libraries may work without it.
                return null;
            }
        }
    }
}
