package org.gramian.explain.gradient;

import java.awt.image.BufferedImage;
import java.lang.foreign.Arena;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import org.gramian.explain.Explanation;
import org.gramian.explain.Explanation.ChannelPair;
import org.gramian.explain.Explanation.Parts;
import org.gramian.explain.Explanation.Patch;
import org.gramian.explain.gradient.GradientExplainer.PairRanking.EntryTerms;
import org.gramian.image.Image;
import org.gramian.image.crop.Crop;
import org.gramian.pooling.SecondOrder;
import org.gramian.tensor.Scope;
import org.gramian.tensor.Shape;
import org.gramian.tensor.Tensor;

/**
 * Searches images for the patches that excite the feature maps of an explanation most: the position x of each image with the largest
 * term {@code q(x)} of the pair's kernel entry ({@link EntryTerms}), {@code f_i(x) f_j(x)} or {@code (f_i(x) − f_j(x))²}, or with the
 * largest value of a single map. Shows what a channel number stands for (as in Zeiler and Fergus, Visualizing and Understanding
 * Convolutional Networks, ECCV 2014). Not thread-safe.
 */
public final class PatchSearch {
    /** Side of a patch relative to a crop: about what a position of a late layer responds to. */
    private static final int PATCHES_PER_CROP = 4;

    private final GradientExplainer explainer;
    private final Explanation explanation;
    private final List<List<Patch>> best = new ArrayList<>();

    public PatchSearch(GradientExplainer explainer, Explanation explanation) {
        this.explainer = explainer;
        this.explanation = explanation;
        explanation.pairs().forEach(_ -> best.add(new ArrayList<>()));
    }

    /** Searches one image. */
    public void add(String name, Image image) {
        CroppedImage view = CroppedImage.of(image, explainer.card());
        ScoreGradient model = new ScoreGradient(explainer.model());
        try (Scope _ = Scope.open();
                Arena arena = Arena.ofConfined()) {
            Tensor features = model.features(view.write(arena, false), view.shape(false));
            Tensor maps = model.maps(features);
            int size = view.crops().getFirst().size();
            Shape shape = explainer.model().backbone().features(size, size);
            int height = Math.toIntExact(shape.at(1));
            int width = Math.toIntExact(shape.at(2));
            for (int i = 0; i < best.size(); i++) {
                add(best.get(i), name, view, terms(maps, explanation.pairs().get(i)), height, width);
            }
        }
    }

    /** Returns the explanation with the patches found. */
    public Explanation found() {
        return explanation.withPatches(best);
    }

    /** Computes the terms of a pair at all positions, crop by crop. */
    private double[][] terms(Tensor maps, ChannelPair pair) {
        double[][] all = new double[Math.toIntExact(maps.size(0))][];
        for (int n = 0; n < all.length; n++) {
            double[] first = channel(maps, n, pair.first());
            all[n] = explanation.parts() == Parts.PAIRS
                    ? EntryTerms.of(((SecondOrder)
                                            explainer.model().head().pooling().aggregation())
                                    .kernel())
                            .of(first, channel(maps, n, pair.second()))
                    : first;
        }
        return all;
    }

    private static double[] channel(Tensor maps, int crop, int index) {
        return maps.slice(0, crop, crop + 1L)
                .slice(1, index, index + 1L)
                .contiguous()
                .toDoubles();
    }

    /** Keeps the best position of an image away from the border, whose padding excites maps too. */
    private static void add(
            List<Patch> patches, String name, CroppedImage view, double[][] terms, int height, int width) {
        if (terms[0].length != height * width) {
            return;
        }
        int border = Math.min(height, width) / CroppedImage.RING;
        double value = Double.NEGATIVE_INFINITY;
        int crop = 0;
        int column = 0;
        int row = 0;
        for (int n = 0; n < terms.length; n++) {
            for (int y = border; y < height - border; y++) {
                for (int x = border; x < width - border; x++) {
                    if (terms[n][y * width + x] > value) {
                        value = terms[n][y * width + x];
                        crop = n;
                        column = x;
                        row = y;
                    }
                }
            }
        }
        if (patches.size() == Explanation.PATCHES && value <= patches.getLast().value()) {
            return;
        }
        Crop best = view.crops().get(crop);
        double across = (column + 0.5) / width;
        double down = (row + 0.5) / height;
        patches.add(new Patch(name, value, patch(view.scaled(), best, best.mirrored() ? 1 - across : across, down)));
        patches.sort(Comparator.comparingDouble(Patch::value).reversed());
        if (patches.size() > Explanation.PATCHES) {
            patches.removeLast();
        }
    }

    private static BufferedImage patch(Image scaled, Crop crop, double across, double down) {
        int side = Math.min(Math.max(1, crop.size() / PATCHES_PER_CROP), Math.min(scaled.width(), scaled.height()));
        int x = (int) Math.round(crop.left() + across * crop.size() - side / 2.0);
        int y = (int) Math.round(crop.top() + down * crop.size() - side / 2.0);
        return scaled.crop(
                        Math.clamp(x, 0, scaled.width() - side), Math.clamp(y, 0, scaled.height() - side), side, side)
                .toBufferedImage();
    }
}
