package org.gramian.image.audit;

import java.util.Collection;
import java.util.List;
import org.gramian.image.dataset.Dataset;
import org.gramian.image.dataset.Sample;

/**
 * What is audited: a data set and the ways in which it is divided.
 *
 * @param dataset the data set
 * @param divisions none, one, or several as DTD's ten splits
 */
record Subject(Dataset dataset, List<Division> divisions) {
    static Subject of(Dataset dataset) {
        return new Subject(dataset, Division.of(dataset.assignment()));
    }

    /** A picture as the report names it. */
    Member member(int index) {
        Sample sample = dataset.samples().get(index);
        return new Member(sample.name(), dataset.className(sample), divisions.size() == 1 ? part(index) : "");
    }

    private String part(int index) {
        return divisions.getFirst().parts().get(index);
    }

    int label(int index) {
        return dataset.samples().get(index).label();
    }

    /** The parts that classes are counted in: those of the only division. */
    List<String> parts() {
        return divisions.size() == 1 ? divisions.getFirst().names() : List.of();
    }

    /** The names of the divisions that put pictures into different parts. */
    List<String> dividing(Collection<Integer> pictures) {
        return divisions.stream()
                .filter(division -> division.divides(pictures))
                .map(Division::name)
                .toList();
    }
}
