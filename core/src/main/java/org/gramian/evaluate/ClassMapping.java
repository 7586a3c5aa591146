package org.gramian.evaluate;

import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.gramian.basis.NameList;
import org.gramian.basis.NearestWord;
import org.gramian.basis.QuotedText;
import org.gramian.image.dataset.Dataset;
import org.gramian.image.dataset.DatasetException;
import org.gramian.image.dataset.Sample;

/**
 * From the classes of a dataset to those of a model, by their names: the orders may differ, and the dataset may lack some.
 *
 * @param targets for each class of the dataset, its index among the model's
 */
record ClassMapping(List<Integer> targets) {
    ClassMapping {
        targets = List.copyOf(targets);
    }

    /**
     * Of a dataset to a model.
     *
     * @param known the model's classes, all different
     * @throws DatasetException if the dataset has a class that the model cannot answer with
     */
    static ClassMapping of(Dataset dataset, List<String> known) throws DatasetException {
        Map<String, Integer> indexes = new HashMap<>();
        known.forEach(name -> indexes.put(name, indexes.size()));
        List<String> unknown = dataset.classes().stream()
                .filter(name -> !indexes.containsKey(name))
                .toList();
        if (!unknown.isEmpty()) {
            throw new DatasetException(dataset.root(), problem(unknown, known));
        }
        return new ClassMapping(dataset.classes().stream().map(indexes::get).toList());
    }

    private static String problem(List<String> unknown, List<String> known) {
        List<String> names = unknown.stream()
                .map(name -> QuotedText.text(name) + NearestWord.suggestion(name, known))
                .toList();
        return "expected only classes of the model, found " + NameList.some(names) + "; its classes are "
                + NameList.some(known.stream().map(QuotedText::text).toList())
                + ": rename the folders or labels, remove these classes, or train a model on them";
    }

    /** The true class of a sample, as the model counts. */
    int truth(Sample sample) {
        return targets.get(sample.label());
    }
}
