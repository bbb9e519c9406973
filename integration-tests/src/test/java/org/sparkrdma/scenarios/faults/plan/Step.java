// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.scenarios.faults.plan;

import org.sparkrdma.shuffle.wire.MessageType;

/** A step of a block's way at which a fault can fire. */
public enum Step {
  /** The reader has resolved its peer's address. */
  RESOLVED,
  /** The reader requests a connection. */
  CONNECT,
  /** The server receives a connection request. */
  REQUEST_RECEIVED,
  /** The server accepts the connection. */
  ACCEPT,
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
  /** The server receives a returned credit. */
  RETURN_RECEIVED,
  /** The reader posts a READ. */
  READ,
  /** Buffers of control messages are registered. */
  REGISTER_CONTROL,
  /** Receive memory is registered. */
  REGISTER_SINKS,
  /** The server registers a window of a map output. */
  REGISTER_FILE;

  /** The receipt of a message of this type. */
  public static Step receiptOf(MessageType type) {
    return switch (type) {
      case LOCATE -> LOCATE_RECEIVED;
      case LOCATED -> LOCATED_RECEIVED;
      case RELEASE -> RELEASE_RECEIVED;
      case RELEASED -> RELEASED_RECEIVED;
      case CONFIRM -> CONFIRM_RECEIVED;
      case RETURN -> RETURN_RECEIVED;
      case HELLO -> throw new IllegalStateException("the loopback engine has private data");
    };
  }
}
