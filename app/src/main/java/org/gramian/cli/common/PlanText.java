package org.gramian.cli.common;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.SequencedMap;
import org.gramian.basis.ByteSize;
import org.gramian.basis.QuotedText;
import org.gramian.run.MemoryEstimate;
import org.gramian.run.Workload;
import org.gramian.run.config.RunConfig;
import org.gramian.run.config.Settings;
import org.gramian.run.config.TrainConfig;

/** Output of {@code --dry-run}: the values that matter with their origins, and sizes of the run. */
public final class PlanText {
    private PlanText() {}

    /** Lists the values that were set or chosen and have an effect, with their origins. */
    public static String configuration(Settings settings) {
        List<Settings.Setting> all = List.copyOf(settings.values().values());
        List<Settings.Setting> shown = all.stream()
                .filter(one -> one.wanted() || (!one.origin().equals("default") && hasEffect(one.key(), settings)))
                .toList();
        StringBuilder text = new StringBuilder("Configuration:\n");
        for (Settings.Setting one : shown) {
            String value = QuotedText.visible(one.text());
            text.append("  %-22s %-15s %s%n".formatted(one.key(), value, QuotedText.visible(one.origin())));
        }
        return text.append("  (%d keys with their defaults or without effect: 'gramian train --help-all' lists them)%n"
                        .formatted(all.size() - shown.size()))
                .toString();
    }

    /** Returns whether a key counts where stages without epochs train nothing. */
    private static boolean hasEffect(String key, Settings settings) {
        boolean first = settings.get(TrainConfig.STAGE1_EPOCHS) > 0;
        boolean second = settings.get(TrainConfig.STAGE2_EPOCHS) > 0;
        return switch (key.substring(0, Math.max(0, key.indexOf('.')))) {
            case "stage1" -> first || key.endsWith(".epochs");
            case "stage2" -> second || key.endsWith(".epochs");
            case "optimizer", "stiefel" -> first || second;
            default -> true;
        };
    }

    /** Lists images and sizes. */
    public static String work(Workload work, MemoryEstimate memory) {
        RunConfig config = work.config();
        SequencedMap<String, String> lines = new LinkedHashMap<>();
        for (Workload.Fold fold : work.folds()) {
            lines.put(
                    fold.name(),
                    fold.training() + " train, " + fold.validation() + " validation, " + fold.test() + " test images");
        }
        String other = config.get(TrainConfig.TEST_CROPS)
                .map(plan -> " (" + plan + ")")
                .orElse("");
        lines.put(
                "crops",
                config.get(TrainConfig.CROPS) + ": " + work.trainingCrops() + " per training image, " + work.testCrops()
                        + " per test image" + other);
        lines.put(
                "features",
                work.features() + " of " + work.featureShape() + " from "
                        + config.network().backbone() + ", at most " + ByteSize.text(work.cacheBytes()) + " on disk");
        work.tail().ifPresent(tail -> lines.put("tail", tail.toString()));
        lines.put(
                "parameters",
                "backbone " + count(work.backboneParameters())
                        + (work.tail().isEmpty() ? "" : ", tail " + count(work.tailParameters())) + ", head "
                        + count(work.headParameters()) + "; descriptor of " + work.descriptorSize() + " values, "
                        + work.classes() + " classes");
        lines.put("memory", "about " + memory.text());
        StringBuilder text = new StringBuilder("Plan:\n");
        lines.forEach((name, line) -> text.append("  %-12s %s%n".formatted(name, line)));
        return text.toString();
    }

    private static String count(long number) {
        return number < 1_000_000 ? Long.toString(number) : String.format(Locale.ROOT, "%.1f million", number / 1e6);
    }
}
