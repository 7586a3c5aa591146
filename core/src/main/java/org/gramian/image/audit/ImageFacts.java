package org.gramian.image.audit;

import java.util.EnumSet;
import java.util.Set;
import org.gramian.image.ImageInfo;
import org.gramian.image.ReadResult;

/** The audit of a single image, for audits that run on a cluster. */
public final class ImageFacts {
    private final ImageStatistics facts;

    private ImageFacts(ImageStatistics facts) {
        this.facts = facts;
    }

    public static ImageFacts of(ReadResult.Readable readable) {
        return new ImageFacts(ImageStatistics.of(0, readable));
    }

    /** Returns the width, upright. */
    public int width() {
        return facts.width();
    }

    /** Returns the height, upright. */
    public int height() {
        return facts.height();
    }

    /** Returns format and colours of the file. */
    public ImageInfo origin() {
        return facts.origin();
    }

    /** Returns 32 hexadecimal digits, equal for images with equal pixels. */
    public String digest() {
        return String.format("%016x%016x", facts.digest().high(), facts.digest().low());
    }

    /** Returns the issues of the image with a file name. */
    public Set<ImageIssue> issues(String name, AuditOptions options) {
        Set<ImageIssue> found = EnumSet.noneOf(ImageIssue.class);
        for (ImageIssue issue : ImageIssue.values()) {
            if (issue.applies(facts, name, options)) {
                found.add(issue);
            }
        }
        return found;
    }
}
