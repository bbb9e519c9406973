// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.launch;

import java.util.Arrays;
import org.sparkrdma.cluster.LaunchException;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.UnmatchedArgumentException;

/** The main class of all scripts, and the way in which all commands report errors. */
public final class Launcher {
  private Launcher() {}

  /** Runs the command whose class the first argument names. */
  public static void main(String[] arguments) throws ClassNotFoundException {
    CommandLine command = commandLine(Class.forName(arguments[0]));
    System.exit(command.execute(Arrays.copyOfRange(arguments, 1, arguments.length)));
  }

  /**
   * The command line of a script's command. Each error is one sentence that begins with the name of
   * the command; its synopsis is the command that prints its help.
   */
  public static CommandLine commandLine(Class<?> command) {
    Command script = command.getAnnotation(Command.class);
    return commandLine(script.name(), script.customSynopsis()[0], command);
  }

  /**
   * The same of any command.
   *
   * @param name name at the start of its messages
   * @param help command that prints its help
   * @param command an object or a class
   */
  public static CommandLine commandLine(String name, String help, Object command) {
    return new CommandLine(command)
        .registerConverter(DataSize.class, DataSize::parse)
        .setCaseInsensitiveEnumValuesAllowed(true)
        .setParameterExceptionHandler(
            (problem, arguments) -> {
              printError(name, sentence(problem) + " (see " + help + ")");
              return problem.getCommandLine().getCommandSpec().exitCodeOnInvalidInput();
            })
        .setExecutionExceptionHandler(
            (failure, line, parsed) -> {
              if (failure instanceof MisuseException) {
                return line.getParameterExceptionHandler()
                    .handleParseException(
                        new ParameterException(line, failure.getMessage()), new String[0]);
              }
              printError(
                  name,
                  failure instanceof LaunchException
                      ? failure.getMessage()
                      : "unexpected failure: " + failure);
              return line.getCommandSpec().exitCodeOnExecutionException();
            });
  }

  /** Removes the index of an unmatched argument, which counts arguments of the script too. */
  private static String sentence(ParameterException problem) {
    return problem instanceof UnmatchedArgumentException unmatched && !unmatched.isUnknownOption()
        ? "Unmatched argument: '%s'".formatted(unmatched.getUnmatched().get(0))
        : problem.getMessage();
  }

  static void printError(String name, String sentence) {
    System.err.println(name + ": " + sentence);
  }
}
