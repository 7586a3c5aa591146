package org.gramian.image.dataset.layout;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.function.Function;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.gramian.basis.CsvText;
import org.gramian.basis.NearestWord;
import org.gramian.basis.QuotedText;
import org.gramian.image.dataset.Dataset;
import org.gramian.image.dataset.DatasetException;
import org.gramian.image.dataset.Sample;
import org.gramian.image.dataset.layout.DatasetLayout.Flat;
import org.gramian.image.dataset.layout.DatasetLayout.Folders;
import org.gramian.image.dataset.layout.DatasetLayout.SplitFolders;
import org.gramian.image.dataset.layout.PublishedLayout.Cub2002011;
import org.gramian.image.dataset.layout.PublishedLayout.Dtd;
import org.gramian.image.dataset.layout.PublishedLayout.FgvcAircraft;
import org.gramian.image.dataset.layout.PublishedLayout.Fmd;
import org.gramian.image.dataset.layout.PublishedLayout.KthTips2b;

/**
 * Opens datasets: the registry of layouts, and their detection.
 *
 * @since 0.1
 */
public final class Layouts {
    /**
     * Description of a layout for help texts.
     *
     * @param form the name with its argument
     * @param looks files and folders, in one line
     */
    public record Description(String name, String form, String looks) {}

    private record Rule(Description description, Function<Optional<String>, DatasetLayout> factory) {
        Rule(String form, String looks, Function<Optional<String>, DatasetLayout> factory) {
            this(new Description(form.split("[\\[:]", 2)[0], form, looks), factory);
        }
    }

    private static final List<Rule> RULES = List.of(
            new Rule("folders", "CLASS/IMAGE.jpg: a folder per class", _ -> new Folders()),
            new Rule(
                    "splits",
                    "train/CLASS/IMAGE.jpg, the same under val/ (valid/, validation/, dev/) and test/",
                    _ -> new SplitFolders()),
            new Rule(
                    "csv[:<root>]",
                    "a file with the columns path,label[,fold], paths relative to it or to <root>",
                    root -> new Csv(root.map(Path::of))),
            new Rule(
                    "dtd[:<folder of lists>]",
                    "images/CLASS/IMAGE.jpg, labels/train1.txt, val1.txt, test1.txt, ...",
                    lists -> new Dtd(lists.map(Path::of))),
            new Rule("fmd", "image/CLASS/IMAGE.jpg; mask/ is not used", _ -> new Fmd()),
            new Rule("kth-tips-2b", "CLASS/sample_a/IMAGE.png to sample_d", _ -> new KthTips2b()),
            new Rule(
                    "cub-200-2011",
                    "images/, images.txt, image_class_labels.txt, classes.txt, train_test_split.txt",
                    _ -> new Cub2002011()),
            new Rule(
                    "fgvc-aircraft[:variant|family|manufacturer]",
                    "data/images/NUMBER.jpg, data/images_variant_train.txt, _val.txt, _test.txt",
                    level -> FgvcAircraft.parse(level.orElse(FgvcAircraft.VARIANT))),
            new Rule("flat", "images at any depth without classes, for embed", _ -> new Flat()));

    private static final Csv CSV = new Csv(Optional.empty());

    /** Layouts that are detected; other folders are read as {@link Folders}. */
    private static final List<DatasetLayout> DETECTED = List.of(
            new SplitFolders(),
            new Dtd(Optional.empty()),
            new Fmd(),
            new KthTips2b(),
            new Cub2002011(),
            new FgvcAircraft(FgvcAircraft.VARIANT));

    private Layouts() {}

    /** Returns all layouts. */
    public static List<Description> all() {
        return RULES.stream().map(Rule::description).toList();
    }

    /** Parses a layout such as {@code fmd}, {@code fgvc-aircraft:family} or {@code dtd:lists/}. */
    public static DatasetLayout parse(String text) {
        String[] parts = text.strip().split(":", 2);
        String name = parts[0].toLowerCase(Locale.ROOT);
        List<String> names = all().stream().map(Description::name).toList();
        Rule rule = RULES.stream()
                .filter(one -> one.description().name().equals(name))
                .findFirst()
                .orElseThrow(() -> new IllegalArgumentException("unknown layout '" + parts[0] + "'"
                        + NearestWord.suggestion(name, names) + "; the layouts are " + String.join(", ", names)));
        Optional<String> argument =
                Optional.of(parts).filter(found -> found.length > 1).map(found -> found[1]);
        boolean wanted = !rule.description().form().equals(name);
        if (argument.isPresent() && (!wanted || argument.get().isBlank())) {
            throw new IllegalArgumentException(
                    "expected the layout as " + rule.description().form() + ", found '" + text + "'");
        }
        return rule.factory().apply(argument);
    }

