// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.tools;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.sparkrdma.shuffle.tools.peer.Measurement;
import org.sparkrdma.shuffle.tools.peer.PerfClient;
import org.sparkrdma.verbs.device.DeviceInfo;

/**
 * The figures of {@code perf client}, as text and as JSON.
 *
 * @param device of this host
 * @param pair addresses of the RDMA connection
 * @param atOnce transfers in flight while speed was measured
 * @param durationMs time for each speed
 * @param rows a size each
 */
record PerfReport(
    DeviceInfo device, String pair, int atOnce, int durationMs, List<PerfClient.Row> rows) {
  private static final int SCHEMA = 1;
  private static final double MIB = 1 << 20;
  private static final double MICROSECOND_NS = 1e3;
  private static final double SECOND_NS = 1e9;

  String text(Style style) {
    StringBuilder text = new StringBuilder();
    text.append(
        String.format(
            Locale.ROOT,
            "Engine %s, device %s, RDMA %s; speed: %d transfers at once, %d ms for each%n%n",
            device.engine(),
            device.name(),
            pair,
            atOnce,
            durationMs));
    text.append(
            style.bold(
                String.format(
                    Locale.ROOT,
                    "%9s %-5s %10s %9s %9s %14s %14s",
                    "bytes",
                    "by",
                    "MiB/s",
                    "p50 us",
                    "p99 us",
                    "client s/GiB",
                    "server s/GiB")))
        .append("\n");
    for (PerfClient.Row row : rows) {
      text.append(line(row.lengthBytes(), "READ", row.read()));
      text.append(line(row.lengthBytes(), "TCP", row.tcp()));
      text.append(
          String.format(
              Locale.ROOT,
              "%9s %-5s %10.2f %9.2f%n",
              "",
              "gain",
              row.read().bytesPerSecond() / row.tcp().bytesPerSecond(),
              (double) row.tcp().medianNs() / row.read().medianNs()));
    }
    return text.append(
            """

            p50, p99: time of one transfer alone. s/GiB: CPU time of the whole process for each GiB; on a
            software device (soft, rxe, siw) part of the work is done by threads or a kernel that
            a card does not need. Gain: above 1 READ is faster than TCP, in both columns.""")
        .toString();
  }

  private static String line(int lengthBytes, String way, Measurement m) {
    return String.format(
        Locale.ROOT,
        "%9d %-5s %10.1f %9.1f %9.1f %14.3f %14.3f%n",
        lengthBytes,
        way,
        m.bytesPerSecond() / MIB,
        m.medianNs() / MICROSECOND_NS,
        m.p99Ns() / MICROSECOND_NS,
        m.clientCpuNsPerGib() / SECOND_NS,
        m.serverCpuNsPerGib() / SECOND_NS);
  }

  String json() {
    Map<String, Object> all = new LinkedHashMap<>();
    all.put("schema", SCHEMA);
    all.put("engine", device.engine());
    all.put("device", device.name());
    all.put("addresses", pair);
    all.put("atOnce", atOnce);
    all.put("milliseconds", durationMs);
    all.put("rows", rows.stream().map(PerfReport::row).toList());
    return Json.of(all);
  }

  private static Map<String, Object> row(PerfClient.Row row) {
    Map<String, Object> facts = new LinkedHashMap<>();
    facts.put("bytes", row.lengthBytes());
    facts.put("read", measurement(row.read()));
    facts.put("tcp", measurement(row.tcp()));
    return facts;
  }

  private static Map<String, Object> measurement(Measurement m) {
    Map<String, Object> facts = new LinkedHashMap<>();
    facts.put("bytesPerSecond", Math.round(m.bytesPerSecond()));
    facts.put("medianNs", m.medianNs());
    facts.put("p99Ns", m.p99Ns());
    facts.put("clientCpuNsPerGib", Math.round(m.clientCpuNsPerGib()));
    facts.put("serverCpuNsPerGib", Math.round(m.serverCpuNsPerGib()));
    return facts;
  }
}
