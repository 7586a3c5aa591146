package org.gramian.check;

import org.gramian.tensor.DType;
import org.gramian.tensor.Device;
import org.gramian.tensor.Tensor;
import org.gramian.tensor.Tensors;
import org.gramian.tensor.file.TensorFile;
import org.gramian.tensor.file.TensorFileException;

/** The tensors of one reference file in the type and on the device that is checked. */
record GoldenValues(TensorFile file, DType type, Device device) {
    Tensor get(String name) throws TensorFileException {
        Tensor stored = file.get(name).toTensor();
        DType wanted = stored.type().isFloating() ? type : stored.type();
        return Tensors.to(Tensors.to(stored, wanted), device);
    }
}
