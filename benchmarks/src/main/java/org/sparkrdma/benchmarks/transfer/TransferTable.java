// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.benchmarks.transfer;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import org.sparkrdma.launch.DataSize;
import org.sparkrdma.launch.TextTable;

/** The cases as two tables of plain text: ratios with their spread, then the absolute values. */
final class TransferTable {
  private static final List<String> RATIOS =
      List.of("block", "verify", "throughput ratio", "server CPU ratio", "client CPU ratio");
  private static final List<String> SPEEDS =
      List.of(
          "block",
          "verify",
          "RDMA GB/s",
          "netty GB/s",
          "RDMA server s/GB",
          "netty server s/GB",
          "RDMA client s/GB",
          "netty client s/GB",
          "windows",
          "evicted");

  private static final List<String> COPIES =
      List.of("block", "verify", "copy s/GB", "read s/GB", "throughput ratio", "client CPU ratio");

  private static final List<String> COMPILERS =
      List.of(
          "block",
          "verify",
          "RDMA server s/GB",
          "netty server s/GB",
          "RDMA client s/GB",
          "netty client s/GB",
          "server CPU ratio without it",
          "client CPU ratio without it");

  private TransferTable() {}

  static String of(TransferReport report) {
    List<List<String>> ratios = new ArrayList<>(List.of(RATIOS));
    List<List<String>> speeds = new ArrayList<>(List.of(SPEEDS));
    List<List<String>> compilers = new ArrayList<>(List.of(COMPILERS));
    List<List<String>> copies = new ArrayList<>(List.of(COPIES));
    for (CaseReport one : report.cases()) {
      compilers.add(compilers(one));
      copies.add(copies(one));
      ratios.add(ratios(one));
      speeds.add(speeds(one));
    }
    return "ratios, RDMA / netty: median (min..max) of the rounds\n"
        + TextTable.of(ratios, TransferTable::isText)
        + "\nmedians of the rounds; windows registered and evicted in a round\n"
        + TextTable.of(speeds, TransferTable::isText)
        + "\nCPU time of the JVMs' compiler, which is part of the above and ends when the code is"
        + " compiled\n"
        + TextTable.of(compilers, TransferTable::isText)
        + "\ncopies alone, CPU time measured in the same rounds: one thread copies blocks from their"
        + " files into\n48 MiB of memory, another one reads them there; ratios to netty, computed for a"
        + " client that does\nnothing else\n"
        + TextTable.of(copies, TransferTable::isText);
  }

  private static boolean isText(int column) {
    return column == 1;
  }

  private static List<String> ratios(CaseReport one) {
    return List.of(
        block(one),
        one.verify().toString(),
        one.ratios().get("throughput").format(2),
        one.ratios().get("serverCpu").format(3),
        one.ratios().get("clientCpu").format(3));
  }

  private static List<String> compilers(CaseReport one) {
    return List.of(
        block(one),
        one.verify().toString(),
        number(one.rdma().serverCompilerSecondsPerGb()),
        number(one.netty().serverCompilerSecondsPerGb()),
        number(one.rdma().clientCompilerSecondsPerGb()),
        number(one.netty().clientCompilerSecondsPerGb()),
        one.ratios().get("serverCpuWithoutCompiler").format(3),
        one.ratios().get("clientCpuWithoutCompiler").format(3));
  }

  private static List<String> copies(CaseReport one) {
    return List.of(
        block(one),
        one.verify().toString(),
        number(one.copies().copySecondsPerGb()),
        number(one.copies().readSecondsPerGb()),
        one.copies().throughputRatio().format(2),
        one.copies().clientCpuRatio().format(3));
  }

  private static List<String> speeds(CaseReport one) {
    return List.of(
        block(one),
        one.verify().toString(),
        number(one.rdma().gbPerSecond()),
        number(one.netty().gbPerSecond()),
        number(one.rdma().serverCpuSecondsPerGb()),
        number(one.netty().serverCpuSecondsPerGb()),
        number(one.rdma().clientCpuSecondsPerGb()),
        number(one.netty().clientCpuSecondsPerGb()),
        count(one, "serve.windows.registered"),
        count(one, "serve.windows.evicted"));
  }

  private static String block(CaseReport one) {
    return new DataSize(one.blockBytes()).toString();
  }

  private static String number(Spread spread) {
    return String.format(Locale.ROOT, "%.3f", spread.median());
  }

  private static String count(CaseReport one, String label) {
    return Long.toString(one.counters().getOrDefault(label, 0L));
  }
}
