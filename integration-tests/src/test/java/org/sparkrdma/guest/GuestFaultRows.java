// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.guest;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.sparkrdma.guest.cluster.StepResult;
import org.sparkrdma.suites.FaultTableFile;

/** Rows of {@code fault-table.json} that one test on guest kernels measures. */
final class GuestFaultRows {
  private static final ObjectMapper JSON = new ObjectMapper();

  private final List<String> rows = new ArrayList<>();

  /**
   * Adds the row of a step that ran under a fault.
   *
   * @param fault as text; the application names the transport
   * @param boundSeconds asserted of the step's time
   */
  void add(StepResult step, String fault, String recovery, int boundSeconds) {
    assertThat(step.seconds()).as("%s", step).isLessThan(boundSeconds);
    ObjectNode row = JSON.createObjectNode();
    row.put("name", fault + " (" + step.application() + ")")
        .put("engine", "ibverbs")
        .put("where", "guest")
        .put("hits", 1)
        .put("answerRight", step.right())
        .put("seconds", Math.round(step.seconds() * 10) / 10.0)
        .put("boundSeconds", boundSeconds)
        .put("bytesByRead", step.rdmaBytes())
        .put("bytesByTcp", step.tcpBytes());
    ObjectNode reasons = row.putObject("reasons");
    step.fallbacks().forEach(reasons::put);
    row.put("recovery", recovery);
    rows.add("  " + row);
  }

  /** Writes all rows, merges them into the table, and asserts that they are complete. */
  void write(String test) throws IOException {
    Path target = Path.of(Build.property("it.guest.report")).toAbsolutePath().getParent();
    Path folder = Files.createDirectories(FaultTableFile.rowFolder(target));
    String file = "guest-" + test + ".json";
    Files.write(folder.resolve(file), rows);
    FaultTableFile table = new FaultTableFile(target);
    System.out.println(table.merge());
    assertThat(table.problemsOfGuest(file)).isEmpty();
  }
}
