// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.benchmarks.jobs.plan;

import java.util.ArrayList;
import java.util.List;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** Options of a job that {@code ./bench} and {@code spark-submit} share. */
public final class JobOptions {
  private static final int MAX_CONCURRENT = 16;

  @Parameters(paramLabel = "JOB", description = "The job.")
  private String job;

  @Option(names = "--shapes", split = ",", paramLabel = "SHAPE")
  private List<String> shapes = new ArrayList<>();

  @Option(
      names = "--modes",
      split = ",",
      defaultValue = "vanilla,rdma,fallback",
      converter = ShuffleMode.Converter.class)
  private List<ShuffleMode> modes;

  @Option(names = "--rounds", defaultValue = "3")
  private int rounds;

  @Option(names = "--warm-ups", defaultValue = "1")
  private int warmUps;

  @Option(names = "--concurrent", defaultValue = "1")
  private int concurrent;

  @Spec(Spec.Target.MIXEE)
  private CommandSpec command;

  /**
   * The plan of these options.
   *
   * @param data directory for input and output; null if the user gave none
   * @param commandLine for the report
   * @throws ParameterException in one sentence, when an option is wrong
   */
  public BenchmarkPlan plan(String data, String commandLine) {
    ShuffleJob known =
        ShuffleJob.named(job)
            .orElseThrow(
                () ->
                    misuse(
                        "no job '%s'; the jobs are %s"
                            .formatted(job, List.of(ShuffleJob.values()))));
    if (rounds < 1 || warmUps < 0) {
      throw misuse("--rounds must be at least 1, --warm-ups at least 0");
    }
    if (concurrent < 1 || concurrent > MAX_CONCURRENT) {
      throw misuse("--concurrent must be from 1 to " + MAX_CONCURRENT);
    }
    if (concurrent > 1 && known == ShuffleJob.TERASORT) {
      throw misuse("--concurrent: terasort writes one output directory, so it runs alone");
    }
    List<String> wanted = shapes.isEmpty() ? known.shapes() : shapes;
    try {
      wanted.forEach(known::workload);
    } catch (IllegalArgumentException e) {
      throw new ParameterException(command.commandLine(), e.getMessage(), e);
    }
    if (known.readsFiles() && data == null) {
      throw misuse(known + " needs --data, a directory that every executor can read and write");
    }
    return new BenchmarkPlan(
        known,
        wanted,
        modes.stream().distinct().toList(),
        rounds,
        warmUps,
        concurrent,
        data == null ? "" : data,
        commandLine);
  }

  private ParameterException misuse(String sentence) {
    return new ParameterException(command.commandLine(), sentence);
  }
}
