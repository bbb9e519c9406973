// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.verbs;

/**
 * Result of a work request, see ibv_poll_cq(3).
 *
 * <p>Decide by success or failure only. The status for an error of the peer differs between
 * transports: iWARP reports nearly every error as {@link #FLUSH_ERROR}.
 */
public enum WorkStatus {
  /** The operation was executed. */
  SUCCESS,
  /** The message was longer than the receive, or longer than the device supports. */
  LOCAL_LENGTH_ERROR,
  /** An inconsistency in the queue pair. */
  LOCAL_QUEUE_PAIR_ERROR,
  /** Local memory does not allow the operation. */
  LOCAL_PROTECTION_ERROR,
  /** Not executed, because the queue pair went to {@link QueuePairState#ERROR} before. */
  FLUSH_ERROR,
  /** The peer found the request invalid. */
  REMOTE_INVALID_REQUEST,
  /**
   * The peer's memory does not allow it: the key is invalid, of another domain or lacks the access,
   * or the range is outside the region.
   */
  REMOTE_ACCESS_ERROR,
  /** The peer failed to execute it. */
  REMOTE_OPERATION_ERROR,
  /** The peer did not acknowledge it within the retries. */
  RETRY_EXCEEDED,
  /** The peer had no receive posted within the retries. */
  RECEIVER_NOT_READY_RETRY_EXCEEDED,
  /** The peer or the connection ended. */
  REMOTE_ABORTED,
  /** Any other error; see the vendor error. */
  GENERAL_ERROR
}
