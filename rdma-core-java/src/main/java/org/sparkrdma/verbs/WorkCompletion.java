// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.verbs;

/**
 * View of one completion, valid only while {@link CompletionHandler#onCompletion} runs.
 *
 * <p>Of a failed completion only {@link #requestId()}, {@link #status()}, {@link #vendorError()}
 * and {@link #queuePairNumber()} are defined, see ibv_poll_cq(3); the other methods throw {@link
 * IllegalStateException}.
 */
public interface WorkCompletion {
  /** The id of the work request. */
  long requestId();

  /** The result. */
  WorkStatus status();

  /** Whether {@link #status()} is {@link WorkStatus#SUCCESS}. */
  default boolean succeeded() {
    return status() == WorkStatus.SUCCESS;
  }

  /** The device's own error code; 0 when it has none. */
  int vendorError();

  /** {@link QueuePair#number()} of its queue pair. */
  int queuePairNumber();

  /** The operation. */
  Opcode opcode();

  /** Bytes received or read. */
  long byteLength();

  /** Whether it has immediate data. */
  boolean hasImmediate();

  /** The immediate data; 0 when there is none. */
  int immediate();
}
