package org.gramian.spark.train;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.SplittableRandom;
import org.gramian.autodiff.ParameterSet;
import org.gramian.image.crop.CropPlan;
import org.gramian.model.Head;
import org.gramian.model.Model;
import org.gramian.model.ModelCard;
import org.gramian.model.ModelFile;
import org.gramian.pooling.Pooling;
import org.gramian.spark.executor.ModelContent;
import org.gramian.tensor.DType;
import org.gramian.train.feature.FrozenBackbone;

/**
 * A frozen backbone as a model file, which is how executors get models: with the smallest head, for the one that is to be trained
 * has no values yet where it is fitted to features.
 */
final class SharedBackbone {
    private static final List<String> CLASSES = List.of("one", "other");

    private SharedBackbone() {}

    static ModelContent of(FrozenBackbone network, CropPlan crops) throws IOException {
        Head head = new Head(Pooling.parse("average"), CLASSES.size(), false);
        Path file = Files.createTempFile("gramian-backbone-", ".safetensors");
        try (ParameterSet parameters = ParameterSet.initialize(
                head.parameters(network.backbone().channels()),
                new SplittableRandom(0),
                DType.F32,
                network.device())) {
            Model model = new Model(network.backbone(), network.parameters(), head, parameters, network.device());
            ModelCard card = new ModelCard(
                    CLASSES, network.preprocessing(), crops, 1, new LinkedHashMap<>(), new LinkedHashMap<>());
            ModelFile.write(file, model, card);
            return ModelContent.of(Files.readAllBytes(file), "the backbone " + network.backbone());
        } finally {
            Files.delete(file);
        }
    }
}
