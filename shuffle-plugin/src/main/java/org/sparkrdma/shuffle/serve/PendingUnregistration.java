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
package org.sparkrdma.shuffle.serve;

/**
 * A shuffle that is being unregistered: counts its map outputs that still have registered windows
 * and runs a callback when the last one has none. Used with the server's lock.
 */
final class PendingUnregistration {
  private final Runnable done;
  private int outputs = 1;

  /** Starts with a count of one, so that the caller must call {@link #onOutputGone} once. */
  PendingUnregistration(Runnable done) {
    this.done = done;
  }

  /** Adds a map output. */
  void await() {
    outputs++;
  }

  void onOutputGone() {
    outputs--;
    if (outputs == 0) {
      done.run();
    }
  }
}
