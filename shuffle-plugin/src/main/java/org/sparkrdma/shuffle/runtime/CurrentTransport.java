// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.runtime;

import org.sparkrdma.shuffle.fetch.BlockTransport;
import org.sparkrdma.shuffle.fetch.FetchRequest;

/**
 * The transport that was started last: readers keep this one while the device is lost and comes
 * back. A closed transport answers every block itself; before the first one is started this does.
 * Safe for any thread.
 */
final class CurrentTransport implements BlockTransport {
  private volatile BlockTransport current = BlockTransport.UNAVAILABLE;

  /** New requests go to this one. */
  void set(BlockTransport started) {
    current = started;
  }

  @Override
  public void fetch(FetchRequest request) {
    current.fetch(request);
  }
}
