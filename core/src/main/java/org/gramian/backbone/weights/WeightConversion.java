package org.gramian.backbone.weights;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SequencedMap;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.gramian.backbone.Backbones;
import org.gramian.backbone.weights.Naming.Origin;
import org.gramian.backbone.weights.Naming.Publisher;
import org.gramian.backbone.weights.format.WeightFile;
import org.gramian.basis.NameList;
import org.gramian.basis.QuotedText;
import org.gramian.image.crop.Preprocessing;
import org.gramian.image.crop.Preprocessing.Order;
import org.gramian.tensor.Shape;
import org.gramian.tensor.file.StoredTensor;
import org.gramian.tensor.file.TensorFileException;
import org.jspecify.annotations.Nullable;

/**
 * Weights of a publisher's file converted to Gramian's names and layout.
 *
 * @param tensors tensors in the network's order, without the classifier if the file has none
 * @param preprocessing preprocessing of images
 * @param licence licence in the file, else that of the publisher if the publisher is certain
 * @param remarks notes on skipped, missing or assumed data, one sentence each
 */
record WeightConversion(
        SequencedMap<String, StoredTensor> tensors, Preprocessing preprocessing, String licence, List<String> remarks) {
    private static final String COUNTS = ".num_batches_tracked";
    /** Token that replaces masked patches in DINOv2's training. */
    private static final String MASK = "mask_token";
    /** GoogLeNet's auxiliary classifiers, used in training only. */
    private static final List<String> AUXILIARY = List.of("loss1/", "loss2/");

    /**
     * Converts the tensors that the network needs.
     *
     * @param published whether the file is known to be the publisher's and not only to share its names
     * @throws TensorFileException listing all missing, misshapen and unexpected tensors
     */
    static WeightConversion of(WeightFile file, ExpectedParameters blueprint, boolean published)
            throws TensorFileException {
        requireSameNetwork(file, blueprint);
        Naming naming = naming(file, blueprint);
        List<String> remarks = new ArrayList<>(file.remarks());
        SequencedMap<String, StoredTensor> tensors = new TensorCollector(file, blueprint, naming, remarks).tensors();
        // torchvision's names are widely reused
        Publisher publisher =
                published ? naming.publisher() : naming.publisher().supposed();
        String licence = StoredMetadata.licence(file).or(publisher::licence).orElse(Weights.UNSTATED);
        return new WeightConversion(
                tensors, new Assumption(file, blueprint, publisher, remarks).preprocessing(), licence, remarks);
    }

    /** Refuses a file that states another network: the two forms of ResNet-50 have the same tensors. */
    private static void requireSameNetwork(WeightFile file, ExpectedParameters blueprint) throws TensorFileException {
        Optional<String> other = StoredMetadata.architecture(file)
                .filter(stated -> Backbones.names().contains(stated))
                .filter(stated -> !stated.equals(blueprint.architecture()));
        if (other.isPresent()) {
            throw new TensorFileException(
                    file.content().path(),
                    ("expected weights of %1$s, found weights of %2$s by the file's metadata; run 'gramian weights"
                                    + " import %2$s FILE'")
                            .formatted(blueprint.architecture(), other.get()));
        }
    }

    private static Naming naming(WeightFile file, ExpectedParameters blueprint) throws TensorFileException {
        Set<String> names = file.content().tensors().keySet();
        List<Naming> fitting = Naming.known(blueprint).stream()
                .filter(naming -> naming.formats().contains(file.format()))
                .toList();
        Optional<Naming> best = fitting.stream()
                .filter(naming -> naming.matches(names) > 0)
                // The first of equals: for Gramian's own names the format decides.
                .max(Comparator.comparingLong(naming -> naming.matches(names) * 100 - fitting.indexOf(naming)));
        if (best.isPresent()) {
            return best.get();
        }
        String expected = fitting.isEmpty()
                ? "weights of " + blueprint.architecture() + " in another format, this one is not supported for it"
                : "names of tensors such as "
                        + String.join(
                                " or ",
                                fitting.stream()
                                        .map(naming -> naming.examples().getFirst() + " ("
                                                + naming.publisher().label() + ")")
                                        .toList());
        throw new TensorFileException(
                file.content().path(),
                "is a file in %s format; expected %s, found %s"
                        .formatted(file.format().label(), expected, NameList.some(quoted(names))));
    }

    /**
     * Returns whether a file holds exactly the weights of a network, by names and shapes, without converting them.
     *
     * <p>A classifier may be absent or have other classes. An unexpected tensor means another network, as the layers of
     * VGG-19 besides those of VGG-16.
     */
    static boolean fits(WeightFile file, ExpectedParameters blueprint) {
        Map<String, StoredTensor> found = file.content().tensors();
        return Naming.known(blueprint).stream()
                .filter(naming -> naming.formats().contains(file.format()))
                .anyMatch(naming -> {
                    Set<String> extra = new LinkedHashSet<>(found.keySet());
                    for (Map.Entry<String, Shape> parameter :
                            blueprint.parameters().entrySet()) {
                        Origin origin = naming.origin(parameter.getKey());
                        @Nullable StoredTensor tensor = found.get(origin.name());
                        boolean fits = tensor != null
                                && tensor.type().isFloating()
                                && origin.rearrangement().accepts(tensor.shape(), parameter.getValue());
                        if (!fits && !blueprint.classifier().contains(parameter.getKey())) {
                            return false;
                        }
                        extra.remove(origin.name());
                    }
                    extra.removeIf(name -> name.endsWith(COUNTS)
                            || name.equals(MASK)
                            || AUXILIARY.stream().anyMatch(name::startsWith));
                    return extra.isEmpty();
                });
    }

    /** Counts the tensors of a file that have names of a network. */
    static long likeness(WeightFile file, ExpectedParameters blueprint) {
        Set<String> names = file.content().tensors().keySet();
        return Naming.known(blueprint).stream()
                .filter(naming -> naming.formats().contains(file.format()))
                .mapToLong(naming -> naming.matches(names))
                .max()
                .orElse(0);
    }

    private static List<String> quoted(Set<String> names) {
        return names.stream().map(QuotedText::text).toList();
    }

    /** Determines the preprocessing and notes assumptions. */
    private record Assumption(
            WeightFile file, ExpectedParameters blueprint, Publisher publisher, List<String> remarks) {
        Preprocessing preprocessing() {
            @Nullable String text = file.content().metadata().get(InputSpec.KEY);
            Optional<Preprocessing> stated = text == null ? Optional.empty() : InputSpec.parse(text);
            if (stated.isPresent()) {
                return stated.get();
            }
            Preprocessing assumed = publisher.preprocessing().orElse(blueprint.defaultPreprocessing());
            if (text != null) {
                remarks.add("the file's input description, " + QuotedText.text(text) + ", is not understood; "
                        + assumed.text() + " is assumed");
            } else if (publisher.preprocessing().isEmpty()) {
                remarks.add("the file does not describe its preprocessing; " + assumed.text() + " is assumed");
            } else if (publisher.licence().isEmpty()) {
                remarks.add("the file is recognized as one of " + publisher.label()
                        + " by its tensor names: preprocessing " + assumed.text() + " is assumed");
            }
            return assumed;
        }
    }

    /** Collects the tensors and all mismatches before failing. */
    private record TensorCollector(WeightFile file, ExpectedParameters blueprint, Naming naming, List<String> remarks) {
        SequencedMap<String, StoredTensor> tensors() throws TensorFileException {
            Map<String, StoredTensor> found = file.content().tensors();
            Set<String> extra = new LinkedHashSet<>(found.keySet());
            List<String> missing = new ArrayList<>();
            List<String> headless = new ArrayList<>();
            List<String> replaced = new ArrayList<>();
            List<String> misshapen = new ArrayList<>();
            SequencedMap<String, StoredTensor> tensors = new LinkedHashMap<>();
            for (Map.Entry<String, Shape> parameter : blueprint.parameters().entrySet()) {
                String name = parameter.getKey();
                Origin origin = naming.origin(name);
                @Nullable StoredTensor tensor = found.get(origin.name());
                if (tensor == null) {
                    (blueprint.classifier().contains(name) ? headless : missing).add(origin.name());
                    continue;
                }
                extra.remove(origin.name());
                Shape wanted = parameter.getValue();
                boolean fits = origin.rearrangement().accepts(tensor.shape(), wanted);
                if (!tensor.type().isFloating() || !fits) {
                    boolean fine =
                            tensor.type().isFloating() && blueprint.classifier().contains(name);
                    (fine ? replaced : misshapen)
                            .add(origin.name() + " " + tensor.type() + " " + tensor.shape() + " instead of "
                                    + origin.rearrangement().stored(wanted));
                } else if (missing.isEmpty() && misshapen.isEmpty()) {
                    tensors.put(name, origin.rearrangement().apply(tensor, wanted));
                }
            }
            dropKnown(extra);
            refuse(missing, misshapen, extra);
            noteClassifier(headless, replaced);
            return tensors;
        }

        private void noteClassifier(List<String> absent, List<String> replaced) {
            if (!absent.isEmpty()) {
                remarks.add("the file has no classifier (" + NameList.some(absent)
                        + "): usable for features, not for class scores");
            }
            if (!replaced.isEmpty()) {
                remarks.add("the classifier of other classes was skipped (" + NameList.some(replaced)
                        + "): usable for features, not for class scores");
            }
        }

        private void dropKnown(Set<String> extra) {
            List<String> counts =
                    extra.stream().filter(name -> name.endsWith(COUNTS)).toList();
            List<String> auxiliary = extra.stream()
                    .filter(name -> AUXILIARY.stream().anyMatch(name::startsWith))
                    .toList();
            extra.removeAll(counts);
            if (!counts.isEmpty()) {
                remarks.add(counts.size() + " tensors *" + COUNTS + " were skipped: only training uses them");
            }
            if (extra.remove(MASK)) {
                remarks.add("the tensor " + MASK + " was skipped: only training uses it");
            }
            auxiliary.forEach(extra::remove);
            if (!auxiliary.isEmpty()) {
                remarks.add("the auxiliary classifiers were skipped: " + NameList.some(auxiliary));
            }
        }

        private void refuse(List<String> missing, List<String> misshapen, Set<String> extra)
                throws TensorFileException {
            List<String> problems = new ArrayList<>();
            if (!missing.isEmpty()) {
                problems.add("missing: " + NameList.some(quoted(new LinkedHashSet<>(missing))));
            }
            if (!misshapen.isEmpty()) {
                problems.add("of another type or shape: " + NameList.some(misshapen));
            }
            if (!extra.isEmpty()) {
                problems.add("not expected: " + NameList.some(quoted(extra)));
            }
            if (!problems.isEmpty()) {
                throw new TensorFileException(
                        file.content().path(),
                        "does not contain the weights of %s (names of %s); %s"
                                .formatted(
                                        blueprint.architecture(),
                                        naming.publisher().label(),
                                        String.join("; ", problems)));
            }
        }
    }

    /**
     * Parser of the preprocessing in the metadata of a weight file, under the key {@value #KEY}:
     *
     * <pre>
     * RGB mean=123.675,116.28,103.53 std=58.395,57.12,57.375     written by Gramian
     * BGR 0..255 minus (104,117,123)                             written by hand
     * RGB, (x-127)/128
     * </pre>
     */
    static final class InputSpec {
        static final String KEY = "input";

        private static final String NUMBER = "(\\d{1,3}(?:\\.\\d{1,9})?)";
        private static final Pattern MINUS =
                Pattern.compile("(RGB|BGR),? 0\\.\\.255 minus \\(([\\d.]+,[\\d.]+,[\\d.]+)\\)");
        private static final Pattern QUOTIENT = Pattern.compile("(RGB|BGR),? \\(x ?- ?" + NUMBER + "\\) ?/ ?" + NUMBER);

        private InputSpec() {}

        /** Parses a description; empty if it has none of these forms. */
        static Optional<Preprocessing> parse(String text) {
            try {
                Matcher minus = MINUS.matcher(text);
                if (minus.matches()) {
                    List<Double> means = Arrays.stream(minus.group(2).split(",", -1))
                            .map(Double::valueOf)
                            .toList();
                    return Optional.of(new Preprocessing(Order.valueOf(minus.group(1)), means, three(1.0)));
                }
                Matcher quotient = QUOTIENT.matcher(text);
                if (quotient.matches()) {
                    return Optional.of(new Preprocessing(
                            Order.valueOf(quotient.group(1)),
                            three(Double.parseDouble(quotient.group(2))),
                            three(Double.parseDouble(quotient.group(3)))));
                }
                return Optional.of(Preprocessing.parse(text));
            } catch (IllegalArgumentException e) {
                return Optional.empty();
            }
        }

        private static List<Double> three(double value) {
            return Collections.nCopies(3, value);
        }
    }
}
