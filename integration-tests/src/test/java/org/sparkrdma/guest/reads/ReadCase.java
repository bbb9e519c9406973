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
package org.sparkrdma.guest.reads;

/**
 * READs to be timed.
 *
 * @param name for people
 * @param mode how they go
 * @param lengthBytes of each
 * @param depth how many may be outstanding
 * @param batch how many are posted with one call; the last of them is signalled
 * @param count how many in all, a multiple of the batch
 */
public record ReadCase(String name, Mode mode, int lengthBytes, int depth, int batch, int count) {

  /** How READs are posted and waited for, and what is timed. */
  public enum Mode {
    /** Many at once; polling spins briefly, then sleeps. Timed as a whole. */
    STREAM,
    /** One after the other by polling; the median of one counts. */
    POLL,
    /** One after the other by the completion channel; the median of one counts. */
    EVENTS
  }

  /** Whether the figure is a bandwidth, so that more is better. */
  public boolean isBandwidth() {
    return mode == Mode.STREAM;
  }
}
