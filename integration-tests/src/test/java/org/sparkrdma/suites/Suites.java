// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.suites;

import java.util.ArrayList;
import java.util.List;

/** All runs in order. */
final class Suites {
  private static final String CORE = "org.apache.spark.";
  private static final String SQL = "org.apache.spark.sql.execution.adaptive.";
  private static final String OURS = "org.sparkrdma.suites.";
  private static final String SCENARIOS = "org.sparkrdma.scenarios.";

  /**
   * Those of a line share a driver's JVM, whose start and first job take longer than most tests.
   */
  private static final List<List<String>> SCENARIO_SUITES =
      List.of(
          List.of("ShuffleServiceSuite", "PushMergeSuite", "DecommissionSuite"),
          List.of("TerminationSuite", "DriverRestartSuite", "UpgradeSuite"),
          List.of("TabSuite", "HistorySuite", "DeliverySuite"),
          List.of("OperatorsSuite", "RequiredRdmaSuite"),
          List.of("BroadcastSuite", "PluginSuite"),
          List.of("VerifiedReadsSuite", "SchedulingSuite", "ServingSuite"),
          List.of("faults.FailingDiskSuite", "faults.MemoryLimitSuite"));

  private Suites() {}

  /**
   * Returns all runs, including vanilla runs, which run only when they are named. Daily runs leave
   * out what finds little beside the others: Spark's suites without the plug-in's engine or beside
   * another manager (PluginSuite has one), those without remote blocks (their blocks never reach
   * the plug-in's client), those of decommissioning beside ours, the largest blocks, and the tests
   * tagged nightly.
   *
   * <p>KryoSerializerDistributedSuite is missing: it ignores system properties, so it would run
   * vanilla Spark under every setting.
   *
   * @param nightly whether long suites run as a whole and under each setting
   */
  static List<SuiteRun> all(boolean nightly) {
    List<SuiteRun> runs = new ArrayList<>();
    // Those that take longest come first, so that none runs alone at the end.
    runs.add(SuiteRun.of(SCENARIOS + "faults.FaultsSuite", Setting.OWN));
    for (List<String> suites : SCENARIO_SUITES) {
      runs.add(SuiteRun.of(suites.stream().map(SCENARIOS::concat).toList(), Setting.OWN));
    }
    runs.add(SuiteRun.of(SCENARIOS + "faults.FullDiskSuite", Setting.OWN).withSmallDisk());
    List<Setting> daily = List.of(Setting.SOFT, Setting.VANILLA);
    List<Setting> all = List.of(Setting.SOFT, Setting.PLUGIN, Setting.FALLBACK, Setting.VANILLA);
    for (Setting setting : nightly ? all : daily) {
      runs.add(SuiteRun.of(OURS + "RdmaShuffleSuite", setting));
      if (!nightly) {
        continue;
      }
      // The second reads map outputs on the reader's host, which Spark reads itself.
      runs.add(
          SuiteRun.of(
                  List.of(
                      OURS + "RdmaPairRDDFunctionsSuite",
                      CORE + "shuffle.HostLocalShuffleReadingSuite"),
                  setting)
              .withoutRemoteBlocks());
      runs.add(SuiteRun.of(SQL + "AdaptiveQueryExecSuite", setting).withoutRemoteBlocks());
      runs.add(SuiteRun.of(OURS + "RdmaSortingSuite", setting).withoutRemoteBlocks());
      runs.add(SuiteRun.of(OURS + "RdmaRDDSuite", setting).withoutRemoteBlocks());
      runs.add(SuiteRun.of(CORE + "storage.BlockManagerDecommissionIntegrationSuite", setting));
    }
    return runs;
  }
}
