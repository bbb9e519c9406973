// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.verbs.spi;

import org.sparkrdma.verbs.VerbsException;

/** An engine cannot run here. The message is one sentence with the reason and the remedy. */
public final class EngineUnavailableException extends VerbsException {
  private static final long serialVersionUID = 1L;

  /**
   * The reason in one sentence; not null.
   *
   * @param reason one sentence with the reason and the remedy; not null
   */
  public EngineUnavailableException(String reason) {
    this(reason, null);
  }

  /**
   * The reason in one sentence, not null, and its cause, which may be null.
   *
   * @param reason one sentence with the reason and the remedy; not null
   * @param cause the cause; may be null
   */
  public EngineUnavailableException(String reason, Throwable cause) {
    super("load", NO_ERRNO, reason, cause);
  }
}
