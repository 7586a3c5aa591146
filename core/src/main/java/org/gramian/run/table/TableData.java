package org.gramian.run.table;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.gramian.image.dataset.Dataset;
import org.gramian.image.dataset.layout.Layouts;

/**
 * A dataset, which is a column of a table.
 *
 * @param name its name in the table and of its folder
 * @param place its folder or CSV file
 * @param dataset its images
 */
public record TableData(String name, Path place, Dataset dataset) {
    /**
     * Opens datasets under the names of their folders; a repeated name gets a number.
     *
     * @param layout layout of all; detected if empty
     * @throws IllegalArgumentException if one is given twice
     */
    public static List<TableData> open(List<Path> places, Optional<String> layout) throws IOException {
        List<TableData> all = new ArrayList<>();
        Map<String, Integer> seen = new HashMap<>();
        Set<Path> real = new HashSet<>();
        for (Path place : places) {
            if (!real.add(Files.exists(place) ? place.toRealPath() : place)) {
                throw new IllegalArgumentException("expected every folder of images once, found " + place + " twice");
            }
            String name = name(place);
            int number = seen.merge(name, 1, Integer::sum);
            all.add(new TableData(number == 1 ? name : name + "-" + number, place, Layouts.open(place, layout)));
        }
        return all;
    }

    private static String name(Path place) {
        String last = String.valueOf(place.toAbsolutePath().normalize().getFileName());
        String name = TableRow.folder(last.replaceFirst("\\.csv$", ""));
        return name.isEmpty() ? "images" : name;
    }

    /** Returns which dataset of the paper it is. */
    public Optional<PaperData> paper() {
        return PaperData.of(dataset);
    }
}
