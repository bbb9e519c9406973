// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.benchmarks.transfer;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.function.Function;
import org.sparkrdma.launch.DataSize;
import org.sparkrdma.launch.TextTable;

/** The cases as tables: ratios with their spread, absolute values, and what they are made of. */
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
    List<List<List<String>>> tables = tables(report);
    return "ratios, RDMA / netty: median (min..max) of the rounds\n"
        + text(tables.get(0))
        + "\nmedians of the rounds; windows registered and evicted in a round\n"
        + text(tables.get(1))
        + "\nCPU time of the JVMs' compiler, which is part of the above and ends when the code is"
        + " compiled\n"
        + text(tables.get(2))
        + "\ncopies alone, CPU time measured in the same rounds: one thread copies blocks from their"
        + " files into\n48 MiB of memory, another one reads them there; ratios to netty, computed for a"
        + " client that does\nnothing else\n"
        + text(tables.get(3));
  }

  /** The rows of each table, the headings first: ratios, speeds, compilers, copies. */
  static List<List<List<String>>> tables(TransferReport report) {
    return List.of(
        table(RATIOS, report, TransferTable::ratios),
        table(SPEEDS, report, TransferTable::speeds),
        table(COMPILERS, report, TransferTable::compilers),
        table(COPIES, report, TransferTable::copies));
  }

  private static List<List<String>> table(
      List<String> headings, TransferReport report, Function<CaseReport, List<String>> row) {
    List<List<String>> rows = new ArrayList<>(List.of(headings));
    report.cases().stream().map(row).forEach(rows::add);
    return rows;
  }

  private static String text(List<List<String>> rows) {
    return TextTable.of(rows, TransferTable::isText);
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
