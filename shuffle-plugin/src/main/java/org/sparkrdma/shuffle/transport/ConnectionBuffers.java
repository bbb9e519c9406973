// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.transport;

import java.util.ArrayList;
import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.function.Consumer;

/**
 * The buffers of {@link ControlBuffers} that one connection uses: each is released once, at the
 * latest when the connection is closed. Owned by the agent.
 */
final class ConnectionBuffers {
  private final ControlBuffers shared;
  private final Set<ControlBuffer> held = Collections.newSetFromMap(new IdentityHashMap<>());
  private boolean usesReleaseReserve;
  private boolean closed;

  ConnectionBuffers(ControlBuffers shared) {
    this.shared = shared;
  }

  /** Takes a buffer for a receive or a request; empty when there is no memory now. */
  Optional<ControlBuffer> tryTake() {
    Optional<ControlBuffer> taken = shared.tryTake();
    taken.ifPresent(held::add);
    return taken;
  }

  /** Takes buffers of the reserve until {@link #endRelease}; empty when others use them. */
  List<ControlBuffer> tryTakeForRelease(int count) {
    List<ControlBuffer> taken = shared.tryTakeForRelease(count);
    usesReleaseReserve |= !taken.isEmpty();
    held.addAll(taken);
    return taken;
  }

  /** Others may use the reserve of {@link #tryTakeForRelease}. */
  void endRelease() {
    if (usesReleaseReserve) {
      usesReleaseReserve = false;
      shared.endRelease();
    }
  }

  /** Takes a buffer for one more receive; empty when control buffers have their share. */
  Optional<ControlBuffer> tryTakeToGrow() {
    Optional<ControlBuffer> taken = shared.tryTakeToGrow();
    taken.ifPresent(held::add);
    return taken;
  }

  /**
   * Takes a buffer for an answer and passes it on, at once or later; not after {@link #close}.
   *
   * @param overdueNs see {@link ControlBuffers#takeForAnswer}
   */
  void takeForAnswer(Consumer<ControlBuffer> use, long overdueNs) {
    shared.takeForAnswer(buffer -> usedWhileOpen(buffer, use), overdueNs);
  }

  /** Same as {@link #takeForAnswer}, for an answer that is sent at once. */
  void takeForShortAnswer(Consumer<ControlBuffer> use) {
    shared.takeForShortAnswer(buffer -> usedWhileOpen(buffer, use));
  }

  private void usedWhileOpen(ControlBuffer buffer, Consumer<ControlBuffer> use) {
    if (closed) {
      shared.release(buffer);
    } else {
      held.add(buffer);
      use.accept(buffer);
    }
  }

  /** Releases a buffer that the connection holds. */
  void release(ControlBuffer buffer) {
    if (!held.remove(buffer)) {
      throw new IllegalStateException("control buffer released that is not held");
    }
    shared.release(buffer);
  }

  /** Number of buffers held. */
  int count() {
    return held.size();
  }

  /** Gives all buffers back; the queue pair must be destroyed. */
  void close() {
    closed = true;
    var left = new ArrayList<>(held);
    held.clear();
    endRelease();
    left.forEach(shared::release);
  }
}
