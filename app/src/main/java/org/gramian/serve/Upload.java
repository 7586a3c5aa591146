package org.gramian.serve;

/**
 * An image as it was sent.
 *
 * @param name as the sender calls it, for the answer only: no file is ever looked for by it
 * @param content its bytes
 */
@SuppressWarnings("ArrayRecordComponent") // handed on once and never compared
record Upload(String name, byte[] content) {}
