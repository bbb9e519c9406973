/*
 * Licensed under the Apache License, Version 2.0 (the "License");
 * you may not use this file except in compliance with the License.
 * You may obtain a copy of the License at
 *
 *     http://www.apache.org/licenses/LICENSE-2.0
 *
 * Unless required by applicable law or agreed to in writing, software
 * distributed under the License is distributed on an "AS IS" BASIS,
 * WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied.
 * See the License for the specific language governing permissions and
 * limitations under the License.
 */
package org.sparkrdma.shuffle.read;

import java.io.ByteArrayInputStream;
import java.io.InputStream;
import java.nio.ByteBuffer;
import org.apache.spark.network.buffer.ManagedBuffer;

/** So many zeros. */
final class FakeBuffer extends ManagedBuffer {
  private final int lengthBytes;

  FakeBuffer(int lengthBytes) {
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
