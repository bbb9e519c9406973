// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.benchmarks.jobs;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.regex.Pattern;
import org.sparkrdma.launch.LaunchOptions;
import org.sparkrdma.launch.MeasuredApplication;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/**
 * Jobs, shuffles and number of rounds of one benchmark.
 *
 * @param shapes shapes of the job, run one after the other
 * @param modes shuffles to compare; ratios are to the first
 * @param rounds measured runs under each shuffle
 * @param warmUps runs before each measured one, in the same executors
 * @param repeats runs of the job, one after the other, whose sums are one measured run
 * @param data directory for input and output, as Hadoop names it; empty where the job needs none
 * @param freezes whether one executor is stopped for a while in each measured run, which takes
 *     executors on this host
 * @param conf settings of {@code ./bench --conf}, and the size of its executors; not in reports of
 *     older versions
 */
public record BenchmarkPlan(
    ShuffleJob job,
    List<String> shapes,
    List<ShuffleMode> modes,
    int rounds,
    int warmUps,
    int repeats,
    String data,
    boolean freezes,
    Map<String, String> conf)
    implements MeasuredApplication.Plan {
  /** Keys whose values Spark redacts, too. */
  private static final Pattern SECRET = Pattern.compile("(?i)secret|password|token|access[.]key");

  /** Plans in reports of older versions do not say how often a job is repeated. */
  public BenchmarkPlan {
    repeats = Math.max(1, repeats);
    conf = conf == null ? new TreeMap<>() : new TreeMap<>(conf);
    conf.keySet().removeIf(SECRET.asPredicate());
  }

  /**
   * The shuffles, or other modes, in the order of one round. Each round begins with another shuffle
   * than the one before, and every second round is the reverse of the one before it. Over as many
   * rounds as there are shuffles, or twice as many if their number is odd, each shuffle comes
   * directly after each other one of the same round equally often (a Williams design), so that what
   * a shuffle leaves behind falls on all others alike.
   *
   * @param round from 1
   */
  public static <T> List<T> order(List<T> modes, int round) {
    int count = modes.size();
    // The reverses of an even number's first half of rotations are its second half.
    int rotations = count % 2 == 0 ? count / 2 : count;
    int rotation = (round - 1) / 2 % rotations;
    List<T> order = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      // 0, 1, -1, 2, -2, ...: no two neighbours have the same distance and direction.
      int step = i % 2 == 0 ? -i / 2 : (i + 1) / 2;
      order.add(modes.get(Math.floorMod(step + rotation, count)));
    }
    if (round % 2 == 0) {
      Collections.reverse(order);
    }
    return order;
  }

  /** The same with another directory. */
  public BenchmarkPlan withData(String newData) {
    return new BenchmarkPlan(job, shapes, modes, rounds, warmUps, repeats, newData, freezes, conf);
  }

  /** The same with other settings. */
  public BenchmarkPlan withConf(Map<String, String> newConf) {
    return new BenchmarkPlan(job, shapes, modes, rounds, warmUps, repeats, data, freezes, newConf);
  }

  @Override
  public BenchmarkReport measure() throws Exception {
    return new BenchmarkRuns(this, System.out::println, job::workload).run();
  }

  /** Total number of runs, with warm-ups and the first one, which does not count. */
  public int runs() {
    int applications = shapes.size() * rounds * modes.size() + (rounds > 1 ? 1 : 0);
    return applications * (warmUps + repeats);
  }

  /** Options of a job that {@code ./bench} and {@code spark-submit} share. */
  public static final class Options {
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

    /** The plan of these options, without a directory; a wrong one is refused in one sentence. */
    public BenchmarkPlan plan() {
      LaunchOptions.checkRounds(rounds, warmUps);
      List<String> wanted = shapes.isEmpty() ? job.shapes() : shapes;
      wanted.forEach(job::workload);
      return new BenchmarkPlan(
          job, wanted, modes.stream().distinct().toList(), rounds, warmUps, 1, "", false, Map.of());
    }
  }
}
