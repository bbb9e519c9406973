// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.verbs;

/**
 * View of one completion, valid only while {@link CompletionHandler#onCompletion} runs; later each
 * method throws {@link IllegalStateException}.
 *
 * <p>Of a failed completion only {@link #requestId()}, {@link #status()}, {@link #vendorError()},
 * {@link #queuePairNumber()} and {@link #attachment()} are defined, see ibv_poll_cq(3); the other
 * methods throw {@link IllegalStateException}.
 */
public interface WorkCompletion {
  /** {@return the id of the work request} */
  long requestId();

  /** {@return the result} */
  WorkStatus status();

  /** {@return whether {@link #status()} is {@link WorkStatus#SUCCESS}} */
  default boolean succeeded() {
    return status() == WorkStatus.SUCCESS;
  }

  /** {@return the device's own error code; 0 when it has none} */
  int vendorError();

  /** {@return {@link QueuePair#number()} of its queue pair} */
  int queuePairNumber();

  /**
   * {@return {@link org.sparkrdma.verbs.cm.Connection#attachment()} of the connection of its queue
   * pair}
   */
  Object attachment();

  /** {@return the operation} */
  Opcode opcode();

  /** {@return bytes received or read; for a send or write, the length of the request} */
  long byteLength();

  /** {@return whether it has immediate data} */
  boolean hasImmediate();

  /** {@return the immediate data; 0 when there is none} */
  int immediate();
}
