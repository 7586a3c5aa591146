package org.gramian.backbone;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.gramian.autodiff.Arithmetic;
import org.gramian.autodiff.Bindings;
import org.gramian.autodiff.Filters;
import org.gramian.autodiff.Maps;
import org.gramian.autodiff.ParameterSpec;
import org.gramian.autodiff.ParameterSpec.Role;
import org.gramian.autodiff.Shapes;
import org.gramian.autodiff.Var;
import org.gramian.backbone.Kernel.Border;
import org.gramian.tensor.Activation;
import org.gramian.tensor.Shape;
import org.gramian.tensor.Tensors;
import org.gramian.tensor.Window;

/**
 * A fixed bank of oriented filters over three octaves, for a start without any weights: images {@code [n, 3, h, w]} to
 * maps {@code [n, 120, ⌈h/8⌉, ⌈w/8⌉]}.
 *
 * <p>The image is smoothed and halved into a pyramid (Burt and Adelson, 1983). Each of its first three levels is
 * convolved at every second place with the 19 filters of {@link FilterFormulas}; a response r becomes two maps, {@code
 * max(r, 0)} and {@code max(−r, 0)}, and each is averaged over windows of 4, 2 and 1 so that all levels have one size. The
 * fourth level gives the plain colours, rectified in the same way. That makes {@code 3·2·19 + 2·3} maps.
 *
 * <p>The numbers are parameters of the role {@link Role#FITTED}: they go to any device and type and are never trained.
 *
 * @param name of the stage
 */
public record FilterBank(String name) implements Stage {
    /** Levels of the pyramid that are filtered. */
    public static final int LEVELS = 3;

    /** The window of the filters, {@code bank.weight}. */
    public static final Kernel BANK = new Kernel(FilterFormulas.SIZE, 2, Border.HALF, false);

    /** The window that halves a level, {@code halving.weight}. */
    public static final Kernel HALVING = new Kernel(5, 2, Border.HALF, true);

    /** The window of the plain colours, {@code colour.weight}. */
    public static final Kernel POINT = new Kernel(1, 1, Border.NONE, false);

    @Override
    public long channels(long entering) {
        return 2L * (LEVELS * FilterFormulas.FILTERS + FilterFormulas.COLOURS.size());
    }

    @Override
    public List<ParameterSpec> parameters(long entering) {
        double[] smoothing = FilterFormulas.smoothing();
        return List.of(
                fixed("bank.weight", FilterFormulas.bank(), BANK),
                fixed("halving.weight", List.of(smoothing, smoothing, smoothing), HALVING),
                fixed("colour.weight", FilterFormulas.COLOURS, POINT));
    }

    private static ParameterSpec fixed(String name, List<double[]> filters, Kernel kernel) {
        double[] values = filters.stream().flatMapToDouble(Arrays::stream).toArray();
        Shape wanted = Shape.of(filters.size(), kernel.depthwise() ? 1 : Network.COLOURS, kernel.size(), kernel.size());
        return new ParameterSpec(name, wanted, Role.FITTED, (random, shape, type) -> Tensors.of(values, shape, type));
    }

    /** What brings the responses of a level to the size of the last. */
    public static Window averaging(int level) {
        int size = 1 << (LEVELS - 1 - level);
        return Window.of(size, size).roundedUp();
    }

    @Override
    public Shape output(Shape maps) {
        Shape responses = Shape.of(channels(maps.at(0)), BANK.windows(maps.at(1)), BANK.windows(maps.at(2)));
        return averaging(0).outputs(responses);
    }

    @Override
    public Var apply(Var images, Bindings parameters) {
        List<Var> parts = new ArrayList<>();
        Var level = images;
        for (int i = 0; i < LEVELS; i++) {
            Var responses = convolve(level, parameters.get("bank.weight"), BANK);
            parts.add(Maps.averagePool(Arithmetic.relu(responses), averaging(i)));
            parts.add(Maps.averagePool(Arithmetic.relu(Arithmetic.scale(responses, -1)), averaging(i)));
            level = convolve(level, parameters.get("halving.weight"), HALVING);
        }
        Var colours = convolve(level, parameters.get("colour.weight"), POINT);
        parts.add(Arithmetic.relu(colours));
        parts.add(Arithmetic.relu(Arithmetic.scale(colours, -1)));
        return Shapes.concat(parts, 1);
    }

    private static Var convolve(Var maps, Var weight, Kernel kernel) {
        return Maps.convolve(
                maps, new Filters(weight, null), kernel.convolution(maps.shape().at(1)), Activation.NONE);
    }
}
