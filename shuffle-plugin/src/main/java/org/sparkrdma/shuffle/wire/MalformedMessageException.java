// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.wire;

/** A peer's message is not what the protocol allows; its connection is to be ended. */
public final class MalformedMessageException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  /** The message names the error in lower case with {@code name=value}. */
  public MalformedMessageException(String message) {
    super(message);
  }
}
