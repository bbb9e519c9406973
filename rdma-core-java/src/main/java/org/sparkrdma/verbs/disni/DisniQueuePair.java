// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.verbs.disni;

import com.ibm.disni.verbs.IbvQP;
import java.io.IOException;
import org.sparkrdma.verbs.QueuePairSettings;
import org.sparkrdma.verbs.WorkRequest;
import org.sparkrdma.verbs.engine.EngineQueuePair;

/**
 * A queue pair of the device, and its work, see {@link EngineQueuePair}.
 *
 * <p>Its owner posts and polls; any thread may break or close it.
 */
final class DisniQueuePair extends EngineQueuePair {
  private final WorkRequest[] requests = new WorkRequest[BATCH];
  private final long[] requestNumbers = new long[BATCH];
  private final SendCalls sendCalls;
  private final ReceiveCalls receiveCalls;

  /**
   * Takes over a queue pair of the device that was made on the connection's identifier.
   *
   * @param name upper half of the ids of its work requests
   */
  DisniQueuePair(
      DisniDevice device,
      DisniProtectionDomain domain,
      DisniConnection connection,
      IbvQP qp,
      int name,
      QueuePairSettings settings)
      throws IOException {
    super(device, domain, connection, name, qp.getQp_num(), settings);
    sendCalls = new SendCalls(qp, device.driver());
    receiveCalls =
        new ReceiveCalls(qp, device.driver(), settings.receiveDepth(), requestNumber(RECEIVE_BIT));
  }

  /** DiSNI cannot combine prepared calls, so each request is posted with a call of its own. */
  @Override
  protected void writeSend(int i, WorkRequest request, long requestNumber) {
    requests[i] = request;
    requestNumbers[i] = requestNumber;
  }

  @Override
  protected int submitSends(int count) {
    for (int i = 0; i < count; i++) {
      try {
        sendCalls.post(requests[i], requestNumbers[i]);
      } catch (IOException e) {
        fail(Failures.message("ibv_post_send", e, "queuePair=" + number()));
        return i;
      }
    }
    return count;
  }

  @Override
  protected boolean submitReceive(WorkRequest request, long requestNumber) {
    try {
      receiveCalls.post(request);
      return true;
    } catch (IOException e) {
      fail(Failures.message("ibv_post_recv", e, "queuePair=" + number()));
      return false;
    }
  }

  /** The oldest one, since receives complete in order and have the same number. */
  @Override
  protected long findReceive(int low) {
    return areReceivesFlushed() || !receives.isWithDevice() ? -1 : receives.head();
  }

  @Override
  protected void free() {
    sendCalls.close();
    receiveCalls.close();
  }
}
