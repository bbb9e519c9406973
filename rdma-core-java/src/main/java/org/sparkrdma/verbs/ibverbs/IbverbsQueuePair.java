// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.verbs.ibverbs;

import java.util.Set;
import org.sparkrdma.verbs.AccessFlag;
import org.sparkrdma.verbs.Opcode;
import org.sparkrdma.verbs.QueuePairSettings;
import org.sparkrdma.verbs.QueuePairState;
import org.sparkrdma.verbs.VerbsException;
import org.sparkrdma.verbs.WorkRequest;
import org.sparkrdma.verbs.engine.EngineQueuePair;
import org.sparkrdma.verbs.engine.EngineRegion;
import org.sparkrdma.verbs.engine.KernelDriver;
import org.sparkrdma.verbs.ibverbs.ffi.Layouts.IbvContext;
import org.sparkrdma.verbs.ibverbs.ffi.Layouts.IbvQp;
import org.sparkrdma.verbs.ibverbs.ffi.Layouts.IbvRecvWr;
import org.sparkrdma.verbs.ibverbs.ffi.Layouts.IbvSendWr;
import org.sparkrdma.verbs.ibverbs.ffi.Layouts.IbvSge;
import org.sparkrdma.verbs.ibverbs.ffi.Libc;
import org.sparkrdma.verbs.ibverbs.ffi.Native;
import org.sparkrdma.verbs.ibverbs.ffi.NativeArena;
import org.sparkrdma.verbs.ibverbs.ffi.VerbsLibrary;

/**
 * A queue pair of the device and its work, see {@link EngineQueuePair}.
 *
 * <p>Its owner posts receives, polls and closes it; any thread posts sends, one at a time. Another
 * thread may break it at any time, and may close it once the owner no longer uses it: close frees
 * the memory that posting uses.
 */
final class IbverbsQueuePair extends EngineQueuePair {
  private final IbverbsDevice device;
  private final long qp;
  private final long postSendFunction;
  private final long postReceiveFunction;
  private final QueuePairAccess access;
  private final NativeArena arena = new NativeArena();
  private final WorkArray sendArray;
  private final WorkArray receiveArray;
  private Set<AccessFlag> remoteAccess;

  /** Takes over a queue pair of the device that was made on the connection's identifier. */
  IbverbsQueuePair(
      IbverbsDevice device,
      IbverbsProtectionDomain domain,
      IbverbsConnection connection,
      long qp,
      QueuePairSettings settings) {
    super(domain, connection, Native.getInt(qp + IbvQp.QP_NUM), settings);
    this.device = device;
    this.qp = qp;
    access = new QueuePairAccess(device, qp);
    remoteAccess = settings.remoteAccess();
    postSendFunction = Native.getLong(device.context() + IbvContext.OPS_POST_SEND);
    postReceiveFunction = Native.getLong(device.context() + IbvContext.OPS_POST_RECV);
    int maxSge = settings.maxSge();
    int batch = Math.min(BATCH, settings.sendDepth());
    sendArray = WorkArray.ofSends(arena, batch, maxSge, device.driver());
    receiveArray = WorkArray.ofReceives(arena, 1, maxSge, device.driver());
    device.asyncEvents().listen(qp, this::fail);
  }

  // Posting: sends with the lock of EngineQueuePair, receives by the owner.

  @Override
  protected void writeSend(int i, WorkRequest request, long requestNumber) {
    sendArray.write(i, request, requestNumber);
  }

  @Override
  protected int submitSends(int count) {
    sendArray.link(count);
    int rc = Native.post(postSendFunction, qp, sendArray.first(), sendArray.bad());
    if (rc == 0) {
      return count;
    }
    if (!isFull(rc)) {
      failPost(refusal("ibv_post_send", rc));
    }
    return sendArray.badIndex(count);
  }

  @Override
  protected boolean submitReceive(WorkRequest request, long requestNumber) {
    receiveArray.write(0, request, requestNumber);
    receiveArray.link(1);
    int rc = Native.post(postReceiveFunction, qp, receiveArray.first(), receiveArray.bad());
    if (rc != 0 && !isFull(rc)) {
      fail(refusal("ibv_post_recv", rc));
    }
    return rc == 0;
  }

  /** A full queue takes the work later. Any other error breaks the queue pair. */
  private static boolean isFull(int rc) {
    return Math.abs(rc) == Libc.ENOMEM;
  }

  private String refusal(String call, int rc) {
    return Libraries.message(call, Math.abs(rc), "queuePair=" + number());
  }

  // Any thread.

  /** Ends its work, see {@link QueuePairAccess#breakOnDevice}. */
  void breakOnDevice() {
    if (!access.breakOnDevice(number())) {
      setKeepsWork(true);
    }
  }

  /** The connection is established: sends may be posted, and peers have their access. */
  @Override
  protected void markReady() throws VerbsException {
    synchronized (access) {
      if (state() == QueuePairState.INIT) {
        access.change(remoteAccess);
        setReady();
      }
    }
  }

  @Override
  protected void changeRemoteAccess(Set<AccessFlag> changed) throws VerbsException {
    synchronized (access) {
      remoteAccess = Set.copyOf(changed);
      if (state() == QueuePairState.READY_TO_SEND) {
        access.change(remoteAccess);
      }
    }
  }

  /** Waits for a change of access; afterwards there is none. */
  @Override
  protected void onDestroyed() {
    synchronized (access) {
      device.asyncEvents().forget(qp);
    }
  }

  @Override
  protected void free() {
    arena.close();
  }

