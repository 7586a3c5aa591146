package org.gramian.pooling;

import java.math.BigDecimal;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.function.Function;
import java.util.stream.Stream;
import org.gramian.basis.EnumWords;
import org.gramian.basis.NamedArguments;
import org.gramian.basis.NearestWord;
import org.gramian.pooling.Codebook.BagOfWords;
import org.gramian.pooling.Codebook.DeepTen;
import org.gramian.pooling.Codebook.NetVlad;
import org.gramian.pooling.Codebook.Vlad;
import org.gramian.pooling.Cross.CrossCovariance;
import org.gramian.pooling.FirstOrder.Average;
import org.gramian.pooling.FirstOrder.GeneralizedMean;
import org.gramian.pooling.FirstOrder.Maximum;
import org.gramian.pooling.FirstOrder.Sum;
import org.gramian.pooling.FirstOrder.Weighted;
import org.gramian.pooling.Normalization.Pca;
import org.gramian.pooling.Pooling.PoolingSyntaxException;
import org.gramian.pooling.PoolingStage.Syntax;
import org.gramian.pooling.Reduction.LayerChannels;
import org.gramian.pooling.Transform.Free;
import org.gramian.pooling.Transform.Isice;
import org.gramian.pooling.Vectorization.Parametric;
import org.gramian.pooling.Vectorization.RandomMaclaurin;
import org.gramian.pooling.Vectorization.TensorSketch;
import org.gramian.spd.Democratic;
import org.gramian.spd.Kernel.Bilinear;
import org.gramian.spd.Kernel.Covariance;
import org.gramian.spd.Kernel.Gaussian;
import org.gramian.spd.Kernel.Laplacian;
import org.gramian.spd.Kernel.Polynomial;
import org.gramian.spd.Rbf;
import org.gramian.spd.Rbf.Backward;
import org.gramian.spd.Rbf.Sigma;
import org.gramian.spd.SpectralFunction;
import org.gramian.spd.SpectralFunction.Log;
import org.gramian.spd.SpectralFunction.Power;
import org.gramian.spd.SpectralFunction.ReEig;

/**
 * Registry of pooling stages: name, arguments and meaning of each stage in a text such as {@code conv:256/rbf/log/triu}.
 * {@link Pooling#parse} looks up stages here, and the help lists them.
 */
final class StageRegistry {
    /** Syntax of a stage with the factory that creates the stage or kernel from its arguments. */
    record SyntaxRule(Syntax syntax, Function<NamedArguments, Object> factory) {
        SyntaxRule(String name, String form, String meaning, Function<NamedArguments, Object> factory) {
            this(new Syntax(name, form, meaning), factory);
        }
    }

    private static final String FLOOR = "floor=" + number(SpectralFunction.DEFAULT_FLOOR);

