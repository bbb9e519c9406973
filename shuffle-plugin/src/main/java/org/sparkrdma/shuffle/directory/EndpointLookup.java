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
package org.sparkrdma.shuffle.directory;

import java.util.Optional;
import java.util.concurrent.CompletableFuture;

/** Finds executors' endpoints. Safe for any thread; never blocks. */
@FunctionalInterface
public interface EndpointLookup {
  /**
   * The endpoint of an executor, empty when it has none or the directory does not answer in time.
   *
   * @return already complete when the answer is known; else completed on the directory's thread,
   *     which must not be blocked, and never exceptionally
   */
  CompletableFuture<Optional<Endpoint>> find(String executorId);

  /**
   * An endpoint did not answer: looks soon whether it is still what the directory says; at most
   * every few seconds.
   */
  default void recheck() {}
}
