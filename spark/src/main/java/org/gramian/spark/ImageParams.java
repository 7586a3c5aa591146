package org.gramian.spark;

import org.apache.spark.ml.param.Param;
import org.apache.spark.ml.param.Params;

/**
 * Parameters of all stages: the column of images, the column of errors, and the device.
 *
 * @param <S> the stage itself, which setters return
 */
public interface ImageParams<S> extends Params {
    /** Column of images: bytes (binary) or paths (string) in any file system reachable from executors. */
    default Param<String> inputCol() {
        return ModelStage.text(
                this,
                "inputCol",
                "column of images: bytes (binary), or paths (string) in a file system" + " reachable from executors");
    }

    default String getInputCol() {
        return getOrDefault(inputCol());
    }

    default S setInputCol(String column) {
        return ModelStage.with(this, inputCol(), column);
    }

    /** Output column of errors. */
    default Param<String> errorCol() {
        return ModelStage.text(this, "errorCol", "output column for the error of an unreadable image, null otherwise");
    }

    default String getErrorCol() {
        return getOrDefault(errorCol());
    }

    default S setErrorCol(String column) {
        return ModelStage.with(this, errorCol(), column);
    }

    /** Device of the executors. */
    default Param<String> device() {
        return ModelStage.text(
                this,
                "device",
                "device: cpu, cuda, cuda:<number>, or auto for the GPU that Spark"
                        + " assigned to the task and the CPU without one");
    }

    default String getDevice() {
        return getOrDefault(device());
    }

    default S setDevice(String name) {
        return ModelStage.with(this, device(), name);
    }
}
