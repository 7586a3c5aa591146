package org.gramian.image.dataset.protocol;

import java.util.List;
import java.util.Locale;
import java.util.function.Function;
import java.util.function.Predicate;
import java.util.stream.Stream;
import org.gramian.basis.NamedArguments;
import org.gramian.basis.QuotedText;
import org.gramian.image.dataset.Assignment;
import org.gramian.image.dataset.Assignment.Split;
import org.gramian.image.dataset.Dataset;
import org.gramian.image.dataset.protocol.OfficialProtocol.Given;
import org.gramian.image.dataset.protocol.OfficialProtocol.KthSamples;
import org.gramian.image.dataset.protocol.OfficialProtocol.Published;
import org.gramian.image.dataset.protocol.RandomProtocol.Kind;

/** The registry of protocols, and the default protocol of a dataset. */
public final class Protocols {
    /**
     * Description of a protocol for help texts.
     *
     * @param name the name alone, such as {@code kfold}
     * @param form the name with its argument and default
     * @param meaning the train and test sets, in one line
     */
    public record Description(String name, String form, String meaning) {}

    private record Rule(Description description, Function<NamedArguments, Protocol> factory) {
        Rule(String form, String meaning, Function<NamedArguments, Protocol> factory) {
            this(new Description(form.split("[\\[:]", 2)[0], form, meaning), factory);
        }
    }

    private static final List<Rule> RULES = List.of(
            random(Kind.HOLDOUT, "a random fraction of every class is the test set, the rest the training set"),
            random(Kind.KFOLD, "k-fold cross-validation: each random part is the test set once"),
            random(
                    Kind.THIRDS,
                    "random thirds, two for training, one for testing; 1, 2 or all 3 folds (DTD and FMD in the paper)"),
            random(Kind.HALF, "a random half of every class is the training set, with this many repetitions (FMD)"),
            new Rule(
                    "given",
                    "the dataset's own folds: train/val/test folders, lists, or a CSV's fold column",
                    _ -> new Given()),
            new Rule(
                    "dtd-official[:1.." + Published.DTD_SPLITS + "]",
                    "the published splits of DTD: 40 training, validation and test images each; a subset, e.g. :1 or"
                            + " :1..3",
                    Protocols::dtd),
            new Rule(
                    "kth-1v3",
                    "KTH-TIPS-2b: one sample for training, three for testing; 4 folds",
                    _ -> new KthSamples(true)),
            new Rule(
                    "kth-3v1",
                    "KTH-TIPS-2b: three samples for training, one for testing; 4 folds",
                    _ -> new KthSamples(false)),
            new Rule("cub-official", "the published split of CUB-200-2011", _ -> Published.CUB),
            new Rule(
                    "aircraft-official[:trainval]",
                    "the published split of FGVC-Aircraft; with trainval, validation images are used for training",
                    Protocols::aircraft));

    private Protocols() {}

    /** Returns all protocols. */
    public static List<Description> all() {
        return RULES.stream().map(Rule::description).toList();
    }

    /** Parses a protocol such as {@code kfold:5}. */
    public static Protocol parse(String text) {
        List<String> forms = all().stream().map(Description::form).toList();
        NamedArguments arguments = NamedArguments.parse("protocol", text.toLowerCase(Locale.ROOT), forms);
        Rule rule = RULES.stream()
                .filter(one -> one.description().name().equals(arguments.name()))
                .findFirst()
                .orElseThrow();
        try {
            Protocol protocol = rule.factory().apply(arguments);
            arguments.requireAllUsed();
            return protocol;
        } catch (IllegalArgumentException wrong) {
            throw new IllegalArgumentException(
                    QuotedText.text(text.strip()) + " is not a protocol: " + wrong.getMessage() + "; write it as "
                            + rule.description().form(),
                    wrong);
        }
    }

    /**
     * Returns {@code holdout:fraction}: one fold whose test set is a random fraction of every class.
     *
     * @param fraction test fraction, above 0 and below 1
     */
    public static Protocol holdout(double fraction) {
        return new RandomProtocol(Kind.HOLDOUT, fraction);
    }

    /**
     * Returns the default protocol of a dataset: the official one, else the folds that come with the data, else {@code thirds:3}
     * for FMD and {@code holdout:0.2} for other datasets.
     */
    public static Protocol defaultFor(Dataset dataset) {
        String layout = dataset.source().layoutName();
        return switch (dataset.assignment()) {
            case Assignment.Groups _ -> new KthSamples(true);
            case Assignment.Folds _ -> new Given();
            case Assignment.Splits(List<Split> splits) ->
                Stream.of(Published.CUB, Published.AIRCRAFT)
                        .filter(official -> official.layout().equals(layout))
                        .<Protocol>map(official -> official)
                        .findFirst()
                        .orElseGet(() -> layout.equals(Published.DTD) ? dtd(splits) : new Given());
            case Assignment.None() -> new RandomProtocol(layout.equals("fmd") ? Kind.THIRDS : Kind.HOLDOUT);
        };
    }

    private static Protocol dtd(List<Split> splits) {
        boolean published = splits.size() <= Published.DTD_SPLITS
                && splits.getLast().name().equals(Integer.toString(splits.size())); // they count from 1 without a gap
        return published ? Published.dtd(1, splits.size()) : new Given();
    }

    /** Returns protocols that can split a dataset, the default first. */
    static List<String> compatible(Dataset dataset, Duplicates duplicates) {
        Stream<Protocol> others = Stream.of(defaultFor(dataset), new Given(), new RandomProtocol(Kind.HOLDOUT));
        Stream<Protocol> folds = Stream.of(5, 4, 3, 2).map(parts -> new RandomProtocol(Kind.KFOLD, parts));
        Predicate<Protocol> isCompatible =
                protocol -> protocol.incompatibility(dataset, duplicates).isEmpty();
        return Stream.concat(
                        others.filter(isCompatible), folds.filter(isCompatible).limit(1))
                .map(Protocol::text)
                .distinct()
                .toList();
    }

    static void requireBetween(String name, int value, int min, int max) {
        if (value < min || value > max) {
            throw new IllegalArgumentException("expected " + name + " from " + min + " to " + max + ", found " + value);
        }
    }

    private static Rule random(Kind kind, String meaning) {
        double defaultValue = new RandomProtocol(kind).argument();
        return new Rule(
                kind.form(),
                meaning,
                arguments -> new RandomProtocol(
                        kind,
                        kind == Kind.HOLDOUT
                                ? arguments.number("fraction", defaultValue)
                                : arguments.integer("folds", (int) defaultValue)));
    }

    private static Protocol dtd(NamedArguments arguments) {
        String[] ends = arguments.text("splits", "1.." + Published.DTD_SPLITS).split("\\.\\.", 2);
        for (String end : ends) {
            if (!end.matches("\\d{1,6}")) {
                throw arguments.wrong("splits", "a number or a range such as 1..3", end);
            }
        }
        return Published.dtd(Integer.parseInt(ends[0]), Integer.parseInt(ends[ends.length - 1]));
    }

    private static Protocol aircraft(NamedArguments arguments) {
        String variant = arguments.text("variant", "");
        if (!variant.isEmpty() && !variant.equals("trainval")) {
            throw arguments.wrong("variant", "trainval", variant);
        }
        return variant.isEmpty() ? Published.AIRCRAFT : Published.AIRCRAFT_TRAINVAL;
    }
}
