// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.driver;

import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.spark.SparkConf;
import org.apache.spark.resource.ExecutorResourceRequest;
import org.apache.spark.resource.ResourceProfile;
import org.apache.spark.scheduler.SparkListener;
import org.apache.spark.scheduler.SparkListenerApplicationEnd;
import org.apache.spark.scheduler.SparkListenerBlockManagerAdded;
import org.apache.spark.scheduler.SparkListenerExecutorAdded;
import org.apache.spark.scheduler.SparkListenerExecutorRemoved;
import org.apache.spark.scheduler.SparkListenerResourceProfileAdded;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.sparkrdma.shuffle.directory.DirectoryName;
import org.sparkrdma.shuffle.spark.ExecutorClassPath;

/**
 * The ResourceProfiles of the executors that run, and a WARN when executors end before they
 * register. The driver names this class in {@code spark.extraListeners} of its own configuration,
 * and Spark creates it: a listener that is added later misses the profiles and executors of before.
 * Safe for any thread.
 */
public final class ExecutorProfiles extends SparkListener {
  private static final Logger LOG = LoggerFactory.getLogger(ExecutorProfiles.class);
  private static final String KEY = "spark.extraListeners";

  /** One executor may end for another reason. */
  private static final int MIN_ENDED = 2;

  /** By the name of the driver's directory; an application leaves it at its end. */
  private static final Map<String, ExecutorProfiles> APPLICATIONS = new ConcurrentHashMap<>();

  private final SparkConf conf;
  private final String directory;
  private final Map<Integer, Map<String, Long>> resources = new ConcurrentHashMap<>();
  private final Map<String, Integer> profiles = new ConcurrentHashMap<>();

  /** Executors whose block manager, which follows the shuffle manager, has not registered. */
  private final Set<String> starting = ConcurrentHashMap.newKeySet();

  private final AtomicInteger endedAtStart = new AtomicInteger();

  /** Called by Spark. */
  public ExecutorProfiles(SparkConf conf) {
    this.conf = conf;
    directory = name(conf);
    APPLICATIONS.put(directory, this);
  }

  private static String name(SparkConf conf) {
    return conf.get(DirectoryName.KEY, "");
  }

  /** Names this class in the driver's configuration, before Spark reads it. */
  public static void addTo(SparkConf conf) {
    String name = ExecutorProfiles.class.getName();
    String others = conf.get(KEY, "").trim();
    if (!others.contains(name)) {
      conf.set(KEY, others.isEmpty() ? name : others + "," + name);
    }
  }

  /**
   * Resources of an executor's profile by Spark's names, memory in MiB; none for the default
   * profile, and where Spark has not created the listener; empty when the events of the executor
   * have not been received yet.
   */
  static Optional<Map<String, Long>> of(SparkConf conf, String executorId) {
    ExecutorProfiles application = APPLICATIONS.get(name(conf));
    return application == null
        ? Optional.of(Map.of())
        : Optional.ofNullable(application.profiles.get(executorId)).map(application.resources::get);
  }

  @Override
  public void onResourceProfileAdded(SparkListenerResourceProfileAdded added) {
    ResourceProfile profile = added.resourceProfile();
    Map<String, Long> amounts = new HashMap<>();
    // The default profile repeats the settings, and adds defaults that a cluster manager ignores.
    if (profile.id() != ResourceProfile.DEFAULT_RESOURCE_PROFILE_ID()) {
      Map<String, ExecutorResourceRequest> requests = profile.executorResourcesJMap();
      for (String name : ResourceProfile.allSupportedExecutorResources()) {
        if (requests.containsKey(name)) {
          amounts.put(name, requests.get(name).amount());
        }
      }
    }
    resources.put(profile.id(), Map.copyOf(amounts));
  }

  @Override
  public void onExecutorAdded(SparkListenerExecutorAdded added) {
    profiles.put(added.executorId(), added.executorInfo().resourceProfileId());
    starting.add(added.executorId());
  }

  @Override
  public void onBlockManagerAdded(SparkListenerBlockManagerAdded added) {
    starting.remove(added.blockManagerId().executorId());
  }

  @Override
  public void onExecutorRemoved(SparkListenerExecutorRemoved removed) {
    profiles.remove(removed.executorId());
    if (starting.remove(removed.executorId()) && endedAtStart.incrementAndGet() == MIN_ENDED) {
      LOG.warn(
          "Executors have ended before they registered: executors={} last={}: they probably {}",
          MIN_ENDED,
          removed.reason(),
          ExecutorClassPath.whyNot(conf));
    }
  }

  @Override
  public void onApplicationEnd(SparkListenerApplicationEnd end) {
    APPLICATIONS.remove(directory, this);
  }
}
