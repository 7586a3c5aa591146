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
import org.gramian.backbone.weights.UnusableWeightsException;
import org.gramian.backbone.weights.Weights;
import org.gramian.model.Head;
import org.gramian.model.Model;
import org.gramian.run.config.Keys;
import org.gramian.run.config.NetworkConfig;
import org.gramian.run.config.Settings;
import org.gramian.tensor.DType;
import org.gramian.tensor.Libtorch;
import org.gramian.tensor.Tensor;
import org.gramian.tensor.Tensors;
import org.gramian.tensor.file.TensorFileException;
import org.gramian.train.feature.FrozenBackbone;

/**
 * What every training begins with: the network with its weights; a model with a copy of that network, a tail of its weights where
 * the head wants one, and all else at random; and what is known of where they come from.
 */
public final class InitialModel {
    private InitialModel() {}

    /**
     * Loads a network with its weights; close it when features are computed no more.
     *
     * @param workshop where weights are found, and the device
     * @param remarks told what should be known of the weights
     * @throws UnusableWeightsException if they are damaged or not those of the network
     */
    public static FrozenBackbone network(NetworkConfig network, RunResources workshop, Consumer<String> remarks)
            throws IOException {
        if (network.weights().isEmpty()) {
            return FrozenBackbone.withoutWeights(network.backbone(), workshop.device());
        }
        try (Arena arena = Arena.ofShared()) {
            Weights weights = workshop.weights()
                    .find(network.backbone().name(), network.weights().get(), arena, remarks);
            try {
                return network.usesTail()
                        ? FrozenBackbone.withTail(network.backbone(), weights, workshop.device())
                        : FrozenBackbone.of(network.backbone(), weights, workshop.device());
            } catch (IllegalArgumentException tooFew) {
                throw new UnusableWeightsException(tooFew);
            }
        } catch (TensorFileException damaged) {
            throw new UnusableWeightsException(damaged);
        }
    }

    /** A model on a copy of the network: stage 2 changes it, and features of other folds need what it was. */
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

    /** The head's parameters; of those that belong to the network the first values are copies of its weights. */
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
                                    (_, _, _) ->
                                            Tensors.copy(frozen.tail().get(name).value()));
                })
                .toList();
    }

    /** Of a model's origin what follows from its settings, its network and the program. */
    public static Map<String, String> origin(Settings settings, FrozenBackbone network) {
        Map<String, String> origin = new LinkedHashMap<>();
        origin.put("weights", network.fingerprint());
        settings.values().values().stream()
                .filter(setting -> Keys.decides(setting.key())) // weights are a path of the machine, perhaps
                .forEach(setting -> origin.put("config." + setting.key(), setting.text()));
        origin.put("libtorch", Libtorch.load().version());
        origin.put("java", Integer.toString(Runtime.version().feature()));
        origin.put("gramian", version());
        return origin;
    }

    private static String version() {
        String written = InitialModel.class.getPackage().getImplementationVersion();
        return written == null ? "development" : written;
    }
}
