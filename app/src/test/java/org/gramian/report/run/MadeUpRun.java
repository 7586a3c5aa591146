package org.gramian.report.run;

import java.awt.image.BufferedImage;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.SequencedMap;
import java.util.SplittableRandom;
import javax.imageio.ImageIO;
import org.gramian.autodiff.ParameterSet;
import org.gramian.backbone.Backbone;
import org.gramian.basis.Sha256;
import org.gramian.evaluate.Calibration.Temperature;
import org.gramian.evaluate.Evaluation;
import org.gramian.evaluate.Evaluation.ImagePrediction;
import org.gramian.evaluate.Evaluation.Setting;
import org.gramian.evaluate.compare.EvaluationFile;
import org.gramian.gallery.Gallery;
import org.gramian.gallery.Gallery.GalleryBuilder;
import org.gramian.gallery.Gallery.Item;
import org.gramian.gallery.Gallery.Subset;
import org.gramian.image.crop.CropPlan;
import org.gramian.image.dataset.protocol.Fingerprint;
import org.gramian.inspect.DegenerateChannels;
import org.gramian.inspect.MatrixStage;
import org.gramian.inspect.MatrixStage.QuantileRange;
import org.gramian.inspect.SpdInspection;
import org.gramian.model.Head;
import org.gramian.model.Logits;
import org.gramian.model.Model;
import org.gramian.model.ModelCard;
import org.gramian.model.ModelFile;
import org.gramian.pooling.Pooling;
import org.gramian.tensor.DType;
import org.gramian.tensor.Device;

/**
 * The folder of a run that never took place: all its files, with numbers from a seed.
 *
 * @param folder where
 * @param classes their names
 * @param images how many are tested
 */
record MadeUpRun(Path folder, List<String> classes, int images) {
    static final List<String> KINDS = List.of("brick", "cloth", "stone", "wood");

    /** Names that would do harm on a page that believes them. */
    static final List<String> HOSTILE = List.of(
            "<script>alert(1)</script>",
            "\"><img src=x onerror=alert(1)>",
            "'--></style></title> & ${7*7} @if(true)",
            "javascript:alert(1)//\u202e\ud83d\ude00 &lt;");

    static MadeUpRun in(Path folder) {
        return new MadeUpRun(folder, KINDS, 60);
    }

    /** Everything that a run leaves. */
    MadeUpRun write(long seed) throws IOException {
        evaluation(seed, "holdout", folder);
        history(folder);
        Files.writeString(folder.resolve("config.yaml"), """
            # Configuration of a training run: gramian train DIR --config THIS-FILE
            data:
              protocol: holdout:0.2                  # chosen: the usual one
            network:
              weights: "a # b.safetensors"           # --weights
            seed: 0                                  # default
            chosen:
              [data.protocol, seed]
            """);
        Files.writeString(folder.resolve("audit.json"), """
            {"images": 300, "classes": [{}, {}, {}, {}], "unreadable": [{}], "duplicates": [],
             "findings": [{"severity": "WARN", "kind": "UNREADABLE", "items": [], "sentence": "1 image cannot be read <b>", "advice": "look at it"}]}
            """);
        model();
        gallery();
        matrices().write(folder.resolve(SpdInspection.FILE));
        return this;
    }

    String name(int i) {
        return classes.get(i % classes.size()) + "/" + i + ".jpg";
    }

    Evaluation evaluation(long seed, String fold, Path place) throws IOException {
        SplittableRandom random = new SplittableRandom(seed);
        List<ImagePrediction> predictions = new ArrayList<>();
        for (int i = 0; i < images; i++) {
            double[] scores = random.doubles(classes.size())
                    .map(_ -> random.nextGaussian())
                    .toArray();
            scores[i % classes.size()] += 1.5;
            predictions.add(new ImagePrediction(name(i), i % classes.size(), Logits.of(scores)));
        }
        Evaluation evaluation = new Evaluation(
                        new Setting("thirds:3", fold, new Fingerprint("ab".repeat(32)), 0), classes, predictions)
                .calibrated(new Temperature(1.5, "9 validation images"));
        Files.createDirectories(place);
        EvaluationFile.write(place.resolve("evaluation.json"), evaluation);
        return evaluation;
    }

    static void history(Path place) throws IOException {
        Files.writeString(place.resolve("history.csv"), """
            stage,epoch,rate,loss,accuracy,judged_error,judged_loss,best,orthogonality
            1,1,1.0,1.4,0.3,0.6,1.5,true,1.0E-6
            1,2,1.0,0.9,0.6,0.4,1.1,true,2.0E-6
            2,1,0.1,0.7,0.7,0.35,0.9,true,3.0E-6
            """);
    }

    private void model() throws IOException {
        SplittableRandom random = new SplittableRandom(1);
        Backbone backbone = Backbone.of("filters");
        Head head = new Head(Pooling.parse("conv:4/rbf/spd:3/relu/triu/root/l2"), classes.size(), false);
        SequencedMap<String, String> origin = new LinkedHashMap<>();
        origin.put("images", "200 training, 40 validation, " + images + " test");
        origin.put("gramian", "1.2");
        origin.put("config.seed", "0");
        ModelCard card = new ModelCard(
                classes, backbone.preprocessing(), CropPlan.parse("center:32"), 1.5, origin, new LinkedHashMap<>());
        ParameterSet filters = ParameterSet.initialize(backbone.parameters(), random, DType.F32, Device.CPU);
        try (Model model = Model.begin(backbone, filters, head, random, Device.CPU)) {
            ModelFile.write(folder.resolve("model.safetensors"), model, card);
        }
    }

    static SpdInspection matrices() {
        QuantileRange one = new QuantileRange(1, 2, 3);
        QuantileRange none = new QuantileRange(-1e-9, 0, 1e-9);
        QuantileRange beyond = new QuantileRange(20, 0x1p52, 0x1p52);
        return new SpdInspection(
                "cd".repeat(32),
                "conv:4/rbf/spd:3/relu/triu/root/l2",
                new DegenerateChannels(4, 64, 12, List.of(2), List.of(new DegenerateChannels.Duplicate(3, 1, 0.9999))),
                List.of(
                        new MatrixStage("kernel rbf", 4, 12, List.of(one, one, one, none), one, beyond, 0),
                        new MatrixStage("transform 1, spd:3", 3, 11, List.of(one, one, one), one, one, 0.25)));
    }

    private void gallery() throws IOException {
        String model = Sha256.hex(Sha256.of(Files.readAllBytes(folder.resolve("model.safetensors"))));
        GalleryBuilder builder = new GalleryBuilder(classes, 6, model);
        SplittableRandom random = new SplittableRandom(2);
        for (int i = 0; i < images; i++) {
            float[] vector = new float[6];
            for (int k = 0; k < vector.length; k++) {
                vector[k] = (float) (random.nextGaussian() + (k == i % classes.size() ? 4 : 0));
            }
            builder.add(new Item(name(i), i % classes.size(), Subset.TEST), jpeg(i), new float[][] {vector});
        }
        builder.build().write(folder.resolve(Gallery.FILE));
    }

    static byte[] jpeg(int i) throws IOException {
        BufferedImage image = new BufferedImage(16, 12, BufferedImage.TYPE_INT_RGB);
        for (int x = 0; x < 16; x++) {
            for (int y = 0; y < 12; y++) {
                image.setRGB(x, y, (i * 2_654_435 + x * y * 99) & 0xffffff);
            }
        }
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        ImageIO.write(image, "jpeg", bytes);
        return bytes.toByteArray();
    }
}
