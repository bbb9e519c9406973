// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.verbs.engine;

import java.util.function.IntUnaryOperator;
import org.sparkrdma.verbs.QueuePairSettings;
import org.sparkrdma.verbs.WorkRequest;

/** A queue pair whose work stays with the device until the test completes it. */
final class FakeQueuePair extends EngineQueuePair {
  private final FakeDevice device;

  /** Runs while the device gets sends; returns how many of them it has taken. */
  IntUnaryOperator duringPost = IntUnaryOperator.identity();

  FakeQueuePair(
      FakeDevice device,
      EngineProtectionDomain domain,
      FakeConnection connection,
      QueuePairSettings settings) {
    super(domain, connection, 17, settings);
    this.device = device;
  }

  /** The request number of the send at that position. */
  long sendNumber(int position) {
    return requestNumber(position);
  }

  /** The device refuses a post. */
  void refusePost() {
    failPost("refused by the test");
  }

  @Override
  protected void writeSend(int i, WorkRequest request, long requestNumber) {}

  @Override
  protected int submitSends(int count) {
    return duringPost.applyAsInt(count);
  }

  @Override
  protected boolean submitReceive(WorkRequest request, long requestNumber) {
    return true;
  }

  @Override
  protected void onDestroyed() {
    device.duringDestruction.run();
  }

  @Override
  protected void free() {
    device.calls.add("free queue pair");
  }
}
