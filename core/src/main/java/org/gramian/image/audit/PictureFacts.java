package org.gramian.image.audit;

import java.util.EnumSet;
import java.util.Set;
import org.gramian.image.Origin;
import org.gramian.image.Reading;

/** What an audit learns of one picture by itself, for those who put the parts of an audit together elsewhere, as on a cluster. */
public final class PictureFacts {
    private final Facts facts;

    private PictureFacts(Facts facts) {
        this.facts = facts;
    }

    /** Looks at a picture. */
    public static PictureFacts of(Reading.Readable readable) {
        return new PictureFacts(Facts.of(0, readable));
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
    public Origin origin() {
        return facts.origin();
    }

    /** 32 hexadecimal digits, equal for pictures with equal pixels. */
    public String digest() {
        return String.format("%016x%016x", facts.digest().high(), facts.digest().low());
    }

    /** What is odd about it, if it bears some name. */
    public Set<PictureOddity> oddities(String name, AuditOptions options) {
        Set<PictureOddity> found = EnumSet.noneOf(PictureOddity.class);
        for (PictureOddity oddity : PictureOddity.values()) {
            if (oddity.of(facts, name, options)) {
                found.add(oddity);
            }
        }
        return found;
    }
}
