// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.scenarios.faults.engine;

import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import org.sparkrdma.scenarios.faults.plan.Act;
import org.sparkrdma.scenarios.faults.plan.Faults;
import org.sparkrdma.scenarios.faults.plan.Rule;
import org.sparkrdma.scenarios.faults.plan.Step;
import org.sparkrdma.shuffle.wire.Messages;
import org.sparkrdma.verbs.AccessFlag;
import org.sparkrdma.verbs.Opcode;
import org.sparkrdma.verbs.QueuePair;
import org.sparkrdma.verbs.QueuePairState;
import org.sparkrdma.verbs.VerbsException;
import org.sparkrdma.verbs.WorkCompletion;
import org.sparkrdma.verbs.WorkRequest;
import org.sparkrdma.verbs.WorkStatus;

/**
 * Posts, delays or drops requests in order: a stalled request delays all later ones, as on a
 * reliable connection. Tasks post LOCATEs; the rest is confined to the polling thread. Its monitor
 * keeps them apart, and the faults of a LOCATE happen at the next poll.
 */
final class FaultyQueuePair implements QueuePair {
  private static final long RUN_HOLD_MS = 300;

  private final QueuePair real;
  private final FaultyDomain domain;
  private final FaultyCompletionQueue completions;
  private final FaultyConnection connection;
  private final Sinks sinks;
  private final Faults faults;
  private final ArrayDeque<Sent> sent = new ArrayDeque<>();
  private final ArrayDeque<WorkRequest> backlog = new ArrayDeque<>();
  private final Map<Long, MemoryRange> receives = new HashMap<>();
  private boolean stalled;
  private volatile boolean failedSilently;
  private int locatesOpen;
  private int locatesAnswered;
  private int locatesServed;
  private int readsOpen;

  FaultyQueuePair(
      QueuePair real,
      FaultyDomain domain,
      FaultyCompletionQueue completions,
      FaultyConnection connection,
      Sinks sinks,
      Faults faults) {
    this.real = real;
    this.domain = domain;
    this.completions = completions;
    this.connection = connection;
    this.sinks = sinks;
    this.faults = faults;
    faults.addQueuePairs(1);
  }

  @Override
  public int number() {
    return real.number();
  }

  @Override
  public QueuePairState state() {
    return failedSilently ? QueuePairState.ERROR : real.state();
  }

  /** Whether it is in error, and neither completions nor events say so. */
  boolean hasFailedSilently() {
    return failedSilently;
  }

  @Override
  public synchronized int postSend(WorkRequest[] requests, int offset, int count) {
    for (int i = 0; i < count; i++) {
      postSend(requests[offset + i]);
    }
    return count;
  }

  @Override
  public synchronized boolean postSend(WorkRequest request) {
    if (request.elementCount() == 0) {
      // A READ of no bytes, which probes the peer's device.
      sent.add(new Sent(request.id(), null));
      post(request);
      return true;
    }
    MemoryRange local = MemoryRange.of(request);
    boolean read = request.opcode() == Opcode.READ;
    Sent one = new Sent(request.id(), read ? local : null);
    sent.add(one);
    Step step = null;
    if (read) {
      step = Step.READ;
      count(0, 0, 1);
      if (sinks.take(local)) {
        faults.addClash();
      }
    } else {
      int type = Messages.type(domain.bytes(local));
      if (type == Messages.LOCATE) {
        step = Step.LOCATE;
        count(1, 0, 0);
      } else if (type == Messages.LOCATED) {
        count(0, -1, 0);
      }
    }
    Rule rule = stalled || step == null ? null : faults.fire(step);
    if (rule == null) {
      post(request);
    } else {
      one.setRule(rule);
      if (step == Step.LOCATE) {
        stalled = true;
        WorkRequest copy = copyOf(request);
        connection.manager().after(0, () -> fireLater(one, copy));
      } else {
        fire(one, request);
      }
    }
    return true;
  }

  private void post(WorkRequest request) {
    if (stalled) {
      backlog.add(copyOf(request));
    } else if (!real.postSend(request)) {
      throw new IllegalStateException("send queue full");
    }
  }

  private synchronized void fireLater(Sent one, WorkRequest request) {
    if (real.state() != QueuePairState.DESTROYED) {
      stalled = false;
      fire(one, request);
      if (!stalled) {
        resume();
      }
    }
  }

