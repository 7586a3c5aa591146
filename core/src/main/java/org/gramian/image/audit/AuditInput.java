package org.gramian.image.audit;

import java.util.Collection;
import java.util.List;
import org.gramian.image.dataset.Dataset;
import org.gramian.image.dataset.Sample;

/**
 * What is audited: a dataset and the ways in which it is divided.
 *
 * @param dataset the dataset
 * @param divisions none, one, or several as DTD's ten splits
 */
record AuditInput(Dataset dataset, List<Partitioning> divisions) {
    static AuditInput of(Dataset dataset) {
        return new AuditInput(dataset, Partitioning.of(dataset.assignment()));
    }

    /** An image as the report names it. */
    AuditedImage member(int index) {
        Sample sample = dataset.samples().get(index);
        return new AuditedImage(sample.name(), dataset.className(sample), divisions.size() == 1 ? part(index) : "");
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

    /** The names of the divisions that put images into different parts. */
    List<String> dividing(Collection<Integer> images) {
        return divisions.stream()
                .filter(division -> division.divides(images))
                .map(Partitioning::name)
                .toList();
    }
}
