package org.gramian.serve;

import java.util.List;
import java.util.Optional;
import java.util.Set;
import org.gramian.image.Image;
import org.gramian.image.ImageSource;
import org.gramian.image.ReadResult;
import org.gramian.model.Engine;
import tools.jackson.databind.node.ObjectNode;

/** A served model: a classifier or a detector of anomalies. */
public sealed interface ServedModel permits LoadedModel, LoadedDetector {
    /** An image as the computing thread takes it. */
    sealed interface Input permits LoadedModel.Crops, LoadedDetector.Reduced {
        /** Returns how much of a batch the image takes. */
        int crops();
    }

    String name();

    /** Reads an image, on a decoding thread. */
    ReadResult read(ImageSource source);

    /** Prepares a decoded image, on a decoding thread. */
    Input prepare(Image image, Batcher.Job job) throws HttpError;

    /** Computes images of the same rows, on the computing thread. */
    List<? extends Batcher.Outcome> compute(List<Input> batch, Set<Engine.Rows> rows);

    /** Returns the p-values of recent images; empty if the model gives none. */
    Optional<Drift> recent();

    /** Returns the content of {@code /v1/model}. */
    ObjectNode describe();

    void release();
}
