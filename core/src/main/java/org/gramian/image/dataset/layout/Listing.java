package org.gramian.image.dataset.layout;

import java.io.IOException;
import java.nio.file.DirectoryIteratorException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import org.gramian.basis.FileNames;
import org.gramian.image.ImageNames;
import org.gramian.image.dataset.DatasetException;

/**
 * The content of a folder, not recursive, sorted by name. A file is an image by its extension or else by its first bytes. Links
 * are followed; a broken link with the name of an image is an image that the decoder will report.
 *
 * @param folders sub-folders, hidden ones excepted
 * @param hidden hidden sub-folders
 * @param images files that are images by name or content
 * @param others all other files
 */
record Listing(List<Path> folders, List<Path> hidden, List<Path> images, List<Path> others) {
    static Listing of(Path folder) throws DatasetException {
        Listing found = new Listing(new ArrayList<>(), new ArrayList<>(), new ArrayList<>(), new ArrayList<>());
        try (DirectoryStream<Path> children = Files.newDirectoryStream(folder)) {
            List<Path> sorted = new ArrayList<>();
            children.forEach(sorted::add);
            sorted.sort(Comparator.comparing(Listing::name));
            requireNames(folder, sorted);
            sorted.forEach(found::place);
        } catch (DatasetException unnamed) {
            throw unnamed;
        } catch (DirectoryIteratorException | IOException failure) {
            String reason = failure.getClass().getSimpleName().replace("Exception", "");
            throw new DatasetException(folder, "expected a folder that can be listed, found: " + reason, failure);
        }
        return found;
    }

    /** Rejects names with lost characters: they would become class names, and two files might get the same name. */
    private static void requireNames(Path folder, List<Path> children) throws DatasetException {
        Optional<String> damaged = children.stream()
                .map(Listing::name)
                .filter(FileNames::isDamaged)
                .findFirst();
        if (damaged.isPresent() && !FileNames.isUtf8()) {
            throw new DatasetException(folder, FileNames.problem(damaged.get()));
        }
    }

    private void place(Path child) {
        String name = name(child);
        if (Files.isDirectory(child)) {
            (ImageNames.isHidden(name) ? hidden : folders).add(child);
        } else {
            boolean special = Files.exists(child) && !Files.isRegularFile(child); // a pipe would block
            boolean image = !special && (ImageNames.isImage(name) || ImageNames.beginsAsImage(child));
            (image ? images : others).add(child);
        }
    }

    /** Returns whether there are images in a folder or below it; does not follow links, ignores unreadable folders. */
    static boolean holdsImages(Path folder) {
        try {
            Listing inside = of(folder);
            return !inside.images.isEmpty()
                    || inside.folders.stream().anyMatch(deeper -> !Files.isSymbolicLink(deeper) && holdsImages(deeper));
        } catch (DatasetException unlisted) {
            return false;
        }
    }

    static String name(Path path) {
        Path last = path.getFileName();
        return last == null ? "" : last.toString();
    }
}