  /**
   * Work requests as linked C structs with their scatter/gather elements, reused for each post. One
   * thread at a time posts: that of sends with the lock of {@link EngineQueuePair}, that of
   * receives as the queue pair's owner. The arena frees its memory.
   */
  static final class WorkArray {
    private static final int READ = 4;

    private final boolean sends;
    private final int size;
    private final long requests;
    private final long elements;
    private final int maxSge;
    private final KernelDriver driver;
    private final int fence;
    private final long bad;

    private WorkArray(
        NativeArena arena, boolean sends, int count, int maxSge, KernelDriver driver) {
      this.sends = sends;
      this.maxSge = maxSge;
      this.driver = driver;
      fence =
          driver.has(KernelDriver.Quirk.COMPLETES_SENDS_BEFORE_READS) ? VerbsLibrary.SEND_FENCE : 0;
      size = sends ? IbvSendWr.SIZE : IbvRecvWr.SIZE;
      requests = arena.allocate((long) count * size);
      elements = arena.allocate((long) count * maxSge * IbvSge.SIZE);
      bad = arena.allocate(Long.BYTES);
      for (int i = 0; i < count; i++) {
        Native.putLong(request(i) + (sends ? IbvSendWr.SG_LIST : IbvRecvWr.SG_LIST), element(i, 0));
      }
    }

    static WorkArray ofSends(NativeArena arena, int count, int maxSge, KernelDriver driver) {
      return new WorkArray(arena, true, count, maxSge, driver);
    }

    static WorkArray ofReceives(NativeArena arena, int count, int maxSge, KernelDriver driver) {
      return new WorkArray(arena, false, count, maxSge, driver);
    }

    private long request(int i) {
      return requests + (long) i * size;
    }

    private long element(int i, int j) {
      return elements + ((long) i * maxSge + j) * IbvSge.SIZE;
    }

    /** Address of the first work request. */
    long first() {
      return requests;
    }

    /** Address at which the device stores the request that it refused. */
    long bad() {
      return bad;
    }

    /**
     * Index of the request that the device refused.
     *
     * @param count of the requests: the result when it has taken all of them and failed then, as
     *     rxe_post_send in rdma-core's providers/rxe/rxe.c does when its doorbell fails
     */
    int badIndex(int count) {
      long at = Native.getLong(bad);
      return at == 0 ? count : (int) ((at - requests) / size);
    }

    void write(int i, WorkRequest request, long number) {
      long at = request(i);
      Native.putLong(at + IbvSendWr.WR_ID, number);
      int count = request.elementCount();
      if (count == 1) {
        // Outside the loop, which costs more than the element: nearly all requests have one.
        writeElement(element(i, 0), request, 0);
      } else if (count == 0) {
        // Some drivers use the first element whatever the count is, and it has that of an earlier
        // request: irdma_uk_rdma_read in rdma-core's providers/irdma/uk.c, erdma_push_one_sqe in
        // providers/erdma/erdma_verbs.c.
        clearElement(element(i, 0));
        count = driver.elementCount(request);
      } else {
        writeElements(i, request, count);
      }
      if (sends) {
        writeSend(at, request, count);
      } else {
        Native.putInt(at + IbvRecvWr.NUM_SGE, count);
      }
    }

    private void writeElements(int i, WorkRequest request, int count) {
      for (int j = 0; j < count; j++) {
        writeElement(element(i, j), request, j);
      }
    }

    private static void clearElement(long element) {
      Native.putLong(element + IbvSge.ADDR, 0);
      Native.putInt(element + IbvSge.LENGTH, 0);
      Native.putInt(element + IbvSge.LKEY, 0);
    }

    private static void writeElement(long element, WorkRequest request, int j) {
      var region = (EngineRegion) request.region(j);
      Native.putLong(element + IbvSge.ADDR, region.address() + request.offset(j));
      Native.putInt(element + IbvSge.LENGTH, request.length(j));
      Native.putInt(element + IbvSge.LKEY, region.localKey());
    }

    private void writeSend(long at, WorkRequest request, int count) {
      Opcode opcode = request.opcode();
      Native.putInt(at + IbvSendWr.NUM_SGE, count);
      Native.putInt(at + IbvSendWr.OPCODE, opcode == Opcode.READ ? READ : code(opcode));
      Native.putInt(
          at + IbvSendWr.SEND_FLAGS,
          (opcode == Opcode.READ ? 0 : fence)
              | (request.isSignalled() ? VerbsLibrary.SEND_SIGNALED : 0));
      Native.putInt(at + IbvSendWr.IMM_DATA, Integer.reverseBytes(request.immediate()));
      Native.putLong(at + IbvSendWr.WR_RDMA_REMOTE_ADDR, request.remoteAddress());
      Native.putInt(at + IbvSendWr.WR_RDMA_RKEY, (int) request.remoteKey());
    }

    private static int code(Opcode opcode) {
      return switch (opcode) {
        case WRITE -> 0;
        case WRITE_WITH_IMMEDIATE -> 1;
        case SEND -> 2;
        case SEND_WITH_IMMEDIATE -> 3;
        case READ -> READ;
        case RECEIVE, RECEIVE_WRITE_WITH_IMMEDIATE ->
            throw new IllegalArgumentException("not a send, read or write: opcode=" + opcode);
      };
    }

    /** Links the first {@code count} requests for a post, which may fail without naming one. */
    void link(int count) {
      Native.putLong(bad, 0);
      for (int i = 0; i < count - 1; i++) {
        Native.putLong(request(i) + IbvSendWr.NEXT, request(i + 1));
      }
      Native.putLong(request(count - 1) + IbvSendWr.NEXT, 0);
    }
  }
}
