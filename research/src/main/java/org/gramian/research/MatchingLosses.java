package org.gramian.research;

import static org.gramian.autodiff.Result.Adjoint.list;

import java.util.List;
import java.util.function.Function;
import org.gramian.autodiff.Result;
import org.gramian.autodiff.Var;
import org.gramian.autodiff.network.Classification;
import org.gramian.tensor.Tensor;

/**
 * Losses that compare a student with a teacher; all are means over the batch, and gradients reach the student alone.
 *
 * <p>References: feature matching after a learned projection is that of Romero et al., "FitNets: Hints for Thin Deep Nets", ICLR
 * 2015; logit matching that of Hinton, Vinyals and Dean, "Distilling the Knowledge in a Neural Network", 2015.
 */
final class MatchingLosses {
    /** Added to the relative squared distance before its root, whose derivative at 0 does not exist. */
    private static final double ROOT_EPSILON = 1e-6;

    /** Bound of teacher norms, for maps that are 0 everywhere. */
    private static final double SMALLEST_NORM = 1e-12;

    private MatchingLosses() {}

    /**
     * Compares feature maps by the mean smooth L1 distance over all elements d of student − teacher: {@code ½d²} where {@code |d| ≤ 1}
     * and {@code |d| − ½} elsewhere.
     *
     * @param student s {@code [n, c, h, w]}
     * @param teacher t {@code [n, c, h, w]}, standardized channels
     * @return one element
     */
    static Var features(Var student, Tensor teacher) {
        requireSameShape("feature matching", student, teacher);
        double share = 1.0 / student.shape().elements();
        return student.tape().apply(List.of(student), () -> {
            Tensor difference = student.value().sub(teacher);
            // With c = clip(d, −1, 1) the smooth L1 distance is c·(d − c/2), and c is its derivative.
            Tensor slope = difference.clip(-1, 1);
            Tensor parts = slope.mul(difference.addScaled(slope, -0.5));
            return Result.of(
                    parts.sum().mul(share), (g, wanted) -> list(slope.mul(share).mul(g)), slope);
        });
    }

    /**
     * Compares Gram matrices, the second-order statistics that this library classifies by:
     *
     * <pre>{@code 1/n Σᵢ ‖Gᵢ(s) − Gᵢ(t)‖_F / ‖Gᵢ(t)‖_F   with   Gᵢ(x) = XᵢXᵢᵀ/(h·w),  Xᵢ [c, h·w]}</pre>
     *
     * <p>No matrix of {@code c × c} is formed: with {@code a = ‖SᵀS‖²}, {@code b = ‖SᵀT‖²} and {@code e = ‖TᵀT‖²}, Frobenius norms
     * of {@code h·w × h·w} matrices, {@code ‖SSᵀ − TTᵀ‖² = a − 2b + e}. The gradient of that is {@code 4(S·SᵀS − T·TᵀS)}.
     *
     * @param student s {@code [n, c, h, w]}
     * @param teacher t {@code [n, c, h, w]}
     * @return one element
     */
    static Var grams(Var student, Tensor teacher) {
        return ofGrams(student, teacher, grams -> {
            Tensor norm = squares(grams.target).atLeast(SMALLEST_NORM); // [n, 1, 1]
            Tensor distance =
                    squares(grams.own).addScaled(squares(grams.cross), -2).add(squares(grams.target));
            Tensor relative = distance.div(norm).atLeast(0).add(ROOT_EPSILON);
            Tensor root = relative.sqrt();
            Tensor slope = root.mul(norm).reciprocal().mul(2.0 / grams.images());
            Tensor direction = grams.s.matmul(grams.own).sub(grams.t.matmul(grams.cross)); // [n, c, hw]
            return new GramLoss(root.sum().mul(1.0 / grams.images()), direction.mul(slope));
        });
    }

