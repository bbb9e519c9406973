/*
 * Licensed under the Apache License, Version 2.0 (the "License");
 * you may not use this file except in compliance with the License.
 * You may obtain a copy of the License at
 *
 *     http://www.apache.org/licenses/LICENSE-2.0
 *
 * Unless required by applicable law or agreed to in writing, software
 * distributed under the License is distributed on an "AS IS" BASIS,
 * WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied.
 * See the License for the specific language governing permissions and
 * limitations under the License.
 */
package org.sparkrdma.verbs.ibverbs;

import java.util.Objects;
import java.util.Set;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.sparkrdma.verbs.AccessFlag;
import org.sparkrdma.verbs.CompletionQueue;
import org.sparkrdma.verbs.Opcode;
import org.sparkrdma.verbs.QueuePairSettings;
import org.sparkrdma.verbs.QueuePairState;
import org.sparkrdma.verbs.VerbsException;
import org.sparkrdma.verbs.WorkRequest;
import org.sparkrdma.verbs.WorkStatus;
import org.sparkrdma.verbs.engine.CompletionView;
import org.sparkrdma.verbs.engine.EngineQueuePair;
import org.sparkrdma.verbs.engine.LimitChecks;
import org.sparkrdma.verbs.engine.StatusCodes;
import org.sparkrdma.verbs.engine.WorkRing;
import org.sparkrdma.verbs.ibverbs.ffi.Downcalls;
import org.sparkrdma.verbs.ibverbs.ffi.Layouts.IbvContext;
import org.sparkrdma.verbs.ibverbs.ffi.Layouts.IbvQp;
import org.sparkrdma.verbs.ibverbs.ffi.Layouts.IbvQpAttr;
import org.sparkrdma.verbs.ibverbs.ffi.Layouts.IbvWc;
import org.sparkrdma.verbs.ibverbs.ffi.Libc;
import org.sparkrdma.verbs.ibverbs.ffi.Memory;
import org.sparkrdma.verbs.ibverbs.ffi.NativeArena;
import org.sparkrdma.verbs.ibverbs.ffi.VerbsLibrary;

/**
 * A queue pair of the device, and its work, see {@link EngineQueuePair}. The device alone executes
 * it.
 *
 * <p>Its owner posts and polls; any thread may break or close it.
 */
final class IbverbsQueuePair extends EngineQueuePair {
  private static final Logger LOG = LoggerFactory.getLogger(IbverbsQueuePair.class);

  /** Work posted with one call. */
  private static final int BATCH = 32;

  private final IbverbsDevice device;
  private final IbverbsProtectionDomain domain;
  private final IbverbsConnection connection;
  private final long qp;
  private final int maxSge;
  private final int maxReadSge;
  private final long maxMessageBytes;
  private final int maxInlineBytes;
  private final IbverbsCompletionQueue sendCompletions;
  private final IbverbsCompletionQueue receiveCompletions;
  private final long postSendFunction;
  private final long postReceiveFunction;
  private final NativeArena arena = new NativeArena();
  private final WorkArray sendArray;
  private final WorkArray receiveArray;
  private Set<AccessFlag> remoteAccess;

  /** Takes over a queue pair of the device that was made on the connection's identifier. */
  IbverbsQueuePair(
      IbverbsProtectionDomain domain,
      IbverbsConnection connection,
      int name,
      long qp,
      QueuePairSettings settings) {
    super(
        name,
        Memory.getInt(qp + IbvQp.QP_NUM),
        settings,
        domain.device().settings().flushWaitNs(),
        domain.device().rules().mayFailSilently());
    this.domain = domain;
    this.connection = connection;
    this.qp = qp;
    device = domain.device();
    maxSge = settings.maxSge();
    maxReadSge = Math.min(maxSge, device.info().limits().maxReadSge());
    maxMessageBytes = device.info().limits().maxMessageBytes();
    maxInlineBytes = settings.maxInlineBytes();
    remoteAccess = settings.remoteAccess();
    sendCompletions = (IbverbsCompletionQueue) settings.sendQueue();
    receiveCompletions = (IbverbsCompletionQueue) settings.receiveQueue();
    postSendFunction = Memory.getLong(device.context() + IbvContext.OPS_POST_SEND);
    postReceiveFunction = Memory.getLong(device.context() + IbvContext.OPS_POST_RECV);
    TransportRules rules = device.rules();
    int batch = Math.min(BATCH, settings.sendDepth());
    sendArray = WorkArray.ofSends(arena, batch, maxSge, rules);
    receiveArray = WorkArray.ofReceives(arena, 1, maxSge, rules);
    sendCompletions.retain();
    receiveCompletions.retain();
    device.asyncEvents().listen(qp, this::fail);
    device.queuePairs().put(this);
  }

