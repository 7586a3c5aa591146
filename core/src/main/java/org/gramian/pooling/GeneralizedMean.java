package org.gramian.pooling;

import static org.gramian.autodiff.Adjoint.list;

import java.util.List;
import org.gramian.autodiff.Bindings;
import org.gramian.autodiff.ParameterSpec;
import org.gramian.autodiff.ParameterSpec.Role;
import org.gramian.autodiff.Result;
import org.gramian.autodiff.Shapes;
import org.gramian.autodiff.Var;
import org.gramian.tensor.Device;
import org.gramian.tensor.Elementwise;
import org.gramian.tensor.Reductions;
import org.gramian.tensor.Shape;
import org.gramian.tensor.Tensor;
import org.gramian.tensor.Tensors;
import org.gramian.tensor.Views;

/**
 * The generalized mean of each map (GeM), between the average (p = 1) and the maximum (p to infinity):
 *
 * <pre>{@code v_i = (mean_p y_i(p)^p)^(1/p),  y = max(f, 1e-6)}</pre>
 *
 * <p>It is computed as {@code m·s^(1/p)} with {@code m = max y}, {@code a = exp(p·log(y/m))} and {@code s = mean a}, so
 * that no power leaves single precision. Backward, N the number of positions:
 *
 * <pre>{@code
 * dv/df      = v·a / (s·N·y) where f > 1e-6, else 0
 * dv/dlog(p) = v·(mean(a·log(y/m))/s - log(s)/p)
 * }</pre>
 *
 * <p>What is learned is {@code logP}, one number for all maps, so that p stays positive.
 *
 * <p>Radenović, Tolias, Chum: Fine-tuning CNN Image Retrieval with No Human Annotation, PAMI 2018.
 *
 * @param p the exponent, where it starts if it is learned
 * @param learned whether training moves it
 */
public record GeneralizedMean(double p, boolean learned) implements Aggregation {
    /** No response counts as smaller: powers of it stay positive. */
    public static final double SMALLEST = 1e-6;

    private static final double USUAL = 3; // where the authors start

    /** Always with p, since {@code gem} alone is the name of a method that normalizes, too. */
    static final Words.Rule RULE = new Words.Rule(
            "gem",
            "gem[:p=3,learn=true|false]",
            "generalized mean of each map: p=1 average, large p maximum; p is learned",
            a -> new GeneralizedMean(a.number("p", USUAL), learn(a)));

    public GeneralizedMean {
        if (!(p > 0) || Double.isInfinite(p)) {
            throw new IllegalArgumentException("gem: p must be a number above 0, found " + p);
        }
    }

    private static boolean learn(WordArguments arguments) {
        String text = arguments.text("learn", "true");
        if (!text.equals("true") && !text.equals("false")) {
            throw arguments.wrong("learn", "true or false", text);
        }
        return text.equals("true");
    }

    @Override
    public String text() {
        return "gem:" + Words.number(p) + (learned ? "" : ",learn=false");
    }

    @Override
    public long outputs(long channels) {
        return channels;
    }

    @Override
    public List<ParameterSpec> parameters(long channels) {
        ParameterSpec exponent = new ParameterSpec(
                "logP",
                Shape.of(1),
                Role.BIAS, // decay would pull p towards 1
                (random, shape, type) -> Tensors.full(Math.log(p), shape, type, Device.CPU));
        return learned ? List.of(exponent) : List.of();
    }

    @Override
    public Var apply(Var maps, Bindings parameters) {
        List<Var> inputs = learned ? List.of(maps, parameters.get("logP")) : List.of(maps);
        Tensor x = maps.value();
        Var means = maps.tape().apply(inputs, () -> {
            Tensor exponent = learned
                    ? Elementwise.exp(inputs.getLast().value())
                    : Tensors.full(p, Shape.of(1), x.type(), x.device());
            return mean(x, exponent);
        });
        return Shapes.reshape(means, x.size(0), x.size(1));
    }

    private static Result mean(Tensor x, Tensor exponent) {
        Tensor y = Elementwise.atLeast(x, SMALLEST);
        Tensor largest = Reductions.max(y, 2);
        Tensor logs = Elementwise.log(Elementwise.div(y, largest));
        Tensor powers = Elementwise.exp(Elementwise.mul(logs, exponent));
        long positions = x.size(2);
        Tensor s = Elementwise.mul(Reductions.sum(powers, 2), 1.0 / positions);
        Tensor logS = Elementwise.log(s);
        Tensor v = Elementwise.mul(largest, Elementwise.exp(Elementwise.div(logS, exponent)));
        Tensor ofLogs = Elementwise.mul(Reductions.sum(Elementwise.mul(powers, logs), 2), 1.0 / positions);
        Tensor ofExponent =
                Elementwise.mul(v, Elementwise.sub(Elementwise.div(ofLogs, s), Elementwise.div(logS, exponent)));
        Tensor share = Elementwise.mul(Elementwise.div(v, s), 1.0 / positions);
        return Result.of(
                v,
                (g, wanted) -> list(
                        wanted[0] ? ofMaps(Elementwise.mul(g, share), powers, x) : null,
                        wanted.length > 1 ? Views.reshape(Reductions.sum(Elementwise.mul(g, ofExponent)), 1) : null),
                powers,
                share,
                ofExponent);
    }

    private static Tensor ofMaps(Tensor upstream, Tensor powers, Tensor x) {
        Tensor slopes = Elementwise.div(Elementwise.mul(powers, upstream), Elementwise.atLeast(x, SMALLEST));
        return Elementwise.where(Elementwise.greater(x, SMALLEST), slopes, 0);
    }
}
