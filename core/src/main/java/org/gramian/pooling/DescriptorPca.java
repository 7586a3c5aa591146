package org.gramian.pooling;

import java.util.List;
import java.util.OptionalInt;
import java.util.random.RandomGenerator;
import org.gramian.autodiff.Arithmetic;
import org.gramian.autodiff.Bindings;
import org.gramian.autodiff.Matrices;
import org.gramian.autodiff.ParameterSet;
import org.gramian.autodiff.ParameterSpec;
import org.gramian.autodiff.ParameterSpec.Role;
import org.gramian.autodiff.Shapes;
import org.gramian.autodiff.Var;
import org.gramian.tensor.Tensor;

/**
 * Projection of descriptors on their first principal axes, {@code P(v − μ)}: {@code [n, d]} to {@code [n, k]}, without
 * whitening.
 *
 * <p>{@code mean [d]} and {@code components [k, d]} are fitted to the descriptors of training images, at most {@code
 * max(k, 4096) + 1} of them, and not trained. n descriptors spread in n − 1 directions at most, so k is smaller than n. {@code
 * pca:most} stands for as many as there can be up to 4096, {@code min(4096, n − 1, d)}, and is decided when the training
 * images are known; the text in a model has the number. Axes along which the sample does not spread at all, as when
 * images are repeated, are rows of zeros: their coordinate is 0.
 *
 * @param axes k; nothing for {@code most}
 */
public record DescriptorPca(OptionalInt axes) implements Normalization {
    static final String MOST = "most";

    /** The size that Fisher vectors are published with. */
    static final int LARGEST_MOST = 4096;

    public DescriptorPca {
        if (axes.isPresent() && axes.getAsInt() < 1) {
            throw new IllegalArgumentException("pca: expected at least 1 axis, found " + axes.getAsInt());
        }
    }

    @Override
    public String text() {
        return "pca:" + (axes.isPresent() ? Integer.toString(axes.getAsInt()) : MOST);
    }

    @Override
    public Normalization settled(PoolingContext place) {
        int images = place.images();
        if (images < 2 || axes.orElse(1) > images - 1) {
            throw tooFew(images);
        }
        long most = Math.min(Math.min(LARGEST_MOST, images - 1), place.entering());
        return axes.isPresent() ? this : new DescriptorPca(OptionalInt.of(Math.toIntExact(most)));
    }

    private IllegalArgumentException tooFew(long images) {
        return new IllegalArgumentException(text() + ": descriptors of n images have at most n - 1 axes, found "
                + images + " images; use more images, or fewer axes, e.g. pca:"
                + (images > 2 ? images - 1 : 1) + (axes.isPresent() && images > 1 ? " or pca:most" : ""));
    }

    @Override
    public long outputs(long entering) {
        if (axes.isEmpty()) {
            throw new IllegalArgumentException("pca:most depends on the number of training images, which is not"
                    + " known here; write a number instead, e.g. pca:" + Math.min(entering, LARGEST_MOST));
        }
        if (axes.getAsInt() > entering) {
            throw new IllegalArgumentException("pca: expected at most as many axes as the descriptor is long, found "
                    + axes.getAsInt() + " of " + entering);
        }
        return axes.getAsInt();
    }

    @Override
    public List<ParameterSpec> parameters(long entering) {
        return List.of(
                Vocabulary.unset("mean", Role.FITTED, entering),
                Vocabulary.unset("components", Role.FITTED, outputs(entering), entering));
    }

    @Override
    public int fittedTo() {
        return Math.max(LARGEST_MOST, axes.orElse(1)) + 1;
    }

    @Override
    public void fit(Tensor descriptors, ParameterSet parameters, RandomGenerator random) {
        int count = Math.toIntExact(outputs(descriptors.size(1)));
        if (count > descriptors.size(0) - 1) {
            throw tooFew(descriptors.size(0));
        }
        PrincipalAxes.Found found = PrincipalAxes.ofRows(descriptors, count);
        parameters.get("mean").set(Fitting.like(found.mean(), descriptors));
        parameters.get("components").set(Fitting.like(found.axes(), descriptors));
    }

    @Override
    public Var apply(Var vectors, Bindings parameters) {
        Var mean = parameters.get("mean");
        Fitting.requireFitted("pca", mean);
        Var components = Shapes.transpose(parameters.get("components"), 0, 1);
        return Matrices.matmul(Arithmetic.sub(vectors, mean), components);
    }
}
