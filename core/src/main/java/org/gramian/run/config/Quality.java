package org.gramian.run.config;

/** How much time a run may take for its accuracy; decides about options that are not given. */
public enum Quality {
    /** Frozen features of small images, a classifier in closed form. */
    FAST,
    /** Frozen features, then fine-tuning on a GPU where there are enough images. */
    BALANCED,
    /** Larger images, mirrored test crops, longer fine-tuning. */
    BEST;

    /** From so many images on, fine-tuning on a GPU gained accuracy; on fewer (FMD, dtd10) frozen features were as good. */
    public static final int FINE_TUNED_IMAGES = 1500;
}
