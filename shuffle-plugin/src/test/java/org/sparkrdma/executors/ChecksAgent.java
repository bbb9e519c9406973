// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.executors;

import java.net.URISyntaxException;
import java.nio.file.Path;

/**
 * An agent that does nothing: {@code -javaagent} adds the jar with {@link ExecutorChecks} to the
 * class path of a JVM that a script starts with a class path of its own.
 */
public final class ChecksAgent {
  private ChecksAgent() {}

  /** Called by the JVM. */
  public static void premain(String argument) {}

  /**
   * Options of all JVMs of a run, for {@code JDK_JAVA_OPTIONS}: assertions and leak records of this
   * project, and the checks of executors. The variable {@link LeakLog#VARIABLE} names the folder of
   * their results.
   */
  public static String options() {
    try {
      Path jar =
          Path.of(ChecksAgent.class.getProtectionDomain().getCodeSource().getLocation().toURI());
      return "-ea:org.sparkrdma... -Dsparkrdma.leaks=true \"-javaagent:%s\" -Dspark.plugins=%s"
          .formatted(jar, ExecutorChecks.class.getName());
    } catch (URISyntaxException e) {
      throw new IllegalStateException(e);
    }
  }
}
