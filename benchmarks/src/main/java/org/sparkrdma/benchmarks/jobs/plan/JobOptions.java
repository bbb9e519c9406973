// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.benchmarks.jobs.plan;

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
  // A script prints its own help; spark-submit's class prints these descriptions.
  @Parameters(
      paramLabel = "JOB",
      completionCandidates = ShuffleJob.Forms.class,
      description = "One of these jobs, with its shape and default: ${COMPLETION-CANDIDATES}.")
  private String job;

  @Option(
      names = "--shapes",
      split = ",",
      paramLabel = "SHAPE",
      description = "Shapes of the job, run one after the other; by default those of the job.")
  private List<String> shapes = new ArrayList<>();

  @Option(
      names = "--modes",
      split = ",",
      paramLabel = "SHUFFLE",
      defaultValue = "vanilla,rdma,fallback",
      converter = ShuffleMode.Converter.class,
      description =
          "Shuffles to compare, by default ${DEFAULT-VALUE}; ratios are to the first. vanilla: Spark's"
              + " own with your settings; control: the same once more, so its ratio is chance; tuned:"
              + " Spark's own with more connections, threads and bytes in flight; service: Spark's own"
              + " with its external shuffle service; rdma: the plug-in with your settings; fallback: the"
              + " plug-in without RDMA.")
  private List<ShuffleMode> modes;

  @Option(
      names = "--rounds",
      paramLabel = "N",
      defaultValue = "3",
      description = "Measured runs under each shuffle, 1 to 1000, by default ${DEFAULT-VALUE}.")
  private int rounds;

  @Option(
      names = "--warm-ups",
      paramLabel = "N",
      defaultValue = "1",
      description =
          "Runs before each measured one in the same executors, 0 to 1000, by default"
              + " ${DEFAULT-VALUE}.")
  private int warmUps;

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
                () -> misuse("no job '%s'; the jobs are %s".formatted(job, ShuffleJob.names())));
    new NumberLimits(command).checkRounds(rounds, warmUps);
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
        data == null ? "" : data,
        commandLine);
  }

  private ParameterException misuse(String sentence) {
    return new ParameterException(command.commandLine(), sentence);
  }
}
