/**
 * Backbone, pooling and classifier as one value: how it answers, and its file.
 *
 * <p>To use a model that was trained, this is all:
 *
 * <pre>{@code
 * try (Classifier classifier = Classifier.load(Path.of("model.safetensors"))) {
 *     Answer answer = classifier.predict(Path.of("photo.jpg"));
 *     System.out.println(answer.best().name() + " " + answer.best().probability());
 *     answer.top(3).forEach(System.out::println);
 * }
 * }</pre>
 *
 * <p>A {@link org.gramian.model.Classifier} answers one image at a time, many threads at once. {@link
 * org.gramian.model.Scoring} goes through many files, decoding ahead, and hands scores or descriptors to a {@link
 * org.gramian.model.RowSink}, or both to a {@link org.gramian.model.PassSink}; what then came of an image is an {@link
 * org.gramian.model.Outcome}.
 *
 * <p>What a model is: a {@link org.gramian.model.Model} is a {@link org.gramian.backbone.Backbone} and a {@link
 * org.gramian.model.Head} with the parameters of both on one device. The head turns feature maps into descriptors, by a
 * {@link org.gramian.pooling.Pooling}, and descriptors into scores. Scores of the crops of one image become {@link
 * org.gramian.model.Logits}, and these, at the card's temperature, an {@link org.gramian.model.Answer}.
 *
 * <p>What it must tell besides is its {@link org.gramian.model.ModelCard}: names of classes, what it expects of images, how
 * it was trained, what was measured. {@link org.gramian.model.ModelFile} keeps both in one safetensors file; its {@link
 * org.gramian.model.ModelHeader} is what can be known without loading the numbers. A file that cannot be used is a {@link
 * org.gramian.model.ModelFileException}, an image that cannot be read an {@link
 * org.gramian.model.UnreadableImageException}.
 */
@NullMarked
package org.gramian.model;

import org.jspecify.annotations.NullMarked;
