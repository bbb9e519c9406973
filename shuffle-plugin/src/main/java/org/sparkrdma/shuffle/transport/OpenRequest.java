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
package org.sparkrdma.shuffle.transport;

import java.util.List;
import org.sparkrdma.shuffle.fetch.BlockProgress;

/** A LOCATE or RELEASE that waits for its answer. Owned by the agent. */
final class OpenRequest implements Posted {
  private final long requestId;
  private final List<BlockProgress> blocks;
  private final long deadlineNs;
  private final boolean heldLeases;
  private final Runnable slotFree;
  private boolean sent;
  private boolean answered;

  /**
   * @param blocks blocks to locate; empty for a RELEASE
   * @param heldLeases whether the connection holds leases that this request does not release
   * @param slotFree called when the slot may be reused: sent and answered
   */
  OpenRequest(
      long requestId,
      List<BlockProgress> blocks,
      long deadlineNs,
      boolean heldLeases,
      Runnable slotFree) {
    this.requestId = requestId;
    this.blocks = blocks;
    this.deadlineNs = deadlineNs;
    this.heldLeases = heldLeases;
    this.slotFree = slotFree;
  }

  long requestId() {
    return requestId;
  }

  List<BlockProgress> blocks() {
    return blocks;
  }

  long deadlineNs() {
    return deadlineNs;
  }

  boolean heldLeases() {
    return heldLeases;
  }

  void answered() {
    answered = true;
    freeWhenOver();
  }

  @Override
  public void done() {
    sent = true;
    freeWhenOver();
  }

  @Override
  public String toString() {
    return "no answer in time: request=%s blocks=%d sent=%s"
        .formatted(blocks.isEmpty() ? "RELEASE" : "LOCATE", blocks.size(), sent);
  }

  private void freeWhenOver() {
    if (sent && answered) {
      slotFree.run();
    }
  }
}
