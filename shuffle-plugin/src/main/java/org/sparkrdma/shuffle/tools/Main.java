// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.tools;

import java.io.IOException;

/**
 * Main class of the plug-in's jar, for {@code java -jar} and {@code spark-submit --class}. Uses
 * classes of the JDK only, because it chooses the class loader of all others.
 */
public final class Main {
  private static final String COMMANDS = "org.sparkrdma.shuffle.tools.Commands";

  private Main() {}

  /**
   * Runs a command and ends the JVM with its exit code.
   *
   * @throws IOException when this jar cannot be read
   * @throws ReflectiveOperationException when a class is missing in this jar
   */
  public static void main(String[] arguments) throws IOException, ReflectiveOperationException {
    Class<?> commands = Class.forName(COMMANDS, true, ToolLoader.create());
    System.exit((int) commands.getMethod("run", String[].class).invoke(null, (Object) arguments));
  }
}
