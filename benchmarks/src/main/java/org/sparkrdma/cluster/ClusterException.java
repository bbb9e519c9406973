// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.cluster;

import java.nio.file.Path;
import java.util.Optional;

/** The cluster cannot start or go on; the message is one sentence for the user. */
public final class ClusterException extends Exception {
  private static final long serialVersionUID = 1L;

  private final transient Path log;

  ClusterException(String sentence) {
    this(sentence, null, null);
  }

  ClusterException(String sentence, Path log) {
    this(sentence, log, null);
  }

  ClusterException(String sentence, Path log, Throwable cause) {
    super(sentence, cause);
    this.log = log;
  }

  /** The log file whose last lines show the cause, if there is one. */
  public Optional<Path> log() {
    return Optional.ofNullable(log);
  }
}
