// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.verbs.soft;

import org.sparkrdma.verbs.engine.CompletionView;

/**
 * An entry of a completion queue. Written by the device thread, then read by the polling thread.
 */
final class Completion {
  final CompletionView view = new CompletionView();

  /** Null when there is nothing to show. */
  SoftQueuePair queuePair;

  boolean ofSend;

  /** Position of its work in the send or receive queue. */
  long position;

  void set(SoftQueuePair owner, boolean send, long at) {
    queuePair = owner;
    ofSend = send;
    position = at;
  }
}
