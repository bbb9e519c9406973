// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.benchmarks.transfer;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.sparkrdma.benchmarks.jobs.Environment;
import org.sparkrdma.benchmarks.transfer.TransferPlan.Kind;
import org.sparkrdma.launch.DataSize;
import org.sparkrdma.launch.Quartiles;
import org.sparkrdma.launch.TextTable;

/** All cases of one kind, in the order of time, and what they were measured on. */
record TransferReport(Environment environment, List<Case> cases) {
  /**
   * The rounds of one block length.
   *
   * @param engine of the plug-in
   * @param agentPosts whether tasks left each request to the agent
   * @param indexInMemory whether Spark's server read each index file once, and not for each block
   * @param cold whether each request was for map outputs that none had named before
   * @param figures median and quartiles of the rounds, by the names of {@link Round#figures}; of
   *     latency also single values, of the requests of all rounds together
   * @param values the figures of each round
   */
  record Case(
      Kind kind,
      String engine,
      int blockBytes,
      TransferPlan.Verify verify,
      boolean copy,
      boolean agentPosts,
      boolean indexInMemory,
      int batch,
      boolean cold,
      int rounds,
      Map<String, Quartiles> figures,
      List<Map<String, Double>> values) {
    /**
     * @param rounds at least one
     */
    static Case of(TransferPlan plan, int blockBytes, List<Round> rounds) {
      List<Map<String, Double>> each =
          rounds.stream().map(round -> round.figures(plan.kind())).toList();
      Map<String, Quartiles> figures = new LinkedHashMap<>();
      for (String name : each.get(0).keySet()) {
        figures.put(name, Quartiles.of(each, round -> round.get(name)));
      }
      if (plan.kind() == Kind.LATENCY) {
        Round.percentiles(rounds, true)
            .forEach((name, value) -> figures.put(name, new Quartiles(value, value, value)));
      }
      return new Case(
          plan.kind(),
          plan.engine(),
          blockBytes,
          plan.verify() == null ? TransferPlan.Verify.byDefault() : plan.verify(),
          plan.copy(),
          plan.agentPosts(),
          plan.indexInMemory(),
          plan.batch(),
          plan.cold(),
          rounds.size(),
          figures,
          each);
    }
  }

  /** The cases, at least one, as plain text: a table for each kind of verification. */
  String table() {
    StringBuilder text = new StringBuilder(explanation(cases.get(0).kind()));
    for (TransferPlan.Verify verify : cases.stream().map(Case::verify).distinct().toList()) {
      List<Case> own = cases.stream().filter(one -> one.verify() == verify).toList();
      Case first = own.get(0);
      String title =
          "verify %s, batch %d%s, served from %s%s, sent by %s"
              .formatted(
                  verify,
                  first.batch(),
                  first.cold() ? " of new map outputs" : "",
                  first.copy() ? "copies" : "files",
                  first.indexInMemory() ? " with netty's index in memory" : "",
                  first.agentPosts() ? "the agent" : "tasks");
      TextTable<String> table = new TextTable<String>().text(title, figure -> figure);
      for (Case one : own) {
        String size = new DataSize(one.blockBytes()).toString();
        table.number(size, figure -> one.figures().get(figure).format());
      }
      text.append('\n').append(table.of(first.figures().keySet()));
    }
    return text.toString();
  }

  private static String explanation(Kind kind) {
    return "rdma is the plug-in, netty Spark's transfer service; medians of the rounds, with quartiles in brackets.\n"
        + switch (kind) {
          case THROUGHPUT ->
              "throughput, serverCpu and clientCpu are ratios of both: above 1 is better than Spark's for"
                  + " throughput,\nbelow 1 for CPU time; rdmaByRead: the part of its bytes that came by READ\n";
          case LATENCY ->
              "p50 and p99 are ratios of both, for one request at a time, until the task has all its blocks;"
                  + " below 1\nis better than Spark's; pooled: of the requests of all rounds together;"
                  + " BytesPerBlock: what the\nreader allocated on the heap\n";
          case FIRST ->
              "first is the ratio of both, for the first request of new executors, until the task has all"
                  + " its blocks;\nbelow 1 is better than Spark's\n";
          case CEILING ->
              "CPU time and bytes allocated for each block, on a device whose READs move no bytes;"
                  + " the device's own\nthread is in no figure; cpu is the ratio of both: below 1 is better"
                  + " than Spark's\n";
        };
  }
}
