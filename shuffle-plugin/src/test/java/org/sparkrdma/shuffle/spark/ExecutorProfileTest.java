// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.spark;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.reflect.Field;
import org.apache.spark.SparkConf;
import org.apache.spark.executor.CoarseGrainedExecutorBackend;
import org.apache.spark.executor.ExecutorBackend;
import org.apache.spark.resource.ExecutorResourceRequests;
import org.apache.spark.resource.ResourceProfile;
import org.apache.spark.resource.ResourceProfileBuilder;
import org.junit.jupiter.api.Test;
import org.sparkrdma.shuffle.pinned.SparkMemory;

class ExecutorProfileTest {
  private static final long MIB = 1L << 20;

  private final SparkConf conf =
      new SparkConf(false)
          .set("spark.master", "yarn")
          .set("spark.executor.memory", "8g")
          .set("spark.executor.cores", "8")
          .set("spark.memory.offHeap.enabled", "true")
          .set("spark.memory.offHeap.size", "64m");

  private static ResourceProfile profile(ExecutorResourceRequests requests) {
    return new ResourceProfileBuilder().require(requests).build();
  }

  @Test
  void shouldUseTheMemoryOverheadOfTheProfile() {
    ResourceProfile profile =
        profile(
            new ExecutorResourceRequests()
                .memoryOverhead("3g")
                .offHeapMemory("128m")
                .pysparkMemory("256m")
                .cores(2));
    SparkMemory memory = SparkMemory.of(ExecutorProfile.apply(conf, profile));
    assertThat(memory.overheadBytes()).hasValue(3_072 * MIB);
    assertThat(memory.offHeapBytes()).isEqualTo((128 + 256) * MIB);
    assertThat(memory.cores()).hasValue(2);
  }

  @Test
  void shouldKeepTheDefaultOverheadOfTheApplicationWhenTheProfileHasNone() {
    ResourceProfile profile = profile(new ExecutorResourceRequests().memory("64g").cores(2));
    SparkMemory memory = SparkMemory.of(ExecutorProfile.apply(conf, profile));
    assertThat(memory.overheadBytes()).isEqualTo(SparkMemory.of(conf).overheadBytes());
  }

  @Test
  void shouldNotChangeTheApplicationsConfiguration() {
    String before = conf.toDebugString();
    ExecutorProfile.apply(conf, profile(new ExecutorResourceRequests().memoryOverhead("3g")));
    assertThat(conf.toDebugString()).isEqualTo(before);
  }

  /** An executor's backend without a process around it: its constructor needs one. */
  @Test
  void shouldFindTheProfileInTheBackendOfThisVersionOfSpark() throws Exception {
    Class<?> unsafe = Class.forName("sun.misc.Unsafe");
    Field instance = unsafe.getDeclaredField("theUnsafe");
    instance.setAccessible(true);
    ExecutorBackend backend =
        (ExecutorBackend)
            unsafe
                .getMethod("allocateInstance", Class.class)
                .invoke(instance.get(null), CoarseGrainedExecutorBackend.class);
    assertThat(ExecutorProfile.profileOf(backend)).isEmpty();
    ResourceProfile profile = profile(new ExecutorResourceRequests().memoryOverhead("3g"));
    Field field = CoarseGrainedExecutorBackend.class.getDeclaredField("resourceProfile");
    field.setAccessible(true);
    field.set(backend, profile);
    assertThat(ExecutorProfile.profileOf(backend)).containsSame(profile);
  }

  @Test
  void shouldFindNoProfileInAnotherBackend() {
    ExecutorBackend other = (taskId, state, data) -> {};
    assertThat(ExecutorProfile.profileOf(other)).isEmpty();
  }
}
