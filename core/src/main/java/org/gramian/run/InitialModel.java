package org.gramian.run;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.function.Consumer;
import org.gramian.autodiff.ParameterSet;
import org.gramian.autodiff.ParameterSpec;
import org.gramian.backbone.Backbone;
import org.gramian.backbone.weights.UnusableWeightsException;
import org.gramian.backbone.weights.WeightStore;
import org.gramian.backbone.weights.Weights;
import org.gramian.model.Head;
import org.gramian.model.Model;
import org.gramian.run.config.ConfigKey;
import org.gramian.run.config.NetworkConfig;
import org.gramian.run.config.Settings;
import org.gramian.tensor.DType;
import org.gramian.tensor.Device;
import org.gramian.tensor.Tensor;
import org.gramian.tensor.file.TensorFileException;
import org.gramian.tensor.library.Libtorch;
import org.gramian.train.feature.FrozenBackbone;

/** Creates what training begins with: the pretrained backbone, a model with random new layers on a copy of it, and its provenance. */
public final class InitialModel {
    private InitialModel() {}

    /** Loads the backbone of a model with its weights; close it after the last features. */
    public static FrozenBackbone network(
            NetworkConfig network, WeightStore store, Device device, Consumer<String> remarks) throws IOException {
        Backbone backbone = network.backbone();
        if (network.weights().isEmpty()) {
            return FrozenBackbone.withoutWeights(backbone, device);
        }
        try (Arena arena = Arena.ofShared()) {
            Weights found = store.find(backbone, network.weights().get(), arena, remarks);
            try {
                return FrozenBackbone.of(backbone, found, network.usesTail(), device);
            } catch (IllegalArgumentException tooFew) {
                throw new UnusableWeightsException(tooFew);
            }
        } catch (TensorFileException damaged) {
            throw new UnusableWeightsException(damaged);
        }
    }

    /** Creates a model on a copy of the backbone: stage 2 changes it, and features of other folds need the original. */
    public static Model model(Head head, long seed, FrozenBackbone frozen) {
        ParameterSet backbone = ParameterSet.initialize(
                frozen.backbone().parameters(), new SplittableRandom(0), DType.F32, frozen.device());
        Map<String, Tensor> values = new LinkedHashMap<>();
        frozen.parameters().all().forEach(parameter -> values.put(parameter.name(), parameter.value()));
        try {
            backbone.assign(values);
            ParameterSet parameters = ParameterSet.initialize(
                    specs(head, frozen), new SplittableRandom(seed), DType.F32, frozen.device());
            return new Model(frozen.backbone(), backbone, head, parameters, frozen.device());
        } catch (RuntimeException | Error failed) {
            backbone.close();
            throw failed;
        }
    }

    /** Returns the head's parameters; those of the backbone's tail start with copies of its weights. */
    private static List<ParameterSpec> specs(Head head, FrozenBackbone frozen) {
        Map<String, String> pretrained = head.pretrained();
        return head.parameters(frozen.backbone().channels()).stream()
                .map(spec -> {
                    String name = pretrained.get(spec.name());
                    return name == null
                            ? spec
                            : new ParameterSpec(
                                    spec.name(),
                                    spec.shape(),
                                    spec.role(),
                                    (_, _, _) -> frozen.tail().get(name).value().copy());
                })
                .toList();
    }

    /** Returns the provenance of a model that follows from its settings, its backbone and the program. */
    public static Map<String, String> origin(Settings settings, FrozenBackbone network) {
        Map<String, String> origin = new LinkedHashMap<>();
        origin.put("weights", network.fingerprint());
        settings.values().values().stream()
                .filter(setting -> ConfigKey.decides(setting.key())) // weights are a path of the machine, perhaps
                .forEach(setting -> origin.put("config." + setting.key(), setting.text()));
        origin.replace("config.network.backbone", network.backbone().name()); // may be a file
        origin.put("libtorch", Libtorch.load().version());
        origin.put("java", Integer.toString(Runtime.version().feature()));
        String version = InitialModel.class.getPackage().getImplementationVersion();
        origin.put("gramian", version == null ? "development" : version);
        return origin;
    }
}
