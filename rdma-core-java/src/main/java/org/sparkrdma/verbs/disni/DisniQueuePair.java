// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.verbs.disni;

import com.ibm.disni.verbs.IbvQP;
import com.ibm.disni.verbs.IbvRecvWR;
import com.ibm.disni.verbs.IbvSge;
import com.ibm.disni.verbs.SVCPostRecv;
import java.io.IOException;
import java.util.LinkedList;
import java.util.List;
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
  private final DisniDevice device;
  private final IbvQP qp;

  /** Takes over a queue pair of the device that was made on the connection's identifier. */
  DisniQueuePair(
      DisniDevice device,
      DisniProtectionDomain domain,
      DisniConnection connection,
      IbvQP qp,
      QueuePairSettings settings)
      throws IOException {
    super(domain, connection, qp.getQp_num(), settings);
    this.device = device;
    this.qp = qp;
    sendCalls = new SendCalls(qp, device.driver());
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
      postReceiveOnce(request, requestNumber);
      return true;
    } catch (IOException e) {
      fail(Failures.message("ibv_post_recv", e, "queuePair=" + number()));
      return false;
    }
  }

  /** Uses a call of its own, because the fields of a prepared call cannot be changed. */
  @SuppressWarnings("JdkObsolete") // DiSNI requires this class of list.
  private void postReceiveOnce(WorkRequest request, long requestNumber) throws IOException {
    var elements = new LinkedList<IbvSge>();
    for (int i = 0; i < request.elementCount(); i++) {
      var region = (DisniRegion) request.region(i);
      var element = new IbvSge();
      element.setAddr(region.address() + request.offset(i));
      element.setLength(request.length(i));
      element.setLkey(region.localKey());
      elements.add(element);
    }
    if (elements.isEmpty() && device.driver().elementCount(request) == 1) {
      elements.add(new IbvSge());
    }
    var work = new IbvRecvWR();
    work.setWr_id(requestNumber);
    work.setSg_list(elements);
    work.setNum_sge(elements.size());
    SVCPostRecv call = qp.postRecv(List.of(work), null);
    try {
      call.execute();
    } finally {
      call.free();
    }
  }

  @Override
  protected void free() {
    sendCalls.close();
  }
}
