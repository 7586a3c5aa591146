package org.gramian.cli.common;

import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.SequencedMap;
import org.gramian.basis.ByteSize;
import org.gramian.basis.QuotedText;
import org.gramian.run.MemoryEstimate;
import org.gramian.run.Workload;
import org.gramian.run.config.RunConfig;
import org.gramian.run.config.Settings;
import org.gramian.run.config.TrainConfig;

/** Output of {@code --dry-run}: every value with its origin, and sizes of the run. */
public final class PlanText {
    private PlanText() {}

    /** Lists every value of the configuration with its origin. */
    public static String configuration(Settings settings) {
        StringBuilder text = new StringBuilder("Configuration:\n");
        for (Settings.Setting setting : settings.values().values()) {
            String value = QuotedText.visible(setting.text());
            String origin = QuotedText.visible(setting.origin());
            text.append("  %-25s %-24s %s%n".formatted(setting.key(), value, origin));
        }
        return text.toString();
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
