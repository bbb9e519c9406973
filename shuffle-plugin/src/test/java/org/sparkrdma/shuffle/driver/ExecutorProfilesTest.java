// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.driver;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.apache.spark.SparkConf;
import org.apache.spark.resource.ExecutorResourceRequests;
import org.apache.spark.resource.ResourceProfile;
import org.apache.spark.resource.ResourceProfileBuilder;
import org.apache.spark.scheduler.SparkListenerApplicationEnd;
import org.apache.spark.scheduler.SparkListenerBlockManagerAdded;
import org.apache.spark.scheduler.SparkListenerExecutorAdded;
import org.apache.spark.scheduler.SparkListenerExecutorRemoved;
import org.apache.spark.scheduler.SparkListenerResourceProfileAdded;
import org.apache.spark.scheduler.cluster.ExecutorInfo;
import org.apache.spark.storage.BlockManagerId;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.sparkrdma.shuffle.CapturedLog;
import org.sparkrdma.shuffle.directory.DirectoryName;
import scala.collection.immutable.Map$;

class ExecutorProfilesTest {
  private final SparkConf conf = new SparkConf(false).set(DirectoryName.KEY, "tests");
  private final ExecutorProfiles profiles = new ExecutorProfiles(conf);

  @AfterEach
  void end() {
    profiles.onApplicationEnd(new SparkListenerApplicationEnd(0, scala.Option.empty()));
  }

  @Test
  void shouldReturnTheMemoryAndCoresOfAnExecutorsProfile() {
    ResourceProfile profile =
        profile(
            new ExecutorResourceRequests()
                .cores(4)
                .memory("2g")
                .memoryOverhead("384m")
                .offHeapMemory("1g")
                .resource("gpu", 1, "", ""));
    assertThat(of("1")).as("before its events").isEmpty();
    profiles.onResourceProfileAdded(new SparkListenerResourceProfileAdded(profile));
    add("1", profile.id());
    assertThat(of("1"))
        .hasValue(Map.of("cores", 4L, "memory", 2_048L, "memoryOverhead", 384L, "offHeap", 1_024L));
  }

  @Test
  void shouldReturnNothingOfTheDefaultProfile() {
    ResourceProfile profile = profile(new ExecutorResourceRequests().memoryOverhead("384m"));
    profile.setToDefaultProfile();
    profiles.onResourceProfileAdded(new SparkListenerResourceProfileAdded(profile));
    add("1", profile.id());
    assertThat(of("1")).hasValue(Map.of());
  }

  @Test
  void shouldForgetExecutorsAndTheApplicationAtTheirEnd() {
    ResourceProfile profile = profile(new ExecutorResourceRequests().cores(4));
    profiles.onResourceProfileAdded(new SparkListenerResourceProfileAdded(profile));
    add("1", profile.id());
    profiles.onExecutorRemoved(new SparkListenerExecutorRemoved(0, "1", "idle"));
    assertThat(of("1")).isEmpty();
    end();
    assertThat(of("1")).as("without a listener").hasValue(Map.of());
  }

  @Test
  void shouldWarnOnceWhenExecutorsEndBeforeTheyRegister() {
    conf.set("spark.shuffle.manager", "org.sparkrdma.shuffle.RdmaShuffleManager");
    conf.set("spark.executor.extraClassPath", "/opt/nowhere/plug-in.jar");
    try (CapturedLog log = new CapturedLog(ExecutorProfiles.class.getName())) {
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
              "Executors have ended before they registered: executors=2 last=exited with code 1:"
                  + " they probably cannot load org.sparkrdma.shuffle.RdmaShuffleManager: this"
                  + " machine cannot read /opt/nowhere/plug-in.jar; check the paths in"
                  + " spark.executor.extraClassPath and spark.jars, and see the end of an"
                  + " executor's log");
    }
  }

  private void start(String executorId, boolean registers) {
    add(executorId, ResourceProfile.DEFAULT_RESOURCE_PROFILE_ID());
    if (registers) {
      profiles.onBlockManagerAdded(
          new SparkListenerBlockManagerAdded(
              0,
              BlockManagerId.apply(executorId, "host", 1, scala.Option.empty()),
              0,
              scala.Option.empty(),
              scala.Option.empty()));
    }
  }

  private void remove(String executorId) {
    profiles.onExecutorRemoved(
        new SparkListenerExecutorRemoved(0, executorId, "exited with code 1"));
  }

  @Test
  void shouldAddItselfOnceToTheListenersOfTheUser() {
    ExecutorProfiles.addTo(conf);
    ExecutorProfiles.addTo(conf);
    String own = "org.sparkrdma.shuffle.driver.ExecutorProfiles";
    assertThat(conf.get("spark.extraListeners")).isEqualTo(own);
    SparkConf ofUser = new SparkConf(false).set("spark.extraListeners", "a.B, c.D");
    ExecutorProfiles.addTo(ofUser);
    assertThat(ofUser.get("spark.extraListeners")).isEqualTo("a.B, c.D," + own);
  }

  private Optional<Map<String, Long>> of(String executorId) {
    return ExecutorProfiles.of(conf, executorId);
  }

  private static ResourceProfile profile(ExecutorResourceRequests requests) {
    // Spark numbers profiles from 0, the number of the default profile, which a context creates.
    new ResourceProfileBuilder().build();
    return new ResourceProfileBuilder().require(requests).build();
  }

  private void add(String executorId, int profileId) {
    profiles.onExecutorAdded(
        new SparkListenerExecutorAdded(
            0,
            executorId,
            new ExecutorInfo(
                "host",
                1,
                Map$.MODULE$.empty(),
                Map$.MODULE$.empty(),
                Map$.MODULE$.empty(),
                profileId,
                scala.Option.empty(),
                scala.Option.empty())));
  }
}
