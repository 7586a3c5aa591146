/**
 * The images of {@code gramian demo}: ten kinds of textures, drawn from a seed, for a first look without any data.
 *
 * <p>A {@link org.gramian.demo.TextureKind} is a class; it draws a {@link org.gramian.demo.Pattern}, brightness over the plane,
 * from the shapes of {@code Lattices}, {@code Cells} and {@code Veins} with its own random proportions. A {@link
 * org.gramian.demo.Scene} says how the pattern is seen: scale, rotation, bend, light, colours, blur and noise, none of which
 * depends on the class. {@link org.gramian.demo.TextureImage} is the two together as pixels, and a {@link
 * org.gramian.demo.TextureSet} is a folder of such images, one folder for each class.
 *
 * <pre>{@code
 * new TextureSet(80, 144, 7).write(Path.of("textures"), done -> {}, () -> false);
 * }</pre>
 *
 * <p>A {@link org.gramian.demo.DemoRecipe} says what is trained on them, and a {@link org.gramian.demo.DemoFolder} where all of it is
 * kept; the command itself is in {@code cli}.
 *
 * <p>All random numbers come from generators that are made from the seed, the class and the number of the image: an image is
 * the same whatever else is drawn, in whatever order. Nothing here needs a font, a screen or the network.
 */
@NullMarked
package org.gramian.demo;

import org.jspecify.annotations.NullMarked;
