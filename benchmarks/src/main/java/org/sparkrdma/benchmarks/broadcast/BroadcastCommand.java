// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.benchmarks.broadcast;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import org.sparkrdma.benchmarks.broadcast.BroadcastPlan.Mode;
import org.sparkrdma.benchmarks.broadcast.BroadcastPlan.Shape;
import org.sparkrdma.cluster.LaunchException;
import org.sparkrdma.launch.ClusterOptions;
import org.sparkrdma.launch.DataSize;
import org.sparkrdma.launch.LaunchOptions;
import org.sparkrdma.launch.MisuseException;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/**
 * The command behind {@code ./bench broadcast}: broadcasts values under each mode in turn, on the
 * loopback engine. The script's help describes the options.
 */
@Command(name = "bench broadcast", customSynopsis = "./bench broadcast --help")
public final class BroadcastCommand implements Callable<Integer> {
  /** Sixteen pieces of Torrent. */
  private static final DataSize THRESHOLD = new DataSize(64L << 20);

  private static final List<Mode> BELOW = List.of(Mode.OFF, Mode.READ);
  private static final List<Mode> ABOVE = List.of(Mode.TORRENT, Mode.TCP, Mode.READ);

  @Mixin private ClusterOptions options;

  @Parameters private List<String> shapes = new ArrayList<>();

  @Option(names = "--join")
  private String join;

  @Option(names = "--below")
  private boolean below;

  @Option(names = "--modes", split = ",")
  private List<Mode> modes = new ArrayList<>();

  @Option(names = "--rounds", defaultValue = "5")
  private int rounds;

  @Option(names = "--warm-ups", defaultValue = "3")
  private int warmUps;

  @Override
  public Integer call() throws LaunchException, IOException, InterruptedException {
    BroadcastPlan plan = plan();
    int heapMib =
        plan.shapes().stream().mapToInt(shape -> shape.heapMib(plan.join())).max().orElseThrow();
    int workers = plan.shapes().stream().mapToInt(Shape::executors).max().orElseThrow();
    return options.run(
        "bench",
        settings -> settings.withWorkers(workers).withWorkerSize(1, heapMib),
        runs -> {
          var conf = Map.of("spark.driver.memory", heapMib + "m");
          BroadcastResult result =
              runs.run("broadcast", plan, conf, BroadcastResult.class, step -> {});
          options.publish(result.table(), result);
          System.out.println("All executors had the right bytes.");
        });
  }

  private BroadcastPlan plan() {
    LaunchOptions.checkRounds(rounds, warmUps);
    if (join != null && !shapes.isEmpty()) {
      throw new MisuseException(
          "--join has the size: give no '%s' beside it".formatted(shapes.get(0)));
    }
    if (join != null) {
      shapes.add(join + "x" + Shape.MIN_EXECUTORS);
    } else if (shapes.isEmpty()) {
      shapes.addAll(below ? List.of("32mx2") : List.of("100mx4", "500mx2"));
    }
    if (modes.isEmpty()) {
      modes.addAll(below ? BELOW : ABOVE);
    }
    List<Shape> wanted = shapes.stream().distinct().map(this::shape).toList();
    return new BroadcastPlan(
        join != null, wanted, modes.stream().distinct().toList(), rounds, warmUps);
  }

  private Shape shape(String text) {
    Shape shape = Shape.parse(text);
    if (shape.bytes() < THRESHOLD.bytes() != below) {
      throw new MisuseException(
          "'%s' has a SIZE on the wrong side of the threshold: give %s %s"
              .formatted(text, below ? "less than" : "--below, or at least", THRESHOLD));
    }
    return shape;
  }
}
