// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.verbs.engine;

import java.util.ArrayDeque;
import java.util.Queue;
import java.util.function.BooleanSupplier;
import org.sparkrdma.verbs.cm.Connection;

/**
 * The identifier of an {@link EngineConnection}: its {@link ConnectionPhase}, and its destruction
 * after that of the queue pair that was created on it, by any thread.
 *
 * <p>Some kernels wait for the outcome of a request or a reply in each call that ends the
 * connection. The owner does not wait: such calls are made when there is an outcome, or when the
 * connection manager closes. The lock guards the phase and the identifier.
 */
abstract class IdentifierLife implements Connection {
  private volatile ConnectionPhase phase;

  /** Whether calls that end the identifier would wait for the outcome; guarded by this. */
  protected boolean awaitsOutcome;

  /** Destructions that are left, until the outcome if it is awaited; guarded by this. */
  private final Queue<Runnable> destructions = new ArrayDeque<>();

  IdentifierLife(ConnectionPhase first) {
    this.phase = first;
  }

  final ConnectionPhase phase() {
    return phase;
  }

  final boolean isClosed() {
    return isIn(ConnectionPhase.CLOSED);
  }

  protected final boolean isIn(ConnectionPhase expected) {
    return phase == expected;
  }

  /** Moves to a phase, unless the connection is closed; false when it is. */
  final synchronized boolean moveTo(ConnectionPhase next) {
    if (phase == ConnectionPhase.CLOSED) {
      return false;
    }
    phase = next;
    return true;
  }

  /** Destroys something, perhaps later; under the lock. */
  final void destroy(Runnable destruction) {
    destructions.add(destruction);
    destroyWhenPossible();
  }

  /** Makes the calls that are left, unless they must await the outcome. Under the lock. */
  protected final void destroyWhenPossible() {
    if (!destructions.isEmpty() && (!awaitsOutcome || mayNotWait())) {
      awaitCalls();
      for (var next = destructions.poll(); next != null; next = destructions.poll()) {
        next.run();
      }
    }
  }

  /** Waits for calls of other threads that use the identifier; may release the lock meanwhile. */
  protected void awaitCalls() {}

  /** Waits for {@code notifyAll}, also after an interrupt, which is restored. Under the lock. */
  protected final void awaitWhile(BooleanSupplier condition) {
    boolean interrupted = false;
    while (condition.getAsBoolean()) {
      try {
        wait();
      } catch (InterruptedException e) {
        interrupted = true;
      }
    }
    if (interrupted) {
      Thread.currentThread().interrupt();
    }
  }

  final synchronized void closeIdentifier() {
    if (moveTo(ConnectionPhase.CLOSED)) {
      onClosed();
      destructions.add(this::destroyAndForgetIdentifier);
    }
    destroyWhenPossible();
  }

  private void destroyAndForgetIdentifier() {
    try {
      destroyIdentifier();
    } finally {
      forget();
    }
  }

  /** Runs a destruction, when the engine's library allows it; returns when it has run. */
  protected void runDestruction(Runnable destruction) {
    destruction.run();
  }

  /** Whether the connection manager closes, so that no outcome is awaited any more. */
  abstract boolean mayNotWait();

  /** It is closed: no attempt goes on. */
  abstract void onClosed();

  /** The identifier is destroyed. */
  abstract void forget();

  /** See rdma_destroy_qp(3); called once, under the lock. */
  protected abstract void destroyQueuePair();

  /** See rdma_destroy_id(3); called once, under the lock, without a queue pair. */
  protected abstract void destroyIdentifier();
}
