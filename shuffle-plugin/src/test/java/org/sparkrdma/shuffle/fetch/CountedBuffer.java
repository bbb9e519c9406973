// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.fetch;

import java.nio.ByteBuffer;
import org.apache.spark.network.buffer.ManagedBuffer;
import org.apache.spark.network.buffer.NioManagedBuffer;

/** A buffer that counts its references. */
public class CountedBuffer extends NioManagedBuffer {
  private int references = 1;

  public CountedBuffer(byte[] bytes) {
    super(ByteBuffer.wrap(bytes));
  }

  public int references() {
    return references;
  }

  @Override
  public ManagedBuffer retain() {
    references++;
    return this;
  }

  @Override
  public ManagedBuffer release() {
    references--;
    return this;
  }
}