    /**
     * Reads a dataset.
     *
     * @param layout a layout as {@link #parse} reads it; detected if empty
     */
    public static Dataset open(Path place, Optional<String> layout) throws IOException {
        return layout.isEmpty() ? open(place) : parse(layout.get()).read(place);
    }

    /** Reads a dataset that may have a single class: images to add to others. */
    public static Dataset openAdded(Path place, Optional<String> layout) throws IOException {
        try {
            return open(place, layout);
        } catch (DatasetException few) {
            return few.dataset().filter(dataset -> !dataset.samples().isEmpty()).orElseThrow(() -> few);
        }
    }

    /**
     * Reads labels that replace those of a dataset: a CSV file with the columns {@code path,label}, other columns ignored, as the
     * {@code review.csv} of a run. Paths are names of samples; images that are not listed keep their label.
     *
     * @throws DatasetException if a path or class is unknown, or a path has two labels
     */
    public static Dataset relabelled(Dataset dataset, Path list) throws DatasetException {
        List<String> names = dataset.samples().stream().map(Sample::name).toList();
        Map<String, Integer> images = byField(names);
        Map<String, Integer> classes = byField(dataset.classes());
        Map<String, Integer> labels = new HashMap<>();
        for (Csv.Row row : Csv.rows(list)) {
            Integer image = images.get(row.path().strip());
            if (image == null) {
                throw row.wrong("expected the path of an image below " + dataset.root() + ", such as '"
                        + names.getFirst() + "', found '" + row.path() + "'; remove the row");
            }
            Integer label = classes.get(row.label().strip());
            if (label == null) {
                throw row.wrong("unknown class '" + row.label() + "'"
                        + NearestWord.suggestion(row.label(), dataset.classes()) + "; the classes are "
                        + QuotedText.quoted(dataset.classes()));
            }
            Integer before = labels.putIfAbsent(names.get(image), label);
            if (before != null && !before.equals(label)) {
                throw row.wrong("expected one label for '" + row.path() + "', found '"
                        + dataset.classes().get(before) + "' and '" + row.label() + "'");
            }
        }
        return dataset.relabelled(labels);
    }

    /** Returns the indices of names by their fields in a CSV file, with the apostrophes of {@link CsvText} and without. */
    private static Map<String, Integer> byField(List<String> names) {
        Map<String, Integer> indices = new HashMap<>();
        IntStream.range(0, names.size()).forEach(i -> indices.put(names.get(i).strip(), i));
        IntStream.range(0, names.size())
                .forEach(i -> indices.put(CsvText.safe(names.get(i)).strip(), i));
        return indices;
    }

    /** Opens a folder or a CSV file in the detected layout. */
    public static Dataset open(Path place) throws IOException {
        return detect(place).read(place);
    }

    /** Opens a folder, CSV file or single image where classes are optional. */
    public static Dataset openImages(Path place) throws IOException {
        if (Files.isRegularFile(place) && !CSV.matches(place)) {
            return new Flat().read(place);
        }
        DatasetLayout detected = detect(place);
        try {
            return detected.read(place);
        } catch (DatasetException unlabelled) {
            if (detected instanceof Folders) {
                return new Flat().read(place);
            }
            throw unlabelled;
        }
    }

    /** Detects the layout of a folder or file. */
    public static DatasetLayout detect(Path place) throws IOException {
        if (!Files.exists(place)) {
            throw new DatasetException(
                    place, "no such file or folder; expected a folder with one subfolder per class, or a CSV file");
        }
        if (!Files.isDirectory(place)) {
            if (!CSV.matches(place)) {
                throw new DatasetException(place, "expected a folder of images or a file *.csv, found another file");
            }
            return CSV;
        }
        List<DatasetLayout> matching = new ArrayList<>();
        for (DatasetLayout layout : DETECTED) {
            if (layout.matches(place)) {
                matching.add(layout);
            }
        }
        if (matching.size() > 1) {
            String names = matching.stream().map(DatasetLayout::text).collect(Collectors.joining(" and "));
            throw new DatasetException(
                    place, "expected one layout, found the folders of " + names + "; choose one with --layout");
        }
        return matching.isEmpty() ? new Folders() : matching.getFirst();
    }
}