    /**
     * Compares the directions of Gram matrices, whatever their size:
     *
     * <pre>{@code 1/n Σᵢ (1 − ⟨Gᵢ(s), Gᵢ(t)⟩ / (‖Gᵢ(s)‖_F ‖Gᵢ(t)‖_F))}</pre>
     *
     * <p>A student that explains a part of the teacher's maps has smaller matrices, for which {@link #grams} has little gradient.
     * With a, b and e as there the cosine is {@code b/√(a·e)}, and its gradient {@code 2/√(a·e)·(T·TᵀS − b/a·S·SᵀS)}.
     *
     * @param student s {@code [n, c, h, w]}
     * @param teacher t {@code [n, c, h, w]}
     * @return one element
     */
    static Var gramCosines(Var student, Tensor teacher) {
        return ofGrams(student, teacher, grams -> {
            Tensor a = squares(grams.own).atLeast(SMALLEST_NORM); // [n, 1, 1]
            Tensor b = squares(grams.cross);
            Tensor norms = a.mul(squares(grams.target).atLeast(SMALLEST_NORM)).sqrt();
            Tensor mean = b.div(norms).sum().mul(1.0 / grams.images());
            Tensor slope = norms.reciprocal().mul(-2.0 / grams.images());
            Tensor direction =
                    grams.t.matmul(grams.cross).sub(grams.s.matmul(grams.own).mul(b.div(a))); // [n, c, hw]
            return new GramLoss(mean.mul(-1).add(1), direction.mul(slope));
        });
    }

    /**
     * Products of maps S and T, from which losses of their Gram matrices follow.
     *
     * @param s S {@code [n, c, hw]}
     * @param t T {@code [n, c, hw]}
     * @param own SᵀS {@code [n, hw, hw]}
     * @param cross TᵀS {@code [n, hw, hw]}
     * @param target TᵀT {@code [n, hw, hw]}
     */
    private record GramProducts(Tensor s, Tensor t, Tensor own, Tensor cross, Tensor target) {
        static GramProducts of(Tensor student, Tensor teacher) {
            Tensor s = columns(student);
            Tensor t = columns(teacher);
            return new GramProducts(
                    s,
                    t,
                    s.transpose().matmul(s),
                    t.transpose().matmul(s),
                    t.transpose().matmul(t));
        }

        double images() {
            return s.size(0);
        }
    }

    /** A loss and its gradient {@code [n, c, hw]} with respect to S. */
    private record GramLoss(Tensor value, Tensor gradient) {}

    private static Var ofGrams(Var student, Tensor teacher, Function<GramProducts, GramLoss> function) {
        requireSameShape("Gram matching", student, teacher);
        return student.tape().apply(List.of(student), () -> {
            GramLoss loss = function.apply(GramProducts.of(student.value(), teacher));
            return Result.of(
                    loss.value,
                    (g, wanted) ->
                            list(loss.gradient.reshape(student.shape().sizes()).mul(g)),
                    loss.gradient);
        });
    }

    /**
     * Compares class scores by the Kullback-Leibler divergence of softened probabilities, {@code τ²/n Σᵢ Σⱼ qᵢⱼ (log qᵢⱼ − log
     * pᵢⱼ)} with {@code q = softmax(t/τ)} and {@code p = softmax(s/τ)}; τ² keeps the size of gradients independent of τ.
     *
     * @param student s {@code [n, k]}
     * @param teacher t {@code [n, k]}
     * @param temperature τ
     * @return one element
     */
    static Var logits(Var student, Tensor teacher, double temperature) {
        requireSameShape("logit matching", student, teacher);
        double images = student.shape().at(0);
        Tensor softened = teacher.mul(1 / temperature);
        Tensor probabilities = softened.softmax();
        Tensor entropy = probabilities.mul(softened.logSoftmax()).sum().mul(1 / images);
        Var cross = Classification.crossEntropy(student.mul(1 / temperature), probabilities);
        Var divergence = cross.add(student.tape().constant(entropy));
        return divergence.mul(temperature * temperature);
    }

    private static Tensor columns(Tensor maps) {
        return maps.contiguous().reshape(maps.size(0), maps.size(1), maps.size(2) * maps.size(3));
    }

    /** Sums the squares of each matrix: {@code [n, a, b]} to {@code [n, 1, 1]}. */
    private static Tensor squares(Tensor matrices) {
        return matrices.mul(matrices).sum(1, 2);
    }

    private static void requireSameShape(String what, Var student, Tensor teacher) {
        if (!student.shape().equals(teacher.shape())) {
            throw new IllegalArgumentException(what + ": expected student and teacher of the same shape, found "
                    + student.value() + " and " + teacher);
        }
    }
}