    private static final List<SyntaxRule> RULES = List.of(
            new SyntaxRule(
                    "conv",
                    "conv:<channels>|same|atmost=<channels>[,bias=" + number(Reduction.Conv.INITIAL_BIAS) + "]",
                    "1x1 convolution and ReLU",
                    Reduction.Conv::read),
            LayerChannels.RULE,
            PcaStage.RULE,
            DropCov.RULE,
            new SyntaxRule(
                    "rbf",
                    "rbf[:sigma=mean|mean-full|estimate|learned|<number>,jitter=" + number(Rbf.DEFAULT_JITTER)
                            + ",gradient=exact|printed]",
                    "K = exp(-|fi-fj|^2 / 2 sigma^2)",
                    a -> new Rbf(sigma(a), jitter(a), choice(a, "gradient", Backward.class))),
            new SyntaxRule(
                    "laplacian",
                    "laplacian:sigma=<number>[,jitter=0]",
                    "K = exp(-|fi-fj| / sigma)",
                    a -> new Laplacian(a.number("sigma"), jitter(a))),
            new SyntaxRule(
                    "polynomial",
                    "polynomial:degree=<number>,scale=<number>,offset=<number>[,jitter=0]",
                    "K = (scale <fi,fj> + offset)^degree",
                    a -> new Polynomial(a.count("degree"), a.number("scale"), a.number("offset"), jitter(a))),
            new SyntaxRule(
                    "covariance",
                    "covariance[:jitter=0,shrinkage=0]",
                    "K = unbiased covariance, shrunk towards its mean eigenvalue",
                    a -> new Covariance(jitter(a), a.number("shrinkage", 0))),
            new SyntaxRule(
                    "bilinear", "bilinear[:jitter=0]", "K = M M^T / N, as in B-CNN", a -> new Bilinear(jitter(a))),
            new SyntaxRule(
                    "gaussian",
                    "gaussian[:jitter=0]",
                    "K = [[S + m m^T, m], [m^T, 1]] of mean m and covariance S",
                    a -> new Gaussian(jitter(a))),
            new SyntaxRule(
                    "democratic",
                    "democratic[:gamma=0.5,iterations=10,jitter=0]",
                    "K = sum of a(p) x(p) x(p)^T / N, a balances the positions",
                    a -> new Democratic(
                            a.number("gamma", Democratic.DEFAULT_GAMMA),
                            a.count("iterations", Democratic.DEFAULT_ITERATIONS),
                            jitter(a))),
            new SyntaxRule("average", "average", "mean of each map, first order", a -> new Average()),
            Maximum.RULE,
            Sum.RULE,
            GeneralizedMean.RULE,
            Pyramid.RULE,
            Weighted.RULE,
            FisherVector.RULE,
            NetVlad.RULE,
            DeepTen.RULE,
            Vlad.RULE,
            BagOfWords.RULE,
            MultiScaleOrderless.RULE,
            Radam.RULE,
            NetworkTail.RULE,
            Cross.RULE,
            CrossCovariance.RULE,
            new SyntaxRule(
                    "spd",
                    "spd:<size>[,init=orthonormal|xavier]",
                    "Y = W^T K W, W with orthonormal columns",
                    a -> new Transform.Spd(a.count("size"), choice(a, "init", Transform.Start.class))),
            Free.RULE,
            new SyntaxRule("relu", "relu", "max(Y, 0), element by element", a -> new Transform.Relu()),
            new SyntaxRule(
                    "reeig",
                    "reeig:<smallest>",
                    "eigenvalues clamped from below",
                    a -> spectral(new ReEig(a.number("smallest")))),
            new SyntaxRule("log", "log[:" + FLOOR + "]", "matrix logarithm", a -> spectral(new Log(floor(a)))),
            new SyntaxRule(
                    "sqrt",
                    "sqrt[:" + FLOOR + "]",
                    "matrix square root by eigenvalues",
                    a -> spectral(new Power(0.5, floor(a)))),
            new SyntaxRule(
                    "power",
                    "power:<exponent>[," + FLOOR + "]",
                    "matrix power by eigenvalues",
                    a -> spectral(new Power(a.number("exponent"), floor(a)))),
            new SyntaxRule(
                    "isqrt",
                    "isqrt[:iterations=" + Transform.Isqrt.DEFAULT_ITERATIONS + "]",
                    "matrix square root by Newton-Schulz",
                    a -> new Transform.Isqrt(a.count("iterations", Transform.Isqrt.DEFAULT_ITERATIONS))),
            Isice.RULE,
            Transform.RiemannianNorm.RULE,
            new SyntaxRule(
                    "triu",
                    "triu[:gradient=exact|printed]",
                    "upper triangle, off-diagonal times sqrt 2",
                    a -> new Vectorization.Triu(choice(a, "gradient", Backward.class))),
            new SyntaxRule("flat", "flat", "the whole matrix", a -> new Vectorization.Flat()),
            TensorSketch.RULE,
            RandomMaclaurin.RULE,
            Parametric.RULE,
            new SyntaxRule(
                    "root",
                    "root[:eps=" + number(Normalization.Root.DEFAULT_EPSILON) + ",gradient=exact|authors]",
                    "signed square root",
                    a -> new Normalization.Root(a.number("eps"), choice(a, "gradient", Normalization.Slope.class))),
            new SyntaxRule("l2", "l2", "unit length", a -> new Normalization.L2()),
            Normalization.Scale.RULE);

