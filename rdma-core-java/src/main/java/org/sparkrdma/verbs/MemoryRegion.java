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
package org.sparkrdma.verbs;

import java.util.Set;

/**
 * Registered memory, see ibv_reg_mr(3).
 *
 * <p>Safe for any thread. The caller that registered it closes it. Closing returns when no
 * operation of a peer on it is in progress: from then on no byte of it can reach a peer. A second
 * close does nothing.
 */
public interface MemoryRegion extends AutoCloseable {
  /** Address of its first byte, in the space that work requests use. */
  long address();

  /** Its length in bytes. */
  long lengthBytes();

  /** The access that is allowed. */
  Set<AccessFlag> access();

  /** What a peer needs to access it. The key is a secret of both peers and is never logged. */
  RemoteRegion remote();

  @Override
  void close();
}
