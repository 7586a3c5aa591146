package org.gramian.cli;

import java.io.IOException;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.SequencedMap;
import java.util.SplittableRandom;
import org.gramian.autodiff.Parameter;
import org.gramian.autodiff.ParameterSet;
import org.gramian.backbone.Backbone;
import org.gramian.image.crop.CropPlan;
import org.gramian.model.Head;
import org.gramian.model.Model;
import org.gramian.model.ModelCard;
import org.gramian.model.ModelFile;
import org.gramian.pooling.Pooling;
import org.gramian.tensor.DType;
import org.gramian.tensor.Device;
import org.gramian.tensor.Tensors;

/** The file of a model that was never trained: fixed filters, a small pooling, a random classifier. */
public final class TinyModel {
    public static final List<String> CLASSES = List.of("paper", "stone", "wood", "a \"b\", c");

    private TinyModel() {}

    public static Path write(Path file, String crops) throws IOException {
        return write(file, crops, "conv:4/rbf/spd:3/relu/triu/root/l2");
    }

    public static Path write(Path file, String crops, String pooling) throws IOException {
        SplittableRandom random = new SplittableRandom(11);
        Backbone backbone = Backbone.of("filters");
        ParameterSet filters = ParameterSet.initialize(backbone.parameters(), random, DType.F32, Device.CPU);
        Head head = new Head(Pooling.parse(pooling), CLASSES.size(), false);
        SequencedMap<String, String> origin = new LinkedHashMap<>();
        origin.put("seed", "7");
        origin.put("config.optimizer.batch", "32");
        origin.put("gramian", "1.2");
        origin.put("configuration", "epochs: 9\nbatch: 32\n");
        SequencedMap<String, Double> metrics = new LinkedHashMap<>();
        metrics.put("accuracy", 0.753);
        ModelCard card = new ModelCard(CLASSES, backbone.preprocessing(), CropPlan.parse(crops), 0.25, origin, metrics);
        try (Model model = Model.begin(backbone, filters, head, random, Device.CPU)) {
            Parameter weight = model.headParameters().get("classifier.weight");
            weight.set(Tensors.gaussian(random, weight.value().shape(), DType.F32));
            ModelFile.write(file, model, card);
        }
        return file;
    }
}
