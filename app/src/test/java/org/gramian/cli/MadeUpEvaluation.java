package org.gramian.cli;

import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.stream.IntStream;
import org.gramian.evaluate.Evaluation;
import org.gramian.evaluate.Evaluation.ImagePrediction;
import org.gramian.evaluate.Evaluation.Setting;
import org.gramian.image.dataset.protocol.Fingerprint;
import org.gramian.model.Logits;

/** Evaluations of no model at all. */
public final class MadeUpEvaluation {
    private MadeUpEvaluation() {}

    public static Setting setting(String fold) {
        return new Setting("thirds:3", fold, new Fingerprint("a".repeat(64)), 0);
    }

    /** Gaussian scores, to which the skill is added at the true class; the fold names its own images. */
    public static Evaluation of(long seed, String fold, int classes, double skill) {
        SplittableRandom random = new SplittableRandom(seed);
        List<ImagePrediction> predictions = new ArrayList<>();
        for (int i = 0; i < 6 * classes; i++) {
            double[] scores =
                    random.doubles(classes).map(_ -> random.nextGaussian()).toArray();
            scores[i % classes] += skill;
            predictions.add(new ImagePrediction(fold + "/" + i + ".png", i % classes, Logits.of(scores)));
        }
        return new Evaluation(setting(fold), names(classes), predictions);
    }

    static List<String> names(int classes) {
        return IntStream.range(0, classes).mapToObj(k -> "kind" + k).toList();
    }
}
