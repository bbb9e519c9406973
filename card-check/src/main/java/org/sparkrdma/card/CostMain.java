// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.card;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.sparkrdma.verbs.Device;
import org.sparkrdma.verbs.Verbs;
import org.sparkrdma.verbs.VerbsEngine;
import org.sparkrdma.verbs.VerbsException;
import org.sparkrdma.verbs.spi.EngineSettings;

/**
 * The process that {@code ./card} starts to measure what registering costs: a driver that hangs
 * must not hang the command. Arguments: engine, device, folder of the file.
 */
public final class CostMain {
  /** The lengths of the table in docs/cards.md. */
  static final List<Integer> SIZES = List.of(64 << 10, 1 << 20, 16 << 20);

  private static final int ROUNDS = 15;

  private CostMain() {}

  /** Prints the figures as JSON. */
  public static void main(String[] arguments) throws IOException, VerbsException {
    VerbsEngine engine = Verbs.choose(arguments[0], EngineSettings.none()).engine();
    if (engine == null) {
      throw new IllegalStateException("the engine cannot run: name=" + arguments[0]);
    }
    try (engine;
        Device device = engine.open(arguments[1])) {
      System.out.println(figures(device, Path.of(arguments[2]), ROUNDS));
    }
  }

  /** All rows, and the file system of the file. */
  static ObjectNode figures(Device device, Path folder, int rounds)
      throws IOException, VerbsException {
    ObjectNode figures = new ObjectMapper().createObjectNode();
    figures.put("fileSystem", fileSystem(folder));
    figures.put("rounds", rounds);
    ArrayNode rows = figures.putArray("rows");
    for (int lengthBytes : SIZES) {
      try (CostMeter meter = CostMeter.on(device, lengthBytes, folder)) {
        meter.measure(rounds, rows.addObject());
      }
    }
    return figures;
  }

  private static String fileSystem(Path folder) {
    try {
      return Files.getFileStore(folder).type();
    } catch (IOException e) {
      // A container may hide the mount.
      return SystemFacts.UNKNOWN;
    }
  }
}