  boolean completesIn(IbverbsCompletionQueue queue) {
    return sendCompletions == queue || receiveCompletions == queue;
  }

  // Posting, by the owner.

  @Override
  public boolean postSend(WorkRequest request) {
    checkMaySend();
    checkSend(request);
    if (sends.room() == 0) {
      return false;
    }
    sendArray.write(0, request, requestNumber(sends.add(request)));
    return submitSends(1) == 1;
  }

  @Override
  public int postSend(WorkRequest[] requests, int offset, int count) {
    Objects.checkFromIndexSize(offset, count, requests.length);
    checkMaySend();
    int posted = 0;
    boolean more = true;
    while (more && posted < count) {
      int batch = Math.min(Math.min(BATCH, sends.room()), count - posted);
      int submitted = submit(requests, offset + posted, batch);
      posted += submitted;
      more = submitted == batch && sends.room() > 0;
    }
    return posted;
  }

  private int submit(WorkRequest[] requests, int offset, int count) {
    int written = 0;
    int submitted = 0;
    try {
      for (; written < count; written++) {
        WorkRequest request = requests[offset + written];
        checkSend(request);
        sendArray.write(written, request, requestNumber(sends.add(request)));
      }
    } finally {
      // A bad request is told after those before it were posted.
      submitted = submitSends(written);
    }
    return submitted;
  }

  /** How many of the last {@code count} places the device, or the flush, has taken. */
  private int submitSends(int count) {
    if (count == 0) {
      return 0;
    }
    if (state() != QueuePairState.READY_TO_SEND) {
      sendCompletions.signal();
      return count;
    }
    sendArray.link(count);
    int rc = Downcalls.post(postSendFunction, qp, sendArray.first(), sendArray.bad());
    int refused = rc == 0 ? 0 : count - sendArray.badIndex();
    sends.onPosted(refused);
    return rc == 0 ? count : onRefused("ibv_post_send", rc, count, refused, sends);
  }

  @Override
  public boolean postReceive(WorkRequest request) {
    checkOpen();
    if (request.opcode() != Opcode.RECEIVE) {
      throw new IllegalArgumentException("not a receive: opcode=" + request.opcode());
    }
    checkElements(request, maxSge, true);
    if (receives.room() == 0) {
      return false;
    }
    receiveArray.write(0, request, requestNumber(receives.add(request) | RECEIVE_BIT));
    if (state() == QueuePairState.ERROR) {
      receiveCompletions.signal();
      return true;
    }
    receiveArray.link(1);
    int rc = Downcalls.post(postReceiveFunction, qp, receiveArray.first(), receiveArray.bad());
    receives.onPosted(rc == 0 ? 0 : 1);
    return rc == 0 || onRefused("ibv_post_recv", rc, 1, 1, receives) == 1;
  }

  /**
   * A full queue is tried again later; anything else breaks the queue pair, and the work is flushed
   * with all other.
   */
  private int onRefused(String call, int rc, int count, int refused, WorkRing ring) {
    if (Math.abs(rc) == Libc.ENOMEM) {
      ring.takeBack(refused);
      return count - refused;
    }
    fail(Libraries.message(call, Math.abs(rc), "queuePair=" + number()));
    return count;
  }

  private void checkSend(WorkRequest request) {
    Opcode opcode = request.opcode();
    if (opcode != Opcode.READ) {
      checkOpcode(opcode);
    }
    if (request.isInline()) {
      checkInline(request);
    }
    checkElements(request, opcode == Opcode.READ ? maxReadSge : maxSge, false);
  }

  private void checkOpcode(Opcode opcode) {
    if (opcode == null || opcode == Opcode.RECEIVE) {
      throw new IllegalArgumentException("not a send, read or write: opcode=" + opcode);
    }
    if ((opcode == Opcode.WRITE_WITH_IMMEDIATE || opcode == Opcode.SEND_WITH_IMMEDIATE)
        && !device.rules().hasImmediateData()) {
      throw new IllegalArgumentException("the device has no immediate data: opcode=" + opcode);
    }
  }

  private void checkInline(WorkRequest request) {
    if (request.opcode() == Opcode.READ || request.totalBytes() > maxInlineBytes) {
      throw new IllegalArgumentException(
          "cannot be inline: opcode="
              + request.opcode()
              + (" lengthBytes=" + request.totalBytes() + " limit=" + maxInlineBytes));
    }
  }

  private void checkElements(WorkRequest request, int limit, boolean writable) {
    LimitChecks.checkLength(request, limit, maxMessageBytes);
    if (request.elementCount() == 1) {
      // Apart from the loop, which costs more than the check.
      checkElement(request, 0, writable);
    } else {
      for (int i = 0; i < request.elementCount(); i++) {
        checkElement(request, i, writable);
      }
    }
  }

