package org.gramian.image.augment;

import static java.lang.foreign.ValueLayout.JAVA_FLOAT;

import java.lang.foreign.MemorySegment;
import org.gramian.image.Image;
import org.gramian.image.augment.CropParameters.Colours;
import org.gramian.image.crop.Preprocessing;

/**
 * Renders an augmented crop on the CPU: stored bytes to preprocessed float32 {@code [3, size, size]}.
 *
 * <p>A pixel of the crop whose centre has the source coordinates (u, v) is the mean of the image's pixels (i, j) with weights
 *
 * <pre>
 * w(i, j) = max(0, 1 − |i + ½ − u| / s) · max(0, 1 − |j + ½ − v| / t)
 * </pre>
 *
 * divided by their sum, with s and t the reduction along each axis but at least 1: bilinear interpolation where the crop is
 * enlarged, and a triangle filter against aliasing where it is reduced, which is that of {@link org.gramian.image.resize.Resize}. Coordinates
 * outside of the image are moved to its edge. Then colours change as {@link Colours} says, rectangles are erased, and {@link
 * Preprocessing} is applied. {@code augment.cu} is the same function on a GPU.
 */
public record CropRenderer(int size, Preprocessing preprocessing) {
    private static final int CHANNELS = 3;

    /** Writes one crop, {@code 3·size·size} floats, of a stored image. */
    public void render(Image image, CropParameters parameters, MemorySegment target) {
        float[] levels = new float[256];
        for (int value = 0; value < levels.length; value++) {
            levels[value] = parameters.colours().level(value);
        }
        float[] crop = parameters.map().separable()
                ? separable(image, levels, parameters.map())
                : affine(image, levels, parameters.map());
        finish(crop, parameters, target);
    }

    /** Pixels along an axis from {@code first} on, and their weights, whose sum is 1, that make up one pixel of the crop. */
    @SuppressWarnings("ArrayRecordComponent") // handed on once and never compared
    private record Taps(int first, float[] weights) {
        static Taps of(double coordinate, double support, int length) {
            double centre = Math.clamp(coordinate, 0.5, length - 0.5);
            int first = (int) Math.max(0, Math.ceil(centre - support - 0.5));
            int last = (int) Math.min(length - 1, Math.floor(centre + support - 0.5));
            float[] weights = new float[last - first + 1];
            float sum = 0;
            for (int i = 0; i < weights.length; i++) {
                weights[i] = (float) Math.max(0, 1 - Math.abs(first + i + 0.5 - centre) / support);
                sum += weights[i];
            }
            for (int i = 0; i < weights.length; i++) {
                weights[i] /= sum;
            }
            return new Taps(first, weights);
        }

        int end() {
            return first + weights.length;
        }
    }

    /** Columns first, then rows: half of the work. Interleaved {@code [size, size, 3]}. */
    private float[] separable(Image image, float[] levels, CropParameters.Affine map) {
        Taps[] across = new Taps[size];
        Taps[] down = new Taps[size];
        int top = image.height();
        int bottom = 0;
        for (int i = 0; i < size; i++) {
            across[i] = Taps.of((double) map.xx() * (i + 0.5) + map.x0(), map.supportX(), image.width());
            down[i] = Taps.of((double) map.yy() * (i + 0.5) + map.y0(), map.supportY(), image.height());
            top = Math.min(top, down[i].first);
            bottom = Math.max(bottom, down[i].end());
        }
        int stride = CHANNELS * size;
        float[] rows = new float[(bottom - top) * stride];
        for (int y = top; y < bottom; y++) {
            columns(image, levels, across, y, rows, (y - top) * stride);
        }
        float[] crop = new float[size * stride];
        for (int y = 0; y < size; y++) {
            float[] weights = down[y].weights;
            for (int j = 0; j < weights.length; j++) {
                int from = (down[y].first + j - top) * stride;
                int to = y * stride;
                float weight = weights[j];
                for (int i = 0; i < stride; i++) {
                    crop[to + i] += weight * rows[from + i];
                }
            }
        }
        return crop;
    }

