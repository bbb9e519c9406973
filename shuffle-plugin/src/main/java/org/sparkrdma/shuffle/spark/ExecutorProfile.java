// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.spark;

import java.lang.reflect.Field;
import java.util.Map;
import java.util.Optional;
import org.apache.spark.SparkConf;
import org.apache.spark.SparkEnv;
import org.apache.spark.executor.CoarseGrainedExecutorBackend;
import org.apache.spark.executor.ExecutorBackend;
import org.apache.spark.resource.ExecutorResourceRequest;
import org.apache.spark.resource.ResourceProfile;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import scala.Option;

/**
 * The resource profile of this executor, which replaces settings of the application (see
 * "Stage-Level Scheduling Overview" in Spark's documentation). Stateless.
 */
public final class ExecutorProfile {
  private static final Logger LOG = LoggerFactory.getLogger(ExecutorProfile.class);

  /** Private in all versions of Spark up to 4.2, which have no accessor. */
  private static final String PROFILE_FIELD = "resourceProfile";

  private static final int DEFAULT_PROFILE = 0;

  /**
   * The setting that each resource of a profile replaces; amounts of memory are in MiB. Without
   * heap memory: the JVM knows its own, and Spark derives the default of memoryOverhead from the
   * setting, not from the profile.
   */
  private static final Map<String, String> MEMORY_SETTINGS =
      Map.of(
          "memoryOverhead", "spark.executor.memoryOverhead",
          "pyspark.memory", "spark.executor.pyspark.memory",
          "offHeap", "spark.memory.offHeap.size");

  private static final String CORES = "cores";

  private ExecutorProfile() {}

  /** A copy of the environment's configuration with the resources that this executor has. */
  public static SparkConf confOf(SparkEnv env) {
    Option<ExecutorBackend> backend = env.executorBackend();
    return backend.isEmpty()
        ? env.conf()
        : profileOf(backend.get()).map(profile -> apply(env.conf(), profile)).orElse(env.conf());
  }

  /** The profile of an executor's backend; empty where Spark's class is another one. */
  static Optional<ResourceProfile> profileOf(ExecutorBackend backend) {
    if (!(backend instanceof CoarseGrainedExecutorBackend)) {
      return Optional.empty();
    }
    try {
      Field field = CoarseGrainedExecutorBackend.class.getDeclaredField(PROFILE_FIELD);
      field.setAccessible(true);
      return Optional.ofNullable((ResourceProfile) field.get(backend));
    } catch (ReflectiveOperationException | RuntimeException e) {
      LOG.warn(
          "Cannot read this executor's resource profile; spark.shuffle.rdma.pinned.max=auto uses the"
              + " application's settings",
          e);
      return Optional.empty();
    }
  }

  /** A copy of the configuration with the resources of a profile. */
  static SparkConf apply(SparkConf conf, ResourceProfile profile) {
    SparkConf applied = conf.clone();
    if (profile.id() == DEFAULT_PROFILE) {
      return applied;
    }
    Map<String, ExecutorResourceRequest> resources = profile.executorResourcesJMap();
    MEMORY_SETTINGS.forEach(
        (resource, setting) -> {
          ExecutorResourceRequest request = resources.get(resource);
          if (request != null) {
            applied.set(setting, request.amount() + "m");
          }
        });
    ExecutorResourceRequest cores = resources.get(CORES);
    if (cores != null) {
      applied.set("spark.executor.cores", Long.toString(cores.amount()));
    }
    return applied;
  }
}
