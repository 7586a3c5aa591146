package org.gramian.evaluate;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.random.RandomGenerator;
import java.util.stream.IntStream;
import org.gramian.evaluate.Evaluation.ImagePrediction;
import org.gramian.evaluate.Evaluation.Setting;
import org.gramian.image.dataset.protocol.Fingerprint;
import org.gramian.model.Logits;
import org.gramian.model.ModelCard;
import org.gramian.testing.TinyModel;

/** Random evaluations. */
public final class MadeUp {
    public static final Setting SETTING = new Setting("thirds:3", "third 1", new Fingerprint("a".repeat(64)), 7);

    private MadeUp() {}

    public static ModelCard card(List<String> classes, double temperature, Map<String, String> origin) {
        ModelCard tiny = TinyModel.card("paper:24");
        return new ModelCard(
                classes, tiny.preprocessing(), tiny.crops(), temperature, new LinkedHashMap<>(origin), tiny.metrics());
    }

    public static List<String> classes(int count) {
        return IntStream.range(0, count).mapToObj(k -> "class " + k).toList();
    }

    /** Gaussian scores, and truths that the highest score often gives. */
    public static List<ImagePrediction> predictions(RandomGenerator random, int count, int classes) {
        List<ImagePrediction> predictions = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            int truth = random.nextInt(classes);
            double[] scores = scores(random, classes, 2);
            scores[truth] += 2;
            predictions.add(new ImagePrediction("image " + i, truth, Logits.of(scores)));
        }
        return predictions;
    }

    /** Scores whose softmax, at this temperature, is the distribution that the truth was drawn from. */
    public static List<ImagePrediction> calibrated(RandomGenerator random, int count, double temperature) {
        List<ImagePrediction> predictions = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            Logits logits = Logits.of(scores(random, 4, 2 * temperature));
            double[] probabilities = logits.probabilities(temperature);
            double left = random.nextDouble();
            int truth = 0;
            while (truth < 3 && left >= probabilities[truth]) {
                left -= probabilities[truth++];
            }
            predictions.add(new ImagePrediction("image " + i, truth, logits));
        }
        return predictions;
    }

    public static double[] scores(RandomGenerator random, int classes, double scale) {
        return random.doubles(classes).map(_ -> scale * random.nextGaussian()).toArray();
    }

    public static Evaluation evaluation(RandomGenerator random, int count, int classes) {
        return new Evaluation(SETTING, classes(classes), predictions(random, count, classes));
    }

    /** One prediction per truth, each with all confidence in what was predicted. */
    public static Evaluation of(int classes, int[] truths, int[] predicted) {
        List<ImagePrediction> predictions = new ArrayList<>();
        for (int i = 0; i < truths.length; i++) {
            double[] scores = new double[classes];
            scores[predicted[i]] = 1;
            predictions.add(new ImagePrediction("image " + i, truths[i], Logits.of(scores)));
        }
        return new Evaluation(SETTING, classes(classes), predictions);
    }
}
