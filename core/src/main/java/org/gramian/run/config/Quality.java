package org.gramian.run.config;

/** Effort of a run: the trade-off between time and accuracy for unset options. */
public enum Quality {
    /** Frozen features of small images, a classifier in closed form. */
    FAST,
    /** Frozen features, then fine-tuning on a GPU with enough images. */
    BALANCED,
    /** Larger images, mirrored test crops, longer fine-tuning. */
    BEST;

    /** Number of images from which fine-tuning on a GPU gained accuracy; FMD and dtd10 have fewer. */
    public static final int FINE_TUNED_IMAGES = 1500;
}
