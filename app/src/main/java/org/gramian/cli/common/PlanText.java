package org.gramian.cli.common;

import java.util.Locale;
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
            text.append(String.format(
                    Locale.ROOT,
                    "  %-25s %-24s %s%n",
                    setting.key(),
                    QuotedText.visible(setting.text()),
                    QuotedText.visible(setting.origin())));
        }
        return text.toString();
    }

    /** Lists images and sizes. */
    public static String work(Workload work, MemoryEstimate memory) {
        RunConfig config = work.config();
        StringBuilder text = new StringBuilder("Plan:\n");
        for (Workload.Fold fold : work.folds()) {
            line(
                    text,
                    fold.name(),
                    "%d train, %d validation, %d test images"
                            .formatted(fold.training(), fold.validation(), fold.test()));
        }
        line(
                text,
                "crops",
                "%s: %d per training image, %d per test image%s"
                        .formatted(
                                config.get(TrainConfig.CROPS),
                                work.trainingCrops(),
                                work.testCrops(),
                                config.get(TrainConfig.TEST_CROPS)
                                        .map(plan -> " (" + plan + ")")
                                        .orElse("")));
        line(
                text,
                "features",
                "%d of %s from %s, at most %s on disk"
                        .formatted(
                                work.features(),
                                work.featureShape(),
                                config.network().backbone(),
                                ByteSize.text(work.cacheBytes())));
        work.tail().ifPresent(tail -> line(text, "tail", tail.toString()));
        line(
                text,
                "parameters",
                "backbone %s%s, head %s; descriptor of %d values, %d classes"
                        .formatted(
                                count(work.backboneParameters()),
                                work.tail().isEmpty() ? "" : ", tail " + count(work.tailParameters()),
                                count(work.headParameters()),
                                work.descriptorSize(),
                                work.classes()));
        line(text, "memory", "about " + memory.text());
        return text.toString();
    }

    private static void line(StringBuilder text, String name, String value) {
        text.append(String.format(Locale.ROOT, "  %-12s %s%n", name, value));
    }

    private static String count(long number) {
        return number < 1_000_000 ? Long.toString(number) : String.format(Locale.ROOT, "%.1f million", number / 1e6);
    }
}
