package org.gramian.spark.train;

/**
 * Which columns of a table say what of labelled pictures.
 *
 * @param picture its bytes (binary), or its path (string) in any file system that executors reach
 * @param name of the picture, a string, each its own: decides the order of all pictures and where random crops lie
 * @param label of its class: a name (string), or the index of the class (a number), whose name may stand in the column's metadata as
 *     {@code StringIndexer} writes it
 * @param heldBack whether it judges epochs instead of being learned from (boolean); empty where a share is to be chosen for that
 */
public record TrainingColumns(String picture, String name, String label, String heldBack) {
    /** Pictures by their paths, which are their names; a share is chosen to judge epochs. */
    public static TrainingColumns of(String path, String label) {
        return new TrainingColumns(path, path, label, "");
    }
}
