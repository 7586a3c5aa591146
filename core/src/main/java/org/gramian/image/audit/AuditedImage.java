package org.gramian.image.audit;

/**
 * An image as the report names it.
 *
 * @param name its name in the dataset
 * @param label the name of its class
 * @param split the part of the dataset's only split that it is in, as {@code train}; empty where there is no split, where
 *     there are several, or where it takes no part
 */
public record AuditedImage(String name, String label, String split) {
    /** For example {@code paper/b.jpg [train]}; the class is said where it does not show in the name. */
    @Override
    public String toString() {
        String where = name.startsWith(label + "/") || name.contains("/" + label + "/") ? "" : label;
        String part = name.startsWith(split + "/") ? "" : split;
        String both = where + (where.isEmpty() || part.isEmpty() ? "" : ", ") + part;
        return both.isEmpty() ? name : name + " [" + both + "]";
    }
}
