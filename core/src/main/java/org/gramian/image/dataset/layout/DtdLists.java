package org.gramian.image.dataset.layout;

import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.SortedMap;
import java.util.SortedSet;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.gramian.image.dataset.DatasetException;
import org.gramian.image.dataset.Note.Kind;
import org.gramian.image.dataset.Part;

/** The split lists of DTD: {@code train1.txt}, {@code val1.txt}, {@code test1.txt}, and so on. */
final class DtdLists {
    private static final Pattern NAME = Pattern.compile("(?:train|val|test)([1-9]\\d{0,3})\\.txt");

    private static final List<Part> PARTS = List.of(Part.TRAIN, Part.VALIDATION, Part.TEST);

    private DtdLists() {}

    /** The part of every listed image, for every split by its number. */
    static SortedMap<Integer, Map<String, Part>> read(Survey survey, Path folder) throws DatasetException {
        Published.requireFolder(folder);
        SortedSet<Integer> numbers = new TreeSet<>();
        for (Path file : Listing.of(folder).others()) {
            Matcher matcher = NAME.matcher(Listing.name(file));
            if (matcher.matches()) {
                numbers.add(Integer.valueOf(matcher.group(1)));
            }
        }
        if (numbers.isEmpty()) {
            throw new DatasetException(folder, "expected the lists train1.txt, val1.txt, test1.txt, ..., found none");
        }
        SortedMap<Integer, Map<String, Part>> splits = new TreeMap<>();
        for (int number : numbers) {
            Map<String, Part> partOfName = new HashMap<>();
            for (Part part : PARTS) {
                readList(survey, folder.resolve(part.word() + number + ".txt"), part, partOfName);
            }
            splits.put(number, partOfName);
        }
        return splits;
    }

    private static void readList(Survey survey, Path file, Part part, Map<String, Part> partOfName)
            throws DatasetException {
        for (ListLine line : ListLine.read(file)) {
            if (line.text().indexOf('/') < 1) {
                throw line.wrong("expected CLASS/IMAGE, found '" + line.text() + "'");
            }
            Part before = partOfName.put(line.text(), part);
            if (before == part) {
                survey.note(Kind.REPEATED_ROWS, line.text() + " in " + Listing.name(file));
            } else if (before != null) {
                throw line.wrong("expected every image in one list of a split, found '" + line.text()
                        + "' also in the list for " + before.word());
            }
        }
    }

    /** The class of a listed image, {@code banded} of {@code banded/banded_0002.jpg}. */
    static String category(String listed) {
        return listed.substring(0, listed.indexOf('/'));
    }
}
