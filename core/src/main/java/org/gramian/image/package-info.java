/**
 * Images: files become upright RGB bytes of a wanted size, or a reason why not.
 *
 * <p>A {@link org.gramian.image.ImageReader} takes a file through these steps: its first bytes tell the {@link
 * org.gramian.image.ImageFormat}; its header is held against the {@link org.gramian.image.ImageLimits}; one of Java's image
 * readers, or for lossy WebP {@code vp8}, decodes it; its samples become RGB bytes; its EXIF {@link org.gramian.image.Orientation} is undone. What comes out is a
 * {@link org.gramian.image.Reading}: a {@link org.gramian.image.Image} with its {@link org.gramian.image.Origin}, or the {@link
 * org.gramian.image.Reading.Problem} with a sentence for people. {@link org.gramian.image.Resize} brings images to size.
 *
 * <pre>{@code
 * ImageReader reader = new ImageReader(ImageLimits.DEFAULT);
 * switch (reader.read(Path.of("photo.jpg"))) {
 *     case Reading.Readable(Image image, Origin origin) -> use(Resize.shortSide(image, 256));
 *     case Reading.Unreadable(Reading.Problem problem, String reason) -> report(problem, reason);
 * }
 * }</pre>
 *
 * <p>Datasets of images, crops, batches and the audit are in the packages below this one.
 */
@NullMarked
package org.gramian.image;

import org.jspecify.annotations.NullMarked;