    private StageRegistry() {}

    /** Returns the syntax of all stages, in the order of the data flow. */
    static List<Syntax> all() {
        return Stream.concat(RULES.stream().map(SyntaxRule::syntax), Stream.of(PoolingParser.SUM, Join.SYNTAX))
                .toList();
    }

    /** Returns the names of all stages. */
    static List<String> names() {
        return RULES.stream().map(rule -> rule.syntax().name()).toList();
    }

    /** Returns the rule of a stage name. */
    static Optional<SyntaxRule> rule(String name) {
        return RULES.stream().filter(rule -> rule.syntax().name().equals(name)).findFirst();
    }

    private static Transform spectral(SpectralFunction function) {
        return new Transform.Spectrum(function);
    }

    private static double floor(NamedArguments arguments) {
        return arguments.number("floor", SpectralFunction.DEFAULT_FLOOR);
    }

    /** Returns the default jitter of a kernel: 0, as published, except for {@code rbf}. */
    static double defaultJitter(String word) {
        return word.equals("rbf") ? Rbf.DEFAULT_JITTER : 0;
    }

    private static double jitter(NamedArguments arguments) {
        return arguments.number("jitter", defaultJitter(arguments.name()));
    }

    private static <E extends Enum<E>> E choice(NamedArguments arguments, String argument, Class<E> type) {
        return arguments.choice(argument, text -> EnumWords.parse(type, argument, text));
    }

    private static Sigma sigma(NamedArguments arguments) {
        String text = arguments.text("sigma", "mean");
        return switch (text) {
            case "mean" -> new Sigma.Mean();
            case "mean-full" -> new Sigma.MeanFull();
            case "estimate" -> new Sigma.Estimate();
            case "learned" -> new Sigma.Learned();
            default -> {
                if (!text.matches("[-+.0-9].*")) {
                    throw arguments.wrong(
                            "sigma",
                            "mean, mean-full, estimate, learned or a number",
                            text + NearestWord.suggestion(text, List.of("mean", "mean-full", "estimate", "learned")));
                }
                yield new Sigma.Fixed(arguments.number("sigma"));
            }
        };
    }

    /** Formats a number as a user would type it: {@code 0.5}, {@code 3}, {@code 1e-4}. */
    static String number(double value) {
        if (value == Math.rint(value) && Math.abs(value) < 1e7) {
            return Long.toString((long) value);
        }
        String plain = Double.toString(value);
        if (!plain.contains("E")) {
            return plain;
        }
        BigDecimal decimal = new BigDecimal(plain).stripTrailingZeros();
        int exponent = decimal.precision() - decimal.scale() - 1;
        return decimal.movePointLeft(exponent).stripTrailingZeros().toPlainString() + "e" + exponent;
    }

    /**
     * The stage {@code pca}: a {@link Reduction.Pca} of features before the aggregation, a {@link Pca} of descriptors
     * after it.
     *
     * @param axes number of principal components; empty for {@code most}, see {@link Pca}
     */
    record PcaStage(OptionalInt axes) {
        static final SyntaxRule RULE = new SyntaxRule(
                "pca",
                "pca:<axes>, or pca:most after the aggregation",
                "principal components of the features, or of the descriptor",
                PcaStage::of);

        private static PcaStage of(NamedArguments arguments) {
            boolean most = arguments.text("axes", "").equals(Pca.MOST);
            return new PcaStage(most ? OptionalInt.empty() : OptionalInt.of(arguments.count("axes")));
        }

        /** Returns the stage for a position before or after the aggregation. */
        PoolingStage at(boolean afterAggregation) {
            if (afterAggregation) {
                return new Pca(axes);
            }
            return new Reduction.Pca(axes.orElseThrow(() -> new PoolingSyntaxException(
                    "pca: 'most' applies to descriptors, after the aggregation; before it expected a number of channels, as"
                            + " pca:128")));
        }
    }
}
