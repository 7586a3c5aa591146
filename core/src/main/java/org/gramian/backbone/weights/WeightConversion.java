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
import java.util.stream.Collectors;
import org.gramian.backbone.Backbones;
import org.gramian.backbone.weights.Naming.Publisher;
import org.gramian.backbone.weights.Weights.Provenance;
import org.gramian.basis.QuotedText;
import org.gramian.image.crop.Preprocessing;
import org.gramian.image.crop.Preprocessing.Order;
import org.gramian.tensor.Shape;
import org.gramian.tensor.file.StoredTensor;
import org.gramian.tensor.file.TensorFile;
import org.gramian.tensor.file.TensorFileException;
import org.jspecify.annotations.Nullable;

/**
 * Weights of a publisher's file converted to Gramian's names and layout.
 *
 * @param licence licence in the file, else that of the publisher if the publisher is certain
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
     */
    static WeightConversion of(TensorFile file, ExpectedParameters expected, boolean published)
            throws TensorFileException {
        requireSameNetwork(file, expected);
        Naming naming = naming(file, expected);
        List<String> remarks = new ArrayList<>();
        Match match = new Match(file, expected, naming);
        match.note(remarks);
        List<String> problems = match.problems();
        if (!problems.isEmpty()) {
            throw new TensorFileException(
                    file.path(),
                    "does not contain the weights of %s (names of %s); %s"
                            .formatted(
                                    expected.architecture(), naming.publisher().label(), String.join("; ", problems)));
        }
        // torchvision's names are widely reused
        Publisher publisher =
                published ? naming.publisher() : naming.publisher().supposed();
        String licence = stated(file, Provenance.LICENCE)
                .or(() -> stated(file, "license"))
                .or(publisher::licence)
                .orElse(Weights.UNSTATED);
        return new WeightConversion(match.tensors, preprocessing(file, expected, publisher, remarks), licence, remarks);
    }

    private static Optional<String> stated(TensorFile file, String key) {
        return Optional.ofNullable(file.metadata().get(key));
    }

    /** Refuses a file that states another network: the two forms of ResNet-50 have the same tensors. */
    private static void requireSameNetwork(TensorFile file, ExpectedParameters expected) throws TensorFileException {
        Optional<String> other = stated(file, Provenance.ARCHITECTURE)
                .filter(stated -> Backbones.names().contains(stated))
                .filter(stated -> !stated.equals(expected.architecture()));
        if (other.isPresent()) {
            throw new TensorFileException(
                    file.path(),
                    ("expected weights of %1$s, found weights of %2$s by the file's metadata; run 'gramian weights"
                                    + " import %2$s FILE'")
                            .formatted(expected.architecture(), other.get()));
        }
    }

    private static Naming naming(TensorFile file, ExpectedParameters expected) throws TensorFileException {
        Set<String> names = file.tensors().keySet();
        List<Naming> known = Naming.known(expected);
        return known.stream()
                .filter(naming -> naming.matches(names) > 0)
                // the first of equals
                .max(Comparator.comparingLong(naming -> naming.matches(names) * 100 - known.indexOf(naming)))
                .orElseThrow(() -> new TensorFileException(
                        file.path(),
                        "expected names of tensors such as "
                                + known.stream()
                                        .map(naming ->
                                                naming.names().firstEntry().getValue() + " ("
                                                        + naming.publisher().label() + ")")
                                        .collect(Collectors.joining(" or "))
                                + ", found " + QuotedText.quoted(names)));
    }

    /** Determines the preprocessing and notes assumptions. */
    private static Preprocessing preprocessing(
            TensorFile file, ExpectedParameters expected, Publisher publisher, List<String> remarks) {
        @Nullable String text = file.metadata().get(InputSpec.KEY);
        Optional<Preprocessing> stated = Optional.ofNullable(text).flatMap(InputSpec::parse);
        if (stated.isPresent()) {
            return stated.get();
        }
        Preprocessing assumed = publisher.preprocessing().orElse(expected.defaultPreprocessing());
        if (text != null) {
            remarks.add("the file's input description, " + QuotedText.text(text) + ", is not understood; "
                    + assumed.text() + " is assumed");
        } else if (publisher.preprocessing().isEmpty()) {
            remarks.add("the file does not describe its preprocessing; " + assumed.text() + " is assumed");
        } else if (publisher.licence().isEmpty()) {
            remarks.add("the file is recognized as one of " + publisher.label() + " by its tensor names: preprocessing "
                    + assumed.text() + " is assumed");
        }
        return assumed;
    }

    /** Tensors of a file compared with the parameters of a network: those that match, and descriptions of the others. */
    private static final class Match {
        final SequencedMap<String, StoredTensor> tensors = new LinkedHashMap<>();
        final List<String> missing = new ArrayList<>();
        final List<String> headless = new ArrayList<>(); // absent tensors of the classifier
        final List<String> replaced = new ArrayList<>(); // those of a classifier of other classes
        final List<String> misshapen = new ArrayList<>();
        final Set<String> extra;

        Match(TensorFile file, ExpectedParameters expected, Naming naming) {
            extra = new LinkedHashSet<>(file.tensors().keySet());
            expected.parameters()
                    .forEach((name, wanted) -> add(
                            naming.of(name), name, wanted, expected.classifier().contains(name), file.tensors()));
        }

        private void add(
                String stored, String name, Shape wanted, boolean classifier, Map<String, StoredTensor> found) {
            @Nullable StoredTensor tensor = found.get(stored);
            if (tensor == null) {
                (classifier ? headless : missing).add(stored);
                return;
            }
            extra.remove(stored);
            // timm and torchvision store the scales of ConvNeXt as vectors
            boolean flat = stored.endsWith(".gamma") && tensor.shape().equals(Shape.of(wanted.elements()));
            boolean floating = tensor.type().isFloating();
            if (floating && (flat || tensor.shape().equals(wanted))) {
                tensors.put(name, new StoredTensor(tensor.type(), wanted, tensor.data()));
            } else {
                (floating && classifier ? replaced : misshapen)
                        .add(stored + " " + tensor.type() + " " + tensor.shape() + " instead of " + wanted);
            }
        }

        /** Notes what is skipped or absent. */
        void note(List<String> remarks) {
            List<String> counts =
                    extra.stream().filter(name -> name.endsWith(COUNTS)).toList();
            counts.forEach(extra::remove);
            if (!counts.isEmpty()) {
                remarks.add(counts.size() + " tensors *" + COUNTS + " were skipped: only training uses them");
            }
            if (extra.remove(MASK)) {
                remarks.add("the tensor " + MASK + " was skipped: only training uses it");
            }
            List<String> auxiliary = extra.stream()
                    .filter(name -> AUXILIARY.stream().anyMatch(name::startsWith))
                    .toList();
            auxiliary.forEach(extra::remove);
            if (!auxiliary.isEmpty()) {
                remarks.add("the auxiliary classifiers were skipped: " + QuotedText.some(auxiliary));
            }
            if (!headless.isEmpty()) {
                remarks.add("the file has no classifier (" + QuotedText.some(headless)
                        + "): usable for features, not for class scores");
            }
            if (!replaced.isEmpty()) {
                remarks.add("the classifier of other classes was skipped (" + QuotedText.some(replaced)
                        + "): usable for features, not for class scores");
            }
        }

        List<String> problems() {
            List<String> problems = new ArrayList<>();
            if (!missing.isEmpty()) {
                problems.add("missing: " + QuotedText.quoted(missing));
            }
            if (!misshapen.isEmpty()) {
                problems.add("of another type or shape: " + QuotedText.some(misshapen));
            }
            if (!extra.isEmpty()) {
                problems.add("not expected: " + QuotedText.quoted(extra));
            }
            return problems;
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
