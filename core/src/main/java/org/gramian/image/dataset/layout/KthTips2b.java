package org.gramian.image.dataset.layout;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;
import org.gramian.image.dataset.Assignment;
import org.gramian.image.dataset.Dataset;
import org.gramian.image.dataset.DatasetException;
import org.gramian.image.dataset.Note.Kind;

/**
 * KTH-TIPS-2b as published: {@code CLASS/sample_a/*.png} to {@code sample_d}, 11 classes of 4 physical samples with 108
 * images each. The sample's letter is kept: images of one sample must not be on both sides of a split.
 *
 * <p>Caputo, Hayman, Mallikarjuna: Class-specific material categorisation, ICCV 2005.
 */
public record KthTips2b() implements Layout {
    private static final Pattern SAMPLE = Pattern.compile("sample_([a-z])");

    @Override
    public String text() {
        return "kth-tips-2b";
    }

    /** Every class folder that is not empty has a folder of a physical sample. */
    @Override
    public boolean matches(Path place) throws IOException {
        boolean any = false;
        for (Path category : Files.isDirectory(place) ? Listing.of(place).folders() : List.<Path>of()) {
            Listing inside = Listing.of(category);
            boolean samples = inside.folders().stream().anyMatch(KthTips2b::isSample);
            if (!samples && !(inside.folders().isEmpty() && inside.images().isEmpty())) {
                return false;
            }
            any |= samples;
        }
        return any;
    }

    private static boolean isSample(Path folder) {
        return SAMPLE.matcher(Listing.name(folder)).matches();
    }

    @Override
    public Dataset read(Path place) throws IOException {
        Survey survey = new Survey(place);
        Map<String, String> letterOfName = new HashMap<>();
        Listing here = Listing.of(place);
        survey.noteOthers(here);
        survey.noteAll(Kind.OUTSIDE_LAYOUT, here.images());
        for (Path category : here.folders()) {
            int before = letterOfName.size();
            readClass(survey, category, letterOfName);
            if (letterOfName.size() == before) {
                survey.note(Kind.EMPTY_CLASSES, survey.name(category));
            }
        }
        List<String> letters = survey.entries().stream()
                .map(entry -> letterOfName.getOrDefault(entry.name(), ""))
                .toList();
        return survey.dataset(this, new Assignment.Groups(letters));
    }

    private static void readClass(Survey survey, Path category, Map<String, String> letterOfName)
            throws DatasetException {
        Listing inside = Listing.of(category);
        survey.noteOthers(inside);
        survey.noteAll(Kind.OUTSIDE_LAYOUT, inside.images());
        for (Path folder : inside.folders()) {
            if (!isSample(folder)) {
                survey.noteUnused(folder);
                continue;
            }
            String letter = SAMPLE.matcher(Listing.name(folder)).replaceFirst("$1");
            for (Path file : survey.images(folder)) {
                survey.add(Listing.name(category), file);
                letterOfName.put(survey.name(file), letter);
            }
        }
    }
}
