package org.gramian.demo;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.stream.Stream;
import org.gramian.basis.AtomicTextFile;

/**
 * Folder of a demo: {@value #IMAGES}, a folder for each run, the report, and {@value #MARK}, which identifies the demo and its
 * recipe. A folder with other content is never changed.
 *
 * @param path the folder
 */
public record DemoFolder(Path path) {
    private static final String IMAGES = "textures";
    private static final String MARK = "demo.txt";

    /**
     * Opens a new or empty folder, or that of the same demo to resume it.
     *
     * @throws IllegalArgumentException if the folder has other content
     */
    public static DemoFolder open(Path path, DemoRecipe recipe) throws IOException {
        String wanted = mark(recipe);
        Path mark = path.resolve(MARK);
        if (Files.isRegularFile(mark)) {
            String found = Files.readString(mark, StandardCharsets.UTF_8);
            if (!found.equals(wanted)) {
                throw new IllegalArgumentException(
                        "%s: expected a new folder or the same demo, found another demo:%n%s%s"
                                .formatted(path, found.indent(2), "choose another folder with --out"));
            }
        } else if (Files.exists(path)) {
            requireEmpty(path);
        }
        Files.createDirectories(path);
        AtomicTextFile.write(mark, text -> text.write(wanted));
        return new DemoFolder(path);
    }

    private static void requireEmpty(Path path) throws IOException {
        if (!Files.isDirectory(path)) {
            throw new IllegalArgumentException(
                    path + ": expected a new folder or a demo, found a file; choose another folder with --out");
        }
        try (Stream<Path> content = Files.list(path)) {
            if (content.findAny().isPresent()) {
                throw new IllegalArgumentException(path + ": expected a new folder or a demo, found other files;"
                        + " nothing was changed; choose another folder with --out");
            }
        }
    }

    private static String mark(DemoRecipe recipe) {
        TextureSet textures = recipe.textures();
        return "gramian demo, version 1%nseed %d%nimages %d of each class, %d x %d%npooling %s on %s, %d epochs%n"
                .formatted(
                        textures.seed(),
                        textures.images(),
                        textures.side(),
                        textures.side(),
                        recipe.pooling(),
                        recipe.backbone(),
                        recipe.epochs());
    }

    /** Returns the folder of the images, which has one folder for each class. */
    public Path images() {
        return path.resolve(IMAGES);
    }

    /** Returns the folder of a run. */
    public Path run(DemoRecipe.Entry entry) {
        return path.resolve(entry.name());
    }
}
