/**
 * Dataset of {@code gramian demo}: ten classes of synthetic textures from a seed, for a first run without own images.
 *
 * <p>A {@link org.gramian.demo.TextureKind} is a class; it generates a {@link org.gramian.demo.TexturePattern}, brightness over
 * the plane, with random proportions. A {@link org.gramian.demo.TextureSet} is a folder of images that show patterns under random
 * viewing conditions that do not depend on the class: scale, rotation, distortion, light, colours, blur and noise.
 *
 * <pre>{@code
 * new TextureSet(80, 144, 7).write(Path.of("textures"), done -> {}, () -> false);
 * }</pre>
 *
 * <p>A {@link org.gramian.demo.DemoRecipe} holds the training options; the command is in {@code cli}.
 *
 * <p>Each image has its own random generator, derived from the seed, the class and the number of the image: an image does not
 * depend on which others are drawn, or in which order. No fonts, display or network are needed.
 */
@NullMarked
package org.gramian.demo;

import org.jspecify.annotations.NullMarked;
