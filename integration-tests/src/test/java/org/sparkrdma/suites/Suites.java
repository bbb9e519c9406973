// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.suites;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/** All runs in order. */
final class Suites {
  private static final String CORE = "org.apache.spark.";
  private static final String SQL = "org.apache.spark.sql.execution.adaptive.";
  private static final String OURS = "org.sparkrdma.suites.";
  private static final String SCENARIOS = "org.sparkrdma.scenarios.";
  private static final List<String> SCENARIO_SUITES =
      List.of(
          "BlockSizesSuite",
          "OperatorsSuite",
          "VerifiedReadsSuite",
          "ConcurrentJobsSuite",
          "SchedulingSuite",
          "ServingSuite",
          "faults.FailingDiskSuite",
          "faults.MemoryLimitSuite",
          "ExecutorLossSuite",
          "TerminationSuite",
          "LifetimeSuite",
          "DriverRestartSuite",
          "UpgradeSuite",
          "ShuffleServiceSuite",
          "DecommissionSuite",
          "PushMergeSuite",
          "DynamicAllocationSuite",
          "ResourceProfileSuite",
          "FallbackSuite",
          "DoctorSuite",
          "RequiredRdmaSuite",
          "TabSuite",
          "HistorySuite",
          "DeliverySuite");

  private Suites() {}

  /**
   * Returns all runs, including vanilla runs, which run only when they are named. Daily runs leave
   * out what takes minutes and finds little: Spark's suites without the plug-in's engine, most of
   * those without remote blocks (their blocks never reach the plug-in's client), Spark's suite of
   * decommissioning beside ours, the largest blocks, and the tests tagged nightly.
   *
   * <p>KryoSerializerDistributedSuite is missing: it ignores system properties, so it would run
   * vanilla Spark under every setting.
   *
   * @param nightly whether long suites run as a whole and under each setting
   */
  static List<SuiteRun> all(boolean nightly) {
    List<SuiteRun> runs = new ArrayList<>();
    // First, because it takes longest.
    runs.add(SuiteRun.of(SCENARIOS + "faults.FaultsSuite", Setting.OWN));
    for (Setting setting : List.of(Setting.SOFT, Setting.FALLBACK, Setting.VANILLA)) {
      if (!nightly && setting == Setting.FALLBACK) {
        continue;
      }
      runs.add(SuiteRun.of(OURS + "RdmaShuffleSuite", setting));
      runs.add(SuiteRun.of(OURS + "RdmaSortingSuite", setting).withoutRemoteBlocks());
      runs.add(SuiteRun.of(OURS + "RdmaPairRDDFunctionsSuite", setting).withoutRemoteBlocks());
      runs.add(adaptiveExecution(setting, nightly).withoutRemoteBlocks());
      if (nightly) {
        runs.add(SuiteRun.of(OURS + "RdmaRDDSuite", setting).withoutRemoteBlocks());
        runs.add(SuiteRun.of(CORE + "storage.BlockManagerDecommissionIntegrationSuite", setting));
      }
      // Reads map outputs on the reader's host, which Spark reads itself.
      runs.add(
          SuiteRun.of(CORE + "shuffle.HostLocalShuffleReadingSuite", setting)
              .withoutRemoteBlocks());
      // Its other tests are those of ShuffleSuite; only these fetch from the service.
      runs.add(
          SuiteRun.of(OURS + "RdmaExternalShuffleServiceSuite", setting)
              .only("using external shuffle service")
              .withoutRemoteBlocks());
    }
    runs.add(SuiteRun.of(SCENARIOS + "faults.FullDiskSuite", Setting.OWN).withSmallDisk());
    SCENARIO_SUITES.forEach(suite -> runs.add(SuiteRun.of(SCENARIOS + suite, Setting.OWN)));
    return runs;
  }

  private static SuiteRun adaptiveExecution(Setting setting, boolean whole) {
    SuiteRun run =
        SuiteRun.of(SQL + "AdaptiveQueryExecSuite", setting).within(Duration.ofMinutes(30));
    return whole ? run : run.only("local shuffle");
  }
}
