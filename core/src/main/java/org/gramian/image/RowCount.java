package org.gramian.image;

import javax.imageio.ImageReader;
import javax.imageio.event.IIOReadProgressListener;

/** Notices whether a reader got to the last row, for one that says nothing when it does not. */
final class RowCount implements IIOReadProgressListener {
    private float percentage;

    boolean complete() {
        return percentage >= 100;
    }

    @Override
    public void imageProgress(ImageReader source, float percentageDone) {
        percentage = percentageDone;
    }

    @Override
    public void sequenceStarted(ImageReader source, int minIndex) {}

    @Override
    public void sequenceComplete(ImageReader source) {}

    @Override
    public void imageStarted(ImageReader source, int imageIndex) {}

    @Override
    public void imageComplete(ImageReader source) {}

    @Override
    public void thumbnailStarted(ImageReader source, int imageIndex, int thumbnailIndex) {}

    @Override
    public void thumbnailProgress(ImageReader source, float percentageDone) {}

    @Override
    public void thumbnailComplete(ImageReader source) {}

    @Override
    public void readAborted(ImageReader source) {}
}
