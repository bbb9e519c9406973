// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.tools;

import java.io.PrintStream;
import java.lang.reflect.InvocationTargetException;
import java.util.concurrent.Callable;

/**
 * Main class of the plug-in's jar, for {@code java -jar} and {@code spark-submit --class}. Uses
 * classes of the JDK only, because it chooses the class loader of all others.
 */
public final class Main {
  private static final String COMMANDS = "org.sparkrdma.shuffle.tools.Commands";

  /** Same as {@code Commands.FAILED}, which this class must not load. */
  private static final int FAILED = 3;

  private Main() {}

  /** Runs a command and ends the JVM with its exit code; 3 after any failure of the command. */
  public static void main(String[] arguments) {
    System.exit(
        run(() -> Class.forName(COMMANDS, true, ToolLoader.create()), arguments, System.err));
  }

  /**
   * @param loading loads the class of the commands
   */
  static int run(Callable<Class<?>> loading, String[] arguments, PrintStream errors) {
    try {
      Class<?> commands = loading.call();
      return (int) commands.getMethod("run", String[].class).invoke(null, (Object) arguments);
    } catch (Throwable e) {
      // Also an Error, as for a class that this jar lacks. The JVM's own exit code, 1, would mean
      // that RDMA will not be used.
      Throwable cause = e instanceof InvocationTargetException ? e.getCause() : e;
      errors.println("The command failed. Please report this:");
      cause.printStackTrace(errors);
      return FAILED;
    }
  }
}
