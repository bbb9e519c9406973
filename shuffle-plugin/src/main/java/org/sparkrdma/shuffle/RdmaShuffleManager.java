/*
 * Licensed under the Apache License, Version 2.0 (the "License");
 * you may not use this file except in compliance with the License.
 * You may obtain a copy of the License at
 *
 *     http://www.apache.org/licenses/LICENSE-2.0
 *
 * Unless required by applicable law or agreed to in writing, software
 * distributed under the License is distributed on an "AS IS" BASIS,
 * WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied.
 * See the License for the specific language governing permissions and
 * limitations under the License.
 */
package org.sparkrdma.shuffle;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.apache.spark.SparkConf;
import org.apache.spark.SparkEnv;
import org.apache.spark.TaskContext;
import org.apache.spark.shuffle.ShuffleHandle;
import org.apache.spark.shuffle.ShuffleReadMetricsReporter;
import org.apache.spark.shuffle.ShuffleReader;
import org.apache.spark.shuffle.ShuffleWriteMetricsReporter;
import org.apache.spark.shuffle.ShuffleWriter;
import org.apache.spark.shuffle.sort.SortShuffleManager;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.sparkrdma.shuffle.metrics.FallbackReason;
import org.sparkrdma.shuffle.metrics.RdmaMetricsSource;
import org.sparkrdma.shuffle.metrics.ShuffleCounters;
import org.sparkrdma.shuffle.settings.ShuffleSettings;

/**
 * What {@code spark.shuffle.manager} names: Spark's own sort shuffle, of which the reader fetches
 * remote blocks by RDMA READ.
 *
 * <p>Writing, resolving and unregistering stay Spark's, so every block can also be had by TCP at
 * any moment. It is a subclass because SQL copies each row for managers that are not. Made by Spark
 * on the driver and on each executor, which also stops it; safe for any thread.
 */
public final class RdmaShuffleManager extends SortShuffleManager {
  private static final Logger log = LoggerFactory.getLogger(RdmaShuffleManager.class);

  /** How long a task of mode required waits for RDMA to come up. */
  private static final Duration REQUIRED_WAIT = Duration.ofSeconds(60);

  private final SparkConf conf;
  private final TransportFactory transports;
  private final ShuffleSettings settings;
  private final List<String> objections = new ArrayList<>();
  private final ShuffleCounters counters = new ShuffleCounters();

  private RdmaRuntime runtime;
  private boolean stopped;

  /**
   * As Spark calls it.
   *
   * @param isDriver where settings are judged; an executor that threw here would be replaced for
   *     ever, so it goes on without RDMA instead
   * @throws IllegalArgumentException on the driver, when a setting is wrong
   */
  public RdmaShuffleManager(SparkConf conf, boolean isDriver) {
    this(conf, isDriver, new RdmaTransportFactory());
  }

  RdmaShuffleManager(SparkConf conf, boolean isDriver, TransportFactory transports) {
    super(conf);
    this.conf = conf;
    this.transports = transports;
    ShuffleSettings read;
    try {
      read = ShuffleSettings.of(conf);
    } catch (IllegalArgumentException e) {
      if (isDriver) {
        throw e;
      }
      read = ShuffleSettings.defaults();
      objections.add(e.getMessage());
    }
    settings = read;
    objections.addAll(RdmaPolicy.objections(conf, settings));
    if (isDriver) {
      settings.notes().forEach(log::warn);
    } else if (envIsOurs()) {
      runtime();
    }
  }

  /** This process's counters by label; see {@link ShuffleCounters#snapshot()}. */
  public Map<String, Long> counters() {
    return counters.snapshot();
  }

  @Override
  public <K, V> ShuffleWriter<K, V> getWriter(
      ShuffleHandle handle, long mapId, TaskContext context, ShuffleWriteMetricsReporter metrics) {
    runtimeForTask();
    return super.getWriter(handle, mapId, context, metrics);
  }

  @Override
  public <K, C> ShuffleReader<K, C> getReader(
      ShuffleHandle handle,
      int startMapIndex,
      int endMapIndex,
      int startPartition,
      int endPartition,
      TaskContext context,
      ShuffleReadMetricsReporter metrics) {
    RdmaRuntime rdma = runtimeForTask();
    if (rdma != null) {
      counters.fellBack(FallbackReason.UNAVAILABLE);
    }
    return super.getReader(
        handle, startMapIndex, endMapIndex, startPartition, endPartition, context, metrics);
  }

  @Override
  public boolean unregisterShuffle(int shuffleId) {
    RdmaRuntime rdma;
    synchronized (this) {
      rdma = runtime;
    }
    if (rdma != null) {
      rdma.unregisterShuffle(shuffleId);
    }
    return super.unregisterShuffle(shuffleId);
  }

  @Override
  public void stop() {
    RdmaRuntime rdma;
    synchronized (this) {
      stopped = true;
      rdma = runtime;
      runtime = null;
    }
    if (rdma != null) {
      rdma.close();
    }
    super.stop();
  }

  /**
   * The runtime of this executor; null when the mode is off.
   *
   * @throws IllegalStateException when RDMA is required and not to be had; it fails the task
   */
  private RdmaRuntime runtimeForTask() {
    RdmaRuntime rdma = runtime();
    if (rdma != null && settings.mode() == ShuffleSettings.Mode.REQUIRED) {
      rdma.require(REQUIRED_WAIT);
    }
    return rdma;
  }

  private synchronized RdmaRuntime runtime() {
    if (runtime == null && !stopped && settings.mode() != ShuffleSettings.Mode.OFF) {
      SparkEnv env = SparkEnv.get();
      env.metricsSystem().registerSource(new RdmaMetricsSource(counters));
      runtime =
          new RdmaRuntime(
              new RuntimeStart(
                  env, shuffleBlockResolver(), settings, counters, transports, objections));
      runtime.start();
    }
    return runtime;
  }

  /** Whether Spark has set the environment that this manager is of; Spark 3.5 does so later. */
  private boolean envIsOurs() {
    SparkEnv env = SparkEnv.get();
    return env != null && env.conf().equals(conf);
  }
}
