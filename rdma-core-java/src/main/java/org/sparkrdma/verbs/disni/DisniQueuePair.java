// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.verbs.disni;

import com.ibm.disni.verbs.IbvQP;
import com.ibm.disni.verbs.IbvRecvWR;
import com.ibm.disni.verbs.IbvSendWR;
import com.ibm.disni.verbs.IbvSge;
import com.ibm.disni.verbs.StatefulVerbCall;
import java.io.IOException;
import java.util.LinkedList;
import java.util.List;
import org.sparkrdma.verbs.Opcode;
import org.sparkrdma.verbs.QueuePairSettings;
import org.sparkrdma.verbs.WorkRequest;
import org.sparkrdma.verbs.engine.EngineQueuePair;
import org.sparkrdma.verbs.engine.KernelDriver;

/**
 * A queue pair of the device, and its work, see {@link EngineQueuePair}. Each request is posted
 * with a call of its own: DiSNI does not report which request of a list failed.
 *
 * <p>Its owner posts and polls; any thread may break or close it.
 */
final class DisniQueuePair extends EngineQueuePair {
  private final IbvSendWR[] sends = new IbvSendWR[BATCH];
  private final KernelDriver driver;
  private final IbvQP qp;

  /** Takes over a queue pair of the device that was made on the connection's identifier. */
  DisniQueuePair(
      DisniProtectionDomain domain,
      DisniConnection connection,
      IbvQP qp,
      QueuePairSettings settings)
      throws IOException {
    super(domain, connection, qp.getQp_num(), settings);
    driver = domain.driver();
    this.qp = qp;
  }

  @Override
  protected void writeSend(int i, WorkRequest request, long requestNumber) {
    sends[i] = send(driver, request, requestNumber);
  }

  @Override
  protected int submitSends(int count) {
    for (int i = 0; i < count; i++) {
      try {
        execute(qp.postSend(List.of(sends[i]), null));
      } catch (IOException e) {
        fail(Failures.message("ibv_post_send", e, "queuePair=" + number()));
        return i;
      }
    }
    return count;
  }

  @Override
  protected boolean submitReceive(WorkRequest request, long requestNumber) {
    var work = new IbvRecvWR();
    work.setWr_id(requestNumber);
    work.setSg_list(elements(request));
    work.setNum_sge(driver.elementCount(request));
    try {
      execute(qp.postRecv(List.of(work), null));
      return true;
    } catch (IOException e) {
      fail(Failures.message("ibv_post_recv", e, "queuePair=" + number()));
      return false;
    }
  }

  @Override
  protected void free() {
    // Each call is freed when it has run.
  }

  private static void execute(StatefulVerbCall<?> call) throws IOException {
    try {
      call.execute();
    } finally {
      call.free();
    }
  }

  static IbvSendWR send(KernelDriver driver, WorkRequest request, long requestNumber) {
    boolean fenced =
        request.opcode() != Opcode.READ
            && driver.has(KernelDriver.Quirk.COMPLETES_SENDS_BEFORE_READS);
    var work = new IbvSendWR();
    work.setWr_id(requestNumber);
    work.setOpcode(code(request.opcode()));
    work.setSend_flags(
        (fenced ? IbvSendWR.IBV_SEND_FENCE : 0)
            | (request.isSignalled() ? IbvSendWR.IBV_SEND_SIGNALED : 0));
    work.getRdma().setRemote_addr(request.remoteAddress());
    work.getRdma().setRkey((int) request.remoteKey());
    work.setSg_list(elements(request));
    work.setNum_sge(driver.elementCount(request));
    return work;
  }

  private static int code(Opcode opcode) {
    return switch (opcode) {
      case SEND -> IbvSendWR.IBV_WR_SEND;
      case WRITE -> IbvSendWR.IBV_WR_RDMA_WRITE;
      case READ -> IbvSendWR.IBV_WR_RDMA_READ;
      default -> throw new IllegalArgumentException("not a send, read or write: opcode=" + opcode);
    };
  }

  @SuppressWarnings({"JdkObsolete", "NonApiType"}) // DiSNI requires this class of list.
  private static LinkedList<IbvSge> elements(WorkRequest request) {
    var elements = new LinkedList<IbvSge>();
    for (int i = 0; i < request.elementCount(); i++) {
      var region = (DisniRegion) request.region(i);
      var element = new IbvSge();
      element.setAddr(region.address() + request.offset(i));
      element.setLength(request.length(i));
      element.setLkey(region.localKey());
      elements.add(element);
    }
    if (elements.isEmpty()) {
      // Some drivers use the first element of a READ also where the count is 0.
      elements.add(new IbvSge());
    }
    return elements;
  }
}
