// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.tools;

import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** Measures READ beside TCP between two hosts. */
@Command(
    name = "perf",
    description =
        "Measures RDMA READ through this library beside TCP, between a host with perf server and one"
            + " with perf client.",
    subcommands = {PerfServerCommand.class, PerfClientCommand.class},
    mixinStandardHelpOptions = true,
    versionProvider = Commands.Version.class)
final class PerfCommand implements Callable<Integer> {
  static final int DEFAULT_PORT = 7475;

  @Spec private CommandSpec spec;

  @Override
  public Integer call() {
    throw new ParameterException(spec.commandLine(), "Missing command: server or client");
  }
}
