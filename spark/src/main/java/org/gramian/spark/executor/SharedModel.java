package org.gramian.spark.executor;

import java.io.Serializable;
import org.apache.spark.broadcast.Broadcast;

/**
 * A model as tasks carry it: small itself, for its bytes are fetched once by each executor, from the driver and from one another.
 *
 * @param fingerprint of the bytes, in hexadecimal: equal models have equal ones
 * @param content the bytes of the model file
 */
public record SharedModel(String fingerprint, Broadcast<byte[]> content) implements Serializable {}
