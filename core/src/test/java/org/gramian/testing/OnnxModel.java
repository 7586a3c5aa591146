package org.gramian.testing;

import java.io.IOException;
import java.io.InputStream;
import java.lang.foreign.Arena;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Objects;
import java.util.SplittableRandom;
import org.gramian.autodiff.Parameter;
import org.gramian.autodiff.ParameterSet;
import org.gramian.autodiff.ParameterSpec;
import org.gramian.backbone.Backbone;
import org.gramian.backbone.onnx.OnnxFile;
import org.gramian.image.crop.CropPlan;
import org.gramian.image.crop.Preprocessing;
import org.gramian.model.Head;
import org.gramian.model.Model;
import org.gramian.model.ModelCard;
import org.gramian.model.ModelFile;
import org.gramian.pooling.Pooling;
import org.gramian.tensor.DType;
import org.gramian.tensor.Device;
import org.gramian.tensor.Tensors;

/** A model on a backbone that is not built in: the network that {@code scripts/golden/onnx_backbone.py} writes. */
public final class OnnxModel {
    public static final List<String> CLASSES = List.of("fabric", "foliage", "glass");

    private OnnxModel() {}

    /** Copies the network into a folder. */
    public static Path network(Path folder) throws IOException {
        Path file = folder.resolve("small-backbone.onnx");
        try (InputStream content = Objects.requireNonNull(
                OnnxModel.class.getResourceAsStream("/models/small-backbone.onnx"), "small-backbone.onnx")) {
            Files.copy(content, file);
        }
        return file;
    }

    /** Creates a model whose classifier a seed decides. */
    public static Model of(Path network, String layer, String pooling) throws IOException {
        try (Arena arena = Arena.ofConfined()) {
            OnnxFile file = OnnxFile.read(network, arena);
            Backbone backbone = Backbone.of("small", file.graph().definition(), Preprocessing.TORCHVISION)
                    .cutAt(layer);
            SplittableRandom random = new SplittableRandom(5);
            List<ParameterSpec> stored = backbone.parameters().stream()
                    .map(spec -> new ParameterSpec(
                            spec.name(),
                            spec.shape(),
                            spec.role(),
                            (_, _, _) -> Objects.requireNonNull(file.weights().get(spec.name()), spec.name())
                                    .toTensor()))
                    .toList();
            Head head = new Head(Pooling.parse(pooling).resolve(backbone, 100), CLASSES.size(), false);
            Model model = Model.begin(
                    backbone, ParameterSet.initialize(stored, random, DType.F32, Device.CPU), head, random, Device.CPU);
            Parameter weight = model.headParameters().get("classifier.weight");
            weight.set(Tensors.gaussian(random, weight.value().shape(), DType.F32));
            return model;
        }
    }

    /** Writes a model with second-order pooling. */
    public static Path write(Path folder) throws IOException {
        return write(folder, "relu_1", "covariance/triu");
    }

    public static Path write(Path folder, String layer, String pooling) throws IOException {
        Path file = folder.resolve("model.safetensors");
        try (Model model = of(network(folder), layer, pooling)) {
            ModelFile.write(
                    file,
                    model,
                    new ModelCard(
                            CLASSES,
                            Preprocessing.TORCHVISION,
                            CropPlan.parse("center:32"),
                            1,
                            new LinkedHashMap<>(),
                            new LinkedHashMap<>()));
        }
        return file;
    }
}