    private void columns(Image image, float[] levels, Taps[] across, int y, float[] rows, int to) {
        byte[] rgb = image.rgb();
        int start = CHANNELS * y * image.width();
        int target = to;
        for (int x = 0; x < size; x++) {
            float[] weights = across[x].weights;
            int source = start + CHANNELS * across[x].first;
            float red = 0;
            float green = 0;
            float blue = 0;
            for (float weight : weights) {
                red += weight * levels[rgb[source] & 0xff];
                green += weight * levels[rgb[source + 1] & 0xff];
                blue += weight * levels[rgb[source + 2] & 0xff];
                source += CHANNELS;
            }
            rows[target++] = red;
            rows[target++] = green;
            rows[target++] = blue;
        }
    }

    private float[] affine(Image image, float[] levels, CropParameters.Affine map) {
        byte[] rgb = image.rgb();
        float[] crop = new float[CHANNELS * size * size];
        for (int y = 0; y < size; y++) {
            for (int x = 0; x < size; x++) {
                double u = (double) map.xx() * (x + 0.5) + (double) map.xy() * (y + 0.5) + map.x0();
                double v = (double) map.yx() * (x + 0.5) + (double) map.yy() * (y + 0.5) + map.y0();
                Taps across = Taps.of(u, map.supportX(), image.width());
                Taps down = Taps.of(v, map.supportY(), image.height());
                int to = CHANNELS * (y * size + x);
                for (int j = 0; j < down.weights.length; j++) {
                    int source = CHANNELS * ((down.first + j) * image.width() + across.first);
                    for (float part : across.weights) {
                        float weight = part * down.weights[j];
                        crop[to] += weight * levels[rgb[source] & 0xff];
                        crop[to + 1] += weight * levels[rgb[source + 1] & 0xff];
                        crop[to + 2] += weight * levels[rgb[source + 2] & 0xff];
                        source += CHANNELS;
                    }
                }
            }
        }
        return crop;
    }

    private void finish(float[] crop, CropParameters parameters, MemorySegment target) {
        Colours colours = parameters.colours();
        double sum = 0;
        for (float value : crop) {
            sum += value;
        }
        float mean = (float) (sum / crop.length);
        float[] sharpened = colours.sharpness() == 1 ? crop : sharpened(crop, colours.sharpness());
        boolean bgr = preprocessing.order() == Preprocessing.Order.BGR;
        float[] row = new float[size];
        for (int channel = 0; channel < CHANNELS; channel++) {
            int colour = bgr ? CHANNELS - 1 - channel : channel;
            float offset = preprocessing.mean().get(channel).floatValue();
            float scale = (float) (1 / preprocessing.std().get(channel));
            for (int y = 0; y < size; y++) {
                for (int x = 0; x < size; x++) {
                    int at = CHANNELS * (y * size + x);
                    float luma = 0.299f * sharpened[at] + 0.587f * sharpened[at + 1] + 0.114f * sharpened[at + 2];
                    float value = luma + colours.saturation() * (sharpened[at + colour] - luma);
                    value = mean + colours.contrast() * (value - mean) + colours.brightness();
                    row[x] = parameters.erased().contains(x, y) ? 0 : (Math.clamp(value, 0f, 255f) - offset) * scale;
                }
                long at = ((long) channel * size + y) * size * Float.BYTES;
                MemorySegment.copy(row, 0, target, JAVA_FLOAT, at, size);
            }
        }
    }

    /** {@code blur + factor·(v − blur)} with the blur (1 1 1; 1 5 1; 1 1 1)/13, whose edge pixels count outside of the crop, too. */
    private float[] sharpened(float[] crop, float factor) {
        float[] result = new float[crop.length];
        for (int y = 0; y < size; y++) {
            for (int x = 0; x < size; x++) {
                int at = CHANNELS * (y * size + x);
                for (int channel = 0; channel < CHANNELS; channel++) {
                    float sum = 4 * crop[at + channel];
                    for (int dy = -1; dy <= 1; dy++) {
                        int row = Math.clamp(y + dy, 0, size - 1) * size;
                        for (int dx = -1; dx <= 1; dx++) {
                            sum += crop[CHANNELS * (row + Math.clamp(x + dx, 0, size - 1)) + channel];
                        }
                    }
                    float blur = sum / 13;
                    result[at + channel] = blur + factor * (crop[at + channel] - blur);
                }
            }
        }
        return result;
    }
}
