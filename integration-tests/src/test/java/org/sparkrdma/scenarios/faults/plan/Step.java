// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.scenarios.faults.plan;

import org.sparkrdma.shuffle.wire.Messages;

/** A step of a block's way at which a fault can fire. */
public enum Step {
  /** The reader has resolved its peer's address. */
  RESOLVED,
  /** The reader requests a connection. */
  CONNECT,
  /** The server receives a connection request. */
  CONNECT_REQUEST,
  /** The server accepts the connection. */
  ACCEPT,
  /** The server receives a REQUEST. */
  REQUEST_RECEIVED,
  /** The reader receives an ANSWER. */
  ANSWER_RECEIVED,
  /** The server receives a CONFIRM. */
  CONFIRM_RECEIVED,
  /** The reader posts a LOCATE. */
  LOCATE,
  /** The server receives a LOCATE. */
  LOCATE_RECEIVED,
  /** The reader receives a LOCATED. */
  LOCATED_RECEIVED,
  /** The server receives a RELEASE. */
  RELEASE_RECEIVED,
  /** The reader receives a RELEASED. */
  RELEASED_RECEIVED,
  /** The reader posts a READ. */
  READ,
  /** Buffers of control messages are registered. */
  REGISTER_CONTROL,
  /** Receive memory is registered. */
  REGISTER_SINKS,
  /** The server registers a window of a map output. */
  REGISTER_FILE;

  /** Whether blocks of the peer cause it, perhaps none of this process. */
  boolean needsNoBlockHere() {
    return switch (this) {
      case CONNECT_REQUEST,
          ACCEPT,
          REQUEST_RECEIVED,
          ANSWER_RECEIVED,
          CONFIRM_RECEIVED,
          RELEASE_RECEIVED,
          RELEASED_RECEIVED ->
          true;
      default -> false;
    };
  }

  /** The receipt of a message of this type; null when no fault has that step. */
  public static Step receiptOf(int type) {
    return switch (type) {
      case Messages.REQUEST -> REQUEST_RECEIVED;
      case Messages.REPLY -> ANSWER_RECEIVED;
      case Messages.CONFIRM -> CONFIRM_RECEIVED;
      case Messages.LOCATE -> LOCATE_RECEIVED;
      case Messages.LOCATED -> LOCATED_RECEIVED;
      case Messages.RELEASE -> RELEASE_RECEIVED;
      case Messages.RELEASED -> RELEASED_RECEIVED;
      default -> null;
    };
  }
}
