// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.cluster;

import java.nio.file.Path;
import java.util.Optional;

/** A command cannot go on; the message is one sentence for the user. */
public final class LaunchException extends Exception {
  private static final long serialVersionUID = 1L;

  private final transient Path log;

  /** Creates an exception without a log. */
  public LaunchException(String sentence) {
    this(sentence, null);
  }

  /** Creates an exception with the log that shows the cause. */
  public LaunchException(String sentence, Path log) {
    super(sentence);
    this.log = log;
  }

  /** The log file whose last lines show the cause, if there is one. */
  public Optional<Path> log() {
    return Optional.ofNullable(log);
  }
}
