/**
 * Images: files become upright RGB bytes of a given size, or a reason why not.
 *
 * <p>An {@link org.gramian.image.ImageReader} takes a file through these steps: it detects the {@link
 * org.gramian.image.ImageFormat} by the first bytes, checks the header against the {@link org.gramian.image.ImageReader.ImageLimits},
 * decodes by one of Java's image readers (WebP: libwebp), converts the samples to RGB bytes and applies the EXIF
 * orientation. The outcome is a {@link org.gramian.image.ReadResult}: an {@link org.gramian.image.Image}
 * with its {@link org.gramian.image.ImageInfo}, or a {@link org.gramian.image.ReadResult.Problem} with a sentence that
 * explains it. {@link org.gramian.image.resize.Resize} resizes images. An {@link org.gramian.image.ImageSource} is a named image, a file
 * or bytes, that is decoded when it is needed.
 *
 * <pre>{@code
 * ImageReader reader = new ImageReader(ImageLimits.DEFAULT);
 * switch (reader.read(Path.of("photo.jpg"))) {
 *     case ReadResult.Readable(Image image, ImageInfo origin) -> use(Resize.shortSide(image, 256));
 *     case ReadResult.Unreadable(ReadResult.Problem problem, String reason) -> report(problem, reason);
 * }
 * }</pre>
 *
 * <p>Datasets of images, crops, batches and the audit are in the packages below this one.
 */
@NullMarked
package org.gramian.image;

import org.jspecify.annotations.NullMarked;
