package org.gramian.spark.train;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.ObjectInputStream;
import java.io.ObjectOutputStream;
import java.util.SplittableRandom;
import org.gramian.autodiff.ParameterSet;
import org.gramian.backbone.Backbone;
import org.gramian.model.Head;
import org.gramian.model.Model;
import org.gramian.pooling.Pooling;
import org.gramian.spark.testing.ImportedNetwork;
import org.gramian.tensor.DType;
import org.gramian.tensor.Device;
import org.gramian.train.loop.Dropout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class StepInputTest {
    /** An executor has only what is sent to it. */
    @ParameterizedTest
    @CsvSource({"relu_1, covariance/triu", "block.relu_1, tail"})
    void backboneThatIsNotBuiltInTravelsWithTheStep(String layer, String pooling)
            throws IOException, ClassNotFoundException {
        Backbone backbone = ImportedNetwork.backbone().cutAt(layer);
        Head head = new Head(Pooling.parse(pooling).resolve(backbone, 100), 3, false);
        SplittableRandom random = new SplittableRandom(5);
        ParameterSet weights = ParameterSet.initialize(backbone.parameters(), random, DType.F32, Device.CPU);
        try (Model model = Model.begin(backbone, weights, head, random, Device.CPU)) {
            StepInput sent = StepInput.of(model, new int[] {1, 2}, Dropout.NONE);
            ByteArrayOutputStream bytes = new ByteArrayOutputStream();
            try (ObjectOutputStream out = new ObjectOutputStream(bytes)) {
                out.writeObject(sent);
            }
            try (ObjectInputStream in = new ObjectInputStream(new ByteArrayInputStream(bytes.toByteArray()));
                    Model received = ((StepInput) in.readObject()).model(Device.CPU)) {
                assertThat(received.backbone()).isEqualTo(model.backbone());
                assertThat(received.head()).isEqualTo(model.head());
                assertThat(received.headParameters()
                                .get("classifier.weight")
                                .value()
                                .toFloats())
                        .isEqualTo(model.headParameters()
                                .get("classifier.weight")
                                .value()
                                .toFloats());
            }
        }
    }
}
