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
package org.sparkrdma.verbs.soft.shared;

import java.io.IOException;
import java.nio.ByteBuffer;

/**
 * A mapped file of any length, accessed through bounded buffers. Java 17 cannot unmap at close, the
 * implementation for Java 22 does.
 */
public interface Mapping extends AutoCloseable {
  /** A new little-endian buffer over part of it; the range must lie inside. */
  ByteBuffer slice(long offset, int lengthBytes);

  /**
   * A buffer over the range, without allocation. It is valid until the next call, for the device
   * thread only, and has at most {@link MappedWindows#VIEW_BYTES}.
   */
  ByteBuffer view(long offset, int lengthBytes);

  /** Unmaps the file when no slice of it is in use any more, or sooner. */
  @Override
  void close() throws IOException;
}
