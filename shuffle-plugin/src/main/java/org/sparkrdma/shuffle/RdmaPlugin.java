// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle;

import java.util.Map;
import java.util.Optional;
import org.apache.spark.SparkConf;
import org.apache.spark.SparkContext;
import org.apache.spark.SparkEnv;
import org.apache.spark.TaskContext;
import org.apache.spark.api.plugin.DriverPlugin;
import org.apache.spark.api.plugin.ExecutorPlugin;
import org.apache.spark.api.plugin.PluginContext;
import org.apache.spark.api.plugin.SparkPlugin;
import org.apache.spark.network.shuffle.BlockStoreClient;
import org.apache.spark.shuffle.ShuffleManager;
import org.apache.spark.shuffle.sort.SortShuffleManager;
import org.apache.spark.storage.BlockManager;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.sparkrdma.shuffle.runtime.RdmaRuntime;
import org.sparkrdma.shuffle.settings.RdmaPolicy;
import org.sparkrdma.shuffle.settings.ShuffleSettings;
import org.sparkrdma.shuffle.spark.OtherManager;

/**
 * The class for {@code spark.plugins}, the only line that a user must write.
 *
 * <p>With Spark's own shuffle manager, on Spark 4, it sets {@link RdmaShuffleManager}. With another
 * manager, and on Spark 3.5, where executors create the manager before plug-ins, it replaces the
 * client through which readers of an executor fetch; the manager must keep its map outputs in
 * Spark's own files. With {@link RdmaShuffleManager} it does nothing.
 */
public final class RdmaPlugin implements SparkPlugin {
  private static final Logger LOG = LoggerFactory.getLogger(RdmaPlugin.class);

  private static final String MANAGER = "spark.shuffle.manager";
  private static final String SORT = "sort";

  /** Id of the executor in local mode. */
  private static final String DRIVER = "driver";

  @Override
  public DriverPlugin driverPlugin() {
    return new OnDriver();
  }

  @Override
  public ExecutorPlugin executorPlugin() {
    return new OnExecutor();
  }

  /** Sets the plug-in's manager in place of Spark's own, which is not created yet. */
  private static boolean setManager(SparkConf conf) {
    boolean isSort = RdmaPolicy.isSort(conf.get(MANAGER, SORT));
    if (isSort) {
      conf.set(MANAGER, RdmaShuffleManager.class.getName());
    }
    return isSort;
  }

  /**
   * On the driver. Called by the thread that starts the context. The directory ends with Spark's
   * RPC environment, because executors' last reports come after Spark 4 has shut plug-ins down.
   */
  private static final class OnDriver implements DriverPlugin {
    private SparkContext context;

    /** Null when the shuffle manager is {@link RdmaShuffleManager}, which has them. */
    private PluginParts parts;

    /** Value of the user's own setting; empty where there is none. */
    private String configured;

    @Override
    public Map<String, String> init(SparkContext starting, PluginContext plugin) {
      SparkConf conf = starting.conf();
      ShuffleManager created = starting.env().shuffleManager();
      configured = conf.get(MANAGER, "");
      boolean isOurs =
          created == null
              ? setManager(conf) || RdmaPolicy.isOurs(configured)
              : created instanceof RdmaShuffleManager;
      context = starting;
      if (!isOurs) {
        parts = new PluginParts(conf, true, RdmaPlugin.class);
        RdmaPolicy.requiredBesideAnother(parts.settings())
            .ifPresent(
                refusal -> {
                  throw new IllegalArgumentException(refusal);
                });
        parts.begin(null);
      }
      return Map.of();
    }

    /**
     * The context has its id and its manager now. A user may use its configuration again, perhaps
     * without the plug-in, and a streaming checkpoint keeps it.
     */
    @Override
    public void registerMetrics(String applicationId, PluginContext plugin) {
      if (parts != null) {
        parts.watch(context);
      }
      SparkConf conf = context.conf();
      if (!conf.get(MANAGER, "").equals(RdmaShuffleManager.class.getName())) {
        // The user's own value, or one that another plug-in has set after this one.
        return;
      }
      if (configured.isEmpty()) {
        conf.remove(MANAGER);
      } else {
        conf.set(MANAGER, configured);
      }
    }
  }

  /**
   * On an executor. Begins with the first task, because Spark 4 creates the shuffle manager after
   * plug-ins. Called by task threads, and by the thread that stops the executor.
   */
  static class OnExecutor implements ExecutorPlugin {
    private boolean isLocal;
    private boolean begun;

    // Null where RDMA is not used.

    private PluginParts parts;
    private RdmaRuntime runtime;
    private BlockManager blockManager;
    private BlockStoreClient sparkClient;

    @Override
    public void init(PluginContext plugin, Map<String, String> ofDriver) {
      isLocal = plugin.executorID().equals(DRIVER);
      if (SparkEnv.get().shuffleManager() == null) {
        setManager(plugin.conf());
      }
    }

    /** The first tasks wait until peers can find this executor. */
    @Override
    public void onTaskStart() {
      RdmaRuntime rdma = begin();
      if (rdma != null) {
        rdma.awaitPublished();
        rdma.beginRead(TaskContext.get());
      }
    }

    /** The runtime, which the first task starts; null where RDMA is not used. */
    private synchronized RdmaRuntime begin() {
      ShuffleManager manager = SparkEnv.get().shuffleManager();
      boolean isFirst = !begun;
      begun = true;
      if (isFirst && !isLocal && !(manager instanceof RdmaShuffleManager)) {
        try {
          replaceClient(SparkEnv.get());
        } catch (ReflectiveOperationException | RuntimeException | LinkageError e) {
          LOG.warn(
              "RDMA is not used in this executor, its shuffle reads use TCP: not possible with {}:"
                  + " {}",
              manager.getClass().getName(),
              e.toString(),
              e);
        }
      }
      return runtime;
    }

    private void replaceClient(SparkEnv env) throws ReflectiveOperationException {
      PluginParts created = new PluginParts(env.conf(), false, RdmaPlugin.class);
      if (created.settings().mode() == ShuffleSettings.Mode.OFF) {
        return;
      }
      ShuffleManager manager = env.shuffleManager();
      Optional<String> refusal =
          RdmaPolicy.plainBesideAnother(RdmaPolicy.isTrueIn(env.conf()), created.settings());
      if (!(manager instanceof SortShuffleManager) && refusal.isPresent()) {
        throw new IllegalStateException(refusal.get());
      }
      var resolver = OtherManager.resolver(manager);
      blockManager = env.blockManager();
      sparkClient = blockManager.blockStoreClient();
      // Throws where it is not allowed, before anything is started.
      setClient(blockManager, sparkClient);
      parts = created;
      runtime = parts.startedRuntime(resolver);
      setClient(blockManager, runtime.client().forTasks());
      LOG.info("Readers of {} fetch by RDMA", manager.getClass().getName());
    }

    /** Same as {@link OtherManager#setClient}; overridden in tests. */
    void setClient(BlockManager of, BlockStoreClient client) throws ReflectiveOperationException {
      OtherManager.setClient(of, client);
    }

    /** Open reads keep the plug-in's client, which forwards to Spark's from now on. */
    @Override
    public void shutdown() {
      PluginParts open;
      synchronized (this) {
        begun = true;
        open = parts;
        parts = null;
      }
      if (open != null) {
        try {
          setClient(blockManager, sparkClient);
        } catch (ReflectiveOperationException | RuntimeException e) {
          LOG.warn("Spark's client is not set again in an executor that ends", e);
        }
        open.close();
      }
    }
  }
}
