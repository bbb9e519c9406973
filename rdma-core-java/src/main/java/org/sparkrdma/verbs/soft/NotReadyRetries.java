// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.verbs.soft;

/**
 * Number of times that the message at the head of a send queue may still be sent again because the
 * receiver was not ready. Confined to the device thread.
 */
final class NotReadyRetries {
  /** Value for no limit in the InfiniBand specification. */
  private static final int WITHOUT_LIMIT = 7;

  private int max;
  private int left;

  /** The connection is established with this limit. */
  void onEstablished(int maxRetries) {
    max = maxRetries;
    left = maxRetries;
  }

  /** The message is received: the next one starts at 0. */
  void onReceived() {
    left = max;
  }

  /** Uses one; false when none is left. */
  boolean tryUse() {
    if (max == WITHOUT_LIMIT) {
      return true;
    }
    if (left == 0) {
      return false;
    }
    left--;
    return true;
  }
}
