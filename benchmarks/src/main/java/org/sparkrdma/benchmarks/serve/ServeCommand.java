// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.benchmarks.serve;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.Callable;
import org.sparkrdma.benchmarks.ceiling.NoCopyProvider;
import org.sparkrdma.launch.ClusterCommand;
import org.sparkrdma.launch.DataSize;
import org.sparkrdma.launch.LaunchException;
import org.sparkrdma.launch.LaunchOptions;
import org.sparkrdma.launch.NumberLimits;
import org.sparkrdma.launch.Quartiles;
import org.sparkrdma.launch.TextTable;
import org.sparkrdma.verbs.Device;
import org.sparkrdma.verbs.Verbs;
import org.sparkrdma.verbs.VerbsEngine;
import org.sparkrdma.verbs.VerbsException;
import org.sparkrdma.verbs.device.Capability;
import org.sparkrdma.verbs.device.DeviceInfo;
import org.sparkrdma.verbs.spi.EngineSettings;
import org.sparkrdma.verbs.spi.VerbsProvider;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/**
 * The command behind {@code ./bench serve}: compares the cost of registering a window with the cost
 * of copying it, and prints the length from which the window is cheaper. The script's help
 * describes the options.
 */
@Command(name = "serve")
public final class ServeCommand implements Callable<Integer> {
  private static final long SEED = 20_261_120;
  private static final DataSize MAX_WINDOW = new DataSize(1L << 30);
  private static final int MAX_PAIRS = 100_000;
  private static final double NS_PER_US = 1e3;

  @Option(names = "--engine", defaultValue = "soft")
  private String engine;

  @Option(
      names = "--sizes",
      split = ",",
      defaultValue = "4k,16k,64k,256k,1m,4m,16m",
      converter = DataSize.Converter.class)
  private List<DataSize> sizes;

  @Option(names = "--pairs", defaultValue = "201")
  private int pairs;

  @Option(names = "--warm-ups", defaultValue = "200")
  private int warmUps;

  @Mixin private LaunchOptions options;

  @Spec private CommandSpec spec;

  private ServeCommand() {}

  public static void main(String[] arguments) {
    System.exit(commandLine().execute(arguments));
  }

  static CommandLine commandLine() {
    return ClusterCommand.commandLine("bench serve", new ServeCommand());
  }

  @Override
  public Integer call() throws IOException, LaunchException, VerbsException {
    check();
    if (options.checkOnly()) {
      return 0;
    }
    Verbs.Choice choice = Verbs.choose(engine, EngineSettings.of(Map.of()));
    if (choice.engine() == null) {
      throw new LaunchException("engine cannot run here: " + String.join("; ", choice.reasons()));
    }
    Files.createDirectories(options.workDirectory());
    Path file = Files.createTempFile(options.workDirectory(), "serve", ".data");
    int largest = (int) sizes.stream().mapToLong(DataSize::bytes).max().orElseThrow();
    Map<Integer, List<CostPair>> measured = new TreeMap<>();
    try (var opened = choice.engine();
        Device device = openWithFileRegions(opened);
        ServeCosts costs = new ServeCosts(device, file, Math.max(largest, 1 << 20), SEED)) {
      for (DataSize size : sizes) {
        int length = (int) size.bytes();
        measured.put(length, costs.pairs(length, warmUps, pairs));
      }
    }
    System.out.println(
        "Microseconds, median and quartiles of " + pairs + " pairs; engine " + engine + ".");
    System.out.print(table(measured));
    return 0;
  }

  private static Device openWithFileRegions(VerbsEngine engine)
      throws LaunchException, VerbsException {
    DeviceInfo info = engine.devices().get(0);
    if (!info.can(Capability.FILE_REGIONS)) {
      throw new LaunchException("device " + info.name() + " cannot register ranges of files");
    }
    return engine.open(info.name());
  }

  private void check() {
    List<String> engines =
        Verbs.providers().stream()
            .filter(provider -> !(provider instanceof NoCopyProvider))
            .map(VerbsProvider::name)
            .toList();
    if (!engines.contains(engine)) {
      throw new ParameterException(
          spec.commandLine(),
          "--engine is '%s': give one of %s".formatted(engine, String.join(", ", engines)));
    }
    NumberLimits limits = new NumberLimits(spec);
    limits.check("--pairs", pairs, 1, MAX_PAIRS);
    limits.check("--warm-ups", warmUps, 0, MAX_PAIRS);
    for (DataSize size : sizes) {
      if (size.bytes() > MAX_WINDOW.bytes()) {
        throw new ParameterException(
            spec.commandLine(),
            "--sizes has '%s': give sizes of at most %s".formatted(size, MAX_WINDOW));
      }
    }
  }

  private static String table(Map<Integer, List<CostPair>> measured) {
    BreakEven breakEven = new BreakEven(measured);
    List<List<String>> rows = new ArrayList<>();
    rows.add(List.of("window", "register + deregister", "copy", "ratio", "cheaper from"));
    measured.forEach(
        (length, pairs) ->
            rows.add(
                List.of(
                    new DataSize(length).toString(),
                    Quartiles.of(pairs, pair -> pair.registerNs() / NS_PER_US).format(1),
                    Quartiles.of(pairs, pair -> pair.copyNs() / NS_PER_US).format(1),
                    Quartiles.of(pairs, CostPair::ratio).format(2),
                    new DataSize(breakEven.bytes(length)).toString())));
    return TextTable.of(rows, column -> false);
  }
}
