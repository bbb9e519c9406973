// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.guest;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.function.Consumer;

/**
 * Results of the guest tests for each transport and Java version: {@code guest-report.json}. Each
 * test adds to it; results of other Java versions stay.
 */
final class GuestReport {
  private static final Path FILE = Path.of(Build.property("it.guest.report"));
  private static final ObjectMapper JSON = new ObjectMapper();

  private GuestReport() {}

  /** Adds to the result of {@code ibverbs} on a transport with this Java version. */
  static void add(String transport, Consumer<ObjectNode> change) throws IOException {
    add("ibverbs", transport, change);
  }

  /** Adds to the result of an engine on a transport, {@code rocev2} or {@code iwarp}. */
  static synchronized void add(String engine, String transport, Consumer<ObjectNode> change)
      throws IOException {
    ObjectNode report =
        Files.exists(FILE) ? (ObjectNode) JSON.readTree(FILE.toFile()) : JSON.createObjectNode();
    String java = GuestJdk.version();
    ArrayNode results = report.withArray("results");
    ObjectNode result = null;
    for (var one : results) {
      if (one.path("engine").asText().equals(engine)
          && one.path("transport").asText().equals(transport)
          && one.path("java").asText().equals(java)) {
        result = (ObjectNode) one;
      }
    }
    if (result == null) {
      result =
          results.addObject().put("engine", engine).put("transport", transport).put("java", java);
    }
    change.accept(result);
    JSON.writerWithDefaultPrettyPrinter().writeValue(FILE.toFile(), report);
  }
}
