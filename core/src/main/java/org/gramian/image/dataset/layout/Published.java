package org.gramian.image.dataset.layout;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.gramian.image.dataset.Assignment;
import org.gramian.image.dataset.DatasetException;
import org.gramian.image.dataset.Note.Kind;
import org.gramian.image.dataset.Part;
import org.gramian.image.dataset.Split;

/** What the published layouts have in common: folders and lists of fixed names, in which nothing is named twice. */
final class Published {
    /** The name of a split that has no sisters. */
    static final String ONLY = "given";

    private Published() {}

    static void requireFolder(Path folder) throws DatasetException {
        if (!Files.isDirectory(folder)) {
            throw new DatasetException(folder, "expected a folder, found none with that name");
        }
    }

    /**
     * Notes what lies in a folder beside the named sub-folders. Files that are not images are no surprise there:
     * these layouts come with lists and licences.
     */
    static void noteAround(Survey survey, Path folder, String... names) throws DatasetException {
        Set<String> known = Set.copyOf(Arrays.asList(names));
        Listing here = Listing.of(folder);
        survey.noteAll(Kind.HIDDEN_FOLDERS, here.hidden());
        survey.noteAll(Kind.OUTSIDE_LAYOUT, here.images());
        here.folders().stream()
                .filter(other -> !known.contains(Listing.name(other)))
                .forEach(survey::noteUnused);
    }

    /** The one split that a dataset was published with, from the part of every image by name. */
    static Assignment split(Survey survey, Map<String, Part> partOfName) {
        List<Part> parts = survey.entries().stream()
                .map(entry -> partOfName.getOrDefault(entry.name(), Part.UNUSED))
                .toList();
        return new Assignment.Splits(List.of(new Split(ONLY, parts)));
    }
}
