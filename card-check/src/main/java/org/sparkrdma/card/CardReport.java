// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.card;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.LocalDate;
import java.time.ZoneOffset;
import java.util.List;
import java.util.TreeSet;
import org.sparkrdma.verbs.device.TransportType;

/**
 * The report of a run, as JSON. Has versions, results and figures; nothing that is put into it has
 * an address, a key or the name of a host.
 *
 * @param pluginJar the jar that was tested
 * @param selection the selected cases; empty for all
 */
record CardReport(
    CardDevice device,
    HostFacts host,
    Path pluginJar,
    List<String> selection,
    SuiteRun suite,
    Transfer loop) {
  private static final ObjectMapper JSON = new ObjectMapper();

  /** Whether the suite passed and the transfer worked. */
  boolean passed() {
    return suite.passed() && loop.error().isEmpty();
  }

  /** The report as indented JSON. */
  String json() {
    ObjectNode report = JSON.createObjectNode();
    String driver = host.driver(device.info());
    report.put("passed", passed());
    report.put("date", LocalDate.now(ZoneOffset.UTC).toString());
    addDevice(report.putObject("device").put("driver", driver));
    ObjectNode versions = report.putObject("system");
    versions.put("kernel", System.getProperty("os.version") + " " + System.getProperty("os.arch"));
    versions.put("rdmaCore", host.rdmaCore());
    versions.put("java", Runtime.version() + ", " + System.getProperty("java.vendor"));
    versions.put("plugin", HostFacts.build(pluginJar));
    ObjectNode summary = report.putObject("suite");
    summary.put("complete", selection.isEmpty() && suite.notRun() == 0);
    selection.forEach(summary.putArray("selected")::add);
    List.of("passed", "failed", "skipped")
        .forEach(result -> summary.put(result, suite.count(result)));
    summary.put("notRun", suite.notRun());
    report.set("cases", JSON.valueToTree(suite.cases()));
    report.set("loop", JSON.valueToTree(loop));
    return report.toPrettyString() + "\n";
  }

  /** The line of docs/data/status.csv for this run. */
  String statusRow() {
    int java = Runtime.version().feature();
    String fabric = network() + " (" + host.driver(device.info()) + ")";
    String os = "Linux " + System.getProperty("os.version");
    return "none,none,%d,ibverbs,%s,%s,none (`./card`),1,%s,%s"
        .formatted(java, fabric, os, passed() ? "passed" : "failed", LocalDate.now(ZoneOffset.UTC));
  }

  /**
   * The page on which an issue begins, with the fields of the form that are known.
   *
   * @param page of the repository
   */
  String issueLink(String page) {
    String model =
        "vendor %s, part %s, driver %s, firmware %s"
            .formatted(
                reported("vendor_id"),
                reported("vendor_part_id"),
                host.driver(device.info()),
                reported("fw_ver"));
    String row = selection.isEmpty() ? statusRow() : "none: " + String.join(",", selection);
    return "%s/issues/new?template=card.yml&model=%s&row=%s"
        .formatted(page, encode(model), encode(row));
  }

  private static String encode(String text) {
    return URLEncoder.encode(text, StandardCharsets.UTF_8);
  }

  private void addDevice(ObjectNode node) {
    node.put("name", device.name());
    node.put("firmware", reported("fw_ver"));
    node.put("vendorId", reported("vendor_id"));
    node.put("partId", reported("vendor_part_id"));
    node.put("network", network());
    node.put("mtuBytes", device.port().activeMtuBytes());
    node.put("capabilities", new TreeSet<>(device.info().capabilities()).toString());
  }

  private String reported(String attribute) {
    return device.info().reported().getOrDefault(attribute, HostFacts.UNKNOWN).toString();
  }

  private String network() {
    if (device.info().transport() == TransportType.IWARP) {
      return "iWARP";
    }
    Object layer = device.port().reported().get("link_layer");
    return "InfiniBand".equals(layer) ? "InfiniBand" : "RoCE";
  }
}
