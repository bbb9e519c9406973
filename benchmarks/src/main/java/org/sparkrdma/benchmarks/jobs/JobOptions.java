// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.benchmarks.jobs;

import java.util.ArrayList;
import java.util.List;
import org.sparkrdma.launch.NumberLimits;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** Options of a job that {@code ./bench} and {@code spark-submit} share. */
public final class JobOptions {
  @Parameters(paramLabel = "JOB")
  private ShuffleJob job;

  @Option(names = "--shapes", split = ",", paramLabel = "SHAPE")
  private List<String> shapes = new ArrayList<>();

  @Option(names = "--modes", split = ",", defaultValue = "vanilla,rdma,fallback")
  private List<ShuffleMode> modes;

  @Option(names = "--rounds", paramLabel = "N", defaultValue = "3")
  private int rounds;

  @Option(names = "--warm-ups", paramLabel = "N", defaultValue = "1")
  private int warmUps;

  @Spec(Spec.Target.MIXEE)
  private CommandSpec command;

  /**
   * The plan of these options.
   *
   * @param data directory for input and output; null if the user gave none
   * @throws ParameterException in one sentence, when an option is wrong
   */
  public BenchmarkPlan plan(String data) {
    new NumberLimits(command).checkRounds(rounds, warmUps);
    List<String> wanted = shapes.isEmpty() ? job.shapes() : shapes;
    try {
      wanted.forEach(job::workload);
    } catch (IllegalArgumentException e) {
      throw new ParameterException(command.commandLine(), e.getMessage(), e);
    }
    if (job.readsFiles() && data == null) {
      throw new ParameterException(
          command.commandLine(),
          job + " needs --data, a directory that every executor can read and write");
    }
    return new BenchmarkPlan(
        job, wanted, modes.stream().distinct().toList(), rounds, warmUps, data == null ? "" : data);
  }
}
