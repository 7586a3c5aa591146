package org.gramian.image.audit;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.function.Function;
import java.util.stream.Collectors;
import org.gramian.image.ImageFormat;
import org.gramian.image.ImageInfo;

/**
 * Formats, colours and sizes of the readable images.
 *
 * @param readable number of readable images
 * @param width the spread of their widths, upright
 * @param height the spread of their heights, upright
 * @param formats how many of each format
 * @param colours how many of each colour model
 * @param bits how many of each number of bits a channel
 * @param turned how many were rotated or mirrored by their EXIF orientation
 * @param sizes how many of each size
 */
public record Contents(
        int readable,
        Spread width,
        Spread height,
        Map<ImageFormat, Integer> formats,
        Map<ImageInfo.Colour, Integer> colours,
        Map<Integer, Integer> bits,
        int turned,
        List<SizeCount> sizes) {
    /** Minimum, median and maximum; all 0 without images. */
    public record Spread(int smallest, int median, int largest) {
        static Spread of(List<Integer> numbers) {
            if (numbers.isEmpty()) {
                return new Spread(0, 0, 0);
            }
            List<Integer> sorted = numbers.stream().sorted().toList();
            return new Spread(sorted.getFirst(), sorted.get((sorted.size() - 1) / 2), sorted.getLast());
        }
    }

    /** Number of images of a size. */
    public record SizeCount(int width, int height, int images) {}

    static Contents of(List<ImageStatistics> facts) {
        return new Contents(
                facts.size(),
                Spread.of(facts.stream().map(ImageStatistics::width).toList()),
                Spread.of(facts.stream().map(ImageStatistics::height).toList()),
                count(facts, fact -> fact.origin().format()),
                count(facts, fact -> fact.origin().colour()),
                count(facts, fact -> fact.origin().bits()),
                (int) facts.stream().filter(ImageStatistics::turned).count(),
                sizes(facts));
    }

    private static <K> SortedMap<K, Integer> count(List<ImageStatistics> facts, Function<ImageStatistics, K> key) {
        return facts.stream().collect(Collectors.toMap(key, _ -> 1, Integer::sum, TreeMap::new));
    }

    private static List<SizeCount> sizes(List<ImageStatistics> facts) {
        SortedMap<Long, Integer> counts = count(facts, fact -> (long) fact.width() << 32 | fact.height());
        List<SizeCount> sizes = new ArrayList<>();
        counts.forEach((size, count) -> sizes.add(new SizeCount((int) (size >> 32), size.intValue(), count)));
        return List.copyOf(sizes);
    }
}
