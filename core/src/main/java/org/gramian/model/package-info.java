/**
 * Models and inference: backbone, pooling and classifier as one value, its file, and the way from images to
 * predictions.
 *
 * <pre>{@code
 * try (Classifier classifier = Classifier.load(Path.of("model.safetensors"))) {
 *     Prediction prediction = classifier.predict(Path.of("photo.jpg"));
 *     System.out.println(prediction.className() + " " + prediction.probability());
 *     prediction.top(3).forEach(System.out::println);
 * }
 * }</pre>
 *
 * <p>Inference has one path. A {@link org.gramian.model.Classifier} takes {@linkplain
 * org.gramian.image.ImageSource named images}, files or bytes. Its {@link org.gramian.model.InferencePipeline}
 * decodes, crops and preprocesses them ahead of an {@link org.gramian.model.Engine}, libtorch or ONNX Runtime, which
 * computes scores and descriptors of batches of crops. The {@link org.gramian.model.ImageResult} of an image has the
 * rows of its crops, or the reason why there are none. Scores of the crops become {@link org.gramian.model.Logits} of
 * the image, and at the card's temperature a {@link org.gramian.model.Prediction}. The commands, the server and Spark's
 * executors call this path and have no other.
 *
 * <p>A {@link org.gramian.model.Model} is a {@link org.gramian.backbone.Backbone} and a {@link org.gramian.model.Head}
 * with the parameters of both on one device. The head turns feature maps into descriptors, with a {@link
 * org.gramian.pooling.Pooling}, and descriptors into scores. The {@link org.gramian.model.ModelCard} has class names,
 * preprocessing, crops, origin and metrics. {@link org.gramian.model.ModelFile} stores both in one safetensors file;
 * its {@link org.gramian.model.ModelHeader} is read without the parameters. An unusable file is a {@link
 * org.gramian.model.ModelFileException}, an unreadable image an {@link org.gramian.model.UnreadableImageException}.
 */
@NullMarked
package org.gramian.model;

import org.jspecify.annotations.NullMarked;
