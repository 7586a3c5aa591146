package org.gramian.spark.train;

import java.util.Arrays;
import java.util.Comparator;
import java.util.Iterator;
import java.util.List;
import java.util.stream.StreamSupport;
import org.apache.spark.api.java.JavaPairRDD;
import org.apache.spark.api.java.JavaRDD;
import org.apache.spark.api.java.JavaSparkContext;
import org.apache.spark.broadcast.Broadcast;
import org.apache.spark.sql.Row;
import org.gramian.linear.ClassStatistics;
import org.gramian.spark.executor.FeatureTask;
import org.gramian.tensor.DType;
import org.gramian.tensor.Device;
import org.gramian.tensor.Scope;
import org.gramian.tensor.Shape;
import org.gramian.tensor.Tensor;
import org.gramian.tensor.Tensors;
import org.gramian.train.loop.Targets;
import org.gramian.train.recipe.Recipe;
import scala.Tuple2;

/**
 * Statistics of the classes of descriptors, summed on executors in two passes: means of the classes, then the scatter around them.
 *
 * <p>Partitions are summed in float64 in a tree of fixed order, so that neither timing nor lost executors change a bit; Spark's {@code
 * treeAggregate} adds in the order in which tasks end.
 */
final class ClassSums {
    /** Largest scatter matrix: a task holds two. */
    private static final long MAX_SCATTER_BYTES = 256L << 20;

    /** Partial sums that a task adds. */
    private static final int FAN_IN = 8;

    /** Descriptors of one product. */
    private static final int BLOCK = 256;

    private ClassSums() {}

    /** Returns whether executors can sum scatter matrices of descriptors of a length. */
    static boolean fits(long size) {
        return size * size * Double.BYTES <= MAX_SCATTER_BYTES;
    }

    /**
     * Sums of images.
     *
     * @param statistics of their descriptors
     * @param images number of readable images
     */
    record Summed(ClassStatistics statistics, long images) {}

    /**
     * Sums the statistics of readable images.
     *
     * @param images rows of {@link FeatureTask} with descriptors
     * @param classes names
     * @param size length of a descriptor
     * @param scatter whether the classifier needs the scatter matrix
     * @param loss with the weights of classes
     * @throws IllegalArgumentException if a class has no readable image
     */
    static Summed of(JavaRDD<Row> images, List<String> classes, int size, boolean scatter, Recipe.Loss loss) {
        int k = classes.size();
        double[] first = sum(images.mapPartitionsWithIndex(
                (partition, rows) ->
                        List.of(new Tuple2<>(partition, means(rows, k, size))).iterator(),
                false));
        long[] counts = new long[k];
        double[] means = Arrays.copyOf(first, k * size);
        for (int label = 0; label < k; label++) {
            counts[label] = (long) first[k * size + label];
        }
        SparkTrainer.requireReadable(counts, classes);
        for (int label = 0; label < k; label++) {
            for (int j = 0; j < size; j++) {
                means[label * size + j] /= counts[label];
            }
        }
        Broadcast<double[]> shared =
                JavaSparkContext.fromSparkContext(images.context()).broadcast(means);
        double[] second = sum(images.mapPartitionsWithIndex(
                (partition, rows) -> List.of(new Tuple2<>(partition, scatter(rows, shared.value(), size, scatter)))
                        .iterator(),
                false));
        shared.destroy();
        Targets targets = Targets.of(loss, counts);
        double[] weights = new double[k];
        Arrays.setAll(weights, targets::weight);
        int end = second.length - 3;
        long readable = (long) second[end + 2];
        int crops = Math.toIntExact(Arrays.stream(counts).sum() / readable);
        return new Summed(
                new ClassStatistics(
                        counts, weights, means, Arrays.copyOf(second, end), second[end], second[end + 1], crops),
                readable);
    }

