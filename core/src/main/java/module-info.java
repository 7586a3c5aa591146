/**
 * Second-order image classification.
 *
 * <p>Start with {@link org.gramian.Trainer} and {@link org.gramian.model.Classifier}. Poolings of your own need {@link
 * org.gramian.pooling}, {@link org.gramian.autodiff} and {@link org.gramian.tensor}. Packages that are not exported are internal and
 * may change in any release.
 *
 * <p>The module is open because Jackson reads and writes records of internal packages.
 */
@SuppressWarnings("NotJavadoc") // Error Prone does not know the Javadoc of modules
open module org.gramian.core {
    requires com.fasterxml.jackson.annotation;
    requires de.siegmar.fastcsv;
    requires transitive java.desktop; // BufferedImage in Classifier
    requires java.management;
    requires jdk.management;
    requires org.apache.commons.statistics.distribution;
    requires static transitive org.jspecify;
    requires org.slf4j;
    requires tools.jackson.core;
    requires tools.jackson.databind;
    requires tools.jackson.dataformat.yaml;

    uses org.gramian.basis.FileLoader;

    exports org.gramian;
    exports org.gramian.anomaly;
    exports org.gramian.autodiff;
    exports org.gramian.check;
    exports org.gramian.evaluate;
    exports org.gramian.explain;
    exports org.gramian.gallery;
    exports org.gramian.image;
    exports org.gramian.image.audit;
    exports org.gramian.image.crop;
    exports org.gramian.image.dataset;
    exports org.gramian.image.dataset.layout;
    exports org.gramian.image.dataset.protocol;
    exports org.gramian.model;
    exports org.gramian.pooling;
    exports org.gramian.spd;
    exports org.gramian.tensor;
    exports org.gramian.train.event;
}
