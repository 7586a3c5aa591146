package org.gramian.image.audit;

/** Things that pairs join into groups (a union-find structure). */
final class Groups {
    private final int[] parent;

    Groups(int size) {
        parent = new int[size];
        for (int i = 0; i < size; i++) {
            parent[i] = i;
        }
    }

    /** The smallest member of a thing's group. */
    int of(int thing) {
        int at = thing;
        while (parent[at] != at) {
            parent[at] = parent[parent[at]]; // so that the next search is shorter
            at = parent[at];
        }
        return at;
    }

    void join(int one, int other) {
        int a = of(one);
        int b = of(other);
        parent[Math.max(a, b)] = Math.min(a, b);
    }
}