    /** Adds arrays of partitions in the order of the partitions. */
    private static double[] sum(JavaRDD<Tuple2<Integer, double[]>> parts) {
        JavaPairRDD<Integer, double[]> level = parts.mapToPair(part -> part);
        for (int left = parts.getNumPartitions(); left > 1; left = Math.ceilDiv(left, FAN_IN)) {
            level = level.mapToPair(part -> new Tuple2<>(part._1() / FAN_IN, part))
                    .groupByKey(Math.ceilDiv(left, FAN_IN))
                    .mapValues(some -> StreamSupport.stream(some.spliterator(), false)
                            .sorted(Comparator.comparing(Tuple2::_1))
                            .map(Tuple2::_2)
                            .reduce(ClassSums::add)
                            .orElseThrow());
        }
        return level.first()._2();
    }

    private static double[] add(double[] left, double[] right) {
        double[] sum = left.clone();
        Arrays.setAll(sum, i -> left[i] + right[i]);
        return sum;
    }

    /** Returns sums {@code [k, d]} and counts {@code [k]} of the descriptors of each class. */
    private static double[] means(Iterator<Row> rows, int classes, int size) {
        double[] sums = new double[classes * size + classes];
        rows.forEachRemaining(row -> {
            if (!row.isNullAt(2)) {
                float[] crops = FeatureTask.descriptors(row);
                int label = row.getInt(1);
                for (int i = 0; i < crops.length; i++) {
                    sums[label * size + i % size] += crops[i];
                }
                int count = crops.length / size;
                sums[classes * size + label] += count;
            }
        });
        return sums;
    }

    /** Returns the scatter {@code [d, d]} if it is needed, its trace, the squares of groups, and the number of images. */
    private static double[] scatter(Iterator<Row> rows, double[] means, int size, boolean needed) {
        double[] sums = new double[3];
        try (Scope _ = Scope.open()) {
            Tensor matrix = Tensors.zeros(Shape.of(1, needed ? size : 0, needed ? size : 0), DType.F64, Device.CPU);
            double[] block = new double[BLOCK * size];
            int filled = 0;
            while (rows.hasNext()) {
                Row row = rows.next();
                if (row.isNullAt(2)) {
                    continue;
                }
                double[] crops = centred(FeatureTask.descriptors(row), means, row.getInt(1), size);
                addSquares(crops, size, sums);
                for (int crop = 0; needed && crop < crops.length / size; crop++) {
                    System.arraycopy(crops, crop * size, block, filled * size, size);
                    filled++;
                    if (filled == BLOCK) {
                        addProducts(matrix, block, filled, size);
                        filled = 0;
                    }
                }
            }
            if (filled > 0) {
                addProducts(matrix, block, filled, size);
            }
            double[] found = needed ? matrix.toDoubles() : new double[0];
            double[] all = Arrays.copyOf(found, found.length + sums.length);
            System.arraycopy(sums, 0, all, found.length, sums.length);
            return all;
        }
    }

    private static double[] centred(float[] crops, double[] means, int label, int size) {
        double[] centred = new double[crops.length];
        Arrays.setAll(centred, i -> crops[i] - means[label * size + i % size]);
        return centred;
    }

    private static void addProducts(Tensor matrix, double[] block, int rows, int size) {
        try (Scope _ = Scope.open()) {
            Tensor part = Tensors.of(Arrays.copyOf(block, rows * size), Shape.of(1, rows, size), DType.F64);
            matrix.addProducts(1, 1, part.transpose(), part);
        }
    }

    /** Adds {@code Σ x_i·x_i}, {@code Σ_{i,j} (x_i·x_j)²} and 1 for the crops of an image. */
    private static void addSquares(double[] crops, int size, double[] sums) {
        for (int i = 0; i < crops.length; i += size) {
            for (int j = 0; j <= i; j += size) {
                double product = 0;
                for (int k = 0; k < size; k++) {
                    product += crops[i + k] * crops[j + k];
                }
                sums[0] += i == j ? product : 0;
                sums[1] += (i == j ? 1 : 2) * product * product;
            }
        }
        sums[2]++;
    }
}