  private void fire(Sent one, WorkRequest request) {
    switch (one.rule().act()) {
      case FLIP_BIT -> post(request);
      case DROP_CONNECTION -> {
        post(request);
        connection.disconnect();
      }
      case LOSE, LAND_LATE -> stalled = true;
      case FAIL_SILENTLY -> {
        stalled = true;
        failedSilently = true;
      }
      case FAIL -> {
        stalled = true;
        WorkStatus status = WorkStatus.valueOf(one.rule().argument());
        completions.inject(
            InjectedCompletion.failed(one.id(), status, number(), connection.attachment()));
        connection.disconnect();
      }
      case HOLD -> hold(request, Long.parseLong(one.rule().argument()));
      case RUN -> {
        Shell.run(one.rule().argument());
        hold(request, RUN_HOLD_MS);
      }
      case OVERRUN -> {
        stalled = true;
        completions.overrun();
        connection.manager().disconnectAll();
      }
      case REMOVE_DEVICE -> {
        stalled = true;
        connection.manager().removeDevice();
      }
      case EXHAUST_HEAP -> throw new OutOfMemoryError("Java heap space");
      default ->
          throw new IllegalArgumentException("act not allowed at this step: rule=" + one.rule());
    }
  }

  private void hold(WorkRequest request, long forMs) {
    stalled = true;
    backlog.addFirst(copyOf(request));
    connection.manager().after(forMs, this::resume);
  }

  private synchronized void resume() {
    stalled = false;
    while (!backlog.isEmpty() && real.state() != QueuePairState.DESTROYED) {
      post(backlog.poll());
    }
  }

  private static WorkRequest copyOf(WorkRequest request) {
    WorkRequest copy = new WorkRequest(1);
    if (request.opcode() == Opcode.READ) {
      copy.read(request.id(), request.remoteAddress(), request.remoteKey());
    } else {
      copy.send(request.id());
    }
    if (request.elementCount() > 0) {
      copy.local(request.region(0), request.offset(0), request.length(0));
    }
    return request.isSignalled() ? copy.signalled() : copy;
  }

  @Override
  public boolean postReceive(WorkRequest request) {
    receives.put(request.id(), MemoryRange.of(request));
    return real.postReceive(request);
  }

  /** Handles a successful completion; false when it must not be delivered now. */
  synchronized boolean deliversSend(WorkCompletion completion) {
    if (completion.opcode() == Opcode.RECEIVE) {
      return deliversReceive(completion);
    }
    Sent done;
    do {
      done = sent.remove();
      if (done.sink() != null) {
        count(0, 0, -1);
        sinks.remove(done.sink());
        corrupt(done);
      }
    } while (done.id() != completion.requestId());
    return true;
  }

  /** The blocks of all answered LOCATEs are being read or were refused. */
  synchronized void clearAnsweredLocates() {
    count(-locatesAnswered, 0, 0);
    locatesAnswered = 0;
  }

  private void corrupt(Sent read) {
    if (read.rule() != null && read.rule().act() == Act.FLIP_BIT) {
      Noise.flipBit(domain.bytes(read.sink()), read.rule().seed());
    }
  }

  private boolean deliversReceive(WorkCompletion completion) {
    ByteBuffer message = domain.bytes(receives.get(completion.requestId()));
    Step step = Step.receiptOf(Messages.type(message));
    if (step == Step.LOCATE_RECEIVED) {
      count(0, 1, 0);
    }
    Rule rule = step == null ? null : faults.fire(step);
    if (step == Step.LOCATED_RECEIVED) {
      locatesAnswered++;
    }
    if (rule == null) {
      return true;
    }
    switch (rule.act()) {
      case GARBLE -> Noise.garble(message, rule);
      case HOLD -> {
        InjectedCompletion later = InjectedCompletion.copyOf(completion);
        connection
            .manager()
            .after(Long.parseLong(rule.argument()), () -> completions.inject(later));
      }
      case LOSE -> {}
      default -> throw new IllegalArgumentException("act not allowed at this step: rule=" + rule);
    }
    return rule.act() == Act.GARBLE;
  }

  private void count(int locates, int served, int reads) {
    locatesOpen += locates;
    locatesServed += served;
    readsOpen += reads;
    faults.addInFlight(locates + served + reads);
  }

  /** Late READs write their sinks now; the queue pair is destroyed next. */
  synchronized void closing() {
    for (Sent one : sent) {
      if (one.rule() != null && one.rule().act() == Act.LAND_LATE) {
        Noise.overwrite(domain.bytes(one.sink()), 0, one.sink().lengthBytes(), one.rule().seed());
      }
    }
    stalled = true;
  }

  /** The queue pair was destroyed. */
  synchronized void closed() {
    completions.remove(this);
    sent.stream().filter(one -> one.sink() != null).forEach(one -> sinks.remove(one.sink()));
    sent.clear();
    backlog.clear();
    faults.addQueuePairs(-1);
    count(-locatesOpen, -locatesServed, -readsOpen);
  }

  @Override
  public void setRemoteAccess(Set<AccessFlag> access) throws VerbsException {
    real.setRemoteAccess(access);
  }

  @Override
  public void close() {
    throw new UnsupportedOperationException("closed by its connection");
  }
}
