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
          "OperatorsSuite",
          "CodecsSuite",
          "VerifiedReadsSuite",
          "BlockSizesSuite",
          "ConcurrentJobsSuite",
          "SchedulingSuite",
          "ServingSuite",
          "faults.FaultsSuite",
          "ExecutorLossSuite",
          "TerminationSuite",
          "LifetimeSuite",
          "DriverRestartSuite",
          "ShuffleServiceSuite",
          "DecommissionSuite",
          "PushMergeSuite",
          "DynamicAllocationSuite",
          "FallbackSuite",
          "RequiredRdmaSuite",
          "DeliverySuite");

  private Suites() {}

  /**
   * Returns all runs, including vanilla runs, which run only when they are named. Daily runs
   * contain suites without remote blocks under one setting only: their blocks never reach the
   * plug-in's client, and manager, reader and writer are the same under each setting.
   *
   * <p>KryoSerializerDistributedSuite is missing: it ignores system properties, so it would run
   * vanilla Spark under every setting.
   *
   * @param nightly whether long suites run as a whole and under each setting
   */
  static List<SuiteRun> all(boolean nightly) {
    List<SuiteRun> runs = new ArrayList<>();
    for (Setting setting : List.of(Setting.SOFT, Setting.FALLBACK, Setting.VANILLA)) {
      runs.add(SuiteRun.of(OURS + "RdmaShuffleSuite", setting));
      if (nightly || setting != Setting.FALLBACK) {
        runs.add(SuiteRun.of(OURS + "RdmaSortingSuite", setting).withoutRemoteBlocks());
        runs.add(SuiteRun.of(OURS + "RdmaPairRDDFunctionsSuite", setting).withoutRemoteBlocks());
        runs.add(SuiteRun.of(OURS + "RdmaRDDSuite", setting).withoutRemoteBlocks());
        runs.add(adaptiveExecution(setting, nightly).withoutRemoteBlocks());
        runs.add(decommission(setting, nightly));
        // Reads map outputs on the reader's host, which Spark reads itself.
        runs.add(
            SuiteRun.of(CORE + "shuffle.HostLocalShuffleReadingSuite", setting)
                .withoutRemoteBlocks());
      }
      // Its other tests are those of ShuffleSuite; only these fetch from the service.
      runs.add(
          SuiteRun.of(OURS + "RdmaExternalShuffleServiceSuite", setting)
              .only("using external shuffle service")
              .withoutRemoteBlocks());
    }
    SCENARIO_SUITES.forEach(suite -> runs.add(SuiteRun.of(SCENARIOS + suite, Setting.OWN)));
    return runs;
  }

  /**
   * The daily run excludes SPARK-32850: it decommissions all executors three seconds after a task
   * was sent and hangs when that was too early, as on a busy machine.
   */
  private static SuiteRun decommission(Setting setting, boolean whole) {
    SuiteRun run = SuiteRun.of(CORE + "storage.BlockManagerDecommissionIntegrationSuite", setting);
    return whole ? run : run.only("verify that", "SPARK-36782", "SPARK-46957");
  }

  private static SuiteRun adaptiveExecution(Setting setting, boolean whole) {
    SuiteRun run =
        SuiteRun.of(SQL + "AdaptiveQueryExecSuite", setting).within(Duration.ofMinutes(30));
    return whole ? run : run.only("shuffle", "Shuffle", "skew", "Skew", "coalesce", "Coalesce");
  }
}