  private void checkElement(WorkRequest request, int i, boolean writable) {
    if (!(request.region(i) instanceof IbverbsRegion region) || region.domain() != domain) {
      throw new IllegalArgumentException("memory of another protection domain: element=" + i);
    }
    if (writable && !region.isLocallyWritable()) {
      throw new IllegalArgumentException("memory without LOCAL_WRITE: element=" + i);
    }
    if (request.isInline() && !region.isReachable()) {
      throw new IllegalArgumentException("inline data cannot come from a file: element=" + i);
    }
  }

  // Polling, by the owner.

  /** Shows the completion at that address, of its request with that lower half of the number. */
  Shown onCompletion(int low, long completion, CompletionView view) {
    boolean ofSend = (low & RECEIVE_BIT) == 0;
    WorkRing ring = ofSend ? sends : receives;
    long position = ring.find(low & ~RECEIVE_BIT);
    if (position < 0 || isDestroyed()) {
      return Shown.NOT;
    }
    int code = Memory.getInt(completion + IbvWc.STATUS);
    if (code == 0) {
      return ofSend ? showSend(position, view) : showReceive(completion, position, view);
    }
    WorkStatus status = StatusCodes.of(code);
    int vendor = Memory.getInt(completion + IbvWc.VENDOR_ERR);
    if (state() != QueuePairState.ERROR) {
      fail("work failed: status=" + status + " vendorError=" + vendor);
    }
    return showFailure(ring, position, status, vendor, view);
  }

  private Shown showReceive(long completion, long position, CompletionView view) {
    return showReceive(
        position,
        Memory.getInt(completion + IbvWc.OPCODE),
        Memory.getInt(completion + IbvWc.BYTE_LEN),
        Memory.getInt(completion + IbvWc.WC_FLAGS),
        Memory.getInt(completion + IbvWc.IMM_DATA),
        view);
  }

  @Override
  protected boolean flushOne(CompletionQueue queue, long nowNs, CompletionView view) {
    return (sendCompletions == queue && flushOne(sends, nowNs, view))
        || (receiveCompletions == queue && flushOne(receives, nowNs, view));
  }

  // Any thread.

  /** The device will do no more work: ends the connection, and all work is flushed. */
  void fail(String reason) {
    if (markBroken()) {
      LOG.debug("queue pair {} is broken: {}", number(), reason);
      connection.onQueuePairBroken(reason);
    }
  }

  /** As {@link #fail}, told by the connection. */
  boolean markBroken() {
    synchronized (this) {
      if (!setBroken()) {
        return false;
      }
    }
    sendCompletions.onBroken(this);
    if (receiveCompletions != sendCompletions) {
      receiveCompletions.onBroken(this);
    }
    return true;
  }

  /** Has the device give back what it has; it may be in that state already. */
  void breakOnDevice() {
    try (NativeArena one = new NativeArena()) {
      long attributes = one.allocate(IbvQpAttr.SIZE);
      Memory.putInt(attributes + IbvQpAttr.QP_STATE, VerbsLibrary.QP_STATE_ERR);
      device.libraries().verbs().modifyQp(qp, attributes, VerbsLibrary.ATTR_STATE);
    }
  }

  /** The connection has been made: sends may be posted, and peers may do what they may. */
  synchronized void markReady() throws VerbsException {
    if (state() == QueuePairState.INIT) {
      modifyAccess(remoteAccess);
      setReady();
    }
  }

  @Override
  public synchronized void setRemoteAccess(Set<AccessFlag> access) throws VerbsException {
    if (access.contains(AccessFlag.LOCAL_WRITE)) {
      throw new IllegalArgumentException("not an access of peers: access=LOCAL_WRITE");
    }
    checkOpen();
    remoteAccess = Set.copyOf(access);
    if (state() == QueuePairState.READY_TO_SEND) {
      modifyAccess(remoteAccess);
    }
  }

  private void modifyAccess(Set<AccessFlag> access) throws VerbsException {
    try (NativeArena one = new NativeArena()) {
      long attributes = one.allocate(IbvQpAttr.SIZE);
      Memory.putInt(attributes + IbvQpAttr.QP_ACCESS_FLAGS, TransportRules.bits(access));
      int rc = device.libraries().verbs().modifyQp(qp, attributes, VerbsLibrary.ATTR_ACCESS_FLAGS);
      if (rc != 0) {
        throw Libraries.failure("ibv_modify_qp", rc, "access=" + access);
      }
    }
  }

  @Override
  public void close() {
    if (!markDestroyed()) {
      return;
    }
    device.asyncEvents().forget(qp);
    connection.onQueuePairClosed();
    device.queuePairs().remove(this);
    sendCompletions.release(this);
    receiveCompletions.release(this);
    domain.onClosed(this);
    arena.close();
  }

  private synchronized boolean markDestroyed() {
    return setDestroyed();
  }
}
