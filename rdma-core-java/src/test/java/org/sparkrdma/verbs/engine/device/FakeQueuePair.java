// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.verbs.engine.device;

import java.util.Set;
import org.sparkrdma.verbs.AccessFlag;
import org.sparkrdma.verbs.QueuePairSettings;
import org.sparkrdma.verbs.QueuePairState;
import org.sparkrdma.verbs.WorkRequest;
import org.sparkrdma.verbs.engine.CompletionView;
import org.sparkrdma.verbs.engine.EngineProtectionDomain;
import org.sparkrdma.verbs.engine.device.DeviceQueuePair.Outcome;

/** A queue pair whose work stays with the device until the test completes it. */
final class FakeQueuePair extends DeviceQueuePair {
  private final FakeDevice device;

  FakeQueuePair(
      FakeDevice device,
      EngineProtectionDomain domain,
      FakeConnection connection,
      int name,
      QueuePairSettings settings) {
    super(device, domain, connection, name, 17, settings);
    this.device = device;
    device.duringConstruction.run();
    device.queuePairs().put(this);
  }

  /** The request number of the send at that position. */
  long sendNumber(int position) {
    return requestNumber(position);
  }

  @Override
  public boolean postSend(WorkRequest request) {
    checkMaySend();
    checkSend(request);
    if (sends.room() == 0) {
      return false;
    }
    sends.add(request);
    if (state() != QueuePairState.READY_TO_SEND) {
      signalFlush(sends);
    } else {
      sends.onPosted(0);
    }
    return true;
  }

  @Override
  protected int postSends(WorkRequest[] requests, int offset, int count) {
    int posted = 0;
    while (posted < count && postSend(requests[offset + posted])) {
      posted++;
    }
    return posted;
  }

  @Override
  public boolean postReceive(WorkRequest request) {
    checkOpen();
    checkReceive(request);
    receives.add(request);
    return true;
  }

  Outcome onCompletion(int low, int code, CompletionView view) {
    long position = sends.find(low);
    if (position < 0 || isDestroyed()) {
      return Outcome.SUPPRESSED;
    }
    return code == 0 ? showSend(position, view) : showFailure(sends, position, code, 9, view);
  }

  @Override
  public void setRemoteAccess(Set<AccessFlag> access) {
    checkRemoteAccess(access);
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
