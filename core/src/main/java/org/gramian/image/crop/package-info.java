/**
 * Crops and preprocessing: from a decoded image to the input arrays of a network.
 *
 * <p>A {@link org.gramian.image.crop.CropPlan}, such as {@code paper}, {@code center} or {@code ten:448}, gives the {@link
 * org.gramian.image.crop.Crops} for training and for testing. These give the list of {@link org.gramian.image.crop.Crop}s of an
 * image, from its size and name and the seed only, and {@link org.gramian.image.crop.Preprocessing} normalizes the bytes.
 *
 * <pre>{@code
 * Crops crops = CropPlan.parse("paper").testing();
 * float[] array = new float[3 * crops.size() * crops.size()];
 * for (Crop crop : crops.of(image.width(), image.height(), "wood/a.jpg")) {
 *     Preprocessing.TORCHVISION.write(crop.scale(image), crop, MemorySegment.ofArray(array));
 * }
 * }</pre>
 */
@NullMarked
package org.gramian.image.crop;

import org.jspecify.annotations.NullMarked;
