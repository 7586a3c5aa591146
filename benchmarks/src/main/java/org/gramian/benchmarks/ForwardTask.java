package org.gramian.benchmarks;

import java.util.LinkedHashMap;
import java.util.SequencedMap;
import java.util.function.Function;
import org.gramian.autodiff.Tape;
import org.gramian.tensor.Scope;
import org.gramian.tensor.Tensor;
import org.gramian.tensor.Views;
import org.jspecify.annotations.Nullable;

/** A {@link Subject} forward, with nothing kept for going backwards. */
final class ForwardTask implements Task {
    private final Subject subject;

    ForwardTask(Subject subject) {
        this.subject = subject;
    }

    private <R extends @Nullable Object> R forward(Function<Tensor, R> reading) {
        try (Tape tape = Tape.inference()) {
            return reading.apply(subject.forward(tape).output().value());
        }
    }

    @Override
    public SequencedMap<String, Double> check() {
        return forward(output -> {
            try (Scope _ = Scope.open()) {
                SequencedMap<String, Double> values = new LinkedHashMap<>();
                values.put("|output|", Norm.of(output));
                values.put("|output of the first picture|", Norm.of(Views.slice(output, 0, 0, 1)));
                return values;
            }
        });
    }

    @Override
    public void run() {
        forward(_ -> null);
    }

    @Override
    public void close() {
        subject.close();
    }
}
