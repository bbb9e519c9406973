// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.transport;

import org.sparkrdma.shuffle.settings.TransportSettings;
import org.sparkrdma.shuffle.wire.MalformedMessageException;

/**
 * The credits that a peer has granted: LOCATEs that may be open. The peer has posted a receive for
 * each. Owned by the agent.
 */
final class LocateCredits {
  private final int max;
  private int credits = TransportSettings.CREDITS_WHEN_IDLE;

  /** Whether credits were requested since the last LOCATED: the peer may have none left. */
  private boolean asked;

  /**
   * @param max number of LOCATEs that may ever be open
   */
  LocateCredits(int max) {
    this.max = max;
  }

  /** Whether another LOCATE may be opened. */
  boolean allows(int openLocates) {
    return openLocates < credits;
  }

  /** Whether blocks that wait for a credit should ask for more. */
  boolean shouldAsk(int openLocates) {
    return !allows(openLocates) && !asked && credits < max;
  }

  /** A request asks for more. */
  void onAsked() {
    asked = true;
  }

  /** A LOCATED was received: the peer may have credits again. */
  void onLocated() {
    asked = false;
  }

  /**
   * The peer grants more.
   *
   * @throws MalformedMessageException when these are more than LOCATEs may be open
   */
  void grant(int more) {
    if (more > max - credits) {
      throw new MalformedMessageException("bad RELEASED: credits=" + more + " window=" + credits);
    }
    credits += more;
  }

  /** Whether there are more than an idle connection keeps. */
  boolean hasGranted() {
    return credits > TransportSettings.CREDITS_WHEN_IDLE;
  }

  /** Returns one of those that were granted. */
  void returnOne() {
    credits--;
  }
}
