package org.gramian.run;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import org.gramian.autodiff.ParameterSet;
import org.gramian.autodiff.ParameterSpec;
import org.gramian.model.Head;
import org.gramian.model.Model;
import org.gramian.tensor.DType;
import org.gramian.tensor.Tensor;
import org.gramian.tensor.Tensors;
import org.gramian.train.feature.FrozenBackbone;

/** Makes the model that a fold begins with: a copy of the backbone, a tail of the network's weights, all else at random. */
final class Beginning {
    private Beginning() {}

    /** On a copy of the backbone: stage 2 changes it, and features of other folds need what it was. */
    static Model model(RunPlan plan, FoldPlan fold, FrozenBackbone frozen) {
        ParameterSet backbone = ParameterSet.initialize(
                frozen.backbone().parameters(), new SplittableRandom(0), DType.F32, frozen.device());
        Map<String, Tensor> values = new LinkedHashMap<>();
        frozen.parameters().all().forEach(parameter -> values.put(parameter.name(), parameter.value()));
        try {
            backbone.assign(values);
            Head head = plan.config()
                    .network()
                    .head(
                            plan.dataset().classes().size(),
                            fold.parts().training().size());
            ParameterSet parameters = ParameterSet.initialize(
                    specs(head, frozen),
                    new SplittableRandom(plan.config().recipe().seed()),
                    DType.F32,
                    frozen.device());
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
}
