/**
 * Crops and preprocessing: one image becomes the arrays of numbers that a network reads.
 *
 * <p>A {@link org.gramian.image.crop.CropPlan} is a way to take crops, written as a word: {@code paper}, {@code center},
 * {@code ten:448}. It gives the {@link org.gramian.image.crop.Crops} for training, which may be drawn at random, and
 * those for testing. Crops in turn give, for the size and the name of an image, a list of
 * {@link org.gramian.image.crop.Crop}s: how large the image is made, and which square of it is taken. Last,
 * {@link org.gramian.image.crop.Preprocessing} turns the bytes of that square into the numbers that the weights of a
 * network demand.
 *
 * <pre>{@code
 * Crops crops = CropPlan.parse("paper").testing();
 * float[] array = new float[3 * crops.size() * crops.size()];
 * for (Crop crop : crops.of(image.width(), image.height(), "wood/a.jpg")) {
 *     Preprocessing.TORCHVISION.write(crop.scale(image), crop, MemorySegment.ofArray(array));
 * }
 * }</pre>
 *
 * <p>Nothing here depends on other images, on threads or on the order of files: the crops of an image follow from its
 * size, its name and the seed.
 */
@NullMarked
package org.gramian.image.crop;

import org.jspecify.annotations.NullMarked;
