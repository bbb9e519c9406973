// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.driver;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.apache.spark.SparkConf;
import org.apache.spark.resource.ResourceProfile;
import org.apache.spark.scheduler.SparkListenerBlockManagerAdded;
import org.apache.spark.scheduler.SparkListenerExecutorAdded;
import org.apache.spark.scheduler.SparkListenerExecutorRemoved;
import org.apache.spark.scheduler.cluster.ExecutorInfo;
import org.apache.spark.storage.BlockManagerId;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.sparkrdma.shuffle.CapturedLog;
import scala.collection.immutable.Map$;

class ExecutorStartsTest {
  private final ExecutorStarts starts = new ExecutorStarts(new SparkConf(false));

  @Test
  void shouldWarnOnceWhenExecutorsEndBeforeTheyRegister() {
    try (CapturedLog log = new CapturedLog(ExecutorStarts.class.getName())) {
      start("1", true);
      remove("1");
      start("2", false);
      remove("2");
      assertThat(log.warnings()).as("one may have another reason").isEmpty();
      for (String id : List.of("3", "4", "5")) {
        start(id, false);
        remove(id);
      }
      assertThat(log.warnings())
          .containsExactly(
              "Executors have ended before they registered, the last one because of exited with"
                  + " code 1: see the end of an executor's log; where it names org.sparkrdma, check"
                  + " that each machine can read the plug-in's jar at the path in"
                  + " spark.executor.extraClassPath or spark.jars");
    }
  }

  /** Spark 4.2 registers the block manager first. */
  @ParameterizedTest
  @CsvSource({
    "3, org.sparkrdma.shuffle.RdmaPlugin, they cannot load the plug-in: check that",
    "2, Cannot reserve direct buffer memory, see the end of an executor's log"
  })
  void shouldWarnOfExecutorsThatCannotBeCreatedAfterTheyRegistered(
      int count, String reason, String advice) {
    try (CapturedLog log = new CapturedLog(ExecutorStarts.class.getName())) {
      for (int i = 0; i < count; i++) {
        start("" + i, true);
        starts.onExecutorRemoved(
            new SparkListenerExecutorRemoved(
                0, "" + i, "Unable to create executor due to " + reason));
      }
      assertThat(log.warnings()).singleElement().asString().contains(reason + ": " + advice);
    }
  }

  private void start(String executorId, boolean registers) {
    add(executorId);
    if (registers) {
      starts.onBlockManagerAdded(
          new SparkListenerBlockManagerAdded(
              0,
              BlockManagerId.apply(executorId, "host", 1, scala.Option.empty()),
              0,
              scala.Option.empty(),
              scala.Option.empty()));
    }
  }

  private void remove(String executorId) {
    starts.onExecutorRemoved(new SparkListenerExecutorRemoved(0, executorId, "exited with code 1"));
  }

  private void add(String executorId) {
    starts.onExecutorAdded(
        new SparkListenerExecutorAdded(
            0,
            executorId,
            new ExecutorInfo(
                "host",
                1,
                Map$.MODULE$.empty(),
                Map$.MODULE$.empty(),
                Map$.MODULE$.empty(),
                ResourceProfile.DEFAULT_RESOURCE_PROFILE_ID(),
                scala.Option.empty(),
                scala.Option.empty())));
  }
}
