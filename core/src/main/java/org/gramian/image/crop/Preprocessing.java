package org.gramian.image.crop;

import static java.lang.foreign.ValueLayout.JAVA_FLOAT;

import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.gramian.basis.NamedArguments;
import org.gramian.image.Image;

/**
 * Input normalization of a network: {@code (byte − mean) / std} for each channel.
 *
 * <p>It is stored with the weights as text: {@code RGB mean=123.675,116.28,103.53
 * std=58.395,57.12,57.375}.
 *
 * @param order of the channels
 * @param mean in units of bytes (0 to 255), in the order of the channels
 * @param std standard deviation, in units of bytes
 * @since 0.1
 */
public record Preprocessing(Order order, List<Double> mean, List<Double> std) {
    /** Networks of torchvision: mean and standard deviation of ImageNet. */
    public static final Preprocessing TORCHVISION =
            new Preprocessing(Order.RGB, List.of(123.675, 116.28, 103.53), List.of(58.395, 57.12, 57.375));

    /** GoogLeNet and SqueezeNet of Caffe's model zoo: ImageNet's mean in whole bytes. */
    public static final Preprocessing CAFFE =
            new Preprocessing(Order.BGR, List.of(104.0, 117.0, 123.0), List.of(1.0, 1.0, 1.0));

    /** EfficientNet-Lite of TensorFlow: {@code (x − 127) / 128}. */
    public static final Preprocessing TENSORFLOW =
            new Preprocessing(Order.RGB, List.of(127.0, 127.0, 127.0), List.of(128.0, 128.0, 128.0));

    /** Scales bytes to {@code [−1, 1]}, as for Google's vision transformers. */
    public static final Preprocessing CENTRED =
            new Preprocessing(Order.RGB, List.of(127.5, 127.5, 127.5), List.of(127.5, 127.5, 127.5));

    private static final int CHANNELS = 3;
    private static final Pattern FORM = Pattern.compile("(\\S+) mean=(\\S+) std=(\\S+)");

    /** Order of the colour channels. */
    public enum Order {
        RGB,
        BGR
    }

    /** @throws IllegalArgumentException unless there are three finite means and three positive, finite deviations */
    public Preprocessing {
        mean = List.copyOf(mean);
        std = List.copyOf(std);
        if (mean.size() != CHANNELS || std.size() != CHANNELS) {
            throw new IllegalArgumentException(
                    "preprocessing: expected 3 means and 3 standard deviations, found " + mean + " and " + std);
        }
        if (!mean.stream().allMatch(Double::isFinite)
                || !std.stream().allMatch(value -> value > 0 && Double.isFinite(value))) {
            throw new IllegalArgumentException(
                    "preprocessing: expected finite means and positive standard deviations, found " + mean + " and "
                            + std);
        }
    }

    /**
     * Reads the form that {@link #text} writes.
     *
     * @throws IllegalArgumentException for anything else
     */
    public static Preprocessing parse(String text) {
        Matcher form = FORM.matcher(text);
        if (form.matches()) {
            try {
                return new Preprocessing(Order.valueOf(form.group(1)), numbers(form.group(2)), numbers(form.group(3)));
            } catch (IllegalArgumentException e) {
                throw new IllegalArgumentException(wanted(text) + ": " + e.getMessage(), e);
            }
        }
        throw new IllegalArgumentException(wanted(text));
    }

    private static String wanted(String text) {
        return "expected preprocessing as '" + TORCHVISION.text() + "', with RGB or BGR, found '" + text + "'";
    }

    private static List<Double> numbers(String list) {
        return Arrays.stream(list.split(",", -1)).map(Double::valueOf).toList();
    }

    /** As {@code RGB mean=123.675,116.28,103.53 std=58.395,57.12,57.375}; {@link #parse} gives the same value back. */
    public String text() {
        return order + " mean=" + numbers(mean) + " std=" + numbers(std);
    }

    private static String numbers(List<Double> values) {
        return values.stream().map(NamedArguments::decimal).collect(Collectors.joining(","));
    }

    /**
     * Writes a crop of an image as {@code [3, size, size]} in float32.
     *
     * @param scaled an image of the size that the crop is cut from
     * @param target {@code 3·size·size} floats
     */
    public void write(Image scaled, Crop crop, MemorySegment target) {
        int size = crop.size();
        if (!crop.fits(scaled) || target.byteSize() != (long) CHANNELS * size * size * Float.BYTES) {
            throw new IllegalArgumentException("crop " + crop + " needs an image of that size and 3·" + size + "·"
                    + size + " floats, found an image of " + scaled + " and " + target.byteSize() + " bytes");
        }
        for (int channel = 0; channel < CHANNELS; channel++) {
            long bytes = (long) size * size * Float.BYTES;
            writeChannel(scaled, crop, channel, target.asSlice(channel * bytes, bytes));
        }
    }

    private void writeChannel(Image scaled, Crop crop, int channel, MemorySegment target) {
        byte[] rgb = scaled.rgb();
        float[] table = table(channel);
        float[] row = new float[crop.size()];
        int colour = order == Order.RGB ? channel : CHANNELS - 1 - channel;
        int step = crop.mirrored() ? -CHANNELS : CHANNELS;
        int column = crop.mirrored() ? crop.left() + crop.size() - 1 : crop.left();
        for (int y = 0; y < crop.size(); y++) {
            int source = CHANNELS * ((crop.top() + y) * scaled.width() + column) + colour;
            for (int x = 0; x < row.length; x++) {
                row[x] = table[rgb[source] & 0xff];
                source += step;
            }
            MemorySegment.copy(row, 0, target, JAVA_FLOAT, (long) y * row.length * Float.BYTES, row.length);
        }
    }

    /** Returns a whole image as {@code [3, height, width]}. */
    public float[] apply(Image image) {
        byte[] rgb = image.rgb();
        int pixels = image.width() * image.height();
        float[] values = new float[CHANNELS * pixels];
        for (int channel = 0; channel < CHANNELS; channel++) {
            float[] table = table(channel);
            int colour = order == Order.RGB ? channel : CHANNELS - 1 - channel;
            for (int i = 0; i < pixels; i++) {
                values[channel * pixels + i] = table[rgb[CHANNELS * i + colour] & 0xff];
            }
        }
        return values;
    }

    /** Returns the value of each byte, to avoid a division per pixel. */
    private float[] table(int channel) {
        float[] table = new float[256];
        for (int value = 0; value < table.length; value++) {
            table[value] = (float) ((value - mean.get(channel)) / std.get(channel));
        }
        return table;
    }

    @Override
    public String toString() {
        return text();
    }
}
