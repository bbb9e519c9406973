// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.verbs.disni;

import com.ibm.disni.verbs.IbvQP;
import com.ibm.disni.verbs.IbvWC;
import java.io.IOException;
import java.util.Set;
import org.sparkrdma.verbs.AccessFlag;
import org.sparkrdma.verbs.QueuePairSettings;
import org.sparkrdma.verbs.QueuePairState;
import org.sparkrdma.verbs.WorkRequest;
import org.sparkrdma.verbs.engine.CompletionView;
import org.sparkrdma.verbs.engine.device.DeviceQueuePair;

/**
 * A queue pair of the device, and its work, see {@link DeviceQueuePair}.
 *
 * <p>Its owner posts and polls; any thread may break or close it.
 */
final class DisniQueuePair extends DeviceQueuePair {
  private final SendCalls sendCalls;
  private final ReceiveCalls receiveCalls;

  /**
   * Takes over a queue pair of the device that was made on the connection's identifier.
   *
   * @param name upper half of the ids of its work requests
   * @param number of the queue pair in the device
   */
  DisniQueuePair(
      DisniDevice device,
      DisniProtectionDomain domain,
      DisniConnection connection,
      IbvQP qp,
      int name,
      int number,
      QueuePairSettings settings) {
    super(device, domain, connection, name, number, settings);
    sendCalls = new SendCalls(qp, device.driver());
    receiveCalls =
        new ReceiveCalls(qp, device.driver(), settings.receiveDepth(), requestNumber(RECEIVE_BIT));
  }

  // Posting, by the owner.

  @Override
  public boolean postSend(WorkRequest request) {
    checkMaySend();
    checkSend(request);
    if (sends.room() == 0) {
      return false;
    }
    long requestNumber = requestNumber(sends.add(request));
    if (state() != QueuePairState.READY_TO_SEND) {
      signalFlush(sends);
      return true;
    }
    try {
      sendCalls.post(request, requestNumber);
      sends.onPosted(0);
    } catch (IOException e) {
      fail(Failures.message("ibv_post_send", e, "queuePair=" + number()));
    }
    return true;
  }

  /** Posts each request with a call of its own: DiSNI cannot combine prepared calls. */
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
    if (receives.room() == 0) {
      return false;
    }
    receives.add(request);
    if (state() == QueuePairState.ERROR) {
      signalFlush(receives);
      return true;
    }
    try {
      receiveCalls.post(request);
      receives.onPosted(0);
    } catch (IOException e) {
      fail(Failures.message("ibv_post_recv", e, "queuePair=" + number()));
    }
    return true;
  }

  // Polling, by the owner.

  /** Shows a completion of one of its requests. */
  Outcome onCompletion(IbvWC completion, CompletionView view) {
    int low = (int) completion.getWr_id();
    boolean ofSend = (low & RECEIVE_BIT) == 0;
    long position = ofSend ? sends.find(low) : oldestReceive();
    if (position < 0 || isDestroyed()) {
      return Outcome.SUPPRESSED;
    }
    int code = completion.getStatus();
    if (code != 0) {
      return showFailure(ofSend ? sends : receives, position, code, 0, view);
    }
    return ofSend
        ? showSend(position, view)
        : showReceive(
            position,
            completion.getOpcode(),
            completion.getByte_len(),
            completion.getWc_flags(),
            completion.getImm_data(),
            view);
  }

  /** The receive that completed, since receives complete in order; -1 when it was flushed. */
  private long oldestReceive() {
    return areReceivesFlushed() || !receives.isWithDevice() ? -1 : receives.head();
  }

  // Any thread.

  @Override
  public void setRemoteAccess(Set<AccessFlag> access) {
    throw new UnsupportedOperationException("DiSNI cannot change what peers may do: " + access);
  }

  @Override
  protected void free() {
    sendCalls.close();
    receiveCalls.close();
  }
}
