// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.verbs.disni;

import com.ibm.disni.verbs.IbvQP;
import com.ibm.disni.verbs.IbvSendWR;
import com.ibm.disni.verbs.IbvSge;
import com.ibm.disni.verbs.SVCPostSend;
import java.io.IOException;
import java.util.LinkedList;
import java.util.List;
import org.sparkrdma.verbs.Opcode;
import org.sparkrdma.verbs.WorkRequest;
import org.sparkrdma.verbs.engine.Driver;

/**
 * DiSNI's prepared calls that post sends, one for each operation and number of elements. All other
 * fields except immediate data can be changed in a prepared call, so posting allocates nothing. A
 * request with immediate data gets a new call. Confined to the queue pair's owner thread; closed
 * with the queue pair.
 */
final class SendCalls implements AutoCloseable {
  private final IbvQP qp;
  private final Driver driver;
  private final SVCPostSend[][] calls =
      new SVCPostSend[Opcode.values().length][SystemDevices.MAX_SGE + 1];

  SendCalls(IbvQP qp, Driver driver) {
    this.qp = qp;
    this.driver = driver;
  }

  void post(WorkRequest request, long number) throws IOException {
    Opcode opcode = request.opcode();
    if (opcode == Opcode.SEND_WITH_IMMEDIATE || opcode == Opcode.WRITE_WITH_IMMEDIATE) {
      SVCPostSend once = prepare(request);
      execute(once, request, number);
      once.free();
      return;
    }
    SVCPostSend[] byElements = calls[opcode.ordinal()];
    int elements = driver.elementCount(request);
    if (byElements[elements] == null) {
      byElements[elements] = prepare(request);
    }
    execute(byElements[elements], request, number);
  }

  @SuppressWarnings("JdkObsolete") // DiSNI requires this class of list.
  private SVCPostSend prepare(WorkRequest request) throws IOException {
    var elements = new LinkedList<IbvSge>();
    // One also where the count is 0: some drivers use the first element of a READ all the same.
    for (int i = 0; i < Math.max(1, request.elementCount()); i++) {
      elements.add(new IbvSge());
    }
    var work = new IbvSendWR();
    work.setOpcode(code(request.opcode()));
    // The peer expects network byte order.
    work.setImm_data(Integer.reverseBytes(request.immediate()));
    work.setSg_list(elements);
    work.setNum_sge(driver.elementCount(request));
    return qp.postSend(List.of(work), null);
  }

  private static int code(Opcode opcode) {
    return switch (opcode) {
      case SEND -> IbvSendWR.IBV_WR_SEND;
      case SEND_WITH_IMMEDIATE -> IbvSendWR.IBV_WR_SEND_WITH_IMM;
      case WRITE -> IbvSendWR.IBV_WR_RDMA_WRITE;
      case WRITE_WITH_IMMEDIATE -> IbvSendWR.IBV_WR_RDMA_WRITE_WITH_IMM;
      case READ -> IbvSendWR.IBV_WR_RDMA_READ;
      default -> throw new IllegalArgumentException("not a send, read or write: opcode=" + opcode);
    };
  }

  private int flags(WorkRequest request) {
    boolean fenced =
        request.opcode() != Opcode.READ && driver.has(Driver.Quirk.COMPLETES_SENDS_BEFORE_READS);
    return (fenced ? IbvSendWR.IBV_SEND_FENCE : 0)
        | (request.isSignalled() ? IbvSendWR.IBV_SEND_SIGNALED : 0);
  }

  private void execute(SVCPostSend call, WorkRequest request, long number) throws IOException {
    SVCPostSend.SendWRMod work = call.getWrMod(0);
    work.setWr_id(number);
    work.setSend_flags(flags(request));
    work.getRdmaMod().setRemote_addr(request.remoteAddress());
    work.getRdmaMod().setRkey((int) request.remoteKey());
    for (int i = 0; i < request.elementCount(); i++) {
      var region = (DisniRegion) request.region(i);
      SVCPostSend.SgeMod element = work.getSgeMod(i);
      element.setAddr(region.address() + request.offset(i));
      element.setLength(request.length(i));
      element.setLkey(region.localKey());
    }
    if (request.elementCount() == 0) {
      work.getSgeMod(0).setAddr(0);
      work.getSgeMod(0).setLength(0);
      work.getSgeMod(0).setLkey(0);
    }
    call.execute();
  }

  @Override
  public void close() {
    for (SVCPostSend[] byElements : calls) {
      for (SVCPostSend call : byElements) {
        if (call != null) {
          call.free();
        }
      }
    }
  }
}
