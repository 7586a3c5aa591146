package org.gramian.image.dataset.protocol;

import java.util.List;
import java.util.Locale;
import java.util.Optional;
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

/**
 * A named way to split a dataset into folds of train, validation and test sets. A result is comparable only with others under
 * the same protocol.
 *
 * <p>A protocol draws the folds at random, or takes the official ones of the dataset. {@link #all} lists them.
 *
 * @since 0.1
 */
public sealed interface Protocol permits RandomProtocol, OfficialProtocol {
    /**
     * Description of a protocol for help texts.
     *
     * @param form the name with its argument and default
     * @param meaning the train and test sets, in one line
     */
    record Description(String form, String meaning) {
        /** Returns the name alone, such as {@code kfold}. */
        public String name() {
            return form.split("[\\[:]", 2)[0];
        }
    }

    /** Returns the descriptions of all protocols. */
    static List<Description> all() {
        return List.of(
                new Description(
                        Kind.HOLDOUT.form(),
                        "a random fraction of every class is the test set, the rest the training set"),
                new Description(Kind.KFOLD.form(), "k-fold cross-validation: each random part is the test set once"),
                new Description(
                        Kind.THIRDS.form(),
                        "random thirds, two for training, one for testing; 1, 2 or all 3 folds (DTD and FMD in the"
                                + " paper)"),
                new Description(
                        Kind.HALF.form(),
                        "a random half of every class is the training set, with this many repetitions (FMD)"),
                new Description(
                        "given", "the dataset's own folds: train/val/test folders, lists, or a CSV's fold column"),
                new Description(
                        "dtd-official[:1.." + Published.DTD_SPLITS + "]",
                        "the published splits of DTD: 40 training, validation and test images each; a subset, e.g. :1"
                                + " or :1..3"),
                new Description("kth-1v3", "KTH-TIPS-2b: one sample for training, three for testing; 4 folds"),
                new Description("kth-3v1", "KTH-TIPS-2b: three samples for training, one for testing; 4 folds"),
                new Description("cub-official", "the published split of CUB-200-2011"),
                new Description(
                        "aircraft-official[:trainval]",
                        "the published split of FGVC-Aircraft; with trainval, validation images are used for"
                                + " training"));
    }

    /** Parses a protocol such as {@code kfold:5}. */
    static Protocol parse(String text) {
        List<String> forms = all().stream().map(Description::form).toList();
        NamedArguments arguments = NamedArguments.parse("protocol", text.toLowerCase(Locale.ROOT), forms);
        try {
            Protocol protocol = switch (arguments.name()) {
                case "given" -> new Given();
                case "dtd-official" -> Published.dtd(arguments);
                case "kth-1v3" -> new KthSamples(true);
                case "kth-3v1" -> new KthSamples(false);
                case "cub-official" -> Published.CUB;
                case "aircraft-official" -> Published.aircraft(arguments);
                default -> RandomProtocol.of(arguments);
            };
            arguments.requireAllUsed();
            return protocol;
        } catch (IllegalArgumentException wrong) {
            String form = all().stream()
                    .filter(one -> one.name().equals(arguments.name()))
                    .findFirst()
                    .orElseThrow()
                    .form();
            throw new IllegalArgumentException(
                    QuotedText.text(text.strip()) + " is not a protocol: " + wrong.getMessage() + "; write it as "
                            + form,
                    wrong);
        }
    }

    /**
     * Returns {@code holdout:fraction}: one fold whose test set is a random fraction of every class.
     *
     * @param fraction test fraction, above 0 and below 1
     */
    static Protocol holdout(double fraction) {
        return new RandomProtocol(Kind.HOLDOUT, fraction);
    }

    /**
     * Returns the default protocol of a dataset: the official one, else the folds that come with the data, else {@code thirds:3}
     * for FMD and {@code holdout:0.2} for other datasets.
     */
    static Protocol defaultFor(Dataset dataset) {
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

    /** Returns the protocol as text, such as {@code kfold:5}; {@link #parse} reads it back. */
    String text();

    /** Returns whether it draws the folds at random; else it takes them from the dataset. */
    boolean isRandom();

    /** Returns why the protocol cannot split this dataset, as the end of a sentence; empty if it can. */
    Optional<String> incompatibility(Dataset dataset, Duplicates duplicates);

    /** Returns the folds, in order; for datasets without a {@link #incompatibility}. */
    List<Fold> folds(Dataset dataset, Duplicates duplicates, long seed);

    /**
     * Splits a dataset.
     *
     * @param duplicates samples that must stay together, see {@link Duplicates#of}
     * @param seed used if it {@linkplain #isRandom draws} the folds
     * @throws IllegalArgumentException if the protocol does not fit the dataset; the message names protocols that do
     */
    default FoldSet plan(Dataset dataset, Duplicates duplicates, long seed) {
        if (dataset.classes().size() < 2) {
            throw new IllegalArgumentException("expected a dataset of at least 2 classes, found "
                    + (dataset.classes().isEmpty()
                            ? "none"
                            : "only '" + dataset.classes().getFirst() + "'"));
        }
        Optional<String> incompatibility = incompatibility(dataset, duplicates);
        if (incompatibility.isPresent()) {
            List<String> compatible = compatible(dataset, duplicates);
            String advice = compatible.isEmpty()
                    ? "every class needs at least 2 different images, to train and to test; add images, or remove the class"
                    : "protocols that fit: " + String.join(", ", compatible);
            throw new IllegalArgumentException(
                    "the protocol " + text() + " does not fit this dataset: " + incompatibility.get() + "; " + advice);
        }
        return FoldSet.of(this, dataset, duplicates, seed);
    }

    /** Returns protocols that can split a dataset, the default first. */
    private static List<String> compatible(Dataset dataset, Duplicates duplicates) {
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
}
