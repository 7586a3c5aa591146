package org.gramian.report;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Function;
import org.gramian.image.Reading;
import org.gramian.image.audit.AuditReport;
import org.gramian.image.audit.Finding;
import org.gramian.image.dataset.Dataset;
import org.gramian.image.dataset.Sample;

/**
 * Small copies of the pictures that a page shows, in bounded number: about 800 at most, some three megabytes.
 *
 * @param images the source of each picture's {@code img} element, by the picture's name
 * @param strips the names of a few pictures of each class, by the class; none for classes beyond the bound
 */
public record Album(Map<String, String> images, Map<String, List<String>> strips) {
    /** A finding shows so many of its items, and so many pictures of each. */
    static final int ITEMS = 24;

    static final int PICTURES = 6;

    private static final int OF_FINDINGS = 400;
    private static final int OF_CLASSES = 400;
    private static final int OF_A_CLASS = 6;

    /** Chooses the pictures and reads them again. */
    static Album of(AuditReport report, Dataset dataset, Function<Path, Reading> reader) {
        Map<String, List<String>> strips = strips(report, dataset);
        Set<String> names = new LinkedHashSet<>();
        for (Finding finding : report.findings()) {
            finding.items().stream()
                    .limit(ITEMS)
                    .flatMap(item -> item.pictures().stream().limit(PICTURES))
                    .limit(Math.max(0, OF_FINDINGS - names.size()))
                    .forEach(names::add);
        }
        strips.values().forEach(names::addAll);
        Map<String, Path> files = new HashMap<>();
        dataset.samples().forEach(sample -> files.put(sample.name(), sample.file()));
        Map<String, String> images = new ConcurrentHashMap<>();
        names.parallelStream().forEach(name -> {
            Path file = files.get(name);
            if (file != null && reader.apply(file) instanceof Reading.Readable(var picture, var _)) {
                images.put(name, Thumbnail.of(picture));
            }
        });
        return new Album(Map.copyOf(images), strips);
    }

    /** The image of a picture; none if it cannot be read or there are too many. */
    public Optional<String> image(String name) {
        return Optional.ofNullable(images.get(name));
    }

    /** Pictures evenly spaced over each class: the first ones of a folder are often alike. */
    private static Map<String, List<String>> strips(AuditReport report, Dataset dataset) {
        Map<String, List<String>> byClass = new TreeMap<>();
        for (Sample sample : dataset.samples()) {
            byClass.computeIfAbsent(dataset.className(sample), _ -> new ArrayList<>())
                    .add(sample.name());
        }
        int each = Math.clamp(OF_CLASSES / Math.max(1, byClass.size()), 1, OF_A_CLASS);
        report.unreadable()
                .forEach(lost -> byClass.getOrDefault(lost.picture().label(), new ArrayList<>())
                        .remove(lost.picture().name()));
        Map<String, List<String>> strips = new TreeMap<>();
        for (Map.Entry<String, List<String>> entry : byClass.entrySet()) {
            if (strips.size() < OF_CLASSES) {
                strips.put(entry.getKey(), spaced(entry.getValue(), each));
            }
        }
        return strips;
    }

    private static List<String> spaced(List<String> names, int count) {
        int shown = Math.min(count, names.size());
        List<String> chosen = new ArrayList<>();
        for (int i = 0; i < shown; i++) {
            chosen.add(names.get((int) ((long) i * names.size() / shown)));
        }
        return chosen;
    }
}
