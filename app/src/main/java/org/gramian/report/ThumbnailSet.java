package org.gramian.report;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Function;
import java.util.stream.Collectors;
import org.gramian.basis.ParallelLoop;
import org.gramian.basis.Subsample;
import org.gramian.image.ReadResult;
import org.gramian.image.audit.AuditReport;
import org.gramian.image.audit.AuditReport.Finding;
import org.gramian.image.dataset.Dataset;
import org.gramian.image.dataset.Sample;
import org.gramian.image.resize.Thumbnail;

/**
 * Thumbnails of an audit page, about 800 at most (3 MB).
 *
 * @param strips names of a few images by class; classes beyond the bound have none
 */
public record ThumbnailSet(Map<String, String> images, Map<String, List<String>> strips) {
    /** Most items shown of a finding. */
    static final int ITEMS = 24;

    /** Most images shown of an item. */
    static final int IMAGES = 6;

    private static final int OF_FINDINGS = 400;
    private static final int OF_CLASSES = 400;
    private static final int OF_A_CLASS = 6;

    /** Selects the images and reads them. */
    public static ThumbnailSet of(AuditReport report, Dataset dataset, Function<Path, ReadResult> reader, int threads)
            throws InterruptedException {
        Map<String, List<String>> strips = strips(report, dataset);
        Set<String> names = new HashSet<>();
        for (Finding finding : report.findings()) {
            finding.items().stream()
                    .limit(ITEMS)
                    .flatMap(item -> item.images().stream().limit(IMAGES))
                    .limit(Math.max(0, OF_FINDINGS - names.size()))
                    .forEach(names::add);
        }
        strips.values().forEach(names::addAll);
        List<Sample> samples = dataset.samples().stream()
                .filter(sample -> names.contains(sample.name()))
                .toList();
        Map<String, String> images = new ConcurrentHashMap<>();
        ParallelLoop.forEach(
                samples.size(),
                threads,
                _ -> {},
                i -> Thumbnail.of(reader.apply(samples.get(i).file()))
                        .ifPresent(jpeg -> images.put(samples.get(i).name(), Thumbnail.source(jpeg))));
        return new ThumbnailSet(Map.copyOf(images), strips);
    }

    /** Returns the data URI of a thumbnail; empty if the image is unreadable or beyond the bound. */
    public Optional<String> image(String name) {
        return Optional.ofNullable(images.get(name));
    }

    /** Samples each class evenly: the first images of a folder are often alike. */
    private static Map<String, List<String>> strips(AuditReport report, Dataset dataset) {
        Map<String, List<String>> byClass = new TreeMap<>();
        Set<String> lost =
                report.unreadable().stream().map(one -> one.image().name()).collect(Collectors.toSet());
        for (Sample sample : dataset.samples()) {
            List<String> readable = byClass.computeIfAbsent(dataset.className(sample), _ -> new ArrayList<>());
            if (!lost.contains(sample.name())) {
                readable.add(sample.name());
            }
        }
        int each = Math.clamp(OF_CLASSES / Math.max(1, byClass.size()), 1, OF_A_CLASS);
        Map<String, List<String>> strips = new TreeMap<>();
        for (Map.Entry<String, List<String>> entry : byClass.entrySet()) {
            if (strips.size() < OF_CLASSES) {
                strips.put(entry.getKey(), Subsample.even(entry.getValue(), each));
            }
        }
        return strips;
    }
}
