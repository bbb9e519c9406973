// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.verbs.engine;

import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import org.sparkrdma.verbs.AccessFlag;
import org.sparkrdma.verbs.QueuePairSettings;
import org.sparkrdma.verbs.WorkRequest;
import org.sparkrdma.verbs.device.DeviceLimits;

/**
 * A queue pair without a device, which records the work that passes the checks. Confined to the
 * test's thread.
 */
final class RecordedQueuePair extends EngineQueuePair {
  /** Calls into the engine, in order. */
  final List<String> calls = new ArrayList<>();

  RecordedQueuePair(
      EngineProtectionDomain domain,
      QueuePairSettings settings,
      DeviceLimits limits,
      boolean hasImmediateData) {
    super(domain, 1, settings, limits, hasImmediateData);
  }

  @Override
  public boolean postSend(WorkRequest request) {
    checkMaySend();
    checkSend(request);
    calls.add("send " + request.id());
    return true;
  }

  @Override
  protected int postSends(WorkRequest[] requests, int offset, int count) {
    for (int i = offset; i < offset + count; i++) {
      checkSend(requests[i]);
      calls.add("send " + requests[i].id());
    }
    return count;
  }

  @Override
  public boolean postReceive(WorkRequest request) {
    checkOpen();
    checkReceive(request);
    calls.add("receive " + request.id());
    return true;
  }

  @Override
  public void setRemoteAccess(Set<AccessFlag> access) {
    checkRemoteAccess(access);
    calls.add("access " + access);
  }

  @Override
  protected void onBreaking() {
    calls.add("breaking in " + state());
  }

  @Override
  public void close() {
    if (setDestroyed()) {
      leaveDomain();
    }
  }
}
