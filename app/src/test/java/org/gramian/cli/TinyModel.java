package org.gramian.cli;

import java.io.IOException;
import java.nio.file.Path;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Optional;
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
import org.gramian.model.OpenSet;
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

    /** A model whose 19 known images all look more like its classes than any other image: each has the p-value 1/20. */
    public static Path writeOpenSet(Path file, double rate) throws IOException {
        OpenSet.Scale scale = new OpenSet.Scale(0, 1);
        return write(
                file,
                "center:32",
                "conv:4/rbf/spd:3/relu/triu/root/l2",
                Optional.of(new OpenSet(rate, scale, scale, Collections.nCopies(19, -1e9))));
    }

    public static Path write(Path file, String crops, String pooling) throws IOException {
        return write(file, crops, pooling, Optional.empty());
    }

    private static Path write(Path file, String crops, String pooling, Optional<OpenSet> openSet) throws IOException {
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
            if (openSet.isPresent()) {
                long size = head.pooling().descriptorSize(backbone.channels());
                model.setKnown(Optional.of(org.gramian.testing.TinyModel.known(random, size, CLASSES.size())));
            }
            ModelFile.write(file, model, card.with(openSet));
        }
        return file;
    }
}
