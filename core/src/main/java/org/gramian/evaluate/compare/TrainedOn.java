package org.gramian.evaluate.compare;

import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Collectors;
import org.gramian.basis.QuotedText;
import org.gramian.evaluate.Evaluation.Setting;
import org.gramian.image.dataset.Dataset;
import org.gramian.image.dataset.protocol.Duplicates;
import org.gramian.image.dataset.protocol.Fingerprint;
import org.gramian.image.dataset.protocol.FoldSet;
import org.gramian.image.dataset.protocol.Protocol;
import org.gramian.model.ModelCard;

/**
 * The split that a model was trained on, from the keys {@value #PROTOCOL}, {@value #FOLD}, {@value #FINGERPRINT}, {@value
 * #SEED} and optionally {@value #NEAR_DUPLICATES} of its card's origin.
 */
public record TrainedOn(Setting setting, List<List<Integer>> near) {
    public static final String PROTOCOL = "protocol";
    public static final String FOLD = "fold";
    public static final String FINGERPRINT = "fingerprint";
    public static final String SEED = "seed";
    public static final String NEAR_DUPLICATES = "near-duplicates";

    public TrainedOn {
        near = List.copyOf(near);
    }

    /** Reads a card; empty if a required key is absent. */
    public static Optional<TrainedOn> of(ModelCard card) {
        Map<String, String> origin = card.origin();
        String protocol = origin.get(PROTOCOL);
        String fold = origin.get(FOLD);
        String fingerprint = origin.get(FINGERPRINT);
        String seed = origin.get(SEED);
        if (protocol == null || fold == null || fingerprint == null || seed == null) {
            return Optional.empty();
        }
        return Optional.of(new TrainedOn(
                new Setting(protocol, fold, new Fingerprint(fingerprint), number(seed)),
                groups(origin.getOrDefault(NEAR_DUPLICATES, ""))));
    }

    /** Returns groups of indexes as text for the origin, e.g. {@code 3 7 8;12 15}. */
    public static String text(List<List<Integer>> groups) {
        return groups.stream()
                .map(group -> group.stream().map(String::valueOf).collect(Collectors.joining(" ")))
                .collect(Collectors.joining(";"));
    }

    private static List<List<Integer>> groups(String text) {
        if (text.isBlank()) {
            return List.of();
        }
        try {
            return Arrays.stream(text.split(";", -1))
                    .map(group -> Arrays.stream(group.split(" ", -1))
                            .map(Integer::valueOf)
                            .toList())
                    .toList();
        } catch (NumberFormatException wrong) {
            throw unexpected("groups of numbers as " + NEAR_DUPLICATES, text, wrong);
        }
    }

    private static long number(String seed) {
        try {
            return Long.parseLong(seed);
        } catch (NumberFormatException wrong) {
            throw unexpected("a whole number as the seed", seed, wrong);
        }
    }

    private static IllegalArgumentException unexpected(String expected, String found, NumberFormatException cause) {
        return new IllegalArgumentException(
                "expected " + expected + " in the model's origin, found " + QuotedText.text(found), cause);
    }

    /** Returns the split, if this is the training dataset: the protocol then gives the same fingerprint. */
    Optional<FoldSet> plan(Dataset dataset, Duplicates duplicates) {
        try {
            if (near.stream()
                    .flatMap(List::stream)
                    .anyMatch(index -> index < 0 || index >= dataset.samples().size())) {
                return Optional.empty();
            }
            FoldSet plan = Protocol.parse(setting.protocol()).plan(dataset, duplicates.with(near), setting.seed());
            return Optional.of(plan).filter(made -> made.fingerprint().equals(setting.fingerprint()));
        } catch (IllegalArgumentException _) {
            return Optional.empty(); // the protocol does not apply to this dataset
        }
    }
}
