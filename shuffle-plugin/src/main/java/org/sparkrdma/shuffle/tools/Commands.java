// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.tools;

import java.io.PrintWriter;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.concurrent.Callable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.IVersionProvider;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;
import picocli.CommandLine.UnmatchedArgumentException;

/** All commands: parses the arguments, runs one and returns its exit code. */
@Command(
    name = "java -jar shuffle-plugin.jar",
    description = "Reports whether RDMA will be used for Spark's shuffle on this machine, and why.",
    subcommands = {DoctorCommand.class, DevicesCommand.class, PerfCommand.class},
    mixinStandardHelpOptions = true,
    versionProvider = Commands.Version.class,
    footer = {
      "",
      "Exit codes: 0 RDMA will be used, 1 RDMA will not be used, 2 wrong usage or output that cannot be written, 3 the command failed.",
      "With Spark's settings: spark-submit --class org.sparkrdma.shuffle.tools.Main JAR COMMAND"
    })
public final class Commands implements Callable<Integer> {
  static final int USABLE = 0;
  static final int NOT_USABLE = 1;
  static final int WRONG_USAGE = 2;
  static final int FAILED = 3;

  /** Version in the jar's manifest. */
  static final class Version implements IVersionProvider {
    @Override
    public String[] getVersion() {
      String version = Commands.class.getPackage().getImplementationVersion();
      return new String[] {version == null ? "not packaged" : version};
    }
  }

  @Spec private CommandSpec spec;

  /**
   * Runs a command on the standard streams.
   *
   * @return the exit code
   */
  public static int run(String[] arguments) {
    return run(
        new PrintWriter(System.out, true, StandardCharsets.UTF_8),
        new PrintWriter(System.err, true, StandardCharsets.UTF_8),
        arguments);
  }

  static int run(PrintWriter output, PrintWriter errors, String... arguments) {
    CommandLine line = new CommandLine(new Commands());
    int code = execute(line, output, errors, arguments);
    if (output.checkError()) {
      errors.println(
          "The output is not complete, because it could not be written: the disk is full, or its"
              + " reader or the stream is closed");
      return WRONG_USAGE;
    }
    return code;
  }

  private static int execute(
      CommandLine line, PrintWriter output, PrintWriter errors, String... arguments) {
    return line.setOut(output)
        .setErr(errors)
        .setParameterExceptionHandler((wrong, given) -> misuse(errors, wrong))
        .setExecutionExceptionHandler(
            (failure, command, parsed) -> {
              errors.println("The command failed. Please report this:");
              failure.printStackTrace(errors);
              return FAILED;
            })
        .execute(arguments);
  }

  /** The error of an option or argument that is not allowed. */
  static ParameterException wrongValue(CommandSpec spec, String given, String allowed) {
    return new ParameterException(
        spec.commandLine(), "Wrong value: " + given + " allowed=" + allowed);
  }

  /**
   * The number that an option gives.
   *
   * @param option its name
   * @param text its value
   * @param allowed the numbers from min to max, in words
   */
  static int number(
      CommandSpec spec, String option, String text, int min, int max, String allowed) {
    if (text.matches("[0-9]{1,10}")) {
      long number = Long.parseLong(text);
      if (number >= min && number <= max) {
        return (int) number;
      }
    }
    throw wrongValue(spec, option + " " + text, allowed);
  }

  /** Same as {@link #number}, for a whole number without an upper limit of its own. */
  static int numberFromOne(CommandSpec spec, String option, String text) {
    return number(
        spec, option, text, 1, Integer.MAX_VALUE, "a whole number from 1 to " + Integer.MAX_VALUE);
  }

  private static int misuse(PrintWriter errors, ParameterException wrong) {
    CommandSpec command = wrong.getCommandLine().getCommandSpec();
    String message =
        wrong instanceof UnmatchedArgumentException unmatched
                && !unmatched.isUnknownOption()
                && !command.subcommands().isEmpty()
            ? unknownCommand(unmatched, command)
            : wrong.getMessage();
    errors.println(message + " (see " + command.qualifiedName() + " --help)");
    return WRONG_USAGE;
  }

  private static String unknownCommand(UnmatchedArgumentException wrong, CommandSpec parent) {
    String command = wrong.getUnmatched().get(0);
    List<String> nearest = command.equals("help") ? List.of("--help") : wrong.getSuggestions();
    return "Unknown command: "
        + command
        + (nearest.isEmpty() ? "" : " nearest=" + nearest.get(0))
        + " allowed="
        + String.join(", ", parent.subcommands().keySet());
  }

  @Override
  public Integer call() {
    throw new ParameterException(spec.commandLine(), "Missing command: doctor, devices or perf");
  }
}
