// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.scenarios.faults.plan;

import org.sparkrdma.shuffle.wire.MessageType;

/** Where on a block's way something can go wrong. */
public enum Step {
  /** The reader has resolved its peer's address. */
  RESOLVED,
  /** The reader asks for a connection. */
  CONNECT,
  /** The server hears that somebody wants a connection. */
  REQUEST_CAME,
  /** The server takes the connection. */
  ACCEPT,
  /** The server receives a CONFIRM. */
  CONFIRM_CAME,
  /** The reader posts a LOCATE. */
  LOCATE,
  /** The server receives a LOCATE. */
  LOCATE_CAME,
  /** The reader receives a LOCATED. */
  LOCATED_CAME,
  /** The server receives a RELEASE. */
  RELEASE_CAME,
  /** The reader receives a RELEASED. */
  RELEASED_CAME,
  /** The reader posts a READ. */
  READ,
  /** Buffers of control messages are registered. */
  REGISTER_CONTROL,
  /** Receive memory is registered. */
  REGISTER_SINKS,
  /** The server registers a window of a map output. */
  REGISTER_FILE;

  /** The arrival of a message of this type. */
  public static Step arrivalOf(MessageType type) {
    return switch (type) {
      case LOCATE -> LOCATE_CAME;
      case LOCATED -> LOCATED_CAME;
      case RELEASE -> RELEASE_CAME;
      case RELEASED -> RELEASED_CAME;
      case CONFIRM -> CONFIRM_CAME;
    };
  }
}
