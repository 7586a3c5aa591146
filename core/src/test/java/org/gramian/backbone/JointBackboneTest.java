package org.gramian.backbone;

import static org.assertj.core.api.Assertions.assertThat;
import static org.gramian.testing.Facts.assertRejected;
import static org.gramian.testing.TensorAssert.assertTensor;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.SplittableRandom;
import java.util.TreeSet;
import org.gramian.autodiff.Bindings;
import org.gramian.autodiff.ParameterSpec;
import org.gramian.autodiff.Tape;
import org.gramian.autodiff.Var;
import org.gramian.autodiff.network.Interpolation;
import org.gramian.image.Image;
import org.gramian.image.crop.Crop;
import org.gramian.image.crop.Preprocessing;
import org.gramian.pooling.Pooling;
import org.gramian.tensor.DType;
import org.gramian.tensor.Scope;
import org.gramian.tensor.Shape;
import org.gramian.tensor.Tensor;
import org.gramian.tensor.Tensors;
import org.junit.jupiter.api.Test;

class JointBackboneTest {
    private static final int SIDE = 64;
    private static final Backbone JOINT =
            Backbone.of("squeezenet+resnet18").cutAt("squeezenet:fire5+resnet18:layer1+resnet18:layer3");

    private static Tensor image(Preprocessing preprocessing) {
        byte[] rgb = new byte[3 * SIDE * SIDE];
        new SplittableRandom(3).nextBytes(rgb);
        MemorySegment values = Arena.ofAuto().allocate((long) rgb.length * Float.BYTES, Float.BYTES);
        preprocessing.write(new Image(SIDE, SIDE, rgb), new Crop(SIDE, SIDE, 0, 0, SIDE, false), values);
        return Tensors.copyOf(values, DType.F32, Shape.of(1, 3, SIDE, SIDE));
    }

    /** Caffe's BGR images for SqueezeNet become torchvision's RGB images for ResNet. */
    @Test
    void featuresAreThoseOfEachNetworkOnItsOwnImages() {
        assertThat(JOINT.preprocessing()).isEqualTo(Preprocessing.CAFFE);
        List<Backbone> networks = JOINT.networks();
        assertThat(networks).hasToString("[squeezenet:fire5, resnet18:layer1+layer3]");
        try (Scope _ = Scope.open();
                BackboneTrial trial = BackboneTrial.of(JOINT, DType.F32);
                Tape tape = Tape.inference()) {
            Bindings parameters = trial.frozen(tape);
            Var found = JOINT.apply(tape.constant(image(JOINT.preprocessing())), parameters);
            Shape grid = networks.getFirst().features(SIDE, SIDE);
            assertThat(JOINT.features(SIDE, SIDE)).isEqualTo(Shape.of(JOINT.channels(), grid.at(1), grid.at(2)));
            long from = 0;
            for (Backbone network : networks) {
                Var own =
                        network.apply(tape.constant(image(network.preprocessing())), parameters.under(network.name()));
                Var expected = Interpolation.resize(own, grid.at(1), grid.at(2));
                long to = from + network.channels();
                assertTensor(found.value().slice(1, from, to)).isCloseTo(expected.value(), 1e-3);
                from = to;
            }
            assertThat(found.shape().at(1)).isEqualTo(from).isEqualTo(JOINT.channels());
        }
    }

    @Test
    void everyLayerHasTheNameOfItsNetwork() {
        assertThat(JOINT).hasToString("squeezenet+resnet18:squeezenet:fire5+resnet18:layer1+resnet18:layer3");
        assertThat(Backbone.of("squeezenet+resnet18").layer()).isEqualTo("squeezenet:fire9+resnet18:layer4");
        assertThat(Backbone.of(JOINT.name()).cutAt(JOINT.layer())).isEqualTo(JOINT);
        assertThat(JOINT.cutLayers()).containsExactly("squeezenet:fire5", "resnet18:layer1", "resnet18:layer3");
        assertThat(JOINT.channelsOfLayers()).containsExactly(256L, 64L, 256L);
        assertThat(JOINT.layersUsed())
                .contains("squeezenet:conv1", "resnet18:layer3")
                .doesNotContain("resnet18:layer4");
        assertThat(new TreeSet<>(
                        JOINT.parameters().stream().map(ParameterSpec::name).toList()))
                .hasSameSizeAs(JOINT.parameters())
                .contains("squeezenet.conv1.weight", "resnet18.conv1.weight");
        assertThat(JOINT.activations(SIDE, SIDE)).hasSameSizeAs(JOINT.layersUsed());
        assertThat(Pooling.parse("[layer:resnet18:layer3/average+layer:squeezenet:fire5/bilinear/triu]")
                        .resolve(JOINT, 100)
                        .descriptorSize(JOINT.channels()))
                .isEqualTo(256 + 256 * 257 / 2);
    }

    @Test
    void whatCannotBeJoinedIsNamed() {
        for (String name : List.of("squeezenet+squeezenet", "squeezenet+filters", "vgg16+vgg19+resnet18+resnet50")) {
            assertRejected(() -> Backbone.of(name), name);
        }
        assertRejected(() -> Backbone.of("squeezenet+resnet81"), "resnet81", "resnet18");
        for (String layer : List.of("fire5", "squeezenet:fire5", "squeezenet:fire5+resnet18:layer9", "x:y")) {
            assertRejected(() -> JOINT.cutAt(layer));
        }
        assertRejected(JOINT::tail, JOINT.name());
        assertThat(JOINT.fits(8, 8)).isFalse();
        assertRejected(() -> JOINT.features(8, 8), "8×8", "squeezenet:");
    }
}
