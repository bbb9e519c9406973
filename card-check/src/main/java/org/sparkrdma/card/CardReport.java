// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.card;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import com.fasterxml.jackson.databind.node.TextNode;
import java.time.LocalDate;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;
import org.sparkrdma.card.CaseResult.Outcome;
import org.sparkrdma.shuffle.tools.collect.AddressMask;
import org.sparkrdma.verbs.device.Transport;

/**
 * The report of a run, as JSON, and its row for docs/cards.md. Has versions, results and figures;
 * addresses, keys and names of hosts are left out.
 *
 * @param device that was tested
 * @param system versions
 * @param date of the run
 * @param selection the selected cases; empty for all
 * @param suite its results
 * @param costs of registering, against copying
 * @param loop figures between two processes of this host
 * @param peer figures with another host; null when there was none
 */
record CardReport(
    CardDevice device,
    SystemFacts system,
    LocalDate date,
    List<String> selection,
    SuiteRun suite,
    CostResult costs,
    TransferResult loop,
    TransferResult peer) {
  private static final int SCHEMA = 1;

  private static final String FIRMWARE = "firmware";
  private static final String JAVA = "java";

  /** Versions that may have the form of an IPv4 address. */
  private static final Set<String> VERSIONS = Set.of(FIRMWARE, JAVA);

  private static final ObjectMapper JSON = new ObjectMapper();

  /** Whether the suite passed, costs were measured and each transfer worked. */
  boolean passed() {
    return suite.passed()
        && costs.succeeded()
        && loop.succeeded()
        && (peer == null || peer.succeeded());
  }

  /**
   * The report as indented JSON.
   *
   * @param mask second check: no value should have an address or the name of this host
   */
  String json(AddressMask mask) {
    ObjectNode report = JSON.createObjectNode();
    report.put("schema", SCHEMA);
    report.put("evidence", evidence());
    report.put("passed", passed());
    report.put("date", date.toString());
    addDevice(report.putObject("device"));
    ObjectNode versions = report.putObject("system");
    versions.put("kernel", system.kernel());
    versions.put("architecture", System.getProperty("os.arch"));
    versions.put("rdmaCore", system.rdmaCore());
    versions.put(JAVA, system.java());
    versions.put("plugin", system.plugin());
    ObjectNode summary = report.putObject("suite");
    summary.put("complete", selection.isEmpty() && suite.notRun() == 0);
    selection.forEach(summary.putArray("selected")::add);
    summary.put("passed", suite.count(Outcome.PASSED));
    summary.put("failed", suite.count(Outcome.FAILED));
    summary.put("skipped", suite.count(Outcome.SKIPPED));
    summary.put("notRun", suite.notRun());
    summary.put("seconds", suite.seconds());
    addCases(report.putArray("cases"));
    ObjectNode measured = report.putObject("costs").setAll(costs.figures());
    addError(measured, costs.error());
    add(report.putObject("loop"), loop);
    if (peer != null) {
      add(report.putObject("peer"), peer);
    }
    report.put("row", row());
    try {
      return JSON.writerWithDefaultPrettyPrinter().writeValueAsString(masked(report, mask)) + "\n";
    } catch (JsonProcessingException e) {
      throw new IllegalStateException("the report is no JSON", e);
    }
  }

  /** One of the words of docs/cards.md. */
  private String evidence() {
    return system.isCard() ? "card" : "guest";
  }

  private void addDevice(ObjectNode node) {
    node.put("name", device.name());
    node.put("driver", system.driver());
    node.put(FIRMWARE, reported("fw_ver"));
    node.put("vendorId", reported("vendor_id"));
    node.put("partId", reported("vendor_part_id"));
    node.put("hardwareVersion", reported("hw_ver"));
    node.put("network", network());
    node.put("mtuBytes", device.port().activeMtuBytes());
    node.put("maxReadsInFlight", device.info().limits().maxReadsInFlight());
    node.put("maxSge", device.info().limits().maxSge());
    node.put("maxInlineBytes", device.info().limits().maxInlineBytes());
    node.put("onDemandPaging", reported("rc_odp_caps"));
    ArrayNode capabilities = node.putArray("capabilities");
    new TreeSet<>(device.info().capabilities()).forEach(one -> capabilities.add(one.name()));
  }

  private String reported(String attribute) {
    Object value = device.info().reported().getOrDefault(attribute, SystemFacts.UNKNOWN);
    return value instanceof List<?> flags
        ? flags.stream().map(String::valueOf).collect(Collectors.joining(" "))
        : value.toString();
  }

  private String network() {
    if (device.info().transport() == Transport.IWARP) {
      return "iWARP";
    }
    Object layer = device.port().reported().get("link_layer");
    return "InfiniBand".equals(layer) ? "InfiniBand" : "RoCE";
  }

  private void addCases(ArrayNode array) {
    for (CaseResult one : suite.cases()) {
      ObjectNode node = array.addObject();
      node.put("name", one.name());
      node.put("result", one.outcome().name().toLowerCase(Locale.ROOT));
      node.put("ms", one.ms());
      if (!one.detail().isEmpty()) {
        node.put("detail", one.detail());
      }
    }
  }

  private static void add(ObjectNode node, TransferResult transfer) {
    node.set("rows", transfer.rows());
    addError(node, transfer.error());
  }

  private static void addError(ObjectNode node, String error) {
    if (!error.isEmpty()) {
      node.put("error", error);
    }
  }

  private static JsonNode masked(JsonNode node, AddressMask mask) {
    if (node.isTextual()) {
      return TextNode.valueOf(mask.mask(node.asText()));
    }
    if (node instanceof ObjectNode object) {
      object.properties().stream()
          .filter(entry -> !VERSIONS.contains(entry.getKey()))
          .forEach(entry -> entry.setValue(masked(entry.getValue(), mask)));
    } else if (node instanceof ArrayNode array) {
      for (int i = 0; i < array.size(); i++) {
        array.set(i, masked(array.get(i), mask));
      }
    }
    return node;
  }

  /** The row for the table of docs/cards.md. */
  String row() {
    String results =
        "%d passed, %d failed, %d skipped%s%s"
            .formatted(
                suite.count(Outcome.PASSED),
                suite.count(Outcome.FAILED),
                suite.count(Outcome.SKIPPED),
                suite.notRun() == 0 ? "" : ", " + suite.notRun() + " not run",
                selection.isEmpty() ? "" : ", of selected cases");
    return "| *%s* | %s, %s, firmware %s | %s | %s, rdma-core %s, Java %s | %s | %s | %s, %s |"
        .formatted(
            evidence(),
            device.name(),
            system.driver(),
            reported("fw_ver"),
            network(),
            system.kernel(),
            system.rdmaCore(),
            system.java().split("[+,]", 2)[0],
            results,
            loop.ratios(),
            system.plugin(),
            date);
  }
}
