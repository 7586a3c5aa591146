package org.gramian.pooling;

import static org.assertj.core.api.Assertions.assertThat;
import static org.gramian.testing.Facts.facts;
import static org.gramian.testing.TensorAssert.assertTensor;

import java.util.ArrayList;
import java.util.List;
import org.gramian.autodiff.Bindings;
import org.gramian.autodiff.Tape;
import org.gramian.autodiff.Var;
import org.gramian.tensor.Scope;
import org.gramian.tensor.Tensor;
import org.junit.jupiter.api.Test;

/** What a listener is told of a pooling. */
class PoolingTraceTest {
    private static List<String> stages(PoolingTrial trial, Tape tape, Tensor features) {
        List<String> stages = new ArrayList<>();
        Var traced = trial.pooling.trace(
                tape.constant(features),
                Bindings.of(trial.parameters.variables(tape)),
                (stage, value) -> stages.add(stage + " " + value.shape()));
        assertTensor(traced.value()).isIdenticalTo(trial.describe(features));
        return stages;
    }

    @Test
    void everyStageIsToldInOrderWithWhatLeavesIt() {
        try (Scope _ = Scope.open();
                PoolingTrial trial = PoolingTrial.of("conv:6/rbf/spd:5/relu/spd:3/triu/root/l2");
                Tape tape = Tape.inference()) {
            assertThat(stages(trial, tape, PoolingTrial.features(1)))
                    .zipSatisfy(
                            List.of(
                                    facts("conv:6", "[3, 6, 20]"),
                                    facts("rbf", "[3, 6, 6]"),
                                    facts("1", "spd:5", "[3, 5, 5]"),
                                    facts("2", "relu", "[3, 5, 5]"),
                                    facts("3", "spd:3", "[3, 3, 3]"),
                                    facts("triu", "[3, 6]"),
                                    facts("root", "[3, 6]"),
                                    facts("l2", "[3, 6]")),
                            (stage, facts) -> assertThat(stage).has(facts));
        }
    }
}
