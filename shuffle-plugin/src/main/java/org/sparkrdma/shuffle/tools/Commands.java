// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.tools;

import java.io.PrintWriter;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.Callable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.IVersionProvider;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** All commands: parses the arguments, runs one and returns its exit code. */
@Command(
    name = "java -jar spark-rdma-shuffle.jar",
    description = "Reports whether RDMA will be used for Spark's shuffle on this machine, and why.",
    subcommands = {
      DoctorCommand.class,
      DevicesCommand.class,
      PerfCommand.class,
      EstimateCommand.class
    },
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

  /** Version of the JSON that commands print. */
  static final int SCHEMA = 1;

  /** Advice that follows a reason against RDMA on this host. */
  static final String RUN_DOCTOR = "; run here: java -jar spark-rdma-shuffle.jar doctor";

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
    int code =
        new CommandLine(new Commands())
            .setOut(output)
            .setErr(errors)
            .setParameterExceptionHandler((wrong, given) -> misuse(errors, wrong))
            .setExecutionExceptionHandler(
                (failure, command, parsed) -> {
                  errors.println("The command failed. Please report this:");
                  failure.printStackTrace(errors);
                  return FAILED;
                })
            .execute(arguments);
    if (output.checkError()) {
      errors.println(
          "The output is not complete, because it could not be written: the disk is full, or its"
              + " reader or the stream is closed");
      return WRONG_USAGE;
    }
    return code;
  }

  private static int misuse(PrintWriter errors, ParameterException wrong) {
    String command = wrong.getCommandLine().getCommandSpec().qualifiedName();
    errors.println(wrong.getMessage() + " (see " + command + " --help)");
    return WRONG_USAGE;
  }

  /** The error of an option or argument that is not allowed. */
  static ParameterException wrongValue(CommandSpec spec, String given, String allowed) {
    return new ParameterException(
        spec.commandLine(), "Wrong value: " + given + " allowed=" + allowed);
  }

  /** Requires a number that an option gives. */
  static int number(CommandSpec spec, String option, int value, int min, int max) {
    if (value < min || value > max) {
      throw wrongValue(spec, option + " " + value, "a whole number from " + min + " to " + max);
    }
    return value;
  }

  @Override
  public Integer call() {
    throw new ParameterException(
        spec.commandLine(), "Missing command: doctor, devices, perf or estimate");
  }
}
