// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.verbs.soft.wire;

/** Attachment of a selection key: runs with the lock of the device when the channel is ready. */
@FunctionalInterface
public interface SelectionHandler {
  /** The channel is ready for at least one of the operations it waits for. */
  void onSelected();
}
