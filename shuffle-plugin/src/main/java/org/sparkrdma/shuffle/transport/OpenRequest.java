// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.transport;

import java.util.List;
import java.util.Locale;

/** A LOCATE or RELEASE that waits for its answer. Owned by the agent. */
final class OpenRequest implements PostedRequest {
  private final long requestId;
  private List<BlockProgress> blocks;
  private final long deadlineNs;
  private final boolean heldLeases;
  private final Runnable onSent;
  private final Runnable onOver;
  private boolean sent;
  private boolean answered;

  /**
   * @param blocks blocks to locate; empty for a RELEASE
   * @param heldLeases whether the connection holds leases that this request does not release
   * @param onSent called when the send has completed
   * @param onOver called when it is sent and answered
   */
  OpenRequest(
      long requestId,
      List<BlockProgress> blocks,
      long deadlineNs,
      boolean heldLeases,
      Runnable onSent,
      Runnable onOver) {
    this.requestId = requestId;
    this.blocks = blocks;
    this.deadlineNs = deadlineNs;
    this.heldLeases = heldLeases;
    this.onSent = onSent;
    this.onOver = onOver;
  }

  long requestId() {
    return requestId;
  }

  List<BlockProgress> blocks() {
    return blocks;
  }

  /** Takes the list of blocks of an answered LOCATE, which is used again. */
  List<BlockProgress> takeBlocks() {
    List<BlockProgress> taken = blocks;
    blocks = List.of();
    return taken;
  }

  long deadlineNs() {
    return deadlineNs;
  }

  boolean heldLeases() {
    return heldLeases;
  }

  void answered() {
    answered = true;
    endWhenOver();
  }

  @Override
  public void done() {
    sent = true;
    onSent.run();
    endWhenOver();
  }

  @Override
  public String toString() {
    return String.format(
        Locale.ROOT,
        "no answer in time: request=%s blocks=%d sent=%s",
        blocks.isEmpty() ? "RELEASE" : "LOCATE",
        blocks.size(),
        sent);
  }

  private void endWhenOver() {
    if (sent && answered) {
      onOver.run();
    }
  }
}
