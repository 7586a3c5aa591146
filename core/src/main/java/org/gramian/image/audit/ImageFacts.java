package org.gramian.image.audit;

import java.util.EnumSet;
import java.util.Set;
import org.gramian.image.ImageInfo;
import org.gramian.image.ReadResult;

/** What an audit learns of one image by itself, so that the parts of an audit can be merged elsewhere, as on a cluster. */
public final class ImageFacts {
    private final ImageStatistics facts;

    private ImageFacts(ImageStatistics facts) {
        this.facts = facts;
    }

    /** Looks at an image. */
    public static ImageFacts of(ReadResult.Readable readable) {
        return new ImageFacts(ImageStatistics.of(0, readable));
    }

    /** Columns, upright. */
    public int width() {
        return facts.width();
    }

    /** Rows, upright. */
    public int height() {
        return facts.height();
    }

    /** What it was in its file. */
    public ImageInfo origin() {
        return facts.origin();
    }

    /** 32 hexadecimal digits, equal for images with equal pixels. */
    public String digest() {
        return String.format("%016x%016x", facts.digest().high(), facts.digest().low());
    }

    /** What is odd about it, if it bears some name. */
    public Set<ImageIssue> oddities(String name, AuditOptions options) {
        Set<ImageIssue> found = EnumSet.noneOf(ImageIssue.class);
        for (ImageIssue oddity : ImageIssue.values()) {
            if (oddity.of(facts, name, options)) {
                found.add(oddity);
            }
        }
        return found;
    }
}
