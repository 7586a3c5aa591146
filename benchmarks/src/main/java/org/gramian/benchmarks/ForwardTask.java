package org.gramian.benchmarks;

import java.util.LinkedHashMap;
import java.util.SequencedMap;
import java.util.function.Function;
import org.gramian.autodiff.Tape;
import org.gramian.tensor.Device;
import org.gramian.tensor.Scope;
import org.gramian.tensor.Tensor;
import org.gramian.tensor.cuda.CapturedWork;
import org.gramian.tensor.cuda.CudaStream;
import org.jspecify.annotations.Nullable;

/** Forward pass of a {@link BenchModel} without gradients, replayed from a CUDA graph if possible. */
final class ForwardTask implements Task {
    private final BenchModel subject;
    private final CudaStream stream;
    private final CapturedWork work;
    /** Output of the last run; a CUDA graph writes to the same memory each time. */
    private @Nullable Tensor output;

    ForwardTask(BenchModel subject) {
        this.subject = subject;
        Device device = subject.labels().device();
        this.stream = CudaStream.open(device);
        this.work = new CapturedWork(
                device,
                () -> forward(value -> {
                    Tensor former = output;
                    output = value.alias();
                    Scope.detach(output);
                    if (former != null) {
                        former.close();
                    }
                    return output;
                }));
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
                values.put("|output|", SyntheticValues.norm(output));
                values.put("|output of the first image|", SyntheticValues.norm(output.slice(0, 0, 1)));
                return values;
            }
        });
    }

    @Override
    public void run() {
        work.run();
    }

    @Override
    public void close() {
        stream.close();
        work.close();
        if (output != null) {
            output.close();
        }
        subject.close();
    }
}
