// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.fetch;

import java.io.ByteArrayInputStream;
import java.io.InputStream;
import java.nio.ByteBuffer;
import org.apache.spark.network.buffer.ManagedBuffer;

/** A buffer of zeros. */
public final class FakeBuffer extends ManagedBuffer {
  private final int lengthBytes;

  /** So many zeros. */
  public FakeBuffer(int lengthBytes) {
    this.lengthBytes = lengthBytes;
  }

  @Override
  public long size() {
    return lengthBytes;
  }

  @Override
  public ByteBuffer nioByteBuffer() {
    return ByteBuffer.allocate(lengthBytes);
  }

  @Override
  public InputStream createInputStream() {
    return new ByteArrayInputStream(new byte[lengthBytes]);
  }

  @Override
  public ManagedBuffer retain() {
    return this;
  }

  @Override
  public ManagedBuffer release() {
    return this;
  }

  @Override
  public Object convertToNetty() {
    throw new UnsupportedOperationException("never sent");
  }

  @Override
  public Object convertToNettyForSsl() {
    throw new UnsupportedOperationException("never sent");
  }
}
