// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.verbs.soft;

import org.sparkrdma.verbs.soft.shared.QueuePairNumbers;
import org.sparkrdma.verbs.soft.shared.SharedTable;

/**
 * A queue pair's entry in the shared table, by which peers may access memory. It exists from the
 * connection's set-up until the queue pair fails or is closed. Published and retired by the device
 * thread; the owner changes the access.
 */
final class QueuePairEntry {
  private final SharedTable table;
  private final int number;
  private final int index;
  private final int domainId;
  private int access;
  private boolean published;

  /**
   * @param access what peers may do, as AccessBits
   */
  QueuePairEntry(SharedTable table, int number, int domainId, int access) {
    this.table = table;
    this.number = number;
    this.domainId = domainId;
    this.access = access;
    index = QueuePairNumbers.indexOf(number);
  }

  synchronized void publish() {
    published = true;
    table.publishQueuePair(index, number, domainId, access);
  }

  synchronized void retire() {
    if (published) {
      published = false;
      table.retireQueuePair(index);
    }
  }

  /** Returns when no peer uses the access of before any more. */
  void setAccess(int newAccess) {
    synchronized (this) {
      access = newAccess;
      table.setQueuePairAccess(index, newAccess);
    }
    awaitReaders();
  }

  /** Returns when no operation of a peer that began before is in progress. */
  void awaitReaders() {
    table.awaitQueuePairReaders(index);
  }
}
